//! Zobrist numbers: random 64-bit numbers whose XOR is the key of a position.

use super::color::Color;
use super::piece::Kind;
use super::square::Square;

struct Words {
    placement: [[[u64; 64]; 6]; 2],
    castling: [u64; 64],
    en_passant: [u64; 8],
    black_to_move: u64,
}

static WORDS: Words = Words::generate();

impl Words {
    /// Generates the numbers with SplitMix64 (Steele, Lea and Flood 2014) from a fixed seed, so
    /// that every build has the same keys.
    const fn generate() -> Words {
        let mut words = Words {
            placement: [[[0; 64]; 6]; 2],
            castling: [0; 64],
            en_passant: [0; 8],
            black_to_move: 0,
        };
        // The seed is "palimpse" in ASCII.
        let mut state = 0x7061_6C69_6D70_7365;
        let mut color = 0;
        while color < 2 {
            let mut kind = 0;
            while kind < 6 {
                let mut square = 0;
                while square < 64 {
                    (state, words.placement[color][kind][square]) = split_mix(state);
                    square += 1;
                }
                kind += 1;
            }
            color += 1;
        }
        let mut square = 0;
        while square < 64 {
            (state, words.castling[square]) = split_mix(state);
            square += 1;
        }
        let mut file = 0;
        while file < 8 {
            (state, words.en_passant[file]) = split_mix(state);
            file += 1;
        }
        (_, words.black_to_move) = split_mix(state);
        words
    }
}

const fn split_mix(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut word = state;
    word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (state, word ^ word >> 31)
}

/// Returns the Zobrist number of a piece on a square.
#[inline]
pub(crate) fn placement(color: Color, kind: Kind, square: Square) -> u64 {
    WORDS.placement[color.index()][kind.index()][square.index()]
}

/// Returns the Zobrist number of a rook that may still castle.
#[inline]
pub(crate) fn castling(rook: Square) -> u64 {
    WORDS.castling[rook.index()]
}

/// Returns the Zobrist number of an en-passant square, which depends only on the file.
#[inline]
pub(crate) fn en_passant(square: Square) -> u64 {
    WORDS.en_passant[square.file() as usize]
}

/// Returns the Zobrist number for Black to move.
#[inline]
pub(crate) fn black_to_move() -> u64 {
    WORDS.black_to_move
}
