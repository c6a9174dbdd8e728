//! Evaluation of Blunder (version of December 2021): tapered piece-square tables, mobility, pawn
//! structure, and a quadratic penalty for attacks on the king.

mod king;
mod tables;
mod weights;

use super::feature::{FeatureSet, features};
use super::pair::Pair;
use super::report::{Blend, Report};
use super::score::EVALUATION_MAX;
use super::sink::{MaskedSum, Record, Sink, Sum};
use super::{Evaluation, Evaluator, Score};
use crate::chess::color::{Black, Side, White};
use crate::chess::{Bitboard, Color, Kind, Position, attacks};
use king::Attack;

features! {
    /// A feature of this evaluation.
    Term {
        Material = "material", "worth of the pieces";
        Squares = "pst", "squares of the pieces";
        Mobility = "mobility", "squares within reach of knights, bishops, rooks and queens";
        Isolated = "isolated", "pawns without own pawns on the files beside";
        Doubled = "doubled", "pawns with an own pawn ahead";
        Passed = "passed", "passed pawns";
        KnightOutpost = "knight_outpost", "knights that no pawn can drive away";
        KingSafety = "king_safety", "attacks on the surroundings of the king";
    }
}

features! {
    /// An experiment with this evaluation.
    Experiment {
        LinearDanger = "linear_danger", "danger in proportion to the points, with the mean of the table";
        LinearInPlay = "linear_danger_in_play", "the same, with the mean of kings in games";
        NoKingPoints = "no_king_points", "a king starts with no points wherever it stands";
        OneAttacker = "one_attacker", "one attacker is enough for danger";
        WithoutQueen = "without_queen", "danger without a queen, too";
    }
}

/// Entry in the list of evaluations.
pub(super) const EVALUATION: Evaluation = Evaluation {
    name: "blunder",
    unit: "centipawns",
    features: || Term::ALL.to_vec(),
    experiments: || Experiment::ALL.to_vec(),
    evaluator: |choice| Box::new(Blunder::new(choice.disabled, choice.experiments)),
    explain: |choice, game| {
        Blunder::new(choice.disabled, choice.experiments).explain(game.position())
    },
};

/// The evaluation, with its disabled features and enabled experiments.
struct Blunder {
    disabled: FeatureSet,
    experiments: FeatureSet,
}

impl Blunder {
    /// Returns the evaluation without the `disabled` features and with the `experiments` enabled.
    fn new(disabled: FeatureSet, experiments: FeatureSet) -> Blunder {
        Blunder { disabled, experiments }
    }

    /// Returns the evaluation of a position, term by term.
    fn explain(&self, position: &Position) -> Report {
        let mut record = Record::new(self.disabled).trying(self.experiments);
        let value = evaluate_terms(position, &mut record);
        let endgame = endgame_share(position);
        let blend = Blend { opening: 256 - endgame, endgame, divisor: 256 };
        Report::new(Term::ALL, &record, blend, pieces_left(position), value)
    }
}

impl Evaluator for Blunder {
    fn evaluate(&mut self, position: &Position) -> Score {
        if self.disabled.is_empty() && self.experiments.is_empty() {
            evaluate_terms(position, &mut Sum::default())
        } else {
            let mut sum = MaskedSum::new(self.disabled).trying(self.experiments);
            evaluate_terms(position, &mut sum)
        }
    }
}

#[inline]
fn evaluate_terms<K: Sink>(position: &Position, sink: &mut K) -> Score {
    pawns::<White, K>(position, sink);
    pawns::<Black, K>(position, sink);
    let by_white = pieces::<White, K>(position, sink);
    let by_black = pieces::<Black, K>(position, sink);
    for (color, attack) in [(Color::White, by_black), (Color::Black, by_white)] {
        let penalty = king::penalty(position.board(), color, attack, sink);
        sink.add(Term::KingSafety, color, Pair::of_opening(-penalty));
    }
    let share = endgame_share(position);
    let sum = sink.sum();
    // The division rounds towards zero, so that a change of the side to move changes only the sign
    // of the score.
    let score = (sum.opening() * (256 - share) + sum.endgame() * share) / 256;
    let relative = if position.turn() == Color::White { score } else { -score };
    relative.clamp(-EVALUATION_MAX, EVALUATION_MAX)
}

/// Returns the game phase, computed from the pieces on the board: 24 in the starting position,
/// possibly more after promotions.
#[inline]
fn pieces_left(position: &Position) -> i32 {
    let board = position.board();
    let count = |kind: Kind| weights::PHASE[kind.index()] * board.kind(kind).len() as i32;
    count(Kind::Knight) + count(Kind::Bishop) + count(Kind::Rook) + count(Kind::Queen)
}

/// Returns the weight of the endgame value, in 1/256. The weight is negative if the game phase
/// exceeds 24.
#[inline]
fn endgame_share(position: &Position) -> i32 {
    let gone = weights::PHASE_MAX - pieces_left(position);
    (256 * gone + weights::PHASE_MAX / 2) / weights::PHASE_MAX
}

#[inline]
fn pawns<S: Side, K: Sink>(position: &Position, sink: &mut K) {
    let board = position.board();
    let own = board.pieces(S::COLOR, Kind::Pawn);
    let enemy = board.pieces(!S::COLOR, Kind::Pawn);
    for square in own {
        let relative_square = square.relative(S::COLOR);
        let file = Bitboard::file(square.file());
        let ahead = Bitboard::of(square).forward_fill(S::COLOR);
        sink.add(Term::Material, S::COLOR, weights::MATERIAL[0]);
        sink.add(Term::Squares, S::COLOR, tables::SQUARES[0][relative_square.index()]);
        if (own & (file.east() | file.west())).is_empty() {
            sink.add(Term::Isolated, S::COLOR, weights::ISOLATED);
        }
        if (own & ahead).any() {
            sink.add(Term::Doubled, S::COLOR, weights::DOUBLED);
        } else if (enemy & (ahead | ahead.east() | ahead.west())).is_empty() {
            sink.add(Term::Passed, S::COLOR, weights::PASSED[relative_square.rank() as usize]);
        }
    }
}

/// Adds the terms of the pieces of side `S` to `sink`, and returns the attack of these pieces on
/// the enemy king.
#[inline]
fn pieces<S: Side, K: Sink>(position: &Position, sink: &mut K) -> Attack {
    let board = position.board();
    let own = board.color(S::COLOR);
    let occupied = board.occupied();
    let enemy_pawns = board.pieces(!S::COLOR, Kind::Pawn);
    let guarded = board.pieces(S::COLOR, Kind::Pawn).pawn_attacks::<S>();
    let mut attack = Attack::on(board.king(!S::COLOR));
    for (index, kind) in
        [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen].into_iter().enumerate()
    {
        for square in board.pieces(S::COLOR, kind) {
            let relative_square = square.relative(S::COLOR);
            let reach = match kind {
                Kind::Knight => attacks::knight(square),
                Kind::Bishop => attacks::bishop(square, occupied),
                Kind::Rook => attacks::rook(square, occupied),
                _ => attacks::queen(square, occupied),
            };
            let moves = reach - own;
            let above_usual = moves.len() as i32 - weights::MOBILITY_USUAL[index];
            sink.add(Term::Material, S::COLOR, weights::MATERIAL[kind.index()]);
            sink.add(
                Term::Squares,
                S::COLOR,
                tables::SQUARES[kind.index()][relative_square.index()],
            );
            sink.add(Term::Mobility, S::COLOR, weights::MOBILITY[index] * above_usual);
            attack.add(index, moves);
            if kind == Kind::Knight && relative_square.rank() >= 4 && guarded.contains(square) {
                let ahead = Bitboard::of(square).forward_fill(S::COLOR);
                if (enemy_pawns & (ahead.east() | ahead.west())).is_empty() {
                    sink.add(Term::KnightOutpost, S::COLOR, weights::KNIGHT_OUTPOST);
                }
            }
        }
    }
    let king = board.king(S::COLOR).relative(S::COLOR);
    sink.add(Term::Squares, S::COLOR, tables::SQUARES[Kind::King.index()][king.index()]);
    attack
}
