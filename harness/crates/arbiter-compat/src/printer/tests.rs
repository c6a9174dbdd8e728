use super::*;
use arbiter_game::outcome::Outcome;
use arbiter_plan::{Request, RunKind};
use arbiter_stats::Trinomial;

/// Returns a game lost by `loser`; engine 0 is White in the first game of a pair.
fn game(game_index: usize, loser: Color) -> GameRecord {
    GameRecord {
        engines: ByColor { white: game_index, black: 1 - game_index },
        fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned(),
        chess960: false,
        moves: Vec::new(),
        outcome: Outcome::lost(loser, Termination::Stall, "stalled"),
        duration: Duration::ZERO,
        ready: ByColor::default(),
        movetime: ByColor::default(),
        late: None,
        waited: ByColor::default(),
        begun_ms: None,
        transcript: None,
    }
}

#[test]
fn a_pair_that_is_played_again_counts_once() {
    let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
    let style = Style::new(Dialect::Cutechess);
    let mut printer = Printer::new(&style, &plan, &[], plan.schedule());
    let pairing = |pair| Pairing { pair, engines: [0, 1], opening: pair };
    // Another pair ends between the games of the tested pair.
    assert!(!printer.add(&pairing(1), 0, &game(0, Color::Black)));
    for loser in [Color::White, Color::White, Color::Black] {
        assert!(!printer.add(&pairing(0), 0, &game(0, loser)));
        assert_eq!((printer.games, printer.counts_now().games()), (2, 2));
    }
    assert!(printer.add(&pairing(0), 1, &game(1, Color::Black)));
    let Trinomial { losses, draws, wins } = printer.counts_now().main_encounter().games;
    assert_eq!((losses, draws, wins), (1, 0, 2));
    assert_eq!((printer.games, printer.finished_pairs().games()), (3, 2));
    let of_engine = |engine: usize| printer.outcomes[engine].values().copied().collect::<Vec<_>>();
    assert_eq!((of_engine(0), of_engine(1)), (vec![1, 2], vec![2, 1]));
}
