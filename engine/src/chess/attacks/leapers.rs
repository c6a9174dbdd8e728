//! Attacks of kings, knights and pawns, which do not depend on other pieces.

use crate::chess::bitboard::Bitboard;
use crate::chess::color::Color;
use crate::chess::square::Square;

const KNIGHT_STEPS: [(i8, i8); 8] =
    [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
const KING_STEPS: [(i8, i8); 8] =
    [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];
const WHITE_PAWN_STEPS: [(i8, i8); 2] = [(1, 1), (-1, 1)];
const BLACK_PAWN_STEPS: [(i8, i8); 2] = [(1, -1), (-1, -1)];

static KNIGHT: [Bitboard; 64] = steps(&KNIGHT_STEPS);
static KING: [Bitboard; 64] = steps(&KING_STEPS);
static PAWN: [[Bitboard; 64]; 2] = [steps(&WHITE_PAWN_STEPS), steps(&BLACK_PAWN_STEPS)];

const fn steps(offsets: &[(i8, i8)]) -> [Bitboard; 64] {
    let mut table = [Bitboard::EMPTY; 64];
    let mut index = 0;
    while index < 64 {
        let mut step = 0;
        while step < offsets.len() {
            let file = (index % 8) as i8 + offsets[step].0;
            let rank = (index / 8) as i8 + offsets[step].1;
            if 0 <= file && file < 8 && 0 <= rank && rank < 8 {
                table[index].0 |= 1 << (rank * 8 + file);
            }
            step += 1;
        }
        index += 1;
    }
    table
}

/// Returns the squares that a knight on `square` attacks.
#[inline]
pub fn knight(square: Square) -> Bitboard {
    KNIGHT[square.index()]
}

/// Returns the squares that a king on `square` attacks.
#[inline]
pub fn king(square: Square) -> Bitboard {
    KING[square.index()]
}

/// Returns the squares that a pawn of `color` on `square` attacks.
#[inline]
pub fn pawn(color: Color, square: Square) -> Bitboard {
    PAWN[color.index()][square.index()]
}
