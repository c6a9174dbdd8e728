//! Heartbeats from workers, and the leases of their jobs.

use std::collections::BTreeSet;

use async_nats::Message;
use async_nats::jetstream::AckKind;
use tokio::time::timeout;

use super::statuses::UNSEEN_SLOTS;
use super::streams::{self, Outgoing};
use super::{Coordinator, SHUTDOWN_TIMEOUT};
use crate::assignment::Assignment;
use crate::wire::{self, AUDITS, Heartbeat, RunDescription};
use arbiter_runner::JobEvent;

/// Maximum number of finished pairs whose jobs are removed from the server within one lease. Each
/// removal is a request to the server, and a worker could trigger any number of removals by sending
/// duplicate results.
const MAX_REMOVED: usize = 1_000;

impl<A: Assignment> Coordinator<A> {
    pub(super) async fn receive_heartbeat(&mut self, message: &Message) {
        if let Ok((worker, heartbeat)) = wire::read_from::<Heartbeat>(message)
            // Without a valid proof, a worker could extend or give back the jobs of other workers.
            && heartbeat.proof == self.secret.proof(&worker, heartbeat.pair, heartbeat.attempt)
        {
            self.joined.insert(worker.clone());
            let Heartbeat { pair, attempt, is_given_back, .. } = heartbeat;
            let is_for_it = self.audits.is_for(pair, &worker);
            if self.in_flight.is_over(pair) {
                self.remove_job(pair);
            } else if is_given_back {
                if is_for_it && self.in_flight.give_back(&worker, pair, attempt) {
                    self.policy.started.finished(&worker, (pair, attempt));
                    self.play_again(pair).await;
                    self.gave_back(&worker).await;
                }
            } else if self.policy.exclusion_reason(&worker).is_some() {
                self.repeat_exclusion(&worker).await;
            } else if is_for_it && self.in_flight.is_last(pair, attempt) {
                self.note_started(&worker, (pair, attempt)).await;
                if let Some((pairing, game_index)) =
                    self.in_flight.heartbeat(worker, heartbeat, self.description.lease, self.now)
                    && pairing.pair < AUDITS
                {
                    self.notify(JobEvent::Started { pairing, game_index });
                }
            }
        }
    }

    /// Records that a worker plays a job. Counts another job of the worker as given back if the
    /// worker withholds this other job.
    async fn note_started(&mut self, worker: &str, job: (u64, u32)) {
        let RunDescription { lease, ref requirements, .. } = self.description;
        // The number of slots is unknown until the worker has sent a status.
        let slots = self.workers.get(worker).map_or(UNSEEN_SLOTS, |(status, _)| {
            (status.slots / requirements.threads.max(1)).max(1) as usize
        });
        if let Some(pair) = self.policy.started.heartbeat(worker, job, slots, lease, self.now) {
            let text = "no result, although the worker plays other pairs in all its slots";
            self.remark(worker, Some(pair), text.to_owned());
            self.gave_back(worker).await;
        }
    }

    /// Extends the leases of jobs in progress, and sends jobs without heartbeats again.
    pub(super) async fn extend_leases(&mut self) {
        let RunDescription { lease, stall_timeout, .. } = self.description;
        // While there is no connection, missing heartbeats prove nothing, because no message from
        // workers arrives.
        if !self.connection.is_connected() {
            self.unheard.clear();
        }
        let silent = self.in_flight.waiting_unheard(lease, self.now);
        for (pair, player) in self.in_flight.overdue(lease, stall_timeout, self.now) {
            // If a pair gets no heartbeats even after the pair was sent again, the server probably
            // does not deliver jobs. Audits are not considered, because the number of attempts at
            // an audit is limited separately.
            if pair < AUDITS && silent.contains(&pair) && !self.unheard.insert(pair) {
                self.unheard.clear();
                return self.empty_streams(silent).await;
            }
            let text = "no worker replied in time; sent again";
            let player = player.or_else(|| self.audits.auditor(pair).cloned());
            self.remark(player.as_deref().unwrap_or("unknown"), Some(pair), text.to_owned());
            self.play_again(pair).await;
        }
        // A removal may have been lost, so the removal may be repeated after one lease.
        if self.removed_at + lease < self.now {
            self.removed_at = self.now;
            self.removed = BTreeSet::new();
        }
        for sequence in self.in_flight.extensions(lease, self.now) {
            self.answer_job(sequence, AckKind::Progress).await;
        }
    }

    /// Empties the streams and sends all jobs without heartbeats again. After a crash, the server
    /// may count undeliverable messages, and may then stop delivering later messages.
    async fn empty_streams(&mut self, silent: Vec<u64>) {
        // The streams are emptied, not replaced: new streams would have new sequence numbers, and
        // replacing the streams could fail halfway.
        let emptying = streams::empty(&self.connection, &self.description.run_id);
        let state = match timeout(SHUTDOWN_TIMEOUT, emptying).await {
            Ok(Ok(())) => "emptied".to_owned(),
            Ok(Err(error)) => format!("not emptied: {error}"),
            Err(_) => "not emptied: no reply".to_owned(),
        };
        let text = format!(
            "no worker replied after jobs were sent again; the server's streams were {state}"
        );
        self.remark("unknown", None, text);
        for pair in silent {
            self.resend(pair).await;
        }
    }

    /// Handles a pair that was not played, or an audit that was not carried out.
    pub(super) async fn play_again(&mut self, pair: u64) {
        match pair.checked_sub(AUDITS) {
            Some(audited) => self.audit_failed(audited).await,
            None => self.resend(pair).await,
        }
    }

    /// Removes the job of a finished pair from the server, in case the job is still stored because
    /// a message was lost.
    pub(super) fn remove_job(&mut self, pair: u64) {
        // Audits are not on the server.
        if pair < AUDITS && self.removed.len() < MAX_REMOVED && self.removed.insert(pair) {
            // The receiver lives as long as the coordinator.
            let _ = self.outgoing.send(Outgoing::Done { pair });
        }
    }
}
