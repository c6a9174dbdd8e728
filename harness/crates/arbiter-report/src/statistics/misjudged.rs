//! Games whose result was far from an engine's best evaluation.

use shakmaty::Color;

use super::movers;
use arbiter_game::record::GameRecord;
use arbiter_protocol::Score;
use arbiter_stats::elo::score_from_elo;

/// Games that are kept.
const KEPT: usize = 6;

/// Expected score, 0 to 1, of an announced mate.
const CERTAIN: f64 = 1.0;

/// A game, and which engine misjudged it.
#[derive(Debug, Clone)]
pub struct MisjudgedGame {
    /// Number of the pair, from 0.
    pub pair: u64,
    /// Which game of the pair, from 0.
    pub half: usize,
    /// The game.
    pub game: GameRecord,
    /// The side that misjudged it.
    pub color: Color,
    /// Ply, from 0, of its best evaluation.
    pub ply: usize,
    /// Its best evaluation.
    pub score: Score,
    /// Expected score at the best evaluation less the score of the game, 0 to 1.
    error: f64,
}

/// The games with the largest errors, the largest first.
#[derive(Debug, Clone, Default)]
pub struct MisjudgedGames(Vec<MisjudgedGame>);

impl MisjudgedGames {
    /// Adds a game, if its error is among the largest.
    pub(super) fn add(&mut self, pair: u64, half: usize, game: &GameRecord) {
        let sides = Color::ALL.into_iter().filter_map(|color| {
            let (ply, score) = best_evaluation(game, color)?;
            let points = match game.outcome.result.winner() {
                None => 0.5,
                Some(winner) if winner == color => 1.0,
                Some(_) => 0.0,
            };
            Some((color, ply, score, expected(score) - points))
        });
        let Some((color, ply, score, error)) = sides.max_by(|a, b| a.3.total_cmp(&b.3)) else {
            return;
        };
        let index = self.0.partition_point(|kept| kept.error >= error);
        if index < KEPT && error > 0.0 {
            let misjudged =
                MisjudgedGame { pair, half, game: game.clone(), color, ply, score, error };
            self.0.insert(index, misjudged);
            self.0.truncate(KEPT);
        }
    }

    /// The games.
    pub fn iter(&self) -> impl Iterator<Item = &MisjudgedGame> {
        self.0.iter()
    }
}

/// Ply and value of the best evaluation of one side.
fn best_evaluation(game: &GameRecord, color: Color) -> Option<(usize, Score)> {
    let own = game.moves.iter().zip(movers(game)).enumerate();
    let scores = own
        .filter(|(_, (_, (mover, _)))| *mover == color)
        .filter_map(|(ply, (played, _))| Some((ply, played.thought.as_ref()?.score?)));
    scores.max_by(|a, b| expected(a.1).total_cmp(&expected(b.1)))
}

/// Expected score, 0 to 1, of an evaluation, with a pawn as 100 Elo. It only ranks games.
fn expected(score: Score) -> f64 {
    match score {
        Score::Centipawns(cp) => score_from_elo(f64::from(cp)),
        Score::Mate(moves) if moves > 0 => CERTAIN,
        Score::Mate(_) => 1.0 - CERTAIN,
    }
}
