//! Legality test for a single move from a table or from input, without generating other moves.

use super::king::castling_path;
use crate::chess::attacks;
use crate::chess::bitboard::Bitboard;
use crate::chess::color::Color;
use crate::chess::moves::{Move, MoveKind};
use crate::chess::piece::Kind;
use crate::chess::position::Position;
use crate::chess::square::Square;

impl Position {
    /// Returns whether the move is legal in this position. The move may be any value of [`Move`].
    pub fn is_legal(&self, mv: Move) -> bool {
        let (from, to) = (mv.from(), mv.to());
        let own = self.board().color(self.turn());
        let enemy = self.board().color(!self.turn());
        let Some(kind) = self.kind_at(from).filter(|_| own.contains(from)) else {
            return false;
        };
        if mv.is_castle() {
            return kind == Kind::King
                && !self.in_check()
                && own.contains(to)
                && self.castling_rooks().contains(to)
                && self.may_castle(from, to);
        }
        if mv.is_en_passant() {
            return kind == Kind::Pawn
                && self.en_passant() == Some(to)
                && attacks::pawn(self.turn(), from).contains(to)
                && self.en_passant_is_safe(from, to);
        }
        if own.contains(to) || mv.is_capture() != enemy.contains(to) {
            return false;
        }
        if kind == Kind::King {
            let occupied = self.board().occupied() ^ Bitboard::of(from);
            return matches!(mv.kind(), MoveKind::Quiet | MoveKind::Capture)
                && attacks::king(from).contains(to)
                && (self.attackers_to(to, occupied) & enemy).is_empty();
        }
        self.reaches(kind, mv)
            && !self.checkers().has_several()
            && self.answers_check(to)
            && self.pin_allows(mv)
    }

    /// Returns whether a king that is not in check may castle with a rook that still has the
    /// castling right.
    fn may_castle(&self, king: Square, rook: Square) -> bool {
        let us = self.turn();
        let occupied = self.board().occupied();
        let enemy = self.board().color(!us);
        let path = castling_path(us, king, rook, occupied);
        let occupied = occupied ^ Bitboard::of(king);
        !self.straight_pins().contains(rook)
            && path.any()
            && path
                .into_iter()
                .all(|square| (self.attackers_to(square, occupied) & enemy).is_empty())
    }

    /// Returns whether a move to `to` by a piece other than the king answers the check. There must
    /// be at most one checker. Without a checker, the result is `true`. Otherwise, the move must
    /// capture the checker or lead to a square between the king and the checker.
    fn answers_check(&self, to: Square) -> bool {
        let checkers = self.checkers();
        let king = self.board().king(self.turn());
        checkers.is_empty() || (attacks::between(king, checkers.first()) | checkers).contains(to)
    }

    /// Returns whether a piece of this type can make the move, ignoring pins and checks.
    fn reaches(&self, kind: Kind, mv: Move) -> bool {
        let (from, to) = (mv.from(), mv.to());
        let occupied = self.board().occupied();
        let targets = match kind {
            Kind::Pawn => return self.pawn_reaches(mv),
            Kind::Knight => attacks::knight(from),
            Kind::Bishop => attacks::bishop(from, occupied),
            Kind::Rook => attacks::rook(from, occupied),
            Kind::Queen => attacks::queen(from, occupied),
            Kind::King => attacks::king(from),
        };
        targets.contains(to) && matches!(mv.kind(), MoveKind::Quiet | MoveKind::Capture)
    }

    fn pawn_reaches(&self, mv: Move) -> bool {
        let us = self.turn();
        let (from, to) = (mv.from(), mv.to());
        if mv.is_promotion() != (to.rank() == us.relative_rank(7)) {
            return false;
        }
        if mv.is_capture() {
            return attacks::pawn(us, from).contains(to);
        }
        let occupied = self.board().occupied();
        let step = if us == Color::White { 8 } else { -8 };
        let ahead = from.offset(step);
        if occupied.contains(ahead) {
            return false;
        }
        if mv.kind() == MoveKind::DoublePush {
            return from.rank() == us.relative_rank(1)
                && to == ahead.offset(step)
                && !occupied.contains(to);
        }
        to == ahead
    }

    fn pin_allows(&self, mv: Move) -> bool {
        let pins = self.straight_pins() | self.diagonal_pins();
        let king = self.board().king(self.turn());
        !pins.contains(mv.from()) || attacks::line(king, mv.from()).contains(mv.to())
    }
}
