//! Work that a coordinator assigns to workers: playing a pair, searching a position of a suite, or
//! counting the leaf nodes of a position.

use std::fmt::Debug;
use std::time::Duration;

use super::verify::{self, Terms};
use super::wire::{PairMessage, Payload, WorkMessage};
use super::worker::slot_engines::{executor, play};
use arbiter_game::driver::GameSetup;
use arbiter_game::engine::EngineSetup;
use arbiter_run::{PairJob, PlayedPair, judge_contention};
use arbiter_runner::Executor;
use arbiter_schedule::Pairing;
use arbiter_suite::epd::{Answer, EngineAnswers, Question, Record};
use arbiter_suite::perft::{Count, CountResult, Verdict};
use tokio::sync::watch;

/// Work that is sent to workers.
pub trait Assignment: Clone + Debug + Send + Sync + 'static {
    /// Result of the work.
    type Done: Payload;

    /// Returns the work to send to the worker.
    fn work(&self) -> WorkMessage;

    /// Checks whether `done` is a possible result; the error contains the reason why the result is
    /// impossible.
    fn check(&self, done: &Self::Done, terms: &Terms) -> Result<(), String>;

    /// Returns whether CPU contention above `limit` may have decided the result `done`.
    fn is_suspect(&self, _done: &Self::Done, _limit: f64) -> bool {
        false
    }

    /// Returns a copy with another number, so that a second worker can repeat the work; `None` if
    /// the work cannot be repeated.
    fn renumbered(&self, _: u64) -> Option<Self> {
        None
    }

    /// Does the work on this machine; the error is the reason why there is no result.
    fn run_locally(
        self,
        _: Vec<EngineSetup>,
    ) -> impl Future<Output = Result<Self::Done, String>> + Send {
        std::future::ready(Err("not supported here".to_owned()))
    }

    /// Returns the engines and the opening of a pair; `None` for other work.
    fn pairing(&self) -> Option<Pairing> {
        None
    }
}

impl Assignment for PairJob {
    type Done = PlayedPair;

    fn work(&self) -> WorkMessage {
        WorkMessage::Pair(PairMessage::of(self))
    }

    fn check(&self, played: &PlayedPair, terms: &Terms) -> Result<(), String> {
        verify::check(played, self, terms)
    }

    fn is_suspect(&self, played: &PlayedPair, limit: f64) -> bool {
        let GameSetup { engines, conditions, .. } = &self.games.first;
        let conditions_of =
            |engine| if engines.white == engine { conditions.white } else { conditions.black };
        judge_contention(limit, played, conditions_of).is_some()
    }

    fn renumbered(&self, pair: u64) -> Option<PairJob> {
        let pairing = Pairing { pair, ..self.pairing };
        Some(PairJob { pairing, ..self.clone() })
    }

    async fn run_locally(self, engines: Vec<EngineSetup>) -> Result<PlayedPair, String> {
        // Only the moves of these games are compared, so the measured times need not be exact.
        let mut local = executor(engines, Duration::ZERO, false)?;
        let played = play(&mut local, self, watch::channel(None).0).await;
        local.finish().await;
        played
    }

    fn pairing(&self) -> Option<Pairing> {
        Some(self.pairing)
    }
}

impl Assignment for Question {
    type Done = EngineAnswers;

    fn work(&self) -> WorkMessage {
        let Record { text, start, .. } = &*self.record;
        WorkMessage::Search(text.clone(), start.is_chess960(), self.hold)
    }

    fn check(&self, answered: &EngineAnswers, _: &Terms) -> Result<(), String> {
        if answered.0.len() != self.engines {
            return Err("a result of another task".to_owned());
        }
        let judged = |answer: &Answer| {
            if answer.since.is_some_and(|since| since.at > answer.end.at) {
                return Err("a solution found after the search".to_owned());
            }
            // The solution is judged later; only the legality of the move is checked here.
            answer.judged(&self.record.start, &self.record.goal).map(drop)
        };
        answered.0.iter().flatten().try_for_each(judged)
    }
}

impl Assignment for Count {
    type Done = CountResult;

    fn work(&self) -> WorkMessage {
        WorkMessage::Count(Box::new(self.clone()))
    }

    fn check(&self, counted: &CountResult, _: &Terms) -> Result<(), String> {
        match counted.0 {
            Ok(Verdict::Wrong { got: count, .. } | Verdict::WrongSuite { leaves: count })
                if count == self.expected =>
            {
                Err("a result of another count".to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use arbiter_suite::epd::SearchProgress;

    #[test]
    fn impossible_answers_are_rejected() {
        let line = "4k3/8/8/8/8/8/4P3/4K2R w K - bm e4;";
        let record = Arc::new(arbiter_suite::epd::read(line, false).cases.remove(0));
        let question = Question { record, hold: None, engines: 1 };
        let answer = |played: &str| Answer {
            played: played.to_owned(),
            end: SearchProgress { at: Duration::ZERO, depth: None, nodes: None },
            score: None,
            since: None,
        };
        let check = |answers: Vec<Result<Answer, String>>| {
            question.check(&EngineAnswers(answers), &Terms::default())
        };
        assert_eq!(check(vec![Ok(answer("e2e4"))]), Ok(()));
        assert!(check(vec![Ok(answer("a1a8"))]).is_err());
        assert!(check(vec![]).unwrap_err().contains("another task"));
        assert!(check(vec![Err("x".into()), Err("y".into())]).is_err());
    }
}
