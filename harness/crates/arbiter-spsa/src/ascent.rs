//! A tuning as far as it has come: a fold over the results of its pairs, in the order of the
//! schedule. The same results give the same path, so a tuning that was cut short goes on as if it
//! had not been.

use std::collections::VecDeque;
use std::sync::Arc;

use super::perturb;
use super::tuning::Tuning;

/// Marks of the path that are kept at most; a picture shows no more.
const MAX_MARKS: usize = 512;

/// An iteration whose result is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    /// Its number, from 0.
    pub number: u64,
    /// The values of both sides, as the engine was told them.
    pub sides: [Vec<f64>; 2],
    /// Games that the first side won less those that it lost.
    pub score: i64,
    /// The values after it, not rounded.
    pub theta: Vec<f64>,
}

/// Where the path was after some iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Iterations with a result by then.
    pub iterations: u64,
    /// The sum of their scores.
    pub score: i64,
    /// The values.
    pub theta: Vec<f64>,
}

/// How far a tuning has come.
#[derive(Debug, Clone)]
pub struct Ascent {
    tuning: Arc<Tuning>,
    seed: u64,
    /// The values after all results so far.
    theta: Vec<f64>,
    /// The values of the iteration in hand and of those that may begin before its result is known.
    bases: VecDeque<Vec<f64>>,
    /// Iterations with a result.
    finished: u64,
    /// Pairs counted of the iteration in hand, and their score.
    counted: u64,
    score: i64,
    /// Sum of the scores of all finished iterations.
    total: i64,
    marks: Vec<Mark>,
    /// Every so many iterations are marked.
    stride: u64,
}

impl Ascent {
    /// At the start.
    pub fn new(tuning: Arc<Tuning>, seed: u64) -> Ascent {
        let theta = tuning.start();
        // No more iterations are ahead than there are.
        let ahead = tuning.ahead.min(tuning.iterations);
        let bases = (0..=ahead).map(|_| theta.clone()).collect();
        let marks = vec![Mark { iterations: 0, score: 0, theta: theta.clone() }];
        Ascent {
            tuning,
            seed,
            theta,
            bases,
            finished: 0,
            counted: 0,
            score: 0,
            total: 0,
            marks,
            stride: 1,
        }
    }

    /// What is carried out.
    pub fn tuning(&self) -> &Arc<Tuning> {
        &self.tuning
    }

    /// The values after all results so far, not rounded.
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// Iterations whose result is known.
    pub fn finished(&self) -> u64 {
        self.finished
    }

    /// Places on the path, evenly spaced, from the start to the last iteration.
    pub fn path(&self) -> Vec<Mark> {
        let mut path = self.marks.clone();
        if path.last().is_none_or(|mark| mark.iterations < self.finished) {
            path.push(self.mark());
        }
        path
    }

    /// The values of both sides in a pair (from 0), as the engine takes them; `None` if they are not
    /// known yet or any more.
    pub fn sides(&self, pair: u64) -> Option<[Vec<f64>; 2]> {
        let iteration = pair / self.tuning.pairs;
        let place = iteration.checked_sub(self.finished)?;
        let base = self.bases.get(usize::try_from(place).ok()?)?;
        Some(self.sides_of(iteration, base))
    }

    /// What the engines of both sides are told for a pair.
    pub fn settings(&self, pair: u64) -> Option<[Vec<(String, String)>; 2]> {
        Some(self.sides(pair)?.map(|values| self.tuning.settings(&values)))
    }

    fn sides_of(&self, iteration: u64, base: &[f64]) -> [Vec<f64>; 2] {
        let parameters = &self.tuning.parameters;
        let k = self.tuning.first_pair(iteration);
        let flips = perturb::flips(self.seed, iteration, parameters.len());
        let fractions = perturb::fractions(self.seed, iteration, parameters.len());
        perturb::sides(parameters, &self.tuning.gains(), k, base, &flips)
            .map(|values| perturb::round(parameters, &values, &fractions))
    }

    /// Takes in the next pair: the games that the first side won less those that it lost. The last
    /// pair of an iteration moves the values.
    pub fn count(&mut self, score: i64) -> Option<Iteration> {
        self.score += score;
        self.counted += 1;
        if self.counted < self.tuning.pairs {
            return None;
        }
        let number = self.finished;
        let base = self.bases.pop_front().unwrap_or_else(|| self.theta.clone());
        let sides = self.sides_of(number, &base);
        let parameters = &self.tuning.parameters;
        let flips = perturb::flips(self.seed, number, parameters.len());
        let score = std::mem::take(&mut self.score);
        let k = self.tuning.first_pair(number);
        perturb::update(parameters, &self.tuning.gains(), k, &mut self.theta, &flips, score);
        self.bases.push_back(self.theta.clone());
        self.counted = 0;
        self.finished += 1;
        self.total += score;
        if self.finished.is_multiple_of(self.stride) {
            self.marks.push(self.mark());
            self.thin();
        }
        Some(Iteration { number, sides, score, theta: self.theta.clone() })
    }

    fn mark(&self) -> Mark {
        Mark { iterations: self.finished, score: self.total, theta: self.theta.clone() }
    }

    /// Drops every second mark but the start once there are too many.
    fn thin(&mut self) {
        if self.marks.len() > MAX_MARKS {
            self.stride *= 2;
            let stride = self.stride;
            self.marks.retain(|mark| mark.iterations.is_multiple_of(stride));
        }
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
        let mut ascent = Ascent::new(tuning(10, 3, 0), 5);
        let start = ascent.theta().to_vec();
        let sides = ascent.sides(0).unwrap();
        assert_eq!(ascent.sides(2), Some(sides.clone()), "one iteration, one perturbation");
        assert_eq!(ascent.sides(3), None, "not known before the result");
        assert_eq!(ascent.count(2), None);
        assert_eq!(ascent.count(-1), None);
        assert_eq!(ascent.theta(), start);
        let done = ascent.count(1).unwrap();
        assert_eq!((done.number, done.score, &done.sides), (0, 2, &sides));
        assert_eq!(done.theta, ascent.theta());
        // Towards the side that won more.
        for ((before, after), [plus, minus]) in start
            .iter()
            .zip(ascent.theta())
            .zip(sides[0].iter().zip(&sides[1]).map(|(plus, minus)| [plus, minus]))
        {
            assert_eq!(after > before, plus > minus);
        }
        assert!(ascent.sides(3).is_some() && ascent.sides(2).is_none());
    }

    #[test]
    fn iterations_ahead_are_played_with_older_values() {
        let mut ascent = Ascent::new(tuning(10, 1, 2), 5);
        let early = ascent.sides(2).unwrap();
        assert_eq!(ascent.sides(3), None);
        ascent.count(2);
        ascent.count(2);
        assert_eq!(ascent.sides(2), Some(early.clone()), "whatever came in before it began");
        let done = ascent.count(0).unwrap();
        assert_eq!(done.sides, early);
        // The one after it knows the first result and no other.
        let mut other = Ascent::new(tuning(10, 1, 2), 5);
        [2, -2, 1].into_iter().for_each(|score| drop(other.count(score)));
        assert_eq!(ascent.sides(3), other.sides(3));
        assert_ne!(ascent.sides(4), other.sides(4));
    }

    #[test]
    fn a_score_of_zero_moves_nothing_and_a_path_keeps_its_ends() {
        let mut ascent = Ascent::new(tuning(2_001, 1, 0), 1);
        for _ in 0..2_001 {
            ascent.count(0);
        }
        assert_eq!(ascent.theta(), [50.0, 1.0]);
        let path = ascent.path();
        assert!(path.len() <= MAX_MARKS + 1, "{}", path.len());
        assert_eq!((path[0].iterations, path.last().unwrap().iterations), (0, 2_001));
    }
}
