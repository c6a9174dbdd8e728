use super::*;
use crate::subject::RunId;
use crate::wire::samples::{job, played};
use arbiter_run::PairJob;

const START: Duration = Duration::ZERO;
const LEASE: Duration = Duration::from_secs(10);

fn result(pair: u64) -> JobResult {
    JobResult {
        run_id: RunId::new("r", 1, "k"),
        number: pair,
        attempt: 0,
        report: Ok(played(pair)),
    }
}

fn heartbeat(pair: u64, half: Option<u8>) -> Heartbeat {
    Heartbeat { pair, attempt: 0, proof: blake3::hash(b""), half, is_given_back: false }
}

fn sent(attempt: u32, sequence: u64) -> SentJob {
    SentJob { attempt, sequence, is_left_over: false }
}

#[test]
fn only_the_first_result_of_a_pair_counts() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    assert_eq!(in_flight.request(4, job(4), START), Ok(0));
    assert!(in_flight.sent(4, sent(0, 77), START));
    let disposition = in_flight.receive("a", result(4), 1);
    assert_eq!(disposition, Disposition::Accept(played(4)));
    assert!(
        matches!(in_flight.receive("b", result(4), 2), Disposition::Discard(why) if why.contains("second"))
    );
    assert_eq!(in_flight.note_stored(4), Some(DonePair { sequence: Some(77), receipt: Some(1) }));
    assert!(!in_flight.sent(4, sent(0, 77), START), "it is done");
    assert!(
        matches!(in_flight.receive("a", result(4), 3), Disposition::Discard(why) if why.contains("late"))
    );
    assert_eq!(in_flight.note_stored(4), None);
}

#[test]
fn memory_of_stored_pairs_does_not_grow() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    for first in (0..1_000).step_by(2) {
        // Pairs are not stored in schedule order.
        for pair in [first + 1, first] {
            in_flight.request(pair, job(pair), START).unwrap();
            in_flight.receive("a", result(pair), pair);
            assert!(in_flight.note_stored(pair).is_some());
        }
    }
    assert_eq!(in_flight.stored.len(), 1);
    for pair in [0, 500, 999] {
        let late = in_flight.receive("a", result(pair), 1_000);
        assert!(matches!(late, Disposition::Discard(_)), "pair {pair}");
    }
}

#[test]
fn results_of_stored_pairs_make_no_room() {
    let mut stored = RangeSet::default();
    (0..9).for_each(|pair| stored.insert(pair));
    let mut in_flight = InFlight::new(50, stored, Terms::default());
    assert!(in_flight.is_over(4) && !in_flight.is_over(9));
    assert!(in_flight.parked.add(3, 1, 10), "whoever asks");
    assert_eq!(in_flight.room_for_parked(), 0, "it makes no room for others");
    assert_eq!(in_flight.request(4, job(4), START), Ok(51), "unless the pair does not count");
}

#[test]
fn results_from_before_a_restart_wait_for_their_request() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    assert!(
        !in_flight.is_requested(4)
            && in_flight.parked.add(4, 1, 10)
            && in_flight.parked.add(4, 2, 10)
    );
    assert_eq!(in_flight.room_for_parked(), PARKED_STEP);
    assert_eq!(in_flight.request(4, job(4), START), Err(vec![1, 2]));
    assert!(in_flight.is_requested(4));
    assert_eq!(in_flight.room_for_parked(), 0);
    assert!(in_flight.is_waiting(4));
    assert_eq!(in_flight.resend(4, START), Some(1), "in the place of what is left of its job");
}

#[test]
fn an_impossible_result_does_not_finish_the_pair() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    in_flight.request(4, job(4), START).unwrap();
    let mut wrong = result(4);
    wrong.report = Ok(played(5));
    assert!(matches!(in_flight.receive("mallory", wrong, 1), Disposition::Reject(_)));
    assert!(matches!(in_flight.receive("b", result(4), 2), Disposition::Accept(_)));
}

#[test]
fn three_failing_workers_end_a_run_but_two_do_not() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    in_flight.request(4, job(4), START).unwrap();
    let mut fail = |worker: &str| {
        let failed = JobResult { report: Err("no".into()), ..result(4) };
        in_flight.receive(worker, failed, 1)
    };
    for worker in ["a", "a", "b", "a"] {
        assert!(matches!(fail(worker), Disposition::Retry(_)), "{worker}");
    }
    assert!(matches!(fail("c"), Disposition::Fail(_)));
    assert_eq!(in_flight.resend(4, START), Some(1));
    let failed = JobResult { report: Err("no".into()), ..result(4) };
    let again = in_flight.receive("d", failed, 2);
    assert!(matches!(again, Disposition::Discard(_)), "of the first attempt: {again:?}");
}

#[test]
fn a_few_failing_workers_do_not_end_a_run() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    // None of these workers has sent a result.
    in_flight.set_players(["a", "b", "c", "d", "x"].map(str::to_owned).into());
    in_flight.request(4, job(4), START).unwrap();
    for (worker, may_end) in [("x", false), ("y", false), ("z", false), ("a", true)] {
        let failed = JobResult { report: Err("no".into()), ..result(4) };
        let disposition = in_flight.receive(worker, failed, 9);
        assert_eq!(matches!(disposition, Disposition::Fail(_)), may_end, "{worker}");
    }
}

#[test]
fn a_void_pair_is_sent_as_another_attempt() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    for attempt in 0..3 {
        assert_eq!(in_flight.request(4, job(4), START), Ok(attempt));
        if let Some(void) = attempt.checked_sub(1) {
            let late = JobResult { attempt: void, ..result(4) };
            assert!(matches!(in_flight.receive("a", late, 1), Disposition::Discard(_)));
        }
        let result = JobResult { attempt, ..result(4) };
        assert!(matches!(in_flight.receive("a", result, 2), Disposition::Accept(_)));
        in_flight.note_stored(4);
    }
}

#[test]
fn a_game_is_announced_once() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    in_flight.request(4, job(4), START).unwrap();
    assert_eq!(in_flight.heartbeat("a".into(), heartbeat(4, None), LEASE, START), None);
    assert_eq!(
        in_flight.heartbeat("a".into(), heartbeat(4, Some(0)), LEASE, START),
        Some((job(4).pairing, 0))
    );
    assert_eq!(in_flight.heartbeat("a".into(), heartbeat(4, Some(0)), LEASE, START), None);
    assert_eq!(
        in_flight.heartbeat("a".into(), heartbeat(4, Some(1)), LEASE, START),
        Some((job(4).pairing, 1))
    );
    assert_eq!(
        in_flight.heartbeat("a".into(), heartbeat(5, Some(1)), LEASE, START),
        None,
        "nobody requested it"
    );
}

/// Returns the pairs that are overdue `seconds` seconds after the start.
fn overdue(in_flight: &mut InFlight<PairJob>, seconds: u64) -> Vec<u64> {
    let overdue = in_flight.overdue(LEASE, 2 * LEASE, Duration::from_secs(seconds));
    overdue.into_iter().map(|(pair, _)| pair).collect()
}

/// Returns three pairs in flight whose jobs are on the server in the order 1, 0, 2.
fn three() -> InFlight<PairJob> {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    for (pair, sequence) in [(1, 70), (0, 71), (2, 72)] {
        in_flight.request(pair, job(pair), START).unwrap();
        in_flight.sent(pair, sent(0, sequence), START);
    }
    in_flight
}

#[test]
fn a_started_job_reveals_skipped_earlier_jobs() {
    let mut in_flight = three();
    in_flight.started(9, Duration::from_secs(100));
    assert!(overdue(&mut in_flight, 900).is_empty(), "nobody requested it");
    in_flight.started(0, Duration::from_secs(100));
    in_flight.receive("a", result(0), 1);
    assert!(overdue(&mut in_flight, 130).is_empty());
    assert_eq!(overdue(&mut in_flight, 131), [1], "and not 2, which comes later");
    in_flight.started(2, Duration::from_secs(130));
    assert_eq!(overdue(&mut in_flight, 131), [1], "others that are begun change nothing");
}

#[test]
fn jobs_lost_by_the_server_are_detected() {
    let mut in_flight = three();
    let at = Duration::from_secs;
    assert!(overdue(&mut in_flight, 9_999).is_empty(), "nobody takes anything");
    in_flight.heartbeat("a".into(), heartbeat(0, Some(0)), LEASE, at(100));
    assert!(overdue(&mut in_flight, 130).is_empty());
    assert_eq!(overdue(&mut in_flight, 131), [1], "passed over");
    assert_eq!(overdue(&mut in_flight, 151), [0, 1], "and not heard of any more");
    in_flight.heartbeat("a".into(), heartbeat(0, Some(0)), LEASE, at(150));
    in_flight.resend(1, at(150));
    in_flight.sent(1, sent(1, 73), at(150));
    assert!(overdue(&mut in_flight, 180).is_empty(), "it is at the end now");
    in_flight.receive("a", result(0), 1);
    in_flight.receive("a", result(1), 2);
    assert!(overdue(&mut in_flight, 9_999).is_empty(), "results are here");
    assert_eq!(in_flight.counts(), (1, 0));
}

#[test]
fn pairs_that_idle_workers_do_not_get_are_sent_again() {
    let mut in_flight = three();
    let at = Duration::from_secs;
    in_flight.heartbeat("a".into(), heartbeat(1, Some(0)), LEASE, at(2));
    in_flight.set_idle(&[false, true], at(3));
    assert!(overdue(&mut in_flight, 32).is_empty(), "one is played");
    in_flight.receive("a", result(1), 1);
    for seconds in [40, 50] {
        in_flight.set_idle(&[false, true], at(seconds));
    }
    assert!(overdue(&mut in_flight, 70).is_empty());
    assert_eq!(overdue(&mut in_flight, 71), [0, 2]);
    in_flight.set_idle(&[false, false], at(60));
    assert!(overdue(&mut in_flight, 9_999).is_empty());
}

#[test]
fn nothing_is_played_if_all_workers_are_idle() {
    let mut in_flight = three();
    let at = Duration::from_secs;
    in_flight.heartbeat("a".into(), heartbeat(1, Some(0)), LEASE, at(2));
    assert_eq!(in_flight.waiting_unheard(LEASE, at(11)), [0, 2], "one is played");
    in_flight.set_idle(&[true, true], at(3));
    assert_eq!(overdue(&mut in_flight, 34), [0, 2]);
    assert_eq!(in_flight.waiting_unheard(LEASE, at(34)), [0, 1, 2]);
}

#[test]
fn heartbeats_of_this_attempt_extend_the_lease() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    in_flight.request(4, job(4), START).unwrap();
    in_flight.sent(4, sent(0, 77), START);
    let at = |seconds| Duration::from_secs(seconds);
    assert!(in_flight.extensions(LEASE, at(9)).is_empty(), "nobody has begun it");
    in_flight.heartbeat("a".into(), heartbeat(4, Some(0)), LEASE, at(9));
    assert_eq!(in_flight.extensions(LEASE, at(9)), [77]);
    assert!(in_flight.extensions(LEASE, at(10)).is_empty(), "a moment later");
    assert!(in_flight.extensions(LEASE, at(30)).is_empty(), "nobody was heard");
    assert_eq!(in_flight.resend(4, at(30)), Some(1));
    in_flight.sent(4, sent(1, 78), at(30));
    in_flight.heartbeat("a".into(), heartbeat(4, Some(0)), LEASE, at(31));
    assert!(in_flight.extensions(LEASE, at(60)).is_empty(), "that was of the attempt before");
    in_flight.receive("a", JobResult { attempt: 1, ..result(4) }, 1);
    assert_eq!(in_flight.extensions(LEASE, at(60)), [78], "its result waits to be stored");
}

#[test]
fn only_the_playing_worker_can_give_a_pair_back() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    in_flight.request(4, job(4), START).unwrap();
    in_flight.sent(4, sent(0, 77), START);
    assert!(in_flight.give_back("a", 4, 0), "before it has begun");
    in_flight.heartbeat("b".into(), heartbeat(4, Some(0)), LEASE, LEASE);
    assert!(!in_flight.give_back("a", 4, 0), "another plays it");
    // A worker that another worker has replaced as the player does not become the player again.
    in_flight.heartbeat("a".into(), heartbeat(4, Some(0)), LEASE, LEASE);
    assert!(!in_flight.give_back("a", 4, 0));
    assert!(!in_flight.give_back("b", 4, 1), "another attempt");
    assert!(in_flight.give_back("b", 4, 0));
    in_flight.heartbeat("a".into(), heartbeat(4, Some(0)), LEASE, 2 * LEASE);
    assert!(in_flight.give_back("a", 4, 0), "b was silent for a lease");
    in_flight.receive("a", result(4), 1);
    assert!(!in_flight.give_back("a", 4, 0), "it has a result");
}

#[test]
fn an_audit_that_its_worker_does_not_start_is_overdue() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    let number = AUDITS + 4;
    // Before the first result there is no median.
    assert_eq!(in_flight.request(number, job(4), START), Ok(0));
    assert_eq!(in_flight.overdue(LEASE, LEASE, FIRST_ATTEMPT), []);
    in_flight.request(5, job(5), START).unwrap();
    in_flight.heartbeat("a".into(), heartbeat(5, Some(0)), LEASE, START);
    in_flight.receive("a", result(5), 1);
    in_flight.note_stored(5);
    in_flight.request(6, job(6), START).unwrap();
    assert_eq!(in_flight.resend(number, START), Some(1));
    assert_eq!(in_flight.overdue(LEASE, LEASE, MIN_ATTEMPT), [], "its worker plays another pair");
    let late = MIN_ATTEMPT + LEASE;
    assert_eq!(in_flight.overdue(LEASE, LEASE, late), [(number, None)]);
    assert_eq!(in_flight.resend(number, late), Some(2));
    assert_eq!(in_flight.overdue(LEASE, LEASE, late), []);
    in_flight.set_idle(&[true], late);
    let idle = late + 4 * LEASE;
    assert_eq!(in_flight.overdue(LEASE, LEASE, idle), [(6, None), (number, None)], "idle");
    in_flight.note_stored(number);
    assert!(in_flight.is_over(number));
    assert_eq!(
        in_flight.request(number, job(4), START),
        Ok(3),
        "proofs of the first are of no use"
    );
}

#[test]
fn attempt_numbers_continue_after_a_restart() {
    let mut in_flight = InFlight::new(50, RangeSet::default(), Terms::default());
    assert_eq!(in_flight.request(4, job(4), START), Ok(50));
    in_flight.sent(4, SentJob { is_left_over: true, ..sent(7, 77) }, START);
    in_flight.heartbeat("a".into(), Heartbeat { attempt: 7, ..heartbeat(4, None) }, LEASE, LEASE);
    assert_eq!(in_flight.extensions(LEASE, LEASE), [77]);
    let accepted = in_flight.receive("a", JobResult { attempt: 7, ..result(4) }, 1);
    assert!(matches!(accepted, Disposition::Accept(_)));
    in_flight.note_stored(4);
    assert_eq!(in_flight.request(4, job(4), START), Ok(51), "the pair was void");
}

#[test]
fn a_slow_attempt_ends_despite_heartbeats() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    for pair in 0..2 {
        in_flight.request(pair, job(pair), START).unwrap();
        in_flight.sent(pair, sent(0, pair), START);
        in_flight.heartbeat("a".into(), heartbeat(pair, Some(0)), LEASE, START);
    }
    let minute = Duration::from_secs(60);
    in_flight.heartbeat("a".into(), heartbeat(0, Some(1)), LEASE, minute);
    in_flight.receive("a", result(0), 1);
    in_flight.note_stored(0);
    for (minutes, is_over) in [(MAX_MEDIANS, false), (MAX_MEDIANS + 1, true)] {
        let now = minutes * minute;
        in_flight.heartbeat("a".into(), heartbeat(1, Some(1)), LEASE, now);
        assert_eq!(in_flight.extensions(LEASE, now).is_empty(), is_over, "{minutes}");
        assert_eq!(overdue(&mut in_flight, now.as_secs()) == [1], is_over, "{minutes}");
    }
}

#[test]
fn a_fast_worker_does_not_shorten_the_attempts_of_others() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    let mut play = |pair, worker: &str, minutes: u64| {
        in_flight.request(pair, job(pair), START).unwrap();
        in_flight.heartbeat(worker.into(), heartbeat(pair, Some(0)), LEASE, START);
        let end = Duration::from_secs(60 * minutes);
        in_flight.heartbeat(worker.into(), heartbeat(pair, Some(1)), LEASE, end);
        in_flight.receive(worker, result(pair), pair);
        in_flight.note_stored(pair);
        in_flight.attempt_limit()
    };
    assert_eq!(play(0, "honest", 5), Duration::from_secs(100 * 60));
    let limits: Vec<Duration> = (1..200).map(|pair| play(pair, "fast", 0)).collect();
    assert_eq!(limits, [Duration::from_secs(100 * 60); 199]);
    play(200, "honest2", 5);
    assert_eq!(play(201, "slow", 600), FIRST_ATTEMPT, "one slow worker has a limited effect");
    play(202, "slow2", 600);
    assert_eq!(play(203, "slow3", 600), MAX_MEDIANS * Duration::from_secs(600 * 60), "most");
    in_flight.set_players([].into());
    assert_eq!(in_flight.attempt_limit(), FIRST_ATTEMPT, "workers that have left do not count");
}

#[test]
fn the_first_limit_applies_until_every_player_has_played() {
    let mut in_flight = InFlight::new(0, RangeSet::default(), Terms::default());
    in_flight.set_players(["fast", "slow"].map(str::to_owned).into());
    for (pair, worker, limit) in [(0, "fast", FIRST_ATTEMPT), (1, "slow", MIN_ATTEMPT)] {
        in_flight.request(pair, job(pair), START).unwrap();
        in_flight.heartbeat(worker.into(), heartbeat(pair, Some(0)), LEASE, START);
        in_flight.receive(worker, result(pair), pair);
        assert_eq!(in_flight.attempt_limit(), limit, "{worker}");
    }
}
