//! Evaluations in the comments of a game.

use arbiter_pgn::{Evaluation, evaluation};
use arbiter_stats::EvaluationBuckets;

/// Evaluations of both sides in one game.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Evaluations {
    /// Evaluations of the side that moved first and of the other side, each from the point of view
    /// of that side.
    side_relative: [EvaluationBuckets; 2],
    /// Evaluations of the side that moved first and of the other side, from White's point of view.
    white_relative: [EvaluationBuckets; 2],
}

impl Evaluations {
    /// Adds the evaluation in a comment after `plies` plies.
    pub(crate) fn add(&mut self, comment: &[u8], plies: u32) {
        // A comment before the first move belongs to no player.
        let Some(last) = plies.checked_sub(1) else { return };
        let side = (last & 1) as usize;
        match evaluation(comment) {
            Some(Evaluation::Own(centipawns)) => self.side_relative[side].add(centipawns),
            Some(Evaluation::OfWhite(centipawns)) => self.white_relative[side].add(centipawns),
            None => {}
        }
    }

    /// Returns the evaluations of White and of Black, each from that side's point of view.
    pub(crate) fn by_colour(self, is_black_first: bool) -> [EvaluationBuckets; 2] {
        let [white, black] = if is_black_first { [1, 0] } else { [0, 1] };
        [
            self.side_relative[white].with(self.white_relative[white]),
            // A score from White's point of view has the opposite sign for Black.
            self.side_relative[black].with(self.white_relative[black].mirrored()),
        ]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_from_the_point_of_view_of_their_side() {
        let mut evaluations = Evaluations::default();
        evaluations.add(b"+1.00/9", 0);
        evaluations.add(b"+1.00/9", 1);
        evaluations.add(b"[%eval 2.0]", 1);
        evaluations.add(b"-3.00/9", 2);
        evaluations.add(b"[%eval 2.0]", 2);
        let buckets = |pawns: &[f64]| {
            let mut buckets = EvaluationBuckets::default();
            pawns.iter().for_each(|pawns| buckets.add(100.0 * pawns));
            buckets
        };
        assert_eq!(evaluations.by_colour(false), [buckets(&[1.0, 2.0]), buckets(&[-3.0, -2.0])]);
        assert_eq!(evaluations.by_colour(true), [buckets(&[-3.0, 2.0]), buckets(&[1.0, -2.0])]);
    }
}
