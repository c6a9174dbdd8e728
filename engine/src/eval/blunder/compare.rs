//! Features of this evaluation with their weights and conditions.

use super::{tables, weights};
use crate::eval::compare::{Entry, WeightGroup};

fn entry(name: &'static str, weights: Vec<WeightGroup>, condition: &'static str) -> Entry {
    Entry { number: None, name, weights, condition, switches: vec![name] }
}

/// Returns all features, for comparisons.
pub(super) fn entries() -> Vec<Entry> {
    let kinds = ["pawn", "knight", "bishop", "rook", "queen", "king"];
    let squares = kinds.into_iter().zip(&tables::SQUARES);
    vec![
        entry(
            "material",
            vec![WeightGroup::pairs("P N B R Q K", &weights::MATERIAL)],
            "each piece",
        ),
        entry(
            "pst",
            squares.map(|(kind, table)| WeightGroup::pairs(kind, table)).collect(),
            "each piece",
        ),
        entry(
            "mobility",
            vec![
                WeightGroup::pairs("N B R Q", &weights::MOBILITY),
                WeightGroup::new("usual", weights::MOBILITY_USUAL),
            ],
            "each square within reach not held by an own piece, above the usual number",
        ),
        entry("isolated", vec![WeightGroup::pairs("", &[weights::ISOLATED])], "no own pawn beside"),
        entry(
            "doubled",
            vec![WeightGroup::pairs("", &[weights::DOUBLED])],
            "own pawn ahead on the file",
        ),
        entry("passed", vec![WeightGroup::pairs("by rank", &weights::PASSED)], "not doubled"),
        entry(
            "knight_outpost",
            vec![WeightGroup::pairs("", &[weights::KNIGHT_OUTPOST])],
            "from the 5th rank on, guarded by a pawn, no enemy pawn can attack",
        ),
        entry(
            "king_safety",
            vec![
                WeightGroup::new("outer", weights::OUTER_POINTS),
                WeightGroup::new("inner", weights::INNER_POINTS),
                WeightGroup::new("file", [weights::FILE_POINTS]),
                WeightGroup::new("largest", [weights::DANGER_MAX]),
            ],
            "two attackers and a queen; square of the points by four; opening only",
        ),
    ]
}
