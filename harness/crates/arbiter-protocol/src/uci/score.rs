//! Score that an engine reports.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Score from the point of view of the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// Score in centipawns.
    Centipawns(i32),
    /// Mate in this number of moves; negative if the side to move is being mated, zero if the side
    /// to move is already mated.
    Mate(i32),
}

impl Score {
    /// Returns the score from the point of view of the other side.
    pub fn reversed(self) -> Score {
        match self {
            // An engine may send -2^31, which has no positive counterpart.
            Score::Centipawns(cp) => Score::Centipawns(cp.saturating_neg()),
            Score::Mate(moves) => Score::Mate(moves.saturating_neg()),
        }
    }

    /// Returns the score in centipawns; `None` for a mate score.
    pub fn centipawns(self) -> Option<i32> {
        if let Score::Centipawns(cp) = self { Some(cp) } else { None }
    }

    /// Returns the score in centipawns, limited to ±`most` centipawns; a mate counts as ±`most`.
    pub fn limited(self, most: i32) -> i32 {
        match self {
            Score::Centipawns(cp) => cp.clamp(-most, most),
            Score::Mate(moves) if moves > 0 => most,
            Score::Mate(_) => -most,
        }
    }
}

impl fmt::Display for Score {
    /// Writes the form used in game comments: `+0.30`, `-1.25`, `+M5`, `-M3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Score::Centipawns(0) => write!(f, "0.00"),
            Score::Centipawns(cp) => {
                let sign = if cp < 0 { '-' } else { '+' };
                let cp = cp.unsigned_abs();
                write!(f, "{sign}{}.{:02}", cp / 100, cp % 100)
            }
            Score::Mate(moves) if moves > 0 => write!(f, "+M{moves}"),
            Score::Mate(moves) => write!(f, "-M{}", moves.unsigned_abs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_read_as_in_game_comments() {
        let shown: Vec<String> = [
            Score::Centipawns(30),
            Score::Centipawns(-125),
            Score::Centipawns(0),
            Score::Centipawns(-5),
            Score::Mate(5),
            Score::Mate(-3),
            Score::Mate(0),
            Score::Mate(i32::MIN),
        ]
        .map(|s| s.to_string())
        .into();
        assert_eq!(shown, ["+0.30", "-1.25", "0.00", "-0.05", "+M5", "-M3", "-M0", "-M2147483648"]);
    }
}
