//! Efficiently updatable neural network (NNUE, Yu Nasu 2018).
//!
//! The inputs are the pieces and their squares, from the point of view of each side. For each side,
//! the files are mirrored if necessary, so that the side's king is on files a to d. Both sides
//! share the weights of the hidden layer. The sums of the hidden layer are clipped to 0–1 and
//! squared. The first inputs of the output layer are the neurons of the side to move. The number of
//! pieces on the board selects one of several outputs. All arithmetic uses integers, so that every
//! CPU computes the same score.

#![expect(clippy::disallowed_types, reason = "the embedded network is unpacked once")]

mod accumulator;
pub mod network;

use std::sync::OnceLock;

use super::report::Report;
use super::score::EVALUATION_MAX;
use super::sink::Record;
use super::{Evaluation, Evaluator, Score};
use crate::chess::attacks::{Cpu, Job, Level, Machine};
use crate::chess::{Color, Game, Move, Position};
use accumulator::Accumulator;
use network::{CENTIPAWNS, HIDDEN_UNIT, Layer, Network, OUTPUT_UNIT};

/// The file of the embedded network.
static EMBEDDED: &[u8] = include_bytes!("default.net");

/// Returns the embedded network.
pub fn embedded() -> &'static Network {
    static NETWORK: OnceLock<Network> = OnceLock::new();
    NETWORK.get_or_init(|| Network::read(EMBEDDED).expect("a test has read the embedded network"))
}

/// Returns the evaluation by the embedded network with the CPU instructions of `level`, for
/// comparisons between levels; `None` if the CPU does not support the level.
pub fn at_level(level: Level) -> Option<impl Evaluator> {
    Machine::at(level).map(|machine| Nnue::at(machine, embedded()))
}

/// Entry in the list of evaluations. The entry has no features, because a network has no separate
/// terms.
pub(super) const EVALUATION: Evaluation = Evaluation {
    name: "nnue",
    unit: "centipawns",
    features: Vec::new,
    experiments: Vec::new,
    evaluator: |choice| Box::new(choice.nnue()),
    explain: |choice, game| choice.nnue().explain(game.position()),
};

/// Evaluation by a network.
pub(crate) struct Nnue {
    network: &'static Network,
    machine: Machine,
    accumulator: Accumulator,
}

impl Nnue {
    /// Returns the evaluation by a network.
    pub(super) fn new(network: &'static Network) -> Nnue {
        Nnue::at(machine(), network)
    }

    fn at(machine: Machine, network: &'static Network) -> Nnue {
        Nnue { network, machine, accumulator: Accumulator::new(network) }
    }

    /// Returns a report with the score of a position, but without terms.
    fn explain(mut self, position: &Position) -> Report {
        let value = self.evaluate(position);
        Report::unblended(&[], &Record::new(Default::default()), position, value)
    }
}

/// Returns the machine at the supported level with the widest vectors.
fn machine() -> Machine {
    let mut levels = Level::ALL.into_iter().rev();
    // `Machine::best` avoids levels with a slow PEXT, but this code does not use PEXT.
    levels.find_map(Machine::at).expect("every CPU has the plain level")
}

impl Evaluator for Nnue {
    fn reset(&mut self, _game: &Game) {
        self.accumulator.reset();
    }

    fn push(&mut self, before: &Position, mv: Move) {
        self.accumulator.push(before, mv);
    }

    fn push_null(&mut self) {
        self.accumulator.push_null();
    }

    fn pop(&mut self) {
        self.accumulator.pop();
    }

    fn evaluate(&mut self, position: &Position) -> Score {
        let Nnue { network, machine, accumulator } = self;
        machine.run(EvaluationJob { network, accumulator, position })
    }
}

/// Evaluation of one position as a job. The job is compiled once for each supported set of vector
/// instructions.
struct EvaluationJob<'a> {
    network: &'a Network,
    accumulator: &'a mut Accumulator,
    position: &'a Position,
}

impl Job for EvaluationJob<'_> {
    type Output = Score;

    #[inline(always)]
    fn run<C: Cpu>(self, _: C) -> Score {
        let EvaluationJob { network, accumulator, position } = self;
        let sums = accumulator.current(network, position);
        let (own, other) = match position.turn() {
            Color::White => (&sums[0], &sums[1]),
            Color::Black => (&sums[1], &sums[0]),
        };
        let chosen = network::output(position.board().occupied().len());
        let weights = &network.outputs[chosen];
        let sum = activate(own, &weights[0]) + activate(other, &weights[1]);
        let output = sum / HIDDEN_UNIT + network.output_bias[chosen];
        let score =
            i64::from(output) * i64::from(CENTIPAWNS) / i64::from(HIDDEN_UNIT * OUTPUT_UNIT);
        score.clamp((-EVALUATION_MAX).into(), EVALUATION_MAX.into()) as Score
    }
}

/// Returns the weighted sum of the squares of the clipped neurons.
#[inline(always)]
fn activate(sums: &Layer, weights: &Layer) -> i32 {
    let neurons = sums.0.iter().zip(&weights.0);
    neurons
        .map(|(sum, weight)| {
            let clipped = (*sum).clamp(0, HIDDEN_UNIT as i16);
            // Both factors have 16 bits, so that one instruction can multiply vectors of factors
            // and add pairs of products.
            i32::from(clipped.wrapping_mul(*weight)) * i32::from(clipped)
        })
        .sum()
}

#[cfg(test)]
mod tests;
