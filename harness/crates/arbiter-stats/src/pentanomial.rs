//! Counts of results: [`Trinomial`] counts single games, and [`Pentanomial`] counts pairs.
//!
//! A pair is two games from the same opening with colours reversed. The two games are negatively
//! correlated, because an opening that favours White helps each engine once. Statistics of pairs
//! take this correlation into account and have a smaller variance. Use counts of single games only
//! for runs without pairs.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use super::distribution::Distribution;
use super::elo::{Estimate, Z_95, elo_from_score};

/// Result of one game for the first engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// The first engine lost: 0 points.
    Loss,
    /// The game was drawn: half a point for each engine.
    Draw,
    /// The first engine won: 1 point.
    Win,
}

impl GameResult {
    /// Returns the result of a game: a win of the first engine for `Some(true)`, a loss for
    /// `Some(false)`, and a draw for `None`.
    pub const fn of(has_won: Option<bool>) -> GameResult {
        match has_won {
            Some(true) => GameResult::Win,
            Some(false) => GameResult::Loss,
            None => GameResult::Draw,
        }
    }

    /// Returns the first engine's score in half points: 0, 1 or 2.
    pub const fn half_points(self) -> usize {
        self as usize
    }

    /// Returns the result from the second engine's point of view.
    #[must_use]
    pub const fn reversed(self) -> GameResult {
        match self {
            GameResult::Loss => GameResult::Win,
            GameResult::Draw => GameResult::Draw,
            GameResult::Win => GameResult::Loss,
        }
    }
}

/// Numbers of games lost, drawn and won by the first engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Trinomial {
    /// Number of games that the first engine lost.
    pub losses: u64,
    /// Number of drawn games.
    pub draws: u64,
    /// Number of games that the first engine won.
    pub wins: u64,
}

impl Trinomial {
    /// Counts one more game.
    pub const fn record(&mut self, result: GameResult) {
        match result {
            GameResult::Loss => self.losses += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::Win => self.wins += 1,
        }
    }

    /// Returns the number of games.
    pub const fn games(&self) -> u64 {
        self.losses + self.draws + self.wins
    }

    /// Returns the counts from the second engine's point of view.
    #[must_use]
    pub const fn swapped(&self) -> Trinomial {
        Trinomial { losses: self.wins, draws: self.draws, wins: self.losses }
    }

    /// Returns the share of drawn games, 0 to 1; `None` without games.
    pub fn draw_ratio(&self) -> Option<f64> {
        ratio(self.draws, self.games())
    }

    /// Returns the counts as weights on the scores 0, ½, 1.
    pub fn distribution(&self) -> Distribution<3> {
        Distribution::from_counts([self.losses, self.draws, self.wins])
    }
}

impl Add for Trinomial {
    type Output = Trinomial;

    fn add(self, other: Trinomial) -> Trinomial {
        Trinomial {
            losses: self.losses + other.losses,
            draws: self.draws + other.draws,
            wins: self.wins + other.wins,
        }
    }
}

impl AddAssign for Trinomial {
    fn add_assign(&mut self, other: Trinomial) {
        *self = *self + other;
    }
}

impl Sum for Trinomial {
    fn sum<I: Iterator<Item = Trinomial>>(counts: I) -> Trinomial {
        counts.fold(Trinomial::default(), Add::add)
    }
}

/// Numbers of pairs by the points of the first engine: `[LL, LD, DD+WL, WD, WW]`, for 0, ½, 1, 1½
/// and 2 points.
///
/// A pair with a win and a loss and a pair with two draws share a cell, because no statistic in
/// this crate distinguishes these pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Pentanomial(pub [u64; 5]);

impl Pentanomial {
    /// Counts one more pair; the order of its two games does not matter.
    pub const fn record(&mut self, first: GameResult, second: GameResult) {
        self.0[first.half_points() + second.half_points()] += 1;
    }

    /// Returns the expected counts in 10¹² pairs. The counts reproduce the probabilities to about
    /// eleven digits.
    pub(crate) fn expected(probabilities: &[f64; 5]) -> Pentanomial {
        Pentanomial(probabilities.map(|p| (p * 1e12) as u64))
    }

    /// Returns the number of pairs.
    pub const fn pairs(&self) -> u64 {
        let [ll, ld, middle, wd, ww] = self.0;
        ll + ld + middle + wd + ww
    }

    /// Returns the number of games, two per pair.
    pub const fn games(&self) -> u64 {
        2 * self.pairs()
    }

    /// Returns the counts from the second engine's point of view.
    #[must_use]
    pub const fn swapped(&self) -> Pentanomial {
        let [ll, ld, middle, wd, ww] = self.0;
        Pentanomial([ww, wd, middle, ld, ll])
    }

    /// Returns the pairs ratio: the number of won pairs (more than one point) divided by the number
    /// of lost pairs; `None` if no pair was lost.
    pub fn pairs_ratio(&self) -> Option<f64> {
        let [ll, ld, _, wd, ww] = self.0;
        ratio(wd + ww, ll + ld)
    }

    /// Returns the share of level pairs, 0 to 1; `None` without pairs.
    pub fn level_ratio(&self) -> Option<f64> {
        ratio(self.0[2], self.pairs())
    }

    /// Returns the counts as weights on the pair scores 0, ¼, ½, ¾, 1.
    pub fn distribution(&self) -> Distribution<5> {
        Distribution::from_counts(self.0)
    }
}

/// Returns the opening bias of games played in pairs, as a root mean square in logistic Elo, with
/// its 95 % confidence interval.
///
/// The bias b increases the variance of games by b², but cancels within pairs, so b² = v(games) −
/// 2·v(pairs), where v is the variance of the score of one game or of one pair. This difference is
/// the negative covariance of the two games of a pair, whose standard error gives the interval. The
/// formula is exact for identical engines. Returns `None` if there are no games or no pairs, if the
/// bias is infinite, or if the games of a pair are positively correlated, which no bias can
/// explain.
pub fn opening_bias(pairs: &Pentanomial, games: &Trinomial) -> Option<Estimate> {
    let by_pairs = pairs.distribution().moments()?;
    let by_games = games.distribution().moments()?;
    let squared = by_games.variance_per_game() - by_pairs.variance_per_game();
    let [ll, ld, middle, wd, ww] = pairs.0.map(|count| count as f64 / by_pairs.units);
    // Each draw in the middle cell is one of two, and the other pairs of the cell are a win each.
    let two_draws = (games.draw_ratio()? - (ld + wd) / 2.0).clamp(0.0, middle);
    let [loss, draw, win] = [0.0, 0.5, 1.0].map(|score| score - by_games.mean);
    let products = [
        (ll, loss * loss),
        (ld, loss * draw),
        (two_draws, draw * draw),
        (middle - two_draws, loss * win),
        (wd, draw * win),
        (ww, win * win),
    ];
    let mean: f64 = products.iter().map(|(share, product)| share * product).sum();
    let variance: f64 =
        products.iter().map(|(share, product)| share * (product - mean).powi(2)).sum();
    let margin = Z_95 * (variance / by_pairs.units).sqrt();
    // The square root is the shift of White's mean score from ½, so the square root is converted to
    // Elo like a score.
    let elo = |squared: f64| elo_from_score(0.5 + squared.max(0.0).sqrt());
    let bias =
        Estimate { value: elo(squared), low: elo(squared - margin), high: elo(squared + margin) };
    (squared >= 0.0 && bias.value.is_finite()).then_some(bias)
}

impl Add for Pentanomial {
    type Output = Pentanomial;

    fn add(self, other: Pentanomial) -> Pentanomial {
        Pentanomial(std::array::from_fn(|cell| self.0[cell] + other.0[cell]))
    }
}

impl AddAssign for Pentanomial {
    fn add_assign(&mut self, other: Pentanomial) {
        *self = *self + other;
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_results_lands_in_its_cell() {
        use GameResult::{Draw, Loss, Win};
        let cases = [
            (Loss, Loss, 0),
            (Loss, Draw, 1),
            (Draw, Loss, 1),
            (Draw, Draw, 2),
            (Win, Loss, 2),
            (Loss, Win, 2),
            (Win, Draw, 3),
            (Draw, Win, 3),
            (Win, Win, 4),
        ];
        for (first, second, cell) in cases {
            let mut pairs = Pentanomial::default();
            pairs.record(first, second);
            let mut expected = [0; 5];
            expected[cell] = 1;
            assert_eq!(pairs.0, expected, "{first:?} then {second:?}");
        }
    }

    #[test]
    fn games_are_counted_by_result() {
        let mut games = Trinomial::default();
        games.record(GameResult::Win);
        games.record(GameResult::Win);
        games.record(GameResult::Draw);
        games.record(GameResult::Loss);
        assert_eq!(games, Trinomial { losses: 1, draws: 1, wins: 2 });
        assert_eq!(games.games(), 4);
        assert_eq!(games.draw_ratio(), Some(0.25));
        assert_eq!(games.swapped(), Trinomial { losses: 2, draws: 1, wins: 1 });
    }

    #[test]
    fn sums_are_cell_by_cell() {
        let parts = [Pentanomial([1, 2, 3, 4, 5]), Pentanomial([10, 20, 30, 40, 50])];
        let total = parts.into_iter().fold(Pentanomial::default(), Add::add);
        assert_eq!(total.0, [11, 22, 33, 44, 55]);
        assert_eq!((total.pairs(), total.games()), (165, 330));
        let games = Trinomial { losses: 1, draws: 2, wins: 3 };
        assert_eq!([games, games].into_iter().sum::<Trinomial>().games(), 12);
    }

    #[test]
    fn ratios_without_a_denominator_are_undefined() {
        assert_eq!(Trinomial::default().draw_ratio(), None);
        assert_eq!(Pentanomial::default().level_ratio(), None);
        assert_eq!(Pentanomial([0, 0, 9, 3, 0]).pairs_ratio(), None);
        assert_eq!(Pentanomial([1, 1, 9, 3, 2]).pairs_ratio(), Some(2.5));
        assert_eq!(Pentanomial([1, 1, 4, 1, 1]).level_ratio(), Some(0.5));
    }

    #[test]
    fn opening_bias_is_the_variance_that_pairs_cancel() {
        // White wins every game: the bias is infinite.
        let white = Trinomial { losses: 50, draws: 0, wins: 50 };
        assert_eq!(opening_bias(&Pentanomial([0, 0, 50, 0, 0]), &white), None);
        // The variance per game is 0.125 if computed from games, and 0.09 if computed from pairs.
        // White's score therefore differs from ½ by √0.035 (root mean square).
        let games = Trinomial { losses: 25, draws: 50, wins: 25 };
        let bias = opening_bias(&Pentanomial([2, 10, 26, 10, 2]), &games).expect("some bias");
        let elo = |squared: f64| elo_from_score(0.5 + squared.sqrt());
        assert!((bias.value - elo(0.035)).abs() < 1e-9);
        // The product of the deviations of the two games is ¼ in 4 pairs, −¼ in 11 pairs and 0 in
        // the 35 pairs with a draw.
        let margin = Z_95 * ((15.0 / 16.0 / 50.0 - 0.035f64.powi(2)) / 50.0).sqrt();
        assert_eq!(bias.low, 0.0);
        assert!((bias.high - elo(0.035 + margin)).abs() < 1e-9);
        let alike = Trinomial { losses: 10, draws: 0, wins: 10 };
        assert_eq!(opening_bias(&Pentanomial([5, 0, 0, 0, 5]), &alike), None);
        assert_eq!(opening_bias(&Pentanomial::default(), &games), None);
    }
}
