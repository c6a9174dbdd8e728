//! What coordinators have workers do: play a pair, or search a position of a suite.

use std::fmt::Debug;

use super::verify;
use super::wire::{self, Sent};
use crate::run::job::{PairJob, PlayedPair};
use crate::run::standing::PairTally;
use crate::schedule::Pairing;
use crate::suite::epd::judge::Answer;
use crate::suite::epd::task::{Answered, Question};

/// What is sent out under a number, and taken back.
pub trait Assignment: Debug + Send + Sync + 'static {
    /// What comes of it.
    type Done: Sent + Debug + Send + Sync + 'static;

    /// Its number; no other of the run has it.
    fn number(&self) -> u64;

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

    fn write(&self, token: &str, attempt: u32) -> Vec<u8> {
        wire::write_question(token, self, attempt)
    }

    fn check(&self, answered: &Answered) -> Result<(), String> {
        if answered.number != self.number || answered.answers.len() != self.engines {
            return Err("it answers another question".to_owned());
        }
        let judged =
            |answer: &Answer| answer.judged(&self.record.start, &self.record.goal).map(drop);
        answered.answers.iter().flatten().try_for_each(judged)
    }

    fn pairing(&self) -> Option<Pairing> {
        None
    }

    fn tally(_: &Answered) -> Option<PairTally> {
        None
    }
}
