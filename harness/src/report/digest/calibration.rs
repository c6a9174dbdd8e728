//! What became of an engine's evaluations.

use shakmaty::Color;

use super::movers;
use crate::game::record::GameRecord;
use crate::stats::pentanomial::{GameResult, Trinomial};
use crate::uci::score::Score;

/// Width of a bucket of evaluations, in centipawns.
pub const BUCKET_CENTIPAWNS: i32 = 100;

/// Buckets on either side of the one around zero; the outermost have no end.
const SIDE: i32 = 6;

const BUCKETS: usize = 2 * SIDE as usize + 1;

/// Results of games by evaluations that an engine had in them. A game counts once for each bucket
/// that an evaluation fell into, as the evaluations of a game do not tell of one another's truth.
#[derive(Debug, Clone, Default)]
pub struct Calibration([Trinomial; BUCKETS]);

impl Calibration {
    /// Adds what one side thought of a game, and what it got.
    pub(super) fn add(&mut self, game: &GameRecord, color: Color, result: GameResult) {
        let mut seen = [false; BUCKETS];
        for (played, (mover, _)) in game.moves.iter().zip(movers(game)) {
            let score = played.thought.as_ref().and_then(|thought| thought.score);
            if let Some(score) = score.filter(|_| mover == color) {
                seen[bucket(score)] = true;
            }
        }
        let seen = self.0.iter_mut().zip(seen).filter(|(_, seen)| *seen);
        seen.for_each(|(bucket, _)| bucket.record(result));
    }

    /// The middle of each bucket in centipawns, and the results of its games.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &Trinomial)> {
        (-SIDE..=SIDE).map(|place| place * BUCKET_CENTIPAWNS).zip(&self.0)
    }
}

fn bucket(score: Score) -> usize {
    let place = match score {
        Score::Centipawns(cp) => {
            (f64::from(cp) / f64::from(BUCKET_CENTIPAWNS)).round().clamp(-6.0, 6.0) as i32
        }
        Score::Mate(moves) if moves > 0 => SIDE,
        Score::Mate(_) => -SIDE,
    };
    (place.clamp(-SIDE, SIDE) + SIDE) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_around_whole_pawns_and_open_at_the_ends() {
        let middle = |score| (bucket(score) as i32 - SIDE) * BUCKET_CENTIPAWNS;
        let shown =
            [0, 49, -49, 51, -149, 649, 9_999, i32::MIN].map(|cp| middle(Score::Centipawns(cp)));
        assert_eq!(shown, [0, 0, 0, 100, -100, 600, 600, -600]);
        assert_eq!([3, 0, -2].map(|moves| middle(Score::Mate(moves))), [600, -600, -600]);
    }
}
