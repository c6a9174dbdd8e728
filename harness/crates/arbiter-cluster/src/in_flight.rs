//! Pairs in flight, and decisions about their results. This module does no I/O and takes the time
//! as an argument.
//!
//! A pair, or another assignment, is in flight from its request until its result is on disk. The
//! first result of a pair that passes verification is accepted. Later results are reported and have
//! no effect.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

mod parked;
mod pending;

use self::parked::ParkedResults;
use self::pending::{Attempt, Pending};
use super::assignment::Assignment;
use super::range_set::RangeSet;
use super::verify::Terms;
use super::wire::{AUDITS, Heartbeat, JobResult};
use arbiter_schedule::Pairing;

/// Number of additional pairs that may be in flight while there are parked results. A parked result
/// can be judged only after its pair has been requested, so the dispatcher has to request more
/// pairs than there are free slots.
const PARKED_STEP: usize = 16;

/// Time limit of an attempt, as a multiple of the median duration of a worker's recent pairs.
/// Without a limit, a worker could keep a pair forever by sending heartbeats. The limit is generous
/// because the lengths of games vary.
const MAX_MEDIANS: u32 = 20;
/// Minimum time limit of an attempt.
const MIN_ATTEMPT: Duration = Duration::from_secs(600);

/// Time limit of an attempt while a worker that can play has no median, because the worker has not
/// finished a pair. Slow workers can raise the limit to this time; only half of all workers
/// together can raise the limit further.
const FIRST_ATTEMPT: Duration = Duration::from_secs(6 * 3600);

/// Number of a worker's recent pairs from which the worker's median is computed. The number is
/// limited so that the median adapts to changes, and so that the memory of a long run does not
/// grow.
const MEDIAN_OF: usize = 101;

/// Number of requests to extend a lease that are sent within one lease. The lease thus survives the
/// loss of several requests.
const EXTENSIONS_PER_LEASE: u32 = 6;

/// Time after which a job that no worker has started is sent again. The time is half the lifetime
/// of a job, so that a waiting job never expires.
const RENEWAL: Duration = Duration::from_secs(12 * 3600);

/// Shorter renewal time for jobs from before a restart of the coordinator.
const SHORT_RENEWAL: Duration = Duration::from_secs(600);

/// Minimum number of workers that must fail to play a pair before the run fails. If only one or two
/// workers fail, their machines may be at fault.
const MAX_FAILURES: usize = 3;

/// Sequence number of a result in the stream of results.
pub(crate) type Receipt = u64;

/// Finished pair, with the numbers by which its job and its result can be acknowledged.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DonePair {
    /// Sequence number of the job, if a worker has started the job.
    pub(crate) sequence: Option<u64>,
    /// Receipt of the accepted result, if any.
    pub(crate) receipt: Option<Receipt>,
}

/// A job on the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentJob {
    /// Number of the attempt.
    pub(crate) attempt: u32,
    /// Sequence number in the stream of jobs.
    pub(crate) sequence: u64,
    /// `true` if the job was sent before a restart of the coordinator.
    pub(crate) is_left_over: bool,
}

/// Decision about a result.
#[derive(Debug, PartialEq)]
pub(crate) enum Disposition<D> {
    /// The result is the first result of its pair and counts.
    Accept(D),
    /// The result has no effect, for this reason; the job is not changed.
    Discard(String),
    /// The result is impossible, for this reason; the job is sent again.
    Reject(String),
    /// The worker could not play, for this reason; the job is sent again.
    Retry(String),
    /// Too many workers could not play, the last worker for this reason; the run fails.
    Fail(String),
}

/// The pairs of a run that are in flight.
#[derive(Debug)]
pub(crate) struct InFlight<A: Assignment> {
    pending: BTreeMap<u64, Pending<A>>,
    /// Results that wait until their pairs are requested.
    pub(crate) parked: ParkedResults,
    /// Workers that can play: workers that report, do not refuse the run, and are not excluded.
    players: BTreeSet<String>,
    /// Pairs whose result is on disk.
    stored: RangeSet,
    /// Number of the first attempt at each pair, higher than the numbers of all attempts before a
    /// restart.
    first_attempt: u32,
    /// Durations of the most recently accepted pairs of each worker.
    times: BTreeMap<String, VecDeque<Duration>>,
    /// Number of the last attempt at each finished audit, and at each finished pair that had
    /// several attempts.
    attempts: BTreeMap<u64, u32>,
    /// Largest sequence number of a started job, and the time of its start.
    started: (u64, Duration),
    /// Start of the current period in which all workers are idle, or in which some workers are idle
    /// and no pair is played; `None` if there is no such period.
    idle: Option<Duration>,
    terms: Terms,
}

impl<A: Assignment> InFlight<A> {
    /// Creates an empty set of pairs in flight; `stored` are the pairs whose results are on disk.
    pub(crate) fn new(first_attempt: u32, stored: RangeSet, terms: Terms) -> InFlight<A> {
        InFlight {
            first_attempt,
            stored,
            times: BTreeMap::new(),
            terms,
            pending: BTreeMap::new(),
            parked: ParkedResults::default(),
            players: BTreeSet::new(),
            attempts: BTreeMap::new(),
            started: (0, Duration::ZERO),
            idle: None,
        }
    }

    /// Adds a pair to be played. Returns the number of the attempt to send. If results of the pair
    /// are parked, returns the receipts of these results as an error, in order of arrival.
    pub(crate) fn request(
        &mut self,
        pair: u64,
        job: A,
        now: Duration,
    ) -> Result<u32, Vec<Receipt>> {
        // A void pair is played again, and its old job may still be in the stream.
        let first = self.first_attempt;
        let was_stored = self.stored.remove(pair).then_some(first);
        // The new number must exceed the number of the old job; otherwise a late result of the old
        // job would count for the new request.
        let last = self.attempts.remove(&pair).or(was_stored);
        let attempt = last.map_or(first, |last| last.max(first) + 1);
        let pending = Pending {
            job,
            last: Attempt { number: attempt, ..Attempt::default() },
            first_attempt: if attempt > self.first_attempt { attempt } else { 0 },
            requested: now,
            heard: now,
            extended: now,
            renewal: now + self.time_to_start(pair),
            accepted: None,
            failed_at: BTreeSet::new(),
        };
        self.pending.insert(pair, pending);
        self.parked.take(pair).map_or(Ok(attempt), Err)
    }

    /// Records that the server has the job of a pair. Returns whether the pair is still in flight.
    pub(crate) fn sent(&mut self, pair: u64, sent: SentJob, now: Duration) -> bool {
        // Sequence numbers increase. If a new job has a smaller number than a started job, the
        // server has lost the stream of jobs and has restarted the numbers.
        if !sent.is_left_over && sent.sequence < self.started.0 {
            self.started.0 = 0;
        }
        let Some(pending) = self.pending.get_mut(&pair) else { return false };
        // The job from before the restart is used instead of a new job, because a worker may be
        // playing the pair. The expiry time of the old job is unknown, so the job is renewed soon.
        if sent.is_left_over && pending.last.number == self.first_attempt {
            pending.last.number = sent.attempt;
            pending.renewal = now + SHORT_RENEWAL;
        }
        if pending.last.number == sent.attempt {
            pending.last.sequence = Some(sent.sequence);
        }
        true
    }

    /// Returns the pair if the pair has no accepted result and `attempt` is its last attempt.
    fn awaited(&mut self, pair: u64, attempt: u32) -> Option<&mut Pending<A>> {
        let pending = self.pending.get_mut(&pair)?;
        (pending.last.number == attempt && pending.accepted.is_none()).then_some(pending)
    }

    /// Returns whether a requested pair, or an audit, is finished.
    pub(crate) fn is_over(&self, pair: u64) -> bool {
        !self.pending.contains_key(&pair) && self.is_requested(pair)
    }

    /// Records the heartbeat of a worker that plays a pair. Returns the index of the game (0 or 1)
    /// if the game has just started. If two workers play the pair, the first worker counts as the
    /// player while its heartbeats arrive.
    pub(crate) fn heartbeat(
        &mut self,
        worker: String,
        Heartbeat { pair, attempt, half: game_index, .. }: Heartbeat,
        lease: Duration,
        now: Duration,
    ) -> Option<(Pairing, usize)> {
        let pending = self.awaited(pair, attempt)?;
        // Only one worker at a time counts as the player. Otherwise a worker whose lease has ended
        // could displace the worker that has the job now.
        if pending.last.player.as_ref().is_some_and(|player| *player != worker)
            && now < pending.heard + lease
        {
            return None;
        }
        (pending.heard, pending.last.player) = (now, Some(worker));
        pending.last.started.get_or_insert(now);
        let started =
            game_index.filter(|index| pending.last.announced.is_none_or(|before| before < *index));
        pending.last.announced = started.or(pending.last.announced);
        let started = started.zip(pending.job.pairing());
        self.started(pair, now);
        started.map(|(index, pairing)| (pairing, usize::from(index)))
    }

    /// Returns whether a pair must be sent again because a worker gives the pair back and no other
    /// worker plays the pair. The worker cannot give back the new attempt, because the worker has
    /// no proof for that attempt.
    pub(crate) fn give_back(&mut self, worker: &str, pair: u64, attempt: u32) -> bool {
        let pending = self.awaited(pair, attempt);
        pending.is_some_and(|pending| {
            pending.last.player.as_ref().is_none_or(|player| player == worker)
        })
    }

    /// Returns the sequence numbers of the jobs whose leases are due for extension. A lease is
    /// extended while a worker plays the pair, or while the result of the pair waits to be stored.
    pub(crate) fn extensions(&mut self, lease: Duration, now: Duration) -> Vec<u64> {
        let limit = self.attempt_limit();
        let due = self.pending.values_mut().filter_map(|pending| {
            let is_alive = pending.last.started.is_some()
                && pending.heard > pending.extended
                // The lease is not extended for a worker that takes too long, because such a worker
                // could otherwise keep the pair forever.
                && !pending.is_too_long(limit, now);
            let is_due = now >= pending.extended + lease / EXTENSIONS_PER_LEASE;
            if !is_due || !(is_alive || pending.accepted.is_some()) {
                return None;
            }
            pending.extended = now;
            pending.last.sequence
        });
        due.collect()
    }

    /// Returns the time limit of an attempt.
    fn attempt_limit(&self) -> Duration {
        let median = |mut times: Vec<Duration>| {
            times.sort_unstable();
            times.get(times.len() / 2).copied()
        };
        let medians = self.times.values().map(|times| median(times.iter().copied().collect()));
        // Otherwise a worker that sends the first results could set the limit, and other workers
        // could not finish the audits of these results.
        let unknown = self.players.iter().filter(|player| !self.times.contains_key(*player));
        let unknown = unknown.map(|_| FIRST_ATTEMPT / MAX_MEDIANS);
        let medians: Vec<Duration> = medians.flatten().chain(unknown).collect();
        // The median of all pairs would be set by the worker that plays most pairs. Such a worker
        // could shorten the limit so that other workers could not finish audits of its results.
        let Some(slowest) = medians.iter().max().copied() else { return FIRST_ATTEMPT };
        let usual = median(medians).unwrap_or_default();
        (MAX_MEDIANS * slowest).min(FIRST_ATTEMPT).max(MAX_MEDIANS * usual).max(MIN_ATTEMPT)
    }

    /// Returns the time within which a worker must start a pair; otherwise the pair is sent again.
    /// For audits, this time is the time limit of an attempt, after which the drawn worker has free
    /// slots.
    fn time_to_start(&self, pair: u64) -> Duration {
        if pair < AUDITS { RENEWAL } else { self.attempt_limit() }
    }

    /// Records that a worker has started a pair. The server delivers jobs in order, so all earlier
    /// jobs were delivered or lost.
    pub(crate) fn started(&mut self, pair: u64, now: Duration) {
        let started = self.pending.get(&pair).and_then(|pending| pending.last.sequence);
        if let Some(started) = started.filter(|started| *started > self.started.0) {
            self.started = (started, now);
        }
    }

    /// Records which workers of the run are idle. If all workers are idle, no pair is being played,
    /// even if heartbeats arrived shortly before.
    pub(crate) fn set_idle(&mut self, idle: &[bool], now: Duration) {
        // Busy workers may be playing another run, so a single idle worker is evidence only if no
        // pair of this run is in play.
        let is_idle = idle.contains(&true) && (!idle.contains(&false) || self.counts().1 == 0);
        self.idle = is_idle.then(|| self.idle.unwrap_or(now));
    }

    /// Records which workers can play.
    pub(crate) fn set_players(&mut self, players: BTreeSet<String>) {
        self.times.retain(|worker, _| players.contains(worker));
        self.players = players;
    }

    /// Decides how to handle a worker's result.
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
        let is_last = result.attempt == pending.last.number;
        let played = match result.report {
            Ok(played) => played,
            Err(_) if !is_last => {
                let text = "could not play the pair; the pair was already sent again";
                return Disposition::Discard(text.to_owned());
            }
            Err(reason) => {
                pending.failed_at.insert(worker.to_owned());
                let reason = format!("could not play the pair: {reason}");
                // The run ends only if at least as many workers have failed as are able to play.
                // Otherwise a few workers could end the run with false reports.
                let able = self.players.difference(&pending.failed_at).count();
                let is_failed = pending.failed_at.len() >= MAX_FAILURES.max(able);
                return if is_failed {
                    Disposition::Fail(reason)
                } else {
                    Disposition::Retry(reason)
                };
            }
        };
        if let Err(why) = pending.job.check(&played, &self.terms) {
            return Disposition::Reject(format!("an impossible result: {why}"));
        }
        pending.accepted = Some(receipt);
        if let Some(started) = pending.last.started {
            let times = self.times.entry(worker.to_owned()).or_default();
            times.push_back(pending.heard - started);
            if times.len() > MEDIAN_OF {
                times.pop_front();
            }
        }
        if is_last {
            pending.last.started.get_or_insert(pending.heard);
        }
        Disposition::Accept(played)
    }

    /// Returns whether a pair was requested. Audits always count as requested.
    pub(crate) fn is_requested(&self, pair: u64) -> bool {
        // Audits from before a restart are not continued, so the result of an unknown audit is
        // late, not early.
        pair >= AUDITS || self.pending.contains_key(&pair) || self.stored.contains(pair)
    }

    /// Records that the result of a pair is on disk, and returns the numbers by which its job and
    /// its result can be acknowledged.
    pub(crate) fn note_stored(&mut self, pair: u64) -> Option<DonePair> {
        let pending = self.pending.remove(&pair);
        if pair < AUDITS {
            self.stored.insert(pair);
        }
        let Pending { last, accepted: receipt, .. } = pending?;
        if pair >= AUDITS || last.number > self.first_attempt {
            // Only numbers other than the usual first number are kept, so that the memory does not
            // grow with the run.
            self.attempts.insert(pair, last.number);
        }
        let sequence = last.sequence.filter(|_| last.started.is_some());
        Some(DonePair { sequence, receipt })
    }

    /// Returns the receipt of the accepted result of a pair, if any.
    pub(crate) fn accepted_receipt(&self, pair: u64) -> Option<Receipt> {
        self.pending.get(&pair)?.accepted
    }

    /// Withdraws the accepted result of a pair, and returns its receipt.
    pub(crate) fn withdraw(&mut self, pair: u64) -> Option<Receipt> {
        self.pending.get_mut(&pair)?.accepted.take()
    }

    /// Prepares a pair to be sent again. Returns the number of the attempt; `None` if the pair is
    /// not in flight.
    pub(crate) fn resend(&mut self, pair: u64, now: Duration) -> Option<u32> {
        let renewal = now + self.time_to_start(pair);
        let pending = self.pending.get_mut(&pair)?;
        pending.last = pending.last.next(self.first_attempt);
        (pending.heard, pending.renewal) = (now, renewal);
        Some(pending.last.number)
    }

    /// Returns whether a pair is in flight without an accepted result.
    pub(crate) fn is_waiting(&self, pair: u64) -> bool {
        self.pending.get(&pair).is_some_and(|pending| pending.accepted.is_none())
    }

    /// Returns whether a pair has no accepted result and `attempt` is its last attempt.
    pub(crate) fn is_last(&self, pair: u64, attempt: u32) -> bool {
        let pending = self.pending.get(&pair);
        pending.is_some_and(|pending| pending.last.number == attempt && pending.accepted.is_none())
    }

    /// Returns the time from the start of the coordinator to the request for a pair in flight.
    pub(crate) fn requested(&self, pair: u64) -> Option<Duration> {
        self.pending.get(&pair).map(|pending| pending.requested)
    }

    /// Returns the job of a pair in flight.
    pub(crate) fn job(&self, pair: u64) -> Option<&A> {
        self.pending.get(&pair).map(|pending| &pending.job)
    }

    /// Returns the pairs to send again, each with its player. A pair with a player is overdue if
    /// its last heartbeat is older than the stall timeout plus three leases, or if the attempt
    /// exceeds its time limit. A pair without a player is overdue at its renewal time. A pair
    /// without a player is also overdue if no worker has started the pair three leases after a
    /// later job was started, or after workers became idle. If a worker dies, the server delivers
    /// its jobs to other workers without a new attempt.
    pub(crate) fn overdue(
        &mut self,
        lease: Duration,
        stall_timeout: Duration,
        now: Duration,
    ) -> Vec<(u64, Option<String>)> {
        let limit = self.attempt_limit();
        let (started, started_at) = self.started;
        let is_overdue = |(pair, pending): (&u64, &mut Pending<A>)| {
            if pending.last.sequence.is_some_and(|sequence| sequence < started) {
                pending.last.passed.get_or_insert(started_at);
            }
            let since = match pending.last.player {
                Some(_) => now.saturating_sub(pending.heard + stall_timeout),
                None => {
                    let first = pending.last.passed.into_iter().chain(self.idle).min();
                    first.map_or(Duration::ZERO, |at| now.saturating_sub(pending.heard.max(at)))
                }
            };
            // After one lease, the server delivers the job to another worker. If this delivery has
            // no effect within three leases, the job counts as lost.
            let is_due = since > 3 * lease
                || pending.is_too_long(limit, now)
                || (pending.last.player.is_none() && now > pending.renewal);
            (pending.accepted.is_none() && is_due).then(|| (*pair, pending.last.player.clone()))
        };
        self.pending.iter_mut().filter_map(is_overdue).collect()
    }

    /// Returns the pairs without an accepted result and without a heartbeat for one lease.
    pub(crate) fn waiting_unheard(&self, lease: Duration, now: Duration) -> Vec<u64> {
        let waiting = self.pending.iter().filter(|(_, pending)| {
            let is_heard = pending.last.player.is_some() && now < pending.heard + lease;
            pending.accepted.is_none() && !is_heard
        });
        waiting.map(|(pair, _)| *pair).collect()
    }

    /// Returns two numbers of pairs without an accepted result: pairs that no worker has started,
    /// and pairs that a worker plays.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let waiting = self.pending.values().filter(|pending| pending.accepted.is_none());
        let queued = waiting.clone().filter(|pending| pending.last.player.is_none()).count();
        (queued as u64, (waiting.count() - queued) as u64)
    }

    /// Returns the smallest limit on pairs in flight at which the dispatcher requests every pair
    /// with a parked result; 0 if no parked result belongs to one of the next pairs.
    pub(crate) fn room_for_parked(&self) -> usize {
        let requested = self.pending.range(..AUDITS).next_back().map(|(pair, _)| *pair);
        if self.parked.has_upcoming(requested.max(self.stored.last())) {
            self.pending.len() + PARKED_STEP
        } else {
            0
        }
    }

    /// Removes all pairs in flight and all parked results.
    pub(crate) fn cancel(&mut self) {
        self.pending.clear();
        self.parked = ParkedResults::default();
    }
}

#[cfg(test)]
mod tests;
