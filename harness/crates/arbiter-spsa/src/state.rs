//! State of a tuning run, computed from the results of its pairs in the order of the schedule, and
//! the perturbation and update of the values in an iteration. The same results give the same state,
//! so that an interrupted run can resume.

use std::collections::VecDeque;
use std::sync::Arc;

use rand_chacha::rand_core::Rng;

use super::parameter::{Parameter, ParameterKind};
use super::tuning::Tuning;
use arbiter_schedule::seed::{seed_for, uniform};

/// Maximum number of path points that are stored; enough for any chart.
const MAX_POINTS: usize = 512;

/// Iteration with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    /// Number of the iteration, counted from 0.
    pub number: u64,
    /// Values of both sides, rounded for the engine.
    pub sides: [Vec<f64>; 2],
    /// The first side's number of wins minus its number of losses.
    pub score: i64,
    /// Values after the iteration, not rounded.
    pub theta: Vec<f64>,
}

/// Values of a tuning run after an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPoint {
    /// Number of finished iterations.
    pub iterations: u64,
    /// Sum of the scores of all finished iterations: wins minus losses of the first side.
    pub score: i64,
    /// Values, not rounded.
    pub theta: Vec<f64>,
}

/// State of a tuning run after all results so far.
#[derive(Debug, Clone)]
pub struct SpsaState {
    tuning: Arc<Tuning>,
    seed: u64,
    /// Values after all results so far.
    theta: Vec<f64>,
    /// Unperturbed values of the current iteration, and of the iterations that may start before the
    /// current iteration ends.
    bases: VecDeque<Vec<f64>>,
    /// Number of finished iterations.
    finished: u64,
    /// Number of pairs counted in the current iteration.
    counted: u64,
    /// Score of the pairs counted in the current iteration.
    score: i64,
    /// Sum of the scores of all finished iterations.
    total: i64,
    points: Vec<PathPoint>,
    /// Number of iterations between two points of the path.
    stride: u64,
}

impl SpsaState {
    /// Creates the state before the first result.
    pub fn new(tuning: Arc<Tuning>, seed: u64) -> SpsaState {
        let theta = tuning.start();
        // A larger `ahead` would use memory without effect.
        let ahead = tuning.ahead.min(tuning.iterations);
        let bases = (0..=ahead).map(|_| theta.clone()).collect();
        let points = vec![PathPoint { iterations: 0, score: 0, theta: theta.clone() }];
        let (finished, counted, score, total, stride) = (0, 0, 0, 0, 1);
        SpsaState { tuning, seed, theta, bases, finished, counted, score, total, points, stride }
    }

    /// Returns the parameters and the gain schedule.
    pub fn tuning(&self) -> &Arc<Tuning> {
        &self.tuning
    }

    /// Returns the values after all results so far, not rounded.
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// Returns the number of finished iterations.
    pub fn finished(&self) -> u64 {
        self.finished
    }

    /// Returns the path from the start to the last finished iteration. The points are evenly
    /// spaced, except that the last interval may be shorter.
    pub fn path(&self) -> Vec<PathPoint> {
        let mut path = self.points.clone();
        if path.last().is_none_or(|point| point.iterations < self.finished) {
            path.push(self.point());
        }
        path
    }

    /// Returns the values of both sides in pair number `pair` (counted from 0), rounded for the
    /// engine; `None` if the values are not yet known or no longer stored.
    pub fn sides(&self, pair: u64) -> Option<[Vec<f64>; 2]> {
        let iteration = pair / self.tuning.pairs;
        let place = iteration.checked_sub(self.finished)?;
        let base = self.bases.get(usize::try_from(place).ok()?)?;
        Some(self.sides_of(iteration, base))
    }

    /// Returns the UCI options (name and value) of both sides in a pair; `None` in the same cases
    /// as [`SpsaState::sides`].
    pub fn settings(&self, pair: u64) -> Option<[Vec<(String, String)>; 2]> {
        Some(self.sides(pair)?.map(|values| self.tuning.settings(&values)))
    }

    fn sides_of(&self, iteration: u64, base: &[f64]) -> [Vec<f64>; 2] {
        let parameters = &self.tuning.parameters;
        let k = self.tuning.first_pair(iteration);
        let flips = draw_flips(self.seed, iteration, parameters.len());
        let fractions = draw_fractions(self.seed, iteration, parameters.len());
        let sides = self.tuning.sides(k, base, &flips);
        sides.map(|values| round(parameters, &values, &fractions))
    }

    /// Counts the next pair. `score` is the first side's number of wins minus its number of losses.
    /// After the last pair of an iteration, updates the values and returns the iteration.
    pub fn count(&mut self, score: i64) -> Option<Iteration> {
        self.score += score;
        self.counted += 1;
        if self.counted < self.tuning.pairs {
            return None;
        }
        let number = self.finished;
        let base = self.bases.pop_front().unwrap_or_else(|| self.theta.clone());
        // The games were played with the values from the start of the iteration, which may differ
        // from the current values.
        let sides = self.sides_of(number, &base);
        let flips = draw_flips(self.seed, number, self.theta.len());
        let score = std::mem::take(&mut self.score);
        let k = self.tuning.first_pair(number);
        self.tuning.update(k, &mut self.theta, &flips, score);
        self.bases.push_back(self.theta.clone());
        self.counted = 0;
        self.finished += 1;
        self.total += score;
        if self.finished.is_multiple_of(self.stride) {
            self.points.push(self.point());
        }
        if self.points.len() > MAX_POINTS {
            // Removing every second point keeps the points evenly spaced. The start is kept,
            // because 0 is a multiple of each stride.
            self.stride *= 2;
            self.points.retain(|point| point.iterations.is_multiple_of(self.stride));
        }
        Some(Iteration { number, sides, score, theta: self.theta.clone() })
    }

    fn point(&self) -> PathPoint {
        PathPoint { iterations: self.finished, score: self.total, theta: self.theta.clone() }
    }
}

/// Draws a random flag for each parameter: `true` if the first side has the higher value and the
/// second side the lower value.
fn draw_flips(seed: u64, iteration: u64, parameters: usize) -> Vec<bool> {
    let mut rng = seed_for(seed, "tune.flip", iteration);
    (0..parameters).map(|_| rng.next_u64() >> 63 == 1).collect()
}

/// Draws a uniform random number in [0, 1) for each parameter. The number decides whether the
/// values of the parameter are rounded up or down. Both sides use the same number, so that rounding
/// favours neither side.
fn draw_fractions(seed: u64, iteration: u64, parameters: usize) -> Vec<f64> {
    let mut rng = seed_for(seed, "tune.round", iteration);
    (0..parameters).map(|_| uniform(&mut rng)).collect()
}

/// Returns the values in the form that an engine accepts. Values of integer parameters are rounded
/// up or down at random, so that the expected rounded value is the exact value.
fn round(parameters: &[Parameter], values: &[f64], fractions: &[f64]) -> Vec<f64> {
    let all = parameters.iter().zip(values).zip(fractions);
    all.map(|((parameter, value), fraction)| match parameter.kind {
        // With a uniform fraction, the mean of floor(value + fraction) is the value.
        ParameterKind::Int => (value + fraction).floor(),
        ParameterKind::Float => *value,
    })
    .collect()
}

impl Tuning {
    /// Returns the values of both sides at pair `k` (counted from 1): `theta` plus or minus the
    /// perturbation, clipped to the ranges but not rounded.
    pub(crate) fn sides(&self, k: u64, theta: &[f64], flips: &[bool]) -> [Vec<f64>; 2] {
        [true, false].map(|up| {
            let all = self.parameters.iter().zip(theta).zip(flips);
            let value = |((parameter, theta), flip): ((&Parameter, &f64), &bool)| {
                let c = self.perturbation(parameter, k);
                parameter.clip(if *flip == up { theta + c } else { theta - c })
            };
            all.map(value).collect()
        })
    }

    /// Updates the values according to the result of the iteration whose first pair is `k` (counted
    /// from 1). `score` is the first side's number of wins minus its number of losses.
    pub(crate) fn update(&self, k: u64, theta: &mut [f64], flips: &[bool], score: i64) {
        for ((parameter, value), flip) in self.parameters.iter().zip(theta).zip(flips) {
            // The step is the gain a times Spall's gradient estimate y·Δ/c, where y is the score
            // and Δ = ±1. In this formula, a/c = R·c.
            let step = self.rate(parameter, k) * self.perturbation(parameter, k) * score as f64;
            *value = parameter.clip(if *flip { *value + step } else { *value - step });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use crate::table::read_line;
    use crate::tuning::{A_RATIO, ALPHA, GAMMA};

    fn tuning(iterations: u64, pairs: u64, ahead: u64) -> Arc<Tuning> {
        let parameters = table::read("A,50,0,100,5,0.01\nB,float,1,0,2,0.1,0.01").unwrap();
        let (alpha, gamma, a_ratio) = (ALPHA, GAMMA, A_RATIO);
        Arc::new(Tuning { parameters, alpha, gamma, a_ratio, iterations, pairs, ahead })
    }

    #[test]
    fn values_move_when_an_iteration_is_complete() {
        let mut spsa = SpsaState::new(tuning(10, 3, 0), 5);
        let start = spsa.theta().to_vec();
        let sides = spsa.sides(0).unwrap();
        assert_eq!(spsa.sides(2), Some(sides.clone()), "one iteration, one perturbation");
        assert_eq!(spsa.sides(3), None, "not known before the result");
        assert_eq!(spsa.count(2), None);
        assert_eq!(spsa.count(-1), None);
        assert_eq!(spsa.theta(), start);
        let done = spsa.count(1).unwrap();
        assert_eq!((done.number, done.score, &done.sides), (0, 2, &sides));
        assert_eq!(done.theta, spsa.theta());
        // The values move towards the side that won more games.
        for ((before, after), [plus, minus]) in start
            .iter()
            .zip(spsa.theta())
            .zip(sides[0].iter().zip(&sides[1]).map(|(plus, minus)| [plus, minus]))
        {
            assert_eq!(after > before, plus > minus);
        }
        assert!(spsa.sides(3).is_some() && spsa.sides(2).is_none());
    }

    #[test]
    fn iterations_that_start_early_use_older_values() {
        let mut spsa = SpsaState::new(tuning(10, 1, 2), 5);
        let early = spsa.sides(2).unwrap();
        assert_eq!(spsa.sides(3), None);
        spsa.count(2);
        spsa.count(2);
        assert_eq!(spsa.sides(2), Some(early.clone()), "whatever came in before it began");
        let done = spsa.count(0).unwrap();
        assert_eq!(done.sides, early);
        // Iteration 3 depends only on the first result.
        let mut other = SpsaState::new(tuning(10, 1, 2), 5);
        [2, -2, 1].into_iter().for_each(|score| drop(other.count(score)));
        assert_eq!(spsa.sides(3), other.sides(3));
        assert_ne!(spsa.sides(4), other.sides(4));
    }

    #[test]
    fn level_scores_keep_the_values_and_paths_keep_their_ends() {
        let mut spsa = SpsaState::new(tuning(2_001, 1, 0), 1);
        for _ in 0..2_001 {
            spsa.count(0);
        }
        assert_eq!(spsa.theta(), [50.0, 1.0]);
        let path = spsa.path();
        assert!(path.len() <= MAX_POINTS + 1, "{}", path.len());
        assert_eq!((path[0].iterations, path.last().unwrap().iterations), (0, 2_001));
    }

    #[test]
    fn flips_are_fair_and_differ_by_iteration() {
        let ups: usize =
            (0..5_000).map(|i| draw_flips(7, i, 4).iter().filter(|up| **up).count()).sum();
        // The limit is five standard deviations of the number of `true` flags among 20,000 flags.
        assert!(ups.abs_diff(10_000) < 354, "{ups}");
        assert_ne!(draw_flips(7, 0, 64), draw_flips(7, 1, 64));
        assert_ne!(draw_flips(7, 0, 64), draw_flips(8, 0, 64));
        assert_eq!(draw_flips(7, 3, 64), draw_flips(7, 3, 64));
    }

    #[test]
    fn rounding_keeps_the_mean_and_favours_no_side() {
        let parameters = [read_line("P,5,0,10,1,0.002").unwrap()];
        let (mut sum, mut difference) = (0.0, 0.0);
        for iteration in 0..20_000 {
            let fractions = draw_fractions(1, iteration, 1);
            let [plus, minus] = [5.3, 4.7].map(|v| round(&parameters, &[v], &fractions)[0]);
            assert!(plus >= minus && plus - minus <= 1.0);
            sum += plus;
            difference += plus - minus;
        }
        assert!((sum / 20_000.0 - 5.3).abs() < 0.02, "{sum}");
        assert!((difference / 20_000.0 - 0.6).abs() < 0.02, "{difference}");
    }

    #[test]
    fn a_rounded_value_stays_in_its_range() {
        let parameters = [read_line("P,10,0,10,1,0.002").unwrap()];
        assert_eq!(round(&parameters, &[10.0], &[0.999_999]), [10.0]);
        assert_eq!(round(&parameters, &[0.0], &[0.999_999]), [0.0]);
    }
}
