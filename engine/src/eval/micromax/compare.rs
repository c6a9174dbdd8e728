//! What this evaluation has, figure by figure.

use super::weights::{CASTLING, PROMOTION, UNIT, UNSUPPORTED, WORTH, eccentricity};
use crate::eval::compare::{Entry, Figure};

fn entry(name: &'static str, figures: Vec<Figure>, condition: &'static str) -> Entry {
    Entry { number: None, name, figures, condition, switches: vec![name] }
}

/// Every feature.
pub(in crate::eval) fn entries() -> Vec<Entry> {
    let squares = (0..64).map(|index| -eccentricity(index & 7, index >> 3));
    vec![
        entry(
            "material",
            vec![Figure::new("P N B R Q", WORTH[..5].iter().map(|worth| worth * UNIT))],
            "each piece taken",
        ),
        entry("promotion", vec![Figure::new("", [PROMOTION])], "to a queen"),
        entry(
            "centre",
            vec![Figure::new("squares", squares)],
            "difference of the squares of a move of pawn, knight, bishop or king",
        ),
        entry("castling", vec![Figure::new("", [CASTLING])], "the move, not the right to it"),
        entry(
            "pawn_structure",
            vec![Figure::new("", [UNSUPPORTED])],
            "by a pawn move, from own pawns two files beside its origin: both +, one 0, none -",
        ),
    ]
}
