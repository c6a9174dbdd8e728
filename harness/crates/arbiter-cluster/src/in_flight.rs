//! The pairs that a coordinator has sent out, and what becomes of results that come for them. Pure: it
//! is told the time and does no I/O.
//!
//! A pair, or another assignment, is in flight from the order to play it until its outcome is on disk.
//! The first possible result of a pair is accepted. All others are named and change nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::assignment::Assignment;
use super::range_set::RangeSet;
use super::wire::{AUDITS, Heartbeat, JobResult, Report};
use arbiter_schedule::Pairing;

/// Pairs of which results are kept that came before the pair was ordered. After a restart of the
/// coordinator these are the results that came while it was away.
const MAX_PARKED: usize = 10_000;

/// Results kept of each of them. Which of them are possible is known once the pair is ordered.
const MAX_PARKED_PER_PAIR: usize = 8;

/// Their length in all, packed, in bytes.
const MAX_PARKED_BYTES: usize = 128 << 20;

/// Pairs by which a result may be ahead of the last order and still be taken to be of this run.
const MAX_AHEAD: u64 = 1_000;

/// Additional pairs that may be in flight while there are parked results.
const PARKED_STEP: usize = 16;

/// Time after which a job is sent again that nobody has begun, before it expires.
const RENEWAL: Duration = Duration::from_secs(12 * 3600);

/// The same for one that was there before the coordinator was restarted.
const RENEWAL_OF_LEFT_OVER: Duration = Duration::from_secs(600);

/// Workers that have to fail at a pair before the run fails.
const MAX_FAILURES: usize = 3;

/// The sequence number of a result in its stream.
pub(crate) type Receipt = u64;

/// A pair in flight.
#[derive(Debug)]
struct Pending<A> {
    job: A,
    attempt: u32,
    /// Results of earlier attempts are of a pair that was void.
    first_attempt: u32,
    /// Its sequence number in the stream of jobs, if known.
    sequence: Option<u64>,
    /// When it was sent or the last heartbeat came, since the start of the coordinator.
    heard: Duration,
    /// When its job is sent again if nobody has begun it.
    renewal: Duration,
    /// The worker of the last heartbeat, and its game.
    player: Option<(String, Option<u8>)>,
    accepted: Option<Accepted>,
    failed_at: BTreeSet<String>,
}

/// The accepted result of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// Its sequence number in the stream of results.
    pub(crate) receipt: Receipt,
    /// The subject at which its job is acknowledged.
    pub(crate) ack: String,
}

/// What becomes of a result.
#[derive(Debug, PartialEq)]
pub(crate) enum Disposition<D> {
    /// It is the first of its pair: commit it.
    Accept {
        /// The pair.
        played: D,
        /// How the machine disturbed it, if it did.
        noise: Option<String>,
    },
    /// There is a result already, as the text says. The job is done.
    Duplicate(String),
    /// It changes nothing. The job stays as it is.
    Discard(String),
    /// It is impossible, for this reason. Another worker has to play.
    Reject(String),
    /// The worker could not play, for this reason. The job is sent again.
    Retry(String),
    /// Too many workers could not play: the run fails.
    Fail(String),
}

/// The pairs of a run that are in flight.
#[derive(Debug)]
pub(crate) struct InFlight<A: Assignment> {
    pending: BTreeMap<u64, Pending<A>>,
    /// Results of pairs that were not ordered yet, and the length of each, in order of arrival.
    parked: BTreeMap<u64, Vec<(Receipt, usize)>>,
    /// The length of all of them, in bytes.
    parked_bytes: usize,
    /// Workers of which a result was accepted.
    players: BTreeSet<String>,
    /// Pairs whose outcome is on disk.
    stored: RangeSet,
    /// The last attempt at each of them that was sent more than once.
    attempts: BTreeMap<u64, u32>,
    /// The highest pair that a worker has begun, and when that was first heard.
    furthest: Option<(u64, Duration)>,
    /// Since when workers have been idle while none of the pairs was played, if they are.
    idle: Option<Duration>,
    /// Whether workers scale times by their speed.
    is_scaled: bool,
    /// Whether workers say what disturbed a pair.
    is_measured: bool,
}

impl<A: Assignment> InFlight<A> {
    /// No pair is in flight. `is_scaled`: workers scale times by their speed; `is_measured`: they say what
    /// disturbed a pair.
    pub(crate) fn new(is_scaled: bool, is_measured: bool) -> InFlight<A> {
        InFlight {
            is_scaled,
            is_measured,
            pending: BTreeMap::new(),
            parked: BTreeMap::new(),
            parked_bytes: 0,
            players: BTreeSet::new(),
            stored: RangeSet::default(),
            attempts: BTreeMap::new(),
            furthest: None,
            idle: None,
        }
    }

    /// A pair is to be played. Returns the number of the attempt to send, or the results that are
    /// here already, in order of arrival.
    pub(crate) fn order(&mut self, pair: u64, job: A, now: Duration) -> Result<u32, Vec<Receipt>> {
        // A void pair is played again, and its old job may still be in the stream.
        let attempt = match self.stored.remove(pair) {
            true => self.attempts.get(&pair).copied().unwrap_or_default() + 1,
            false => 0,
        };
        let pending = Pending {
            job,
            attempt,
            first_attempt: attempt,
            sequence: None,
            heard: now,
            renewal: now + RENEWAL,
            player: None,
            accepted: None,
            failed_at: BTreeSet::new(),
        };
        self.pending.insert(pair, pending);
        match self.parked.remove(&pair) {
            Some(parked) => {
                self.parked_bytes -= parked.iter().map(|(_, bytes)| bytes).sum::<usize>();
                Err(parked.into_iter().map(|(receipt, _)| receipt).collect())
            }
            None => Ok(attempt),
        }
    }

    /// The job of a pair was sent and has this sequence number; `None` if one from before a restart was
    /// there, which may soon expire.
    pub(crate) fn sent(&mut self, pair: u64, attempt: u32, sequence: Option<u64>, now: Duration) {
        if let Some(pending) = self.pending.get_mut(&pair)
            && pending.attempt == attempt
        {
            pending.sequence = sequence;
            if sequence.is_none() {
                pending.renewal = now + RENEWAL_OF_LEFT_OVER;
            }
        }
    }

    /// A worker is at work on a pair. Returns the game, from 0, if it has just begun.
    pub(crate) fn heartbeat(
        &mut self,
        worker: String,
        Heartbeat { pair, half, .. }: Heartbeat,
        now: Duration,
    ) -> Option<(Pairing, usize)> {
        let pending = self.pending.get_mut(&pair)?;
        pending.heard = now;
        let before = pending.player.replace((worker, half));
        let begun = half.filter(|_| before != pending.player).zip(pending.job.pairing());
        self.started(pair, now);
        begun.map(|(half, pairing)| (pairing, usize::from(half)))
    }

    /// A worker has begun a pair. Jobs are taken in the order of their pairs, so earlier ones that
    /// nobody plays were lost.
    pub(crate) fn started(&mut self, pair: u64, now: Duration) {
        let is_further = self.furthest.is_none_or(|(furthest, _)| furthest < pair);
        if is_further && pair < AUDITS && self.pending.contains_key(&pair) {
            self.furthest = Some((pair, now));
        }
    }

    /// Whether a worker is idle that plays for the run.
    pub(crate) fn set_idle(&mut self, is_idle: bool, now: Duration) {
        let is_idle = is_idle && self.furthest.is_some() && self.counts().1 == 0;
        self.idle = is_idle.then(|| self.idle.unwrap_or(now));
    }

    /// A worker has sent a result; what is to be done with it.
    pub(crate) fn receive(
        &mut self,
        worker: &str,
        result: JobResult<A::Done>,
        receipt: Receipt,
    ) -> Disposition<A::Done> {
        let Some(pending) = self.pending.get_mut(&result.number) else {
            let what = "a late result; there is one already";
            return Disposition::Duplicate(what.to_owned());
        };
        if pending.accepted.is_some() {
            return Disposition::Duplicate("a second result; the first one counts".to_owned());
        }
        if result.attempt < pending.first_attempt {
            return Disposition::Discard("a result of a pair that was void".to_owned());
        }
        match result.report {
            Report::Played(_, Some(_)) if !self.is_measured => {
                Disposition::Reject("nobody asked whether it was disturbed".to_owned())
            }
            Report::Failed(_) if result.attempt != pending.attempt => {
                Disposition::Discard("could not play it; it was sent again already".to_owned())
            }
            Report::Failed(reason) => {
                pending.failed_at.insert(worker.to_owned());
                let reason = format!("could not play it: {reason}");
                let able = self.players.difference(&pending.failed_at).count();
                match pending.failed_at.len() >= MAX_FAILURES.max(able) {
                    false => Disposition::Retry(reason),
                    true => Disposition::Fail(reason),
                }
            }
            Report::Played(played, noise) => match pending.job.check(&played, self.is_scaled) {
                Err(why) => Disposition::Reject(format!("a result that cannot be: {why}")),
                Ok(()) => {
                    pending.accepted = Some(Accepted { receipt, ack: result.ack });
                    self.players.insert(worker.to_owned());
                    Disposition::Accept { played, noise }
                }
            },
        }
    }

    /// Whether a pair was ordered, or is an audit from before a restart, which is over.
    pub(crate) fn is_ordered(&self, pair: u64) -> bool {
        pair >= AUDITS || self.pending.contains_key(&pair) || self.stored.contains(pair)
    }

    /// A result of so many bytes, of a pair that was not ordered yet; whether it is kept until then.
    pub(crate) fn park(&mut self, pair: u64, receipt: Receipt, bytes: usize) -> bool {
        let is_full = self.parked_bytes + bytes > MAX_PARKED_BYTES;
        let room = if self.parked.len() < MAX_PARKED { 0 } else { 1 };
        let waiting = self.parked.get(&pair).map_or(0, Vec::len);
        if is_full || !(room..MAX_PARKED_PER_PAIR).contains(&waiting) {
            return false;
        }
        // Which of them are possible is not known yet.
        self.parked.entry(pair).or_default().push((receipt, bytes));
        self.parked_bytes += bytes;
        true
    }

    /// The outcome of a pair is on disk. Returns its accepted result, which can be acknowledged.
    pub(crate) fn stored(&mut self, pair: u64) -> Option<Accepted> {
        let pending = self.pending.remove(&pair);
        if pair < AUDITS {
            self.stored.insert(pair);
            if let Some(attempt) = pending.as_ref().map(|p| p.attempt).filter(|last| *last > 0) {
                self.attempts.insert(pair, attempt);
            }
        }
        pending?.accepted
    }

    /// The accepted result of a pair does not count. Returns it.
    pub(crate) fn withdraw(&mut self, pair: u64) -> Option<Accepted> {
        self.pending.get_mut(&pair)?.accepted.take()
    }

    /// A pair has to be sent again. Returns the number of the attempt; `None` if it is not in flight.
    pub(crate) fn resend(&mut self, pair: u64, now: Duration) -> Option<u32> {
        let pending = self.pending.get_mut(&pair)?;
        pending.attempt += 1;
        pending.sequence = None;
        pending.player = None;
        (pending.heard, pending.renewal) = (now, now + RENEWAL);
        Some(pending.attempt)
    }

    /// Whether a pair is in flight without an accepted result.
    pub(crate) fn is_waiting(&self, pair: u64) -> bool {
        self.pending.get(&pair).is_some_and(|pending| pending.accepted.is_none())
    }

    /// Whether this attempt is the last one, and was sent since the start of the coordinator.
    pub(crate) fn has_sent(&self, pair: u64, attempt: u32) -> bool {
        let pending = self.pending.get(&pair);
        pending.is_some_and(|pending| pending.attempt == attempt && pending.sequence.is_some())
    }

    /// The job of a pair in flight.
    pub(crate) fn job(&self, pair: u64) -> Option<&A> {
        self.pending.get(&pair).map(|pending| &pending.job)
    }

    /// The pair in flight whose job has this sequence number, if it is known.
    pub(crate) fn owner(&self, sequence: u64) -> Option<u64> {
        let mut pending = self.pending.iter();
        pending.find(|(_, pending)| pending.sequence == Some(sequence)).map(|(pair, _)| *pair)
    }

    /// Pairs that the server has lost, or whose jobs expire: the last heartbeat is older than the stall
    /// timeout and three leases, or none came while later pairs were begun or workers were idle, or for
    /// hours. (The server itself gives the pairs of a worker that dies to others.)
    pub(crate) fn overdue(
        &self,
        lease: Duration,
        stall_timeout: Duration,
        now: Duration,
    ) -> Vec<u64> {
        let is_overdue = |(pair, pending): (&u64, &Pending<A>)| {
            let since = match (&pending.player, self.furthest) {
                (Some(_), _) => now.saturating_sub(pending.heard + stall_timeout),
                (None, Some((furthest, at))) if furthest > *pair => {
                    now.saturating_sub(pending.heard.max(at))
                }
                (None, _) if *pair >= AUDITS => now.saturating_sub(pending.heard),
                (None, _) => {
                    self.idle.map_or(Duration::ZERO, |at| now.saturating_sub(pending.heard.max(at)))
                }
            };
            let is_due = since > 3 * lease || (pending.player.is_none() && now > pending.renewal);
            (pending.accepted.is_none() && is_due).then_some(*pair)
        };
        self.pending.iter().filter_map(is_overdue).collect()
    }

    /// Pairs without an accepted result: those that no worker has begun, and the others.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let waiting = self.pending.values().filter(|pending| pending.accepted.is_none());
        let queued = waiting.clone().filter(|pending| pending.player.is_none()).count();
        (queued as u64, (waiting.count() - queued) as u64)
    }

    /// Pairs that have to be in flight so that parked results are ordered; 0 if there are none of
    /// pairs that this run may have.
    pub(crate) fn room_for_parked(&self) -> usize {
        let ordered = self.pending.range(..AUDITS).next_back().map(|(pair, _)| *pair);
        let ordered = ordered.max(self.stored.last());
        let is_near = |pair: &u64| ordered.is_none_or(|ordered| *pair < ordered + MAX_AHEAD);
        if self.parked.keys().any(is_near) { self.pending.len() + PARKED_STEP } else { 0 }
    }

    /// Forgets all pairs in flight.
    pub(crate) fn cancel(&mut self) {
        self.pending.clear();
        self.parked.clear();
        self.parked_bytes = 0;
    }
}

#[cfg(test)]
mod tests;
