//! Checks of `position`. Most positions have a single legal move, which an engine finds only if it
//! has set up the position correctly.

use super::{must, nice, nothing_more};
use crate::Check;
use crate::script::Script;

/// White gives check on the back rank, and Black's only legal move is a capture. An engine that
/// ignores the moves plays another move.
const FEN: &str = "fen 6k1/5ppp/8/8/8/8/r4PPP/1R4K1 b - - 3 40 moves a2a8 b1b8";
const CASTLED: &str = "fen 4rkn1/4p1p1/8/8/8/8/8/4K2R w K - 0 1 moves e1g1";
/// Positions in which the en passant capture is the only legal move.
const EN_PASSANT: [&str; 2] = [
    "fen 8/3p4/4p3/4P3/8/2k3q1/8/7K b - - 0 1 moves d7d5",
    "fen 8/8/4p3/3pP3/8/2k3q1/8/7K w - d6 0 2",
];
const PROMOTED: [&str; 2] = [
    "fen 8/5P1k/R7/8/8/8/8/K5R1 w - - 0 1 moves f7f8n",
    "fen 7k/P6p/8/8/8/8/8/K7 w - - 0 1 moves a7a8q",
];

/// Arguments of `position` that lead to a position with a single legal move.
pub(super) const ONLY_MOVES: [&str; 9] = [
    "startpos moves e2e4 f7f6 d1h5",
    FEN,
    CASTLED,
    "fen 2nkr3/2p1p3/8/8/8/8/8/R3K3 w Q - 0 1 moves e1c1",
    "fen 4k2r/8/8/8/8/8/4P1P1/4RKN1 b k - 0 1 moves e8g8",
    EN_PASSANT[0],
    EN_PASSANT[1],
    PROMOTED[0],
    PROMOTED[1],
];

/// Moves that return to the initial position.
const SHUFFLE: &str = " g1f3 g8f6 f3g1 f6g8";

pub(super) const CHECKS: &[Check] = &[
    must("position-startpos", "position startpos moves … is understood")
        .script(|s| Ok(s.search(ONLY_MOVES[0], "depth 2"))),
    must("position-fen", "position fen … moves … is understood")
        .script(|s| Ok(s.search(FEN, "depth 2"))),
    must("position-castling", "castling among the moves is understood: e1g1, e1c1, e8g8")
        .script(|s| Ok(s.search_all(&ONLY_MOVES[2..5], "depth 2"))),
    must(
        "position-en-passant",
        "en passant is possible after a double step, or if the FEN contains its square",
    )
    .script(|s| Ok(s.search_all(&EN_PASSANT, "depth 2"))),
    must("position-promotion", "promotions among the moves are understood: f7f8n, a7a8q")
        .script(|s| Ok(s.search_all(&PROMOTED, "depth 2"))),
    must(
        "position-replaced",
        "each position line replaces the previous one, with or without ucinewgame",
    )
    .script(|s| {
        let s = s.send("position startpos moves e2e4 e7e5");
        let s = s.send("position startpos moves d2d4").ready();
        Ok(s.search_all(&[CASTLED, "startpos"], "depth 2"))
    }),
    must("position-repetition", "a game with repeated positions continues")
        // A drawn game is ended by the match program, not by the engine. The engine has to move as
        // long as there is a legal move.
        .script(|s| Ok(s.search(&format!("startpos moves{}", SHUFFLE.repeat(3)), "depth 3"))),
    must("position-long", "a game of 600 plies is understood").script(|s| {
        // An engine that stores the moves of a game in a table of fixed size can crash, but only in
        // long games.
        let moves = format!("startpos moves e2e4 e7e5{}", SHUFFLE.repeat(150));
        Ok(s.search_all(&[moves.as_str(); 2], "depth 2"))
    }),
    nice("position-four-fields", "a FEN without its two move counters, as in EPD, is understood")
        .script(|s| Ok(s.search("fen 8/8/4p3/3pP3/8/2k3q1/8/7K w - d6", "depth 2"))),
    nice("position-illegal-move", "an illegal move in a position line does not end the process")
        .script(|s| {
            let s = s.send("position startpos moves e2e4 e7e6 e4e6").ready();
            Ok(s.search("startpos moves e2e4", "depth 2"))
        }),
    nice("position-nonsense", "an invalid FEN does not end the process").script(|s| {
        let lines = ["position fen not/a/position w - - 0 1", "position", "position fen"];
        let s = lines.into_iter().fold(s, |s, line| s.send(line).ready());
        Ok(s.search("startpos moves e2e4", "depth 2"))
    }),
    must(
        "chess960-castling",
        "with UCI_Chess960, castling is written as the king capturing its own rook",
    )
    .script(|s| {
        // The position is the same as in position-castling, so only the notation can cause a
        // failure.
        let castled = "fen 4rkn1/4p1p1/8/8/8/8/8/4K2R w K - 0 1 moves e1h1";
        Ok(chess960(s)?.search(castled, "depth 2"))
    }),
    must(
        "chess960-position",
        "with UCI_Chess960, castling is understood for any files of king and rooks",
    )
    .script(|s| {
        let pawns = "pppppppp/8/8/8/8/PPPPPPPP";
        let castled = format!("fen 1r1k2r1/{pawns}/1R1K2R1 w KQkq - 0 1 moves d1g1 d8b8");
        Ok(chess960(s)?.search(&castled, "depth 3"))
    }),
    must("chess960-off", "when UCI_Chess960 is off again, castling is written e1g1 as before")
        .script(|s| Ok(chess960(s)?.set("UCI_Chess960", false).search(CASTLED, "depth 2"))),
    nice("position-thinking", "a position line during a search does not end the process")
        .script(|s| {
            let s = s.think(100).send("position startpos moves e2e4").ready();
            Ok(s.stop().ready().search("startpos", "depth 2"))
        })
        .judge(nothing_more),
];

fn chess960(script: Script<'_>) -> Result<Script<'_>, String> {
    script.engine.option("UCI_Chess960")?;
    Ok(script.set("UCI_Chess960", true))
}
