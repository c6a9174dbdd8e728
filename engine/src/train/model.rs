//! Floating-point model of the network, with the error of the expected result and the gradient of
//! the error.
//!
//! All parameters are in one slice, in this order: weights of the hidden layer by input; biases of
//! the hidden layer; weights of each output, for the side to move and then for the opponent; biases
//! of the outputs. The output 1.0 corresponds to [`CENTIPAWNS`] centipawns. The expected result is
//! the logistic function of the output.

use std::ops::Range;

use crate::chess::attacks::{Cpu, Job};
use crate::chess::{Color, Kind};
use crate::datagen::record::{GameResult, Record};
use crate::eval::nnue::network::{CENTIPAWNS, HIDDEN, INPUTS, OUTPUTS, input, is_mirrored, output};
use crate::random::Random;

/// Range of the hidden layer's weights.
pub(super) const HIDDEN_WEIGHTS: Range<usize> = 0..INPUTS * HIDDEN;
/// Range of the hidden layer's biases.
pub(super) const HIDDEN_BIAS: Range<usize> = HIDDEN_WEIGHTS.end..HIDDEN_WEIGHTS.end + HIDDEN;
/// Range of the output weights.
pub(super) const OUTPUT_WEIGHTS: Range<usize> =
    HIDDEN_BIAS.end..HIDDEN_BIAS.end + OUTPUTS * 2 * HIDDEN;
/// Range of the output biases.
pub(super) const OUTPUT_BIAS: Range<usize> = OUTPUT_WEIGHTS.end..OUTPUT_WEIGHTS.end + OUTPUTS;

/// Number of weights and biases.
pub(super) const PARAMETERS: usize = OUTPUT_BIAS.end;

/// Returns random initial weights. All biases are 0.
pub(super) fn initial(random: &mut Random) -> Vec<f32> {
    let mut weights = vec![0.0; PARAMETERS];
    // The weights are uniformly distributed between −`width` and `width`. With these widths, the
    // sums of up to 32 inputs in the hidden layer, and the outputs, are of the order of 1.
    for (range, width) in [(HIDDEN_WEIGHTS, 0.15), (OUTPUT_WEIGHTS, 0.1)] {
        for weight in &mut weights[range] {
            let unit = random.below(1 << 24) as f32 / (1 << 24) as f32;
            *weight = (2.0 * unit - 1.0) * width;
        }
    }
    weights
}

/// Position as the input of the network, with the target.
struct Sample {
    /// Indices of the active inputs, for the side to move and for the opponent. Only the first
    /// `pieces` elements are used.
    inputs: [[u16; 32]; 2],
    pieces: usize,
    output: usize,
    /// Target: the expected result for the side to move, 0 to 1.
    target: f32,
}

impl Sample {
    /// Creates a sample. `result_share` is the share of the game's result in the target. The rest
    /// of the target is the expected result for the score.
    #[inline(always)]
    fn new(record: &Record, result_share: f32) -> Sample {
        let turn = record.turn();
        let sides = [turn, !turn];
        let mut mirrored = [false; 2];
        for (square, piece) in record.pieces().filter(|(_, piece)| piece.kind == Kind::King) {
            mirrored[usize::from(piece.color != turn)] = is_mirrored(square);
        }
        let mut inputs = [[0; 32]; 2];
        let mut pieces = 0;
        for (square, piece) in record.pieces() {
            for side in 0..2 {
                let place = input(sides[side], mirrored[side], piece, square);
                inputs[side][pieces] = place as u16;
            }
            pieces += 1;
        }
        let white = match record.result() {
            GameResult::BlackWon => 0.0,
            GameResult::Draw => 0.5,
            GameResult::WhiteWon => 1.0,
        };
        let score = logistic(record.white_score() as f32 / CENTIPAWNS as f32);
        let white = result_share * white + (1.0 - result_share) * score;
        let target = if turn == Color::White { white } else { 1.0 - white };
        Sample { inputs, pieces, output: output(pieces as u32), target }
    }
}

fn logistic(value: f32) -> f32 {
    1.0 / (1.0 + (-value).exp())
}

/// Job that sums the squared errors of records and, if requested, the gradients of these errors.
/// The job is compiled once for each supported set of vector instructions. All compiled copies
/// compute the same result.
pub(super) struct ErrorJob<'a> {
    pub(super) weights: &'a [f32],
    pub(super) records: &'a [Record],
    /// Indices of the records to use.
    pub(super) indices: &'a [u32],
    pub(super) result_share: f32,
    /// Slice to which the gradients are added, if requested.
    pub(super) gradient: Option<&'a mut [f32]>,
}

type Neurons = [f32; HIDDEN];

impl Job for ErrorJob<'_> {
    /// Sum of the squared errors.
    type Output = f64;

    #[inline(always)]
    fn run<C: Cpu>(mut self, _: C) -> f64 {
        let mut error = 0.0;
        for &index in self.indices {
            let sample = Sample::new(&self.records[index as usize], self.result_share);
            error += f64::from(self.add(&sample));
        }
        error
    }
}

impl ErrorJob<'_> {
    /// Returns the squared error of a sample and, if requested, adds the gradient of the error.
    #[inline(always)]
    fn add(&mut self, sample: &Sample) -> f32 {
        let (output, clipped) = forward(self.weights, sample);
        let expected = logistic(output);
        let difference = expected - sample.target;
        if let Some(gradient) = &mut self.gradient {
            let slope = 2.0 * difference * expected * (1.0 - expected);
            propagate(gradient, self.weights, sample, &clipped, slope);
        }
        difference * difference
    }
}

/// Returns the output for a sample, and the clipped sums of the hidden layer for both sides.
#[inline(always)]
fn forward(weights: &[f32], sample: &Sample) -> (f32, [Neurons; 2]) {
    let (rows, _) = weights[HIDDEN_WEIGHTS].as_chunks::<HIDDEN>();
    let (bias, _) = weights[HIDDEN_BIAS].as_chunks::<HIDDEN>();
    let (outputs, _) = weights[OUTPUT_WEIGHTS].as_chunks::<HIDDEN>();
    let mut clipped = [bias[0]; 2];
    let mut output = weights[OUTPUT_BIAS.start + sample.output];
    for (side, neurons) in clipped.iter_mut().enumerate() {
        for &input in &sample.inputs[side][..sample.pieces] {
            add(neurons, &rows[usize::from(input)]);
        }
        neurons.iter_mut().for_each(|neuron| *neuron = neuron.clamp(0.0, 1.0));
        output += dot_squared(neurons, &outputs[2 * sample.output + side]);
    }
    (output, clipped)
}

/// Returns the output for a record.
#[cfg(test)]
pub(super) fn output_of(weights: &[f32], record: &Record) -> f32 {
    forward(weights, &Sample::new(record, 0.0)).0
}

/// Adds the gradient of a sample (backpropagation). `slope` is the derivative of the squared error
/// with respect to the output.
#[inline(always)]
fn propagate(
    gradient: &mut [f32],
    weights: &[f32],
    sample: &Sample,
    clipped: &[Neurons; 2],
    slope: f32,
) {
    let (outputs, _) = weights[OUTPUT_WEIGHTS].as_chunks::<HIDDEN>();
    gradient[OUTPUT_BIAS.start + sample.output] += slope;
    for (side, clipped) in clipped.iter().enumerate() {
        let place = 2 * sample.output + side;
        let weights = &outputs[place];
        let (by_weight, _) = gradient[OUTPUT_WEIGHTS].as_chunks_mut::<HIDDEN>();
        let mut by_neuron = [0.0; HIDDEN];
        for neuron in 0..HIDDEN {
            let value = clipped[neuron];
            by_weight[place][neuron] += slope * value * value;
            // A neuron that is clipped at 1 does not depend on its sum. For a neuron clipped at 0,
            // the derivative of the square is 0 anyway.
            let factor = if value < 1.0 { 2.0 * value } else { 0.0 };
            by_neuron[neuron] = slope * weights[neuron] * factor;
        }
        let (bias, _) = gradient[HIDDEN_BIAS].as_chunks_mut::<HIDDEN>();
        add(&mut bias[0], &by_neuron);
        let (rows, _) = gradient[HIDDEN_WEIGHTS].as_chunks_mut::<HIDDEN>();
        for &input in &sample.inputs[side][..sample.pieces] {
            add(&mut rows[usize::from(input)], &by_neuron);
        }
    }
}

#[inline(always)]
fn add(sums: &mut Neurons, values: &Neurons) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

/// Returns the dot product of the squared neurons and `weights`. The products are summed in lanes,
/// because the compiler must not reorder a floating-point sum for vectorization.
#[inline(always)]
fn dot_squared(neurons: &Neurons, weights: &Neurons) -> f32 {
    // The number of lanes, and therefore the order of addition, is the same on every CPU, so every
    // CPU computes the same result.
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    for start in (0..HIDDEN).step_by(LANES) {
        for lane in 0..LANES {
            let neuron = neurons[start + lane];
            sums[lane] += neuron * neuron * weights[start + lane];
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::attacks::{Level, Machine};
    use crate::chess::fen;

    #[test]
    fn the_gradient_matches_finite_differences() {
        let records: Vec<Record> = [
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 80),
            ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1", -250),
            ("8/5bk1/8/2Pp4/8/1K6/8/8 w - - 0 1", 700),
        ]
        .map(|(text, score)| Record::new(&fen::parse(text).unwrap(), score))
        .to_vec();
        let mut weights = initial(&mut Random::new(3));
        // With this bias, some neurons are clipped, and no neuron is so close to a clipping point
        // that a small step would reach this point.
        weights[HIDDEN_BIAS].iter_mut().for_each(|bias| *bias = 0.3);
        let indices = [0, 1, 2];
        let error = |weights: &[f32], gradient: Option<&mut [f32]>, level| {
            let records = &records[..];
            let indices = &indices[..];
            let job = ErrorJob { weights, records, indices, result_share: 0.3, gradient };
            Machine::at(level).map(|machine| machine.run(job))
        };
        let mut gradient = vec![0.0; PARAMETERS];
        let found = error(&weights, Some(&mut gradient), Level::Plain);
        for level in Level::ALL {
            let mut other = vec![0.0; PARAMETERS];
            if let Some(same) = error(&weights, Some(&mut other), level) {
                assert_eq!((Some(same), &other), (found, &gradient), "{level:?}");
            }
        }
        let steepest = |range: Range<usize>| {
            let mut places: Vec<usize> = range.collect();
            places.sort_by(|a, b| gradient[*b].abs().total_cmp(&gradient[*a].abs()));
            places.into_iter().take(12)
        };
        let ranges = [HIDDEN_WEIGHTS, HIDDEN_BIAS, OUTPUT_WEIGHTS, OUTPUT_BIAS];
        for place in ranges.into_iter().flat_map(steepest) {
            let step = 5e-4;
            let mut at = |by: f32| {
                let before = weights[place];
                weights[place] = before + by;
                let error = error(&weights, None, Level::Plain).unwrap();
                weights[place] = before;
                error
            };
            let slope = (at(step) - at(-step)) / (2.0 * f64::from(step));
            let exact = f64::from(gradient[place]);
            assert!((slope - exact).abs() < 0.02 * exact.abs() + 1e-5, "{place} {slope} {exact}");
        }
    }
}
