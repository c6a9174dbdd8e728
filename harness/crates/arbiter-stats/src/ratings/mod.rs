//! Maximum-likelihood ratings of many players from their games.
//!
//! Players are numbered from 0. A [`Meeting`] is the head-to-head record of two players. [`rate`]
//! returns ratings in Elo on the scale of the [`Options`]. The mean rating of a group of comparable
//! players is 0 unless a player of the group has an anchor or a prior.

mod groups;
mod matrix;
mod model;
mod outcome;
mod solve;
mod state;

pub use groups::{Groups, PerfectScore};
pub use model::OutcomeModel;
pub use outcome::{Errors, RatingList};
pub use solve::rate;

/// Elo points per natural unit of strength on the standard scale, on which 400 points multiply the
/// odds by ten.
pub const LOGISTIC_SCALE: f64 = 400.0 / std::f64::consts::LN_10;

/// Games of two players against each other. Result indices are 0 for a loss, 1 for a draw and 2 for
/// a win of the first player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// Indices of two different players.
    pub players: [usize; 2],
    /// Numbers of pairs of games from the same opening. In `pairs[a][b]` pairs, the result is `a`
    /// in the game in which the first player has White, and `b` in the other game.
    pub pairs: [[u64; 3]; 3],
    /// Numbers of single games by result: `singles[0]` with the first player as White, `singles[1]`
    /// with the first player as Black.
    pub singles: [[u64; 3]; 2],
}

impl Meeting {
    /// Creates a meeting without games.
    pub const fn new(players: [usize; 2]) -> Meeting {
        Meeting { players, pairs: [[0; 3]; 3], singles: [[0; 3]; 2] }
    }

    /// Returns the numbers of the first player's results, first as White, then as Black.
    pub fn by_colour(&self) -> [[u64; 3]; 2] {
        let mut counts = self.singles;
        for (white, row) in self.pairs.iter().enumerate() {
            for (black, pairs) in row.iter().enumerate() {
                counts[0][white] += pairs;
                counts[1][black] += pairs;
            }
        }
        counts
    }

    /// Returns the number of games.
    pub fn games(&self) -> u64 {
        self.by_colour().iter().flatten().sum()
    }

    /// Returns the numbers of games that the first player lost, drew and won with either colour.
    pub fn results(&self) -> [u64; 3] {
        let [white, black] = self.by_colour();
        std::array::from_fn(|result| white[result] + black[result])
    }
}

/// Prior distribution of the rating of one player.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// Index of the player.
    pub player: usize,
    /// Expected rating, in Elo points.
    pub mean: f64,
    /// Standard deviation of the rating, in Elo points, greater than 0.
    pub deviation: f64,
}

/// Prior distribution of the rating difference of two players.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relation {
    /// Indices of the players.
    pub players: [usize; 2],
    /// Expected rating difference, first minus second, in Elo points.
    pub mean: f64,
    /// Standard deviation of the difference, in Elo points, greater than 0.
    pub deviation: f64,
}

/// Options of the rating calculation.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Model of the result of a game.
    pub model: OutcomeModel,
    /// Elo points per natural unit of strength: [`LOGISTIC_SCALE`], or [`scale_of`] for other
    /// conventions.
    pub scale: f64,
    /// Advantage of White, in Elo points; estimated from the games if `None`.
    pub advantage: Option<f64>,
    /// Share of draws between equal players without an advantage, 0 to 1 exclusive; estimated from
    /// the games if `None`.
    pub draw_rate: Option<f64>,
    /// Number of prior draws of each player. The draws are distributed over the opponents in
    /// proportion to the number of games, and equally over both colours.
    pub prior_draws: f64,
    /// Players with given ratings: index and rating in Elo points.
    pub anchors: Vec<(usize, f64)>,
    /// Priors of the ratings of individual players.
    pub priors: Vec<Prior>,
    /// Priors of the rating differences of pairs of players.
    pub relations: Vec<Relation>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: OutcomeModel::Scores,
            scale: LOGISTIC_SCALE,
            advantage: None,
            draw_rate: None,
            prior_draws: 0.0,
            anchors: Vec::new(),
            priors: Vec::new(),
            relations: Vec::new(),
        }
    }
}

/// Returns the scale, in Elo points per natural unit, on which a difference of `points` Elo points
/// gives the expected score `score`. Ordo uses 202 points for a score of 0.76.
pub fn scale_of(points: f64, score: f64) -> f64 {
    points / (score / (1.0 - score)).ln()
}

/// Maximum number of players that are rated together. More players would take minutes and gigabytes
/// of memory.
pub const MAX_PLAYERS: usize = 1000;

/// Error of a rating calculation in which Newton's method did not converge. No known input causes
/// this error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected the likelihood to have a maximum")]
pub struct NoMaximum;
