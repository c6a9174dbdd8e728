//! Scores and the encoding of mates.

/// Centipawns from the point of view of the side to move. Values beyond ±[`EVALUATION_MAX`]
/// announce mate.
pub type Score = i32;

/// The deepest ply, counted from the root, that the search visits.
pub const MAX_PLY: usize = 128;

/// Upper bound of all scores. The bound fits in 16 bits, like every score in the transposition
/// table.
pub const INFINITE: Score = 32_001;

/// Score of a delivered mate; mate in `n` plies is worth `MATE - n`.
pub const MATE: Score = 32_000;

/// The largest score that does not announce a mate. In the transposition table a mate is up to
/// `MAX_PLY` plies below a position, and the position is up to `MAX_PLY` plies below a root.
pub const EVALUATION_MAX: Score = MATE - 2 * MAX_PLY as Score;

/// The score of a draw.
pub const DRAW: Score = 0;

/// Returns the score of the side that is mated `ply` plies from the root.
pub const fn mated_in(ply: usize) -> Score {
    ply as Score - MATE
}

/// Returns the score of the side that mates `ply` plies from the root.
pub const fn mate_in(ply: usize) -> Score {
    MATE - ply as Score
}

/// Returns whether the score announces a mate, for either side.
pub const fn is_mate(score: Score) -> bool {
    score.abs() > EVALUATION_MAX
}

/// Returns the number of moves (not plies) to the mate that a score announces: positive if the side
/// to move mates, zero or negative if the side to move is mated. `None` if no mate is announced.
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
