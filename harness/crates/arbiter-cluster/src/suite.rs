//! Execution of a suite by workers.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::assignment::Assignment;
use arbiter_run::Remark;
use arbiter_runner::{DispatcherEnd, JobCommand, JobEvent};

/// Reason why a suite was not completed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SuiteRunError {
    /// Too many workers failed at a task, or the engines do not behave identically on all machines.
    #[error("{0}")]
    Failed(String),
    /// The connection to the server was lost.
    #[error("{0}")]
    Lost(String),
}

/// The results of a suite.
#[derive(Debug)]
pub struct SuiteResults<D> {
    /// Results, each with its worker, by task number.
    pub done: BTreeMap<u64, (D, String)>,
    /// Workers whose results do not count, each with the reason.
    pub excluded: Vec<Remark>,
}

/// The tasks of a suite: waiting, in flight and done. This type does no I/O.
#[derive(Debug)]
struct TaskQueue<A: Assignment> {
    tasks: Vec<A>,
    waiting: BTreeSet<u64>,
    in_flight: BTreeSet<u64>,
    results: SuiteResults<A::Done>,
}

impl<A: Assignment> TaskQueue<A> {
    fn new(tasks: Vec<A>) -> TaskQueue<A> {
        TaskQueue {
            waiting: (0..tasks.len() as u64).collect(),
            tasks,
            in_flight: BTreeSet::new(),
            results: SuiteResults { done: BTreeMap::new(), excluded: Vec::new() },
        }
    }

    /// Takes the next task to send, with its number, if fewer than `room` tasks are in flight.
    fn next(&mut self, room: usize) -> Option<(u64, A)> {
        if self.in_flight.len() >= room {
            return None;
        }
        let number = self.waiting.pop_first()?;
        self.in_flight.insert(number);
        Some((number, self.tasks[number as usize].clone()))
    }

    fn complete(&mut self, number: u64, done: A::Done, worker: String) {
        if self.in_flight.remove(&number) {
            self.results.done.insert(number, (done, worker));
        }
    }

    /// Excludes a worker: its results do not count, and its tasks are sent again.
    fn exclude(&mut self, remark: Remark) {
        let of_worker = |(_, worker): &mut (A::Done, String)| *worker == remark.worker;
        let taken_back = self.results.done.extract_if(.., |_, done| of_worker(done));
        self.waiting.extend(taken_back.map(|(number, _)| number));
        self.results.excluded.push(remark);
    }

    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_empty()
    }
}

/// Runs all tasks, at most `most` in parallel; if `most` is `None`, only the slots of the workers
/// limit the number of parallel tasks. After each event, calls `observe` with the number of
/// finished tasks and, if the event contains a remark about a worker, with this remark. The caller
/// has to close the job channel `link`.
pub async fn run_suite<A: Assignment>(
    link: &mut DispatcherEnd<A, A::Done>,
    tasks: Vec<A>,
    most: Option<usize>,
    mut observe: impl FnMut(usize, Option<Remark>),
) -> Result<SuiteResults<A::Done>, SuiteRunError> {
    let mut queue = TaskQueue::new(tasks);
    while !queue.is_done() {
        let room = *link.room.borrow_and_update();
        while let Some((number, task)) = queue.next(most.map_or(room, |most| most.min(room))) {
            link.send(JobCommand::Play(number, Box::new(task)));
        }
        let event = tokio::select! {
            event = link.events.recv() => event,
            Ok(()) = link.room.changed() => continue,
        };
        let lost = || SuiteRunError::Lost("the link to the cluster has ended".to_owned());
        let mut noted = None;
        match event.ok_or_else(lost)? {
            JobEvent::Played { pair, played, worker, .. } => {
                // A suite has no store, so a result is final when the result is received.
                link.send(JobCommand::Stored(pair));
                queue.complete(pair, played, worker.unwrap_or_default());
            }
            JobEvent::Noted(remark) => noted = Some(remark),
            JobEvent::WorkerExcluded(remark) => {
                noted = Some(remark.clone());
                queue.exclude(remark);
            }
            JobEvent::Failed { pair, reason } => {
                return Err(SuiteRunError::Failed(format!("position {}: {reason}", pair + 1)));
            }
            JobEvent::Unfit(what) => return Err(SuiteRunError::Failed(what)),
            JobEvent::Lost(what) => return Err(SuiteRunError::Lost(what)),
            JobEvent::Started { .. }
            | JobEvent::Ended { .. }
            | JobEvent::Paused(_)
            | JobEvent::Presence(_) => {}
        }
        observe(queue.results.done.len(), noted);
    }
    Ok(queue.results)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use arbiter_suite::epd::{EngineAnswers, Question, read};

    fn tasks(count: u64) -> Vec<Question> {
        let record = read("4k3/8/8/8/8/8/4P3/4K2R w K - bm e4;", false).cases.remove(0);
        let record = Arc::new(record);
        let question = |_| Question { record: record.clone(), hold: None, engines: 1 };
        (0..count).map(question).collect()
    }

    fn sample_answers() -> EngineAnswers {
        EngineAnswers(vec![Err("it crashed".to_owned())])
    }

    #[test]
    fn each_task_is_sent_once_and_done_once() {
        let mut queue = TaskQueue::new(tasks(3));
        assert!(queue.next(0).is_none());
        let numbers: Vec<u64> =
            std::iter::from_fn(|| queue.next(2)).map(|(number, _)| number).collect();
        assert_eq!(numbers, [0, 1]);
        queue.complete(1, sample_answers(), "a".to_owned());
        queue.complete(1, sample_answers(), "b".to_owned());
        assert_eq!(queue.results.done[&1].1, "a");
        assert_eq!(queue.next(2).map(|(number, _)| number), Some(2));
        for number in [0, 2] {
            assert!(!queue.is_done());
            queue.complete(number, sample_answers(), "b".to_owned());
        }
        assert!(queue.is_done());
    }

    #[test]
    fn tasks_of_excluded_workers_are_sent_again() {
        let mut queue = TaskQueue::new(tasks(2));
        while queue.next(9).is_some() {}
        queue.complete(0, sample_answers(), "a".to_owned());
        queue.complete(1, sample_answers(), "b".to_owned());
        let (worker, text) = ("a".to_owned(), "another bench".to_owned());
        queue.exclude(Remark { worker, pair: None, text });
        assert!(!queue.is_done());
        assert_eq!(queue.next(9).map(|(number, _)| number), Some(0));
        queue.complete(0, sample_answers(), "b".to_owned());
        assert!(queue.is_done());
        assert!(queue.results.done.values().all(|(_, worker)| worker == "b"));
    }
}
