//! Execution of a run, from its first pair to its end.
//!
//! [`dispatch()`] waits for events, applies each event to [`arbiter_run::RunState`], and carries
//! out the effects. [`arbiter_run::RunState`] makes all decisions. An [`Executor`] plays pairs: a
//! [`LocalExecutor`] on this machine, a [`RemoteExecutor`] on workers, through a [`job_channel`] to
//! a coordinator.

mod analysis;
mod control_socket;
mod dispatch;
mod executor;
mod fingerprint;
mod live_games;
mod preflight;
mod signal;

pub use analysis::{AnalysisEngine, check_tuning, spin_options};
pub use control_socket::{
    CONTROL_TIMEOUT, ControlError, bind_control_socket, connect_control_socket, send_command,
};
pub use dispatch::{
    Answer, ControlRequest, ControlSender, Finished, Run, RunError, StopCause, dispatch,
    unix_time_ms,
};
pub use executor::local::LocalExecutor;
pub use executor::remote::{
    CoordinatorEnd, DispatcherEnd, JobCommand, RemoteExecutor, job_channel,
};
pub use executor::slot::LocalOptions;
pub use executor::{Executor, JobEvent, task_output};
pub use fingerprint::{check_unchanged, hash_file, take_fingerprints};
pub use live_games::{GameId, LiveGames};
pub use preflight::{
    OptionsFound, Preflight, PreflightError, ask_engine, check_game_engines, check_suite_engines,
    cpu_sets_of, engine_setup, engine_setups, sandbox,
};
pub use signal::{Signals, StopSignal};
