//! A position as the generator sees it.

use crate::chess::bitboard::Bitboard;
use crate::chess::position::{Board, KingLines, Position};

/// All that legal moves depend on, besides the side to move.
#[derive(Clone, Copy)]
pub(in crate::chess) struct Node<'a> {
    /// Where the pieces stand.
    pub(in crate::chess) board: &'a Board,
    /// What may still be done.
    pub(in crate::chess) rights: Rights,
    /// Checkers and pins of the side to move.
    pub(in crate::chess) lines: KingLines,
}

impl Node<'_> {
    #[inline(always)]
    pub(super) fn of(position: &Position) -> Node<'_> {
        Node { board: position.board(), rights: Rights::of(position), lines: position.king_lines() }
    }
}

/// The rooks that may still castle and the square an en-passant capture leads to, in one set: the
/// former are on the first and last rank and the latter never is.
#[derive(Clone, Copy)]
pub(in crate::chess) struct Rights(pub(in crate::chess) Bitboard);

impl Rights {
    /// Those of a position.
    #[inline(always)]
    pub(in crate::chess) fn of(position: &Position) -> Rights {
        let en_passant = position.en_passant().map_or(Bitboard::EMPTY, Bitboard::of);
        Rights(position.castling_rooks() | en_passant)
    }

    /// The rooks of both sides that may still castle.
    #[inline(always)]
    pub(in crate::chess) fn castling(self) -> Bitboard {
        self.0 & (Bitboard::rank(0) | Bitboard::rank(7))
    }

    /// At most one square.
    #[inline(always)]
    pub(in crate::chess) fn en_passant(self) -> Bitboard {
        self.0 - (Bitboard::rank(0) | Bitboard::rank(7))
    }
}
