//! Resignation on behalf of an engine that reports hopeless scores.

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, Color};

use super::PlayedMove;
use arbiter_protocol::Score;

/// Resign rule: a side resigns after enough consecutive hopeless scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResignRule {
    /// Number of consecutive moves with a lost score after which a side resigns, at least 1.
    pub move_count: u32,
    /// Minimum absolute score, in centipawns, at which a position counts as lost or won.
    pub score_cp: u32,
    /// `true` if the opponent must also have reported `move_count` consecutive won scores.
    pub two_sided: bool,
}

/// Numbers of consecutive moves with a lost score, and with a won score, for each side.
#[derive(Debug, Clone, Default)]
pub(super) struct DecidedMoves {
    lost: ByColor<u32>,
    won: ByColor<u32>,
}

impl ResignRule {
    /// Counts a move and returns the side that resigns after this move, if any.
    pub(super) fn observe(self, moves: &mut DecidedMoves, played: PlayedMove) -> Option<Color> {
        let limit = i64::from(self.score_cp);
        // A missing score counts as an equal score, so that an engine without scores neither
        // resigns nor confirms a win.
        let value = played.score.map_or(0, worth);
        let step = |count: &mut u32, holds: bool| *count = if holds { *count + 1 } else { 0 };
        step(moves.lost.get_mut(played.color), value <= -limit);
        step(moves.won.get_mut(played.color), value >= limit);
        let enough = self.move_count;
        let seen_by_winner = *moves.won.get(!played.color) >= enough;
        let resigns = *moves.lost.get(played.color) >= enough;
        (resigns && (seen_by_winner || !self.two_sided)).then_some(played.color)
    }
}

/// Converts a score to a scale on which a mate is worth more than any score in centipawns.
fn worth(score: Score) -> i64 {
    match score {
        Score::Centipawns(cp) => i64::from(cp),
        Score::Mate(moves) if moves > 0 => i64::MAX,
        // Mate in 0 is a loss: the side to move is already mated.
        Score::Mate(_) => i64::MIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of plies after which a side resigns, and the resigning side; `scores`
    /// alternates between White and Black.
    fn resigned(two_sided: bool, scores: &[Score]) -> Option<(usize, Color)> {
        let rule = ResignRule { move_count: 2, score_cp: 500, two_sided };
        let mut moves = DecidedMoves::default();
        scores.iter().enumerate().find_map(|(ply, &score)| {
            let color = if ply % 2 == 0 { Color::White } else { Color::Black };
            let score = Some(score);
            let played = PlayedMove { color, full_moves: 1, is_book: false, zeroing: false, score };
            rule.observe(&mut moves, played).map(|loser| (ply + 1, loser))
        })
    }

    const fn cp(score: i32) -> Score {
        Score::Centipawns(score)
    }

    #[test]
    fn the_loser_alone_may_resign() {
        let scores = [cp(-500), cp(20), Score::Mate(-9), cp(20)];
        assert_eq!(resigned(false, &scores), Some((3, Color::White)));
        assert_eq!(resigned(true, &scores), None);
    }

    #[test]
    fn two_sided_waits_for_the_winner() {
        let scores = [cp(-600), cp(100), cp(-600), cp(700), cp(-600), Score::Mate(4), cp(-600)];
        // A side resigns only after its own move.
        assert_eq!(resigned(true, &scores), Some((7, Color::White)));
    }

    #[test]
    fn a_better_score_resets_the_resign_counter() {
        let scores = [cp(0), cp(-900), cp(0), cp(-499), cp(0), cp(-900), cp(0), cp(-900)];
        assert_eq!(resigned(false, &scores), Some((8, Color::Black)));
    }
}
