//! Executors, which play pairs on this machine or on workers, with a common interface for the
//! dispatcher.

mod engine_pool;
pub(crate) mod local;
mod meter;
pub(crate) mod remote;
pub(crate) mod slot;

use std::time::Duration;

use tokio::task::JoinError;

use arbiter_game::record::GameRecord;
use arbiter_run::{PairJob, PlayedPair, Remark};
use arbiter_schedule::Pairing;

/// Event of a job (a pair, or other work for workers) or of a worker.
#[derive(Debug)]
pub enum JobEvent<D = PlayedPair> {
    /// A job is done: for a pair, all games are over.
    Played {
        /// Number of the job.
        pair: u64,
        /// Result of the job.
        played: D,
        /// Worker that did the job; `None` for this machine.
        worker: Option<String>,
    },
    /// A game of a pair has started.
    Started {
        /// Pair of the game.
        pairing: Pairing,
        /// Index of the game in the pair, counted from 0.
        game_index: usize,
    },
    /// A game of a pair has ended. The game is counted later, together with its pair. This event is
    /// sent on request, or after an engine fault.
    Ended {
        /// Pair of the game.
        pairing: Pairing,
        /// Index of the game in the pair, counted from 0.
        game_index: usize,
        /// Record of the game.
        game: Box<GameRecord>,
    },
    /// The pair could not be played, for a reason other than an engine fault.
    Failed {
        /// Number of the pair.
        pair: u64,
        /// Reason for the failure.
        reason: String,
    },
    /// This process was suspended for the given time.
    Paused(Duration),
    /// Remark on a worker. The remark is stored, but does not affect the counts.
    Noted(Remark),
    /// A worker has joined or left; only observers are notified.
    Presence(Remark),
    /// A worker has to be excluded, for the reason in the remark.
    WorkerExcluded(Remark),
    /// The engines behave differently on different machines; the text describes the difference.
    Unfit(String),
    /// Workers can no longer be reached; the text is the reason.
    Lost(String),
}

/// Interface of executors, which play several pairs in parallel.
pub trait Executor {
    /// Returns whether another pair can start now.
    fn has_room(&self) -> bool;

    /// Starts a pair; must be called only if [`Executor::has_room`] returns `true`.
    fn start(&mut self, job: PairJob);

    /// Informs the executor that the result of a pair is on disk, so that the executor can drop the
    /// result. The pair need not count.
    fn note_stored(&mut self, pair: u64);

    /// Terminates idle engines, because few or no more pairs will start.
    fn release_idle(&mut self);

    /// Returns the maximum number of pairs in flight.
    fn slots(&self) -> usize;

    /// Returns whether the pairs in flight can be played; `false` if there are no workers.
    fn has_players(&self) -> bool {
        true
    }

    /// Sets the maximum number of pairs in flight; pairs that are already in flight continue. On an
    /// error, nothing changes.
    fn set_slots(&mut self, slots: usize) -> Result<(), String>;

    /// Waits for the next event; may wait forever if no pair is in flight.
    fn next(&mut self) -> impl Future<Output = JobEvent> + Send;

    /// Returns an event that is already available, if any.
    fn ready(&mut self) -> Option<JobEvent>;

    /// Abandons all pairs in flight and terminates their engines. No more events of these pairs
    /// follow.
    fn cancel_all(&mut self) -> impl Future<Output = ()> + Send;

    /// Terminates all engines with `quit`.
    fn finish(self) -> impl Future<Output = ()> + Send;
}

/// Returns the output of a task that has ended; `None` if the task was aborted. Continues the panic
/// of a task.
pub fn task_output<T>(ended: Result<T, JoinError>) -> Option<T> {
    match ended {
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        ended => ended.ok(),
    }
}
