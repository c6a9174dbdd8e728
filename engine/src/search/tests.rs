//! Tests of the search as a whole.

use super::*;
use crate::chess::uci_move::{CastlingForm, format};
use crate::chess::{Position, fen};
use crate::eval::Variant;
use crate::eval::score::mate_distance_moves;

fn find(variant: Variant, position: Position, limits: &Limits, memory: &mut Memory) -> Finding {
    let request = Request {
        game: &Game::new(position),
        limits,
        timer: &Timer::start(None),
        signals: &Signals::default(),
    };
    search(variant, request, memory, &mut |_| {})
}

fn text(finding: &Finding) -> String {
    finding.line.first().map_or(String::new(), |&mv| format(mv, CastlingForm::KingTo))
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
        for variant in Variant::ALL {
            let mut memory = Memory::new(4).unwrap();
            let limits = Limits { mate: Some(moves), depth: Some(20), ..Limits::default() };
            let finding = find(variant, fen::parse(fen).unwrap(), &limits, &mut memory);
            let found = mate_distance_moves(finding.score);
            assert!(found.is_some_and(|found| 0 < found && found <= moves as i32), "{fen}");
            assert!(best.is_empty() || text(&finding) == best, "{fen} {finding:?}");
        }
    }
}

#[test]
fn nodes_are_limited_exactly_and_results_repeat() {
    let position =
        fen::parse("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1").unwrap();
    for nodes in [1, 2, 17, 1_000, 20_011] {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let mut memory = Memory::new(2).unwrap();
        let first = find(Variant::Palimpsest, position, &limits, &mut memory);
        assert_eq!(first.nodes, nodes);
        memory.clear();
        assert_eq!(find(Variant::Palimpsest, position, &limits, &mut memory), first);
        let mut fresh = Memory::new(2).unwrap();
        assert_eq!(find(Variant::Palimpsest, position, &limits, &mut fresh), first);
    }
}

#[test]
fn the_line_is_legal_and_the_move_allowed() {
    let limits = Limits { depth: Some(8), ..Limits::default() };
    let mut memory = Memory::new(2).unwrap();
    let mut position = Position::startpos();
    for &mv in &find(Variant::Palimpsest, position, &limits, &mut memory).line {
        assert!(position.is_legal(mv));
        position = position.play(mv);
    }
    let position = Position::startpos();
    let only = position.legal_moves()[7];
    let limits = Limits { depth: Some(4), search_moves: vec![only], ..Limits::default() };
    assert_eq!(find(Variant::Palimpsest, position, &limits, &mut memory).line.first(), Some(&only));
}

#[test]
fn ended_games_have_no_move() {
    for (fen, score) in
        [("k7/2Q5/8/8/8/8/8/7K b - - 0 1", DRAW), ("R3k3/8/4K3/8/8/8/8/8 b - - 0 1", mated_in(0))]
    {
        let mut memory = Memory::new(1).unwrap();
        let limits = Limits::default();
        let finding = find(Variant::Palimpsest, fen::parse(fen).unwrap(), &limits, &mut memory);
        assert_eq!((finding.line.len(), finding.score), (0, score), "{fen}");
    }
}

#[test]
fn a_lost_side_repeats() {
    // White is far behind but checks for ever.
    let position = fen::parse("6k1/5p2/8/4Q3/8/8/q4r1P/7K w - - 0 1").unwrap();
    let limits = Limits { depth: Some(10), ..Limits::default() };
    let mut memory = Memory::new(4).unwrap();
    let finding = find(Variant::Palimpsest, position, &limits, &mut memory);
    assert_eq!(finding.score, DRAW, "{finding:?}");
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
    let mut memory = Memory::new(1).unwrap();
    let finding = search(Variant::Palimpsest, request, &mut memory, &mut |_| {});
    assert_eq!(finding.depth, 1);
}
