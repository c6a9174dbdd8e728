//! Staged move ordering. The moves of a stage are generated when the stage is reached.

use super::generators::{Generator, sort_by};
use super::{Feature, PIECE_VALUES};
use crate::chess::{Bitboard, Kind, Move, MoveList, Position, Square};
use crate::eval::Score;
use crate::eval::feature::FeatureSet;
use crate::eval::rdchess::AttackTables;
use crate::search::see;

/// The next move to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A legal move.
    Move(Move),
    /// A null move.
    Null,
}

/// Hints for move ordering, available before moves are generated.
pub(super) struct Hints {
    /// Move from the table, possibly illegal.
    pub(super) table: Option<Move>,
    /// Killer moves, possibly illegal; the killer move with more cutoffs comes first.
    pub(super) killers: [Option<Move>; 2],
    /// Square of the enemy piece that has just captured.
    pub(super) capturer: Option<Square>,
    /// Square of the enemy king at the root.
    pub(super) enemy_king: Square,
    /// Disabled features.
    pub(super) disabled: FeatureSet,
}

/// A stage of move ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Table,
    Null,
    Recaptures,
    Killers,
    GoodCaptures,
    Quiet,
    Done,
}

/// Classes of moves after the good captures. Lower classes come first.
const ESCAPES_FROM_ATTACK: i32 = 0;
const SAFE: i32 = 1;
const PAWNS: i32 = 2;
const LOSING: i32 = 3;
const REST: i32 = 4;

/// Iterator over the ordered moves of a node.
pub(super) struct MoveOrder {
    hints: Hints,
    step: Step,
    /// Moves of the current stage. `given` is the number of moves already returned.
    moves: MoveList,
    given: usize,
    /// Captures for later stages.
    captures: MoveList,
    /// `true` if only captures that do not lose material are returned.
    good_only: bool,
}

impl MoveOrder {
    /// Returns an iterator over all moves.
    pub(super) fn all(hints: Hints) -> MoveOrder {
        MoveOrder {
            hints,
            step: Step::Table,
            moves: MoveList::new(),
            given: 0,
            captures: MoveList::new(),
            good_only: false,
        }
    }

    /// Returns an iterator over the captures and promotions that do not lose material.
    pub(super) fn captures(hints: Hints, position: &Position) -> MoveOrder {
        let mut order = MoveOrder { good_only: true, step: Step::Null, ..MoveOrder::all(hints) };
        order.begin_captures(position);
        order
    }

    fn is_enabled(&self, feature: Feature) -> bool {
        !self.hints.disabled.contains(feature.into())
    }

    /// Returns the next move or null move; `None` if no move remains.
    pub(super) fn next(&mut self, position: &Position) -> Option<Next> {
        loop {
            match self.step {
                Step::Table => {
                    self.step = Step::Null;
                    self.hints.table = self
                        .hints
                        .table
                        .filter(|&mv| self.is_enabled(Feature::HashMove) && position.is_legal(mv));
                    if let Some(mv) = self.hints.table {
                        return Some(Next::Move(mv));
                    }
                }
                Step::Null => {
                    self.begin_captures(position);
                    return Some(Next::Null);
                }
                Step::Done => return None,
                Step::Recaptures | Step::Killers | Step::GoodCaptures | Step::Quiet => {
                    if let Some(&mv) = self.moves.get(self.given) {
                        self.given += 1;
                        if !self.was_given(mv) {
                            return Some(Next::Move(mv));
                        }
                    } else {
                        self.advance(position);
                    }
                }
            }
        }
    }

    /// Returns whether the move was returned in an earlier stage.
    fn was_given(&self, mv: Move) -> bool {
        let is_killer = self.step > Step::Killers && self.hints.killers.contains(&Some(mv));
        Some(mv) == self.hints.table || is_killer
    }

    fn towards(&self) -> Option<Square> {
        self.is_enabled(Feature::Preorder).then_some(self.hints.enemy_king)
    }

    fn begin(&mut self, step: Step, moves: MoveList) {
        self.step = step;
        self.moves = moves;
        self.given = 0;
    }

    /// Generates the captures. Recaptures (captures of the piece that has just captured) come
    /// first.
    fn begin_captures(&mut self, position: &Position) {
        let [generator, _] = Generator::pair(position);
        let all = generator.moves(position, self.towards());
        let capturer = self.hints.capturer.filter(|_| self.is_enabled(Feature::OrderRecapture));
        let mut recaptures = MoveList::new();
        for &mv in all.iter() {
            if Some(mv.to()) == capturer {
                recaptures.push(mv);
            } else {
                self.captures.push(mv);
            }
        }
        self.begin(Step::Recaptures, recaptures);
    }

    fn advance(&mut self, position: &Position) {
        match self.step {
            Step::Recaptures if self.good_only => self.begin_good_captures(position),
            Step::Recaptures => self.begin_killers(position),
            Step::Killers => self.begin_good_captures(position),
            Step::GoodCaptures if !self.good_only => self.begin_quiet(position),
            _ => self.step = Step::Done,
        }
    }

    fn begin_killers(&mut self, position: &Position) {
        let usable = self.is_enabled(Feature::Killers);
        let legal = |mv: &Move| usable && mv.is_quiet() && position.is_legal(*mv);
        self.hints.killers = self.hints.killers.map(|mv| mv.filter(legal));
        let mut killers = MoveList::new();
        for &mv in self.hints.killers.iter().flatten() {
            killers.push(mv);
        }
        self.begin(Step::Killers, killers);
    }

    /// Sorts, by static exchange evaluation, the captures that do not lose material. Captures that
    /// lose material are kept for a later stage.
    fn begin_good_captures(&mut self, position: &Position) {
        let captures = std::mem::take(&mut self.captures);
        if !self.is_enabled(Feature::OrderCaptures) {
            return self.begin(Step::GoodCaptures, captures);
        }
        let mut good = MoveList::new();
        for &mv in captures.iter() {
            if see::gains_at_least(position, mv, 0) {
                good.push(mv);
            } else {
                self.captures.push(mv);
            }
        }
        sort_by(&mut good, |mv| -exchange(position, mv));
        self.begin(Step::GoodCaptures, good);
    }

    /// Generates all remaining moves, sorted by class.
    fn begin_quiet(&mut self, position: &Position) {
        let [_, generator] = Generator::pair(position);
        let mut moves = generator.moves(position, self.towards());
        if self.is_enabled(Feature::OrderQuiet) {
            let tables = AttackTables::of(position);
            sort_by(&mut moves, |mv| self.class(position, &tables, mv));
            let last = if self.is_enabled(Feature::OrderLosing) { LOSING } else { REST + 1 };
            let before = moves.iter().take_while(|&&mv| self.class(position, &tables, mv) < last);
            let before = before.count();
            let mut all = MoveList::new();
            let [safe, rest] = [&moves[..before], &moves[before..]];
            for &mv in safe.iter().chain(self.captures.iter()).chain(rest) {
                all.push(mv);
            }
            moves = all;
        } else {
            for &mv in self.captures.iter() {
                moves.push(mv);
            }
        }
        self.begin(Step::Quiet, moves);
    }

    /// Returns the class of a quiet move or a check evasion.
    fn class(&self, position: &Position, tables: &AttackTables, mv: Move) -> i32 {
        let us = position.turn();
        let from = mv.from();
        let to = mv.to();
        let is_safe = tables.on(!us, to).is_none() || is_defended(position, mv);
        let is_hit = tables.on(!us, from) > tables.on(us, from);
        let is_pawn = position.kind_at(from) == Some(Kind::Pawn);
        let classes = [
            (Feature::OrderEscapes, is_safe && is_hit, ESCAPES_FROM_ATTACK),
            (Feature::OrderSafe, is_safe, SAFE),
            (Feature::OrderPawns, is_pawn, PAWNS),
        ];
        let found = classes.iter().find(|(feature, fits, _)| *fits && self.is_enabled(*feature));
        found.map_or(REST, |(_, _, class)| *class)
    }
}

/// Returns whether a friendly piece other than the moving piece defends the destination.
fn is_defended(position: &Position, mv: Move) -> bool {
    let own = position.board().color(position.turn()) - Bitboard::of(mv.from());
    let occupied = position.board().occupied() - Bitboard::of(mv.from());
    (position.attackers_to(mv.to(), occupied) & own).any()
}

/// Returns the static exchange evaluation, in centipawns, of a capture that does not lose material.
/// The value is found by bisection.
fn exchange(position: &Position, mv: Move) -> Score {
    let promoted =
        mv.promotion().map_or(0, |kind| see::piece_value(kind) - see::piece_value(Kind::Pawn));
    let most = position.captured(mv).map_or(0, see::piece_value) + promoted;
    if see::gains_at_least(position, mv, most) {
        return most;
    }
    let mut least = 0;
    let mut above = most;
    while least + 1 < above {
        let middle = (least + above) / 2;
        if see::gains_at_least(position, mv, middle) {
            least = middle;
        } else {
            above = middle;
        }
    }
    least
}

/// Returns the value of the captured piece plus the gain of a promotion, in centipawns.
pub(super) fn gain(position: &Position, mv: Move) -> Score {
    let worth = |kind: Kind| PIECE_VALUES[kind.index()];
    let promoted = mv.promotion().map_or(0, |kind| worth(kind) - worth(Kind::Pawn));
    position.captured(mv).map_or(0, worth) + promoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::chess::uci_move::{CastlingForm, format, parse};
    use crate::search::rdchess::FEATURES;

    fn hints(position: &Position, moves: [&str; 3], capturer: &str) -> Hints {
        let [table, first, second] = moves.map(|mv| parse(mv, position, CastlingForm::KingTo));
        Hints {
            table,
            killers: [first, second],
            capturer: Square::parse(capturer),
            enemy_king: position.board().king(!position.turn()),
            disabled: FeatureSet::EMPTY,
        }
    }

    fn all(mut order: MoveOrder, position: &Position) -> Vec<String> {
        std::iter::from_fn(|| order.next(position))
            .map(|next| match next {
                Next::Move(mv) => format(mv, CastlingForm::KingTo),
                Next::Null => "null".to_owned(),
            })
            .collect()
    }

    const MIDDLE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    #[test]
    fn every_legal_move_is_ordered_once_with_any_feature_disabled() {
        for text in [MIDDLE, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"] {
            let position = fen::parse(text).unwrap();
            let moves = position.legal_moves();
            let mut expected: Vec<String> =
                moves.iter().map(|&mv| format(mv, CastlingForm::KingTo)).collect();
            expected.push("null".to_owned());
            expected.sort_unstable();
            for off in std::iter::once(None).chain(FEATURES.iter().map(Some)) {
                let mut hints = hints(&position, ["e5g6", "a2a3", "a5b6"], "h3");
                hints.disabled = off.map_or(hints.disabled, |one| hints.disabled.with(one.index));
                let mut found = all(MoveOrder::all(hints), &position);
                found.sort_unstable();
                assert_eq!(found, expected, "{text} {off:?}");
            }
        }
    }

    #[test]
    fn steps_come_in_order() {
        let position = fen::parse(MIDDLE).unwrap();
        // Only one of the killers is legal. The table move must not be returned a second time.
        let found =
            all(MoveOrder::all(hints(&position, ["e2a6", "a2a3", "e1e8"], "h3")), &position);
        assert_eq!(found[..2], ["e2a6", "null"]);
        let place = |mv: &str| found.iter().position(|found| found == mv).expect("it is legal");
        assert!(place("g2h3") < 4 && place("f3h3") < 4, "{found:?}");
        assert_eq!(place("a2a3"), 4, "{found:?}");
        // A pawn's capture of a pawn comes before quiet moves. The queen's capture of a knight
        // loses material, and comes after quiet moves.
        assert!(place("d5e6") < place("e1g1") && place("e1g1") < place("f3f6"), "{found:?}");
    }
}
