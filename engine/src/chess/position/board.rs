//! Piece sets: one cache line, all that the move generator needs of the placement.

use crate::chess::bitboard::Bitboard;
use crate::chess::color::{Color, Side};
use crate::chess::piece::Kind;
use crate::chess::square::Square;

/// Six sets by kind and two by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Board {
    kinds: [Bitboard; 6],
    colors: [Bitboard; 2],
}

impl Board {
    pub(super) const EMPTY: Board =
        Board { kinds: [Bitboard::EMPTY; 6], colors: [Bitboard::EMPTY; 2] };

    /// All pieces of a kind.
    #[inline]
    pub fn kind(&self, kind: Kind) -> Bitboard {
        self.kinds[kind.index()]
    }

    /// All pieces of a colour.
    #[inline]
    pub fn color(&self, color: Color) -> Bitboard {
        self.colors[color.index()]
    }

    /// The pieces of one colour and kind.
    #[inline]
    pub fn pieces(&self, color: Color, kind: Kind) -> Bitboard {
        self.color(color) & self.kind(kind)
    }

    /// All pieces.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    /// The king's square.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.pieces(color, Kind::King).first()
    }

    /// Rooks and queens of both colours.
    #[inline]
    pub fn straight_sliders(&self) -> Bitboard {
        self.kind(Kind::Rook) | self.kind(Kind::Queen)
    }

    /// Bishops and queens of both colours.
    #[inline]
    pub fn diagonal_sliders(&self) -> Bitboard {
        self.kind(Kind::Bishop) | self.kind(Kind::Queen)
    }

    /// Adds or takes away the squares of `set` for this colour and kind.
    #[inline]
    pub(super) fn toggle(&mut self, color: Color, kind: Kind, set: Bitboard) {
        self.kinds[kind.index()] ^= set;
        self.colors[color.index()] ^= set;
    }

    /// The board after a piece of `S` has gone from one square to another, taking what is there,
    /// and become `arrives`, which is what it was unless it is a promoted pawn.
    #[inline(always)]
    pub(in crate::chess) fn after<S: Side>(
        &self,
        leaves: Kind,
        arrives: Kind,
        from: Square,
        to: Square,
    ) -> Board {
        let mut next = *self;
        // Kings are never captured, so their set stays as it is.
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

    /// The board after a piece of `S` has gone to an empty square.
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

    /// The board after castling; king and rook each with the squares they come from and go to.
    #[inline(always)]
    pub(in crate::chess) fn after_castling<S: Side>(
        &self,
        king: (Square, Square),
        rook: (Square, Square),
    ) -> Board {
        let mut next = *self;
        // In Chess960 a piece may castle to where it stands, or to where the other one stood.
        // Symmetric differences are right in these cases, and unions are not.
        next.toggle(S::COLOR, Kind::King, Bitboard::of(king.0) ^ Bitboard::of(king.1));
        next.toggle(S::COLOR, Kind::Rook, Bitboard::of(rook.0) ^ Bitboard::of(rook.1));
        next
    }

    /// The board after a pawn of `S` has taken the one on `captured` en passant.
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
