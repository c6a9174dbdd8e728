//! Plans of runs, made from requests.
//!
//! A [`Request`] with unresolved [`EngineSpec`]s becomes a [`Plan`], in which every default is
//! explicit and every path is absolute, so that later code does not need the command line.

mod ablation;
mod affinity;
mod book;
mod engine;
mod engine_keys;
mod fields;
mod gate;
mod option_file;
mod plan;
mod program;
mod request;
mod spec;
mod tournament;
mod tuning;

pub use ablation::Ablation;
pub use affinity::{
    Affinity, cpu_list, cpu_sets, cpus_per_game, engine_threads, is_threads_option,
};
pub use book::{BUNDLED_BOOK, load_book, load_part_of_book};
pub use engine::{BUNDLED, Engine, LaunchSettings, Provenance, SandboxMode};
pub use engine_keys::{ENGINE_KEYS, EngineKey, engine_text, limits_text, settings_text, unless};
pub use fields::{field, fields};
pub use gate::{Gate, GateKind, GateOutcome, GateVerdict, ci_exit_code, gate_verdict};
pub use plan::{CpuContention, DEFAULT_NOISE_LIMIT, Plan, Prior, RunKind, Scale};
pub use program::{GAMES, find_program, unexpanded_home};
pub use request::{DEFAULT_FAULT_LIMIT, PlanError, Request, SprtRequest, default_concurrency};
pub use spec::{DEFAULT_MARGIN, DEFAULT_TC, EngineSpec, is_relative_path, resolve_engine};
pub use tournament::{
    DEFAULT_SPRT_PAIRS, DEFAULT_TIE_BREAKS, TournamentRequest, check_size, usual_pairs,
};
pub use tuning::{
    DEFAULT_AHEAD, DEFAULT_ITERATIONS, DEFAULT_TUNING_PAIRS, base_name, confirmation,
};
