//! What coordinators have workers do: play a pair, search a position of a suite, or count its leaves.

use std::fmt::Debug;

use super::verify;
use super::wire::{self, Payload};
use arbiter_plan::run::counts::PairTally;
use arbiter_plan::run::job::{PairJob, PlayedPair};
use arbiter_schedule::Pairing;
use arbiter_suite::epd::{Answer, Answered, Question};
use arbiter_suite::perft::{Counted, NumberedCount, Verdict};

/// What is sent out under a number, and taken back.
pub trait Assignment: Debug + Send + Sync + 'static {
    /// What comes of it.
    type Done: Payload + Debug + Send + Sync + 'static;

    /// Its number; no other of the run has it.
    fn number(&self) -> u64;

    /// The number of what this came of.
    fn number_of(done: &Self::Done) -> u64;

    /// It as it is sent; `attempt` counts from 0 how often it was sent before.
    fn write(&self, token: &str, attempt: u32) -> Vec<u8>;

    /// An error says why `done` cannot be what became of it.
    fn check(&self, done: &Self::Done) -> Result<(), String>;

    /// Who plays, if it is a pair.
    fn pairing(&self) -> Option<Pairing>;

    /// What was played, by which workers are compared.
    fn tally(done: &Self::Done) -> Option<PairTally>;
}

impl Assignment for PairJob {
    type Done = PlayedPair;

    fn number(&self) -> u64 {
        self.pairing.pair
    }

    fn number_of(played: &PlayedPair) -> u64 {
        played.pairing.pair
    }

    fn write(&self, token: &str, attempt: u32) -> Vec<u8> {
        wire::write_job(token, self, attempt)
    }

    fn check(&self, played: &PlayedPair) -> Result<(), String> {
        verify::check(played, self)
    }

    fn pairing(&self) -> Option<Pairing> {
        Some(self.pairing)
    }

    fn tally(played: &PlayedPair) -> Option<PairTally> {
        Some(PairTally::of(played))
    }
}

impl Assignment for Question {
    type Done = Answered;

    fn number(&self) -> u64 {
        self.number
    }

    fn number_of(answered: &Answered) -> u64 {
        answered.number
    }

    fn write(&self, token: &str, attempt: u32) -> Vec<u8> {
        wire::write_question(token, self, attempt)
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

    fn pairing(&self) -> Option<Pairing> {
        None
    }

    fn tally(_: &Answered) -> Option<PairTally> {
        None
    }
}

impl Assignment for NumberedCount {
    type Done = Counted;

    fn number(&self) -> u64 {
        self.number
    }

    fn number_of(counted: &Counted) -> u64 {
        counted.number
    }

    fn write(&self, token: &str, attempt: u32) -> Vec<u8> {
        wire::write_count(token, self, attempt)
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

    fn pairing(&self) -> Option<Pairing> {
        None
    }

    fn tally(_: &Counted) -> Option<PairTally> {
        None
    }
}
