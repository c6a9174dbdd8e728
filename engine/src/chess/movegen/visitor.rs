//! Receivers of generated moves.

use crate::chess::bitboard::Bitboard;
use crate::chess::moves::MoveKind;
use crate::chess::square::Square;

/// Mover of a set of destinations.
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
    /// A king, other than castling.
    King,
}

/// Receives the legal moves of a position as sets of destinations.
pub(in crate::chess) trait Visitor {
    /// `true` if an empty set of promotions costs next to nothing, as in a loop over it.
    const PASSES_OVER_EMPTY: bool = false;

    /// A piece other than a pawn on `from` may go to any of `targets`, taking what is there.
    fn piece(&mut self, mover: Mover, from: Square, targets: Bitboard);

    /// A pinned bishop, rook or queen on `from` may go to any of `targets`. Its kind matters only
    /// to visitors that make the moves.
    #[inline(always)]
    fn pinned(&mut self, from: Square, targets: Bitboard) {
        self.piece(Mover::Queen, from, targets);
    }

    /// Pawns may arrive on `targets`, each from `step` squares earlier; none promotes.
    fn pawns(&mut self, targets: Bitboard, step: i8, kind: MoveKind);

    /// Pawns may promote on `targets`, each from `step` squares earlier.
    fn promotions(&mut self, targets: Bitboard, step: i8, capture: bool);

    /// The king may castle with the rook on `rook`.
    fn castle(&mut self, king: Square, rook: Square);

    /// A pawn may take en passant, arriving on `to`.
    fn en_passant(&mut self, from: Square, to: Square);
}

/// Counts moves without looking at them.
#[derive(Default)]
pub(in crate::chess) struct Counter {
    /// Moves so far.
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
