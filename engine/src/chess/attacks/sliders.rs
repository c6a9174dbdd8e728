//! Bishops, rooks and queens by table look-up.
//!
//! Each square owns a run of slots, one per arrangement of the pieces that can block it. The slot
//! is found with the PEXT instruction on machines that have it, and by multiplication elsewhere;
//! the two order the slots differently, so each has a table of its own, built on first use.

use std::sync::OnceLock;

use super::magics;
use super::rays::{diagonal_rays, straight_rays};
use crate::chess::bitboard::Bitboard;
use crate::chess::square::Square;

/// Sum over the squares of two to the number of relevant blockers: 102400 for rooks, 5248 for
/// bishops.
const SLOTS: usize = 107_648;

/// How one square finds its slots.
///
/// # Safety
///
/// The type is made of integers only.
pub(super) unsafe trait Slots: Copy + 'static {
    /// Slots from `base` for the occupancies of the squares in `mask`.
    fn new(mask: u64, magic: u64, base: u32) -> Self;

    /// The slot of a board occupied like this; from `base` on, fewer than two to the number of
    /// squares in the mask.
    fn slot(&self, occupied: u64) -> usize;

    /// The tables, built when first asked for.
    fn tables() -> &'static Tables<Self>;
}

/// Slots found by multiplication.
#[derive(Clone, Copy)]
pub(super) struct Magic {
    mask: u64,
    magic: u64,
    shift: u32,
    base: u32,
}

// SAFETY: the fields are integers.
unsafe impl Slots for Magic {
    fn new(mask: u64, magic: u64, base: u32) -> Magic {
        Magic { mask, magic, shift: 64 - mask.count_ones(), base }
    }

    #[inline(always)]
    fn slot(&self, occupied: u64) -> usize {
        let product = (occupied & self.mask).wrapping_mul(self.magic);
        // At least five squares matter, so the shift is below 64.
        self.base as usize + (product >> (self.shift & 63)) as usize
    }

    #[inline]
    fn tables() -> &'static Tables<Magic> {
        static TABLES: OnceLock<Box<Tables<Magic>>> = OnceLock::new();
        TABLES.get_or_init(Tables::build)
    }
}

/// Slots found by PEXT. Values exist only where the CPU has it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Packed {
    mask: u64,
    base: u32,
}

// SAFETY: the fields are integers.
#[cfg(target_arch = "x86_64")]
unsafe impl Slots for Packed {
    fn new(mask: u64, _magic: u64, base: u32) -> Packed {
        assert!(is_x86_feature_detected!("bmi2"));
        Packed { mask, base }
    }

    #[inline(always)]
    fn slot(&self, occupied: u64) -> usize {
        // SAFETY: `new` has seen that the CPU has BMI2.
        let offset = unsafe { std::arch::x86_64::_pext_u64(occupied, self.mask) };
        self.base as usize + offset as usize
    }

    #[inline]
    fn tables() -> &'static Tables<Packed> {
        static TABLES: OnceLock<Box<Tables<Packed>>> = OnceLock::new();
        TABLES.get_or_init(Tables::build)
    }
}

/// The attacks of all sliders from all squares.
pub(super) struct Tables<S> {
    rook: [S; 64],
    bishop: [S; 64],
    /// In place, so that one address leads to all of it.
    attacks: [Bitboard; SLOTS],
}

impl<S: Slots> Tables<S> {
    #[inline(always)]
    pub(super) fn rook(&self, square: Square, occupied: Bitboard) -> Bitboard {
        self.look_up(&self.rook[square.index()], occupied)
    }

    #[inline(always)]
    pub(super) fn bishop(&self, square: Square, occupied: Bitboard) -> Bitboard {
        self.look_up(&self.bishop[square.index()], occupied)
    }

    #[inline(always)]
    fn look_up(&self, slots: &S, occupied: Bitboard) -> Bitboard {
        let slot = slots.slot(occupied.0);
        debug_assert!(slot < SLOTS);
        // SAFETY: `slot` yields fewer than two to the number of squares in the mask, counted from
        // `base`; `build` laid out that many slots from there, and the table has SLOTS of them,
        // the sum over all squares.
        unsafe { *self.attacks.get_unchecked(slot) }
    }

    /// Builds them where they stay: they are too large for the stack of a thread.
    fn build() -> Box<Tables<S>> {
        // SAFETY: all fields are integers, or structs of integers as `Slots` demands, and zero is a
        // value of each.
        let mut tables = unsafe { Box::<Tables<S>>::new_zeroed().assume_init() };
        let mut base = 0;
        for square in Square::all() {
            let magic = magics::ROOK[square.index()];
            (tables.rook[square.index()], base) =
                fill(&mut tables.attacks, square, base, magic, false);
        }
        for square in Square::all() {
            let magic = magics::BISHOP[square.index()];
            (tables.bishop[square.index()], base) =
                fill(&mut tables.attacks, square, base, magic, true);
        }
        assert_eq!(base, SLOTS, "the slots of all squares make up the table");
        tables
    }
}

/// Fills the slots of one square and returns how to find them and the first slot after them.
fn fill<S: Slots>(
    attacks: &mut [Bitboard; SLOTS],
    square: Square,
    base: usize,
    magic: u64,
    diagonal: bool,
) -> (S, usize) {
    let mask = relevant(square, diagonal).0;
    let slots = S::new(mask, magic, base as u32);
    let mut occupied = 0u64;
    loop {
        let reach = walk(square, Bitboard(occupied), diagonal);
        let slot = &mut attacks[slots.slot(occupied)];
        assert!(slot.is_empty() || *slot == reach, "two arrangements share a slot of {square}");
        *slot = reach;
        // Carry-rippler: the next subset of the mask.
        occupied = occupied.wrapping_sub(mask) & mask;
        if occupied == 0 {
            break;
        }
    }
    (slots, base + (1 << mask.count_ones()))
}

/// The squares whose occupancy matters: the rays without their last square.
fn relevant(square: Square, diagonal: bool) -> Bitboard {
    let rank_edges = (Bitboard::rank(0) | Bitboard::rank(7)) - Bitboard::rank(square.rank());
    let file_edges = (Bitboard::file(0) | Bitboard::file(7)) - Bitboard::file(square.file());
    let rays = if diagonal { diagonal_rays(square) } else { straight_rays(square) };
    rays - rank_edges - file_edges
}

/// Attacks found by walking the rays: the definition the table must agree with.
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
            let here = Bitboard::of(Square::at(file as u8, rank as u8));
            reach |= here;
            if (occupied & here).any() {
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

/// Squares a rook attacks on a board occupied like this.
#[inline]
pub fn rook(square: Square, occupied: Bitboard) -> Bitboard {
    Native::tables().rook(square, occupied)
}

/// Squares a bishop attacks on a board occupied like this.
#[inline]
pub fn bishop(square: Square, occupied: Bitboard) -> Bitboard {
    Native::tables().bishop(square, occupied)
}

/// Squares a queen attacks on a board occupied like this.
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
