//! Ratings of many players from their games, by maximum likelihood.
//!
//! Players are numbers; a [`Meeting`] is the head-to-head record of two of them. [`rate`] returns
//! ratings in Elo of the scale of the [`Options`], with mean 0 in each group of comparable players
//! unless some are anchored.

mod groups;
mod matrix;
mod model;
mod outcome;
mod solve;

pub use groups::{Groups, PerfectScore};
pub use model::OutcomeModel;
pub use outcome::{Errors, RatingList};
pub use solve::rate;

/// Points per natural unit of strength on the usual scale: 400 points are a factor of ten.
pub const LOGISTIC_SCALE: f64 = 400.0 / std::f64::consts::LN_10;

/// Games of two players against each other. Results are indexed 0, 1, 2 for a loss, a draw and a
/// win of the first player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// The two players, who differ.
    pub players: [usize; 2],
    /// Pairs of games from the same opening: `pairs[a][b]` of them with result `a` in the game
    /// where the first player had White and `b` in the other.
    pub pairs: [[u64; 3]; 3],
    /// Games without a partner: `singles[0]` with the first player as White, `singles[1]` as Black.
    pub singles: [[u64; 3]; 2],
}

impl Meeting {
    /// Creates a meeting without games.
    pub const fn new(players: [usize; 2]) -> Meeting {
        Meeting { players, pairs: [[0; 3]; 3], singles: [[0; 3]; 2] }
    }

    /// Results of the first player, with White and with Black.
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

    /// Results of the first player with either colour: lost, drawn, won.
    pub fn results(&self) -> [u64; 3] {
        let [white, black] = self.by_colour();
        std::array::from_fn(|result| white[result] + black[result])
    }
}

/// Quantity that is estimated or given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Parameter {
    /// Estimated from the games.
    Fitted,
    /// Given.
    Fixed(f64),
}

/// Knowledge of a player from before the games: a rating with a standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// Index of the player.
    pub player: usize,
    /// Expected rating.
    pub mean: f64,
    /// Standard deviation of the rating, greater than 0.
    pub deviation: f64,
}

/// Knowledge of two players from before the games: the superiority of the first, with a standard
/// deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relation {
    /// Indices of the players.
    pub players: [usize; 2],
    /// Expected rating of the first above that of the second.
    pub mean: f64,
    /// Standard deviation of the difference, greater than 0.
    pub deviation: f64,
}

/// Options of the rating.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Model of a game.
    pub model: OutcomeModel,
    /// Points per natural unit of strength: [`LOGISTIC_SCALE`], or [`scale_of`] other conventions.
    pub scale: f64,
    /// Advantage of White, in points.
    pub advantage: Parameter,
    /// Share of draws between equal players without an advantage, 0 to 1 exclusive.
    pub draw_rate: Parameter,
    /// Imagined draws of each player, spread over the opponents by games and over both colours.
    pub prior_draws: f64,
    /// Players whose rating is given.
    pub anchors: Vec<(usize, f64)>,
    /// Knowledge of single players from before the games.
    pub priors: Vec<Prior>,
    /// Knowledge of pairs of players from before the games.
    pub relations: Vec<Relation>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: OutcomeModel::Scores,
            scale: LOGISTIC_SCALE,
            advantage: Parameter::Fitted,
            draw_rate: Parameter::Fitted,
            prior_draws: 0.0,
            anchors: Vec::new(),
            priors: Vec::new(),
            relations: Vec::new(),
        }
    }
}

/// Returns the scale on which `points` more mean an expected score of `score`. Ordo's is 202 points
/// for 0.76.
pub fn scale_of(points: f64, score: f64) -> f64 {
    points / (score / (1.0 - score)).ln()
}

/// Largest number of players that are rated together; more would take minutes and gigabytes.
pub const MAX_PLAYERS: usize = 1000;

/// Newton's method did not converge, which no known input causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected the likelihood to have a maximum")]
pub struct NoMaximum;
