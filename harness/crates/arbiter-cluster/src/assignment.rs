//! What coordinators have workers do: play a pair, search a position of a suite, or count its leaves.

use std::fmt::Debug;

use super::verify;
use super::wire::{Payload, Work};
use arbiter_plan::{PairJob, PlayedPair};
use arbiter_schedule::Pairing;
use arbiter_suite::epd::{Answer, Answered, Question};
use arbiter_suite::perft::{Count, Counted, Verdict};

/// Work that is sent to workers.
pub trait Assignment: Clone + Debug + Send + Sync + 'static {
    /// Its result.
    type Done: Payload;

    /// What the worker is to do.
    fn work(&self) -> Work;

    /// An error says why `done` cannot be its result.
    fn check(&self, done: &Self::Done) -> Result<(), String>;

    /// The engines and the opening of a pair.
    fn pairing(&self) -> Option<Pairing> {
        None
    }
}

impl Assignment for PairJob {
    type Done = PlayedPair;

    fn work(&self) -> Work {
        Work::Pair(self.clone())
    }

    fn check(&self, played: &PlayedPair) -> Result<(), String> {
        verify::check(played, self)
    }

    fn pairing(&self) -> Option<Pairing> {
        Some(self.pairing)
    }
}

impl Assignment for Question {
    type Done = Answered;

    fn work(&self) -> Work {
        Work::Search(self.clone())
    }

    fn check(&self, answered: &Answered) -> Result<(), String> {
        if answered.0.len() != self.engines {
            return Err("it answers another question".to_owned());
        }
        let judged = |answer: &Answer| {
            if answer.since.is_some_and(|since| since.at > answer.end.at) {
                return Err("a solution that was found after the search".to_owned());
            }
            answer.judged(&self.record.start, &self.record.goal).map(drop)
        };
        answered.0.iter().flatten().try_for_each(judged)
    }
}

impl Assignment for Count {
    type Done = Counted;

    fn work(&self) -> Work {
        Work::Count(self.clone())
    }

    fn check(&self, counted: &Counted) -> Result<(), String> {
        match counted.0 {
            Ok(Verdict::Wrong { got: count, .. } | Verdict::WrongSuite { leaves: count })
                if count == self.expected =>
            {
                Err("it is about another count".to_owned())
            }
            _ => Ok(()),
        }
    }
}
