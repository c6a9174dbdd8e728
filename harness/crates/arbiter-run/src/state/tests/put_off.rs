//! Pairs that were void twice because of CPU contention are played and counted after all other
//! pairs.

use super::*;

/// Returns a test that is decided after about twenty pairs.
fn long_test() -> Option<Sprt> {
    Some(Sprt::new(0.0, 50.0, 0.05, 0.05, Model::Normalized).unwrap())
}

/// Returns a pair with a result that depends on the number of the pair, so that the LLR depends on
/// the order of the pairs.
fn mixed(pair: u64) -> PairTally {
    let results = [GameResult::Win, GameResult::Draw, GameResult::Loss, GameResult::Win];
    tally(pair, [results[(pair % 4) as usize], results[(pair / 4 % 3) as usize]])
}

#[test]
fn postponed_pairs_run_last_with_lower_concurrency() {
    let mut state = run(5, None);
    started(&mut state, 3);
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(0)))), [0]);
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(2)))), Vec::<u64>::new());
    // No other pair waits for this pair.
    assert_eq!(counted_pairs(&state.apply(RunInput::PutOff(1))), [2]);
    assert_eq!(state.apply(RunInput::PutOff(4)), []);
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(3));
    assert_eq!(state.apply(RunInput::Idle), [Effect::Ease]);
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(1));
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(4));
    assert_eq!(state.apply(RunInput::Idle), []);
    // The pairs count last, in schedule order.
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(4)))), Vec::<u64>::new());
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(1)))), Vec::<u64>::new());
    assert_eq!((state.counted_pairs().collect::<Vec<_>>(), state.ending()), (vec![0, 2], None));
    let effects = state.apply(RunInput::Committed(won(3)));
    assert_eq!(counted_pairs(&effects), [3, 1, 4]);
    assert_eq!(effects.last(), Some(&Effect::End(RunEnd::Complete)));
    // Files contain the pairs in this order, which is checked when the run is resumed.
    assert_eq!(state.counted_pairs().collect::<Vec<_>>(), [0, 2, 3, 1, 4]);
    assert_eq!(state.counts().games(), 10);
    assert_eq!(state.apply(RunInput::Committed(won(1))), [], "it counts once");
}

#[test]
fn the_order_in_which_pairs_end_has_no_effect() {
    let late = [3, 7, 8];
    let play = |order: &[u64]| {
        let mut state = run(12, long_test());
        started(&mut state, 12);
        late.iter().for_each(|pair| drop(state.apply(RunInput::PutOff(*pair))));
        let found: Vec<Effect> =
            order.iter().flat_map(|pair| state.apply(RunInput::Committed(mixed(*pair)))).collect();
        (found, state.counts().clone(), state.sprt_statuses().clone())
    };
    let in_order = play(&[0, 1, 2, 4, 5, 6, 9, 10, 11, 3, 7, 8]);
    assert_eq!(counted_pairs(&in_order.0), [0, 1, 2, 4, 5, 6, 9, 10, 11, 3, 7, 8]);
    assert_eq!(play(&[11, 3, 0, 8, 2, 1, 9, 7, 4, 10, 6, 5]), in_order);
    assert_eq!(play(&[8, 7, 3, 11, 10, 9, 6, 5, 4, 2, 1, 0]), in_order);
}

#[test]
fn a_run_with_postponed_pairs_can_be_resumed() {
    let mut original = run(6, long_test());
    started(&mut original, 6);
    [1, 4].into_iter().for_each(|pair| drop(original.apply(RunInput::PutOff(pair))));
    [0, 2, 3, 5]
        .into_iter()
        .for_each(|pair| drop(original.apply(RunInput::Committed(mixed(pair)))));
    assert_eq!(original.apply(RunInput::Idle), [Effect::Ease]);
    assert_eq!(started_pair(original.apply(RunInput::Idle)), Some(1));
    for on_disk in [vec![], vec![1], vec![4]] {
        // The store returns pairs in schedule order, after the pairs that were put off.
        let mut resumed = run(6, long_test());
        [1, 4].into_iter().for_each(|pair| drop(resumed.apply(RunInput::PutOff(pair))));
        for pair in (0..6).filter(|pair| ![1, 4].contains(pair) || on_disk.contains(pair)) {
            resumed.apply(RunInput::Committed(mixed(pair)));
        }
        assert_eq!(resumed.apply(RunInput::Idle), [Effect::Ease]);
        let mut left = Vec::new();
        while let Some(pair) = started_pair(resumed.apply(RunInput::Idle)) {
            left.push(pair);
        }
        let expected: Vec<u64> =
            [1, 4].into_iter().filter(|pair| !on_disk.contains(pair)).collect();
        assert_eq!(left, expected);
        let mut ended = Vec::new();
        for pair in left {
            ended.extend(resumed.apply(RunInput::Committed(mixed(pair))));
        }
        let mut uninterrupted = original.clone();
        [1, 4]
            .into_iter()
            .for_each(|pair| drop(uninterrupted.apply(RunInput::Committed(mixed(pair)))));
        assert_eq!(ended.last(), Some(&Effect::End(RunEnd::Complete)));
        assert_eq!(resumed.counts(), uninterrupted.counts());
        assert_eq!(resumed.sprt_statuses(), uninterrupted.sprt_statuses());
    }
}

#[test]
fn a_verdict_does_not_wait_for_postponed_pairs() {
    let mut state = run(60, Some(sprt()));
    started(&mut state, 60);
    state.apply(RunInput::PutOff(1));
    let mut effects = Vec::new();
    for pair in (0..60).filter(|pair| *pair != 1) {
        effects.extend(state.apply(RunInput::Committed(won(pair))));
    }
    assert_eq!(state.ending(), Some(RunEnd::AcceptedH1));
    assert!(effects.contains(&Effect::CancelAll) && !state.counted_pairs().any(|pair| pair == 1));
    assert_eq!(state.apply(RunInput::Committed(won(1))), [], "it counts no more");
}

#[test]
fn the_last_postponed_pair_may_decide_the_test() {
    let mut free = run(60, Some(sprt()));
    (0..60).for_each(|pair| drop(free.apply(RunInput::Committed(won(pair)))));
    // The run has as many pairs as the verdict needs, and the first pair is played last.
    let needed = free.counted_pairs().count() as u64;
    let mut state = run(needed, Some(sprt()));
    state.apply(RunInput::PutOff(0));
    (1..needed).for_each(|pair| drop(state.apply(RunInput::Committed(won(pair)))));
    assert_eq!(state.ending(), None);
    let effects = state.apply(RunInput::Committed(won(0)));
    assert_eq!(effects.last(), Some(&Effect::End(RunEnd::AcceptedH1)));
    assert_eq!(state.counted_pairs().count() as u64, needed);
    assert_eq!(state.counts(), free.counts());
}

#[test]
fn withdrawn_pairs_stay_postponed() {
    let mut state = run(6, None);
    started(&mut state, 6);
    state.apply(RunInput::PutOff(2));
    [0, 1, 3, 4].into_iter().for_each(|pair| drop(state.apply(RunInput::Committed(won(pair)))));
    state.take_back(&[0, 3].map(won));
    assert_eq!(state.counted_pairs().collect::<Vec<_>>(), [0]);
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(1));
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(4));
    assert_eq!(state.apply(RunInput::Idle), [Effect::Ease]);
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(2));
}

#[test]
fn an_interrupt_leaves_postponed_pairs_for_later() {
    let mut state = run(3, None);
    started(&mut state, 3);
    assert_eq!(state.apply(RunInput::Interrupt), [Effect::Drain]);
    assert_eq!(state.apply(RunInput::PutOff(0)), []);
    [1, 2].into_iter().for_each(|pair| drop(state.apply(RunInput::Committed(won(pair)))));
    assert_eq!(state.ending(), Some(RunEnd::Interrupted));
}
