//! The Texel tuner: weights of the default evaluation that foretell the results of games best.
//!
//! The error is the mean squared difference between the result of a game and the result that a
//! logistic curve expects from the evaluation of one of its quiet positions (Peter Österlund's
//! "Texel's tuning method", 2014). Positions are taken apart once into counts of weights, so that
//! the slope of the error is cheap, and the weights go down it by Adam (Kingma and Ba, 2015).

pub mod model;
pub mod samples;
pub mod table;

use model::{Curve, Weights};
use samples::{Samples, Split, mix};

/// How the tuner goes about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Most passes through the samples.
    pub epochs: usize,
    /// Samples per step.
    pub batch: usize,
    /// Largest step of a weight at first, in centipawns.
    pub rate: f64,
    /// Pull towards the weights at the start, per squared centipawn: what few samples say shall
    /// not move a weight far.
    pub pull: f64,
    /// Epochs without a better validation error after which it stops.
    pub patience: usize,
    /// Threads.
    pub threads: usize,
    /// Decides the order of the samples.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            epochs: 200,
            batch: 16_384,
            rate: 1.0,
            pull: 2e-8,
            patience: 8,
            threads: 1,
            seed: 1,
        }
    }
}

/// How far the tuner has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Passes through the samples so far.
    pub epoch: usize,
    /// Mean squared error over the training samples, while the weights were changing.
    pub training: f64,
    /// Mean squared error over the validation samples, afterwards.
    pub validation: f64,
    /// Largest step of a weight, in centipawns.
    pub rate: f64,
}

/// What the tuner found.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// The curve, fitted with the weights at the start.
    pub curve: Curve,
    /// The weights with the least validation error, rounded.
    pub weights: Vec<[i32; 2]>,
    /// Mean squared errors before: training, validation.
    pub before: [f64; 2],
    /// And after, with the rounded weights.
    pub after: [f64; 2],
}

/// Tunes the weights from `start` on.
pub fn tune(
    split: &Split,
    start: &[[i32; 2]],
    settings: Settings,
    report: &mut dyn FnMut(Progress),
) -> Tuned {
    let start: Weights = start.iter().map(|weight| weight.map(f64::from)).collect();
    let (scores, results) = split.training.scores(&start);
    descend(split, &start, Curve::fit(&scores, &results), settings, report)
}

/// Tunes the weights from `start` on for a curve.
fn descend(
    split: &Split,
    start: &Weights,
    curve: Curve,
    settings: Settings,
    report: &mut dyn FnMut(Progress),
) -> Tuned {
    let errors = |weights: &Weights| {
        [&split.training, &split.validation].map(|samples| samples.error(weights, curve))
    };
    let before = errors(start);
    let mut descent = Descent::new(start, settings.rate);
    let (mut best, mut least, mut waited) = (start.clone(), before[1], 0);
    for epoch in 1..=settings.epochs {
        let training = descent.pass(&split.training, curve, epoch, &settings);
        let validation = split.validation.error(&descent.weights, curve);
        report(Progress { epoch, training, validation, rate: descent.rate });
        if validation < least {
            (best, least, waited) = (descent.weights.clone(), validation, 0);
            continue;
        }
        waited += 1;
        if waited >= settings.patience {
            break;
        }
        descent.rate *= 0.7;
    }
    let weights: Vec<[i32; 2]> =
        best.iter().map(|weight| weight.map(|half| half.round() as i32)).collect();
    let rounded = weights.iter().map(|weight| weight.map(f64::from)).collect();
    Tuned { curve, weights, before, after: errors(&rounded) }
}

/// Weights on their way down, by Adam.
struct Descent<'a> {
    start: &'a Weights,
    weights: Weights,
    /// Mean of the slopes, fading.
    mean: Weights,
    /// Mean of their squares.
    square: Weights,
    steps: i32,
    rate: f64,
}

/// How much of the mean slope, and of the mean square, stays from step to step.
const FADE: [f64; 2] = [0.9, 0.999];

impl Descent<'_> {
    fn new(start: &Weights, rate: f64) -> Descent<'_> {
        let zero = vec![[0.0; 2]; start.len()];
        Descent { start, weights: start.clone(), mean: zero.clone(), square: zero, steps: 0, rate }
    }

    /// Goes through all samples once and returns their mean error on the way.
    fn pass(&mut self, samples: &Samples, curve: Curve, epoch: usize, settings: &Settings) -> f64 {
        let order = shuffled(samples.len(), mix(settings.seed) ^ epoch as u64);
        let mut error = 0.0;
        for batch in order.chunks(settings.batch.max(1)) {
            let slope = samples.slope(batch, &self.weights, curve, settings.threads);
            error += slope.error;
            self.step(&slope.by_weight, batch.len(), settings.pull);
        }
        error / samples.len().max(1) as f64
    }

    fn step(&mut self, slope: &Weights, samples: usize, pull: f64) {
        self.steps += 1;
        let [mean_left, square_left] = FADE.map(|fade| 1.0 - fade.powi(self.steps));
        for (place, slopes) in slope.iter().enumerate() {
            for (half, slope) in slopes.iter().enumerate() {
                let away = self.weights[place][half] - self.start[place][half];
                let slope = slope / samples as f64 + 2.0 * pull * away;
                let mean = &mut self.mean[place][half];
                *mean = FADE[0] * *mean + (1.0 - FADE[0]) * slope;
                let square = &mut self.square[place][half];
                *square = FADE[1] * *square + (1.0 - FADE[1]) * slope * slope;
                let scale = (*square / square_left).sqrt() + 1e-12;
                self.weights[place][half] -= self.rate * *mean / mean_left / scale;
            }
        }
    }
}

/// The numbers below `len` in an order that depends on `seed` (Fisher and Yates).
fn shuffled(len: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..len as u32).collect();
    let mut state = seed;
    for last in (1..len).rev() {
        state = mix(state);
        let other = ((u128::from(state) * (last as u128 + 1)) >> 64) as usize;
        order.swap(last, other);
    }
    order
}

#[cfg(test)]
mod tests;
