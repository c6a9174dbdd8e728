//! From what was typed to what will be done.
//!
//! Flags and `arbiter.toml` become [`spec::EngineSpec`]s (as typed); those become a
//! [`plan::Plan`], in which every default is explicit and every path absolute. Nothing later
//! looks at the command line again.

pub mod ablation;
pub mod adjudication;
pub mod affinity;
pub mod book;
pub mod command;
pub mod file;
pub mod gate;
pub mod launch;
pub mod noise;
pub mod plan;
pub mod program;
pub mod provenance;
pub mod request;
pub mod run;
pub mod spec;
pub mod tournament;
pub mod tuning;
