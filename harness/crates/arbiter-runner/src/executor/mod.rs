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
    /// It is done; of a pair, all games are over.
    Played {
        /// Its number.
        pair: u64,
        /// What came of it.
        played: D,
        /// The worker that has done it, if it was not this machine.
        worker: Option<String>,
    },
    /// A game of a pair has begun.
    Started {
        /// Its pair.
        pairing: Pairing,
        /// Which game of the pair, from 0.
        half: usize,
    },
    /// A game of a pair is over; it counts with its pair. Told only if the executor was asked to.
    Ended {
        /// Its pair.
        pairing: Pairing,
        /// Which game of the pair, from 0.
        half: usize,
        /// The game.
        game: Box<GameRecord>,
    },
    /// The pair could not be played for a reason that is no engine's fault.
    Failed {
        /// The pair.
        pair: u64,
        /// The reason.
        reason: String,
    },
    /// This process did not run for so long.
    Paused(Duration),
    /// Something about a worker was noticed that changes nothing; it is stored.
    Noted(Remark),
    /// A worker has come or gone, which those who look on are told.
    Presence(Remark),
    /// A worker was excluded, for the reason in the remark: what it has played does not count.
    WorkerExcluded(Remark),
    /// The engines do not behave the same on all machines; the text says what was found.
    Unfit(String),
    /// No worker can be reached any more; the text says why.
    Lost(String),
}

/// Plays pairs, several at once.
pub trait Executor {
    /// Whether another pair can start now.
    fn has_room(&self) -> bool;

    /// Starts a pair. There must be room.
    fn start(&mut self, job: PairJob);

    /// The outcome of a pair is on disk, whether it counts or not: its result need not be kept any longer.
    fn stored(&mut self, pair: u64);

    /// Ends engines that have nothing to play: few pairs will start any more, or none.
    fn release_idle(&mut self);

    /// How many pairs it plays at once.
    fn slots(&self) -> usize;

    /// Returns whether somebody is there to play the pairs in flight.
    fn has_players(&self) -> bool {
        true
    }

    /// Plays so many pairs at once from now on; those in flight are played to their end. An error
    /// says why that cannot be, and changes nothing.
    fn set_slots(&mut self, slots: usize) -> Result<(), String>;

    /// Waits for the next event; pending for ever while nothing is in flight.
    fn next(&mut self) -> impl Future<Output = JobEvent> + Send;

    /// An event that need not be waited for.
    fn ready(&mut self) -> Option<JobEvent>;

    /// Gives up all pairs in flight; no event comes of them. Engines are ended before it returns.
    fn cancel_all(&mut self) -> impl Future<Output = ()> + Send;

    /// Ends all engines with `quit`.
    fn finish(self) -> impl Future<Output = ()> + Send;
}
