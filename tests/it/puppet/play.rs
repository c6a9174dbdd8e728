//! Tests of a well-behaved puppet: it follows the protocol, requires it from the harness, and plays
//! the same moves for the same seed.

use shakmaty::{Chess, Color, Outcome, Position};

use super::greeted;
use crate::support::bench::Bench;
use crate::support::talk::Talk;

/// Returns the move that `talk` plays after `moves`.
fn reply(talk: &mut Talk, moves: &[String]) -> String {
    match moves {
        [] => talk.send("position startpos"),
        _ => talk.send(&format!("position startpos moves {}", moves.join(" "))),
    }
    talk.send("go nodes 1");
    let line = talk.read_until("bestmove").pop().expect("there is a move");
    line.trim_start_matches("bestmove ").to_owned()
}

/// Plays a game of at most `plies` plies.
fn game(white: &mut Talk, black: &mut Talk, plies: usize) -> (Vec<String>, Chess) {
    let mut position = Chess::default();
    let mut moves = Vec::new();
    while moves.len() < plies && position.outcome() == Outcome::Unknown {
        let talk = if position.turn() == Color::White { &mut *white } else { &mut *black };
        let uci = reply(talk, &moves);
        let parsed: shakmaty::uci::UciMove = uci.parse().expect("a move can be parsed");
        let legal = parsed.to_move(&position).expect("a move is legal");
        position.play_unchecked(legal);
        moves.push(uci);
    }
    (moves, position)
}

#[test]
fn the_puppet_replies_while_it_searches() {
    let mut talk = super::started("--name Deep-Thought");
    talk.send("uci");
    let greeting = talk.read_until("uciok");
    assert!(greeting.contains(&"id name Deep-Thought".to_owned()), "{greeting:?}");
    for kind in ["spin", "check", "combo", "string", "button"] {
        let declared = format!(" type {kind}");
        assert!(greeting.iter().any(|line| line.contains(&declared)), "no {kind}");
    }
    talk.send("setoption name Hash value 8");
    talk.send("position startpos");
    talk.send("go infinite");
    talk.read_until("info depth 1 seldepth 1 score cp 0 nodes 1 time 0 pv ");
    talk.assert_silent();
    talk.send("isready");
    talk.read_until("readyok");
    talk.send("stop");
    talk.read_until("bestmove");
    talk.send("quit");
    assert_eq!(talk.exit().code(), Some(0));
}

#[test]
fn the_puppet_exits_at_the_end_of_its_input() {
    let mut talk = greeted("");
    talk.send("position startpos");
    talk.send("go infinite");
    talk.read_until("info");
    talk.hang_up();
    assert_eq!(talk.exit().code(), Some(0));
}

#[test]
fn a_game_depends_on_the_seed_and_not_on_the_process() {
    let play = |seeds: [u64; 2]| {
        let [mut white, mut black] = seeds.map(|seed| greeted(&format!("--seed {seed}")));
        game(&mut white, &mut black, 80).0
    };
    let first = play([1, 2]);
    assert_eq!(first.len(), 80);
    assert_eq!(play([1, 2]), first);
    assert_ne!(play([1, 3]), first);
    // A process that has played before plays the same moves.
    let mut used = greeted("--seed 1");
    game(&mut used, &mut greeted("--seed 9"), 40);
    used.send("ucinewgame");
    assert_eq!(game(&mut used, &mut greeted("--seed 2"), 80).0, first);
}

#[test]
fn a_received_option_changes_the_game() {
    let play = |option: &str| {
        let mut talk = greeted("");
        talk.send(&format!("setoption name {option}"));
        game(&mut talk, &mut greeted("--seed 2"), 40).0
    };
    let plain = play("Hash value 8");
    assert_eq!(play("Style value Normal"), plain);
    assert_ne!(play("Style value Risky"), plain);
}

#[test]
fn greedy_puppets_beat_random_ones() {
    let mut greedy = greeted("--skill greedy");
    let mut wins = 0;
    for seed in 1..=10 {
        let mut random = greeted(&format!("--seed {seed}"));
        let (_, end) = game(&mut greedy, &mut random, 400);
        wins += u32::from(end.is_checkmate() && end.turn() == Color::Black);
    }
    assert!(wins >= 8, "{wins} wins of 10");
}

#[test]
fn castling_follows_the_notation_of_the_variant() {
    let fen = "position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1 moves";
    for (option, accepted) in [("false", "e1g1"), ("true", "e1h1")] {
        let mut talk = greeted("");
        talk.send(&format!("setoption name UCI_Chess960 value {option}"));
        talk.send(&format!("{fen} {accepted}"));
        talk.send("isready");
        talk.read_until("readyok");
    }
}

#[test]
fn received_lines_are_logged() {
    let bench = Bench::new();
    let mut talk = greeted(&format!("--log {}", bench.path("").display()));
    talk.send("isready");
    talk.read_until("readyok");
    talk.send("quit");
    talk.exit();
    let mut entries = std::fs::read_dir(bench.path("")).expect("the folder can be listed");
    let log = entries.next().expect("there is a log").expect("an entry can be read").path();
    assert_eq!(std::fs::read_to_string(log).expect("it is text"), "uci\nisready\nquit\n");
}

#[test]
fn protocol_violations_are_reported() {
    for conversation in [
        "isready",
        "uci\nposition startpos moves e2e5",
        "uci\nposition fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "uci\nposition e2e4",
        "uci\ngo nodes 1",
        "uci\nposition startpos\ngo nodes",
        "uci\nposition startpos\ngo quickly",
        "uci\nposition startpos\ngo infinite\nposition startpos",
        "uci\nposition startpos moves f2f3 e7e5 g2g4 d8h4\ngo nodes 1",
        "uci\nsetoption name Hash value 0",
        "uci\nsetoption name Hash value 5000",
        "uci\nsetoption name Style value Wild",
        "uci\nsetoption name Contempt value 1",
        "uci\nsetoption Hash 8",
        "uci\nhello",
    ] {
        let mut talk = super::started("");
        conversation.lines().for_each(|line| talk.send(line));
        assert_eq!(talk.exit().code(), Some(99), "{conversation}");
    }
}
