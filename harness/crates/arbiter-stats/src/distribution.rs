//! Weights of equally spaced scores from 0 to 1, and moments of the scores.
//!
//! Cell i of `K` stands for the score i/(K − 1). A game has three cells, and a pair of games has
//! five. The unit of observation is therefore a game or a pair; [`Distribution::GAMES_PER_UNIT`] is
//! the number of games in a unit.

/// Weight that replaces a count of zero before a likelihood is computed, as in fishtest, OpenBench
/// and fastchess. The weight is too small to affect other cells, but positive, so that no result
/// has the probability 0.
pub(crate) const ZERO_CELL: f64 = 1e-3;

/// Non-negative weights of the scores 0, 1/(K − 1), …, 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution<const K: usize> {
    /// Weights, lowest score first.
    weights: [f64; K],
}

/// Mean and variance of the scores, 0 to 1, in a sample of units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Number of units (games or pairs), greater than 0.
    pub units: f64,
    /// Number of games in one unit: 1 or 2.
    pub games_per_unit: f64,
    /// Mean score, 0 to 1.
    pub mean: f64,
    /// Variance of one unit's score: the sum of squared deviations divided by `units`, not by
    /// `units` − 1.
    pub variance: f64,
}

impl Moments {
    /// Returns the standard error of the mean score.
    pub fn standard_error(&self) -> f64 {
        (self.variance / self.units).sqrt()
    }

    /// Returns the variance of one game's score, estimated from the units. The score of a pair is
    /// the mean of the scores of two games, so the variance per game is twice the variance per
    /// pair.
    pub fn variance_per_game(&self) -> f64 {
        self.games_per_unit * self.variance
    }
}

impl<const K: usize> Distribution<K> {
    /// Number of games in one unit of observation: 1 for three cells, 2 for five.
    pub const GAMES_PER_UNIT: f64 = {
        assert!(K >= 3 && K % 2 == 1, "a unit of g games has 2g + 1 scores");
        ((K - 1) / 2) as f64
    };

    /// Creates a distribution whose weights are the counts.
    pub fn from_counts(counts: [u64; K]) -> Distribution<K> {
        Distribution { weights: counts.map(|count| count as f64) }
    }

    /// Creates a distribution with the given weights.
    ///
    /// # Panics
    ///
    /// Panics if a weight is infinite, NaN or negative.
    pub fn from_weights(weights: [f64; K]) -> Distribution<K> {
        assert!(weights.iter().all(|w| w.is_finite() && *w >= 0.0), "bad weights {weights:?}");
        Distribution { weights }
    }

    /// Returns the score of a cell, 0 to 1.
    pub fn score(cell: usize) -> f64 {
        cell as f64 / (K - 1) as f64
    }

    /// Returns the sum of the weights: the number of observed units.
    pub fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Returns the distribution with every empty cell raised to [`ZERO_CELL`].
    #[must_use]
    pub fn regularized(&self) -> Distribution<K> {
        Distribution { weights: self.weights.map(|w| if w == 0.0 { ZERO_CELL } else { w }) }
    }

    /// Returns the probabilities of the [regularized](Self::regularized) distribution, which are
    /// all positive.
    pub(crate) fn positive_probabilities(&self) -> [f64; K] {
        let sample = self.regularized();
        sample.probabilities().expect("no cell is empty after regularization")
    }

    /// Returns the log-likelihood ratio Σ n·ln(q₁/q₀) of the probabilities `q1` against `q0`.
    pub(crate) fn llr(&self, q0: &[f64; K], q1: &[f64; K]) -> f64 {
        (0..K).map(|cell| self.weights[cell] * (q1[cell] / q0[cell]).ln()).sum()
    }

    /// Returns the weights scaled to add up to 1; `None` if all weights are zero.
    pub fn probabilities(&self) -> Option<[f64; K]> {
        let total = self.total();
        (total > 0.0).then(|| self.weights.map(|w| w / total))
    }

    /// Returns the moments of the sample; `None` if the sample is empty.
    ///
    /// The variance is exactly 0 if all units are in one cell.
    pub fn moments(&self) -> Option<Moments> {
        let p = self.probabilities()?;
        // If all units are in one inner cell, rounding errors would give the sample a tiny
        // variance, and therefore a wrong interval.
        let variance = if p.contains(&1.0) { 0.0 } else { central_moment(&p, 2) };
        Some(Moments {
            units: self.total(),
            games_per_unit: Self::GAMES_PER_UNIT,
            mean: mean(&p),
            variance,
        })
    }
}

/// Returns the mean score under `probabilities`, which add up to 1.
pub(crate) fn mean<const K: usize>(probabilities: &[f64; K]) -> f64 {
    probabilities.iter().enumerate().map(|(cell, p)| p * Distribution::<K>::score(cell)).sum()
}

/// Returns the central moment of the given order: the mean of (score − mean score)^`order`.
pub(crate) fn central_moment<const K: usize>(probabilities: &[f64; K], order: i32) -> f64 {
    let mean = mean(probabilities);
    let term = |(cell, p): (usize, &f64)| p * (Distribution::<K>::score(cell) - mean).powi(order);
    probabilities.iter().enumerate().map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_fair_coin() {
        let games = Distribution::<3>::from_counts([5, 0, 5]).moments().expect("ten games");
        assert_eq!((games.units, games.mean, games.variance), (10.0, 0.5, 0.25));
        assert_eq!(games.variance_per_game(), 0.25);
        let pairs = Distribution::<5>::from_counts([5, 0, 0, 0, 5]).moments().expect("ten pairs");
        assert_eq!(pairs.variance_per_game(), 0.5);
    }

    #[test]
    fn one_filled_cell_has_zero_variance() {
        for cell in 0..5 {
            let mut counts = [0; 5];
            counts[cell] = 7;
            let moments = Distribution::<5>::from_counts(counts).moments().expect("seven pairs");
            assert_eq!((moments.mean, moments.variance), (cell as f64 / 4.0, 0.0));
        }
    }

    #[test]
    fn an_empty_sample_has_no_moments() {
        assert_eq!(Distribution::<3>::from_counts([0; 3]).moments(), None);
    }

    #[test]
    fn only_empty_cells_are_raised() {
        let raised = Distribution::<5>::from_counts([0, 3, 0, 1, 0]).regularized();
        assert_eq!(raised.weights, [1e-3, 3.0, 1e-3, 1.0, 1e-3]);
    }
}
