//! State of a tuning run, computed from the results of its pairs in the order of the schedule. The
//! same results give the same state, so that an interrupted run can resume.

use std::collections::VecDeque;
use std::sync::Arc;

use super::perturb;
use super::tuning::Tuning;

/// Maximum number of path points that are stored; enough for any chart.
const MAX_POINTS: usize = 512;

/// Iteration with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    /// Number of the iteration, from 0.
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

    /// Returns the values of both sides in a pair (from 0), rounded for the engine; `None` if the
    /// values are not yet known or no longer stored.
    pub fn sides(&self, pair: u64) -> Option<[Vec<f64>; 2]> {
        let iteration = pair / self.tuning.pairs;
        let place = iteration.checked_sub(self.finished)?;
        let base = self.bases.get(usize::try_from(place).ok()?)?;
        Some(self.sides_of(iteration, base))
    }

    /// Returns the UCI options (name and value) of both sides in a pair; `None` as for
    /// [`SpsaState::sides`].
    pub fn settings(&self, pair: u64) -> Option<[Vec<(String, String)>; 2]> {
        Some(self.sides(pair)?.map(|values| self.tuning.settings(&values)))
    }

    fn sides_of(&self, iteration: u64, base: &[f64]) -> [Vec<f64>; 2] {
        let parameters = &self.tuning.parameters;
        let k = self.tuning.first_pair(iteration);
        let flips = perturb::flips(self.seed, iteration, parameters.len());
        let fractions = perturb::fractions(self.seed, iteration, parameters.len());
        let sides = self.tuning.sides(k, base, &flips);
        sides.map(|values| perturb::round(parameters, &values, &fractions))
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
        let flips = perturb::flips(self.seed, number, self.theta.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gains::{A_RATIO, ALPHA, GAMMA};
    use crate::table;

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
}
