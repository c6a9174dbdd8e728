//! Input of the move generator.

use crate::chess::bitboard::Bitboard;
use crate::chess::color::Side;
use crate::chess::position::{Board, CheckInfo, Position};
use crate::chess::square::Square;

/// A position as input of the move generator, without the side to move.
#[derive(Clone, Copy)]
pub(in crate::chess) struct Node<'a> {
    /// Placement of the pieces.
    pub(in crate::chess) board: &'a Board,
    /// Square of the king of the side to move.
    pub(in crate::chess) king: Square,
    /// Castling and en-passant rights.
    pub(in crate::chess) rights: Rights,
    /// Checkers and pins of the side to move.
    pub(in crate::chess) check_info: CheckInfo,
}

impl Node<'_> {
    /// Returns the input for a position in which `S` is to move.
    #[inline(always)]
    pub(super) fn of<S: Side>(position: &Position) -> Node<'_> {
        let board = position.board();
        Node {
            board,
            king: board.king(S::COLOR),
            rights: Rights::of(position),
            check_info: position.check_info(),
        }
    }
}

/// Castling and en-passant rights.
#[derive(Clone, Copy)]
pub(in crate::chess) struct Rights {
    /// The rooks of both sides that may still castle.
    pub(in crate::chess) castling: Bitboard,
    /// Destination of an en-passant capture; empty if no en-passant capture is possible.
    pub(in crate::chess) en_passant: Bitboard,
}

impl Rights {
    /// Returns the rights of a position.
    #[inline(always)]
    pub(in crate::chess) fn of(position: &Position) -> Rights {
        let en_passant = position.en_passant().map_or(Bitboard::EMPTY, Bitboard::of);
        Rights { castling: position.castling_rooks(), en_passant }
    }

    /// Returns castling rights without en passant.
    #[inline(always)]
    pub(in crate::chess) fn to_castle(castling: Bitboard) -> Rights {
        Rights { castling, en_passant: Bitboard::EMPTY }
    }
}
