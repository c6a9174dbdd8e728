//! Visitor that writes moves to a list, for one piece or one set of pawns at a time.

use super::visitor::{Mover, Visitor};
use crate::chess::attacks::{Cpu, MoveTemplate};
use crate::chess::bitboard::Bitboard;
use crate::chess::moves::{Move, MoveKind, MoveList};
use crate::chess::piece::Kind;
use crate::chess::square::Square;

/// Visitor that lists moves, piece by piece, in ascending order of destination.
pub(super) struct Lister<'a, C> {
    /// CPU whose instructions are used to write the moves.
    pub(super) cpu: C,
    /// Enemy pieces.
    pub(super) enemy: Bitboard,
    /// Moves listed so far.
    pub(super) list: &'a mut MoveList,
}

impl<C: Cpu> Lister<'_, C> {
    #[inline(always)]
    fn write(&mut self, template: MoveTemplate, targets: Bitboard) {
        self.cpu.write_moves(template, targets, self.list.batch());
        self.list.extend_by(targets.len() as usize);
    }
}

impl<C: Cpu> Visitor for Lister<'_, C> {
    const PASSES_OVER_EMPTY: bool = true;

    #[inline(always)]
    fn piece(&mut self, _mover: Mover, from: Square, targets: Bitboard) {
        self.write(MoveTemplate::of_piece(from, self.enemy), targets);
    }

    #[inline(always)]
    fn pawns(&mut self, targets: Bitboard, step: i8, kind: MoveKind) {
        self.write(MoveTemplate::of_pawns(step, kind), targets);
    }

    #[inline(always)]
    fn promotions(&mut self, targets: Bitboard, step: i8, capture: bool) {
        for to in targets {
            for kind in [Kind::Queen, Kind::Knight, Kind::Rook, Kind::Bishop] {
                let kind = MoveKind::promotion(kind, capture);
                self.list.push(Move::new(to.offset(-step), to, kind));
            }
        }
    }

    #[inline(always)]
    fn castle(&mut self, king: Square, rook: Square) {
        self.list.push(Move::new(king, rook, MoveKind::Castle));
    }

    #[inline(always)]
    fn en_passant(&mut self, from: Square, to: Square) {
        self.list.push(Move::new(from, to, MoveKind::EnPassant));
    }
}
