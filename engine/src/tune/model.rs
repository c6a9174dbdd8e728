//! Expected results for given weights, and the gradient of the error.

use std::thread;

use super::samples::Samples;
use crate::eval::palimpsest::trace::attack_worth;

/// Weights by index, as pairs of a middlegame and an endgame value. Weights are not rounded during
/// tuning.
pub type Weights = Vec<[f64; 2]>;

/// Number of parts of a sum over samples. The number of parts and the order of addition are fixed,
/// so that the sum does not depend on the number of threads.
const PARTS: usize = 16;

/// Logistic curve that converts centipawns to the expected result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Steepness of the curve. At 1, a score of 100 centipawns corresponds to 100 logistic Elo.
    pub steepness: f64,
}

impl Curve {
    fn per_centipawn(self) -> f64 {
        self.steepness * std::f64::consts::LN_10 / 400.0
    }

    /// Returns White's expected result, 0 to 1, for a score in centipawns.
    pub fn expected_result(self, score: f64) -> f64 {
        1.0 / (1.0 + (-self.per_centipawn() * score).exp())
    }

    /// Returns the curve with the smallest squared error for `scores` (in centipawns) and
    /// `results`. The curve is found by golden-section search.
    pub fn fit(scores: &[f64], results: &[f64]) -> Curve {
        let golden = (5.0f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (0.05, 5.0);
        let error = |steepness| {
            let curve = Curve { steepness };
            let pairs = scores.iter().zip(results);
            pairs
                .map(|(&score, result)| (curve.expected_result(score) - result).powi(2))
                .sum::<f64>()
        };
        // 40 steps shrink the range by a factor of more than 200 million.
        for _ in 0..40 {
            let step = golden * (high - low);
            if error(high - step) < error(low + step) {
                high = low + step;
            } else {
                low = high - step;
            }
        }
        Curve { steepness: (low + high) / 2.0 }
    }
}

/// Error of samples, and the gradient of the error.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// Sum of the squared differences between results and expected results.
    pub error: f64,
    /// Derivatives of the error, by weight.
    pub by_weight: Weights,
}

impl Samples {
    /// Returns the score of a sample from White's point of view, in centipawns.
    pub fn score(&self, index: usize, weights: &Weights) -> f64 {
        self.score_and_gradient(index, weights).0
    }

    /// Returns the scores and the results of all samples.
    pub fn scores(&self, weights: &Weights) -> (Vec<f64>, Vec<f64>) {
        (0..self.len())
            .map(|index| (self.score(index, weights), f64::from(self.row(index).0.result)))
            .unzip()
    }

    /// Returns the score of a sample from White's point of view, and the derivatives of the score
    /// with respect to the danger units of each side's attack (White's first).
    fn score_and_gradient(&self, index: usize, weights: &Weights) -> (f64, [[f64; 2]; 2]) {
        let (row, coefficients) = self.row(index);
        let mut sum = row.fixed.map(f64::from);
        add(&mut sum, coefficients.linear, weights);
        let mut gradients = [[0.0; 2]; 2];
        for (color, sign) in [1.0, -1.0].into_iter().enumerate() {
            let mut units = [0.0; 2];
            add(&mut units, coefficients.danger[color], weights);
            for (phase, (worth, gradient)) in attack_worth(units).into_iter().enumerate() {
                sum[phase] += sign * worth;
                gradients[color][phase] = sign * gradient;
            }
        }
        let [middle, end] = row.shares.map(f64::from);
        (sum[0] * middle + sum[1] * end, gradients)
    }

    fn gradient_of(&self, indices: &[u32], weights: &Weights, curve: Curve) -> Gradient {
        let mut gradient = Gradient { error: 0.0, by_weight: vec![[0.0; 2]; weights.len()] };
        for &index in indices {
            let index = index as usize;
            let (score, gradients) = self.score_and_gradient(index, weights);
            let (row, coefficients) = self.row(index);
            let expected = curve.expected_result(score);
            let difference = expected - f64::from(row.result);
            gradient.error += difference * difference;
            let slope = 2.0 * difference * expected * (1.0 - expected) * curve.per_centipawn();
            let shares = row.shares.map(|share| f64::from(share) * slope);
            accumulate(&mut gradient.by_weight, coefficients.linear, shares);
            for (counts, by_unit) in coefficients.danger.into_iter().zip(gradients) {
                let shares = [shares[0] * by_unit[0], shares[1] * by_unit[1]];
                accumulate(&mut gradient.by_weight, counts, shares);
            }
        }
        gradient
    }

    /// Returns the error of the samples with these indices, and the gradient of the error. Uses
    /// `threads` threads.
    pub fn gradient(
        &self,
        indices: &[u32],
        weights: &Weights,
        curve: Curve,
        threads: usize,
    ) -> Gradient {
        let size = indices.len().div_ceil(PARTS).max(1);
        let parts: Vec<&[u32]> = indices.chunks(size).collect();
        let each = parts.len().div_ceil(threads.max(1)).max(1);
        let found: Vec<Gradient> = thread::scope(|scope| {
            let workers: Vec<_> = parts
                .chunks(each)
                .map(|mine| {
                    scope.spawn(move || -> Vec<Gradient> {
                        mine.iter().map(|part| self.gradient_of(part, weights, curve)).collect()
                    })
                })
                .collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined.flat_map(|gradients| gradients.expect("the sums cannot panic")).collect()
        });
        let mut total = Gradient { error: 0.0, by_weight: vec![[0.0; 2]; weights.len()] };
        for part in found {
            total.error += part.error;
            for (sum, more) in total.by_weight.iter_mut().zip(part.by_weight) {
                *sum = [sum[0] + more[0], sum[1] + more[1]];
            }
        }
        total
    }

    /// Returns the mean squared difference between results and expected results over all samples.
    pub fn error(&self, weights: &Weights, curve: Curve) -> f64 {
        let square = |index| {
            let expected = curve.expected_result(self.score(index, weights));
            (expected - f64::from(self.row(index).0.result)).powi(2)
        };
        (0..self.len()).map(square).sum::<f64>() / self.len().max(1) as f64
    }
}

fn add(sum: &mut [f64; 2], coefficients: &[(u16, i16)], weights: &Weights) {
    for &(place, times) in coefficients {
        let [middle, end] = weights[usize::from(place)];
        sum[0] += middle * f64::from(times);
        sum[1] += end * f64::from(times);
    }
}

fn accumulate(gradients: &mut Weights, coefficients: &[(u16, i16)], shares: [f64; 2]) {
    for &(place, times) in coefficients {
        let gradient = &mut gradients[usize::from(place)];
        gradient[0] += shares[0] * f64::from(times);
        gradient[1] += shares[1] * f64::from(times);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{some_samples, start};
    use super::*;

    const CURVE: Curve = Curve { steepness: 1.1 };

    #[test]
    fn the_gradient_matches_finite_differences() {
        let samples = some_samples(97, |index, _| [0.0, 0.5, 1.0][index % 3]);
        let weights = start();
        let indices: Vec<u32> = (0..samples.len() as u32).collect();
        let gradient = samples.gradient(&indices, &weights, CURVE, 2);
        let total = |weights: &Weights| samples.error(weights, CURVE) * samples.len() as f64;
        assert!((gradient.error - total(&weights)).abs() < 1e-9);
        let mut used = 0;
        for place in 0..weights.len() {
            for phase in 0..2 {
                let mut moved = [weights.clone(), weights.clone()];
                let step = 1e-4;
                moved[0][place][phase] += step;
                moved[1][place][phase] -= step;
                let expected = (total(&moved[0]) - total(&moved[1])) / (2.0 * step);
                let found = gradient.by_weight[place][phase];
                used += usize::from(found != 0.0);
                let tolerance = 1e-7 + 1e-5 * expected.abs();
                assert!(
                    (found - expected).abs() < tolerance,
                    "{place} {phase}: {found} {expected}"
                );
            }
        }
        assert!(used > weights.len(), "{used}");
    }

    #[test]
    fn the_gradient_does_not_depend_on_threads() {
        let samples = some_samples(200, |index, _| [0.0, 1.0][index % 2]);
        let indices: Vec<u32> = (0..samples.len() as u32).collect();
        let [one, three] =
            [1, 3].map(|threads| samples.gradient(&indices, &start(), CURVE, threads));
        assert_eq!((one.error, one.by_weight), (three.error, three.by_weight));
    }

    #[test]
    fn the_curve_behind_the_results_is_found() {
        let scores: Vec<f64> = (-300..=300).map(f64::from).collect();
        let results: Vec<f64> = scores.iter().map(|&score| CURVE.expected_result(score)).collect();
        assert!((Curve::fit(&scores, &results).steepness - 1.1).abs() < 1e-4);
    }
}
