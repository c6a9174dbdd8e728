//! Simulation of SPRTs, to measure the error rates and lengths of the tests.
//!
//! The caller supplies the uniform random numbers, so that equal numbers give equal tests. A pair
//! is drawn from the probabilities of its five scores. [`pair_model`] computes the probabilities
//! from a draw rate and an opening bias, and [`shifted`] changes the probabilities to the
//! probabilities at a given strength.

use super::bayes::BayesElo;
use super::distribution::Distribution;
use super::elo::{elo_from_score, finite, score_from_elo};
use super::gsprt;
use super::monitor::SprtMonitor;
use super::pentanomial::Pentanomial;
use super::scale::Model;
use super::sprt::{Decision, Sprt};

/// Minimum number of pairs before the approximate LLR is used to decide whether a bound is near.
const WARM_UP: u64 = 200;

/// Safe distance between the approximate LLR and a bound. At smaller distances, the LLR is computed
/// exactly. The error of the approximation is a few hundredths, so the margin is several times the
/// error.
const MARGIN: f64 = 0.2;

/// Reciprocal of the relative increase in the number of pairs after which BayesElo hypotheses are
/// converted again.
const REFRESH: u64 = 64;

/// Distance between the hypotheses, in Elo, above which tests are too short for the approximation.
const MAX_APPROXIMATE_ELO: f64 = 30.0;

/// Simulated test: settings of the test, and distribution of its pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulation {
    /// Test to simulate, including the correction for overshoot.
    pub test: Sprt,
    /// Probabilities of LL, LD, DD+WL, WD, WW; they add up to 1.
    pub probabilities: [f64; 5],
    /// Number of pairs between two updates of the LLR, at least 1.
    pub batch: u64,
    /// Number of pairs after which the test ends without a decision; the last batch may be shorter.
    pub cap: u64,
}

/// Result of one simulated test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedTest {
    /// Decision of the test; [`Decision::Continue`] if the test reached the cap.
    pub decision: Decision,
    /// Counts of the pairs at the end.
    pub pairs: Pentanomial,
}

impl Simulation {
    /// Plays one test; `uniform` returns random numbers in [0, 1).
    pub fn play(&self, mut uniform: impl FnMut() -> f64) -> SimulatedTest {
        assert!(self.batch > 0, "a batch is at least one pair");
        let cumulated = self.cumulated();
        let mut screen = self.test;
        let mut refresh = 0;
        let mut monitor = SprtMonitor::new(self.test, self.batch);
        let mut pairs = Pentanomial::default();
        let mut played = 0;
        while played < self.cap {
            let batch = self.batch.min(self.cap - played);
            for _ in 0..batch {
                // The inverse of the cumulative probabilities uses one random number for each pair,
                // so equal numbers give equal tests.
                let drawn = uniform();
                pairs.0[cumulated.iter().filter(|limit| drawn >= **limit).count()] += 1;
            }
            played += batch;
            if played >= refresh {
                screen = self.test.for_pairs(&pairs);
                refresh = played + played / REFRESH;
            }
            // The hypotheses may have been converted with the draw rate of slightly fewer pairs.
            // The converted hypotheses are still accurate enough to show that no bound is near.
            match monitor.update_if_near(&pairs, approximate_llr(&screen, &pairs), MARGIN) {
                Decision::Continue => {}
                decision => return SimulatedTest { decision, pairs },
            }
        }
        SimulatedTest { decision: Decision::Continue, pairs }
    }

    /// Returns the cumulative probabilities of all cells except the last.
    fn cumulated(&self) -> [f64; 4] {
        let mut sum = 0.0;
        std::array::from_fn(|cell| {
            sum += self.probabilities[cell];
            sum
        })
    }
}

/// Returns the normal approximation of the LLR, with an error of a few hundredths; `None` if the
/// error may be larger.
fn approximate_llr(test: &Sprt, pairs: &Pentanomial) -> Option<f64> {
    let narrow = test.elo1 - test.elo0 <= MAX_APPROXIMATE_ELO;
    // The exact LLR raises empty cells, which the moments do not take into account.
    if pairs.pairs() < WARM_UP || !narrow || pairs.0.contains(&0) {
        return None;
    }
    let sample = pairs.distribution().moments()?;
    Some(test.walk(&sample).drift * sample.units)
}

/// Returns the probabilities of the five scores of a pair between equal engines with the draw rate
/// `draw_rate`. The opening favours one colour by `bias_elo` logistic Elo; either colour gives the
/// same probabilities. For games played in pairs, the variance per game is (1 − d)/4 − (L(bias) −
/// ½)², where d is the draw rate, and L(x) is the expected score at the Elo difference x. Returns
/// `None` if the draw rate is too high for the bias.
pub fn pair_model(draw_rate: f64, bias_elo: f64) -> Option<[f64; 5]> {
    let score = score_from_elo(bias_elo);
    let favoured = [1.0 - score - 0.5 * draw_rate, draw_rate, score - 0.5 * draw_rate];
    if !favoured.iter().all(|p| *p > 0.0) {
        return None;
    }
    let mut cells = [0.0; 5];
    for (i, p) in favoured.iter().enumerate() {
        // In the second game, the opening favours the other engine, so the results are reversed.
        for (j, q) in favoured.iter().rev().enumerate() {
            cells[i + j] += p * q;
        }
    }
    Some(cells)
}

/// Returns the distribution nearest to `base` among all distributions that have the strength `elo`
/// on the scale of `model`.
///
/// "Nearest" means maximum likelihood, as in the exact LLR. All cells of `base` must be positive.
pub fn shifted(base: &[f64; 5], elo: f64, model: Model) -> [f64; 5] {
    match model {
        Model::Normalized | Model::Logistic => gsprt::nearest(base, elo, model),
        Model::Bayesian => {
            let draw_elo = BayesElo::from_pairs(&Pentanomial::expected(base)).draw_elo;
            gsprt::with_mean(base, BayesElo { elo, draw_elo }.score())
        }
    }
}

/// Returns the normalized and the logistic Elo of the probabilities of the five pair scores.
/// Returns `None` if the scores have no variance, or if an engine scores 100 %.
pub fn strengths(probabilities: &[f64; 5]) -> Option<(f64, f64)> {
    let sample = Distribution::<5>::from_weights(*probabilities).moments()?;
    let nelo = super::normalized::estimate(&sample)?.value;
    Some((nelo, finite(elo_from_score(sample.mean))?))
}

#[cfg(test)]
mod tests {
    use super::super::sprt::Correction;
    use super::*;

    /// Creates a small random number generator (SplitMix64), uniform on [0, 1).
    fn uniform(mut state: u64) -> impl FnMut() -> f64 {
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Plays a test and computes every LLR exactly.
    fn play_exactly(simulation: &Simulation, mut uniform: impl FnMut() -> f64) -> SimulatedTest {
        let cumulated = simulation.cumulated();
        let mut monitor = SprtMonitor::new(simulation.test, simulation.batch);
        let mut pairs = Pentanomial::default();
        loop {
            for _ in 0..simulation.batch {
                let drawn = uniform();
                pairs.0[cumulated.iter().filter(|limit| drawn >= **limit).count()] += 1;
            }
            let decision = monitor.update(&pairs).decision;
            if decision != Decision::Continue {
                return SimulatedTest { decision, pairs };
            }
        }
    }

    fn check_approximation(seeds: u64) {
        let base = pair_model(0.5, 60.0).expect("room for the bias");
        for model in [Model::Normalized, Model::Logistic, Model::Bayesian] {
            let rules = [(Correction::None, 1), (Correction::Dynamic, 1), (Correction::Dynamic, 8)];
            for (correction, batch) in rules {
                let test = Sprt::new(0.0, 25.0, 0.05, 0.05, model).expect("a sound test");
                let test = test.with_correction(correction);
                let probabilities = shifted(&base, 10.0, model);
                let simulation = Simulation { test, probabilities, batch, cap: u64::MAX };
                for seed in 0..seeds {
                    let exact = play_exactly(&simulation, uniform(seed));
                    assert_eq!(simulation.play(uniform(seed)), exact, "{model:?} {seed}");
                }
            }
        }
    }

    #[test]
    fn the_approximation_changes_no_decision() {
        check_approximation(3);
    }

    #[test]
    #[ignore = "nightly: long simulation"]
    fn the_approximation_changes_no_decision_of_many() {
        check_approximation(400);
    }

    #[test]
    fn counts_determine_whether_a_test_has_ended() {
        const TESTS: u64 = 10;
        let test = Sprt::new(0.0, 20.0, 0.05, 0.05, Model::Normalized).expect("a sound test");
        let test = test.with_correction(test.usual_correction());
        let base = pair_model(0.5, 100.0).expect("room for the bias");
        let (mut right, mut by_wald, mut early) = (0, 0, 0);
        for seed in 0..TESTS {
            let elo = if seed % 2 == 0 { 40.0 } else { -20.0 };
            let probabilities = shifted(&base, elo, Model::Normalized);
            let complete = Simulation { test, probabilities, batch: 1, cap: u64::MAX };
            let end = complete.play(uniform(seed));
            let found = test.status_of_counts(&end.pairs, uniform(!seed));
            right += u64::from(found.decision == end.decision);
            by_wald += u64::from(test.decide(found.llr) == end.decision);
            let cap = end.pairs.pairs() - 20;
            let open = Simulation { cap, ..complete }.play(uniform(seed));
            let found = test.status_of_counts(&open.pairs, uniform(!seed));
            early += u64::from(found.decision != Decision::Continue);
        }
        assert!(right == TESTS && by_wald < TESTS && early == 0, "{right} {by_wald} {early}");
    }

    /// Returns the mean bounds over `orders` random orders, with every LLR computed exactly.
    fn bounds_of_orders(test: Sprt, counts: [u64; 5], orders: u64) -> [f64; 2] {
        let all: u64 = counts.iter().sum();
        let mut random = uniform(11);
        let mut sums = [0.0; 2];
        for _ in 0..orders {
            let mut undrawn = counts;
            let mut drawn_pairs = Pentanomial::default();
            let mut monitor = SprtMonitor::new(test, 1);
            let mut status = monitor.start();
            for remaining in (1..=all).rev() {
                let mut place = (random() * remaining as f64) as u64;
                let cell = undrawn.iter().position(|count| {
                    let is_here = place < *count;
                    place = place.saturating_sub(*count);
                    is_here
                });
                let cell = cell.expect("some are left");
                undrawn[cell] -= 1;
                drawn_pairs.0[cell] += 1;
                status = monitor.update(&drawn_pairs);
            }
            sums = [sums[0] + status.lower, sums[1] + status.upper];
        }
        sums.map(|sum| sum / orders as f64)
    }

    /// Returns the largest difference, over all models, between the bounds computed from counts and
    /// the mean bounds over random orders. `pairs` limits the number of exact updates for each
    /// sample.
    fn error_of_bounds(sizes: &[u64], pairs: u64) -> f64 {
        let shapes = [
            [0.04, 0.22, 0.46, 0.23, 0.05],
            [0.00, 0.04, 0.90, 0.06, 0.00],
            [0.12, 0.20, 0.30, 0.22, 0.16],
            [0.01, 0.10, 0.42, 0.36, 0.11],
        ];
        let mut worst: f64 = 0.0;
        for (elo0, elo1) in [(0.0, 20.0), (-5.0, 0.0), (0.0, 5.0), (0.0, 2.0)] {
            for model in [Model::Normalized, Model::Logistic, Model::Bayesian] {
                let test = Sprt::new(elo0, elo1, 0.05, 0.05, model).expect("a sound test");
                let test = test.with_correction(Correction::Dynamic);
                for (size, shape) in sizes.iter().flat_map(|n| shapes.map(|shape| (*n, shape))) {
                    let counts = shape.map(|share| (share * size as f64).round() as u64);
                    let [lower, upper] =
                        bounds_of_orders(test, counts, (pairs / size).clamp(20, 2_000));
                    let found = test.status_of_counts(&Pentanomial(counts), uniform(7));
                    let error = (found.lower - lower).abs().max((found.upper - upper).abs());
                    println!("{elo0} {elo1} {model} {counts:?}: {error:.4}");
                    worst = worst.max(error);
                }
            }
        }
        println!("the largest error is {worst:.4}");
        worst
    }

    #[test]
    fn counts_determine_the_bounds_of_all_orders() {
        assert!(error_of_bounds(&[40], 8_000) < 0.02);
        // Even for extreme counts, the bounds must be finite.
        let huge = Pentanomial([1_000_000_000, 2_000_000_000, 5_000_000_000, 2_100_000_000, 1]);
        let one = Pentanomial([0, 0, 5_000_000_000, 0, 0]);
        for counts in [huge, one] {
            let test = Sprt::new(0.0, 5.0, 0.05, 0.05, Model::Bayesian).expect("a sound test");
            let found =
                test.with_correction(Correction::Dynamic).status_of_counts(&counts, uniform(7));
            assert!(found.lower.is_finite() && found.upper.is_finite(), "{found:?}");
        }
    }

    #[test]
    #[ignore = "nightly: long simulation"]
    fn counts_determine_the_bounds_of_all_orders_of_any_size() {
        assert!(error_of_bounds(&[10, 40, 150, 600, 2_500, 10_000], 50_000) < 0.06);
    }

    #[test]
    fn pair_models_have_the_requested_strength() {
        let base = pair_model(0.6, 80.0).expect("room for the bias");
        assert!((base.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((base[0] - base[4]).abs() < 1e-12 && (base[1] - base[3]).abs() < 1e-12);
        let (nelo, _) = strengths(&shifted(&base, 5.0, Model::Normalized)).expect("spread");
        assert!((nelo - 5.0).abs() < 1e-6, "{nelo}");
        let (_, elo) = strengths(&shifted(&base, 5.0, Model::Logistic)).expect("spread");
        assert!((elo - 5.0).abs() < 1e-9, "{elo}");
        assert_eq!(strengths(&[0.0, 0.0, 1.0, 0.0, 0.0]), None);
    }

    #[test]
    fn a_test_ends_without_a_decision_at_its_cap() {
        let test = Sprt::new(0.0, 1.0, 0.05, 0.05, Model::Normalized).expect("a sound test");
        let probabilities = pair_model(0.5, 0.0).expect("room for the bias");
        for batch in [1, 10, u64::MAX] {
            let simulation = Simulation { test, probabilities, batch, cap: 35 };
            let played = simulation.play(uniform(1));
            assert_eq!((played.decision, played.pairs.pairs()), (Decision::Continue, 35));
        }
    }
}
