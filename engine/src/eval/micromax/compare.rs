//! Features of this evaluation with their weights and conditions.

use super::weights::{CASTLING, PROMOTION, UNIT, UNSUPPORTED, WORTH, eccentricity};
use crate::eval::compare::{Entry, WeightGroup};

fn entry(name: &'static str, weights: Vec<WeightGroup>, condition: &'static str) -> Entry {
    Entry { number: None, name, weights, condition, switches: vec![name] }
}

/// Returns all features, for comparisons.
pub(super) fn entries() -> Vec<Entry> {
    let squares = (0..64).map(|index| -eccentricity(index & 7, index >> 3));
    vec![
        entry(
            "material",
            vec![WeightGroup::new("P N B R Q", WORTH[..5].iter().map(|worth| worth * UNIT))],
            "each piece taken",
        ),
        entry("promotion", vec![WeightGroup::new("", [PROMOTION])], "to a queen"),
        entry(
            "centre",
            vec![WeightGroup::new("squares", squares)],
            "difference of the squares of a move of pawn, knight, bishop or king",
        ),
        entry("castling", vec![WeightGroup::new("", [CASTLING])], "the move, not the right to it"),
        entry(
            "pawn_structure",
            vec![WeightGroup::new("", [UNSUPPORTED])],
            "by a pawn move, from own pawns two files beside its origin: both +, one 0, none -",
        ),
    ]
}
