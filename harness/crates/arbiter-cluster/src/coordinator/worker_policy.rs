//! Admission and exclusion of workers. Benches are compared when a worker joins
//! ([`admission`](super::admission)); results are compared while the worker plays
//! ([`outliers`](crate::outliers)). Workers that differ are excluded.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::Message;

use super::Coordinator;
use super::admission::{Admission, Verdict};
use super::started_jobs::StartedJobs;
use crate::assignment::Assignment;
use crate::outliers::{Finding, OutlierDetector};
use crate::trust::Token;
use crate::wire::{
    self, BenchResult, Benches, EXCLUDED, JoinAnswer, JoinRequest, Notice, RunDescription,
};
use arbiter_run::{PairTally, Remark};
use arbiter_runner::JobEvent;

/// Minimum time between two repeated notices to excluded workers that continue to play. Each notice
/// must be signed, and an excluded worker may send any number of messages.
const EXCLUSION_PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of remarks about all workers together.
const MAX_REMARKS: u32 = 10_000;

/// Maximum number of remarks about one worker. This limit is a tenth of the limit for all workers,
/// so that remarks about one worker cannot suppress remarks about other workers. Remarks are the
/// evidence against workers.
const MAX_REMARKS_OF_WORKER: u32 = 1_000;

/// Facts about workers from the store of a resumed run; empty for a new run.
#[derive(Debug, Default)]
pub struct WorkerHistory {
    /// Excluded workers, each with the reason for the exclusion.
    pub excluded: BTreeMap<String, String>,
    /// Pairs played so far, each with its worker.
    pub played: Vec<(String, PairTally)>,
    /// `true` if all pairs are between the same two engines, under the same conditions.
    pub is_uniform: bool,
}

/// Decisions about which workers may play, and the facts about workers on which the decisions are
/// based.
#[derive(Debug, Default)]
pub(super) struct WorkerPolicy {
    admission: Admission,
    pub(super) outliers: OutlierDetector,
    excluded: BTreeMap<String, String>,
    /// Accepted pairs that are not stored yet, each with its worker.
    pub(super) accepted: BTreeMap<u64, (String, PairTally)>,
    /// Number of results without a valid proof, by sender.
    pub(super) unproven: BTreeMap<String, u64>,
    /// Number of impossible results with a valid proof, by worker.
    pub(super) impossible: BTreeMap<String, u32>,
    pub(super) started: StartedJobs,
    /// Time from the start of the coordinator to the last repeated notice of exclusion.
    exclusion_repeated: Duration,
    /// Limit on the stored remarks about workers.
    pub(super) remarks: RemarkLimit,
    /// Limit on the reports about workers that join or leave, separate from the limit on stored
    /// remarks.
    pub(super) presences: RemarkLimit,
}

impl WorkerPolicy {
    /// Creates the policy; `benches` are the results of the engines' benches on this machine.
    pub(super) fn new(
        description: &RunDescription,
        benches: &[Option<BenchResult>],
        history: WorkerHistory,
    ) -> WorkerPolicy {
        let mut outliers = OutlierDetector::new(history.is_uniform);
        for (worker, tally) in &history.played {
            outliers.add(worker, tally);
        }
        let names = description.engines.iter().map(|run_engine| run_engine.engine.name.clone());
        WorkerPolicy {
            admission: Admission::new(names.zip(benches.iter().copied())),
            outliers,
            excluded: history.excluded,
            ..WorkerPolicy::default()
        }
    }

    /// Returns the reason why a worker was excluded; `None` if the worker was not excluded.
    pub(super) fn exclusion_reason(&self, worker: &str) -> Option<&str> {
        self.excluded.get(worker).map(String::as_str)
    }

    /// Records that a pair was stored. Returns the outlier among the workers, if any.
    pub(super) fn note_stored(&mut self, pair: u64) -> Option<Finding> {
        let (worker, tally) = self.accepted.remove(&pair)?;
        self.compare(&worker, &tally)
    }

    /// Records a reported breakdown in a pair that this machine has played without a breakdown.
    /// Returns the outlier among the workers, if any.
    pub(super) fn refuted(&mut self, worker: &str, tally: &PairTally) -> Option<Finding> {
        self.outliers.refuted += 1 + u64::from(tally.second.is_some());
        self.compare(worker, tally)
    }

    /// Adds a pair played by a worker, and compares the worker with the other workers, unless the
    /// worker is excluded. Returns the outlier among the workers, if any.
    fn compare(&mut self, worker: &str, tally: &PairTally) -> Option<Finding> {
        let is_excluded = self.excluded.contains_key(worker);
        (!is_excluded).then(|| self.outliers.add_and_check(worker, tally)).flatten()
    }
}

/// Limit on the remarks of one kind about workers, with the number of remarks so far, in total and
/// by worker. The limit prevents remarks from filling the disk or the web page.
#[derive(Debug, Default)]
pub(super) struct RemarkLimit {
    all: u32,
    of_workers: BTreeMap<String, u32>,
}

impl RemarkLimit {
    /// Returns whether another remark is allowed, and counts the remark.
    pub(super) fn allows(&mut self, worker: &str) -> bool {
        if self.all >= MAX_REMARKS {
            return false;
        }
        let of_worker = self.of_workers.entry(worker.to_owned()).or_default();
        let is_allowed = *of_worker < MAX_REMARKS_OF_WORKER;
        *of_worker += u32::from(is_allowed);
        self.all += u32::from(is_allowed);
        is_allowed
    }
}

impl<A: Assignment> Coordinator<A> {
    /// Returns the answer to a join request; `None` if the request is unreadable.
    pub(super) async fn answer_join(&mut self, request: &Message) -> Option<JoinAnswer> {
        let (worker, JoinRequest { nonce, benches }) = wire::read_from(request).ok()?;
        let at = self.next_at();
        Some(JoinAnswer { nonce, at, token: self.admit(worker, &benches).await })
    }

    /// Admits or refuses a worker that reports the bench results `benches`. Returns the token of
    /// the worker; the error is the reason for the refusal.
    async fn admit(&mut self, worker: String, benches: &Benches) -> Result<Token, String> {
        if let Some(why) = self.policy.exclusion_reason(&worker) {
            return Err(format!("{EXCLUDED}{why}"));
        }
        let others = self.players().filter(|(name, _)| *name != worker).count();
        let (reason, end) = match self.policy.admission.judge(&worker, benches, others) {
            Verdict::Admit => {
                self.joined.insert(worker.clone());
                self.redraw_audits_of(&worker).await;
                return Ok(self.secret.token(&worker));
            }
            Verdict::TooMany => return Err("too many workers have joined the run".to_owned()),
            Verdict::Exclude(why) => (why, None),
            Verdict::EndRun(why) => {
                ("the run ends: other workers report the same problem".to_owned(), Some(why))
            }
        };
        let refusal = format!("{EXCLUDED}{reason}");
        self.exclude(Some(Finding { worker, reason })).await;
        if let Some(why) = end {
            self.notify(JobEvent::Unfit(why));
        }
        Err(refusal)
    }

    /// Repeats the notice of exclusion to a worker, in case the first notice was lost. Sends at
    /// most one notice per [`EXCLUSION_PAUSE`].
    pub(super) async fn repeat_exclusion(&mut self, worker: &str) {
        if let Some(why) = self.policy.exclusion_reason(worker)
            && self.policy.exclusion_repeated + EXCLUSION_PAUSE < self.now
        {
            let worker = worker.to_owned();
            let why = why.to_owned();
            self.policy.exclusion_repeated = self.now;
            self.send_to_workers(Notice::Exclude { worker, why }).await;
        }
    }

    /// Counts a job that a worker has given back or withholds, or whose result cannot count because
    /// of the worker's report. Excludes the worker if the worker has many more such jobs than other
    /// workers.
    pub(super) async fn gave_back(&mut self, worker: &str) {
        if self.policy.exclusion_reason(worker).is_none() {
            let most = self.policy.started.most(worker);
            let finding = self.policy.outliers.gave_back(worker, most);
            self.exclude(finding).await;
        }
    }

    /// Excludes the worker of a finding, if any; other workers play the pairs of the excluded
    /// worker again.
    pub(super) async fn exclude(&mut self, finding: Option<Finding>) {
        let Some(Finding { worker, reason }) = finding else { return };
        // Several audits may lead to the same finding.
        if self.policy.exclusion_reason(&worker).is_some() {
            return;
        }
        self.policy.outliers.remove(&worker);
        self.policy.excluded.insert(worker.clone(), reason.clone());
        let notice = Notice::Exclude { worker: worker.clone(), why: reason.clone() };
        // The worker is notified before its pairs are sent again, so that the worker does not take
        // these pairs again.
        self.send_to_workers(notice).await;
        self.replay_held(&worker).await;
        self.notify(JobEvent::WorkerExcluded(Remark { worker, pair: None, text: reason }));
        self.update_room();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worker_does_not_exhaust_the_shared_limit() {
        let mut limit = RemarkLimit::default();
        let mut allowed = |worker: &str| (0..5_000).filter(|_| limit.allows(worker)).count();
        let workers = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
        assert_eq!(workers.map(&mut allowed), [[1_000; 10].as_slice(), &[0]].concat()[..]);
    }
}
