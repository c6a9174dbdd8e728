//! Plans of runs, made from requests.
//!
//! A [`Request`] with unresolved [`EngineSpec`]s becomes a [`Plan`], in which every default is
//! explicit and every path is absolute, so that later code does not need the command line.

mod ablation;
mod affinity;
mod book;
mod cpu_contention;
mod engine_keys;
mod gate;
mod launch;
mod option_file;
mod plan;
mod program;
mod provenance;
mod request;
mod spec;
mod tournament;
mod tuning;

pub use ablation::Ablation;
pub use affinity::{Affinity, cpu_list, cpus_per_game, engine_threads, is_threads_option};
pub use book::{BookReading, bundled_book, load_book};
pub use cpu_contention::{CpuContention, DEFAULT_NOISE_LIMIT};
pub use engine_keys::{ENGINE_KEYS, EngineKey, engine_text, field, limits_text};
pub use gate::{
    Gate, GateKind, GateOutcome, GateVerdict, ci_exit_code, failed_musts, gate_text, gate_verdict,
};
pub use launch::{LaunchSettings, SandboxMode};
pub use plan::{
    BUNDLED, DEFAULT_FAULT_LIMIT, DEFAULT_MARGIN, DEFAULT_SPRT_PAIRS, DEFAULT_TC, Engine, Plan,
    PlanError, Prior, Program, RunKind, default_concurrency, resolve_engine, usual_pairs,
};
pub use program::{GAMES, find_program, unexpanded_home};
pub use provenance::{Provenance, Scale};
pub use request::{Request, SprtRequest};
pub use spec::{EngineSpec, fields};
pub use tournament::{DEFAULT_TIE_BREAKS, TournamentRequest};
pub use tuning::{
    DEFAULT_AHEAD, DEFAULT_ITERATIONS, DEFAULT_TUNING_PAIRS, base_name, confirmation,
};
