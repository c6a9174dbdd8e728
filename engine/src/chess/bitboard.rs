//! Sets of squares in one machine word.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not, Sub};

use super::color::{Color, Side};
use super::square::Square;

/// A set of squares.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Bitboard(pub u64);

const FILE_A: u64 = 0x0101_0101_0101_0101;

impl Bitboard {
    /// The empty set.
    pub const EMPTY: Bitboard = Bitboard(0);
    /// The set of all squares.
    pub const ALL: Bitboard = Bitboard(!0);

    /// Returns the set of one square.
    #[inline]
    pub const fn of(square: Square) -> Bitboard {
        Bitboard(1 << square.index())
    }

    /// Returns the squares of a file, 0–7.
    #[inline]
    pub const fn file(file: u8) -> Bitboard {
        Bitboard(FILE_A << (file & 7))
    }

    /// Returns the squares of a rank, 0–7.
    #[inline]
    pub const fn rank(rank: u8) -> Bitboard {
        Bitboard(0xFF << ((rank & 7) * 8))
    }

    /// Returns whether the square is a member of the set.
    #[inline]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.index() & 1 != 0
    }

    /// Returns whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the set has a member.
    #[inline]
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// Returns the number of members, 0–64.
    #[inline]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns whether the set has at least two members.
    #[inline]
    pub const fn has_several(self) -> bool {
        self.without_first().any()
    }

    /// Returns the member with the lowest index; a1 for the empty set.
    #[inline]
    pub const fn first(self) -> Square {
        Square::new(self.0.trailing_zeros() as u8)
    }

    /// Returns the set without the member with the lowest index.
    #[inline]
    pub const fn without_first(self) -> Bitboard {
        Bitboard(self.0 & self.0.wrapping_sub(1))
    }

    /// Returns the member with the highest index; h8 for the empty set.
    #[inline]
    pub const fn last(self) -> Square {
        Square::new(63u32.wrapping_sub(self.0.leading_zeros()) as u8)
    }

    /// Returns the set if the condition is true and the empty set otherwise, without a branch.
    #[inline]
    pub(crate) const fn when(self, condition: bool) -> Bitboard {
        Bitboard(self.0 & (condition as u64).wrapping_neg())
    }

    /// Returns the set shifted by `step` square indices. A member on an edge file can wrap around
    /// to the opposite edge file.
    #[inline]
    pub const fn shift(self, step: i8) -> Bitboard {
        if step >= 0 { Bitboard(self.0 << step) } else { Bitboard(self.0 >> -step) }
    }

    /// Returns the set without the members on the h-file, shifted one file east (towards h).
    #[inline]
    pub const fn east(self) -> Bitboard {
        Bitboard((self.0 & !(FILE_A << 7)) << 1)
    }

    /// Returns the set without the members on the a-file, shifted one file west (towards a).
    #[inline]
    pub const fn west(self) -> Bitboard {
        Bitboard((self.0 & !FILE_A) >> 1)
    }

    /// Returns the set shifted one rank forward from the point of view of `color`.
    #[inline]
    pub const fn forward(self, color: Color) -> Bitboard {
        match color {
            Color::White => Bitboard(self.0 << 8),
            Color::Black => Bitboard(self.0 >> 8),
        }
    }

    /// Returns all squares in front of a member, on the same file, from the point of view of
    /// `color`.
    #[inline]
    pub const fn forward_fill(self, color: Color) -> Bitboard {
        let mut set = self.forward(color).0;
        match color {
            Color::White => {
                set |= set << 8;
                set |= set << 16;
                set |= set << 32;
            }
            Color::Black => {
                set |= set >> 8;
                set |= set >> 16;
                set |= set >> 32;
            }
        }
        Bitboard(set)
    }

    /// Returns the squares that pawns of side `S` attack from the squares of the set.
    #[inline]
    pub(crate) fn pawn_attacks<S: Side>(self) -> Bitboard {
        let ahead = self.forward(S::COLOR);
        ahead.east() | ahead.west()
    }
}

macro_rules! word_operator {
    ($trait:ident, $method:ident, $assign_trait:ident, $assign:ident, $op:tt) => {
        impl $trait for Bitboard {
            type Output = Bitboard;

            #[inline]
            fn $method(self, other: Bitboard) -> Bitboard {
                Bitboard(self.0 $op other.0)
            }
        }

        impl $assign_trait for Bitboard {
            #[inline]
            fn $assign(&mut self, other: Bitboard) {
                *self = *self $op other;
            }
        }
    };
}

word_operator!(BitAnd, bitand, BitAndAssign, bitand_assign, &);
word_operator!(BitOr, bitor, BitOrAssign, bitor_assign, |);
word_operator!(BitXor, bitxor, BitXorAssign, bitxor_assign, ^);

/// Set difference.
impl Sub for Bitboard {
    type Output = Bitboard;

    #[inline]
    fn sub(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 & !other.0)
    }
}

impl Not for Bitboard {
    type Output = Bitboard;

    #[inline]
    fn not(self) -> Bitboard {
        Bitboard(!self.0)
    }
}

/// Members in ascending order of index.
impl Iterator for Bitboard {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        if self.0 == 0 {
            return None;
        }
        let square = self.first();
        *self = self.without_first();
        Some(square)
    }
}

impl fmt::Debug for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}
