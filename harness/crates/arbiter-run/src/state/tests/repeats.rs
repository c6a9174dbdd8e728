use super::*;

const BOOK: u64 = 6;

/// Returns a run of two engines from a book of six openings.
fn from_book(pairs: u64, sprt: Option<Sprt>) -> RunState {
    RunState { repeats: Repeats::new(Some(BOOK), 0), ..run(pairs, sprt) }
}

/// Returns a pair whose games are identified by numbers.
fn pair(pair: u64, games: [u64; 2]) -> PairTally {
    let mut tally = won(pair);
    tally.first.hash = Some(games[0]);
    tally.second.iter_mut().for_each(|game| game.hash = Some(games[1]));
    tally
}

/// Returns the pair that deterministic engines play from an opening.
fn deterministic(number: u64) -> PairTally {
    let opening = number % BOOK;
    pair(number, [2 * opening, 2 * opening + 1])
}

/// Plays until the end; returns the number of counted pairs, including repeats.
fn play(state: &mut RunState, tally: impl Fn(u64) -> PairTally) -> usize {
    while state.ending().is_none() {
        let number = started_pair(state.apply(RunInput::Idle)).expect("the run goes on");
        state.apply(RunInput::Committed(tally(number)));
    }
    state.counted_pairs().count()
}

fn sums(state: &RunState) -> (u64, u64, u64) {
    let counts = state.counts();
    (counts.distinct_games, counts.repeated_pairs, counts.main_encounter().pairs.pairs())
}

#[test]
fn a_pass_of_repeats_ends_the_run() {
    for sprt in [None, Some(Sprt::new(0.0, 1.0, 0.05, 0.05, Model::Normalized).unwrap())] {
        let mut state = from_book(10_000, sprt);
        assert_eq!(play(&mut state, deterministic), 12);
        assert_eq!((state.ending(), sums(&state)), (Some(RunEnd::Complete), (12, 6, 6)));
        assert!(state.counts().is_exhausted);
        assert_eq!(state.evidence().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }
}

#[test]
fn runs_of_varying_engines_are_not_ended_by_repeats() {
    // One game of each pass is new.
    let varied = |number| match number % BOOK {
        3 => pair(number, [100 + number, 7]),
        _ => deterministic(number),
    };
    let mut state = from_book(60, None);
    assert_eq!(play(&mut state, varied), 60);
    // Without the length of the book, the end of a pass is unknown.
    assert_eq!((sums(&state), state.counts().is_exhausted), ((21, 45, 15), false));
    let mut state = run(60, None);
    assert_eq!(play(&mut state, deterministic), 60);
    assert_eq!(sums(&state), (12, 54, 6));
}

#[test]
fn a_pass_begins_with_the_first_opening_of_the_book() {
    let mut state = RunState { repeats: Repeats::new(Some(BOOK), 4), ..run(10_000, None) };
    // Two pairs of the first pass remain, and the second pass has four new pairs.
    assert_eq!(play(&mut state, |number| pair(number, [(number + 4) % BOOK, 9])), 14);
}

#[test]
fn repeats_are_no_evidence_of_a_test() {
    let mut state = run(10_000, Some(sprt()));
    for number in 0..500 {
        state.apply(RunInput::Committed(deterministic(number)));
    }
    let status = state.sprt_statuses()[&[0, 1]];
    let mut once = run(10_000, Some(sprt()));
    for number in 0..BOOK {
        once.apply(RunInput::Committed(deterministic(number)));
    }
    assert_eq!((state.ending(), status), (None, once.sprt_statuses()[&[0, 1]]));
}

#[test]
fn pairs_that_differ_in_colours_result_or_a_game_are_no_repeats() {
    let tallies = |second: PairTally| {
        let mut state = run(9, None);
        state.apply(RunInput::Committed(pair(0, [1, 2])));
        state.apply(RunInput::Committed(second));
        state.counts().repeated_pairs
    };
    assert_eq!(tallies(pair(1, [1, 2])), 1);
    assert_eq!(tallies(pair(1, [1, 3])), 0);
    // Without hashes, repeats are unknown.
    assert_eq!(tallies(won(1)), 0);
    // The first engine won both games: the moves are the same with colours exchanged.
    let exchanged = PairTally { engines: [1, 0], ..pair(1, [1, 2]) };
    assert_eq!(tallies(exchanged), 0);
    let mut drawn = pair(1, [1, 2]);
    drawn.first.result = GameResult::Draw;
    assert_eq!(tallies(drawn), 0);
    // This pair has the same two games in the other order.
    let lost = tally(1, [GameResult::Loss; 2]);
    let mut turned = PairTally { engines: [1, 0], ..lost };
    turned.first.hash = Some(2);
    turned.second.iter_mut().for_each(|game| game.hash = Some(1));
    assert_eq!(tallies(turned), 1);
}

#[test]
fn a_pair_counts_once_per_matchup() {
    let schedule = Schedule::new(Design::round_robin(6), 3, 1);
    let mut state = RunState::new(schedule.clone(), None);
    state.repeats = Repeats::new(Some(2), 0);
    let tally = |number| {
        let engines = schedule.pairing(number).unwrap().engines;
        PairTally { engines, ..pair(number, [1, 2]) }
    };
    // Each encounter ends after the second pass.
    assert_eq!(play(&mut state, tally), 3 * 4);
    let counts = state.counts();
    assert_eq!((counts.repeated_pairs, counts.games()), (9, 6));
    // The table and the ratings have the same counts.
    let games: u64 = state.schedule().ranking().iter().map(|row| row.games).sum();
    assert_eq!(games, 2 * 6);
}

#[test]
fn a_tuning_continues_and_ignores_repeats() {
    let mut state = tuned();
    let played = play(&mut state, |number| pair(number, [1, 2]));
    let all = played as u64;
    let counts = state.counts();
    assert!(counts.repeated_pairs < all && !counts.is_exhausted);
    assert_eq!(counts.main_encounter().pairs.pairs() + counts.repeated_pairs, all);
}

#[test]
fn compat_counts_and_reports_repeats() {
    let mut state = RunState { counts_repeats: true, ..from_book(60, None) };
    assert_eq!(play(&mut state, deterministic), 60);
    assert_eq!(sums(&state), (12, 54, 60));
}
