//! A chess position.

mod board;
mod check_info;
mod group_keys;
mod place;
mod play;
mod validate;

pub use board::Board;
pub(in crate::chess) use check_info::CheckInfo;
pub(crate) use group_keys::{GROUPS, GroupKeys};
pub(crate) use play::castled_squares;
pub use validate::{Fault, Setup};

use super::attacks;
use super::bitboard::Bitboard;
use super::color::Color;
use super::piece::{Kind, Piece};
use super::square::Square;

/// A legal position, cheap to copy.
///
/// The code that places pieces also updates all derived values (keys, checkers, pins), so a
/// `Position` is always consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    board: Board,
    /// Mailbox of piece types; the colours are in `board`.
    kinds: [Option<Kind>; 64],
    key: u64,
    group_keys: GroupKeys,
    /// The rooks that may still castle. A rook on a higher file than its king castles kingside.
    castling: Bitboard,
    /// Checks and pins of the side to move.
    check_info: CheckInfo,
    turn: Color,
    en_passant: Option<Square>,
    halfmove_clock: u16,
    fullmove_number: u16,
}

impl Position {
    /// Returns the bitboards of the pieces.
    #[inline]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the side to move.
    #[inline]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// Returns the piece on a square.
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        let kind = self.kinds[square.index()]?;
        let white = self.board.color(Color::White).contains(square);
        Some(Piece { color: if white { Color::White } else { Color::Black }, kind })
    }

    /// Returns the type of the piece on a square.
    #[inline]
    pub fn kind_at(&self, square: Square) -> Option<Kind> {
        self.kinds[square.index()]
    }

    /// Returns the Zobrist key of the position. Positions that are equal under the repetition rule
    /// have equal keys.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Returns the keys of groups of pieces.
    #[inline]
    pub(crate) fn group_keys(&self) -> GroupKeys {
        self.group_keys
    }

    /// Returns the rooks of both sides that may still castle.
    #[inline]
    pub fn castling_rooks(&self) -> Bitboard {
        self.castling
    }

    /// Returns whether the position has a castling right that is impossible in standard chess,
    /// because the king is not on the e-file or the rook is not in a corner.
    pub fn is_chess960(&self) -> bool {
        let corners = Bitboard::file(0) | Bitboard::file(7);
        let is_odd = |rook: Square| {
            let color = if rook.rank() == 0 { Color::White } else { Color::Black };
            !corners.contains(rook) || self.board.king(color).file() != 4
        };
        Iterator::any(&mut self.castling.into_iter(), is_odd)
    }

    /// Returns the enemy pieces that give check to the side to move.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.check_info.checkers
    }

    /// Returns whether the side to move is in check.
    #[inline]
    pub fn in_check(&self) -> bool {
        self.check_info.checkers.any()
    }

    /// Returns the checkers and pins of the side to move.
    #[inline]
    pub(in crate::chess) fn check_info(&self) -> CheckInfo {
        self.check_info
    }

    /// Returns the squares from the king of the side to move (exclusive) to pinning pieces on ranks
    /// and files (inclusive).
    #[inline]
    pub(crate) fn straight_pins(&self) -> Bitboard {
        self.check_info.straight_pins
    }

    /// Returns the squares from the king of the side to move (exclusive) to pinning pieces on
    /// diagonals (inclusive).
    #[inline]
    pub(crate) fn diagonal_pins(&self) -> Bitboard {
        self.check_info.diagonal_pins
    }

    /// Returns the square behind a pawn that has just advanced two ranks, if a legal en-passant
    /// capture exists.
    #[inline]
    pub fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// Returns the number of plies since the last capture or pawn move.
    #[inline]
    pub fn halfmove_clock(&self) -> u16 {
        self.halfmove_clock
    }

    /// Returns the number of the current full move, from 1.
    #[inline]
    pub fn fullmove_number(&self) -> u16 {
        self.fullmove_number
    }

    /// Returns whether `color` has a piece other than the king and pawns.
    #[inline]
    pub fn has_pieces(&self, color: Color) -> bool {
        let board = &self.board;
        let simple = board.kind(Kind::Pawn) | board.kind(Kind::King);
        (board.color(color) - simple).any()
    }

    /// Returns the pieces of both colours that attack `square`; pieces on `occupied` block sliders.
    ///
    /// Attackers that are not on `occupied` are included. The caller must mask such attackers if
    /// they do not count.
    #[inline]
    pub fn attackers_to(&self, square: Square, occupied: Bitboard) -> Bitboard {
        let board = &self.board;
        let white_pawns = board.pieces(Color::White, Kind::Pawn);
        let black_pawns = board.pieces(Color::Black, Kind::Pawn);
        attacks::pawn(Color::Black, square) & white_pawns
            | attacks::pawn(Color::White, square) & black_pawns
            | attacks::knight(square) & board.kind(Kind::Knight)
            | attacks::king(square) & board.kind(Kind::King)
            | attacks::bishop(square, occupied) & board.diagonal_sliders()
            | attacks::rook(square, occupied) & board.straight_sliders()
    }
}
