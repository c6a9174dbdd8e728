//! Evaluation traces for the tuner. A trace describes a position by the number of times that the
//! evaluation adds each weight.

use super::kingpawn::KingPawnTable;
use super::layout::{LEN, is_danger};
use super::weights::WEIGHTS;
use super::{
    DANGER_DIVISOR, DANGER_UNITS, EvaluationJob, PHASE_MAX, PortableCpu, SCALE_MAX, danger_worth,
    endings, phase,
};
use crate::chess::attacks::Cpu;
use crate::chess::{Color, Position};
use crate::eval::pair::Pair;
use crate::eval::sink::Sink;

/// Counts of the weights in a position; zero counts are omitted.
///
/// The middlegame and endgame sums contain the weights multiplied by their linear counts, the score
/// of White's attack minus the score of Black's attack ([`attack_worth`]), and the fixed score.
/// White's score is an interpolation between the two sums ([`shares`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Pairs of a weight index in the table and the count of the weight, White minus Black.
    pub linear: Vec<(u16, i32)>,
    /// Pairs of a weight index and the count of the weight in the danger units of each side's
    /// attack, White's attack first.
    pub danger: [Vec<(u16, i32)>; 2],
    /// Score that does not depend on any weight, in centipawns, White minus Black: middlegame,
    /// endgame.
    pub fixed: [i32; 2],
    /// Game phase, from 0 (endgame) to [`PHASE_MAX`] (middlegame).
    pub phase: i32,
    /// Scale factor of the endgame score, in 1/[`SCALE_MAX`].
    pub scale: i32,
}

/// Returns the current weights by index, as pairs of a middlegame and an endgame value.
pub fn weights() -> Vec<[i32; 2]> {
    WEIGHTS.iter().map(|weight| [weight.opening(), weight.endgame()]).collect()
}

/// Returns the score of `units` danger units, in centipawns, and the derivative of the score. The
/// first pair is for the middlegame, the second pair for the endgame.
pub fn attack_worth(units: [f64; 2]) -> [(f64, f64); 2] {
    let [middle, end] = units.map(|units| units.max(0.0));
    let divisor = f64::from(DANGER_DIVISOR);
    let per_unit = 1.0 / f64::from(DANGER_UNITS);
    let slope = if end > 0.0 { per_unit } else { 0.0 };
    [(middle * middle / divisor, 2.0 * middle / divisor), (end * per_unit, slope)]
}

/// Returns the factors of the middlegame sum and of the endgame sum in a score.
pub fn shares(phase: i32, scale: i32) -> [f64; 2] {
    let middle = f64::from(phase) / f64::from(PHASE_MAX);
    [middle, (1.0 - middle) * f64::from(scale) / f64::from(SCALE_MAX)]
}

/// Generator of evaluation traces.
pub struct Tracer {
    table: KingPawnTable,
}

impl Default for Tracer {
    fn default() -> Tracer {
        Tracer { table: KingPawnTable::new() }
    }
}

/// Sink that counts how often each weight is added.
struct Counts {
    /// Counts by side and weight, White's first.
    times: Box<[[i32; LEN]; 2]>,
    sum: Pair,
}

impl Tracer {
    /// Returns the trace of a position.
    pub fn trace(&mut self, position: &Position) -> Trace {
        let mut counts = Counts::new();
        PortableCpu.run(EvaluationJob { position, table: &mut self.table, sink: &mut counts });
        let Counts { times, sum } = counts;
        let mut linear = Vec::new();
        let mut danger = [Vec::new(), Vec::new()];
        let mut weighted = Pair::ZERO;
        for (place, &weight) in WEIGHTS.iter().enumerate() {
            let [white, black] = times.each_ref().map(|side| side[place]);
            if is_danger(place) {
                for (color, times) in [white, black].into_iter().enumerate() {
                    if times != 0 {
                        danger[color].push((place as u16, times));
                    }
                }
            } else if white != black {
                linear.push((place as u16, white - black));
                weighted += weight * (white - black);
            }
        }
        let [white, black] = danger.each_ref().map(|counts| danger_worth(total(counts)));
        weighted += white - black;
        let fixed = sum - weighted;
        Trace {
            linear,
            danger,
            fixed: [fixed.opening(), fixed.endgame()],
            phase: phase(position),
            scale: endings::scale(position, sum.endgame()),
        }
    }
}

fn total(counts: &[(u16, i32)]) -> Pair {
    counts.iter().fold(Pair::ZERO, |sum, &(place, times)| sum + WEIGHTS[place as usize] * times)
}

impl Counts {
    fn new() -> Counts {
        Counts { times: Box::new([[0; LEN]; 2]), sum: Pair::ZERO }
    }
}

impl Sink for Counts {
    const RECORDS: bool = true;

    fn add(&mut self, _feature: impl Into<usize>, color: Color, score: Pair) {
        self.sum += if color == Color::White { score } else { -score };
    }

    fn add_sum(&mut self, sum: Pair) {
        self.sum += sum;
    }

    fn is_enabled(&self, _feature: impl Into<usize>) -> bool {
        true
    }

    fn adjust(&mut self, _feature: impl Into<usize>, _change: i32) {}

    fn count_weight(&mut self, color: Color, place: usize, times: i32) {
        self.times[color.index()][place] += times;
    }

    fn sum(&self) -> Pair {
        self.sum
    }

    fn new_empty(&self) -> Counts {
        Counts::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::blend;
    use super::*;
    use crate::eval::Variant;
    use crate::eval::palimpsest::tests::positions;

    /// Returns White's score, computed from the trace with the integer arithmetic of the
    /// evaluation.
    fn evaluation(trace: &Trace) -> i32 {
        let [white, black] = trace.danger.each_ref().map(|counts| danger_worth(total(counts)));
        let fixed = Pair::new(trace.fixed[0], trace.fixed[1]);
        let sum = total(&trace.linear) + white - black + fixed;
        blend(sum.opening(), sum.endgame(), trace.phase, trace.scale)
    }

    #[test]
    fn counts_give_the_evaluation_exactly() {
        let mut tracer = Tracer::default();
        let positions = positions();
        assert!(positions.len() > 3_000);
        for position in positions.iter().step_by(3) {
            let trace = tracer.trace(position);
            let expected = Variant::Palimpsest.evaluate(position);
            let white = if position.turn() == Color::White { expected } else { -expected };
            assert_eq!(evaluation(&trace), white, "{position:?}");
            let is_mating = !position.board().kind(crate::chess::Kind::Pawn).any();
            assert!(trace.fixed == [0, 0] || is_mating, "{position:?}: {:?}", trace.fixed);
        }
    }

    #[test]
    fn fractional_shares_and_attacks_match_the_evaluation() {
        for phase in [0, 7, PHASE_MAX] {
            for scale in [0, 20, SCALE_MAX] {
                let [middle, end] = shares(phase, scale);
                let exact = 1000.0 * middle + 640.0 * end;
                assert!((exact - f64::from(blend(1000, 640, phase, scale))).abs() < 1.0);
            }
        }
        for units in [-50, 0, 3, 400] {
            let [middle, end] = attack_worth([f64::from(units); 2]);
            let rounded = danger_worth(Pair::new(units, units));
            assert!((middle.0 - f64::from(rounded.opening())).abs() < 1.0, "{units}");
            assert!((end.0 - f64::from(rounded.endgame())).abs() < 1.0, "{units}");
        }
    }
}
