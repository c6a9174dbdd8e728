//! Whether an engine knows which position it is in. Most positions have one legal move, which an
//! engine can only play if it has understood all that came before.

use super::super::engine_info::EngineInfo;
use super::super::script::Script;
use super::super::{Check, Grade};
use super::{nothing_more, one_legal_answer_each};

/// The last position of each has one legal move.
pub(super) const ONLY_MOVES: [(&str, &str); 9] = [
    ("startpos", "startpos moves e2e4 f7f6 d1h5"),
    ("fen", "fen 6k1/5ppp/8/8/8/8/r4PPP/1R4K1 b - - 3 40 moves a2a8 b1b8"),
    ("castling", "fen 4rkn1/4p1p1/8/8/8/8/8/4K2R w K - 0 1 moves e1g1"),
    ("castling long", "fen 2nkr3/2p1p3/8/8/8/8/8/R3K3 w Q - 0 1 moves e1c1"),
    ("castling of Black", "fen 4k2r/8/8/8/8/8/4P1P1/4RKN1 b k - 0 1 moves e8g8"),
    ("en passant", "fen 8/3p4/4p3/4P3/8/2k3q1/8/7K b - - 0 1 moves d7d5"),
    ("en passant by FEN", "fen 8/8/4p3/3pP3/8/2k3q1/8/7K w - d6 0 2"),
    ("promotion", "fen 8/5P1k/R7/8/8/8/8/K5R1 w - - 0 1 moves f7f8n"),
    ("promotion to a queen", "fen 7k/P6p/8/8/8/8/8/K7 w - - 0 1 moves a7a8q"),
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "position-startpos",
        grade: Grade::Must,
        says: "position startpos moves … is understood",
        script: |_| only(&["startpos"]),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-fen",
        grade: Grade::Must,
        says: "position fen … moves … is understood",
        script: |_| only(&["fen"]),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-castling",
        grade: Grade::Must,
        says: "castling among the moves is understood: e1g1, e1c1, e8g8",
        script: |_| only(&["castling", "castling long", "castling of Black"]),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-en-passant",
        grade: Grade::Must,
        says: "a pawn can be taken en passant after its move, and by the field of the FEN",
        script: |_| only(&["en passant", "en passant by FEN"]),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-promotion",
        grade: Grade::Must,
        says: "promotions among the moves are understood: f7f8n, a7a8q",
        script: |_| only(&["promotion", "promotion to a queen"]),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-replaced",
        grade: Grade::Must,
        says: "each position line replaces the one before, with or without ucinewgame",
        script: |_| {
            let script = Script::after_handshake().send("position startpos moves e2e4 e7e5");
            let script = script.send("position startpos moves d2d4").ready();
            Ok(script.search(line("castling"), "depth 2").search("startpos", "depth 2"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-repetition",
        grade: Grade::Must,
        says: "a game that has repeated a position goes on",
        script: |_| {
            let shuffle = " g1f3 g8f6 f3g1 f6g8".repeat(3);
            Ok(Script::after_handshake().search(&format!("startpos moves{shuffle}"), "depth 3"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-long",
        grade: Grade::Must,
        says: "a game of 600 plies is understood",
        script: |_| {
            let shuffle = " g1f3 g8f6 f3g1 f6g8".repeat(150);
            let moves = format!("startpos moves e2e4 e7e5{shuffle}");
            Ok(Script::after_handshake().search(&moves, "depth 2").search(&moves, "depth 2"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-four-fields",
        grade: Grade::Nice,
        says: "a FEN without its two counters, as in EPD, is understood",
        script: |_| {
            let fen = "fen 8/8/4p3/3pP3/8/2k3q1/8/7K w - d6";
            Ok(Script::after_handshake().search(fen, "depth 2"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-illegal-move",
        grade: Grade::Nice,
        says: "an illegal move in a position line does not end the process",
        script: |_| {
            let script =
                Script::after_handshake().send("position startpos moves e2e4 e7e6 e4e6").ready();
            Ok(script.search("startpos moves e2e4", "depth 2"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-nonsense",
        grade: Grade::Nice,
        says: "a FEN that is none does not end the process",
        script: |_| {
            let script =
                Script::after_handshake().send("position fen not/a/position w - - 0 1").ready();
            let script = script.send("position").ready().send("position fen").ready();
            Ok(script.search("startpos moves e2e4", "depth 2"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "chess960-castling",
        grade: Grade::Must,
        says: "with UCI_Chess960, castling is the king taking its own rook",
        script: |engine| {
            let script = chess960(engine)?;
            let castled = "fen 4rkn1/4p1p1/8/8/8/8/8/4K2R w K - 0 1 moves e1h1";
            Ok(script.search(castled, "depth 2"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "chess960-position",
        grade: Grade::Must,
        says: "with UCI_Chess960, king and rooks may castle from other files",
        script: |engine| {
            let script = chess960(engine)?;
            let pawns = "pppppppp/8/8/8/8/PPPPPPPP";
            let castled = format!("fen 1r1k2r1/{pawns}/1R1K2R1 w KQkq - 0 1 moves d1g1 d8b8");
            Ok(script.search(&castled, "depth 3"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "chess960-off",
        grade: Grade::Must,
        says: "with UCI_Chess960 off again, castling is written e1g1 as before",
        script: |engine| {
            let script = chess960(engine)?.send("setoption name UCI_Chess960 value false").ready();
            Ok(script.search(line("castling"), "depth 2"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "position-thinking",
        grade: Grade::Nice,
        says: "a position line during a search does not end the process",
        script: |_| {
            let script =
                Script::after_handshake().send("position startpos\ngo infinite").collect_for(100);
            let script = script.send("position startpos moves e2e4").ready().send("stop");
            Ok(script.expect("bestmove").ready().search("startpos", "depth 2"))
        },
        judge: nothing_more,
        is_timed: false,
    },
];

fn line(name: &str) -> &'static str {
    ONLY_MOVES.iter().find(|(other, _)| *other == name).map_or("startpos", |(_, line)| line)
}

fn only(names: &[&str]) -> Result<Script, String> {
    let search = |script: Script, name: &&str| script.search(line(name), "depth 2");
    Ok(names.iter().fold(Script::after_handshake(), search))
}

fn chess960(engine: &EngineInfo) -> Result<Script, String> {
    engine.needs("UCI_Chess960")?;
    Ok(Script::after_handshake().send("setoption name UCI_Chess960 value true").ready())
}
