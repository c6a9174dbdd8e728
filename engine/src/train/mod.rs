//! Trainer for networks. Training minimizes the squared error of the expected result, using Adam
//! (Kingma and Ba, 2015) with decoupled weight decay (Loshchilov and Hutter, 2019).
//!
//! Each batch is divided into parts of a fixed size, and the gradients of the parts are added in a
//! fixed order. The trained network therefore depends only on the data and settings, not on the
//! number of threads or the CPU.

mod checkpoint;
mod data;
mod model;

use std::io;
use std::ops::Range;
use std::path::Path;
use std::thread;

use crate::chess::attacks::{Level, Machine};
use crate::eval::nnue::network::{HIDDEN_UNIT, Network, OUTPUT_UNIT};
use crate::random::{Random, mix};
use checkpoint::Checkpoint;
pub(crate) use checkpoint::{replace, temporary_path};
pub use data::Data;
use model::{ErrorJob, HIDDEN_BIAS, HIDDEN_WEIGHTS, OUTPUT_BIAS, OUTPUT_WEIGHTS, PARAMETERS};

/// Settings of the trainer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Number of passes through the data.
    pub epochs: usize,
    /// Number of positions per step.
    pub batch: usize,
    /// Initial learning rate. The rate decreases to one hundredth of this value along a cosine
    /// (cosine annealing).
    pub rate: f32,
    /// Share of the game's result in the target, 0 to 1. The rest of the target is the expected
    /// result for the score.
    pub result_share: f32,
    /// Seed of the random initial weights and of the order of the positions.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
    /// Initial network; `None` for random weights.
    pub start: Option<&'static Network>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            epochs: 20,
            batch: 16_384,
            rate: 0.001,
            result_share: 0.1,
            seed: 1,
            threads: 1,
            start: None,
        }
    }
}

/// Mean squared errors of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochErrors {
    /// Mean squared error over the training positions, measured during the epoch, while the weights
    /// change.
    pub training: f64,
    /// Mean squared error over the validation positions, after the epoch.
    pub validation: f64,
}

/// Number of positions in a part of a batch. The size of the parts and the order of addition are
/// fixed, so that sums do not depend on the number of threads.
const PART: usize = 1_024;

/// Decay rates of the moving averages of the gradients and of the squared gradients. Kingma and Ba
/// recommend these rates, and the constant 1e-8 that is added to the divisor of a step.
const DECAY: [f32; 2] = [0.9, 0.999];

/// Weight decay per step, as a multiple of the learning rate.
const WEIGHT_DECAY: f32 = 0.01;

/// Maximum absolute value of a weight or bias. This maximum keeps the sums of the hidden layer
/// within 16 bits. As a quantized output weight, this maximum is 127; `Network::read` accepts no
/// larger output weight.
const WEIGHT_MAX: f32 = 1.98;

/// Trains a network. If the file `checkpoint` exists, training resumes from the checkpoint. After
/// each epoch, the file is written, and then `report` is called with the errors of all epochs so
/// far.
///
/// # Errors
///
/// Returns an error if the checkpoint cannot be read or written, is damaged, or belongs to other
/// data or settings.
pub fn train(
    data: &Data,
    settings: Settings,
    checkpoint: &Path,
    report: &mut dyn FnMut(&[EpochErrors]),
) -> io::Result<Network> {
    let mut state = match Checkpoint::read(checkpoint, data, settings)? {
        Some(state) => state,
        None => Checkpoint::start(match settings.start {
            Some(network) => dequantize(network),
            None => model::initial(&mut Random::new(mix(settings.seed))),
        }),
    };
    let mut gradients = vec![vec![0.0; PARAMETERS]; settings.batch.div_ceil(PART)];
    while state.errors.len() < settings.epochs {
        let epoch = state.errors.len();
        // The order depends only on the seed and the epoch, so that a resumed training run gives
        // the same result as an uninterrupted run.
        let order = Random::new(mix(settings.seed) ^ mix(epoch as u64 + 1))
            .shuffled_indices(data.training.len());
        let order: Vec<u32> = order.iter().map(|&at| data.training[at as usize]).collect();
        let mut error = 0.0;
        let batches = order.len().div_ceil(settings.batch);
        for (at, batch) in order.chunks(settings.batch).enumerate() {
            error += sum_errors(data, batch, &state.weights, settings, Some(&mut gradients));
            let done = (epoch * batches + at) as f32 / (settings.epochs * batches) as f32;
            let cosine = (1.0 + (done * std::f32::consts::PI).cos()) / 2.0;
            let rate = settings.rate * (0.01 + 0.99 * cosine);
            state.step(&mut gradients, batch.len(), rate);
        }
        let mean = |sum: f64, samples: usize| sum / samples.max(1) as f64;
        let validation = sum_errors(data, &data.validation, &state.weights, settings, None);
        state.errors.push(EpochErrors {
            training: mean(error, order.len()),
            validation: mean(validation, data.validation.len()),
        });
        state.write(checkpoint, data, settings)?;
        report(&state.errors);
    }
    Ok(quantize(&state.weights))
}

/// Returns the sum of the squared errors of the records with these indices. If `gradients` is
/// given, the gradient of each part of the records is added to the corresponding element of
/// `gradients`.
fn sum_errors(
    data: &Data,
    indices: &[u32],
    weights: &[f32],
    settings: Settings,
    gradients: Option<&mut Vec<Vec<f32>>>,
) -> f64 {
    let machine = Level::ALL.into_iter().rev().find_map(Machine::at);
    let machine = machine.expect("every CPU has the plain level");
    let parts: Vec<&[u32]> = indices.chunks(PART).collect();
    let mut gradients: Vec<Option<&mut [f32]>> = match gradients {
        Some(all) => all.iter_mut().map(|one| Some(&mut one[..])).collect(),
        None => parts.iter().map(|_| None).collect(),
    };
    let mut sums = vec![0.0; parts.len()];
    let mut jobs: Vec<_> = sums.iter_mut().zip(parts).zip(&mut gradients).collect();
    let per_thread = jobs.len().div_ceil(settings.threads.max(1)).max(1);
    thread::scope(|scope| {
        for jobs in jobs.chunks_mut(per_thread) {
            scope.spawn(move || {
                for ((sum, indices), gradient) in jobs {
                    let records = &data.records[..];
                    let result_share = settings.result_share;
                    let gradient = gradient.as_deref_mut();
                    **sum =
                        machine.run(ErrorJob { weights, records, indices, result_share, gradient });
                }
            });
        }
    });
    sums.iter().sum()
}

impl Checkpoint {
    /// Performs one step of Adam. The gradient is the sum of `gradients`; all elements of
    /// `gradients` are set to 0.
    fn step(&mut self, gradients: &mut [Vec<f32>], samples: usize, rate: f32) {
        self.steps += 1;
        // Both moving averages start at 0, so each average is divided by the total weight of the
        // gradients so far (bias correction).
        let [mean_correction, square_correction] =
            DECAY.map(|decay| 1.0 - decay.powi(self.steps as i32));
        let (sum, others) = gradients.split_first_mut().expect("a batch has at least one part");
        for other in others {
            for (sum, part) in sum.iter_mut().zip(&mut *other) {
                *sum += std::mem::take(part);
            }
        }
        let Checkpoint { weights, mean, square, .. } = self;
        for place in 0..PARAMETERS {
            let gradient = std::mem::take(&mut sum[place]) / samples as f32;
            mean[place] = DECAY[0] * mean[place] + (1.0 - DECAY[0]) * gradient;
            square[place] = DECAY[1] * square[place] + (1.0 - DECAY[1]) * gradient * gradient;
            let scale = (square[place] / square_correction).sqrt() + 1e-8;
            // The decay is decoupled: it is applied directly to the weight. If the decay were part
            // of the gradient, the moving averages would scale it.
            let weight = weights[place] * (1.0 - rate * WEIGHT_DECAY);
            let weight = weight - rate * mean[place] / mean_correction / scale;
            weights[place] = weight.clamp(-WEIGHT_MAX, WEIGHT_MAX);
        }
    }
}

/// Returns the network with quantized weights.
fn quantize(weights: &[f32]) -> Network {
    let scaled = |range: Range<usize>, unit: i32| {
        weights[range].iter().map(move |weight| weight * unit as f32)
    };
    let words = |range, unit| scaled(range, unit).map(|weight| weight.round() as i16);
    Network::new(
        &words(HIDDEN_WEIGHTS, HIDDEN_UNIT).collect::<Vec<_>>(),
        &words(HIDDEN_BIAS, HIDDEN_UNIT).collect::<Vec<_>>(),
        &words(OUTPUT_WEIGHTS, OUTPUT_UNIT).collect::<Vec<_>>(),
        &scaled(OUTPUT_BIAS, HIDDEN_UNIT * OUTPUT_UNIT)
            .map(|bias| bias.round() as i32)
            .collect::<Vec<_>>(),
    )
}

/// Returns the weights of a network as floating-point numbers.
fn dequantize(network: &Network) -> Vec<f32> {
    let unit = |place| match place {
        _ if place < OUTPUT_WEIGHTS.start => HIDDEN_UNIT,
        _ if place < OUTPUT_BIAS.start => OUTPUT_UNIT,
        _ => HIDDEN_UNIT * OUTPUT_UNIT,
    };
    let weights = network.weights().enumerate();
    weights.map(|(place, weight)| weight as f32 / unit(place) as f32).collect()
}

#[cfg(test)]
mod tests;
