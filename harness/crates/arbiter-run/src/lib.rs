//! Decisions of a run, without I/O.
//!
//! A [`RunState`] receives inputs and returns effects. A [`JobMaker`] creates the games of a pair
//! from the plan. [`RunCounts`] and [`Latencies`] summarize the played games, and
//! [`judge_contention`] finds pairs that may have been decided by CPU contention.

mod contention;
mod control;
mod counts;
mod event;
mod job;
mod latency;
mod repeats;
mod state;

pub use contention::{Disturbances, judge_contention, overload, suspicion, voided_again};
pub use control::{ControlCommand, MAX_SLOTS, Pace, RunStatus};
pub use counts::{Encounter, GameTally, PairTally, RunCounts};
pub use event::{ExcludedWorker, FilePrefix, Observer, ObserverError, Remark, RunEnd, RunEvent};
pub use job::{Games, JobMaker, PairJob, PlayedPair, load_thin_book, thin_book};
pub use latency::{Latencies, LatencyDistribution, LatencyKind};
pub use state::{Effect, RunInput, RunState};
