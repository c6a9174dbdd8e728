//! Terms of knights, bishops, rooks and queens.

use super::layout as at;
use super::side_info::SideInfo;
use super::{Term, add_weight, add_weights};
use crate::chess::attacks::{self, Cpu};
use crate::chess::color::{Color, Side};
use crate::chess::outcome::LIGHT;
use crate::chess::{Bitboard, Kind, Position, Square};
use crate::eval::sink::Sink;

/// The four centre squares.
const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);

/// Input for the terms of one side's pieces.
struct PieceContext<'a> {
    position: &'a Position,
    enemy: &'a SideInfo,
    /// Outposts: squares that a friendly pawn defends and that no enemy pawn can attack.
    outposts: Bitboard,
}

/// Adds the terms of the pieces of side `S` to `sink`, and the attacks of these pieces to `own`.
#[inline(always)]
pub(super) fn score<S: Side, C: Cpu, K: Sink>(
    cpu: C,
    position: &Position,
    own: &mut SideInfo,
    enemy: &SideInfo,
    sink: &mut K,
) {
    let board = position.board();
    let occupied = board.occupied();
    let mine = board.color(S::COLOR);
    let context = PieceContext { position, enemy, outposts: outposts::<S>(own, enemy) };
    for square in mine & board.kind(Kind::Knight) {
        let reach = attacks::knight(square);
        piece::<S, K>(0, square, reach, own, enemy, sink);
        context.minor::<S, K>(0, square, reach, own, sink);
    }
    let through_queens = occupied ^ board.kind(Kind::Queen);
    for square in mine & board.kind(Kind::Bishop) {
        let reach = cpu.bishop(square, through_queens);
        piece::<S, K>(1, square, reach, own, enemy, sink);
        context.minor::<S, K>(1, square, reach, own, sink);
        context.bishop::<S, K>(square, reach, sink);
    }
    let through_rooks = occupied ^ (mine & board.straight_sliders());
    for square in mine & board.kind(Kind::Rook) {
        let reach = cpu.rook(square, through_rooks);
        piece::<S, K>(2, square, reach, own, enemy, sink);
        context.rook::<S, K>(square, sink);
    }
    for square in mine & board.kind(Kind::Queen) {
        let reach = cpu.rook(square, occupied) | cpu.bishop(square, occupied);
        piece::<S, K>(3, square, reach, own, enemy, sink);
    }
}

/// Returns the outposts of side `S` on the fourth to sixth ranks.
#[inline(always)]
fn outposts<S: Side>(own: &SideInfo, enemy: &SideInfo) -> Bitboard {
    let ranks = match S::COLOR {
        Color::White => Bitboard(0x0000_FFFF_FF00_0000),
        Color::Black => Bitboard(0x0000_00FF_FFFF_0000),
    };
    own.by(Kind::Pawn) & (ranks - enemy.pawn_span)
}

/// Adds the terms of one piece that are common to all piece types: piece-square value and mobility.
/// Also records the attacks of the piece in `own`, including attacks on the enemy king zone.
/// `index` is 0 for a knight, 1 for a bishop, 2 for a rook and 3 for a queen.
#[inline(always)]
fn piece<S: Side, K: Sink>(
    index: usize,
    square: Square,
    reach: Bitboard,
    own: &mut SideInfo,
    enemy: &SideInfo,
    sink: &mut K,
) {
    add_weight(
        sink,
        Term::Squares,
        S::COLOR,
        at::PST[index] + (square.index() ^ own.turn as usize),
    );
    let within_reach = (reach & own.usable).len() as usize;
    add_weight(sink, Term::Mobility, S::COLOR, at::MOBILITY[index] + within_reach);
    own.add(Kind::ALL[index + 1], reach);
    let attacked = reach & enemy.zone;
    if attacked.any() {
        own.attackers[index] += 1;
        own.zone_attacks += attacked.len() as i32;
    }
}

impl PieceContext<'_> {
    #[inline(always)]
    fn minor<S: Side, K: Sink>(
        &self,
        index: usize,
        square: Square,
        reach: Bitboard,
        own: &SideInfo,
        sink: &mut K,
    ) {
        let board = self.position.board();
        if self.outposts.contains(square) {
            add_weight(sink, Term::Outpost, S::COLOR, at::OUTPOST + index);
        } else if (self.outposts & (reach - board.color(S::COLOR))).any() {
            add_weight(sink, Term::Outpost, S::COLOR, at::OUTPOST_REACH + index);
        }
        if board.kind(Kind::Pawn).forward(!S::COLOR).contains(square) {
            add_weight(sink, Term::Minor, S::COLOR, at::MINOR_SHELTERED);
        }
        let steps = i32::from(own.king.distance(square));
        add_weights(sink, Term::Minor, S::COLOR, at::MINOR_KING + index, steps);
    }

    #[inline(always)]
    fn bishop<S: Side, K: Sink>(&self, square: Square, reach: Bitboard, sink: &mut K) {
        let board = self.position.board();
        let same = if LIGHT.contains(square) { LIGHT } else { !LIGHT };
        let pawns = board.pieces(S::COLOR, Kind::Pawn);
        let on_same = pawns & same;
        let blocked = on_same & board.occupied().forward(!S::COLOR);
        add_weights(sink, Term::BadBishop, S::COLOR, at::BISHOP_PAWNS, on_same.len() as i32);
        add_weights(sink, Term::BadBishop, S::COLOR, at::BISHOP_BLOCKED, blocked.len() as i32);
        if (reach & CENTRE).has_several() {
            add_weight(sink, Term::BadBishop, S::COLOR, at::BISHOP_CENTRE);
        }
    }

    #[inline(always)]
    fn rook<S: Side, K: Sink>(&self, square: Square, sink: &mut K) {
        let board = self.position.board();
        let file = Bitboard::file(square.file());
        let pawns = board.kind(Kind::Pawn) & file;
        let own = pawns & board.color(S::COLOR);
        if pawns.is_empty() {
            add_weight(sink, Term::RookFile, S::COLOR, at::ROOK_FILE);
        } else if own.is_empty() {
            add_weight(sink, Term::RookFile, S::COLOR, at::ROOK_FILE + 1);
        } else if (own & board.occupied().forward(!S::COLOR)).any() {
            add_weight(sink, Term::RookFile, S::COLOR, at::ROOK_BLOCKED);
        }
        let seventh = S::COLOR.relative_rank(6);
        let targets = board.pieces(!S::COLOR, Kind::Pawn) & Bitboard::rank(seventh);
        let king = S::COLOR.relative_rank(self.enemy.king.rank());
        if square.rank() == seventh && (targets.any() || king >= 6) {
            add_weight(sink, Term::RookSeventh, S::COLOR, at::ROOK_SEVENTH);
        }
    }
}
