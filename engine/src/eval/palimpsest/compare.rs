//! What this evaluation has, figure by figure.

use super::weights;
use crate::eval::compare::{Entry, Figure};

fn entry(name: &'static str, figures: Vec<Figure>, condition: &'static str) -> Entry {
    Entry { number: None, name, figures, condition, switches: vec![name] }
}

/// Every feature.
pub(in crate::eval) fn entries() -> Vec<Entry> {
    let mut entries = board();
    entries.extend(pieces());
    entries
}

fn board() -> Vec<Entry> {
    let kinds = ["pawn", "knight", "bishop", "rook", "queen", "king"];
    let squares = kinds.into_iter().zip(&weights::SQUARES);
    let table =
        |(kind, half): (&'static str, &weights::HalfBoard)| Figure::pairs(kind, &half.concat());
    let rank = "endgame only; per rank beyond the third and step from the square ahead";
    vec![
        entry("material", vec![Figure::pairs("P N B R Q K", &weights::MATERIAL)], "each piece"),
        entry("pst", squares.map(table).collect(), "each piece; files e to h mirror a to d"),
        entry("bishop_pair", vec![Figure::pairs("", &[weights::BISHOP_PAIR])], "two bishops"),
        entry(
            "connected",
            vec![Figure::pairs("", &[weights::CONNECTED])],
            "own pawn beside or defending",
        ),
        entry("isolated", vec![Figure::pairs("", &[weights::ISOLATED])], "no own pawn beside"),
        entry(
            "doubled",
            vec![Figure::pairs("", &[weights::DOUBLED])],
            "own pawn ahead on the file",
        ),
        entry("passed", vec![Figure::pairs("by rank", &weights::PASSED)], "not doubled"),
        entry(
            "passed_free",
            vec![Figure::pairs("per rank", &[weights::PASSED_FREE])],
            "square ahead empty",
        ),
        entry("passed_king", vec![Figure::new("own, enemy", weights::PASSED_KING)], rank),
    ]
}

fn pieces() -> Vec<Entry> {
    vec![
        entry(
            "mobility",
            vec![
                Figure::pairs("N B R Q", &weights::MOBILITY),
                Figure::new("usual", weights::MOBILITY_USUAL),
            ],
            "each square within reach, above the usual number; not own pawns, own king or squares \
             attacked by enemy pawns; through own queens (bishop) or rooks and queens (rook)",
        ),
        entry(
            "minor_threat",
            vec![Figure::pairs("", &[weights::MINOR_THREAT])],
            "rook or queen attacked by a knight or bishop",
        ),
        entry(
            "pawn_threat",
            vec![Figure::pairs("", &[weights::PAWN_THREAT])],
            "piece attacked by a pawn",
        ),
        entry(
            "outpost",
            vec![Figure::pairs("", &[weights::OUTPOST])],
            "knight or bishop from the 4th rank on, defended by a pawn, no enemy pawn can attack",
        ),
        entry(
            "rook_file",
            vec![Figure::pairs("open, half open", &weights::ROOK_FILE)],
            "no pawn on the file, no own pawn",
        ),
        entry(
            "shield",
            vec![Figure::pairs("near, far", &weights::SHIELD_PAWN)],
            "own pawns one or two ranks before the king",
        ),
        entry(
            "king_attack",
            vec![
                Figure::new("N B R Q", weights::ATTACKER),
                Figure::new("square", [weights::ATTACKED_SQUARE]),
                Figure::new("shield", [weights::SHIELD]),
                Figure::new("divisor, largest", [weights::DANGER_DIVISOR, weights::DANGER_MAX]),
            ],
            "two attackers; square of the units",
        ),
        entry(
            "endgame_scale",
            vec![
                Figure::new("no pawns", [weights::SCALE_NO_PAWNS]),
                Figure::new("opposite bishops", [weights::SCALE_OPPOSITE_BISHOPS]),
            ],
            "sixteenths of the endgame score",
        ),
        entry("tempo", vec![Figure::new("", [weights::TEMPO])], "side to move"),
    ]
}
