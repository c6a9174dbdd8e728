//! Attacks of bishops, rooks and queens, by table lookup.
//!
//! Each square has a range of slots, with one slot for each set of relevant blockers. The slot is
//! found with the PEXT instruction or by magic multiplication, depending on the CPU. The two
//! methods order the slots differently, so each method has a separate table, built on first use.

#![expect(clippy::disallowed_types, reason = "tables of the rules, too large for const")]

use std::sync::OnceLock;

use super::magics;
use super::rays::{diagonal_rays, straight_rays};
use crate::chess::bitboard::Bitboard;
use crate::chess::square::Square;

/// Number of slots: the sum of 2^n over all squares, where n is the number of relevant squares;
/// 102,400 for rooks and 5,248 for bishops.
const SLOTS: usize = 107_648;

/// Method that finds the slot for a square and a set of blockers. Each property of the squares has
/// a separate array, because the CPU can use an element of eight bytes directly as an operand.
///
/// # Safety
///
/// Implementing types must consist of integers only.
pub(super) unsafe trait Slots: 'static {
    /// Assigns the slots that begin at `base` to a square, one slot for each subset of `mask`.
    fn lay_out(&mut self, square: Square, mask: u64, magic: u64, base: usize);

    /// Returns the slot for `square` and the occupied squares. The slot is the square's `base` plus
    /// a number below 2^n, where n is the number of squares in the square's mask.
    fn slot(&self, square: Square, occupied: u64) -> usize;

    /// Returns the tables, which are built on the first call.
    fn tables() -> &'static Tables<Self>
    where
        Self: Sized;
}

/// Slots found by magic multiplication.
pub(super) struct Magic {
    mask: [u64; 64],
    magic: [u64; 64],
    shift: [u64; 64],
    base: [usize; 64],
}

// SAFETY: the fields are integers.
unsafe impl Slots for Magic {
    fn lay_out(&mut self, square: Square, mask: u64, magic: u64, base: usize) {
        let index = square.index();
        self.mask[index] = mask;
        self.magic[index] = magic;
        self.shift[index] = u64::from(64 - mask.count_ones());
        self.base[index] = base;
    }

    #[inline(always)]
    fn slot(&self, square: Square, occupied: u64) -> usize {
        let index = square.index();
        let product = (occupied & self.mask[index]).wrapping_mul(self.magic[index]);
        // At least five squares are relevant, so the shift is below 64.
        self.base[index] + (product >> (self.shift[index] & 63)) as usize
    }

    #[inline]
    fn tables() -> &'static Tables<Magic> {
        static TABLES: OnceLock<Box<Tables<Magic>>> = OnceLock::new();
        TABLES.get_or_init(Tables::build)
    }
}

/// Slots found by the PEXT instruction. Used only on CPUs with this instruction.
#[cfg(target_arch = "x86_64")]
pub(super) struct Packed {
    mask: [u64; 64],
    base: [usize; 64],
}

// SAFETY: the fields are integers.
#[cfg(target_arch = "x86_64")]
unsafe impl Slots for Packed {
    fn lay_out(&mut self, square: Square, mask: u64, _magic: u64, base: usize) {
        assert!(is_x86_feature_detected!("bmi2"));
        self.mask[square.index()] = mask;
        self.base[square.index()] = base;
    }

    #[inline(always)]
    fn slot(&self, square: Square, occupied: u64) -> usize {
        // SAFETY: every value belongs to tables that `build` has filled, and `lay_out` has checked
        // that the CPU has BMI2.
        let offset = unsafe { std::arch::x86_64::_pext_u64(occupied, self.mask[square.index()]) };
        self.base[square.index()] + offset as usize
    }

    #[inline]
    fn tables() -> &'static Tables<Packed> {
        static TABLES: OnceLock<Box<Tables<Packed>>> = OnceLock::new();
        TABLES.get_or_init(Tables::build)
    }
}

/// The attacks of all sliders from all squares.
pub(super) struct Tables<S> {
    rook: S,
    bishop: S,
    /// Attacked squares by slot. The array is stored inline, so that one address reaches the whole
    /// struct.
    attacks: [Bitboard; SLOTS],
}

impl<S: Slots> Tables<S> {
    #[inline(always)]
    pub(super) fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        self.look_up(self.rook.slot(square, occupied.0))
    }

    #[inline(always)]
    pub(super) fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        self.look_up(self.bishop.slot(square, occupied.0))
    }

    #[inline(always)]
    fn look_up(&self, slot: usize) -> Bitboard {
        debug_assert!(slot < SLOTS);
        // SAFETY: `Slots::slot` returns the square's `base` plus a number below 2^n, where n is the
        // number of squares in the mask. `build` laid out 2^n slots beginning at `base`, and
        // `SLOTS` is the sum of 2^n over all squares.
        unsafe { *self.attacks.get_unchecked(slot) }
    }

    /// Builds the tables on the heap, because the tables are too large for the stack of a thread.
    fn build() -> Box<Tables<S>> {
        // SAFETY: all fields are integers, or structs of integers as `Slots` requires, and zero is
        // valid for each.
        let mut tables = unsafe { Box::<Tables<S>>::new_zeroed().assume_init() };
        let Tables { rook, bishop, attacks } = &mut *tables;
        let mut base = 0;
        for square in Square::all() {
            base = fill(rook, attacks, square, base, false);
        }
        for square in Square::all() {
            base = fill(bishop, attacks, square, base, true);
        }
        assert_eq!(base, SLOTS, "the slots of all squares make up the table");
        tables
    }
}

/// Lays out and fills the slots of one square, and returns the first slot of the next square.
fn fill<S: Slots>(
    slots: &mut S,
    attacks: &mut [Bitboard; SLOTS],
    square: Square,
    base: usize,
    diagonal: bool,
) -> usize {
    let mask = relevant(square, diagonal).0;
    let magics = if diagonal { &magics::BISHOP } else { &magics::ROOK };
    slots.lay_out(square, mask, magics[square.index()], base);
    let mut occupied = 0u64;
    loop {
        let reach = walk(square, Bitboard(occupied), diagonal);
        let slot = &mut attacks[slots.slot(square, occupied)];
        assert!(slot.is_empty() || *slot == reach, "two arrangements share a slot of {square}");
        *slot = reach;
        // The carry-rippler trick: the subtraction gives the next subset of the mask.
        occupied = occupied.wrapping_sub(mask) & mask;
        if occupied == 0 {
            break;
        }
    }
    base + (1 << mask.count_ones())
}

/// Returns the squares whose occupancy matters: the rays without the last square of each ray.
fn relevant(square: Square, diagonal: bool) -> Bitboard {
    let rank_edges = (Bitboard::rank(0) | Bitboard::rank(7)) - Bitboard::rank(square.rank());
    let file_edges = (Bitboard::file(0) | Bitboard::file(7)) - Bitboard::file(square.file());
    let rays = if diagonal { diagonal_rays(square) } else { straight_rays(square) };
    rays - rank_edges - file_edges
}

/// Computes the attacks by walking along the rays. The tables must contain the same attacks.
fn walk(square: Square, occupied: Bitboard, diagonal: bool) -> Bitboard {
    const STRAIGHT: [(i8, i8); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
    const DIAGONAL: [(i8, i8); 4] = [(1, 1), (-1, 1), (1, -1), (-1, -1)];
    let mut reach = Bitboard::EMPTY;
    for (files, ranks) in if diagonal { DIAGONAL } else { STRAIGHT } {
        let (mut file, mut rank) = (square.file() as i8, square.rank() as i8);
        loop {
            file += files;
            rank += ranks;
            if !(0..8).contains(&file) || !(0..8).contains(&rank) {
                break;
            }
            let square_set = Bitboard::of(Square::at(file as u8, rank as u8));
            reach |= square_set;
            if (occupied & square_set).any() {
                break;
            }
        }
    }
    reach
}

#[cfg(target_feature = "bmi2")]
type Native = Packed;

#[cfg(not(target_feature = "bmi2"))]
type Native = Magic;

/// Returns the squares that a rook on `square` attacks; pieces on `occupied` block the rook.
#[inline]
pub fn rook(square: Square, occupied: Bitboard) -> Bitboard {
    Native::tables().rook(square, occupied)
}

/// Returns the squares that a bishop on `square` attacks; pieces on `occupied` block the bishop.
#[inline]
pub fn bishop(square: Square, occupied: Bitboard) -> Bitboard {
    Native::tables().bishop(square, occupied)
}

/// Returns the squares that a queen on `square` attacks; pieces on `occupied` block the queen.
#[inline]
pub fn queen(square: Square, occupied: Bitboard) -> Bitboard {
    rook(square, occupied) | bishop(square, occupied)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_up_agrees_with_walking<S: Slots>() {
        let mut state = 0x2545_F491_4F6C_DD1Du64;
        for _ in 0..2_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let occupied = Bitboard(state & state.rotate_left(23));
            for square in Square::all() {
                let tables = S::tables();
                assert_eq!(tables.rook(square, occupied), walk(square, occupied, false));
                assert_eq!(tables.bishop(square, occupied), walk(square, occupied, true));
            }
        }
    }

    #[test]
    fn multiplication_finds_the_attacks() {
        look_up_agrees_with_walking::<Magic>();
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn pext_finds_the_attacks() {
        if is_x86_feature_detected!("bmi2") {
            look_up_agrees_with_walking::<Packed>();
        }
    }
}
