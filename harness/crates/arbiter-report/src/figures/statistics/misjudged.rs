//! Games in which an engine scored far less than its best evaluation predicted.

use shakmaty::Color;

use super::{centipawns, movers, result};
use arbiter_game::record::GameRecord;
use arbiter_protocol::Score;
use arbiter_stats::GameResult;
use arbiter_stats::elo::score_from_elo;

/// Maximum number of games that are listed.
const MAX_GAMES: usize = 6;

/// Minimum evaluation that counts as a winning advantage: 150 centipawns. A game is not misjudged
/// if the engine's best evaluation was lower.
pub(crate) const MIN_ADVANTAGE: Score = Score::Centipawns(150);

/// Game, and the side that misjudged the game.
#[derive(Debug, Clone)]
pub struct MisjudgedGame {
    /// Number of the pair, from 0.
    pub pair: u64,
    /// Index of the game in the pair, from 0.
    pub game_index: usize,
    /// Record of the game.
    pub game: GameRecord,
    /// Side that misjudged the game.
    pub color: Color,
    /// Ply, from 0, at which the side reported its best evaluation.
    pub ply: usize,
    /// Best evaluation of the side.
    pub score: Score,
    /// Expected score at the best evaluation minus the actual score of the game, 0 to 1.
    error: f64,
}

/// Inserts a game into `games`, which is sorted by error, largest first, and contains at most
/// [`MAX_GAMES`] games. If both sides misjudged the game, the side with the larger error is stored.
pub(super) fn add(games: &mut Vec<MisjudgedGame>, pair: u64, game_index: usize, game: &GameRecord) {
    let sides = Color::ALL.into_iter().filter_map(|color| {
        let moves = game.moves.iter().zip(movers(game)).enumerate();
        let moves = moves.filter(|(_, (_, (mover, _)))| *mover == color);
        let scores =
            moves.filter_map(|(ply, (played, _))| Some((ply, played.search.as_ref()?.score?)));
        let (ply, score) =
            scores.max_by(|(_, a), (_, b)| centipawns(*a).total_cmp(&centipawns(*b)))?;
        Some((color, ply, score, error(score, result(game, color))?))
    });
    let Some((color, ply, score, error)) = sides.max_by(|a, b| a.3.total_cmp(&b.3)) else { return };
    let index = games.partition_point(|kept| kept.error >= error);
    if index < MAX_GAMES {
        let game = game.clone();
        games.insert(index, MisjudgedGame { pair, game_index, game, color, ply, score, error });
        games.truncate(MAX_GAMES);
    }
}

/// Returns the expected score at an engine's best evaluation minus the actual score of the game;
/// `None` if the evaluation is below [`MIN_ADVANTAGE`] or the engine won.
fn error(best: Score, result: GameResult) -> Option<f64> {
    // One centipawn counts as 1 Elo. This conversion is precise enough, because the error only
    // ranks games.
    let error = score_from_elo(centipawns(best)) - result.half_points() as f64 / 2.0;
    (centipawns(best) >= centipawns(MIN_ADVANTAGE) && error > 0.0 && result != GameResult::Win)
        .then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_winning_scores_without_a_win_are_misjudged() {
        let error = |centipawns, result| error(Score::Centipawns(centipawns), result);
        assert_eq!(error(149, GameResult::Loss), None);
        assert_eq!(error(900, GameResult::Win), None);
        let [lost, drawn] = [GameResult::Loss, GameResult::Draw].map(|result| error(150, result));
        assert!(lost > drawn && drawn > Some(0.0), "{lost:?} {drawn:?}");
        assert!(error(800, GameResult::Draw) > drawn);
    }
}
