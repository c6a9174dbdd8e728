//! What becomes of the results of workers, and the acknowledgement of their jobs.

use async_nats::jetstream::AckKind;

use super::Coordinator;
use crate::assignment::Assignment;
use crate::in_flight::{Accepted, Disposition, Receipt};
use crate::subject::sender;
use crate::wire::{self, AUDITS, JobResult, Notice, WireError};
use arbiter_runner::JobEvent;

/// Most senders of results that are not theirs, each of which is counted apart.
const MAX_UNPROVEN: usize = 1_000;

impl<A: Assignment> Coordinator<A> {
    /// Reads a result. One that cannot be read is not delivered again, so that a resumed run goes on.
    pub(super) async fn read_result(&mut self, receipt: Receipt) {
        let Some(message) = self.unacknowledged.get(&receipt) else { return };
        let worker = sender(&message.subject).to_owned();
        let error = match wire::read_result(message, &self.description.run_id, &self.secret) {
            Ok((_, result)) => return self.receive_result(worker, result, receipt).await,
            Err(error) => error,
        };
        let worker = if wire::is_worker_name(&worker) { &worker } else { "unknown" };
        match error {
            WireError::Unproven => self.count_unproven(worker),
            error => self.remark(worker, None, error.to_string()),
        }
        self.acknowledge_result(receipt).await;
    }

    /// A result of a job that its sender was not given. Who sends one may send many: the first is named,
    /// the tenth, the hundredth and so on.
    fn count_unproven(&mut self, worker: &str) {
        let is_full = self.unproven.len() >= MAX_UNPROVEN && !self.unproven.contains_key(worker);
        let worker = if is_full { "unknown" } else { worker };
        let count = self.unproven.entry(worker.to_owned()).or_default();
        *count += 1;
        if count.ilog10() != (*count - 1).checked_ilog10().unwrap_or(u32::MAX) {
            let what = format!("{} ({count} so far)", WireError::Unproven);
            self.remark(worker, None, what);
        }
    }

    async fn receive_result(
        &mut self,
        worker: String,
        result: JobResult<A::Done>,
        receipt: Receipt,
    ) {
        let (pair, ack) = (result.number, result.ack.clone());
        if self.is_own_audit(pair, result.attempt, &worker).await {
            return self.acknowledge_result(receipt).await;
        }
        self.in_flight.started(pair, self.now);
        let disposition = match self.policy.why_excluded(&worker) {
            Some(_) => Disposition::Reject("a result of a worker that is excluded".to_owned()),
            None => self.in_flight.receive(&worker, result, receipt),
        };
        let what = match disposition {
            Disposition::Accept { played, noise } => {
                if let Some(repeated) = pair.checked_sub(AUDITS) {
                    self.done(pair).await;
                    let undisturbed = Some(played).filter(|_| noise.is_none());
                    return self.repeated(repeated, worker, undisturbed).await;
                }
                if self.audit(pair, &worker, &played, &noise) {
                    return;
                }
                return self.accepted(pair, worker, played, noise);
            }
            Disposition::Duplicate(what) => {
                self.acknowledge_job(&ack, pair, AckKind::Ack).await;
                self.send_to_workers(Notice::Stored(pair)).await;
                what
            }
            Disposition::Discard(what) => what,
            Disposition::Reject(why) => {
                self.acknowledge_job(&ack, pair, AckKind::Nak(None)).await;
                let (worker, told) = (worker.clone(), why.clone());
                let refused = Notice::Refused { worker, pair, why: told };
                self.send_to_workers(refused).await;
                why
            }
            Disposition::Retry(what) => {
                self.resend(pair);
                what
            }
            Disposition::Fail(_) if pair >= AUDITS => {
                self.done(pair).await;
                return self.repeated(pair - AUDITS, worker, None).await;
            }
            Disposition::Fail(reason) => {
                self.remark(&worker, Some(pair), reason.clone());
                self.notify(JobEvent::Failed { pair, reason });
                return self.acknowledge_result(receipt).await;
            }
        };
        self.acknowledge_result(receipt).await;
        self.remark(&worker, Some(pair), what);
    }

    /// A job is done for good; whether it had a result.
    pub(super) async fn done(&mut self, pair: u64) -> bool {
        let Some(Accepted { ack, receipt }) = self.in_flight.stored(pair) else { return false };
        self.acknowledge_job(&ack, pair, AckKind::Ack).await;
        self.acknowledge_result(receipt).await;
        self.send_to_workers(Notice::Stored(pair)).await;
        true
    }

    /// Acknowledges the job of a pair, or gives it back, at the subject that a worker named, if it is
    /// that of this job.
    async fn acknowledge_job(&self, subject: &str, pair: u64, answer: AckKind) {
        let Some(sequence) = self.description.run_id.acknowledged_job(subject) else { return };
        let is_its_own = match self.in_flight.owner(sequence) {
            Some(owner) => owner == pair,
            // A job that was acknowledged before must not be given back.
            None => matches!(answer, AckKind::Ack),
        };
        if is_its_own {
            let _ = self.connection.client.publish(subject.to_owned(), answer.into()).await;
        }
    }

    pub(super) async fn acknowledge_result(&mut self, receipt: Receipt) {
        self.acknowledged.insert(receipt);
        if let Some(message) = self.unacknowledged.remove(&receipt) {
            // If that is lost, the result is delivered and acknowledged again.
            let _ = message.ack().await;
        }
    }
}
