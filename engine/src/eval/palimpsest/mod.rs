//! Hand-crafted evaluation of the engine: a sum of terms, each with a middlegame and an endgame
//! score. The sums of the middlegame and endgame scores are interpolated by the game phase (tapered
//! evaluation).
//!
//! All weights are in one table, which `palimpsest tune` writes; [`layout`] describes the table.
//! All terms except king danger are linear in the weights. King danger is quadratic in the
//! middlegame.

mod danger;
mod endings;
mod kingpawn;
pub mod layout;
mod passed;
mod pieces;
mod side_info;
#[cfg(test)]
pub(crate) mod tests;
mod threats;
pub mod trace;
mod weights;

use super::feature::{FeatureSet, features};
use super::pair::Pair;
use super::report::{Blend, Report};
use super::score::EVALUATION_MAX;
use super::sink::{MaskedSum, Record, Sink, Sum};
use super::{Evaluation, Evaluator, Score};
use crate::chess::attacks::{self, Cpu, Job, Level, Machine};
use crate::chess::color::{Black, White};
use crate::chess::{Bitboard, Color, Kind, Position, Square};
use kingpawn::KingPawnTable;
use side_info::SideInfo;
use weights::WEIGHTS;

features! {
    /// A feature of this evaluation.
    Term {
        Material = "material", "worth of the pieces";
        Squares = "pst", "squares of the pieces, on the side of the own king or on the other";
        BishopPair = "bishop_pair", "two bishops";
        Connected = "connected", "pawns beside or defended by own pawns";
        Isolated = "isolated", "pawns without own pawns on the files beside";
        Doubled = "doubled", "pawns with an own pawn ahead";
        Backward = "backward", "pawns that no own pawn can defend and that cannot step forward";
        Candidate = "candidate", "pawns that may become passed pawns";
        Passed = "passed", "passed pawns";
        PassedFree = "passed_free", "what stands in the way of passed pawns";
        PassedKing = "passed_king", "distance of the kings from passed pawns";
        PassedRook = "passed_rook", "rooks and queens behind passed pawns";
        Mobility = "mobility", "squares within reach of knights, bishops, rooks and queens";
        Outpost = "outpost", "minor pieces where pawns defend them and cannot drive them away";
        Minor = "minor", "minor pieces behind a pawn, and far from their king";
        BadBishop = "bad_bishop", "bishops hindered by own pawns";
        RookFile = "rook_file", "rooks on files without pawns, or without own pawns";
        RookSeventh = "rook_seventh", "rooks on the seventh rank";
        PawnThreat = "pawn_threat", "pieces attacked by pawns";
        PushThreat = "push_threat", "pieces that pawns can attack by a safe step";
        MinorThreat = "minor_threat", "pieces and weak pawns attacked by minor pieces";
        RookThreat = "rook_threat", "weak pieces and pawns attacked by rooks";
        Hanging = "hanging", "pieces and pawns that can be won at once";
        Restricted = "restricted", "squares that the enemy cannot use in safety";
        Space = "space", "room behind the pawns in the centre";
        Shield = "shield", "pawns before the king, own and enemy's";
        KingAttack = "king_attack", "pieces that look at the surroundings of the enemy king";
        EndgameScale = "endgame_scale", "endgames that are hard to win count less";
        Tempo = "tempo", "having the move";
        Mating = "mating", "driving a bare king to where it can be mated";
    }
}

/// Contribution of each piece to the game phase, by type.
const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// Game phase of the starting position.
pub const PHASE_MAX: i32 = 24;

/// Scale factor that leaves the endgame score unchanged.
pub const SCALE_MAX: i32 = 64;

/// Entry in the list of evaluations.
pub(super) const EVALUATION: Evaluation = Evaluation {
    name: "palimpsest",
    unit: "centipawns",
    features: || Term::ALL.to_vec(),
    experiments: Vec::new,
    evaluator: |choice| Box::new(choice.palimpsest()),
    explain: |choice, game| choice.palimpsest().explain(game.position()),
};

/// The evaluation, with a cache of king and pawn terms.
pub struct Palimpsest {
    disabled: FeatureSet,
    machine: Machine,
    table: KingPawnTable,
}

impl Palimpsest {
    /// Returns the evaluation without the `disabled` features.
    pub(super) fn new(disabled: FeatureSet) -> Palimpsest {
        Palimpsest { disabled, machine: machine(), table: KingPawnTable::new() }
    }

    /// Returns the evaluation of a position, term by term.
    fn explain(&mut self, position: &Position) -> Report {
        let mut record = Record::new(self.disabled);
        let table = &mut self.table;
        let value = PortableCpu.run(EvaluationJob { position, table, sink: &mut record });
        let phase = phase(position);
        let blend = Blend { opening: phase, endgame: PHASE_MAX - phase, divisor: PHASE_MAX };
        Report::new(Term::ALL, &record, blend, phase, value)
    }
}

/// Portable CPU for traces and records. For these sinks, the evaluation is compiled only with this
/// type.
#[derive(Clone, Copy)]
struct PortableCpu;

impl Cpu for PortableCpu {
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        attacks::rook(square, occupied)
    }

    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        attacks::bishop(square, occupied)
    }

    fn run<J: Job>(self, job: J) -> J::Output {
        job.run(self)
    }
}

/// Returns the machine at the best supported level without PEXT. The search also uses the slider
/// tables of these levels.
fn machine() -> Machine {
    let levels = [Level::Popcnt, Level::Plain];
    levels.into_iter().find_map(Machine::at).unwrap_or_else(Machine::best)
}

impl Evaluator for Palimpsest {
    fn evaluate(&mut self, position: &Position) -> Score {
        let table = &mut self.table;
        if self.disabled.is_empty() {
            self.machine.run(EvaluationJob { position, table, sink: &mut Sum::default() })
        } else {
            let sink = &mut MaskedSum::new(self.disabled);
            self.machine.run(EvaluationJob { position, table, sink })
        }
    }
}

/// Evaluation of one position as a job. The job is compiled once for each set of CPU features,
/// because the evaluation counts many bits.
struct EvaluationJob<'a, K> {
    position: &'a Position,
    table: &'a mut KingPawnTable,
    sink: &'a mut K,
}

impl<K: Sink> Job for EvaluationJob<'_, K> {
    type Output = Score;

    #[inline(always)]
    fn run<C: Cpu>(self, cpu: C) -> Score {
        evaluate_terms(cpu, self.position, self.table, self.sink)
    }
}

/// Adds every term to `sink`, and returns the score in centipawns from the point of view of the
/// side to move.
#[inline(always)]
fn evaluate_terms<C: Cpu, K: Sink>(
    cpu: C,
    position: &Position,
    table: &mut KingPawnTable,
    sink: &mut K,
) -> Score {
    let pawns = table.look_up(position, sink);
    let mut white = SideInfo::of::<White>(position);
    let mut black = SideInfo::of::<Black>(position);
    let phase = material(position, sink);
    pieces::score::<White, C, K>(cpu, position, &mut white, &black, sink);
    pieces::score::<Black, C, K>(cpu, position, &mut black, &white, sink);
    threats::score::<White, K>(position, &white, &black, sink);
    threats::score::<Black, K>(position, &black, &white, sink);
    danger::score::<White, C, K>(cpu, position, &white, &black, &pawns, sink);
    danger::score::<Black, C, K>(cpu, position, &black, &white, &pawns, sink);
    if pawns.passed.any() {
        passed::score::<White, K>(position, pawns.passed, &white, &black, sink);
        passed::score::<Black, K>(position, pawns.passed, &black, &white, sink);
    }
    add_weight(sink, Term::Tempo, position.turn(), layout::TEMPO);
    endings::mating(position, sink);
    let (middle, end) = (sink.sum().opening(), sink.sum().endgame());
    let mut score = blend(middle, end, phase, SCALE_MAX);
    if sink.is_enabled(Term::EndgameScale) {
        let scaled = blend(middle, end, phase, endings::scale(position, end));
        sink.adjust(Term::EndgameScale, scaled - score);
        score = scaled;
    }
    let relative = if position.turn() == Color::White { score } else { -score };
    relative.clamp(-EVALUATION_MAX, EVALUATION_MAX)
}

/// Adds `times` times the weight at index `place` to the score of a side.
#[inline(always)]
fn add_weights<K: Sink>(sink: &mut K, term: Term, color: Color, place: usize, times: i32) {
    sink.add(term, color, WEIGHTS[place] * times);
    sink.count_weight(color, place, times);
}

/// Adds the weight at index `place` to the score of a side.
#[inline(always)]
fn add_weight<K: Sink>(sink: &mut K, term: Term, color: Color, place: usize) {
    sink.add(term, color, WEIGHTS[place]);
    sink.count_weight(color, place, 1);
}

/// Interpolates between the middlegame and endgame scores by the game phase, which ranges from 0
/// (endgame) to [`PHASE_MAX`] (middlegame). The endgame score is first multiplied by `scale` /
/// [`SCALE_MAX`].
#[inline]
fn blend(middle: i32, end: i32, phase: i32, scale: i32) -> i32 {
    (middle * phase + end * scale / SCALE_MAX * (PHASE_MAX - phase)) / PHASE_MAX
}

/// Adds the values of knights, bishops, rooks and queens and the bonus for a bishop pair, and
/// returns the game phase.
#[inline(always)]
fn material<K: Sink>(position: &Position, sink: &mut K) -> i32 {
    let board = position.board();
    for color in Color::ALL {
        for kind in [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen] {
            let pieces = board.pieces(color, kind).len() as i32;
            add_weights(sink, Term::Material, color, layout::MATERIAL + kind.index(), pieces);
        }
        if board.pieces(color, Kind::Bishop).has_several() {
            add_weight(sink, Term::BishopPair, color, layout::BISHOP_PAIR);
        }
    }
    phase(position)
}

/// Returns the game phase, from 0 (endgame) to [`PHASE_MAX`].
#[inline(always)]
fn phase(position: &Position) -> i32 {
    let board = position.board();
    let phase_of_kind = |kind: Kind| PHASE[kind.index()] * board.kind(kind).len() as i32;
    let kinds = [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen];
    kinds.into_iter().map(phase_of_kind).sum::<i32>().min(PHASE_MAX)
}

/// Divisor of the squared danger units in the middlegame.
const DANGER_DIVISOR: i32 = 1024;

/// Number of danger units per centipawn in the endgame.
const DANGER_UNITS: i32 = 16;

/// Converts danger units to the attacker's score, in centipawns.
#[inline(always)]
fn danger_worth(units: Pair) -> Pair {
    let (middle, end) = (units.opening().max(0), units.endgame().max(0));
    Pair::new(middle * middle / DANGER_DIVISOR, end / DANGER_UNITS)
}
