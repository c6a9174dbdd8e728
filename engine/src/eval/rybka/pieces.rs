//! Terms of pieces: piece-square values, mobility, files and ranks, and danger to the enemy king.

use super::features::{Experiment, Term};
use super::pawns::Pawns;
use super::weights::{RookKing, Seventh, Shelter};
use super::{Version, v2_3_2a};
use crate::chess::color::Side;
use crate::chess::position::Board;
use crate::chess::{Bitboard, Color, Kind, Position, Square, attacks};
use crate::eval::pair::Pair;
use crate::eval::sink::Sink;

/// Attack on the squares next to the enemy king.
struct Attack {
    ring: Bitboard,
    attacked: Bitboard,
    attackers: usize,
    weight: i32,
}

impl Attack {
    #[inline]
    fn add(&mut self, reach: Bitboard, weight: i32) {
        self.attacked |= reach;
        if (reach & self.ring).any() {
            self.attackers += 1;
            self.weight += weight;
        }
    }
}

/// Adds the piece terms of side `S` to `sink`, and returns all squares that the side attacks.
#[inline]
pub(super) fn score<V: Version, S: Side, K: Sink>(
    position: &Position,
    pawns: &Pawns,
    sink: &mut K,
) -> Bitboard {
    let weights = V::WEIGHTS;
    let board = position.board();
    let own = board.color(S::COLOR);
    let own_pawns = board.pieces(S::COLOR, Kind::Pawn);
    let occupied = board.occupied();
    let king = board.king(S::COLOR);
    let mut attack = Attack {
        ring: attacks::king(board.king(!S::COLOR)),
        attacked: attacks::king(king),
        attackers: 0,
        weight: 0,
    };
    // All pawns together count as one attacker, which adds no weight.
    attack.add(own_pawns.pawn_attacks::<S>(), 0);
    sink.add(Term::PstKing, S::COLOR, square_bonus::<V>(Kind::King, king, S::COLOR));
    let dangerous = is_dangerous(board, S::COLOR);
    let seventh = own & Bitboard::rank(S::COLOR.relative_rank(6));
    let seventh_counts = seventh.any() && seventh_matters::<V, S>(board);

    for (index, (kind, squares, mobility)) in PIECES.into_iter().enumerate() {
        let mut within_reach = 0;
        for square in board.pieces(S::COLOR, kind) {
            let reach = match kind {
                Kind::Knight => attacks::knight(square),
                Kind::Bishop => attacks::bishop(square, occupied),
                Kind::Rook => attacks::rook(square, occupied),
                _ => attacks::queen(square, occupied),
            };
            sink.add(squares, S::COLOR, square_bonus::<V>(kind, square, S::COLOR));
            within_reach += (reach - own).len() as i32;
            attack.add(reach, weights.attack[index]);
            if kind == Kind::Rook {
                rook_file::<V, S, K>(board, square, dangerous, sink);
            }
            if seventh_counts && seventh.contains(square) {
                match kind {
                    Kind::Rook => sink.add(Term::SeventhRook, S::COLOR, weights.seventh[0]),
                    Kind::Queen => sink.add(Term::SeventhQueen, S::COLOR, weights.seventh[1]),
                    _ => {}
                }
            }
        }
        if kind != Kind::Knight || weights.rules.knight_mobility {
            sink.add(mobility, S::COLOR, weights.mobility[index] * within_reach);
        }
    }
    if weights.rules.pawn_anti_mobility || sink.tries(Experiment::PawnAntimob) {
        let blocked = own_pawns.forward(S::COLOR) & occupied;
        let each = v2_3_2a::WEIGHTS.pawn_blocked;
        sink.add(Term::PawnAntimob, S::COLOR, each * blocked.len() as i32);
    }
    if dangerous {
        let factor = weights.danger[attack.attackers.min(15)];
        let danger = (factor * attack.weight) >> 5;
        sink.add(Term::KingDanger, S::COLOR, Pair::of_opening(danger));
        let exposed = exposure_of_king::<V>(position, pawns, !S::COLOR);
        sink.add(Term::Shelter, S::COLOR, Pair::of_opening(exposed));
    }
    attack.attacked
}

const PIECES: [(Kind, Term, Term); 4] = [
    (Kind::Knight, Term::PstKnight, Term::MobKnight),
    (Kind::Bishop, Term::PstBishop, Term::MobBishop),
    (Kind::Rook, Term::PstRook, Term::MobRook),
    (Kind::Queen, Term::PstQueen, Term::MobQueen),
];

#[inline]
fn square_bonus<V: Version>(kind: Kind, square: Square, color: Color) -> Pair {
    V::WEIGHTS.squares[kind.index()][square.relative(color).index()]
}

/// Returns whether a side can endanger the enemy king. The side must have a queen and another piece
/// (a rook, bishop or knight).
#[inline]
fn is_dangerous(board: &Board, color: Color) -> bool {
    let more = board.kind(Kind::Rook) | board.kind(Kind::Bishop) | board.kind(Kind::Knight);
    board.pieces(color, Kind::Queen).any() && (board.color(color) & more).any()
}

/// Returns whether enemy pawns or the enemy king are on the last two ranks, so that a rook or queen
/// on the seventh rank gets a bonus. The rule depends on the version.
#[inline]
fn seventh_matters<V: Version, S: Side>(board: &Board) -> bool {
    let rank = |index| Bitboard::rank(S::COLOR.relative_rank(index));
    let pawns = board.pieces(!S::COLOR, Kind::Pawn);
    let king = board.pieces(!S::COLOR, Kind::King);
    match V::WEIGHTS.rules.seventh {
        Seventh::PawnThereOrKingBehind => (pawns & rank(6) | king & rank(7)).any(),
        Seventh::PawnOrKingOnEither => ((pawns | king) & (rank(6) | rank(7))).any(),
    }
}

/// Adds the terms of a rook for open and half-open files, and for a file on which the enemy king,
/// or a square next to the king, is ahead.
#[inline]
fn rook_file<V: Version, S: Side, K: Sink>(
    board: &Board,
    square: Square,
    dangerous: bool,
    sink: &mut K,
) {
    let weights = V::WEIGHTS;
    let ahead = Bitboard::of(square).forward_fill(S::COLOR);
    let pawns = board.kind(Kind::Pawn) & ahead;
    if (pawns & board.color(S::COLOR)).any() {
        return;
    }
    sink.add(Term::RookFile, S::COLOR, weights.rook_half_open);
    if pawns.is_empty() {
        sink.add(Term::RookFile, S::COLOR, weights.rook_open);
    }
    let king = board.king(!S::COLOR);
    match weights.rules.rook_king {
        RookKing::WithQueen if dangerous && (ahead & attacks::king(king)).any() => {
            sink.add(Term::RookKingfile, S::COLOR, weights.rook_king_zone);
            if ahead.contains(king) {
                sink.add(Term::RookKingfile, S::COLOR, weights.rook_king);
            }
        }
        RookKing::Always if ahead.contains(king) => {
            sink.add(Term::RookKingfile, S::COLOR, weights.rook_king);
        }
        RookKing::WithQueen | RookKing::Always => {}
    }
}

/// Returns the penalty for missing shelter of the king of `color`, by the rule of the version.
#[inline]
fn exposure_of_king<V: Version>(position: &Position, pawns: &Pawns, color: Color) -> i32 {
    const WING: [usize; 8] = [0, 0, 0, 1, 1, 2, 2, 2];
    let board = position.board();
    let king = board.king(color);
    let wings = pawns.exposure[color.index()].map(i32::from);
    let current = wings[WING[king.file() as usize & 7]];
    match V::WEIGHTS.rules.shelter {
        Shelter::Here => current,
        Shelter::MeanWithCastling => {
            let mut best = current;
            for rook in position.castling_rooks() & board.color(color) {
                best = best.min(if rook.file() > king.file() { wings[2] } else { wings[0] });
            }
            (best + current) >> 1
        }
    }
}
