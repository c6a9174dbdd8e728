//! Has workers answer all questions of a suite: the near end of a coordinator's link.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::assignment::Assignment;
use arbiter_plan::run::event::Remark;
use arbiter_runner::executor::JobEvent;
use arbiter_runner::executor::remote::{Link, Order};

/// Why not all questions were answered.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AskingError {
    /// Too many workers could not put a question to the engines.
    #[error("position {}: {reason}", .number + 1)]
    Failed {
        /// Its number, from 0.
        number: u64,
        /// Why.
        reason: String,
    },
    /// The engines are not the same wherever they are.
    #[error("{0}")]
    Unfit(String),
    /// Nobody can be reached any more.
    #[error("{0}")]
    Lost(String),
}

/// What is told on the way.
#[derive(Debug)]
pub enum News<'a> {
    /// So many questions have answers by now.
    Answered(usize),
    /// Something happened to a worker, or was noticed of what it sent.
    Remark(&'a Remark),
}

/// The answers, and who gave them.
#[derive(Debug)]
pub struct Answers<D> {
    /// By the number of the question; each with its worker.
    pub answered: BTreeMap<u64, (D, String)>,
    /// Workers whose answers do not count, and why.
    pub excluded: Vec<Remark>,
}

/// Which questions wait, and which are on their way. Pure.
#[derive(Debug)]
struct Sheet<A: Assignment> {
    questions: BTreeMap<u64, A>,
    waiting: BTreeSet<u64>,
    in_flight: BTreeSet<u64>,
    answers: Answers<A::Done>,
}

impl<A: Assignment + Clone> Sheet<A> {
    fn new(questions: Vec<A>) -> Sheet<A> {
        let questions: BTreeMap<u64, A> =
            questions.into_iter().map(|question| (question.number(), question)).collect();
        Sheet {
            waiting: questions.keys().copied().collect(),
            questions,
            in_flight: BTreeSet::new(),
            answers: Answers { answered: BTreeMap::new(), excluded: Vec::new() },
        }
    }

    /// The next question to be asked, if so many may be on their way.
    fn next(&mut self, room: usize) -> Option<A> {
        if self.in_flight.len() >= room {
            return None;
        }
        let number = self.waiting.pop_first()?;
        self.in_flight.insert(number);
        self.questions.get(&number).cloned()
    }

    fn answer(&mut self, answered: A::Done, worker: String) {
        let number = A::number_of(&answered);
        if self.in_flight.remove(&number) {
            self.answers.answered.insert(number, (answered, worker));
        }
    }

    /// What a worker has answered does not count, and is asked again.
    fn exclude(&mut self, remark: Remark) {
        let waiting = &mut self.waiting;
        self.answers.answered.retain(|number, (_, worker)| {
            let stays = *worker != remark.worker;
            if !stays {
                waiting.insert(*number);
            }
            stays
        });
        self.answers.excluded.push(remark);
    }

    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_empty()
    }
}

/// Asks all questions, at most `most` at once; `tell` hears what goes on. The link stays open: who
/// holds it ends it.
pub async fn ask<A: Assignment + Clone>(
    link: &mut Link<A, A::Done>,
    questions: Vec<A>,
    most: Option<usize>,
    mut tell: impl FnMut(News<'_>),
) -> Result<Answers<A::Done>, AskingError> {
    let mut sheet = Sheet::new(questions);
    while !sheet.is_done() {
        let room = *link.room.borrow_and_update();
        while let Some(question) = sheet.next(most.map_or(room, |most| most.min(room))) {
            link.order(Order::Play(Box::new(question)));
        }
        let event = tokio::select! {
            event = link.events.recv() => event,
            Ok(()) = link.room.changed() => continue,
        };
        let gone = || AskingError::Lost("the link to the cluster has ended".to_owned());
        match event.ok_or_else(gone)? {
            JobEvent::Played { played, worker, .. } => {
                link.order(Order::Stored(A::number_of(&played)));
                sheet.answer(played, worker.unwrap_or_default());
                tell(News::Answered(sheet.answers.answered.len()));
            }
            JobEvent::Noted(remark) => tell(News::Remark(&remark)),
            JobEvent::WorkerExcluded(remark) => {
                tell(News::Remark(&remark));
                sheet.exclude(remark);
                tell(News::Answered(sheet.answers.answered.len()));
            }
            JobEvent::Failed { pair, reason } => {
                return Err(AskingError::Failed { number: pair, reason });
            }
            JobEvent::Unfit(what) => return Err(AskingError::Unfit(what)),
            JobEvent::Lost(what) => return Err(AskingError::Lost(what)),
            JobEvent::Started { .. } => {}
        }
    }
    Ok(sheet.answers)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use arbiter_suite::epd::{Answered, Question, read};

    fn questions(count: u64) -> Vec<Question> {
        let record = read("4k3/8/8/8/8/8/4P3/4K2R w K - bm e4;", false).records.remove(0);
        let record = Arc::new(record);
        let question = |number| Question { number, record: record.clone(), hold: None, engines: 1 };
        (0..count).map(question).collect()
    }

    fn answered(number: u64) -> Answered {
        Answered { number, answers: vec![Err("it crashed".to_owned())] }
    }

    #[test]
    fn each_question_is_asked_once_and_answered_once() {
        let mut sheet = Sheet::new(questions(3));
        assert!(sheet.next(0).is_none());
        let numbers: Vec<u64> =
            std::iter::from_fn(|| sheet.next(2)).map(|question| question.number).collect();
        assert_eq!(numbers, [0, 1]);
        sheet.answer(answered(1), "a".to_owned());
        sheet.answer(answered(1), "b".to_owned());
        assert_eq!(sheet.answers.answered[&1].1, "a");
        assert_eq!(sheet.next(2).map(|question| question.number), Some(2));
        for number in [0, 2] {
            assert!(!sheet.is_done());
            sheet.answer(answered(number), "b".to_owned());
        }
        assert!(sheet.is_done());
    }

    #[test]
    fn answers_of_who_is_excluded_are_asked_for_again() {
        let mut sheet = Sheet::new(questions(2));
        while sheet.next(9).is_some() {}
        sheet.answer(answered(0), "a".to_owned());
        sheet.answer(answered(1), "b".to_owned());
        let (worker, what) = ("a".to_owned(), "another bench".to_owned());
        sheet.exclude(Remark { worker, pair: None, what });
        assert!(!sheet.is_done());
        assert_eq!(sheet.next(9).map(|question| question.number), Some(0));
        sheet.answer(answered(0), "b".to_owned());
        assert!(sheet.is_done());
        assert!(sheet.answers.answered.values().all(|(_, worker)| worker == "b"));
    }
}
