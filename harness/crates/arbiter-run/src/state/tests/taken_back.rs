//! Counted pairs that are withdrawn and played again.

use super::*;

#[test]
fn withdrawn_pairs_are_replayed_and_recounted() {
    let lost = |pair| tally(pair, [GameResult::Loss; 2]);
    let mut state = run(60, Some(sprt()));
    started(&mut state, 8);
    // Pair 4 is in flight, and pairs 1 and 5 were played by an excluded worker.
    for pair in [0, 1, 2, 3, 5, 6] {
        let tally = if [1, 5].contains(&pair) { lost(pair) } else { won(pair) };
        state.apply(RunInput::Committed(tally));
    }
    assert_eq!(state.counted_pairs().count(), 4);
    let kept: Vec<PairTally> = [0, 2, 3, 6].map(won).to_vec();
    assert!(state.can_take_back());
    state.take_back(&kept);
    assert_eq!(state.counted_pairs().collect::<Vec<_>>(), [0]);
    assert_eq!((state.counts().games(), state.in_flight()), (2, 2));
    // The run continues like a run that was resumed with these pairs.
    let mut resumed = run(60, Some(sprt()));
    kept.iter().for_each(|tally| drop(resumed.apply(RunInput::Committed(*tally))));
    assert_eq!(
        (state.counts(), state.sprt_statuses()),
        (resumed.counts(), resumed.sprt_statuses())
    );
    for pair in [1, 5, 8, 9] {
        assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(pair));
    }
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(1)))), [1, 2, 3]);
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(4)))), [4]);
    assert_eq!(counted_pairs(&state.apply(RunInput::Committed(won(5)))), [5, 6]);
    let mut all_won = run(60, Some(sprt()));
    (0..7).for_each(|pair| drop(all_won.apply(RunInput::Committed(won(pair)))));
    assert_eq!(
        (state.counts(), state.sprt_statuses()),
        (all_won.counts(), all_won.sprt_statuses())
    );
}

#[test]
fn an_encounter_continues_after_its_verdict_is_withdrawn() {
    let mut state = RunState::new(gauntlet(), Some(sprt()));
    started(&mut state, 60);
    (0..30).for_each(|pair| drop(state.apply(RunInput::Committed(met(pair)))));
    let (_, last) = state.stopped[&[0, 1]];
    assert!(last < 30);
    // Without the first pair, no pair of the encounter counts, and the undecided pairs of the
    // encounter are needed again.
    let kept: Vec<PairTally> = (1..30).map(met).collect();
    state.take_back(&kept);
    assert!(state.stopped.is_empty());
    assert_eq!(started_pair(state.apply(RunInput::Idle)), Some(0));
    let effects = state.clone().apply(RunInput::Committed(met(0)));
    assert_eq!(counted_pairs(&effects).first(), Some(&0));
    state.apply(RunInput::Committed(met(0)));
    assert_eq!(state.stopped[&[0, 1]].1, last);
}

#[test]
fn pairs_that_later_pairs_depend_on_are_not_withdrawn() {
    let design = Design { format: Format::Knockout, seeds: 4, ..Design::round_robin(1) };
    assert!(!RunState::new(Schedule::new(design, 4, 1), None).can_take_back());
    let mut over = run(1, None);
    assert!(over.can_take_back());
    over.apply(RunInput::Committed(won(0)));
    assert!(!over.can_take_back(), "nothing changes a run that is over");
}
