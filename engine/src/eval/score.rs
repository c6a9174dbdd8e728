//! Scores, and the encoding of mate scores.

/// Score in centipawns, from the point of view of the side to move. Scores outside
/// ±[`EVALUATION_MAX`] are mate scores.
pub type Score = i32;

/// Maximum distance of a node from the root, in plies.
pub const MAX_PLY: usize = 128;

/// Upper bound on all scores. The bound fits in 16 bits, the size of a score in the transposition
/// table.
pub const INFINITE: Score = 32_001;

/// Score of a checkmate on the board. A mate in `n` plies has the score `MATE - n`.
pub const MATE: Score = 32_000;

/// Maximum score that is not a mate score, in centipawns. The mate of a transposition-table entry
/// can be up to `MAX_PLY` plies away from the position of the entry, and this position can be up to
/// `MAX_PLY` plies away from the root.
pub const EVALUATION_MAX: Score = MATE - 2 * MAX_PLY as Score;

/// Score of a draw.
pub const DRAW: Score = 0;

/// Returns the score of a side that is mated `ply` plies from the root.
pub const fn mated_in(ply: usize) -> Score {
    ply as Score - MATE
}

/// Returns the score of a side that mates `ply` plies from the root.
pub const fn mate_in(ply: usize) -> Score {
    MATE - ply as Score
}

/// Returns whether the score is a mate score for either side.
pub const fn is_mate(score: Score) -> bool {
    score.abs() > EVALUATION_MAX
}

/// Returns the number of moves (not plies) to the mate: positive if the side to move mates, zero or
/// negative if the side to move is mated; `None` if the score is not a mate score.
pub fn mate_distance_moves(score: Score) -> Option<i32> {
    if score > EVALUATION_MAX {
        Some((MATE - score + 1) / 2)
    } else if score < -EVALUATION_MAX {
        Some(-(MATE + score) / 2)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_counted_in_moves() {
        for (score, expected) in [
            (mate_in(1), Some(1)),
            (mate_in(3), Some(2)),
            (mated_in(0), Some(0)),
            (mated_in(2), Some(-1)),
            (mated_in(4), Some(-2)),
            (EVALUATION_MAX, None),
            (-EVALUATION_MAX, None),
        ] {
            assert_eq!(mate_distance_moves(score), expected, "{score}");
        }
    }
}
