//! What a coordinator knows of the pairs it has sent out, and what it believes. Pure: it is told the
//! time and does nothing.
//!
//! A pair, or whatever else is assigned, is in flight from the order to play it until its outcome is on disk. Of all results that
//! come for it the first that is possible is taken; whatever else comes changes nothing and is named.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::assignment::Assignment;
use super::wire::{Heartbeat, JobResult, Report};
use arbiter_schedule::Pairing;

/// Results of pairs that were not ordered yet that are kept. After a restart of the coordinator
/// these are the results that came while it was away.
const MAX_PARKED: usize = 10_000;

/// Results of the same pair among them. Which of them can be is known when the pair is ordered.
const MAX_PARKED_EACH: usize = 8;

/// How far ahead of the pairs that were ordered a result is taken to be one of this run.
const NEAR: u64 = 1_000;

/// Pairs that are asked for at once to get to results that are here already.
const STEP: usize = 16;

/// How many workers have to fail at a pair before the run gives up.
const MAX_FAILURES: usize = 3;

/// Stands for a message that was received and not acknowledged.
pub type Receipt = u64;

/// A pair in flight.
#[derive(Debug)]
struct Flight<A> {
    job: A,
    attempt: u32,
    /// Its place in the stream, if known.
    sequence: Option<u64>,
    /// When it was sent, or somebody was last heard to play it. Since the start.
    heard: Duration,
    /// Who was last heard to play it, and at which game.
    player: Option<(String, Option<u8>)>,
    /// The result that was taken.
    taken: Option<Taken>,
    failed_at: BTreeSet<String>,
}

/// The result that was taken for a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its message.
    pub receipt: Receipt,
    /// Where the job is acknowledged.
    pub ack: String,
}

/// What becomes of a result.
#[derive(Debug, PartialEq)]
pub enum Fate<D> {
    /// It is the first for its pair: commit it.
    Accept {
        /// The pair.
        played: D,
        /// How the machine disturbed it.
        noise: Option<String>,
        /// Who played it.
        worker: String,
    },
    /// It is of a pair that was not ordered yet.
    Park,
    /// It came late or twice: the words say which. The job needs nobody.
    Useless(String),
    /// There are too many of its kind to keep it. The job stays as it is.
    Drop(String),
    /// It cannot be: the words say why. Somebody else has to play.
    Refuse(String),
    /// The worker could not play, and somebody else has to.
    Retry(String),
    /// Too many workers could not play: the run ends.
    GiveUp(String),
}

/// Results of a pair that was not ordered yet, in the order in which they came.
type Parked<A> = Vec<(JobResult<<A as Assignment>::Done>, Receipt)>;

/// All pairs of a run that are on their way.
#[derive(Debug)]
pub struct Flights<A: Assignment> {
    flights: BTreeMap<u64, Flight<A>>,
    parked: BTreeMap<u64, Parked<A>>,
    /// Pairs whose outcome is on disk.
    stored: BTreeSet<u64>,
    /// The highest pair that somebody has taken, and when that was first heard.
    front: Option<(u64, Duration)>,
}

impl<A: Assignment> Default for Flights<A> {
    fn default() -> Flights<A> {
        Flights {
            flights: BTreeMap::new(),
            parked: BTreeMap::new(),
            stored: BTreeSet::new(),
            front: None,
        }
    }
}

impl<A: Assignment> Flights<A> {
    /// A pair is to be played; the attempt as which it is to be sent, unless results of it are here
    /// already and come back, in the order in which they came.
    pub fn order(&mut self, job: A, now: Duration) -> Result<u32, Parked<A>> {
        let pair = job.number();
        // One that was void is played again, and its old job may still be there.
        let attempt = u32::from(self.stored.remove(&pair));
        let flight = Flight {
            job,
            attempt,
            sequence: None,
            heard: now,
            player: None,
            taken: None,
            failed_at: BTreeSet::new(),
        };
        self.flights.insert(pair, flight);
        match self.parked.remove(&pair) {
            Some(parked) => Err(parked),
            None => Ok(attempt),
        }
    }

    /// A pair's job is at this place in the stream.
    pub fn sent(&mut self, pair: u64, attempt: u32, sequence: Option<u64>) {
        if let Some(flight) = self.flights.get_mut(&pair)
            && flight.attempt == attempt
        {
            flight.sequence = sequence;
        }
    }

    /// Somebody plays; if a game of a pair in flight has just begun, which one.
    pub fn heard(&mut self, heartbeat: Heartbeat, now: Duration) -> Option<(Pairing, usize)> {
        let flight = self.flights.get_mut(&heartbeat.pair)?;
        flight.heard = now;
        let pair = heartbeat.pair;
        let player = (heartbeat.worker, heartbeat.half);
        let is_new = flight.player.as_ref() != Some(&player);
        flight.player = Some(player);
        let begun = heartbeat.half.filter(|_| is_new);
        let begun = begun.and_then(|half| Some((flight.job.pairing()?, usize::from(half))));
        self.was_taken(pair, now);
        begun
    }

    /// Somebody has taken a pair: they are taken in their order.
    pub fn was_taken(&mut self, pair: u64, now: Duration) {
        let is_further = self.front.is_none_or(|(front, _)| front < pair);
        if is_further && self.flights.contains_key(&pair) {
            self.front = Some((pair, now));
        }
    }

    /// A result has come.
    pub fn arrive(&mut self, result: JobResult<A::Done>, receipt: Receipt) -> Fate<A::Done> {
        let pair = result.number;
        let worker = result.worker.clone();
        let Some(flight) = self.flights.get_mut(&pair) else {
            return self.arrive_early_or_late(result, receipt);
        };
        if flight.taken.is_some() {
            return Fate::Useless("a second result; the first one counts".to_owned());
        }
        match result.report {
            Report::Failed(reason) => {
                flight.failed_at.insert(worker);
                let reason = format!("could not play it: {reason}");
                if flight.failed_at.len() < MAX_FAILURES {
                    Fate::Retry(reason)
                } else {
                    Fate::GiveUp(reason)
                }
            }
            Report::Played(played, noise) => match flight.job.check(&played) {
                Err(why) => Fate::Refuse(format!("a result that cannot be: {why}")),
                Ok(()) => {
                    flight.taken = Some(Taken { receipt, ack: result.ack });
                    Fate::Accept { played, noise, worker }
                }
            },
        }
    }

    fn arrive_early_or_late(
        &mut self,
        result: JobResult<A::Done>,
        receipt: Receipt,
    ) -> Fate<A::Done> {
        let pair = result.number;
        if self.stored.contains(&pair) {
            return Fate::Useless("a late result; there is one already".to_owned());
        }
        let is_full = self.parked.len() >= MAX_PARKED;
        let parked = self.parked.entry(pair).or_default();
        if parked.len() >= MAX_PARKED_EACH || (is_full && parked.is_empty()) {
            if parked.is_empty() {
                self.parked.remove(&pair);
            }
            return Fate::Drop("a result of a pair that nobody had ordered".to_owned());
        }
        // Any of them may be the true one.
        parked.push((result, receipt));
        Fate::Park
    }

    /// The outcome of a pair is on disk; what was taken for it can be acknowledged.
    pub fn stored(&mut self, pair: u64) -> Option<Taken> {
        self.stored.insert(pair);
        self.flights.remove(&pair)?.taken
    }

    /// A pair has to be sent once more; as which attempt.
    pub fn again(&mut self, pair: u64, now: Duration) -> Option<u32> {
        let flight = self.flights.get_mut(&pair)?;
        flight.attempt += 1;
        flight.sequence = None;
        flight.player = None;
        flight.heard = now;
        Some(flight.attempt)
    }

    /// Whether a pair is in flight and no result was taken for it.
    pub fn is_unanswered(&self, pair: u64) -> bool {
        self.flights.get(&pair).is_some_and(|flight| flight.taken.is_none())
    }

    /// The job of a pair in flight.
    pub fn job(&self, pair: u64) -> Option<&A> {
        self.flights.get(&pair).map(|flight| &flight.job)
    }

    /// The pair in flight whose job is at this place in the stream, as far as is known.
    pub fn owner(&self, sequence: u64) -> Option<u64> {
        let mut flights = self.flights.iter();
        flights.find(|(_, flight)| flight.sequence == Some(sequence)).map(|(pair, _)| *pair)
    }

    /// Pairs that somebody ought to have been heard about long ago: one that was being played, or
    /// one that was passed over while later ones were taken. The server gives the pairs of a worker
    /// that dies to others by itself; these are what it lost.
    pub fn overdue(&self, lease: Duration, patience: Duration, now: Duration) -> Vec<u64> {
        let is_overdue = |(pair, flight): (&u64, &Flight<A>)| {
            let since = match (&flight.player, self.front) {
                (Some(_), _) => now.saturating_sub(flight.heard + patience),
                (None, Some((front, at))) if front > *pair => {
                    now.saturating_sub(flight.heard.max(at))
                }
                (None, _) => return None,
            };
            (flight.taken.is_none() && since > 3 * lease).then_some(*pair)
        };
        self.flights.iter().filter_map(is_overdue).collect()
    }

    /// Pairs that nobody was heard to play, and pairs that somebody was.
    pub fn counts(&self) -> (u64, u64) {
        let waiting = self.flights.values().filter(|flight| flight.taken.is_none());
        let (queued, playing): (Vec<_>, Vec<_>) =
            waiting.partition(|flight| flight.player.is_none());
        (queued.len() as u64, playing.len() as u64)
    }

    /// How many pairs have to be in flight so that results that are here already are asked for;
    /// 0 if there is none, or only such as come from nowhere.
    pub fn room_for_parked(&self) -> usize {
        // Asked often, of all pairs that there ever were.
        let ordered = self.flights.keys().next_back().max(self.stored.last());
        let is_near = |pair: &u64| ordered.is_none_or(|ordered| *pair < ordered + NEAR);
        if self.parked.keys().any(is_near) { self.flights.len() + STEP } else { 0 }
    }

    /// Forgets all pairs in flight.
    pub fn cancel(&mut self) {
        self.flights.clear();
        self.parked.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::verify::tests::{job, played};
    use super::*;
    use arbiter_plan::run::job::PairJob;

    const START: Duration = Duration::ZERO;
    const LEASE: Duration = Duration::from_secs(10);

    fn result(pair: u64, worker: &str) -> JobResult {
        JobResult {
            token: "0123456789abcdef".into(),
            worker: worker.into(),
            ack: format!("ack of {worker}"),
            number: pair,
            attempt: 0,
            report: Report::Played(played(pair), None),
        }
    }

    fn heartbeat(pair: u64, half: Option<u8>) -> Heartbeat {
        Heartbeat { worker: "a".into(), pair, half }
    }

    #[test]
    fn the_first_result_of_a_pair_counts_and_no_other() {
        let mut flights = Flights::default();
        assert_eq!(flights.order(job(4), START), Ok(0));
        flights.sent(4, 0, Some(77));
        assert_eq!((flights.owner(77), flights.owner(78)), (Some(4), None));
        let fate = flights.arrive(result(4, "a"), 1);
        assert_eq!(fate, Fate::Accept { played: played(4), noise: None, worker: "a".into() });
        assert!(
            matches!(flights.arrive(result(4, "b"), 2), Fate::Useless(why) if why.contains("second"))
        );
        let taken = flights.stored(4).unwrap();
        assert_eq!(taken, Taken { receipt: 1, ack: "ack of a".into() });
        assert!(
            matches!(flights.arrive(result(4, "a"), 3), Fate::Useless(why) if why.contains("late"))
        );
        assert_eq!(flights.stored(4), None);
    }

    #[test]
    fn results_from_before_a_restart_wait_for_their_order() {
        let mut flights = Flights::default();
        assert_eq!(flights.arrive(result(4, "a"), 1), Fate::Park);
        assert_eq!(flights.room_for_parked(), STEP);
        assert_eq!(flights.arrive(result(4, "b"), 2), Fate::Park);
        let parked = flights.order(job(4), START).unwrap_err();
        assert_eq!(flights.room_for_parked(), 0);
        let parked: [(JobResult, Receipt); 2] = parked.try_into().unwrap();
        let [(first, 1), (second, 2)] = parked else { panic!() };
        assert!(matches!(flights.arrive(first, 1), Fate::Accept { .. }));
        assert!(matches!(flights.arrive(second, 2), Fate::Useless(_)));
        assert!(!flights.is_unanswered(4));
    }

    /// Who is quicker with nonsense does not keep the true result out.
    #[test]
    fn nonsense_that_comes_early_is_refused_and_the_true_result_counts() {
        let mut flights = Flights::default();
        let mut wrong = result(4, "mallory");
        wrong.report = Report::Played(played(5), None);
        assert_eq!(flights.arrive(wrong.clone(), 1), Fate::Park);
        assert_eq!(flights.arrive(result(4, "a"), 2), Fate::Park);
        for receipt in 3..=MAX_PARKED_EACH as Receipt {
            assert_eq!(flights.arrive(wrong.clone(), receipt), Fate::Park);
        }
        assert!(matches!(flights.arrive(wrong.clone(), 99), Fate::Drop(_)));
        let parked = flights.order(job(4), START).unwrap_err();
        let fates = parked.into_iter().map(|(result, receipt)| flights.arrive(result, receipt));
        let fates: Vec<_> = fates.collect();
        assert!(matches!(&fates[0], Fate::Refuse(_)), "{fates:?}");
        assert!(matches!(&fates[1], Fate::Accept { worker, .. } if worker == "a"), "{fates:?}");
        // Nothing but nonsense leaves the pair to be played.
        assert_eq!(flights.arrive(JobResult { number: 6, ..wrong }, 100), Fate::Park);
        let parked = flights.order(job(6), START).unwrap_err();
        for (result, receipt) in parked {
            assert!(matches!(flights.arrive(result, receipt), Fate::Refuse(_)));
        }
        assert!(flights.is_unanswered(6));
        assert_eq!(flights.again(6, START), Some(1), "in the place of what is left of its job");
    }

    #[test]
    fn what_cannot_be_leaves_the_pair_to_others() {
        let mut flights = Flights::default();
        flights.order(job(4), START).unwrap();
        let mut wrong = result(4, "a");
        wrong.report = Report::Played(played(5), None);
        assert!(matches!(flights.arrive(wrong, 1), Fate::Refuse(_)));
        assert!(matches!(flights.arrive(result(4, "b"), 2), Fate::Accept { .. }));
    }

    #[test]
    fn one_bad_machine_does_not_end_a_run_and_several_do() {
        let mut flights = Flights::default();
        flights.order(job(4), START).unwrap();
        let mut fail = |worker: &str| {
            let failed = JobResult { report: Report::Failed("no".into()), ..result(4, worker) };
            flights.arrive(failed, 1)
        };
        for worker in ["a", "a", "b", "a"] {
            assert!(matches!(fail(worker), Fate::Retry(_)), "{worker}");
        }
        assert!(matches!(fail("c"), Fate::GiveUp(_)));
        assert_eq!(flights.again(4, START), Some(1));
    }

    #[test]
    fn a_void_pair_is_sent_as_another_attempt() {
        let mut flights = Flights::default();
        flights.order(job(4), START).unwrap();
        flights.arrive(result(4, "a"), 1);
        flights.stored(4);
        assert_eq!(flights.order(job(4), START), Ok(1));
        assert!(matches!(flights.arrive(result(4, "a"), 2), Fate::Accept { .. }));
    }

    #[test]
    fn a_game_is_announced_once() {
        let mut flights = Flights::default();
        flights.order(job(4), START).unwrap();
        assert_eq!(flights.heard(heartbeat(4, None), START), None);
        assert_eq!(flights.heard(heartbeat(4, Some(0)), START), Some((job(4).pairing, 0)));
        assert_eq!(flights.heard(heartbeat(4, Some(0)), START), None);
        assert_eq!(flights.heard(heartbeat(4, Some(1)), START), Some((job(4).pairing, 1)));
        assert_eq!(flights.heard(heartbeat(5, Some(1)), START), None, "nobody ordered it");
    }

    #[test]
    fn a_result_tells_that_earlier_pairs_were_passed_over() {
        let mut flights = Flights::default();
        for pair in 0..3 {
            flights.order(job(pair), START).unwrap();
        }
        let at = Duration::from_secs(100);
        flights.was_taken(9, at);
        assert!(flights.overdue(LEASE, LEASE, 9 * at).is_empty(), "nobody ordered it");
        flights.was_taken(1, at);
        flights.arrive(result(1, "a"), 1);
        assert!(flights.overdue(LEASE, LEASE, at + 3 * LEASE).is_empty());
        assert_eq!(flights.overdue(LEASE, LEASE, at + 4 * LEASE), [0]);
    }

    #[test]
    fn what_the_server_lost_is_noticed() {
        let mut flights = Flights::default();
        for pair in 0..3 {
            flights.order(job(pair), START).unwrap();
        }
        let at = |seconds| Duration::from_secs(seconds);
        let overdue =
            |flights: &Flights<PairJob>, seconds| flights.overdue(LEASE, 2 * LEASE, at(seconds));
        assert!(overdue(&flights, 9_999).is_empty(), "nobody takes anything");
        flights.heard(heartbeat(1, Some(0)), at(100));
        assert!(overdue(&flights, 130).is_empty());
        assert_eq!(overdue(&flights, 131), [0], "passed over");
        assert_eq!(overdue(&flights, 151), [0, 1], "and not heard of any more");
        flights.heard(heartbeat(1, Some(0)), at(150));
        flights.again(0, at(150));
        assert!(overdue(&flights, 180).is_empty());
        flights.arrive(result(1, "a"), 1);
        flights.arrive(result(0, "a"), 2);
        assert!(overdue(&flights, 9_999).is_empty(), "results are here");
        assert_eq!(flights.counts(), (1, 0));
    }
}
