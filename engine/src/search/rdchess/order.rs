//! The order in which moves are tried, in ten steps; nothing is generated before it is needed.

use super::generators::{Generator, arrange};
use super::{Feature, WORTH};
use crate::chess::{Bitboard, Kind, Move, MoveList, Position, Square};
use crate::eval::Score;
use crate::eval::feature::FeatureSet;
use crate::eval::rdchess::AttackTables;
use crate::search::see;

/// What is to be tried next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A legal move.
    Move(Move),
    /// Passing.
    Null,
}

/// What is known of a node before its moves are generated.
pub(super) struct Hints {
    /// The table's move; it may be illegal.
    pub(super) table: Option<Move>,
    /// The better one first; they may be illegal.
    pub(super) killers: [Option<Move>; 2],
    /// The square of the piece that has just captured.
    pub(super) capturer: Option<Square>,
    /// Where the enemy king stood at the root.
    pub(super) enemy_king: Square,
    /// The features that are switched off.
    pub(super) disabled: FeatureSet,
}

/// A step of the order.
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

/// The classes of what is left after the good captures, in their order.
const ESCAPES_FROM_ATTACK: i32 = 0;
const SAFE: i32 = 1;
const PAWNS: i32 = 2;
const LOSING: i32 = 3;
const REST: i32 = 4;

/// Gives the moves of a node one after the other.
pub(super) struct Order {
    hints: Hints,
    step: Step,
    /// The moves of the current step, and how many of them were given.
    moves: MoveList,
    given: usize,
    /// Captures that are left for later steps.
    captures: MoveList,
    /// Captures only, and none that lose?
    only_good: bool,
}

impl Order {
    /// All moves.
    pub(super) fn all(hints: Hints) -> Order {
        Order {
            hints,
            step: Step::Table,
            moves: MoveList::new(),
            given: 0,
            captures: MoveList::new(),
            only_good: false,
        }
    }

    /// Captures and promotions that do not lose.
    pub(super) fn captures(hints: Hints, position: &Position) -> Order {
        let mut order = Order { only_good: true, step: Step::Null, ..Order::all(hints) };
        order.begin_captures(position);
        order
    }

    fn keeps(&self, feature: Feature) -> bool {
        !self.hints.disabled.contains(feature.into())
    }

    /// The next thing to try.
    pub(super) fn next(&mut self, position: &Position) -> Option<Next> {
        loop {
            match self.step {
                Step::Table => {
                    self.step = Step::Null;
                    self.hints.table = self
                        .hints
                        .table
                        .filter(|&mv| self.keeps(Feature::HashMove) && position.is_legal(mv));
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

    /// Was the move tried in an earlier step?
    fn was_given(&self, mv: Move) -> bool {
        let is_killer = self.step > Step::Killers && self.hints.killers.contains(&Some(mv));
        Some(mv) == self.hints.table || is_killer
    }

    fn towards(&self) -> Option<Square> {
        self.keeps(Feature::Preorder).then_some(self.hints.enemy_king)
    }

    fn begin(&mut self, step: Step, moves: MoveList) {
        self.step = step;
        self.moves = moves;
        self.given = 0;
    }

    /// Generates the captures; the first are those of the piece that has just captured.
    fn begin_captures(&mut self, position: &Position) {
        let [generator, _] = Generator::pair(position);
        let all = generator.moves(position, self.towards());
        let capturer = self.hints.capturer.filter(|_| self.keeps(Feature::OrderRecapture));
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
            Step::Recaptures if self.only_good => self.begin_good_captures(position),
            Step::Recaptures => self.begin_killers(position),
            Step::Killers => self.begin_good_captures(position),
            Step::GoodCaptures if !self.only_good => self.begin_quiet(position),
            _ => self.step = Step::Done,
        }
    }

    fn begin_killers(&mut self, position: &Position) {
        let usable = self.keeps(Feature::Killers);
        let legal = |mv: &Move| usable && mv.is_quiet() && position.is_legal(*mv);
        self.hints.killers = self.hints.killers.map(|mv| mv.filter(legal));
        let mut killers = MoveList::new();
        for &mv in self.hints.killers.iter().flatten() {
            killers.push(mv);
        }
        self.begin(Step::Killers, killers);
    }

    /// Captures that win or keep material, the best first; those that lose stay behind.
    fn begin_good_captures(&mut self, position: &Position) {
        let captures = std::mem::take(&mut self.captures);
        if !self.keeps(Feature::OrderCaptures) {
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
        arrange(&mut good, |mv| -exchange(position, mv));
        self.begin(Step::GoodCaptures, good);
    }

    /// All that is left, by class.
    fn begin_quiet(&mut self, position: &Position) {
        let [_, generator] = Generator::pair(position);
        let mut moves = generator.moves(position, self.towards());
        if self.keeps(Feature::OrderQuiet) {
            let tables = AttackTables::of(position);
            arrange(&mut moves, |mv| class(position, &tables, mv));
            let before = moves.iter().take_while(|&&mv| class(position, &tables, mv) < LOSING);
            let (before, mut all) = (before.count(), MoveList::new());
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
}

/// The class of a move that is no capture, or that answers a check.
fn class(position: &Position, tables: &AttackTables, mv: Move) -> i32 {
    let (us, from, to) = (position.turn(), mv.from(), mv.to());
    let is_safe = tables.on(!us, to).is_none() || is_defended(position, mv);
    let is_hit = tables.on(!us, from) > tables.on(us, from);
    match (is_safe, is_hit) {
        (true, true) => ESCAPES_FROM_ATTACK,
        (true, false) => SAFE,
        _ if position.kind_at(from) == Some(Kind::Pawn) => PAWNS,
        _ => REST,
    }
}

/// Does an own piece other than the one that moves defend the square it moves to?
fn is_defended(position: &Position, mv: Move) -> bool {
    let own = position.board().color(position.turn()) - Bitboard::of(mv.from());
    let occupied = position.board().occupied() - Bitboard::of(mv.from());
    (position.attackers_to(mv.to(), occupied) & own).any()
}

/// What a capture that does not lose gains, if both sides capture as long as it pays.
fn exchange(position: &Position, mv: Move) -> Score {
    let promoted = mv.promotion().map_or(0, |kind| see::price(kind) - see::price(Kind::Pawn));
    let most = position.captured(mv).map_or(0, see::price) + promoted;
    if see::gains_at_least(position, mv, most) {
        return most;
    }
    let (mut least, mut above) = (0, most);
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

/// What a move takes, and what a promotion adds.
pub(super) fn gain(position: &Position, mv: Move) -> Score {
    let worth = |kind: Kind| WORTH[kind.index()];
    let promoted = mv.promotion().map_or(0, |kind| worth(kind) - worth(Kind::Pawn));
    position.captured(mv).map_or(0, worth) + promoted
}
