//! Exact log-likelihood ratios of the generalized sequential probability ratio test (GSPRT).
//!
//! The log-likelihood ratio (LLR) compares two constraints on an otherwise unknown distribution of
//! scores. Each constraint is represented by the most likely distribution that satisfies the
//! constraint. No normal approximation is used. The method is described by M. Van den Bergh in "A
//! practical introduction to the GSPRT" and, for the constraint on the t-value, in "Normalized
//! Elo".

use super::distribution::{Distribution, central_moment, mean};
use super::elo::score_from_elo;
use super::normalized::t_value;
use super::roots::falling_root;
use super::scale::Model;

/// Largest relative change of a probability at which the fixed-point iteration ends. The LLR is
/// stationary at the fixed point, so the error of the LLR is of second order.
const FIXED_POINT_TOLERANCE: f64 = 1e-10;

/// Maximum number of fixed-point iterations; ordinary samples need 5 to 10 iterations, and samples
/// that contain only draws need up to 40.
const MAX_FIXED_POINT_ROUNDS: usize = 100;

/// Returns the log-likelihood ratio of the strength `elo1` against the strength `elo0`. Both
/// strengths are on the scale of `model` and within ±[`Model::max_elo`]. Empty cells are raised
/// first, so the LLR of an empty sample is close to 0.
pub(crate) fn llr<const K: usize>(
    sample: &Distribution<K>,
    elo0: f64,
    elo1: f64,
    model: Model,
) -> f64 {
    let p = sample.positive_probabilities();
    sample.regularized().llr(&nearest(&p, elo0, model), &nearest(&p, elo1, model))
}

/// Returns the most likely distribution whose strength is `elo` on the scale of `model`, given the
/// observed probabilities `p`, which are all positive. BayesElo hypotheses must be converted to
/// logistic Elo first.
///
/// `elo` must be within ±[`Model::max_elo`], because far outside this range, the iteration for
/// normalized Elo has no first step.
pub(crate) fn nearest<const K: usize>(p: &[f64; K], elo: f64, model: Model) -> [f64; K] {
    match model {
        Model::Normalized => with_t_value(p, t_value(elo, Distribution::<K>::GAMES_PER_UNIT)),
        Model::Logistic | Model::Bayesian => with_mean(p, score_from_elo(elo)),
    }
}

/// Returns the change of the LLR for each possible result of the next unit, if the results have the
/// probabilities `p`, which are all positive. These changes are the steps of the LLR as a random
/// walk. BayesElo hypotheses must be converted to logistic Elo first.
pub(crate) fn steps<const K: usize>(p: &[f64; K], elo0: f64, elo1: f64, model: Model) -> [f64; K] {
    let (q0, q1) = (nearest(p, elo0, model), nearest(p, elo1, model));
    std::array::from_fn(|cell| (q1[cell] / q0[cell]).ln())
}

/// Returns the most likely distribution whose mean score is `score`, given the observed
/// probabilities `p`.
pub(crate) fn with_mean<const K: usize>(p: &[f64; K], score: f64) -> [f64; K] {
    tilted(p, &std::array::from_fn(|cell| Distribution::<K>::score(cell) - score))
}

/// Returns the most likely distribution with (mean − ½)/σ = `t`, given the observed probabilities
/// `p`.
///
/// The constraint is not linear. In each iteration, the constraint is replaced by its tangent at
/// the current distribution. The first distribution is uniform.
fn with_t_value<const K: usize>(p: &[f64; K], t: f64) -> [f64; K] {
    // The uniform distribution has a positive variance for any sample, so the first tangent exists.
    let mut q = [1.0 / K as f64; K];
    for _ in 0..MAX_FIXED_POINT_ROUNDS {
        let mean = mean(&q);
        let sigma = central_moment(&q, 2).sqrt();
        let tangent = std::array::from_fn(|cell| {
            let score = Distribution::<K>::score(cell);
            // Tangent of (mean − ½) − t·σ. The derivative of σ with respect to the weight of a cell
            // is (score − mean)²/2σ. The constant σ/2 makes the tangent exact at the current
            // distribution.
            score - 0.5 - 0.5 * t * sigma * (1.0 + ((score - mean) / sigma).powi(2))
        });
        let next = tilted(p, &tangent);
        let change = (0..K).map(|cell| (next[cell] / q[cell] - 1.0).abs()).fold(0.0, f64::max);
        q = next;
        if change < FIXED_POINT_TOLERANCE {
            break;
        }
    }
    q
}

/// Returns the distribution q that maximizes Σ p·ln q (the most likely distribution given `p`)
/// subject to Σ q·φ = 0. The constraint φ must have values of both signs.
///
/// The solution is q = p / (1 + θφ), where θ is the root of the secular equation Σ pφ/(1 + θφ) = 0
/// between the poles of the equation. For a lopsided sample, the root is so close to a pole that θ
/// loses precision. The unknown is therefore u = 1 + θφ for the extreme cell that causes the pole.
/// At the pole, u is 0. The search starts at u = 1, where the distribution is not tilted.
fn tilted<const K: usize>(p: &[f64; K], constraint: &[f64; K]) -> [f64; K] {
    let greatest = constraint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = constraint.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(least < 0.0 && 0.0 < greatest, "constraint of one sign: {constraint:?}");
    let observed: f64 = p.iter().zip(constraint).map(|(p, phi)| p * phi).sum();
    // The root lies between θ = 0 and a pole. The pole belongs to the extreme cell in which φ has
    // the opposite sign to the observed mean of φ.
    let (pole, other) = if observed < 0.0 { (greatest, least) } else { (least, greatest) };
    let relative = constraint.map(|phi| phi / pole);
    let secular = |u: f64| {
        let (mut value, mut slope) = (0.0, 0.0);
        for (p, r) in p.iter().zip(relative) {
            let term = r / ((1.0 - r) + u * r);
            value += p * term;
            slope -= p * term * term;
        }
        (value, slope)
    };
    // Above the upper end of the bracket, the weight of the other extreme cell would be negative.
    let u = falling_root(secular, 0.0, 1.0, 1.0 - pole / other);
    std::array::from_fn(|cell| p[cell] / ((1.0 - relative[cell]) + u * relative[cell]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [[u64; 5]; 7] = [
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1],
        [12, 143, 287, 161, 21],
        [0, 0, 100, 0, 0],
        [50, 0, 0, 0, 0],
        [50, 0, 0, 0, 50],
        [40_213, 352_117, 701_244, 355_102, 40_710],
    ];

    /// Returns samples from empty to extremely lopsided.
    fn samples() -> Vec<[u64; 5]> {
        let mut samples = SAMPLES.to_vec();
        for magnitude in (0..=12).map(|exponent| 10u64.pow(exponent)) {
            for cell in 0..5 {
                let mut counts = [0; 5];
                counts[cell] = magnitude;
                samples.push(counts);
                counts[(cell + 2) % 5] = 3;
                samples.push(counts);
            }
        }
        samples
    }

    #[test]
    fn solutions_satisfy_their_constraints() {
        for counts in samples() {
            let sample = Distribution::<5>::from_counts(counts).regularized();
            let p = sample.probabilities().expect("no cell is empty");
            for elo in [-1000.0, -5.0, 0.0, 0.01, 5.0, 1000.0] {
                let (q, target) = (with_mean(&p, score_from_elo(elo)), score_from_elo(elo));
                assert!((mean(&q) - target).abs() < 1e-12, "{counts:?} at {elo}");
                assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{counts:?} at {elo}");
            }
            for nelo in [-200.0, -5.0, 0.0, 0.01, 2.0, 200.0] {
                let t = t_value(nelo, 2.0);
                let q = with_t_value(&p, t);
                let reached = (mean(&q) - 0.5) / central_moment(&q, 2).sqrt();
                assert!((reached - t).abs() < 1e-8, "{counts:?} at {nelo}: {reached} not {t}");
                assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{counts:?} at {nelo}");
            }
        }
    }

    #[test]
    fn ratios_of_all_samples_are_finite() {
        for counts in samples() {
            let sample = Distribution::<5>::from_counts(counts);
            let logistic = llr(&sample, -1000.0, 1000.0, Model::Logistic);
            let normalized = llr(&sample, -200.0, 200.0, Model::Normalized);
            assert!(logistic.is_finite() && normalized.is_finite(), "{counts:?}");
        }
    }

    #[test]
    fn swapping_sides_and_bounds_negates_the_ratio() {
        for counts in SAMPLES {
            let mut swapped = counts;
            swapped.reverse();
            let ours = Distribution::<5>::from_counts(counts);
            let theirs = Distribution::<5>::from_counts(swapped);
            for (a, b) in [
                (llr(&ours, -1.0, 4.0, Model::Logistic), llr(&theirs, -4.0, 1.0, Model::Logistic)),
                (
                    llr(&ours, -1.0, 4.0, Model::Normalized),
                    llr(&theirs, -4.0, 1.0, Model::Normalized),
                ),
            ] {
                assert!((a + b).abs() < 1e-9 * a.abs().max(1e-3), "{counts:?}: {a} and {b}");
            }
        }
    }

    #[test]
    fn a_better_pair_raises_the_ratio() {
        let base = [12, 143, 287, 161, 21];
        for cell in 0..4 {
            let mut better = base;
            better[cell] -= 1;
            better[cell + 1] += 1;
            let before = Distribution::<5>::from_counts(base);
            let after = Distribution::<5>::from_counts(better);
            assert!(
                llr(&after, 0.0, 5.0, Model::Logistic) > llr(&before, 0.0, 5.0, Model::Logistic)
            );
            assert!(
                llr(&after, 0.0, 5.0, Model::Normalized)
                    > llr(&before, 0.0, 5.0, Model::Normalized)
            );
        }
    }
}
