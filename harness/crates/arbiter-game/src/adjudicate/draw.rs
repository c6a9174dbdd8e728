//! Adjudication of draws by the scores of both engines.

use serde::{Deserialize, Serialize};

use super::PlayedMove;
use arbiter_protocol::Score;

/// Draw rule: a game is drawn after enough consecutive scores near zero from both engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawRule {
    /// Number of full moves that must be completed before a draw is adjudicated.
    pub move_number: u32,
    /// Number of consecutive moves of each side with a score near 0 before a draw is adjudicated,
    /// at least 1.
    pub move_count: u32,
    /// Largest absolute score, in centipawns, that counts as equal.
    pub score_cp: u32,
}

impl DrawRule {
    /// Returns whether the game is drawn after a move. `plies` counts the consecutive plies with a
    /// score near 0; a capture or pawn move restarts the count.
    pub(super) fn observe(self, plies: &mut u32, played: PlayedMove) -> bool {
        let equal = match played.score {
            Some(Score::Centipawns(cp)) => cp.unsigned_abs() <= self.score_cp,
            // A missing score does not count as equal. Otherwise, an engine that reports no scores
            // would agree to every draw.
            Some(Score::Mate(_)) | None => false,
        };
        let before = if played.zeroing { 0 } else { *plies };
        *plies = if equal { before + 1 } else { 0 };
        // Each side needs `move_count` moves, so both sides together need twice as many plies.
        *plies >= 2 * self.move_count && played.full_moves >= self.move_number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Color;

    fn drawn_after(moves: &[(Option<Score>, bool)]) -> Option<usize> {
        let rule = DrawRule { move_number: 3, move_count: 2, score_cp: 10 };
        let mut plies = 0;
        moves.iter().enumerate().find_map(|(ply, &(score, zeroing))| {
            let color = if ply % 2 == 0 { Color::White } else { Color::Black };
            let full_moves = (ply as u32).div_ceil(2);
            let played = PlayedMove { color, full_moves, is_book: false, zeroing, score };
            rule.observe(&mut plies, played).then_some(ply + 1)
        })
    }

    const EQUAL: (Option<Score>, bool) = (Some(Score::Centipawns(-10)), false);

    #[test]
    fn a_draw_needs_enough_equal_moves_and_a_minimum_move_number() {
        assert_eq!(drawn_after(&[EQUAL; 9]), Some(6));
        assert_eq!(drawn_after(&[EQUAL, EQUAL, (Some(Score::Centipawns(11)), false), EQUAL]), None);
    }

    #[test]
    fn missing_scores_mates_and_zeroing_moves_reset_the_draw_counter() {
        let others =
            [((None, false), 10), ((Some(Score::Mate(3)), false), 10), ((EQUAL.0, true), 9)];
        for (other, plies) in others {
            let mut moves = [EQUAL; 12];
            moves[5] = other;
            moves[2] = (None, false);
            assert_eq!(drawn_after(&moves), Some(plies), "{other:?}");
        }
    }
}
