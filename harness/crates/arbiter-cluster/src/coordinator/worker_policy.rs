//! Which workers may play. Their benchmarks are compared when they join ([`admission`](super::admission)),
//! and their results while they play ([`outliers`](crate::outliers)); those that differ are excluded.

use std::collections::BTreeMap;

use async_nats::Message;

use super::Coordinator;
use super::admission::{Admission, Verdict};
use crate::assignment::Assignment;
use crate::outliers::{Finding, OutlierDetector};
use crate::subject::{is_inbox, speaker};
use crate::wire::{BenchResult, CoordinatorMessage, JoinRequest, RunDescription};
use arbiter_plan::run::counts::PairTally;
use arbiter_plan::run::event::Remark;
use arbiter_runner::executor::JobEvent;

/// What the store knows of workers when a run is resumed; nothing for a new run.
#[derive(Debug, Default)]
pub struct Known {
    /// Workers that were excluded, and why.
    pub excluded: BTreeMap<String, String>,
    /// What was played for the run, and by whom.
    pub played: Vec<(String, PairTally)>,
    /// Whether all pairs are between the same two engines, under the same conditions.
    pub is_uniform: bool,
}

/// Who may play.
#[derive(Debug)]
pub(super) struct WorkerPolicy {
    admission: Admission,
    outliers: OutlierDetector,
    excluded: BTreeMap<String, String>,
    /// Accepted pairs that are not stored yet, and the worker of each.
    accepted: BTreeMap<u64, (String, PairTally)>,
}

impl WorkerPolicy {
    /// `benches` are what the engines' benchmarks found here.
    pub(super) fn new(
        description: &RunDescription,
        benches: &[Option<BenchResult>],
        known: Known,
    ) -> WorkerPolicy {
        let mut outliers = OutlierDetector::new(known.is_uniform);
        for (worker, tally) in &known.played {
            outliers.add(worker, tally);
        }
        let names = description.contestants.iter().map(|contestant| contestant.seat.name.clone());
        let benches = benches.iter().copied().chain(std::iter::repeat(None));
        WorkerPolicy {
            admission: Admission::new(names.zip(benches)),
            outliers,
            excluded: known.excluded,
            accepted: BTreeMap::new(),
        }
    }

    /// Why a worker was excluded, if it was.
    pub(super) fn why_excluded(&self, worker: &str) -> Option<&str> {
        self.excluded.get(worker).map(String::as_str)
    }

    /// A result was accepted and waits to be stored.
    pub(super) fn accepted(&mut self, worker: &str, tally: PairTally) {
        self.accepted.insert(tally.pair, (worker.to_owned(), tally));
    }

    /// A pair was stored. Returns the outlier among the workers, if one shows now.
    fn stored(&mut self, pair: u64) -> Option<Finding> {
        let (worker, tally) = self.accepted.remove(&pair)?;
        if self.excluded.contains_key(&worker) {
            None
        } else {
            self.outliers.add_and_check(&worker, &tally)
        }
    }
}

impl<A: Assignment> Coordinator<A> {
    /// Answers a join request: with an empty message if the worker may play, else with the reason.
    pub(super) async fn answer_join(&mut self, asked: Message) {
        let Some(reply) = asked.reply.filter(is_inbox) else { return };
        let answer = match JoinRequest::read(speaker(&asked.subject), &asked.payload) {
            Ok(join) => self.admit(&join).await,
            Err(error) => Some(error.to_string()),
        };
        let answer = answer.unwrap_or_default();
        let _ = self.link.client.publish(reply, answer.into()).await;
    }

    /// Why a worker may not play; `None` if it may.
    async fn admit(&mut self, join: &JoinRequest) -> Option<String> {
        if let Some(why) = self.policy.why_excluded(&join.worker) {
            return Some(format!("excluded: {why}"));
        }
        let (why, end) = match self.policy.admission.judge(join) {
            Verdict::Admit => return None,
            Verdict::Exclude(why) => (why, None),
            Verdict::EndRun(words) => {
                ("the run ends, as others find the same".to_owned(), Some(words))
            }
        };
        self.exclude(Finding { worker: join.worker.clone(), reason: why.clone() }).await;
        if let Some(words) = end {
            let _ = self.ends.events.send(JobEvent::Unfit(words));
        }
        Some(format!("excluded: {why}"))
    }

    /// A pair was stored: excludes the outlier among the workers, if one shows now.
    pub(super) async fn check_workers(&mut self, pair: u64) {
        if let Some(finding) = self.policy.stored(pair) {
            self.exclude(finding).await;
        }
    }

    /// A worker plays no more, and what it has played is played again by others.
    async fn exclude(&mut self, Finding { worker, reason }: Finding) {
        self.policy.outliers.remove(&worker);
        self.policy.excluded.insert(worker.clone(), reason.clone());
        self.say(&CoordinatorMessage::Exclude {
            worker: worker.clone(),
            why: format!("excluded: {reason}"),
        })
        .await;
        let remark = Remark { worker, pair: None, what: reason };
        let _ = self.ends.events.send(JobEvent::WorkerExcluded(remark));
        self.make_room();
    }
}
