//! Executors, which play pairs: on this machine or on workers. To the dispatcher both are the same.

mod engine_pool;
pub(crate) mod local;
mod meter;
pub(crate) mod remote;
mod slot;

use std::time::Duration;

use arbiter_game::record::GameRecord;
use arbiter_plan::{PairJob, PlayedPair, Remark};
use arbiter_schedule::Pairing;

/// An event of a job, which is a pair or other work for workers, or of a worker.
#[derive(Debug)]
pub enum JobEvent<D = PlayedPair> {
    /// A job is done; all games of a pair are over.
    Played {
        /// Number of the job.
        pair: u64,
        /// Result of the job.
        played: D,
        /// Worker that did the job, if it was not this machine.
        worker: Option<String>,
    },
    /// A game of a pair has started.
    Started {
        /// Pair of the game.
        pairing: Pairing,
        /// Index of the game in the pair, from 0.
        game_index: usize,
    },
    /// A game of a pair is over; it counts with its pair. Sent on request, or if an engine failed.
    Ended {
        /// Pair of the game.
        pairing: Pairing,
        /// Index of the game in the pair, from 0.
        game_index: usize,
        /// Record of the game.
        game: Box<GameRecord>,
    },
    /// The pair could not be played for a reason that is no engine's fault.
    Failed {
        /// Number of the pair.
        pair: u64,
        /// The reason.
        reason: String,
    },
    /// This process was suspended for this time.
    Paused(Duration),
    /// A remark on a worker that changes no count; it is stored.
    Noted(Remark),
    /// A worker has joined or left; only observers are notified.
    Presence(Remark),
    /// A worker was excluded, for the reason in the remark: its pairs do not count.
    WorkerExcluded(Remark),
    /// The engines do not behave the same on all machines; the text has the difference.
    Unfit(String),
    /// No worker can be reached any more; the text has the reason.
    Lost(String),
}

/// Player of pairs, several in parallel.
pub trait Executor {
    /// Returns whether another pair can start now.
    fn has_room(&self) -> bool;

    /// Starts a pair. There must be room.
    fn start(&mut self, job: PairJob);

    /// Notes that the outcome of a pair is on disk, whether it counts or not: the result can be
    /// dropped.
    fn note_stored(&mut self, pair: u64);

    /// Ends engines that have nothing to play, as few pairs will start any more, or none.
    fn release_idle(&mut self);

    /// Returns the number of pairs that are played in parallel.
    fn slots(&self) -> usize;

    /// Returns whether a player for the pairs in flight is present.
    fn has_players(&self) -> bool {
        true
    }

    /// Sets the number of pairs that are played in parallel from now on; those in flight are played
    /// to their end. On an error, nothing changes.
    fn set_slots(&mut self, slots: usize) -> Result<(), String>;

    /// Waits for the next event; pending forever while nothing is in flight.
    fn next(&mut self) -> impl Future<Output = JobEvent> + Send;

    /// Returns an event that is ready, without waiting.
    fn ready(&mut self) -> Option<JobEvent>;

    /// Abandons all pairs in flight, without further events of them. Engines are ended before it
    /// returns.
    fn cancel_all(&mut self) -> impl Future<Output = ()> + Send;

    /// Ends all engines with `quit`.
    fn finish(self) -> impl Future<Output = ()> + Send;
}
