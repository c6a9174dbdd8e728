//! Handling of results from workers, and acknowledgement of jobs.

use async_nats::jetstream::AckKind;

use super::Coordinator;
use super::streams::Outgoing;
use crate::assignment::Assignment;
use crate::in_flight::{Disposition, DonePair, Receipt};
use crate::outliers::Finding;
use crate::subject::sender;
use crate::wire::{self, AUDITS, Notice, ProvenResult, WireError};
use arbiter_runner::JobEvent;

/// Maximum number of senders whose results without a valid proof are counted separately. Such
/// senders may invent names, which must not fill the memory.
const MAX_UNPROVEN: usize = 1_000;

/// Number of impossible results after which a worker is excluded.
const MAX_IMPOSSIBLE: u32 = 20;

impl<A: Assignment> Coordinator<A> {
    /// Reads a result that has arrived, if its proof is valid and its pair waits for a result.
    /// Other results are parked, or acknowledged without being read.
    pub(super) async fn take_result(&mut self, receipt: Receipt) {
        let Some(message) = self.unacknowledged.get(&receipt) else { return };
        let bytes = message.payload.len();
        let worker = sender(&message.subject).to_owned();
        let Ok(ProvenResult { number, attempt, .. }) = wire::check_proof(message, &self.secret)
        else {
            self.count_unproven(&worker);
            return self.acknowledge_result(receipt).await;
        };
        // A proven result shows that the server still delivers messages, so the streams need not be
        // emptied.
        self.unheard.clear();
        if self.policy.started.finished(&worker, (number, attempt))
            && self.in_flight.is_waiting(number)
        {
            self.policy.outliers.finished_withheld(&worker);
        }
        if self.policy.exclusion_reason(&worker).is_some() {
            // If the job were not sent again, the pair would wait until the lease of the excluded
            // worker ends.
            if self.in_flight.is_last(number, attempt) && self.audits.is_for(number, &worker) {
                self.play_again(number).await;
            }
            self.repeat_exclusion(&worker).await;
            return self.acknowledge_result(receipt).await;
        }
        let text = if !self.in_flight.is_requested(number) {
            // After a restart, results may arrive before the dispatcher has requested their pairs
            // again.
            if self.in_flight.parked.add(number, receipt, bytes) {
                // The pair was played while the coordinator was not running. The job of the pair is
                // removed from the server, so that no other worker plays the pair again.
                let _ = self.outgoing.send(Outgoing::Done { pair: number });
                return;
            }
            "a result of a pair that was not requested"
        } else if self.in_flight.is_waiting(number) && self.audits.is_for(number, &worker) {
            return self.read_result(receipt).await;
        } else if self.in_flight.is_waiting(number) {
            "a repetition by a worker that was not selected to repeat the pair"
        } else {
            // A duplicate of a finished pair shows that its job is still on the server.
            if self.in_flight.is_over(number) {
                self.remove_job(number);
            }
            "a duplicate result of a pair"
        };
        self.remark(&worker, Some(number), text.to_owned());
        self.acknowledge_result(receipt).await;
    }

    /// Reads and handles a proven result. An unreadable result is acknowledged too, because the
    /// server would otherwise deliver the result again.
    pub(super) async fn read_result(&mut self, receipt: Receipt) {
        let Some(message) = self.unacknowledged.get(&receipt) else { return };
        let worker = sender(&message.subject).to_owned();
        // The worker may have been excluded while its result was parked.
        if self.policy.exclusion_reason(&worker).is_some() {
            return self.acknowledge_result(receipt).await;
        }
        let Ok(proven) = wire::check_proof(message, &self.secret) else { return };
        let ProvenResult { number: pair, attempt, .. } = proven;
        let result = match wire::read_result(&proven, &self.description.run_id) {
            Ok(result) => result,
            Err(error) => {
                self.reject(worker, (pair, attempt), error.to_string()).await;
                return self.acknowledge_result(receipt).await;
            }
        };
        self.joined.insert(worker.clone());
        self.in_flight.started(pair, self.now);
        match self.in_flight.receive(&worker, result, receipt) {
            Disposition::Accept(played) => {
                if let Some(repeated) = pair.checked_sub(AUDITS) {
                    self.finish_pair(pair).await;
                    return self.handle_repetition(repeated, worker, played).await;
                }
                if self.audit(pair, &worker, &played).await {
                    return;
                }
                return self.accepted(pair, worker, played).await;
            }
            Disposition::Reject(why) => self.reject(worker, (pair, attempt), why).await,
            Disposition::Discard(text) => self.remark(&worker, Some(pair), text),
            Disposition::Retry(text) => {
                self.play_again(pair).await;
                self.gave_back(&worker).await;
                self.remark(&worker, Some(pair), text);
            }
            Disposition::Fail(_) if pair >= AUDITS => self.audit_failed(pair - AUDITS).await,
            Disposition::Fail(reason) => {
                self.remark(&worker, Some(pair), reason.clone());
                self.notify(JobEvent::Failed { pair, reason });
            }
        }
        self.acknowledge_result(receipt).await;
    }

    /// Rejects an impossible result with a valid proof, and sends the job again.
    async fn reject(&mut self, worker: String, (pair, attempt): (u64, u32), why: String) {
        self.remark(&worker, Some(pair), why.clone());
        if self.in_flight.is_last(pair, attempt) {
            self.play_again(pair).await;
        }
        let to = worker.clone();
        self.send_to_workers(Notice::Refused { worker: to, pair, why }).await;
        let count = self.policy.impossible.entry(worker.clone()).or_default();
        *count += 1;
        if *count == MAX_IMPOSSIBLE {
            let reason = format!("{MAX_IMPOSSIBLE} of the worker's results are impossible");
            self.exclude(Some(Finding { worker, reason })).await;
        }
    }

    /// Counts a result without a valid proof. For each sender, only results 1, 10, 100, and so on
    /// are reported.
    fn count_unproven(&mut self, worker: &str) {
        // The subject of a message without a proof may contain any text, so only valid names are
        // counted separately.
        let unproven = &mut self.policy.unproven;
        let has_room = unproven.len() < MAX_UNPROVEN || unproven.contains_key(worker);
        let worker = if has_room && wire::is_worker_name(worker) { worker } else { "unknown" };
        let count = unproven.entry(worker.to_owned()).or_default();
        *count += 1;
        // Only powers of ten are reported, so that the sender cannot fill the store with remarks.
        if count.ilog10() != (*count - 1).checked_ilog10().unwrap_or(u32::MAX) {
            let text = format!("{} ({count} so far)", WireError::Unproven);
            self.remark(worker, None, text);
        }
    }

    /// Acknowledges the job of a finished pair, and the result of the pair, if any. Returns whether
    /// the pair has a result.
    pub(super) async fn finish_pair(&mut self, pair: u64) -> bool {
        let Some(DonePair { sequence, receipt }) = self.in_flight.note_stored(pair) else {
            return false;
        };
        match sequence {
            Some(sequence) => self.answer_job(sequence, AckKind::Ack).await,
            // The server accepts acknowledgements only for delivered jobs.
            None => self.remove_job(pair),
        }
        let Some(receipt) = receipt else { return false };
        self.acknowledge_result(receipt).await;
        true
    }

    /// Acknowledges a job, or extends its lease, on behalf of its worker. Workers have no
    /// permission to acknowledge jobs, because the server would not check which worker has received
    /// the job.
    pub(super) async fn answer_job(&self, sequence: u64, answer: AckKind) {
        let subject = self.description.run_id.job_ack_subject(sequence);
        let _ = self.connection.client.publish(subject, answer.into()).await;
    }

    pub(super) async fn acknowledge_result(&mut self, receipt: Receipt) {
        // The receipt is recorded first: if the acknowledgement is lost, the result is delivered
        // again and must not count twice.
        self.acknowledged.insert(receipt);
        if let Some(message) = self.unacknowledged.remove(&receipt) {
            let _ = message.ack().await;
        }
    }
}
