//! The pairs that a coordinator has sent out, and what becomes of results that come for them. Pure: it
//! is told the time and does no I/O.
//!
//! A pair, or another assignment, is in flight from the order to play it until its outcome is on disk.
//! The first possible result of a pair is accepted. All others are named and change nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::assignment::Assignment;
use super::range_set::RangeSet;
use super::wire::{Heartbeat, JobResult, Report};
use arbiter_schedule::Pairing;

/// Pairs of which results are kept that came before the pair was ordered. After a restart of the
/// coordinator these are the results that came while it was away.
const MAX_PARKED: usize = 10_000;

/// Results kept of each of them. Which of them are possible is known once the pair is ordered.
const MAX_PARKED_PER_PAIR: usize = 8;

/// Pairs by which a result may be ahead of the last order and still be taken to be of this run.
const MAX_AHEAD: u64 = 1_000;

/// Additional pairs that may be in flight while there are parked results.
const PARKED_STEP: usize = 16;

/// Workers that have to fail at a pair before the run fails.
const MAX_FAILURES: usize = 3;

/// The sequence number of a result in its stream.
pub(crate) type Receipt = u64;

/// A pair in flight.
#[derive(Debug)]
struct Pending<A> {
    job: A,
    attempt: u32,
    /// Its sequence number in the stream of jobs, if known.
    sequence: Option<u64>,
    /// When it was sent or the last heartbeat came, since the start of the coordinator.
    heard: Duration,
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
    /// Its pair was not ordered yet; it is kept until then.
    Park,
    /// There is a result already, as the text says. The job is done.
    Duplicate(String),
    /// There are too many results of pairs that were not ordered yet. The job stays as it is.
    Discard(String),
    /// It is impossible, for this reason. Another worker has to play.
    Reject(String),
    /// The worker could not play, for this reason. The job is sent again.
    Retry(String),
    /// Too many workers could not play: the run fails.
    Fail(String),
}

/// Results of a pair that was not ordered yet, with their workers, in order of arrival.
type Parked<A> = Vec<(String, JobResult<<A as Assignment>::Done>, Receipt)>;

/// The pairs of a run that are in flight.
#[derive(Debug)]
pub(crate) struct InFlight<A: Assignment> {
    pending: BTreeMap<u64, Pending<A>>,
    parked: BTreeMap<u64, Parked<A>>,
    /// Pairs whose outcome is on disk.
    stored: RangeSet,
    /// The highest pair that a worker has begun, and when that was first heard.
    furthest: Option<(u64, Duration)>,
}

impl<A: Assignment> Default for InFlight<A> {
    fn default() -> InFlight<A> {
        InFlight {
            pending: BTreeMap::new(),
            parked: BTreeMap::new(),
            stored: RangeSet::default(),
            furthest: None,
        }
    }
}

impl<A: Assignment> InFlight<A> {
    /// A pair is to be played. Returns the number of the attempt to send, or the results that are
    /// here already, in order of arrival.
    pub(crate) fn order(&mut self, pair: u64, job: A, now: Duration) -> Result<u32, Parked<A>> {
        // A void pair is played again, and its old job may still be in the stream.
        let attempt = u32::from(self.stored.remove(pair));
        let pending = Pending {
            job,
            attempt,
            sequence: None,
            heard: now,
            player: None,
            accepted: None,
            failed_at: BTreeSet::new(),
        };
        self.pending.insert(pair, pending);
        match self.parked.remove(&pair) {
            Some(parked) => Err(parked),
            None => Ok(attempt),
        }
    }

    /// The job of a pair was sent and has this sequence number.
    pub(crate) fn sent(&mut self, pair: u64, attempt: u32, sequence: Option<u64>) {
        if let Some(pending) = self.pending.get_mut(&pair)
            && pending.attempt == attempt
        {
            pending.sequence = sequence;
        }
    }

    /// A worker is at work on a pair. Returns the game, from 0, if it has just begun.
    pub(crate) fn heartbeat(
        &mut self,
        worker: String,
        Heartbeat { pair, half }: Heartbeat,
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
        if is_further && self.pending.contains_key(&pair) {
            self.furthest = Some((pair, now));
        }
    }

    /// A worker has sent a result; what is to be done with it.
    pub(crate) fn receive(
        &mut self,
        worker: &str,
        result: JobResult<A::Done>,
        receipt: Receipt,
    ) -> Disposition<A::Done> {
        let Some(pending) = self.pending.get_mut(&result.number) else {
            return self.receive_unordered(worker, result, receipt);
        };
        if pending.accepted.is_some() {
            return Disposition::Duplicate("a second result; the first one counts".to_owned());
        }
        match result.report {
            Report::Failed(reason) => {
                pending.failed_at.insert(worker.to_owned());
                let reason = format!("could not play it: {reason}");
                if pending.failed_at.len() < MAX_FAILURES {
                    Disposition::Retry(reason)
                } else {
                    Disposition::Fail(reason)
                }
            }
            Report::Played(played, noise) => match pending.job.check(&played) {
                Err(why) => Disposition::Reject(format!("a result that cannot be: {why}")),
                Ok(()) => {
                    pending.accepted = Some(Accepted { receipt, ack: result.ack });
                    Disposition::Accept { played, noise }
                }
            },
        }
    }

    fn receive_unordered(
        &mut self,
        worker: &str,
        result: JobResult<A::Done>,
        receipt: Receipt,
    ) -> Disposition<A::Done> {
        let pair = result.number;
        if self.stored.contains(pair) {
            return Disposition::Duplicate("a late result; there is one already".to_owned());
        }
        let is_full = self.parked.len() >= MAX_PARKED;
        let parked = self.parked.entry(pair).or_default();
        if parked.len() >= MAX_PARKED_PER_PAIR || (is_full && parked.is_empty()) {
            if parked.is_empty() {
                self.parked.remove(&pair);
            }
            return Disposition::Discard("a result of a pair that nobody had ordered".to_owned());
        }
        // Which of them is possible is not known yet.
        parked.push((worker.to_owned(), result, receipt));
        Disposition::Park
    }

    /// The outcome of a pair is on disk. Returns its accepted result, which can be acknowledged.
    pub(crate) fn stored(&mut self, pair: u64) -> Option<Accepted> {
        self.stored.insert(pair);
        self.pending.remove(&pair)?.accepted
    }

    /// A pair has to be sent again. Returns the number of the attempt; `None` if it is not in flight.
    pub(crate) fn resend(&mut self, pair: u64, now: Duration) -> Option<u32> {
        let pending = self.pending.get_mut(&pair)?;
        pending.attempt += 1;
        pending.sequence = None;
        pending.player = None;
        pending.heard = now;
        Some(pending.attempt)
    }

    /// Whether a pair is in flight without an accepted result.
    pub(crate) fn is_waiting(&self, pair: u64) -> bool {
        self.pending.get(&pair).is_some_and(|pending| pending.accepted.is_none())
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

    /// Pairs that the server has lost: the last heartbeat is older than the stall timeout and three leases, or
    /// none came while later pairs were begun. (The server itself gives the pairs of a worker that dies
    /// to others.)
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
                (None, _) => return None,
            };
            (pending.accepted.is_none() && since > 3 * lease).then_some(*pair)
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
        let ordered = self.pending.keys().next_back().copied().max(self.stored.last());
        let is_near = |pair: &u64| ordered.is_none_or(|ordered| *pair < ordered + MAX_AHEAD);
        if self.parked.keys().any(is_near) { self.pending.len() + PARKED_STEP } else { 0 }
    }

    /// Forgets all pairs in flight.
    pub(crate) fn cancel(&mut self) {
        self.pending.clear();
        self.parked.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::verify::tests::{job, played};
    use super::*;
    use crate::run_id::RunId;
    use arbiter_plan::PairJob;

    const START: Duration = Duration::ZERO;
    const LEASE: Duration = Duration::from_secs(10);

    fn result(pair: u64, worker: &str) -> JobResult {
        JobResult {
            run_id: RunId::new("r", 1, "k"),
            ack: format!("ack of {worker}"),
            number: pair,
            attempt: 0,
            report: Report::Played(played(pair), None),
        }
    }

    fn heartbeat(pair: u64, half: Option<u8>) -> Heartbeat {
        Heartbeat { pair, half }
    }

    #[test]
    fn the_first_result_of_a_pair_counts_and_no_other() {
        let mut in_flight = InFlight::default();
        assert_eq!(in_flight.order(4, job(4), START), Ok(0));
        in_flight.sent(4, 0, Some(77));
        assert_eq!((in_flight.owner(77), in_flight.owner(78)), (Some(4), None));
        let disposition = in_flight.receive("a", result(4, "a"), 1);
        assert_eq!(disposition, Disposition::Accept { played: played(4), noise: None });
        assert!(
            matches!(in_flight.receive("b", result(4, "b"), 2), Disposition::Duplicate(why) if why.contains("second"))
        );
        let accepted = in_flight.stored(4).unwrap();
        assert_eq!(accepted, Accepted { receipt: 1, ack: "ack of a".into() });
        assert!(
            matches!(in_flight.receive("a", result(4, "a"), 3), Disposition::Duplicate(why) if why.contains("late"))
        );
        assert_eq!(in_flight.stored(4), None);
    }

    #[test]
    fn stored_pairs_take_no_more_memory_the_longer_a_run_is() {
        let mut in_flight = InFlight::default();
        for first in (0..1_000).step_by(2) {
            // Pairs are not stored in their order.
            for pair in [first + 1, first] {
                in_flight.order(pair, job(pair), START).unwrap();
                in_flight.receive("a", result(pair, "a"), pair);
                assert!(in_flight.stored(pair).is_some());
            }
        }
        assert_eq!(in_flight.stored.len(), 1);
        for pair in [0, 500, 999] {
            let late = in_flight.receive("a", result(pair, "a"), 1_000);
            assert!(matches!(late, Disposition::Duplicate(_)), "pair {pair}");
        }
    }

    #[test]
    fn results_from_before_a_restart_wait_for_their_order() {
        let mut in_flight = InFlight::default();
        assert_eq!(in_flight.receive("a", result(4, "a"), 1), Disposition::Park);
        assert_eq!(in_flight.room_for_parked(), PARKED_STEP);
        assert_eq!(in_flight.receive("b", result(4, "b"), 2), Disposition::Park);
        let parked = in_flight.order(4, job(4), START).unwrap_err();
        assert_eq!(in_flight.room_for_parked(), 0);
        let parked: [(String, JobResult, Receipt); 2] = parked.try_into().unwrap();
        let [(_, first, 1), (_, second, 2)] = parked else { panic!() };
        assert!(matches!(in_flight.receive("a", first, 1), Disposition::Accept { .. }));
        assert!(matches!(in_flight.receive("b", second, 2), Disposition::Duplicate(_)));
        assert!(!in_flight.is_waiting(4));
    }

    /// Who is quicker with nonsense does not keep the true result out.
    #[test]
    fn nonsense_that_comes_early_is_refused_and_the_true_result_counts() {
        let mut in_flight = InFlight::default();
        let mut wrong = result(4, "mallory");
        wrong.report = Report::Played(played(5), None);
        assert_eq!(in_flight.receive("mallory", wrong.clone(), 1), Disposition::Park);
        assert_eq!(in_flight.receive("a", result(4, "a"), 2), Disposition::Park);
        for receipt in 3..=MAX_PARKED_PER_PAIR as Receipt {
            assert_eq!(in_flight.receive("mallory", wrong.clone(), receipt), Disposition::Park);
        }
        assert!(matches!(in_flight.receive("mallory", wrong.clone(), 99), Disposition::Discard(_)));
        let parked = in_flight.order(4, job(4), START).unwrap_err();
        let dispositions = parked
            .into_iter()
            .map(|(worker, result, receipt)| in_flight.receive(&worker, result, receipt));
        let dispositions: Vec<_> = dispositions.collect();
        assert!(matches!(&dispositions[0], Disposition::Reject(_)), "{dispositions:?}");
        assert!(matches!(&dispositions[1], Disposition::Accept { .. }), "{dispositions:?}");
        // Nothing but nonsense leaves the pair to be played.
        assert_eq!(
            in_flight.receive("mallory", JobResult { number: 6, ..wrong }, 100),
            Disposition::Park
        );
        let parked = in_flight.order(6, job(6), START).unwrap_err();
        for (worker, result, receipt) in parked {
            assert!(matches!(in_flight.receive(&worker, result, receipt), Disposition::Reject(_)));
        }
        assert!(in_flight.is_waiting(6));
        assert_eq!(in_flight.resend(6, START), Some(1), "in the place of what is left of its job");
    }

    #[test]
    fn what_cannot_be_leaves_the_pair_to_others() {
        let mut in_flight = InFlight::default();
        in_flight.order(4, job(4), START).unwrap();
        let mut wrong = result(4, "a");
        wrong.report = Report::Played(played(5), None);
        assert!(matches!(in_flight.receive("mallory", wrong, 1), Disposition::Reject(_)));
        assert!(matches!(in_flight.receive("b", result(4, "b"), 2), Disposition::Accept { .. }));
    }

    #[test]
    fn one_bad_machine_does_not_end_a_run_and_several_do() {
        let mut in_flight = InFlight::default();
        in_flight.order(4, job(4), START).unwrap();
        let mut fail = |worker: &str| {
            let failed = JobResult { report: Report::Failed("no".into()), ..result(4, worker) };
            in_flight.receive(worker, failed, 1)
        };
        for worker in ["a", "a", "b", "a"] {
            assert!(matches!(fail(worker), Disposition::Retry(_)), "{worker}");
        }
        assert!(matches!(fail("c"), Disposition::Fail(_)));
        assert_eq!(in_flight.resend(4, START), Some(1));
    }

    #[test]
    fn a_void_pair_is_sent_as_another_attempt() {
        let mut in_flight = InFlight::default();
        in_flight.order(4, job(4), START).unwrap();
        in_flight.receive("a", result(4, "a"), 1);
        in_flight.stored(4);
        assert_eq!(in_flight.order(4, job(4), START), Ok(1));
        assert!(matches!(in_flight.receive("a", result(4, "a"), 2), Disposition::Accept { .. }));
    }

    #[test]
    fn a_game_is_announced_once() {
        let mut in_flight = InFlight::default();
        in_flight.order(4, job(4), START).unwrap();
        assert_eq!(in_flight.heartbeat("a".into(), heartbeat(4, None), START), None);
        assert_eq!(
            in_flight.heartbeat("a".into(), heartbeat(4, Some(0)), START),
            Some((job(4).pairing, 0))
        );
        assert_eq!(in_flight.heartbeat("a".into(), heartbeat(4, Some(0)), START), None);
        assert_eq!(
            in_flight.heartbeat("a".into(), heartbeat(4, Some(1)), START),
            Some((job(4).pairing, 1))
        );
        assert_eq!(
            in_flight.heartbeat("a".into(), heartbeat(5, Some(1)), START),
            None,
            "nobody ordered it"
        );
    }

    #[test]
    fn a_result_tells_that_earlier_pairs_were_passed_over() {
        let mut in_flight = InFlight::default();
        for pair in 0..3 {
            in_flight.order(pair, job(pair), START).unwrap();
        }
        let at = Duration::from_secs(100);
        in_flight.started(9, at);
        assert!(in_flight.overdue(LEASE, LEASE, 9 * at).is_empty(), "nobody ordered it");
        in_flight.started(1, at);
        in_flight.receive("a", result(1, "a"), 1);
        assert!(in_flight.overdue(LEASE, LEASE, at + 3 * LEASE).is_empty());
        assert_eq!(in_flight.overdue(LEASE, LEASE, at + 4 * LEASE), [0]);
    }

    #[test]
    fn what_the_server_lost_is_noticed() {
        let mut in_flight = InFlight::default();
        for pair in 0..3 {
            in_flight.order(pair, job(pair), START).unwrap();
        }
        let at = |seconds| Duration::from_secs(seconds);
        let overdue = |in_flight: &InFlight<PairJob>, seconds| {
            in_flight.overdue(LEASE, 2 * LEASE, at(seconds))
        };
        assert!(overdue(&in_flight, 9_999).is_empty(), "nobody takes anything");
        in_flight.heartbeat("a".into(), heartbeat(1, Some(0)), at(100));
        assert!(overdue(&in_flight, 130).is_empty());
        assert_eq!(overdue(&in_flight, 131), [0], "passed over");
        assert_eq!(overdue(&in_flight, 151), [0, 1], "and not heard of any more");
        in_flight.heartbeat("a".into(), heartbeat(1, Some(0)), at(150));
        in_flight.resend(0, at(150));
        assert!(overdue(&in_flight, 180).is_empty());
        in_flight.receive("a", result(1, "a"), 1);
        in_flight.receive("a", result(0, "a"), 2);
        assert!(overdue(&in_flight, 9_999).is_empty(), "results are here");
        assert_eq!(in_flight.counts(), (1, 0));
    }
}
