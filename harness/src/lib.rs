//! Commands of Arbiter, the engine-testing and tournament harness for UCI chess engines.
//!
//! `commands` contains a module for each subcommand; no subcommand imports another. The other
//! modules contain code that subcommands share.

mod args;
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
mod log_args;
mod metrics;
#[cfg(not(feature = "cluster"))]
mod no_fleet;
mod output;
mod pgn_scan;
mod project;
mod run;
mod runtime;
mod suite_run;

#[cfg(not(feature = "cluster"))]
use no_fleet as fleet;

// Items that subcommands share.
use args::{PlayArgs, RequestedRun, Resume, engine_spec, one_line};
use engine_builds::{BuildArgs, BuildContext, BuiltEngines, own_binary};
use failure::Failure;
use fleet::{ClusterArgs, Fleet};
use game_source::GameSourceArgs;
use games_file::{Content, GamesFile};
use keyboard::Keyboard;
use log_args::LogArgs;
use metrics::{Endpoint, MetricsArgs};
use output::{
    NewFile, OutputFormat, Rows, in_use, print_result, progress, quoted, store_files,
    write_atomically, write_error,
};
use project::{DEFAULT_RESULTS, ResultsArg};
use run::{OtherFiles, engine_files};
use runtime::{interruptible, runtime, until_signal};
use suite_run::{QueryArgs, SuiteArgs, run_tasks};

pub use cli::Cli;
pub use exit_code::ExitCode;
