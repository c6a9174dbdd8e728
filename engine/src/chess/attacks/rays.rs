//! Lines between and through squares.

use crate::chess::bitboard::Bitboard;
use crate::chess::square::Square;

/// Directions: orthogonal, then diagonal. The index of the opposite direction is the index of the
/// direction XOR 1.
const DIRECTIONS: [(i8, i8); 8] =
    [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)];

struct Lines {
    between: [[Bitboard; 64]; 64],
    line: [[Bitboard; 64]; 64],
    straight: [Bitboard; 64],
    diagonal: [Bitboard; 64],
}

static LINES: Lines = Lines::build();

impl Lines {
    const fn build() -> Lines {
        let mut lines = Lines {
            between: [[Bitboard::EMPTY; 64]; 64],
            line: [[Bitboard::EMPTY; 64]; 64],
            straight: [Bitboard::EMPTY; 64],
            diagonal: [Bitboard::EMPTY; 64],
        };
        let mut from = 0;
        while from < 64 {
            let mut direction = 0;
            while direction < 8 {
                let line = ray(from, DIRECTIONS[direction]) | ray(from, DIRECTIONS[direction ^ 1]);
                let (files, ranks) = DIRECTIONS[direction];
                let mut passed = 0;
                let mut rest = ray(from, DIRECTIONS[direction]);
                if direction < 4 {
                    lines.straight[from].0 |= rest;
                } else {
                    lines.diagonal[from].0 |= rest;
                }
                let mut to = from as i8;
                while rest != 0 {
                    to += ranks * 8 + files;
                    lines.between[from][to as usize] = Bitboard(passed);
                    lines.line[from][to as usize] = Bitboard(line | 1 << from);
                    passed |= 1 << to;
                    rest &= !(1 << to);
                }
                direction += 1;
            }
            from += 1;
        }
        lines
    }
}

const fn ray(from: usize, (files, ranks): (i8, i8)) -> u64 {
    let mut set = 0;
    let mut file = (from % 8) as i8 + files;
    let mut rank = (from / 8) as i8 + ranks;
    while 0 <= file && file < 8 && 0 <= rank && rank < 8 {
        set |= 1 << (rank * 8 + file);
        file += files;
        rank += ranks;
    }
    set
}

/// Returns the squares strictly between two squares on one rank, file or diagonal; the empty set
/// for other pairs.
#[inline]
pub fn between(a: Square, b: Square) -> Bitboard {
    LINES.between[a.index()][b.index()]
}

/// Returns the whole rank, file or diagonal through two different squares; the empty set for other
/// pairs.
#[inline]
pub fn line(a: Square, b: Square) -> Bitboard {
    LINES.line[a.index()][b.index()]
}

/// Returns the squares that a rook on `square` attacks on an empty board.
#[inline]
pub(crate) fn straight_rays(square: Square) -> Bitboard {
    LINES.straight[square.index()]
}

/// Returns the squares that a bishop on `square` attacks on an empty board.
#[inline]
pub(crate) fn diagonal_rays(square: Square) -> Bitboard {
    LINES.diagonal[square.index()]
}
