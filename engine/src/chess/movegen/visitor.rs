//! Visitors of generated moves.

use crate::chess::bitboard::Bitboard;
use crate::chess::moves::MoveKind;
use crate::chess::square::Square;

/// Type of a moving piece other than a pawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::chess) enum Mover {
    /// A knight.
    Knight,
    /// A bishop.
    Bishop,
    /// A rook.
    Rook,
    /// A queen.
    Queen,
    /// A king that does not castle.
    King,
}

/// Visitor that receives the legal moves of a position as sets of destinations.
pub(in crate::chess) trait Visitor {
    /// `true` if the visitor handles an empty set of promotions at almost no cost, for example with
    /// a loop over the set.
    const PASSES_OVER_EMPTY: bool = false;

    /// Receives the moves, including captures, from `from` to `targets` by a piece other than a
    /// pawn.
    fn piece(&mut self, mover: Mover, from: Square, targets: Bitboard);

    /// Receives the moves from `from` to `targets` by a pinned bishop, rook or queen. The piece
    /// type matters only to visitors that make the moves.
    #[inline(always)]
    fn pinned(&mut self, from: Square, targets: Bitboard) {
        self.piece(Mover::Queen, from, targets);
    }

    /// Receives pawn moves to `targets` without promotion. Each pawn moves by `step` square
    /// indices.
    fn pawns(&mut self, targets: Bitboard, step: i8, kind: MoveKind);

    /// Receives promotions on `targets`. Each pawn moves by `step` square indices.
    fn promotions(&mut self, targets: Bitboard, step: i8, capture: bool);

    /// Receives castling with the rook on `rook`.
    fn castle(&mut self, king: Square, rook: Square);

    /// Receives an en-passant capture that ends on `to`.
    fn en_passant(&mut self, from: Square, to: Square);
}

/// Visitor that counts moves.
#[derive(Default)]
pub(in crate::chess) struct Counter {
    /// Moves counted so far.
    pub(in crate::chess) count: u64,
}

impl Visitor for Counter {
    #[inline(always)]
    fn piece(&mut self, _mover: Mover, _from: Square, targets: Bitboard) {
        self.count += u64::from(targets.len());
    }

    #[inline(always)]
    fn pawns(&mut self, targets: Bitboard, _step: i8, _kind: MoveKind) {
        self.count += u64::from(targets.len());
    }

    #[inline(always)]
    fn promotions(&mut self, targets: Bitboard, _step: i8, _capture: bool) {
        self.count += 4 * u64::from(targets.len());
    }

    #[inline(always)]
    fn castle(&mut self, _king: Square, _rook: Square) {
        self.count += 1;
    }

    #[inline(always)]
    fn en_passant(&mut self, _from: Square, _to: Square) {
        self.count += 1;
    }
}
