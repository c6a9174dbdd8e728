//! Plans of runs, made from requests, and the decisions of a run.
//!
//! A [`Request`] with unresolved [`EngineSpec`]s becomes a [`Plan`], in which every default is
//! explicit and every path is absolute, so that later code does not need the command line. A
//! [`RunState`] makes the decisions of a run: it receives inputs and returns effects, without I/O.

mod ablation;
mod affinity;
mod book;
mod engine_keys;
mod gate;
mod launch;
mod option_file;
mod plan;
mod program;
mod provenance;
mod request;
mod run;
mod spec;
mod tournament;
mod tuning;

pub use ablation::Ablation;
pub use affinity::{Affinity, cpu_list, cpus_per_game, engine_threads, is_threads_option};
pub use book::{BookReading, bundled_book, load_book};
pub use engine_keys::{ENGINE_KEYS, EngineKey, engine_text, field, limits_text, settings_text};
pub use gate::{
    Gate, GateKind, GateOutcome, GateVerdict, ci_exit_code, failed_musts, gate_text, gate_verdict,
};
pub use launch::{LaunchSettings, SandboxMode};
pub use plan::{
    BUNDLED, DEFAULT_FAULT_LIMIT, DEFAULT_MARGIN, DEFAULT_SPRT_PAIRS, DEFAULT_TC, Engine, Plan,
    PlanError, Program, RunKind, default_concurrency, resolve_engine, usual_pairs,
};
pub use program::{GAMES, find_program, unexpanded_home};
pub use provenance::{Provenance, Scale};
pub use request::{Request, SprtRequest};
pub use run::contention::{
    Contention, CpuContention, Disturbances, judge_contention, voided_again,
};
pub use run::control::{ControlCommand, MAX_SLOTS, Pace, RunStatus};
pub use run::counts::{Encounter, GameTally, PairTally, Prior, RunCounts};
pub use run::cpu_sets::cpu_sets;
pub use run::event::{
    ExcludedWorker, FilePrefix, Observer, ObserverError, Remark, RunEnd, RunEvent,
};
pub use run::job::{Games, JobMaker, PairJob, PlayedPair, thin_book};
pub use run::latency::{Latencies, LatencyDistribution, LatencyKind};
pub use run::overload::Overload;
pub use run::state::{Effect, RunInput, RunState};
pub use spec::{EngineSpec, fields};
pub use tournament::{DEFAULT_TIE_BREAKS, TournamentRequest};
pub use tuning::{
    DEFAULT_AHEAD, DEFAULT_ITERATIONS, DEFAULT_TUNING_PAIRS, base_name, confirmation,
};
