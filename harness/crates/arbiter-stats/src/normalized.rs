//! Normalized Elo (nElo): strength difference relative to the standard deviation of a game's score.
//!
//! nElo = 800/ln 10 · (s − ½)/σ, where s is the mean score and σ is the standard deviation of one
//! game's score. The length of an SPRT depends only on its hypotheses in nElo, not on the opening
//! book or the draw rate (M. Van den Bergh, "Normalized Elo"). For small differences, logistic Elo
//! ≈ nElo · 2σ.

use std::f64::consts::LN_10;

use super::distribution::Moments;
use super::elo::{Estimate, Z_95, least_score};

/// Normalized Elo of a score that is one standard deviation of a game's score above ½: 800/ln 10.
pub const NELO_PER_SIGMA: f64 = 800.0 / LN_10;

/// Returns the t-value that corresponds to `nelo`: (mean − ½)/σ for the score of one unit.
///
/// `games_per_unit` is 1 for games and 2 for pairs. The score of a pair has the same mean as the
/// score of a game, and 1/√2 times the standard deviation.
pub fn t_value(nelo: f64, games_per_unit: f64) -> f64 {
    nelo * games_per_unit.sqrt() / NELO_PER_SIGMA
}

/// Returns the normalized Elo of the sample with its 95 % confidence interval. The interval treats
/// σ as known. If all units are won, the value is infinite, and the lower end is the nElo of a
/// sample of won and lost units whose mean score is the lower bound for the score. If all units are
/// lost, the interval is mirrored. Returns `None` if all units are in one inner cell, because such
/// a sample has no variance.
pub fn estimate(sample: &Moments) -> Option<Estimate> {
    let infinite = f64::INFINITY;
    let least = least_score(sample.units, Z_95);
    // The bound is the nElo of a sample in which the share `least` of the units is won and all
    // other units are lost.
    let variance = sample.games_per_unit * least * (1.0 - least);
    let bound = NELO_PER_SIGMA * (least - 0.5) / variance.sqrt();
    if sample.mean >= 1.0 {
        return Some(Estimate { value: infinite, low: bound, high: infinite });
    }
    if sample.mean <= 0.0 {
        return Some(Estimate { value: -infinite, low: -infinite, high: -bound });
    }
    let sigma = sample.variance_per_game().sqrt();
    if sigma <= 0.0 {
        return None;
    }
    let value = NELO_PER_SIGMA * (sample.mean - 0.5) / sigma;
    let margin = NELO_PER_SIGMA * Z_95 * sample.standard_error() / sigma;
    Some(Estimate { value, low: value - margin, high: value + margin })
}

#[cfg(test)]
mod tests {
    use super::super::elo::{self, finite};
    use super::super::pentanomial::{Pentanomial, Trinomial};
    use super::*;

    #[test]
    fn small_differences_agree_with_logistic_elo() {
        let games = Trinomial { losses: 24_000, draws: 51_000, wins: 25_000 };
        let sample = games.distribution().moments().expect("some games");
        let nelo = estimate(&sample).and_then(|e| finite(e.value)).expect("some spread");
        let logistic = finite(elo::estimate(&sample).value).expect("an even score");
        let predicted = nelo * 2.0 * sample.variance_per_game().sqrt();
        assert!((logistic / predicted - 1.0).abs() < 1e-4, "{logistic} against {predicted}");
    }

    #[test]
    fn samples_without_spread_have_no_estimate() {
        let of = |counts| estimate(&Pentanomial(counts).distribution().moments().expect("pairs"));
        for counts in [[0, 0, 9, 0, 0], [0, 1, 0, 0, 0]] {
            assert_eq!(of(counts), None);
        }
        // The bound is the nElo of pairs of which the share `least` is won and all others are lost.
        let won = of([0, 0, 0, 0, 9]).expect("a bound");
        let least = 0.025f64.powf(1.0 / 9.0);
        let sigma = (2.0 * least * (1.0 - least)).sqrt();
        assert!((won.low - NELO_PER_SIGMA * (least - 0.5) / sigma).abs() < 1e-6, "{won:?}");
        assert_eq!(of([9, 0, 0, 0, 0]).map(|lost| lost.high), Some(-won.low));
    }

    #[test]
    fn swapping_sides_negates_normalized_elo() {
        let value = |pairs: Pentanomial| {
            let sample = pairs.distribution().moments().expect("some pairs");
            estimate(&sample).and_then(|e| finite(e.value)).expect("some spread")
        };
        let pairs = Pentanomial([7, 31, 60, 44, 8]);
        assert!((value(pairs) + value(pairs.swapped())).abs() < 1e-9);
    }
}
