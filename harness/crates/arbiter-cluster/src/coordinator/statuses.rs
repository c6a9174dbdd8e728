//! Status messages of workers, and the limit on pairs in flight. The limit depends on the slots of
//! the workers.

use std::time::Duration;

use async_nats::Message;

use super::Coordinator;
use crate::assignment::Assignment;
use crate::wire::{self, WireError, WorkerStatus};
use arbiter_names::quantity;
use arbiter_run::Remark;
use arbiter_runner::JobEvent;

/// Time without a status after which a worker counts as gone. Workers send a status every 3 s, so
/// two statuses may be lost.
const WORKER_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of workers whose statuses are stored at the same time. Senders may invent names,
/// which must not fill the memory.
const MAX_WORKERS: usize = 1_000;

/// Number of reported slots that are believed before any pair has been played. Without this limit,
/// a false report of many slots would make the coordinator send a job for each reported slot.
pub(super) const UNSEEN_SLOTS: usize = 64;

impl<A: Assignment> Coordinator<A> {
    /// Returns the reason that the worker reports for not playing this run, if any.
    fn refusal<'a>(&self, status: &'a WorkerStatus) -> Option<&'a str> {
        let mut refusals = status.refusals.iter();
        let refused = refusals.find(|(run_id, _)| *run_id == self.description.run_id);
        refused.map(|(_, why)| why.as_str())
    }

    pub(super) fn receive_status(&mut self, message: &Message) {
        let Ok(worker) = wire::sender_of(message) else { return };
        let status = match wire::read(&message.payload) {
            Ok(status) => status,
            // The error is shown as a refusal, so that the user knows which machine needs an
            // update.
            Err(error @ WireError::Version(_)) => {
                let refusals = vec![(self.description.run_id.clone(), error.to_string())];
                WorkerStatus { refusals, ..WorkerStatus::default() }
            }
            Err(_) => return,
        };
        let before = self.workers.get(&worker).and_then(|(before, _)| self.refusal(before));
        let refusal = self.refusal(&status);
        let is_new = before != refusal && self.policy.exclusion_reason(&worker).is_none();
        if let Some(why) = refusal.filter(|_| is_new) {
            let text = format!("does not play: {why}");
            self.remark(&worker, None, text);
        }
        if self.workers.len() < MAX_WORKERS || self.workers.contains_key(&worker) {
            self.workers.insert(worker, (status, self.now));
            self.update_room();
        }
    }

    /// Returns the workers that play this run.
    pub(super) fn players(&self) -> impl Iterator<Item = (&str, &WorkerStatus)> {
        let workers = self.workers.iter().map(|(name, (status, _))| (name.as_str(), status));
        workers.filter(|(name, status)| {
            self.policy.exclusion_reason(name).is_none() && self.refusal(status).is_none()
        })
    }

    /// Reports workers that have joined and were not present before.
    pub(super) fn notify_new_workers(&mut self) {
        let is_new = |name: &str| self.joined.contains(name) && !self.present.contains(name);
        let new = self.players().filter(|(name, _)| is_new(name));
        let new: Vec<_> = new.map(|(name, status)| (name.to_owned(), status.slots)).collect();
        for (worker, slots) in new {
            self.present.insert(worker.clone());
            self.notify_presence(worker, format!("joined with {}", quantity(slots, "slot")));
        }
    }

    fn notify_presence(&mut self, worker: String, text: String) {
        if self.policy.presences.allows(&worker) {
            self.notify(JobEvent::Presence(Remark { worker, pair: None, text }));
        }
    }

    /// Sets the limit on pairs in flight: one for each pair that the workers can play in parallel,
    /// and one more for each worker. A slot that finishes a pair can then start another pair
    /// immediately. Workers may report any number of slots, so the limit is at most
    /// [`UNSEEN_SLOTS`] plus twice the largest number of pairs in play so far.
    pub(super) fn update_room(&mut self) {
        let now = self.now;
        let mut gone = Vec::new();
        self.workers.retain(|name, (status, at)| {
            let is_silent = now >= *at + WORKER_TIMEOUT;
            let is_gone = status.is_leaving || is_silent;
            if is_gone && self.present.remove(name) {
                gone.push((name.clone(), if is_silent { "no longer reports" } else { "left" }));
            }
            !is_gone
        });
        for (worker, text) in gone {
            self.notify_presence(worker, text.to_owned());
        }
        let threads = self.description.requirements.threads.max(1);
        let slots = self.players().map(|(_, status)| (status.slots / threads) as usize + 1);
        let slots: usize = slots.sum();
        // Audits are in flight in addition to their pairs and must not take the place of other
        // pairs.
        let slots = if slots > 0 { slots + self.audits.held.len() } else { 0 };
        let (_, playing) = self.in_flight.counts();
        self.most_playing = self.most_playing.max(playing as usize);
        let max_pairs = 2 * self.most_playing + UNSEEN_SLOTS;
        let room = if self.is_drained {
            slots.min(max_pairs).max(self.in_flight.room_for_parked())
        } else {
            // Until all old results have been received, the dispatcher might request pairs that
            // were already played.
            0
        };
        self.end.room.send_if_modified(|before| std::mem::replace(before, room) != room);
    }
}
