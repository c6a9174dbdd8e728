//! Placement of pieces. Only this module moves pieces, so that bitboards, mailbox and keys stay
//! consistent. The module also recomputes checks and pins.

use super::{Board, CheckInfo, GroupKeys, Position};
use crate::chess::attacks;
use crate::chess::bitboard::Bitboard;
use crate::chess::color::{Black, Color, White};
use crate::chess::piece::Kind;
use crate::chess::square::Square;
use crate::chess::zobrist;

impl Position {
    /// Returns a position without pieces, to which the pieces are then added.
    pub(super) fn bare(turn: Color, halfmove_clock: u16, fullmove_number: u16) -> Position {
        let mut position = Position {
            board: Board::EMPTY,
            kinds: [None; 64],
            key: 0,
            group_keys: GroupKeys::EMPTY,
            castling: Bitboard::EMPTY,
            check_info: CheckInfo::NONE,
            turn: Color::White,
            en_passant: None,
            halfmove_clock,
            fullmove_number,
        };
        if turn == Color::Black {
            position.flip_turn();
        }
        position
    }

    /// Puts a piece on an empty square.
    #[inline]
    pub(super) fn put(&mut self, color: Color, kind: Kind, square: Square) {
        self.board.toggle(color, kind, Bitboard::of(square));
        self.kinds[square.index()] = Some(kind);
        self.toggle_keys(color, kind, zobrist::placement(color, kind, square));
    }

    /// Removes the piece of this colour and type from `square`.
    #[inline]
    pub(super) fn take(&mut self, color: Color, kind: Kind, square: Square) {
        debug_assert_eq!(self.kinds[square.index()], Some(kind));
        self.board.toggle(color, kind, Bitboard::of(square));
        self.kinds[square.index()] = None;
        self.toggle_keys(color, kind, zobrist::placement(color, kind, square));
    }

    /// Moves a piece to an empty square.
    #[inline]
    pub(super) fn carry(&mut self, color: Color, kind: Kind, from: Square, to: Square) {
        debug_assert_eq!(self.kinds[from.index()], Some(kind));
        self.board.toggle(color, kind, Bitboard::of(from) | Bitboard::of(to));
        self.kinds[from.index()] = None;
        self.kinds[to.index()] = Some(kind);
        let words = zobrist::placement(color, kind, from) ^ zobrist::placement(color, kind, to);
        self.toggle_keys(color, kind, words);
    }

    /// Toggles a Zobrist number of a piece in the position key and the group keys.
    #[inline]
    fn toggle_keys(&mut self, color: Color, kind: Kind, words: u64) {
        self.key ^= words;
        self.group_keys.toggle(color, kind, words);
    }

    /// Withdraws the castling rights of the rooks in `rooks`.
    #[inline]
    pub(super) fn withdraw_castling(&mut self, rooks: Bitboard) {
        let lost = self.castling & rooks;
        if lost.any() {
            self.castling ^= lost;
            self.key = lost.fold(self.key, |key, rook| key ^ zobrist::castling(rook));
        }
    }

    /// Grants castling with a rook.
    pub(super) fn grant_castling(&mut self, rook: Square) {
        if !self.castling.contains(rook) {
            self.castling |= Bitboard::of(rook);
            self.key ^= zobrist::castling(rook);
        }
    }

    /// Switches the side to move.
    #[inline]
    pub(super) fn flip_turn(&mut self) {
        self.turn = !self.turn;
        self.key ^= zobrist::black_to_move();
    }

    /// Sets or clears the en-passant square.
    #[inline]
    pub(super) fn set_en_passant(&mut self, square: Option<Square>) {
        if let Some(old) = self.en_passant {
            self.key ^= zobrist::en_passant(old);
        }
        if let Some(new) = square {
            self.key ^= zobrist::en_passant(new);
        }
        self.en_passant = square;
    }

    /// Updates the checkers and pins of the side to move.
    #[inline]
    pub(super) fn refresh_check_info(&mut self) {
        let board = &self.board;
        self.check_info = match self.turn {
            Color::White => CheckInfo::find::<White>(board, board.king(Color::White)),
            Color::Black => CheckInfo::find::<Black>(board, board.king(Color::Black)),
        };
    }

    /// Returns whether the king of the side to move is not in check after the pawn on `from`
    /// captures en passant on `to`.
    pub(in crate::chess) fn en_passant_is_safe(&self, from: Square, to: Square) -> bool {
        let us = self.turn;
        let captured = Bitboard::of(to.offset(if us == Color::White { -8 } else { 8 }));
        let occupied = (self.board.occupied() ^ Bitboard::of(from) ^ captured) | Bitboard::of(to);
        let attackers = self.attackers_to(self.board.king(us), occupied);
        (attackers & self.board.color(!us) & !captured).is_empty()
    }

    /// Sets the en-passant square to `square` if the side to move has a legal en-passant capture on
    /// `square`. With this condition, positions that are equal under the repetition rule have equal
    /// keys.
    #[inline]
    pub(super) fn offer_en_passant(&mut self, square: Square) {
        let us = self.turn;
        let mut capturers = attacks::pawn(!us, square) & self.board.pieces(us, Kind::Pawn);
        if Iterator::any(&mut capturers, |from| self.en_passant_is_safe(from, square)) {
            self.set_en_passant(Some(square));
        }
    }
}
