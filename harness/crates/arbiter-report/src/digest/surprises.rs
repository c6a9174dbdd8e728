//! The games that did not end as one of their engines thought.

use shakmaty::Color;

use super::movers;
use arbiter_game::record::GameRecord;
use arbiter_protocol::uci::score::Score;
use arbiter_stats::elo::score_from_elo;

/// Games that are kept.
const KEPT: usize = 6;

/// A mate that is announced, as an expected share of the points.
const CERTAIN: f64 = 1.0;

/// A game, and who was mistaken about it.
#[derive(Debug, Clone)]
pub struct Surprise {
    /// Number of the pair, from 0.
    pub pair: u64,
    /// Which game of the pair, from 0.
    pub half: usize,
    /// The game.
    pub game: GameRecord,
    /// Who thought well of it.
    pub who: Color,
    /// Ply, from 0, of the move that it thought best of.
    pub ply: usize,
    /// What it thought.
    pub score: Score,
    /// Points it expected by that, less those it got: 0 to 1.
    swing: f64,
}

/// The games with the largest swings, the largest first.
#[derive(Debug, Clone, Default)]
pub struct Surprises(Vec<Surprise>);

impl Surprises {
    /// Adds a game, if it is one of the most surprising.
    pub(super) fn add(&mut self, pair: u64, half: usize, game: &GameRecord) {
        let sides = Color::ALL.into_iter().filter_map(|who| {
            let (ply, score) = brightest(game, who)?;
            let points = match game.outcome.result.winner() {
                None => 0.5,
                Some(winner) if winner == who => 1.0,
                Some(_) => 0.0,
            };
            Some((who, ply, score, expected(score) - points))
        });
        let Some((who, ply, score, swing)) = sides.max_by(|a, b| a.3.total_cmp(&b.3)) else {
            return;
        };
        let place = self.0.partition_point(|kept| kept.swing >= swing);
        if place < KEPT && swing > 0.0 {
            let surprise = Surprise { pair, half, game: game.clone(), who, ply, score, swing };
            self.0.insert(place, surprise);
            self.0.truncate(KEPT);
        }
    }

    /// They.
    pub fn iter(&self) -> impl Iterator<Item = &Surprise> {
        self.0.iter()
    }
}

/// The move that one side thought best of, and what it thought.
fn brightest(game: &GameRecord, who: Color) -> Option<(usize, Score)> {
    let own = game.moves.iter().zip(movers(game)).enumerate();
    let scores = own
        .filter(|(_, (_, (mover, _)))| *mover == who)
        .filter_map(|(ply, (played, _))| Some((ply, played.thought.as_ref()?.score?)));
    scores.max_by(|a, b| expected(a.1).total_cmp(&expected(b.1)))
}

/// The share of points that a score promises, if a pawn is worth 100 Elo. It only ranks games.
fn expected(score: Score) -> f64 {
    match score {
        Score::Centipawns(cp) => score_from_elo(f64::from(cp)),
        Score::Mate(moves) if moves > 0 => CERTAIN,
        Score::Mate(_) => 1.0 - CERTAIN,
    }
}
