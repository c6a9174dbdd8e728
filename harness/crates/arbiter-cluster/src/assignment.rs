//! What coordinators have workers do: play a pair, search a position of a suite, or count its leaves.

use std::fmt::Debug;

use super::verify;
use super::wire::{Payload, Work};
use arbiter_plan::run::job::{PairJob, PlayedPair};
use arbiter_schedule::Pairing;
use arbiter_suite::epd::{Answer, Answered, Question};
use arbiter_suite::perft::{Counted, NumberedCount, Verdict};

/// Work that is sent to workers under a number which is unique in its run.
pub trait Assignment: Clone + Debug + Send + Sync + 'static {
    /// Its result.
    type Done: Payload;

    /// What the worker is to do.
    fn work(&self) -> Work;

    /// Its number.
    fn number(&self) -> u64;

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

    fn number(&self) -> u64 {
        self.pairing.pair
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

    fn number(&self) -> u64 {
        self.number
    }

    fn check(&self, answered: &Answered) -> Result<(), String> {
        if answered.number != self.number || answered.answers.len() != self.engines {
            return Err("it answers another question".to_owned());
        }
        let judged = |answer: &Answer| {
            if answer.since.is_some_and(|since| since.at > answer.elapsed) {
                return Err("a solution that was found after the search".to_owned());
            }
            answer.judged(&self.record.start, &self.record.goal).map(drop)
        };
        answered.answers.iter().flatten().try_for_each(judged)
    }
}

impl Assignment for NumberedCount {
    type Done = Counted;

    fn work(&self) -> Work {
        Work::Count(self.clone())
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn check(&self, counted: &Counted) -> Result<(), String> {
        let expected = self.count.expected;
        let is_possible = match counted.verdict {
            Ok(Verdict::Wrong { got, .. }) => got != expected,
            Ok(Verdict::WrongSuite { leaves }) => leaves != expected,
            Ok(Verdict::Right) | Err(_) => true,
        };
        match is_possible && counted.number == self.number {
            true => Ok(()),
            false => Err("it is about another count".to_owned()),
        }
    }
}
