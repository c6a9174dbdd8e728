//! What this evaluation has, figure by figure.

use super::{tables, weights};
use crate::eval::compare::{Entry, Figure};

fn entry(name: &'static str, figures: Vec<Figure>, condition: &'static str) -> Entry {
    Entry { number: None, name, figures, condition, switches: vec![name] }
}

/// Every feature.
pub(in crate::eval) fn entries() -> Vec<Entry> {
    let kinds = ["pawn", "knight", "bishop", "rook", "queen", "king"];
    let squares = kinds.into_iter().zip(&tables::SQUARES);
    vec![
        entry("material", vec![Figure::pairs("P N B R Q K", &weights::MATERIAL)], "each piece"),
        entry(
            "pst",
            squares.map(|(kind, table)| Figure::pairs(kind, table)).collect(),
            "each piece",
        ),
        entry(
            "mobility",
            vec![
                Figure::pairs("N B R Q", &weights::MOBILITY),
                Figure::new("usual", weights::MOBILITY_USUAL),
            ],
            "each square within reach not held by an own piece, above the usual number",
        ),
        entry("isolated", vec![Figure::pairs("", &[weights::ISOLATED])], "no own pawn beside"),
        entry(
            "doubled",
            vec![Figure::pairs("", &[weights::DOUBLED])],
            "own pawn ahead on the file",
        ),
        entry("passed", vec![Figure::pairs("by rank", &weights::PASSED)], "not doubled"),
        entry(
            "knight_outpost",
            vec![Figure::pairs("", &[weights::KNIGHT_OUTPOST])],
            "from the 5th rank on, guarded by a pawn, no enemy pawn can attack",
        ),
        entry(
            "king_safety",
            vec![
                Figure::new("outer", weights::OUTER_POINTS),
                Figure::new("inner", weights::INNER_POINTS),
                Figure::new("file", [weights::FILE_POINTS]),
                Figure::new("largest", [weights::DANGER_MAX]),
            ],
            "two attackers and a queen; square of the points by four; opening only",
        ),
    ]
}
