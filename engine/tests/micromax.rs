//! Tests of micro-Max against values from the original program: gains of single moves, and complete
//! searches.

use std::sync::atomic::{AtomicUsize, Ordering};

use palimpsest::chess::uci_move::{CastlingForm, format, parse};
use palimpsest::chess::{Game, Move, Position, fen};
use palimpsest::eval::micromax::{Gain, gain};
use palimpsest::eval::{Score, Variant};
use palimpsest::search::micromax::original_score;
use palimpsest::search::{Configuration, Limits, Memory, Personality, Request, Signals, search};
use palimpsest::time::Timer;
use serde_json::Value;

const MOVES: &str = include_str!("data/micromax-moves.json");
const TRACE: &str = include_str!("data/micromax-trace.json");

/// Number of nodes after which a traced search is stopped at the end of an iteration.
const TRACED_NODES: u64 = 150_000;

fn rows(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("the data is JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("the data holds a text here")
}

fn number(value: &Value) -> Score {
    value.as_i64().and_then(|number| number.try_into().ok()).expect("the data holds a score here")
}

fn find(position: &Position, text: &str) -> Move {
    parse(text, position, CastlingForm::KingTo).expect("the data holds legal moves")
}

fn game(moves: &str) -> Game {
    let mut game = Game::new(Position::startpos());
    for text in moves.split_ascii_whitespace() {
        game.play(find(game.position(), text));
    }
    game
}

#[test]
fn gains_of_moves_match_the_original() {
    let rows = rows(MOVES);
    assert_eq!(rows.len(), 10);
    for row in rows {
        let position = fen::parse(text(&row[0])).unwrap();
        let expected = Gain { permanent: number(&row[2]), transient: number(&row[3]) };
        assert_eq!(gain(&position, find(&position, text(&row[1]))), expected, "{row}");
    }
}

/// Returns the scores before the first move and after each move of a line, from the point of view
/// of the side to move. The line starts at the current position of the game.
fn scores_along(game: &Game, line: &str) -> Vec<Score> {
    let mut evaluator = Variant::Micromax.evaluator();
    evaluator.reset(game);
    let mut position = *game.position();
    let mut scores = vec![evaluator.evaluate(&position)];
    for text in line.split_ascii_whitespace() {
        let mv = find(&position, text);
        evaluator.push(&position, mv);
        position = position.play(mv);
        scores.push(evaluator.evaluate(&position));
    }
    scores
}

#[test]
fn the_score_is_the_sum_of_gains_along_the_line() {
    // The first two moves gain 15 each. The third move captures a pawn (99), but moves away from
    // the centre (−1), and the capturing pawn had no neighbours (−9).
    let scores = scores_along(&game(""), "e2e4 d7d5 e4d5");
    assert_eq!(scores, [0, -15, 0, -(99 - 1 - 9)]);
    // After game moves, only the value of the pawn remains in the score. The score depends on the
    // path, not only on the position.
    let scores = scores_along(&game("e2e4 d7d5 e4d5"), "");
    assert_eq!(scores, [-99]);
    let detour = scores_along(&game(""), "g1f3 b8c6 f3g1 c6b8");
    assert_eq!(detour, [0, -13, -2, -(13 - 15 - 13), 0]);
    // The score of a game after a promotion contains the material at the start (99) and the gain of
    // the promotion (799).
    let mut lone = Game::new(fen::parse("4k3/P7/8/8/8/8/8/4K3 w - - 0 1").unwrap());
    assert_eq!(scores_along(&lone, ""), [99]);
    lone.play(find(lone.position(), "a7a8q"));
    assert_eq!(scores_along(&lone, ""), [-99 - 799]);
}

/// Returns the number of nodes, the score and the best move after each iteration.
fn trace(game: &Game, memory: &mut Memory) -> Vec<(u64, Score, Option<String>)> {
    let signals = Signals::default();
    let request =
        Request { game, limits: &Limits::default(), timer: &Timer::start(None), signals: &signals };
    let mut iterations = Vec::new();
    search(Personality::Micromax, request, memory, &mut |report| {
        if report.nodes >= TRACED_NODES {
            signals.stop();
        }
        let best = report.line.first().map(|&mv| format(mv, CastlingForm::KingTo));
        let best = best.map(|text| text[..4].to_owned());
        iterations.push((report.nodes, original_score(report.score), best));
    });
    iterations
}

#[test]
fn searches_match_the_original_node_for_node() {
    let rows = rows(TRACE);
    assert_eq!(rows.len(), 32);
    let next = AtomicUsize::new(0);
    let work = || {
        // The table is so large that no position is dropped, as in the original program.
        let mut memory = Memory::for_personality(Personality::Micromax, 64).unwrap();
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let game = game(text(&row[0]));
            let score = Configuration::from(Personality::Micromax).eval.explain_game(&game).value;
            assert_eq!(score, number(&row[1]), "{row}");
            let expected = row[2].as_array().expect("iterations are a list").iter();
            let expected: Vec<_> = expected
                .map(|iteration| {
                    let nodes = iteration[0].as_u64().expect("nodes are a count");
                    (nodes, number(&iteration[1]), iteration[2].as_str().map(str::to_owned))
                })
                .collect();
            assert_eq!(trace(&game, &mut memory), expected, "{row}");
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(4));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
}

#[test]
fn illegal_castling_at_the_root_counts_its_node() {
    let moves = "b2b4 e7e6 c1b2 d7d5 g1f3 c7c5 b4c5 f8c5 b2g7 c5f2 e1f2 d8b6 e2e3 g8f6 g7h8 b6b2 \
                 b1c3 b8c6 h8f6 c6b4 d1b1 b2b1 a1b1 b4c2 f1b5 c8d7 b5d3 c2a3 b1b7 d7c6 b7b3 a3c4 \
                 d3c4 d5c4 b3b4 c6d5 c3d5 e6d5 h1b1";
    let mut memory = Memory::for_personality(Personality::Micromax, 64).unwrap();
    let nodes: Vec<_> = trace(&game(moves), &mut memory).iter().map(|row| row.0).collect();
    // Expected node counts are from the original program.
    assert_eq!(nodes[1..], [16, 114, 2_378, 22_891, 118_308, 270_491]);
}

#[test]
fn a_score_that_looks_like_a_mate_does_not_end_the_game() {
    let game = Game::new(fen::parse("k7/8/8/8/8/8/1QQQ4/K7 w - - 0 1").unwrap());
    let request = Request {
        game: &game,
        limits: &Limits { depth: Some(5), ..Limits::default() },
        timer: &Timer::start(None),
        signals: &Signals::default(),
    };
    let mut memory = Memory::for_personality(Personality::Micromax, 1).unwrap();
    let result = search(Personality::Micromax, request, &mut memory, &mut |_| {});
    assert_eq!((original_score(result.score), result.depth), (3999, 98), "{result:?}");
    let won = game.position().play(result.line[0]);
    assert!(won.in_check() && won.legal_moves().is_empty(), "{result:?}");
}

#[test]
fn castling_out_of_a_pawns_check_is_not_played() {
    // The original program does not detect that a pawn attacks an empty square.
    let game = Game::new(fen::parse("4k3/8/8/8/8/8/3p4/4K2R w K - 0 1").unwrap());
    for nodes in [1, 50, 5_000] {
        let request = Request {
            game: &game,
            limits: &Limits { nodes: Some(nodes), ..Limits::default() },
            timer: &Timer::start(None),
            signals: &Signals::default(),
        };
        let mut memory = Memory::for_personality(Personality::Micromax, 1).unwrap();
        let result = search(Personality::Micromax, request, &mut memory, &mut |_| {});
        assert_eq!(result.nodes, nodes);
        assert!(game.position().is_legal(result.line[0]), "{result:?}");
    }
}
