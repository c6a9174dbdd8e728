//! Piece sets: one cache line, all that the move generator needs of the placement.

use crate::chess::bitboard::Bitboard;
use crate::chess::color::Color;
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
}
