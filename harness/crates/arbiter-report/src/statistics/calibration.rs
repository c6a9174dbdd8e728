//! The evaluations that an engine had in a game.

use shakmaty::Color;

use super::movers;
use arbiter_game::record::GameRecord;
use arbiter_protocol::Score;
use arbiter_stats::EvaluationBuckets;

/// Those of one side.
pub(super) fn seen(game: &GameRecord, color: Color) -> EvaluationBuckets {
    let mut seen = EvaluationBuckets::default();
    for (played, (mover, _)) in game.moves.iter().zip(movers(game)) {
        let score = played.thought.as_ref().and_then(|thought| thought.score);
        if let Some(score) = score.filter(|_| mover == color) {
            seen.add(centipawns(score));
        }
    }
    seen
}

/// A score as a number; a mate is beyond all others.
fn centipawns(score: Score) -> f64 {
    match score {
        Score::Centipawns(centipawns) => f64::from(centipawns),
        Score::Mate(moves) if moves > 0 => f64::INFINITY,
        Score::Mate(_) => f64::NEG_INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mate_is_beyond_all_other_scores() {
        assert_eq!(centipawns(Score::Centipawns(-31)), -31.0);
        assert_eq!([3, 0, -2].map(|moves| centipawns(Score::Mate(moves))), {
            [f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]
        });
    }
}
