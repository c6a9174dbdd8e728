mod put_off;
mod repeats;
mod taken_back;

use std::sync::Arc;

use super::*;
use crate::GameTally;
use arbiter_game::outcome::Termination;
use arbiter_schedule::{Design, Format};
use arbiter_spsa::Tuning;
use arbiter_stats::{Correction, GameResult, Model};

/// Returns a run of two engines.
fn run(pairs: u64, sprt: Option<Sprt>) -> RunState {
    RunState::new(Schedule::new(Design::round_robin(pairs), 2, 1), sprt)
}

fn tally(pair: u64, results: [GameResult; 2]) -> PairTally {
    let game =
        |result| GameTally { result, termination: Termination::Checkmate, fault: None, hash: None };
    let [first, second] = results.map(game);
    PairTally { pair, engines: [0, 1], first, second: Some(second), is_repeat: false }
}

fn gauntlet() -> Schedule {
    let design = Design { format: Format::Gauntlet, ..Design::round_robin(60) };
    Schedule::new(design, 3, 1)
}

fn started_pair(effects: Vec<Effect>) -> Option<u64> {
    match effects[..] {
        [Effect::Start(pairing)] => Some(pairing.pair),
        _ => None,
    }
}

fn won(pair: u64) -> PairTally {
    tally(pair, [GameResult::Win; 2])
}

fn sprt() -> Sprt {
    Sprt::new(0.0, 100.0, 0.05, 0.05, Model::Normalized).unwrap()
}

fn started(state: &mut RunState, pairs: u64) {
    for pair in 0..pairs {
        assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(pair));
    }
}

fn counted_pairs(effects: &[Effect]) -> Vec<u64> {
    let count = |effect: &Effect| match effect {
        Effect::Count { tally, .. } => Some(tally.pair),
        _ => None,
    };
    effects.iter().filter_map(count).collect()
}

#[test]
fn pairs_are_counted_in_schedule_order() {
    let mut state = run(3, None);
    started(&mut state, 3);
    assert_eq!(state.apply(RunInput::Idle), []);
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(2)))), [0; 0]);
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(0)))), [0]);
    let effects = state.apply(RunInput::Committed(won(1)));
    assert_eq!(counted_pairs(&effects), [1, 2]);
    assert_eq!(effects.last(), Some(&Effect::End(RunEnd::Complete)));
}

#[test]
fn a_pair_that_comes_twice_counts_once() {
    let mut state = run(9, None);
    started(&mut state, 2);
    state.apply(RunInput::Committed(won(0)));
    assert_eq!(state.apply(RunInput::Committed(won(0))), []);
    assert_eq!(state.counts().games(), 2);
}

#[test]
fn the_verdict_depends_on_schedule_order_only() {
    // The counts must be the same for arrival in schedule order and for arrival of the first pair
    // last.
    let play = |order: &[u64]| {
        let mut state = run(500, Some(sprt()));
        started(&mut state, 200);
        let mut last = Vec::new();
        for &pair in order {
            last = state.apply(RunInput::Committed(won(pair)));
            if state.ending().is_some() {
                break;
            }
        }
        assert_eq!(last.last(), Some(&Effect::End(RunEnd::AcceptedH1)));
        assert!(last.contains(&Effect::CancelAll) || order[0] != 0);
        state.counts().main_encounter()
    };
    let in_order: Vec<u64> = (0..200).collect();
    let first_last: Vec<u64> = (1..200).chain([0]).collect();
    let encounter = play(&in_order);
    assert!(encounter.pairs.pairs() < 100);
    assert_eq!(play(&first_last), encounter);
}

#[test]
fn an_sprt_can_accept_h0_or_be_inconclusive() {
    let mut state = run(200, Some(sprt()));
    let lost = |pair| tally(pair, [GameResult::Loss; 2]);
    (0..200).for_each(|pair| drop(state.apply(RunInput::Committed(lost(pair)))));
    assert_eq!(state.ending(), Some(RunEnd::AcceptedH0));
    let mut state = run(2, Some(sprt()));
    (0..2).for_each(|pair| drop(state.apply(RunInput::Committed(won(pair)))));
    assert_eq!(state.ending(), Some(RunEnd::Complete));
}

#[test]
fn corrected_bounds_decide_and_a_resumed_run_remembers_them() {
    // All pairs are won, except one pair in each period.
    let mixed = |pair: u64, period: u64| {
        let lost = tally(pair, [GameResult::Loss, GameResult::Draw]);
        if pair % period == 1 { lost } else { won(pair) }
    };
    let test = Sprt::new(0.0, 15.0, 0.05, 0.05, Model::Normalized).unwrap();
    let play = |correction, period| {
        let mut state = run(5000, Some(test.with_correction(correction)));
        let mut sprt_statuses: Vec<SprtStatus> = Vec::new();
        for pair in 0.. {
            state.apply(RunInput::Committed(mixed(pair, period)));
            sprt_statuses.extend(state.sprt_statuses().get(&[0, 1]).copied());
            if state.ending().is_some() {
                break;
            }
        }
        assert_eq!(state.ending(), Some(RunEnd::AcceptedH1));
        (state, sprt_statuses)
    };
    let is_earlier = |period: &u64| {
        play(Correction::Dynamic, *period).1.len() < play(Correction::None, *period).1.len()
    };
    let period = (3..20).find(is_earlier).expect("a correction that matters");
    let mixed = |pair| mixed(pair, period);
    let (corrected, sprt_statuses) = play(Correction::Dynamic, period);
    let last = sprt_statuses.last().unwrap();
    assert!(last.upper < last.llr && last.llr < test.bounds.upper, "{last:?}");
    // The run is resumed after each pair, with later pairs already on disk.
    let test = test.with_correction(Correction::Dynamic);
    for cut in 1..sprt_statuses.len() as u64 - 2 {
        let mut state = run(5000, Some(test));
        (0..cut).for_each(|pair| drop(state.apply(RunInput::Committed(mixed(pair)))));
        assert_eq!(state.sprt_statuses()[&[0, 1]], sprt_statuses[cut as usize - 1]);
        let mut resumed = run(5000, Some(test));
        let on_disk = (0..cut).chain([cut + 1]);
        on_disk.for_each(|pair| drop(resumed.apply(RunInput::Committed(mixed(pair)))));
        assert_eq!(resumed.sprt_statuses(), state.sprt_statuses());
        let missing = (cut..sprt_statuses.len() as u64).filter(|pair| *pair != cut + 1);
        missing.for_each(|pair| drop(resumed.apply(RunInput::Committed(mixed(pair)))));
        assert_eq!(resumed.sprt_statuses(), corrected.sprt_statuses());
        assert_eq!(resumed.ending(), Some(RunEnd::AcceptedH1));
    }
}

#[test]
fn the_first_interrupt_drains_and_the_second_stops() {
    let mut state = run(9, None);
    started(&mut state, 2);
    assert_eq!(state.apply(RunInput::Interrupt), [Effect::Drain]);
    assert_eq!(state.apply(RunInput::Idle), []);
    state.apply(RunInput::Committed(won(1)));
    let end = Effect::End(RunEnd::Interrupted);
    let effects = state.clone().apply(RunInput::Committed(won(0)));
    assert_eq!((counted_pairs(&effects), effects.last()), (vec![0, 1], Some(&end)));
    assert_eq!(state.apply(RunInput::Interrupt), [Effect::CancelAll, end]);
}

#[test]
fn a_void_pair_is_played_again_before_others() {
    let mut state = run(9, None);
    started(&mut state, 3);
    assert_eq!(state.apply(RunInput::Voided(1)), []);
    // A pair that is not in flight cannot become void.
    assert_eq!(state.apply(RunInput::Voided(7)), []);
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(1));
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(3));
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(0)))), [0]);
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(1)))), [1]);
}

#[test]
fn an_interrupted_run_keeps_void_pairs_for_later() {
    let mut state = run(9, None);
    started(&mut state, 2);
    state.apply(RunInput::Voided(0));
    assert_eq!(state.apply(RunInput::Interrupt), [Effect::Drain]);
    assert_eq!(state.apply(RunInput::Idle), []);
    assert_eq!(state.apply(RunInput::Voided(1)), [Effect::End(RunEnd::Interrupted)]);
}

#[test]
fn a_void_pair_of_a_decided_encounter_is_not_played_again() {
    let mut state = RunState::new(gauntlet(), Some(sprt()));
    started(&mut state, 60);
    // These pairs decide only the first encounter.
    (0..20).for_each(|pair| drop(state.apply(RunInput::Committed(met(pair)))));
    let (_, last) = state.stopped[&[0, 1]];
    assert!(last < 20 && !state.stopped.contains_key(&[0, 2]));
    state.apply(RunInput::Voided(58));
    state.apply(RunInput::Voided(59));
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(59));
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(61));
}

#[test]
fn a_resumed_run_plays_missing_pairs() {
    let mut state = run(4, None);
    for pair in [0, 2] {
        state.apply(RunInput::Committed(won(pair)));
    }
    assert_eq!(state.counted_pairs().collect::<Vec<_>>(), [0]);
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(1));
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(3));
    assert_eq!(state.apply(RunInput::Idle), []);
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(1)))), [1, 2]);
}

/// Returns a pair in which the first engine beats engine 1 but not engine 2.
fn met(pair: u64) -> PairTally {
    let result = [[GameResult::Win; 2], [GameResult::Win, GameResult::Loss]];
    let engines = [0, 1 + pair as usize % 2];
    PairTally { engines, ..tally(pair, result[pair as usize % 2]) }
}

#[test]
fn each_encounter_of_a_gauntlet_stops_by_itself() {
    let play = |order: &[u64]| {
        let mut state = RunState::new(gauntlet(), Some(sprt()));
        order.iter().for_each(|pair| drop(state.apply(RunInput::Committed(met(*pair)))));
        state
    };
    // This gauntlet also receives the pairs of decided encounters that were in flight or stored.
    let state = play(&(0..120).collect::<Vec<_>>());
    assert_eq!(state.ending(), Some(RunEnd::Complete));
    let (first, last) = state.stopped.get(&[0, 1]).copied().unwrap();
    assert_eq!(first, RunEnd::AcceptedH1);
    let beaten = state.counts().encounter([0, 1]);
    assert_eq!(beaten.pairs.pairs(), last / 2 + 1);
    assert!(last < 60, "{last}");
    let counted: Vec<u64> = state.counted_pairs().collect();
    assert_eq!(counted.len() as u64, state.counts().games() / 2);
    assert!(counted.iter().all(|pair| pair % 2 == 1 || *pair <= last));
    // The order of arrival has no effect.
    let reversed = play(&(0..120).rev().collect::<Vec<_>>());
    assert_eq!(reversed.counts(), state.counts());
    assert_eq!(reversed.stopped, state.stopped);
}

#[test]
fn alternating_colours_does_not_change_decided_encounters() {
    let design = Design { format: Format::Gauntlet, alternates: true, ..Design::round_robin(200) };
    // With three encounters, the pair numbers of each encounter are alternately even and odd.
    let mut state = RunState::new(Schedule::new(design, 4, 1), Some(sprt()));
    let mut orders = BTreeSet::new();
    while let [Effect::Start(Pairing { pair, engines, .. })] = state.apply(RunInput::Idle)[..] {
        orders.insert(engines);
        assert!(pair < 600, "every encounter is decided");
        // Engine 0 wins all games.
        let result = if engines[0] == 0 { GameResult::Win } else { GameResult::Loss };
        let tally = PairTally { engines, ..tally(pair, [result; 2]) };
        state.apply(RunInput::Committed(tally));
    }
    assert_eq!(orders.len(), 6, "{orders:?}");
    assert_eq!(state.ending(), Some(RunEnd::Complete));
    assert!(state.stopped.keys().eq(&[[0, 1], [0, 2], [0, 3]]), "{:?}", state.stopped);
    let counted = state.counted_pairs().count() as u64;
    assert_eq!(counted, state.counts().games() / 2);
}

#[test]
fn pairs_of_a_decided_encounter_are_not_played() {
    let mut state = RunState::new(gauntlet(), Some(sprt()));
    let mut played = Vec::new();
    while state.ending().is_none() {
        let pair = started_pair(state.apply(RunInput::Idle)).expect("there is work");
        played.push(pair);
        state.apply(RunInput::Committed(met(pair)));
    }
    assert_eq!(played, state.counted_pairs().collect::<Vec<_>>());
    // A resumed run continues in the same way.
    let mut resumed = RunState::new(gauntlet(), Some(sprt()));
    let (before, after) = played.split_at(played.len() / 2);
    before.iter().for_each(|pair| drop(resumed.apply(RunInput::Committed(met(*pair)))));
    assert_eq!(started_pair(resumed.apply(RunInput::Idle)), Some(after[0]));
}

/// Pairs of later rounds wait for results, even if slots are free.
#[test]
fn a_knockout_starts_known_encounters_and_waits_for_the_others() {
    let design = Design { format: Format::Knockout, seeds: 4, ..Design::round_robin(1) };
    let mut state = RunState::new(Schedule::new(design, 4, 1), None);
    started(&mut state, 2);
    assert_eq!(state.apply(RunInput::Idle), []);
    let tally = |pair, engines| PairTally { engines, ..won(pair) };
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(tally(1, [1, 2])))), [0; 0]);
    assert_eq!(state.apply(RunInput::Idle), []);
    state.apply(RunInput::Committed(tally(0, [0, 3])));
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(2));
    let effects = state.apply(RunInput::Committed(tally(2, [0, 1])));
    assert_eq!(effects.last(), Some(&Effect::End(RunEnd::Complete)));
}

/// The same pairs count for any order of arrival and any point of interruption.
#[test]
fn pairs_after_the_decision_of_a_knockout_encounter_never_count() {
    let design = Design { format: Format::Knockout, seeds: 4, ..Design::round_robin(5) };
    let new = || RunState::new(Schedule::new(design, 4, 1), None);
    // At each decision, the number of pairs in flight is the number of slots, and pairs arrive
    // newest first or oldest first.
    let play = |mut state: RunState, room: usize, is_newest_first: bool, most: usize| {
        let mut flying: Vec<(u64, [usize; 2])> = Vec::new();
        let mut stored = Vec::new();
        while state.ending().is_none() && stored.len() < most {
            while flying.len() < room
                && let [Effect::Start(pairing)] = state.apply(RunInput::Idle)[..]
            {
                flying.push((pairing.pair, pairing.engines));
            }
            let index = if is_newest_first { flying.len() - 1 } else { 0 };
            let (pair, engines) = flying.remove(index);
            let tally = PairTally { engines, ..won(pair) };
            stored.push(tally);
            state.apply(RunInput::Committed(tally));
        }
        (state, stored)
    };
    let (alone, stored) = play(new(), 1, false, 99);
    let counted: Vec<u64> = alone.counted_pairs().collect();
    // Each encounter counts three of its five pairs; the pairs of the first round alternate.
    assert_eq!(counted, [0, 1, 2, 3, 4, 5, 10, 11, 12]);
    assert_eq!(stored.len(), counted.len());
    for room in [2, 3, 5, 9] {
        for is_newest_first in [false, true] {
            let (state, stored) = play(new(), room, is_newest_first, 99);
            assert_eq!(
                state.counted_pairs().collect::<Vec<_>>(),
                counted,
                "{room} {is_newest_first}"
            );
            assert_eq!(state.counts(), alone.counts());
            for cut in 0..stored.len() {
                let (_, mut on_disk) = play(new(), room, is_newest_first, cut);
                on_disk.sort_by_key(|tally| tally.pair);
                let mut resumed = new();
                on_disk.iter().for_each(|tally| drop(resumed.apply(RunInput::Committed(*tally))));
                let (resumed, _) = play(resumed, 1, false, 99);
                assert_eq!(resumed.counted_pairs().collect::<Vec<_>>(), counted);
                assert_eq!(resumed.counts(), alone.counts());
            }
        }
    }
}

#[test]
fn a_paused_run_starts_no_pair_and_counts_pairs_in_flight() {
    let mut state = run(9, None);
    started(&mut state, 2);
    assert_eq!(state.apply(RunInput::Pause), []);
    assert_eq!((state.pace(), state.apply(RunInput::Idle)), (Pace::Paused, vec![]));
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(0)))), [0]);
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(1)))), [1]);
    assert_eq!((state.in_flight(), state.ending()), (0, None));
    assert_eq!(state.apply(RunInput::Unpause), []);
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(2));
}

#[test]
fn a_drain_never_stops_a_game() {
    let mut state = run(9, None);
    started(&mut state, 1);
    assert_eq!(state.apply(RunInput::Drain), [Effect::Drain]);
    assert_eq!(state.apply(RunInput::Drain), []);
    // The end of a pause does not continue a draining run.
    state.apply(RunInput::Unpause);
    assert_eq!((state.pace(), state.apply(RunInput::Idle)), (Pace::Draining, vec![]));
    let effects = state.apply(RunInput::Committed(won(0)));
    assert_eq!(effects.last(), Some(&Effect::End(RunEnd::Interrupted)));
    let mut paused = run(9, None);
    paused.apply(RunInput::Pause);
    assert_eq!(paused.apply(RunInput::Drain), [Effect::End(RunEnd::Interrupted)]);
}

/// Returns a tuning run of one parameter with six iterations of two pairs; one iteration may start
/// early.
fn tuned() -> RunState {
    let parameters = arbiter_spsa::table::read("A,50,0,100,10,0.5").unwrap();
    let tuning = Tuning {
        parameters,
        alpha: 0.602,
        gamma: 0.101,
        a_ratio: 0.1,
        iterations: 6,
        pairs: 2,
        ahead: 1,
    };
    let design = Design { rounds: 6, ..Design::round_robin(2) };
    let schedule = Schedule::new(design, 2, 1).with_rounds_ahead(1);
    let spsa = Some(SpsaState::new(Arc::new(tuning), 3));
    RunState { spsa, ..RunState::new(schedule, None) }
}

fn iterated(effects: &[Effect]) -> Vec<&Iteration> {
    let found = effects.iter().filter_map(|effect| match effect {
        Effect::Iterated(iteration) => Some(iteration),
        _ => None,
    });
    found.collect()
}

#[test]
fn at_most_two_iterations_are_played_at_a_time() {
    let mut state = tuned();
    started(&mut state, 4);
    assert_eq!(state.apply(RunInput::Idle), [], "two iterations are under way");
    assert!(!state.has_started_all());
    assert_eq!(iterated(&state.apply(RunInput::Committed(won(1)))).len(), 0);
    assert_eq!(iterated(&state.apply(RunInput::Committed(won(2)))).len(), 0);
    let effects = state.apply(RunInput::Committed(won(0)));
    let found = iterated(&effects);
    assert_eq!((found[0].number, found[0].score), (0, 4), "won twice 2 - 0");
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(4));
}

#[test]
fn the_tuning_path_ignores_order_and_duplicates() {
    let play = |order: &[u64], twice: bool| {
        let mut state = tuned();
        let mut found = Vec::new();
        let mut settings = BTreeMap::new();
        for round in 0..3 {
            while let Some(pair) = started_pair(state.apply(RunInput::Idle)) {
                settings.insert(pair, state.settings(pair));
                // The first attempt of this pair was disturbed, so the pair is played again
                // unchanged.
                if pair % 3 == 0 {
                    assert_eq!(state.apply(RunInput::Voided(pair)), []);
                    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(pair));
                    assert_eq!(settings.get(&pair), Some(&state.settings(pair)));
                }
            }
            for place in order {
                let pair = 4 * round + place;
                let results = [GameResult::Win, GameResult::Loss, GameResult::Draw];
                let result = |n: u64| results[(n % 3) as usize];
                let tally = tally(pair, [result(pair), result(pair / 3)]);
                for _ in 0..=u64::from(twice) {
                    let effects = state.apply(RunInput::Committed(tally));
                    found.extend(iterated(&effects).into_iter().cloned());
                }
            }
        }
        assert_eq!(state.ending(), Some(RunEnd::Complete));
        (found, settings)
    };
    let calm = play(&[0, 1, 2, 3], false);
    assert_eq!(calm.0.len(), 6);
    assert_eq!(play(&[3, 1, 2, 0], true), calm);
}

#[test]
fn a_reversed_pair_counts_for_the_same_side() {
    let score = |engines| {
        let mut state = tuned();
        let tally = |pair| PairTally { engines, ..won(pair) };
        state.apply(RunInput::Committed(tally(0)));
        iterated(&state.apply(RunInput::Committed(tally(1))))[0].score
    };
    assert_eq!((score([0, 1]), score([1, 0])), (4, -4));
}

#[test]
fn a_stop_abandons_pairs_in_flight() {
    let end = Effect::End(RunEnd::Interrupted);
    for draining in [false, true] {
        let mut state = run(9, None);
        started(&mut state, 2);
        if draining {
            state.apply(RunInput::Drain);
        }
        assert_eq!(state.apply(RunInput::Stop), [Effect::CancelAll, end.clone()]);
        assert_eq!(state.apply(RunInput::Stop), []);
    }
    assert_eq!(run(9, None).apply(RunInput::Stop), [end]);
}
