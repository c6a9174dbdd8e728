//! Texel tuner: fits the weights of the hand-crafted evaluation to the results of games.
//!
//! The error is the mean squared difference between the result of a game and the expected result
//! (Peter Österlund, "Texel's tuning method", 2014). The expected result is a logistic function of
//! the evaluation of a position in the game. Positions are converted once to counts of weights, so
//! that the gradient of the error is cheap to compute. The weights are optimized with Adam (Kingma
//! and Ba, 2015).

pub mod model;
pub mod samples;
pub mod table;

use crate::random::{Random, mix};
use model::{Curve, Weights};
use samples::{Samples, Split};

/// Settings of the tuner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Maximum number of passes through the samples.
    pub epochs: usize,
    /// Batch size: number of samples per step.
    pub batch: usize,
    /// Initial learning rate: approximate maximum step of a weight, in centipawns.
    pub rate: f64,
    /// L2 penalty per squared centipawn of distance from the initial weights (`--pull`).
    pub l2: f64,
    /// Number of consecutive epochs without a smaller validation error after which the tuner stops.
    pub patience: usize,
    /// Number of threads.
    pub threads: usize,
    /// Seed of the order of the samples.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            epochs: 200,
            batch: 16_384,
            rate: 1.0,
            l2: 2e-8,
            patience: 8,
            threads: 1,
            seed: 1,
        }
    }
}

/// Progress after an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Number of passes through the samples so far.
    pub epoch: usize,
    /// Mean squared error over the training samples, measured during the epoch, while the weights
    /// change.
    pub training: f64,
    /// Mean squared error over the validation samples, after the epoch.
    pub validation: f64,
    /// Learning rate: approximate maximum step of a weight, in centipawns.
    pub rate: f64,
}

/// Result of the tuner.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneResult {
    /// Logistic curve, fitted with the initial weights.
    pub curve: Curve,
    /// Weights with the smallest validation error, rounded to integers, as pairs of a middlegame
    /// and an endgame value.
    pub weights: Vec<[i32; 2]>,
    /// Mean squared errors with the initial weights, over the training samples and over the
    /// validation samples.
    pub before: [f64; 2],
    /// Mean squared errors with the tuned and rounded weights, over the training samples and over
    /// the validation samples.
    pub after: [f64; 2],
}

/// Fits the logistic curve to the scores with the initial weights `start`, and tunes the weights.
/// Calls `report` after each epoch.
pub fn tune(
    split: &Split,
    start: &[[i32; 2]],
    settings: Settings,
    report: &mut dyn FnMut(Progress),
) -> TuneResult {
    let start: Weights = start.iter().map(|weight| weight.map(f64::from)).collect();
    let (scores, results) = split.training.scores(&start);
    optimize(split, &start, Curve::fit(&scores, &results), settings, report)
}

/// Tunes the weights for a logistic curve, starting with `start`. Calls `report` after each epoch.
fn optimize(
    split: &Split,
    start: &Weights,
    curve: Curve,
    settings: Settings,
    report: &mut dyn FnMut(Progress),
) -> TuneResult {
    let errors = |weights: &Weights| {
        [&split.training, &split.validation].map(|samples| samples.error(weights, curve))
    };
    let before = errors(start);
    let mut optimizer = Adam::new(start, settings.rate);
    let mut best = start.clone();
    let mut least = before[1];
    let mut waited = 0;
    for epoch in 1..=settings.epochs {
        let training = optimizer.pass(&split.training, curve, epoch, &settings);
        let validation = split.validation.error(&optimizer.weights, curve);
        report(Progress { epoch, training, validation, rate: optimizer.rate });
        if validation < least {
            best.clone_from(&optimizer.weights);
            least = validation;
            waited = 0;
            continue;
        }
        waited += 1;
        if waited >= settings.patience {
            break;
        }
        optimizer.rate *= 0.7;
    }
    let weights: Vec<[i32; 2]> =
        best.iter().map(|weight| weight.map(|phase| phase.round() as i32)).collect();
    let rounded = weights.iter().map(|weight| weight.map(f64::from)).collect();
    TuneResult { curve, weights, before, after: errors(&rounded) }
}

/// State of the Adam optimizer.
struct Adam<'a> {
    start: &'a Weights,
    weights: Weights,
    /// Exponential moving average of the gradients.
    mean: Weights,
    /// Exponential moving average of the squared gradients.
    square: Weights,
    steps: i32,
    rate: f64,
}

/// Decay rates of the moving averages of the gradients and of the squared gradients, as recommended
/// by Kingma and Ba ("Adam: a method for stochastic optimization", 2015).
const DECAY: [f64; 2] = [0.9, 0.999];

impl Adam<'_> {
    fn new(start: &Weights, rate: f64) -> Adam<'_> {
        let zero = vec![[0.0; 2]; start.len()];
        Adam { start, weights: start.clone(), mean: zero.clone(), square: zero, steps: 0, rate }
    }

    /// Performs one epoch, and returns the mean squared error during the epoch.
    fn pass(&mut self, samples: &Samples, curve: Curve, epoch: usize, settings: &Settings) -> f64 {
        let mut random = Random::new(mix(settings.seed) ^ epoch as u64);
        let order = random.shuffled_indices(samples.len());
        let mut error = 0.0;
        for batch in order.chunks(settings.batch.max(1)) {
            let gradient = samples.gradient(batch, &self.weights, curve, settings.threads);
            error += gradient.error;
            self.step(&gradient.by_weight, batch.len(), settings.l2);
        }
        error / samples.len().max(1) as f64
    }

    fn step(&mut self, gradient: &Weights, samples: usize, l2: f64) {
        self.steps += 1;
        // Both moving averages start at 0, so each average is divided by the total weight of the
        // gradients so far (bias correction).
        let [mean_correction, square_correction] = DECAY.map(|decay| 1.0 - decay.powi(self.steps));
        for (place, gradients) in gradient.iter().enumerate() {
            for (phase, gradient) in gradients.iter().enumerate() {
                let away = self.weights[place][phase] - self.start[place][phase];
                let gradient = gradient / samples as f64 + 2.0 * l2 * away;
                let mean = &mut self.mean[place][phase];
                *mean = DECAY[0] * *mean + (1.0 - DECAY[0]) * gradient;
                let square = &mut self.square[place][phase];
                *square = DECAY[1] * *square + (1.0 - DECAY[1]) * gradient * gradient;
                let scale = (*square / square_correction).sqrt() + 1e-12;
                self.weights[place][phase] -= self.rate * *mean / mean_correction / scale;
            }
        }
    }
}

#[cfg(test)]
mod tests;
