//! Features of this evaluation with their weights and conditions.

use super::Term;
use super::layout::GROUPS;
use super::weights::WEIGHTS;
use crate::eval::compare::{Entry, WeightGroup};

/// Returns all features, for comparisons.
pub(super) fn entries() -> Vec<Entry> {
    Term::ALL
        .iter()
        .map(|feature| {
            let groups = GROUPS.iter().filter(|group| group.feature == *feature);
            let weights = groups.map(|group| {
                WeightGroup::pairs(group.label, &WEIGHTS[group.start..group.start + group.len])
            });
            Entry {
                number: None,
                name: feature.name,
                weights: weights.collect(),
                condition: condition(feature.name),
                switches: vec![feature.name],
            }
        })
        .collect()
}

/// Returns the condition under which a feature counts.
fn condition(name: &str) -> &'static str {
    board(name).or_else(|| pieces(name)).unwrap_or("always")
}

fn board(name: &str) -> Option<&'static str> {
    Some(match name {
        "material" => "each piece",
        "pst" => "each piece; the board mirrored if the own king is on the files a to d",
        "bishop_pair" => "two bishops",
        "connected" => "each pawn with an own pawn beside it or defending it",
        "isolated" => "no own pawn on the files beside",
        "doubled" => "own pawn ahead on the file; the rear one",
        "backward" => "none beside or behind on the files beside, the step attacked by a pawn",
        "candidate" => "no enemy pawn ahead on the file; beside it, no more guards than helpers",
        "passed" => "no enemy pawn ahead on three files; of two on a file the front one",
        "passed_free" => "the first that holds: safe way, safe step; or an enemy ahead",
        "passed_king" => "from the fourth rank on, times the ranks beyond the third",
        "passed_rook" => "rook or queen behind the pawn on its file",
        "endgame_scale" => "64ths of the endgame score",
        "tempo" => "side to move",
        "mating" => "bare king against rook, queen, or bishop and another minor piece; no pawns",
        _ => return None,
    })
}

fn pieces(name: &str) -> Option<&'static str> {
    Some(match name {
        "mobility" => {
            "squares within reach but for the own king, own pawns that are blocked or at home, and \
             squares attacked by enemy pawns; through queens (bishop) or own rooks and queens (rook)"
        }
        "outpost" => "4th to 6th rank, defended by a pawn, no enemy pawn can attack",
        "minor" => "knight or bishop; steps of a king",
        "bad_bishop" => "own pawns on squares of the bishop's colour",
        "rook_file" => "no pawn on the file, no own pawn, or an own pawn that cannot step",
        "rook_seventh" => "enemy pawns there, or the enemy king there or behind",
        "pawn_threat" => "piece attacked by a pawn",
        "push_threat" => "the step is safe from pawns, and from pieces or defended",
        "minor_threat" => "any piece, or a pawn that is not defended well",
        "rook_threat" => "not defended by a pawn, nor twice",
        "hanging" => "as before, and not defended or a piece attacked twice",
        "restricted" => "attacked by both, not defended by an enemy pawn, nor twice",
        "space" => "files c to f, own ranks 2 to 4; per eight own men on the board",
        "shield" => "three files around the king; the first pawn not behind it",
        "king_attack" => "two attackers, a queen counting twice; square of the units over 1024",
        _ => return None,
    })
}
