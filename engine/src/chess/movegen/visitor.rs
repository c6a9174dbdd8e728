//! What can be done with generated moves.

use crate::chess::bitboard::Bitboard;
use crate::chess::moves::{Move, MoveKind, MoveList};
use crate::chess::piece::Kind;
use crate::chess::square::Square;

/// Receives the legal moves of a position as sets of destinations.
pub(super) trait Visitor {
    /// A piece other than a pawn on `from` may go to any of `targets`, taking what is there.
    fn piece(&mut self, from: Square, targets: Bitboard);

    /// Pawns may arrive on `targets`, each from `step` squares earlier; none promotes.
    fn pawns(&mut self, targets: Bitboard, step: i8, kind: MoveKind);

    /// Pawns may promote on `targets`, each from `step` squares earlier.
    fn promotions(&mut self, targets: Bitboard, step: i8, capture: bool);

    /// One castling or en-passant move.
    fn single(&mut self, mv: Move);
}

/// Counts moves without looking at them.
#[derive(Default)]
pub(super) struct Counter {
    /// Moves so far.
    pub(super) count: u64,
}

impl Visitor for Counter {
    #[inline]
    fn piece(&mut self, _from: Square, targets: Bitboard) {
        self.count += u64::from(targets.len());
    }

    #[inline]
    fn pawns(&mut self, targets: Bitboard, _step: i8, _kind: MoveKind) {
        self.count += u64::from(targets.len());
    }

    #[inline]
    fn promotions(&mut self, targets: Bitboard, _step: i8, _capture: bool) {
        self.count += 4 * u64::from(targets.len());
    }

    #[inline]
    fn single(&mut self, _mv: Move) {
        self.count += 1;
    }
}

/// Lists moves.
pub(super) struct Lister {
    enemy: Bitboard,
    /// Moves so far.
    pub(super) list: MoveList,
}

impl Lister {
    /// An empty list; moves onto `enemy` will be captures.
    #[inline]
    pub(super) fn new(enemy: Bitboard) -> Lister {
        Lister { enemy, list: MoveList::new() }
    }
}

impl Visitor for Lister {
    #[inline]
    fn piece(&mut self, from: Square, targets: Bitboard) {
        for to in targets & self.enemy {
            self.list.push(Move::new(from, to, MoveKind::Capture));
        }
        for to in targets - self.enemy {
            self.list.push(Move::new(from, to, MoveKind::Quiet));
        }
    }

    #[inline]
    fn pawns(&mut self, targets: Bitboard, step: i8, kind: MoveKind) {
        for to in targets {
            self.list.push(Move::new(to.offset(-step), to, kind));
        }
    }

    #[inline]
    fn promotions(&mut self, targets: Bitboard, step: i8, capture: bool) {
        for to in targets {
            for kind in [Kind::Queen, Kind::Knight, Kind::Rook, Kind::Bishop] {
                let kind = MoveKind::promotion(kind, capture);
                self.list.push(Move::new(to.offset(-step), to, kind));
            }
        }
    }

    #[inline]
    fn single(&mut self, mv: Move) {
        self.list.push(mv);
    }
}
