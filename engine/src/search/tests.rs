//! Tests of the search as a whole.

use super::*;
use crate::chess::uci_move::{CastlingForm, format};
use crate::chess::{Position, fen};
use crate::eval::Variant;
use crate::eval::score::{MATE, mate_distance_moves, mate_in};
use crate::tt::Entry;

fn find(
    configuration: impl Into<Configuration>,
    position: Position,
    limits: &Limits,
    memory: &mut Memory,
) -> SearchResult {
    let request = Request {
        game: &Game::new(position),
        limits,
        timer: &Timer::start(None),
        signals: &Signals::default(),
    };
    search(configuration, request, memory, &mut |_| {})
}

/// Returns configurations of all evaluations with the default search, and of all other searches
/// with their own evaluations.
fn configurations() -> impl Iterator<Item = Configuration> {
    let searches = Personality::ALL.into_iter().filter(|&one| one != Personality::default());
    Variant::ALL.into_iter().map(Configuration::from).chain(searches.map(Configuration::from))
}

fn text(result: &SearchResult) -> String {
    result.line.first().map_or(String::new(), |&mv| format(mv, CastlingForm::KingTo))
}

#[test]
fn mates_are_found() {
    for (fen, moves, best) in [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1, "a1a8"),
        ("7k/6pp/8/6N1/8/8/1Q6/K7 w - - 0 1", 2, ""),
        ("r1bq2r1/b4pk1/p1pp1p2/1p2pP2/1P2P1PB/3P4/1PPQ2P1/R3K2R w KQ - 0 1", 2, "d2h6"),
        ("8/8/8/8/8/5k2/7q/5K2 b - - 0 1", 1, ""),
        ("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1", 3, "f8c5"),
    ] {
        for configuration in configurations() {
            let mut memory = Memory::new(4).unwrap();
            let limits = Limits { mate: Some(moves), depth: Some(20), ..Limits::default() };
            let result = find(configuration, fen::parse(fen).unwrap(), &limits, &mut memory);
            let found = mate_distance_moves(result.score);
            assert!(
                found.is_some_and(|found| 0 < found && found <= moves as i32),
                "{fen} {configuration:?} {result:?}"
            );
            assert!(best.is_empty() || text(&result) == best, "{fen} {result:?}");
        }
    }
}

#[test]
fn a_mate_is_announced_with_its_variation() {
    let mut announced = 0;
    let mut cut = 0;
    for fen in [
        "8/8/8/3k4/8/8/1R6/K6R w - - 0 1",
        "3r2k1/5ppp/8/8/8/8/2Q2PPP/4R1K1 w - - 0 1",
        "8/2p5/8/1P1k4/8/3K4/2P2R2/8 w - - 0 1",
    ] {
        let mut memory = Memory::new(4).unwrap();
        let mut game = Game::new(fen::parse(fen).unwrap());
        while !game.position().legal_moves().is_empty() && game.moves().len() < 80 {
            let limits = Limits { nodes: Some(8_000), ..Limits::default() };
            let timer = Timer::start(None);
            let signals = Signals::default();
            let request =
                Request { game: &game, limits: &limits, timer: &timer, signals: &signals };
            let result = search(Variant::Palimpsest, request, &mut memory, &mut |report| {
                if report.bound == Bound::Exact && is_mate(report.score) {
                    announced += 1;
                    cut += i32::from(report.line.len() as i32 != MATE - report.score.abs());
                }
            });
            game.play(result.line[0]);
        }
    }
    // A few lines are incomplete, because table entries on the way to the mate can be replaced.
    assert!(announced > 1_000 && cut * 100 < announced, "{cut} of {announced}");
}

#[test]
fn nodes_are_limited_exactly_and_results_repeat() {
    let position =
        fen::parse("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1").unwrap();
    for personality in Personality::ALL {
        for nodes in [1, 2, 17, 1_000, 20_011] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let mut memory = Memory::for_personality(personality, 2).unwrap();
            let first = find(personality, position, &limits, &mut memory);
            assert_eq!(first.nodes, nodes, "{personality:?}");
            memory.clear();
            assert_eq!(find(personality, position, &limits, &mut memory), first);
            let mut fresh = Memory::new(2).unwrap();
            assert_eq!(find(personality, position, &limits, &mut fresh), first);
        }
    }
}

#[test]
fn the_line_is_legal_and_the_move_allowed() {
    for personality in Personality::ALL {
        let limits = Limits { depth: Some(6), ..Limits::default() };
        let mut memory = Memory::for_personality(personality, 2).unwrap();
        let mut position = Position::startpos();
        let line = find(personality, position, &limits, &mut memory).line;
        assert!(line.len() > 1, "an answer is expected: {personality:?}");
        for mv in line {
            assert!(position.is_legal(mv), "{personality:?}");
            position = position.play(mv);
        }
        let position = Position::startpos();
        let only = position.legal_moves()[7];
        let limits = Limits { depth: Some(4), search_moves: vec![only], ..Limits::default() };
        let found = find(personality, position, &limits, &mut memory);
        assert_eq!((found.line.first(), found.depth), (Some(&only), 4), "{personality:?}");
    }
}

#[test]
fn ended_games_have_no_move() {
    for (fen, score) in
        [("k7/2Q5/8/8/8/8/8/7K b - - 0 1", DRAW), ("R3k3/8/4K3/8/8/8/8/8 b - - 0 1", mated_in(0))]
    {
        for personality in Personality::ALL {
            let mut memory = Memory::for_personality(personality, 1).unwrap();
            let limits = Limits::default();
            let result = find(personality, fen::parse(fen).unwrap(), &limits, &mut memory);
            assert_eq!((result.line.len(), result.score), (0, score), "{fen} {personality:?}");
        }
    }
}

#[test]
fn a_stored_mate_is_not_announced_past_the_fifty_move_rule() {
    let promised = |clock: u32| {
        let text = format!("8/8/8/3k4/8/8/1R6/K6R w - - {clock} 90");
        let position = fen::parse(&text).unwrap();
        let mut memory = Memory::new(1).unwrap();
        let SearchState::Palimpsest { table, .. } = &mut memory.state else {
            panic!("not the default")
        };
        table.new_search();
        for &mv in position.legal_moves().iter() {
            let score = mated_in(20);
            let entry = Entry {
                mv: None,
                score,
                evaluation: None,
                depth: 60,
                bound: Bound::Exact,
                pv: false,
            };
            table.store(position.play(mv).key(), entry);
        }
        let limits = Limits { depth: Some(1), ..Limits::default() };
        find(Variant::Palimpsest, position, &limits, &mut memory).score
    };
    assert_eq!(promised(0), mate_in(21));
    assert_eq!(promised(79), mate_in(21));
    assert!(!is_mate(promised(80)));
}

/// Returns the number of nodes and the score after each iteration.
fn iterations(configuration: Configuration, position: Position) -> Vec<(u64, Score)> {
    let request = Request {
        game: &Game::new(position),
        limits: &Limits { nodes: Some(80_000), ..Limits::default() },
        timer: &Timer::start(None),
        signals: &Signals::default(),
    };
    let mut memory = Memory::for_personality(configuration.personality, 1).unwrap();
    let mut iterations = Vec::new();
    search(configuration, request, &mut memory, &mut |report| {
        iterations.push((report.nodes, report.score))
    });
    iterations
}

#[test]
fn every_feature_of_a_search_changes_it() {
    let positions = [
        "r2qr1k1/pp3pp1/2b1p3/4P2p/1BP1n3/P2Q2P1/4PPBP/R4RK1 b - - 2 17",
        "8/k5P1/8/p2p4/8/2p5/K5p1/8 w - - 0 1",
        "8/5k2/8/3p4/3P4/3K4/8/8 w - - 0 1",
    ]
    .map(|text| fen::parse(text).unwrap());
    for personality in Personality::ALL {
        let all_features = Configuration::from(personality);
        let usual = positions.map(|position| iterations(all_features, position));
        for feature in personality.features() {
            // Ageing has an effect only if the table is full and the game continues. In this test,
            // the table is not full, and no move is played.
            if feature.name == "hash_ageing" {
                continue;
            }
            let without = all_features.without(feature.name).unwrap();
            let mut pairs = positions.iter().zip(&usual);
            let changes = pairs.any(|(&position, usual)| iterations(without, position) != *usual);
            assert!(changes, "{personality:?} {}", feature.name);
        }
    }
}

#[test]
fn null_windows_hardly_change_scores() {
    // These features depend on the search window, so null windows change the scores legitimately.
    let off =
        "hash,null_move,futility,extended_futility,razoring,quiescence_content,quiescence_lazy";
    let usual = Configuration::from(Personality::Rdchess);
    let null_windows = usual.without(off).unwrap();
    let full_windows = usual.without(&format!("{off},negascout")).unwrap();
    let limits = Limits { depth: Some(3), ..Limits::default() };
    let score = |configuration: Configuration, position| {
        let mut memory = Memory::for_personality(configuration.personality, 1).unwrap();
        find(configuration, position, &limits, &mut memory).score
    };
    let positions = || crate::eval::palimpsest::tests::positions().into_iter().step_by(40);
    let differ = positions()
        .filter(|&position| score(null_windows, position) != score(full_windows, position));
    let differ = differ.count();
    assert!(differ * 50 < positions().count(), "{differ}");
}

#[test]
fn a_lost_side_seeks_repetition() {
    // White is far behind, but has a perpetual check.
    let position = fen::parse("6k1/5p2/8/4Q3/8/8/q4r1P/7K w - - 0 1").unwrap();
    let limits = Limits { depth: Some(10), ..Limits::default() };
    for personality in [Personality::Palimpsest, Personality::Rdchess] {
        let mut memory = Memory::for_personality(personality, 4).unwrap();
        let result = find(personality, position, &limits, &mut memory);
        assert_eq!(result.score, DRAW, "{result:?}");
    }
}

#[test]
fn a_stop_signal_ends_the_search() {
    let signals = Signals::default();
    signals.stop();
    let request = Request {
        game: &Game::new(Position::startpos()),
        limits: &Limits::default(),
        timer: &Timer::start(None),
        signals: &signals,
    };
    for personality in Personality::ALL {
        let mut memory = Memory::for_personality(personality, 1).unwrap();
        let result = search(personality, request, &mut memory, &mut |_| {});
        assert_eq!(result.depth, 1, "{personality:?}");
    }
}

/// Returns the result of a search with `threads` threads.
fn find_with(threads: usize, limits: &Limits, memory: &mut Memory) -> SearchResult {
    memory.set_threads(threads);
    let result = find(Configuration::default(), Position::startpos(), limits, memory);
    assert_eq!(result.threads, threads);
    result
}

#[test]
fn threads_share_the_nodes_exactly() {
    for threads in [1, 2, 5] {
        for nodes in [1, 600, 20_011] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let result = find_with(threads, &limits, &mut Memory::new(2).unwrap());
            assert_eq!(result.nodes, nodes, "{threads}");
        }
    }
}

#[test]
fn one_thread_repeats_its_search_after_any_other_search() {
    let limits = Limits { nodes: Some(5_000), ..Limits::default() };
    let expected = find_with(1, &limits, &mut Memory::new(2).unwrap());
    let mut memory = Memory::new(2).unwrap();
    find_with(4, &limits, &mut memory);
    memory.clear();
    assert_eq!(find_with(1, &limits, &mut memory), expected);
}

#[test]
fn threads_finish_the_requested_depth() {
    for threads in [1, 3] {
        let limits = Limits { depth: Some(7), ..Limits::default() };
        let result = find_with(threads, &limits, &mut Memory::new(2).unwrap());
        assert_eq!((result.depth, result.line.is_empty()), (7, false), "{threads}");
    }
}

#[test]
fn the_first_of_several_lines_is_the_result() {
    let moves = 3;
    let limits = Limits { depth: Some(4), lines: Some(moves), ..Limits::default() };
    let request = Request {
        game: &Game::new(fen::parse("7k/6pp/8/6N1/8/8/1Q6/K7 w - - 0 1").unwrap()),
        limits: &limits,
        timer: &Timer::start(None),
        signals: &Signals::default(),
    };
    let mut reported: Vec<(u32, usize, Move, Score)> = Vec::new();
    let result =
        search(Personality::Palimpsest, request, &mut Memory::new(2).unwrap(), &mut |report| {
            reported.push((report.depth, report.rank, report.line[0], report.score));
        });
    assert_eq!(reported.len(), 4 * moves);
    for iteration in reported.chunks(moves) {
        let ranks: Vec<usize> = iteration.iter().map(|line| line.1).collect();
        assert_eq!(ranks, [1, 2, 3]);
        assert!(iteration.is_sorted_by(|a, b| a.3 >= b.3), "{iteration:?}");
        assert!(iteration[0].2 != iteration[1].2 && iteration[1].2 != iteration[2].2);
    }
    assert_eq!(mate_distance_moves(result.score), Some(1));
    assert_eq!(result.line[0], reported[reported.len() - moves].2);
}

#[test]
fn every_experiment_changes_the_search() {
    let positions = [
        "r2qr1k1/pp3pp1/2b1p3/4P2p/1BP1n3/P2Q2P1/4PPBP/R4RK1 b - - 2 17",
        "8/k5P1/8/p2p4/8/2p5/K5p1/8 w - - 0 1",
        "8/5k2/8/3p4/3P4/3K4/8/8 w - - 0 1",
        "r1bq1rk1/ppp2p2/3b3p/6p1/4N3/3BBQ2/PPP2PPP/R4RK1 b - - 0 14",
    ]
    .map(|text| fen::parse(text).unwrap());
    for variant in Variant::ALL {
        let personality = match variant {
            Variant::Micromax => Personality::Micromax,
            _ => Personality::Rdchess,
        };
        let usual = Configuration::new(personality, Some(variant));
        for experiment in variant.experiments() {
            // This experiment has an effect only after moves have been played, and this test plays
            // no moves.
            if experiment.name == "kept_placement" {
                continue;
            }
            let tried = usual.trying(experiment.name).unwrap();
            let changes = positions
                .iter()
                .any(|&position| iterations(tried, position) != iterations(usual, position));
            assert!(changes, "{variant:?} {}", experiment.name);
        }
    }
}

#[test]
fn kept_placement_shifts_every_score_alike() {
    let mut game = Game::new(Position::startpos());
    for text in ["e2e4", "a7a6", "d2d4"] {
        game.play(
            crate::chess::uci_move::parse(text, game.position(), CastlingForm::KingTo).unwrap(),
        );
    }
    let usual = Configuration::from(Personality::Micromax);
    let [usual, kept] = [usual, usual.trying("kept_placement").unwrap()].map(|configuration| {
        let limits = Limits { depth: Some(4), ..Limits::default() };
        let request = Request {
            game: &game,
            limits: &limits,
            timer: &Timer::start(None),
            signals: &Signals::default(),
        };
        search(configuration, request, &mut Memory::new(4).unwrap(), &mut |_| {})
    });
    // The kept gains of the pawn moves are 15 and 15 for White, and 4 for Black.
    assert_eq!((kept.line, kept.nodes), (usual.line, usual.nodes));
    assert_eq!(kept.score - usual.score, 4 - 15 - 15);
}

#[test]
fn a_piece_before_its_pawn_loses_in_search_and_evaluation() {
    let gain = |mut evaluator: Box<dyn Evaluator>, before: &Position, mv: Move| {
        evaluator.reset(&Game::new(*before));
        let root = evaluator.evaluate(before);
        evaluator.push(before, mv);
        -evaluator.evaluate(&before.play(mv)) - root
    };

    // The king moves to the square in front of the pawn, or leaves this square. The score for the
    // king's distance from the centre changes by 5.
    for (text, mv, usual, tried) in [
        ("k7/8/8/8/8/8/4PK2/8 w - - 0 1", "f2e3", 5, -4),
        ("k7/8/8/8/8/4K3/4P3/8 w - - 0 1", "e3f2", -5, 4),
    ] {
        let position = fen::parse(text).unwrap();
        let mv = crate::chess::uci_move::parse(mv, &position, CastlingForm::KingTo).unwrap();
        for (experiment, expected) in [("", usual), ("blocked_pawn", tried)] {
            let configuration =
                Configuration::from(Personality::Micromax).trying(experiment).unwrap();
            assert_eq!(gain(configuration.eval.evaluator(), &position, mv), expected, "{text}");
            let limits = Limits { depth: Some(1), search_moves: vec![mv], ..Limits::default() };
            let result = find(configuration, position, &limits, &mut Memory::new(1).unwrap());
            // The pawn is worth 99, and a later gain is reduced by 1.
            let delayed = Score::from(expected > 0);
            assert_eq!(result.score, 99 + expected - delayed, "{text} {experiment}");
        }
    }
}
