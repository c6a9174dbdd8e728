//! Which workers may play: those that join are examined, those that play are watched, and those
//! that are out of line are set aside.

use std::collections::BTreeMap;

use async_nats::Message;

use super::Coordinator;
use super::admission::{Admission, Verdict};
use crate::assignment::Assignment;
use crate::audit::{Audit, Finding};
use crate::subject::{is_inbox, speaker};
use crate::wire::{BenchResult, CoordinatorMessage, JoinRequest, RunDescription};
use arbiter_plan::run::event::Remark;
use arbiter_plan::run::standing::PairTally;
use arbiter_runner::executor::JobEvent;

/// What is known of workers when a coordinator starts: something, if its run goes on.
#[derive(Debug, Default)]
pub struct Known {
    /// Workers that were set aside, and why.
    pub aside: BTreeMap<String, String>,
    /// What was played for the run, and by whom.
    pub played: Vec<(String, PairTally)>,
    /// Whether all pairs are between the same two engines, under the same conditions.
    pub is_uniform: bool,
}

/// Who may play.
#[derive(Debug)]
pub(super) struct Custody {
    admission: Admission,
    audit: Audit,
    aside: BTreeMap<String, String>,
    /// Pairs whose results were taken and are not on disk yet.
    taken: BTreeMap<u64, (String, PairTally)>,
}

impl Custody {
    /// `benches` are what the engines' benchmarks found here.
    pub(super) fn new(
        description: &RunDescription,
        benches: &[Option<BenchResult>],
        known: Known,
    ) -> Custody {
        let mut audit = Audit::new(known.is_uniform);
        for (worker, tally) in &known.played {
            audit.load(worker, tally);
        }
        let names = description.contestants.iter().map(|contestant| contestant.seat.name.clone());
        let benches = benches.iter().copied().chain(std::iter::repeat(None));
        Custody {
            admission: Admission::new(names.zip(benches)),
            audit,
            aside: known.aside,
            taken: BTreeMap::new(),
        }
    }

    /// Why a worker was set aside, if it was.
    pub(super) fn why_aside(&self, worker: &str) -> Option<&str> {
        self.aside.get(worker).map(String::as_str)
    }

    /// The result of a pair was taken.
    pub(super) fn take(&mut self, worker: &str, tally: PairTally) {
        self.taken.insert(tally.pair, (worker.to_owned(), tally));
    }

    /// The outcome of a pair is on disk; who is out of line.
    fn stored(&mut self, pair: u64) -> Option<Finding> {
        let (worker, tally) = self.taken.remove(&pair)?;
        if self.aside.contains_key(&worker) { None } else { self.audit.count(&worker, &tally) }
    }
}

impl<A: Assignment> Coordinator<A> {
    /// Answers a worker that would play: with nothing if it may, else with the reason.
    pub(super) async fn answer_join(&mut self, asked: Message) {
        let Some(reply) = asked.reply.filter(is_inbox) else { return };
        let answer = match JoinRequest::read(speaker(&asked.subject), &asked.payload) {
            Ok(join) => self.admit(&join).await,
            Err(error) => Some(error.to_string()),
        };
        let answer = answer.unwrap_or_default();
        let _ = self.link.client.publish(reply, answer.into()).await;
    }

    /// Why a worker may not play, if it may not.
    async fn admit(&mut self, join: &JoinRequest) -> Option<String> {
        if let Some(why) = self.custody.why_aside(&join.worker) {
            return Some(format!("set aside: {why}"));
        }
        let (why, end) = match self.custody.admission.judge(join) {
            Verdict::Welcome => return None,
            Verdict::Aside(why) => (why, None),
            Verdict::End(words) => {
                ("the run ends, as others find the same".to_owned(), Some(words))
            }
        };
        self.set_aside(Finding { worker: join.worker.clone(), reason: why.clone() }).await;
        if let Some(words) = end {
            let _ = self.ends.events.send(JobEvent::Unfit(words));
        }
        Some(format!("set aside: {why}"))
    }

    /// The outcome of a pair is on disk: time to look at who played it.
    pub(super) async fn watch_over(&mut self, pair: u64) {
        if let Some(finding) = self.custody.stored(pair) {
            self.set_aside(finding).await;
        }
    }

    /// A worker plays no more, and what it has played is played again by others.
    async fn set_aside(&mut self, Finding { worker, reason }: Finding) {
        self.custody.audit.forget(&worker);
        self.custody.aside.insert(worker.clone(), reason.clone());
        self.say(&CoordinatorMessage::Aside {
            worker: worker.clone(),
            why: format!("set aside: {reason}"),
        })
        .await;
        let remark = Remark { worker, pair: None, what: reason };
        let _ = self.ends.events.send(JobEvent::SetAside(remark));
        self.make_room();
    }
}
