//! Commands of Arbiter, a test harness and tournament manager for chess engines.
//!
//! `commands` contains a module for each subcommand; no subcommand imports another subcommand. The
//! other modules contain code that several subcommands share.

mod args;
mod build_args;
mod bundled_engine;
mod cli;
mod commands;
mod console;
mod control_server;
mod engine_builds;
mod engine_names;
mod exit_code;
mod failure;
#[cfg(feature = "cluster")]
mod fleet;
mod game_source;
mod games_file;
mod help;
mod keyboard;
mod metrics;
#[cfg(not(feature = "cluster"))]
mod no_fleet;
mod output;
mod project;
mod requested_run;
mod run;
mod runtime;
mod suite_run;

#[cfg(not(feature = "cluster"))]
use no_fleet as fleet;

pub use cli::Cli;
pub use exit_code::ExitCode;
