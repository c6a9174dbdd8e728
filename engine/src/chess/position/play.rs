//! Making moves. Positions are copied; moves are not unmade.

use super::Position;
use crate::chess::attacks;
use crate::chess::bitboard::Bitboard;
use crate::chess::color::Color;
use crate::chess::moves::{Move, MoveKind};
use crate::chess::piece::Kind;
use crate::chess::square::Square;
use crate::chess::zobrist;

/// Returns the squares of the king and the rook after the king on `king` castles with the rook on
/// `rook`.
#[inline]
pub(crate) const fn castled_squares(king: Square, rook: Square) -> (Square, Square) {
    if rook.file() > king.file() {
        (Square::at(6, king.rank()), Square::at(5, king.rank()))
    } else {
        (Square::at(2, king.rank()), Square::at(3, king.rank()))
    }
}

impl Position {
    /// Returns the position after a legal move.
    ///
    /// # Panics
    ///
    /// May panic or return an invalid position if the move is not legal: check moves from input or
    /// tables with [`is_legal`](Self::is_legal).
    #[inline]
    #[must_use]
    pub fn play(&self, mv: Move) -> Position {
        let mut next = *self;
        next.make(mv);
        next
    }

    /// Returns the position after a null move. The side to move must not be in check.
    #[must_use]
    pub fn play_null(&self) -> Position {
        let mut next = *self;
        next.set_en_passant(None);
        next.halfmove_clock = next.halfmove_clock.saturating_add(1);
        next.pass_turn();
        next
    }

    /// Predicts the key after a legal move, for prefetching. The prediction is wrong for a double
    /// push after which the pawn can be captured en passant, for an en-passant capture, for
    /// castling, and for a move that forfeits a castling right.
    #[inline]
    pub(crate) fn key_after(&self, mv: Move) -> u64 {
        let us = self.turn;
        let kind = self.kinds[mv.from().index()].expect("a legal move starts from a piece");
        let arrived = zobrist::placement(us, mv.promotion().unwrap_or(kind), mv.to());
        let key = self.key ^ zobrist::black_to_move() ^ zobrist::placement(us, kind, mv.from());
        let taken = self.captured(mv).map(|kind| zobrist::placement(!us, kind, mv.to()));
        let lapsed = self.en_passant.map(zobrist::en_passant);
        key ^ arrived ^ taken.unwrap_or(0) ^ lapsed.unwrap_or(0)
    }

    /// Makes a legal move in place. [`play`](Self::play) makes the move on a copy.
    pub(crate) fn make(&mut self, mv: Move) {
        let us = self.turn;
        let (from, to) = (mv.from(), mv.to());
        let kind = self.kinds[from.index()].expect("a legal move starts from a piece");
        self.set_en_passant(None);
        self.halfmove_clock = self.halfmove_clock.saturating_add(1);
        if mv.is_castle() {
            self.castle(from, to);
        } else {
            if mv.is_capture() {
                self.capture(mv);
            }
            match mv.promotion() {
                Some(promoted) => {
                    self.take(us, Kind::Pawn, from);
                    self.put(us, promoted, to);
                }
                None => self.carry(us, kind, from, to),
            }
        }
        if kind == Kind::Pawn || mv.is_capture() {
            self.halfmove_clock = 0;
        }
        let mut touched = Bitboard::of(from) | Bitboard::of(to);
        if kind == Kind::King {
            touched |= Bitboard::rank(us.relative_rank(0));
        }
        self.withdraw_castling(touched);
        self.pass_turn();
        if mv.kind() == MoveKind::DoublePush {
            self.offer_en_passant(Square::at(from.file(), (from.rank() + to.rank()) / 2));
        }
    }

    fn capture(&mut self, mv: Move) {
        let them = !self.turn;
        if mv.is_en_passant() {
            let behind = Square::at(mv.to().file(), mv.from().rank());
            self.take(them, Kind::Pawn, behind);
        } else {
            let captured =
                self.kinds[mv.to().index()].expect("a legal capture has something to take");
            self.take(them, captured, mv.to());
        }
    }

    fn castle(&mut self, king: Square, rook: Square) {
        let us = self.turn;
        let (king_to, rook_to) = castled_squares(king, rook);
        // Both pieces are removed before a piece is placed, because in Chess960 each piece may
        // stand on the destination of the other piece.
        self.take(us, Kind::King, king);
        self.take(us, Kind::Rook, rook);
        self.put(us, Kind::King, king_to);
        self.put(us, Kind::Rook, rook_to);
    }

    fn pass_turn(&mut self) {
        if self.turn == Color::Black {
            self.fullmove_number = self.fullmove_number.saturating_add(1);
        }
        self.flip_turn();
        self.refresh_check_info();
    }

    /// Returns the type of the captured piece; `None` if the move is not a capture.
    #[inline]
    pub fn captured(&self, mv: Move) -> Option<Kind> {
        match (mv.is_capture(), mv.is_en_passant()) {
            (false, _) => None,
            (true, true) => Some(Kind::Pawn),
            (true, false) => self.kinds[mv.to().index()],
        }
    }

    /// Returns whether a legal move gives check.
    ///
    /// Castling, en-passant captures and promotions are rare, so these moves are made on a copy.
    pub fn gives_check(&self, mv: Move) -> bool {
        let (from, to) = (mv.from(), mv.to());
        let king = self.board.king(!self.turn);
        let special = mv.is_castle() || mv.is_en_passant() || mv.is_promotion();
        let Some(kind) = self.kinds[from.index()].filter(|_| !special) else {
            return self.play(mv).in_check();
        };
        let occupied = (self.board.occupied() ^ Bitboard::of(from)) | Bitboard::of(to);
        let direct = match kind {
            Kind::Pawn => attacks::pawn(self.turn, to),
            Kind::Knight => attacks::knight(to),
            Kind::Bishop => attacks::bishop(to, occupied),
            Kind::Rook => attacks::rook(to, occupied),
            Kind::Queen => attacks::queen(to, occupied),
            Kind::King => Bitboard::EMPTY,
        };
        if direct.contains(king) {
            return true;
        }
        let line = attacks::line(king, from);
        if line.is_empty() || line.contains(to) {
            return false;
        }
        let sliders = (attacks::rook(king, occupied) & self.board.straight_sliders())
            | (attacks::bishop(king, occupied) & self.board.diagonal_sliders());
        (sliders & self.board.color(self.turn)).any()
    }
}

#[cfg(test)]
mod tests {
    use crate::chess::fen;

    #[test]
    fn key_after_predicts_the_next_key() {
        for text in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
        ] {
            let position = fen::parse(text).unwrap();
            for &mv in position.legal_moves().iter() {
                let after = position.play(mv);
                let is_exact = after.castling_rooks() == position.castling_rooks()
                    && after.en_passant().is_none()
                    && !mv.is_en_passant();
                assert_eq!(position.key_after(mv) == after.key(), is_exact, "{text} {mv:?}");
            }
        }
    }
}
