//! The pairs that a coordinator has sent out, and the decisions about their results. Pure: takes
//! the time as an argument and does no I/O.
//!
//! A pair, or another assignment, is in flight from the order to play it until its outcome is on
//! disk. The first possible result of a pair is accepted. All others are reported and change
//! nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

mod parked;

use self::parked::ParkedResults;
use super::assignment::Assignment;
use super::range_set::RangeSet;
use super::verify::Terms;
use super::wire::{AUDITS, Heartbeat, JobResult, Report};
use arbiter_schedule::Pairing;

/// Additional pairs that may be in flight while there are parked results. A parked result can only
/// be judged once its pair is ordered, so the dispatcher has to order more pairs than there are
/// free slots.
const PARKED_STEP: usize = 16;

/// Multiple of the median time of the last pairs after which an attempt is over, and its minimum.
/// Without a limit a worker could keep a pair forever by heartbeats alone. The limit is wide
/// because the lengths of games vary.
const MAX_MEDIANS: u32 = 20;
const MIN_ATTEMPT: Duration = Duration::from_secs(600);

/// Time after which an attempt is over as long as no pair was played. There is no median yet by
/// which to judge a worker.
const FIRST_ATTEMPT: Duration = Duration::from_secs(6 * 3600);

/// Number of pairs of which the median is taken. A window follows changes of the fleet, and bounds
/// the memory of a long run.
const MEDIAN_OF: usize = 101;

/// Number of times within a lease that the server is asked to extend it for a running attempt.
/// Several requests may be lost before the lease ends.
const EXTENSIONS_PER_LEASE: u32 = 6;

/// Time after which a job that nobody has started is sent again, before it expires. This is half of
/// the lifetime of a job, so a waiting job never expires.
const RENEWAL: Duration = Duration::from_secs(12 * 3600);

/// Time after which a job is sent again that is older than the coordinator's restart, or that a
/// worker has left to others. With three tries an audit that nobody takes waits for half an hour,
/// the limit in docs/security.md.
const SHORT_RENEWAL: Duration = Duration::from_secs(600);

/// Number of workers that have to fail at a pair before the run fails. A failure of one or two
/// workers may be the fault of their machines.
const MAX_FAILURES: usize = 3;

/// The sequence number of a result in its stream.
pub(crate) type Receipt = u64;

/// A pair in flight.
#[derive(Debug)]
struct Pending<A> {
    job: A,
    attempt: u32,
    /// First attempt whose result counts; earlier ones are of a pair that was void.
    first_attempt: u32,
    /// Sequence number in the stream of jobs, if known.
    sequence: Option<u64>,
    /// `true` if the job was sent before a restart of the coordinator.
    is_left_over: bool,
    /// Time of the order, since the start of the coordinator.
    ordered: Duration,
    /// Time of the sending or the last heartbeat, since the start of the coordinator.
    heard: Duration,
    /// Time of the first heartbeat of a worker that plays the pair.
    begun: Option<Duration>,
    /// Time of the last extension of the lease.
    extended: Duration,
    /// Time at which a later job of the server was seen to be started before this one.
    passed: Option<Duration>,
    /// The game, from 0, that was announced last.
    announced: Option<u8>,
    /// Time at which the job is sent again if nobody has started it.
    renewal: Duration,
    /// The worker that plays the pair.
    player: Option<String>,
    /// `true` if this is an audit that the worker whose pair it repeats has taken and left to
    /// others.
    is_returned: bool,
    /// Accepted result.
    accepted: Option<Receipt>,
    failed_at: BTreeSet<String>,
}

impl<A> Pending<A> {
    /// Returns whether a worker takes more time than this for the pair.
    fn is_too_long(&self, limit: Duration, now: Duration) -> bool {
        self.begun.is_some_and(|begun| now > begun + limit)
    }
}

/// A pair that is done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DonePair {
    /// Sequence number of the job, if a worker has taken it.
    pub(crate) sequence: Option<u64>,
    /// Result of the pair, if there is one.
    pub(crate) receipt: Option<Receipt>,
}

/// Job as the server has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentJob {
    /// The attempt.
    pub(crate) attempt: u32,
    /// Sequence number in the stream of jobs.
    pub(crate) sequence: u64,
    /// `true` if the job was there from before a restart of the coordinator.
    pub(crate) is_left_over: bool,
}

/// Decision about a result.
#[derive(Debug, PartialEq)]
pub(crate) enum Disposition<D> {
    /// The result is the first of its pair: commit it.
    Accept(D),
    /// The result changes nothing. The job stays as it is.
    Discard(String),
    /// The result is impossible, for this reason. Another worker has to play.
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
    parked: ParkedResults,
    /// Workers of which a result was accepted.
    players: BTreeSet<String>,
    /// Pairs whose outcome is on disk.
    stored: RangeSet,
    /// The first attempt at each pair, higher than those before a restart.
    first_attempt: u32,
    /// Times that the last accepted pairs took.
    times: VecDeque<Duration>,
    /// The last attempt at pairs that were sent more than once, and at audits.
    attempts: BTreeMap<u64, u32>,
    /// Sequence number of the last of the jobs that were started, in the order of the server, and
    /// the time of that start.
    begun: (u64, Duration),
    /// Start of the time in which workers are idle while none of the pairs is played, or in which
    /// all workers are idle.
    idle: Option<Duration>,
    terms: Terms,
}

impl<A: Assignment> InFlight<A> {
    /// Creates an empty set of pairs in flight, with `stored` on disk.
    pub(crate) fn new(first_attempt: u32, stored: RangeSet, terms: Terms) -> InFlight<A> {
        InFlight {
            first_attempt,
            stored,
            times: VecDeque::new(),
            terms,
            pending: BTreeMap::new(),
            parked: ParkedResults::default(),
            players: BTreeSet::new(),
            attempts: BTreeMap::new(),
            begun: (0, Duration::ZERO),
            idle: None,
        }
    }

    /// Adds a pair to be played. Returns the number of the attempt to send, or the results that are
    /// here already, in order of arrival.
    pub(crate) fn order(&mut self, pair: u64, job: A, now: Duration) -> Result<u32, Vec<Receipt>> {
        // A void pair is played again, and its old job may still be in the stream.
        let first = self.first_attempt;
        let was_stored = self.stored.remove(pair).then_some(first);
        // The number must exceed that of the old job, or its late result would count for the new
        // order.
        let last = self.attempts.remove(&pair).or(was_stored);
        let attempt = last.map_or(first, |last| last.max(first) + 1);
        let pending = Pending {
            job,
            attempt,
            first_attempt: if attempt > self.first_attempt { attempt } else { 0 },
            sequence: None,
            is_left_over: false,
            ordered: now,
            heard: now,
            begun: None,
            extended: now,
            passed: None,
            announced: None,
            renewal: now + RENEWAL,
            player: None,
            is_returned: false,
            accepted: None,
            failed_at: BTreeSet::new(),
        };
        self.pending.insert(pair, pending);
        self.parked.take(pair).map_or(Ok(attempt), Err)
    }

    /// Records that the server has the job of a pair. Returns whether the job is still to be done.
    pub(crate) fn sent(&mut self, pair: u64, sent: SentJob, now: Duration) -> bool {
        // A server numbers jobs upwards. A new job below a number that was already started shows
        // that the server has lost its stream and counts from the start again.
        if !sent.is_left_over && sent.sequence < self.begun.0 {
            self.begun.0 = 0;
        }
        let Some(pending) = self.pending.get_mut(&pair) else { return false };
        // The job of before the restart takes the place of the new one, because a worker may be
        // playing it. Its expiry is unknown here, so it is renewed soon.
        if sent.is_left_over && pending.attempt == self.first_attempt {
            pending.attempt = sent.attempt;
            pending.is_left_over = true;
            pending.renewal = now + SHORT_RENEWAL;
        }
        if pending.attempt == sent.attempt {
            pending.sequence = Some(sent.sequence);
        }
        true
    }

    /// Returns the pair if this attempt at it is awaited.
    fn awaited(&mut self, pair: u64, attempt: u32) -> Option<&mut Pending<A>> {
        let pending = self.pending.get_mut(&pair)?;
        (pending.attempt == attempt && pending.accepted.is_none()).then_some(pending)
    }

    /// Returns whether this attempt is the first since the start of the coordinator.
    pub(crate) fn is_first(&self, attempt: u32) -> bool {
        attempt == self.first_attempt
    }

    /// Returns whether nothing is left to be done for a pair that was ordered, or for an audit.
    pub(crate) fn is_over(&self, pair: u64) -> bool {
        !self.pending.contains_key(&pair) && self.is_ordered(pair)
    }

    /// Records the heartbeat of a worker at work on a pair. Returns the game, from 0, if it has
    /// just started. Of two workers, the first plays the pair as long as its heartbeats come.
    pub(crate) fn heartbeat(
        &mut self,
        worker: String,
        Heartbeat { pair, attempt, half, .. }: Heartbeat,
        lease: Duration,
        now: Duration,
    ) -> Option<(Pairing, usize)> {
        let pending = self.awaited(pair, attempt)?;
        // Only one worker at a time counts as the player. Otherwise a worker whose lease has ended
        // could keep the pair from the one that has it now.
        if pending.player.as_ref().is_some_and(|player| *player != worker)
            && now < pending.heard + lease
        {
            return None;
        }
        (pending.heard, pending.player) = (now, Some(worker));
        pending.begun.get_or_insert(now);
        let begun = half.filter(|half| pending.announced.is_none_or(|before| before < *half));
        pending.announced = begun.or(pending.announced);
        let begun = begun.zip(pending.job.pairing());
        self.started(pair, now);
        begun.map(|(half, pairing)| (pairing, usize::from(half)))
    }

    /// Returns whether a pair that a worker gives back is to be sent again, as an attempt for which
    /// the worker has no proof.
    pub(crate) fn give_back(&mut self, worker: &str, pair: u64, attempt: u32) -> bool {
        let pending = self.awaited(pair, attempt);
        pending.is_some_and(|own| own.player.as_ref().is_none_or(|player| player == worker))
    }

    /// Leaves an audit of a worker's own pair to others.
    pub(crate) fn leave_to_others(&mut self, pair: u64, attempt: u32, now: Duration) {
        if let Some(pending) = self.awaited(pair, attempt) {
            pending.is_returned = true;
            pending.renewal = pending.renewal.min(now + SHORT_RENEWAL);
        }
    }

    /// Returns the audits that were left to others since the last call, and the attempts at them to
    /// send.
    pub(crate) fn returned(&mut self) -> Vec<(u64, u32)> {
        let sent_again = self.pending.iter_mut().filter_map(|(pair, pending)| {
            let is_free = pending.player.is_none() && pending.accepted.is_none();
            if !(std::mem::take(&mut pending.is_returned) && is_free) {
                return None;
            }
            // A returned audit may not be the first attempt: that one is not sent while the server
            // has an earlier job of the pair.
            pending.attempt = pending.attempt.max(self.first_attempt) + 1;
            (pending.sequence, pending.passed, pending.is_left_over) = (None, None, false);
            Some((*pair, pending.attempt))
        });
        sent_again.collect()
    }

    /// Returns the sequence numbers of jobs whose leases are to be extended: a worker is at work on
    /// them, or their results wait to be stored.
    pub(crate) fn extensions(&mut self, lease: Duration, now: Duration) -> Vec<u64> {
        let limit = self.attempt_limit();
        let due = self.pending.values_mut().filter_map(|pending| {
            let is_alive = pending.begun.is_some()
                && pending.heard > pending.extended
                // No extension for a worker that takes too long: it could otherwise hold the pair
                // forever.
                && !pending.is_too_long(limit, now);
            let is_due = now >= pending.extended + lease / EXTENSIONS_PER_LEASE;
            if !is_due || !(is_alive || pending.accepted.is_some()) {
                return None;
            }
            pending.extended = now;
            pending.sequence
        });
        due.collect()
    }

    /// Returns the longest time of an attempt.
    fn attempt_limit(&self) -> Duration {
        let mut times: Vec<Duration> = self.times.iter().copied().collect();
        times.sort_unstable();
        let median = times.get(times.len() / 2);
        median.map_or(FIRST_ATTEMPT, |median| (MAX_MEDIANS * *median).max(MIN_ATTEMPT))
    }

    /// Records that a worker has started a pair. The server gives jobs out in their order, so those
    /// that it has had for longer were taken or lost.
    pub(crate) fn started(&mut self, pair: u64, now: Duration) {
        let begun = self.pending.get(&pair).and_then(|pending| pending.sequence);
        if let Some(begun) = begun.filter(|begun| *begun > self.begun.0) {
            self.begun = (begun, now);
        }
    }

    /// Records which of the workers that play for the run are idle. If all are, nobody plays,
    /// whatever the heartbeats of pairs were before.
    pub(crate) fn set_idle(&mut self, idle: &[bool], now: Duration) {
        // A busy worker may be at work on another run, so one idle worker proves something only if
        // no pair of this run is in play.
        let is_idle = idle.contains(&true) && (!idle.contains(&false) || self.counts().1 == 0);
        self.idle = is_idle.then(|| self.idle.unwrap_or(now));
    }

    /// Decides about a result that a worker has sent.
    pub(crate) fn receive(
        &mut self,
        worker: &str,
        result: JobResult<A::Done>,
        receipt: Receipt,
    ) -> Disposition<A::Done> {
        let Some(pending) = self.pending.get_mut(&result.number) else {
            return Disposition::Discard("a late duplicate result".to_owned());
        };
        if pending.accepted.is_some() {
            return Disposition::Discard("a second result; the first counts".to_owned());
        }
        if result.attempt < pending.first_attempt {
            return Disposition::Discard("a result of a void pair".to_owned());
        }
        let is_last = result.attempt == pending.attempt;
        match result.report {
            Report::Failed(_) if !is_last => {
                Disposition::Discard("could not play it; already sent again".to_owned())
            }
            Report::Failed(reason) => {
                pending.failed_at.insert(worker.to_owned());
                let reason = format!("could not play it: {reason}");
                // The run ends only if at least as many workers fail as are able to play. A few
                // workers could otherwise end it by reports.
                let able = self.players.difference(&pending.failed_at).count();
                if pending.failed_at.len() >= MAX_FAILURES.max(able) {
                    Disposition::Fail(reason)
                } else {
                    Disposition::Retry(reason)
                }
            }
            Report::Played(played) => match pending.job.check(&played, &self.terms) {
                Err(why) => Disposition::Reject(format!("an impossible result: {why}")),
                Ok(()) => {
                    pending.accepted = Some(receipt);
                    if let Some(begun) = pending.begun {
                        self.times.push_back(pending.heard - begun);
                        if self.times.len() > MEDIAN_OF {
                            self.times.pop_front();
                        }
                    }
                    if is_last {
                        pending.begun.get_or_insert(pending.heard);
                    }
                    self.players.insert(worker.to_owned());
                    Disposition::Accept(played)
                }
            },
        }
    }

    /// Returns whether a pair was ordered, or is an audit from before a restart, which is over.
    pub(crate) fn is_ordered(&self, pair: u64) -> bool {
        // Audits of before a restart are not continued, so a result of an unknown audit is late
        // instead of early.
        pair >= AUDITS || self.pending.contains_key(&pair) || self.stored.contains(pair)
    }

    /// Records that the outcome of a pair is on disk. Its job and its result can be acknowledged.
    pub(crate) fn note_stored(&mut self, pair: u64) -> Option<DonePair> {
        let pending = self.pending.remove(&pair);
        if pair < AUDITS {
            self.stored.insert(pair);
        }
        let Pending { sequence, attempt, begun, accepted: receipt, .. } = pending?;
        if pair >= AUDITS || attempt > self.first_attempt {
            // Kept only where the number is not the common first one, so that memory does not grow
            // with the run.
            self.attempts.insert(pair, attempt);
        }
        Some(DonePair { sequence: sequence.filter(|_| begun.is_some()), receipt })
    }

    /// Withdraws the accepted result of a pair, and returns it.
    pub(crate) fn withdraw(&mut self, pair: u64) -> Option<Receipt> {
        self.pending.get_mut(&pair)?.accepted.take()
    }

    /// Prepares a pair to be sent again. Returns the number of the attempt; `None` if the pair is
    /// not in flight.
    pub(crate) fn resend(&mut self, pair: u64, now: Duration) -> Option<u32> {
        let pending = self.pending.get_mut(&pair)?;
        // The first attempt is not sent again if the server has an earlier one.
        pending.attempt = pending.attempt.max(self.first_attempt) + 1;
        (pending.sequence, pending.is_left_over) = (None, false);
        (pending.player, pending.begun, pending.is_returned) = (None, None, false);
        (pending.passed, pending.announced) = (None, None);
        (pending.heard, pending.renewal) = (now, now + RENEWAL);
        Some(pending.attempt)
    }

    /// Returns whether a pair is in flight without an accepted result.
    pub(crate) fn is_waiting(&self, pair: u64) -> bool {
        self.pending.get(&pair).is_some_and(|pending| pending.accepted.is_none())
    }

    /// Returns whether this attempt at a pair is awaited.
    pub(crate) fn is_last(&self, pair: u64, attempt: u32) -> bool {
        self.is_waiting(pair) && self.pending.get(&pair).is_some_and(|own| own.attempt == attempt)
    }

    /// Returns whether this attempt is the last one, and was sent since the start of the
    /// coordinator.
    pub(crate) fn has_sent(&self, pair: u64, attempt: u32) -> bool {
        let pending = self.pending.get(&pair);
        pending.is_some_and(|pending| pending.attempt == attempt && !pending.is_left_over)
    }

    /// Returns the time at which a pair in flight was ordered, since the start of the coordinator.
    pub(crate) fn ordered(&self, pair: u64) -> Option<Duration> {
        self.pending.get(&pair).map(|pending| pending.ordered)
    }

    /// Returns the job of a pair in flight.
    pub(crate) fn job(&self, pair: u64) -> Option<&A> {
        self.pending.get(&pair).map(|pending| &pending.job)
    }

    /// Returns the pairs, with the player of each, that the server has lost, or whose jobs expire:
    /// the last heartbeat is older than the stall timeout and three leases, or none came while
    /// later jobs were started or workers were idle, or for hours; or a worker takes too long. (The
    /// server itself gives the pairs of a worker that dies to others.)
    pub(crate) fn overdue(
        &mut self,
        lease: Duration,
        stall_timeout: Duration,
        now: Duration,
    ) -> Vec<(u64, Option<String>)> {
        let limit = self.attempt_limit();
        let (begun, begun_at) = self.begun;
        let is_overdue = |(pair, pending): (&u64, &mut Pending<A>)| {
            if pending.sequence.is_some_and(|sequence| sequence < begun) {
                pending.passed.get_or_insert(begun_at);
            }
            let since = match pending.player {
                Some(_) => now.saturating_sub(pending.heard + stall_timeout),
                None => {
                    let first = pending.passed.into_iter().chain(self.idle).min();
                    first.map_or(Duration::ZERO, |at| now.saturating_sub(pending.heard.max(at)))
                }
            };
            // After one lease the server itself gives the job to another worker. Three leases show
            // that the server does not do so.
            let is_due = since > 3 * lease
                || pending.is_too_long(limit, now)
                || (pending.player.is_none() && now > pending.renewal);
            (pending.accepted.is_none() && is_due).then(|| (*pair, pending.player.clone()))
        };
        self.pending.iter_mut().filter_map(is_overdue).collect()
    }

    /// Returns the pairs without an accepted result and without a heartbeat within a lease.
    pub(crate) fn waiting_unheard(&self, lease: Duration, now: Duration) -> Vec<u64> {
        let waiting = self.pending.iter().filter(|(_, pending)| {
            let is_heard = pending.player.is_some() && now < pending.heard + lease;
            pending.accepted.is_none() && !is_heard
        });
        waiting.map(|(pair, _)| *pair).collect()
    }

    /// Returns the numbers of pairs without an accepted result: those that no worker has started,
    /// and the others.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let waiting = self.pending.values().filter(|pending| pending.accepted.is_none());
        let queued = waiting.clone().filter(|pending| pending.player.is_none()).count();
        (queued as u64, (waiting.count() - queued) as u64)
    }

    /// Keeps a result of `bytes` bytes of a pair that was not ordered yet. Returns whether there
    /// was room for it.
    pub(crate) fn park(&mut self, pair: u64, receipt: Receipt, bytes: usize) -> bool {
        self.parked.add(pair, receipt, bytes)
    }

    /// Returns the number of pairs that have to be in flight so that parked results are ordered; 0
    /// if there are none of pairs that this run may have.
    pub(crate) fn room_for_parked(&self) -> usize {
        let ordered = self.pending.range(..AUDITS).next_back().map(|(pair, _)| *pair);
        if self.parked.has_upcoming(ordered.max(self.stored.last())) {
            self.pending.len() + PARKED_STEP
        } else {
            0
        }
    }

    /// Forgets all pairs in flight.
    pub(crate) fn cancel(&mut self) {
        self.pending.clear();
        self.parked = ParkedResults::default();
    }
}

#[cfg(test)]
mod tests;
