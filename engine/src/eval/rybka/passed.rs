//! Terms of passed pawns: unstoppable pawns, pieces and attacks on the path, and distances of the
//! kings.

use super::Version;
use super::features::Term;
use crate::chess::color::Side;
use crate::chess::{Bitboard, Position, Square};
use crate::eval::pair::Pair;
use crate::eval::sink::Sink;

/// Endgame value of an unstoppable pawn, in 1/3399 pawn.
pub(super) const UNSTOPPABLE: i32 = 25_600;

/// Adds the terms of the passed pawns of side `S` to `sink`. `attacked` contains the squares that
/// side `S` attacks, then the squares that the opponent attacks.
#[inline]
pub(super) fn score<V: Version, S: Side, K: Sink>(
    position: &Position,
    passed: Bitboard,
    attacked: [Bitboard; 2],
    sink: &mut K,
) {
    if passed.is_empty() {
        return;
    }
    let weights = V::WEIGHTS;
    let board = position.board();
    let alone = weights.rules.unstoppable && !position.has_pieces(!S::COLOR);
    for square in passed {
        let rank = square.relative(S::COLOR).rank() as usize;
        let path = Bitboard::of(square).forward_fill(S::COLOR);
        let mut add = |term, score| sink.add(term, S::COLOR, Pair::of_endgame(score));
        if alone {
            // In Rybka, a pawn can get this bonus twice, once for each of the two rules.
            if outruns_king::<S>(position, square) {
                add(Term::Unstoppable, UNSTOPPABLE);
            }
            if is_guided::<S>(position, square) {
                add(Term::Unstoppable, UNSTOPPABLE);
            }
        } else {
            if (path & board.color(S::COLOR)).is_empty() {
                add(Term::PassedUnblockedOwn, weights.unblocked_own[rank]);
            }
            if (path & board.color(!S::COLOR)).is_empty() {
                add(Term::PassedUnblockedOpp, weights.unblocked_opp[rank]);
            }
            if ((path & attacked[1]) - attacked[0]).is_empty() {
                add(Term::PassedFree, weights.free[rank]);
            }
        }
        let stop = Bitboard::of(square).forward(S::COLOR).first();
        let distance = |color| i32::from(board.king(color).distance(stop));
        let kings = distance(!S::COLOR) * weights.enemy_king[rank]
            - distance(S::COLOR) * weights.own_king[rank];
        add(Term::PassedKingdist, kings);
    }
}

/// Returns whether no friendly piece is on the path of the pawn, and the enemy king is too far away
/// to catch the pawn.
pub(super) fn outruns_king<S: Side>(position: &Position, square: Square) -> bool {
    let board = position.board();
    let path = Bitboard::of(square).forward_fill(S::COLOR);
    let goal = Square::at(square.file(), S::COLOR.relative_rank(7));
    let moves = 7 - square.relative(S::COLOR).rank().max(2);
    let waits = u8::from(position.turn() != S::COLOR);
    let catches = board.king(!S::COLOR).distance(goal) <= moves + waits;
    (path & board.color(S::COLOR)).is_empty() && !catches
}

/// Returns whether the friendly king can escort the pawn to promotion, wherever the enemy king is.
pub(super) fn is_guided<S: Side>(position: &Position, square: Square) -> bool {
    let rank = square.relative(S::COLOR).rank();
    let king = position.board().king(S::COLOR);
    let king_rank = king.relative(S::COLOR).rank();
    if !(rank >= 4 && king_rank == 6 || rank >= 5 && king_rank == 7) {
        return false;
    }
    match square.file() {
        0 => king.file() == 1,
        7 => king.file() == 6,
        file => king.file().abs_diff(file) <= 1,
    }
}
