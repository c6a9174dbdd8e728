//! Bitboards of the pieces, in one cache line. The move generator needs no other information about
//! the placement.

use crate::chess::bitboard::Bitboard;
use crate::chess::color::{Color, Side};
use crate::chess::piece::Kind;
use crate::chess::square::Square;

/// Piece placement as six bitboards by piece type and two by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Board {
    kinds: [Bitboard; 6],
    colors: [Bitboard; 2],
}

impl Board {
    pub(super) const EMPTY: Board =
        Board { kinds: [Bitboard::EMPTY; 6], colors: [Bitboard::EMPTY; 2] };

    /// Returns all pieces of one type.
    #[inline]
    pub fn kind(&self, kind: Kind) -> Bitboard {
        self.kinds[kind.index()]
    }

    /// Returns all pieces of a colour.
    #[inline]
    pub fn color(&self, color: Color) -> Bitboard {
        self.colors[color.index()]
    }

    /// Returns the pieces of one colour and type.
    #[inline]
    pub fn pieces(&self, color: Color, kind: Kind) -> Bitboard {
        self.color(color) & self.kind(kind)
    }

    /// Returns all pieces.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    /// Returns the square of the king of `color`.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.pieces(color, Kind::King).first()
    }

    /// Returns the rooks and queens of both colours.
    #[inline]
    pub fn straight_sliders(&self) -> Bitboard {
        self.kind(Kind::Rook) | self.kind(Kind::Queen)
    }

    /// Returns the bishops and queens of both colours.
    #[inline]
    pub fn diagonal_sliders(&self) -> Bitboard {
        self.kind(Kind::Bishop) | self.kind(Kind::Queen)
    }

    /// Toggles the squares of `set` for this colour and piece type.
    #[inline]
    pub(super) fn toggle(&mut self, color: Color, kind: Kind, set: Bitboard) {
        self.kinds[kind.index()] ^= set;
        self.colors[color.index()] ^= set;
    }

    /// Returns the board after a move of `S` that captures the piece on `to`, if any. `leaves` is
    /// the type of the piece that leaves `from`, and `arrives` is the type of the piece that
    /// arrives on `to`. The types differ only for promotions.
    #[inline(always)]
    pub(in crate::chess) fn after<S: Side>(
        &self,
        leaves: Kind,
        arrives: Kind,
        from: Square,
        to: Square,
    ) -> Board {
        let mut next = *self;
        // Kings are never captured, so the set of kings is left out.
        for kind in &mut next.kinds[..Kind::King.index()] {
            *kind = *kind - Bitboard::of(to);
        }
        let enemy = !S::COLOR;
        next.colors[enemy.index()] = next.colors[enemy.index()] - Bitboard::of(to);
        next.colors[S::COLOR.index()] ^= Bitboard::of(from) | Bitboard::of(to);
        next.kinds[leaves.index()] ^= Bitboard::of(from);
        next.kinds[arrives.index()] ^= Bitboard::of(to);
        next
    }

    /// Returns the board after a move of `S` to an empty square.
    #[inline(always)]
    pub(in crate::chess) fn after_quiet<S: Side>(
        &self,
        kind: Kind,
        from: Square,
        to: Square,
    ) -> Board {
        let mut next = *self;
        next.toggle(S::COLOR, kind, Bitboard::of(from) | Bitboard::of(to));
        next
    }

    /// Returns the board after castling; `king` and `rook` are pairs of origin and destination.
    #[inline(always)]
    pub(in crate::chess) fn after_castling<S: Side>(
        &self,
        king: (Square, Square),
        rook: (Square, Square),
    ) -> Board {
        let mut next = *self;
        // In Chess960, king and rook may castle to their own origin or to the origin of the other
        // piece. Symmetric differences are correct in these cases; unions are not.
        next.toggle(S::COLOR, Kind::King, Bitboard::of(king.0) ^ Bitboard::of(king.1));
        next.toggle(S::COLOR, Kind::Rook, Bitboard::of(rook.0) ^ Bitboard::of(rook.1));
        next
    }

    /// Returns the board after a pawn of `S` captures the pawn on `captured` en passant.
    #[inline(always)]
    pub(in crate::chess) fn after_en_passant<S: Side>(
        &self,
        from: Square,
        to: Square,
        captured: Square,
    ) -> Board {
        let mut next = *self;
        next.toggle(S::COLOR, Kind::Pawn, Bitboard::of(from) | Bitboard::of(to));
        next.toggle(!S::COLOR, Kind::Pawn, Bitboard::of(captured));
        next
    }
}
