//! Bishops, rooks and queens by table look-up.
//!
//! Each square owns a run of slots, one per arrangement of the pieces that can block it. The slot
//! is found with the PEXT instruction where the target has BMI2, and by multiplication elsewhere.

use std::sync::OnceLock;

use super::magics;
use super::rays::{diagonal_rays, straight_rays};
use crate::chess::bitboard::Bitboard;
use crate::chess::square::Square;

/// Sum over the squares of two to the number of relevant blockers: 102400 for rooks, 5248 for
/// bishops.
const SLOTS: usize = 107_648;

/// How one square finds its slots.
#[derive(Clone, Copy)]
struct Finder {
    mask: u64,
    magic: u64,
    shift: u32,
    base: u32,
}

struct Sliders {
    rook: [Finder; 64],
    bishop: [Finder; 64],
    attacks: Box<[Bitboard]>,
}

static SLIDERS: OnceLock<Sliders> = OnceLock::new();

impl Finder {
    #[cfg(target_feature = "bmi2")]
    #[inline]
    fn offset(&self, occupied: u64) -> usize {
        // SAFETY: compiled only for targets that have BMI2.
        unsafe { std::arch::x86_64::_pext_u64(occupied, self.mask) as usize }
    }

    #[cfg(not(target_feature = "bmi2"))]
    #[inline]
    fn offset(&self, occupied: u64) -> usize {
        ((occupied & self.mask).wrapping_mul(self.magic) >> self.shift) as usize
    }
}

impl Sliders {
    #[inline]
    fn look_up(&self, finder: &Finder, occupied: Bitboard) -> Bitboard {
        let slot = finder.base as usize + finder.offset(occupied.0);
        debug_assert!(slot < SLOTS);
        // SAFETY: `offset` yields fewer than two to the number of bits in the mask, either because
        // PEXT packs just those bits or because the shift leaves just so many; `build` laid out
        // that many slots from `base` and the table has SLOTS of them, the sum over all squares.
        unsafe { *self.attacks.get_unchecked(slot) }
    }

    fn build() -> Sliders {
        let unset = Finder { mask: 0, magic: 0, shift: 0, base: 0 };
        let mut sliders = Sliders {
            rook: [unset; 64],
            bishop: [unset; 64],
            attacks: vec![Bitboard::EMPTY; SLOTS].into_boxed_slice(),
        };
        let mut base = 0;
        for square in Square::all() {
            let magic = magics::ROOK[square.index()];
            let (finder, next) = fill(&mut sliders.attacks, square, base, magic, false);
            sliders.rook[square.index()] = finder;
            base = next;
        }
        for square in Square::all() {
            let magic = magics::BISHOP[square.index()];
            let (finder, next) = fill(&mut sliders.attacks, square, base, magic, true);
            sliders.bishop[square.index()] = finder;
            base = next;
        }
        assert_eq!(base, SLOTS, "the slots of all squares make up the table");
        sliders
    }
}

/// Fills the slots of one square and returns its finder and the first slot after them.
fn fill(
    attacks: &mut [Bitboard],
    square: Square,
    base: usize,
    magic: u64,
    diagonal: bool,
) -> (Finder, usize) {
    let mask = relevant(square, diagonal).0;
    let bits = mask.count_ones();
    let finder = Finder { mask, magic, shift: 64 - bits, base: base as u32 };
    let mut occupied = 0u64;
    loop {
        let reach = walk(square, Bitboard(occupied), diagonal);
        let slot = &mut attacks[base + finder.offset(occupied)];
        assert!(slot.is_empty() || *slot == reach, "two arrangements share a slot of {square}");
        *slot = reach;
        // Carry-rippler: the next subset of the mask.
        occupied = occupied.wrapping_sub(mask) & mask;
        if occupied == 0 {
            break;
        }
    }
    (finder, base + (1 << bits))
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

#[inline]
fn sliders() -> &'static Sliders {
    SLIDERS.get_or_init(Sliders::build)
}

/// Squares a rook attacks on a board occupied like this.
#[inline]
pub fn rook(square: Square, occupied: Bitboard) -> Bitboard {
    let sliders = sliders();
    sliders.look_up(&sliders.rook[square.index()], occupied)
}

/// Squares a bishop attacks on a board occupied like this.
#[inline]
pub fn bishop(square: Square, occupied: Bitboard) -> Bitboard {
    let sliders = sliders();
    sliders.look_up(&sliders.bishop[square.index()], occupied)
}

/// Squares a queen attacks on a board occupied like this.
#[inline]
pub fn queen(square: Square, occupied: Bitboard) -> Bitboard {
    rook(square, occupied) | bishop(square, occupied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_up_agrees_with_walking() {
        let mut state = 0x2545_F491_4F6C_DD1Du64;
        for _ in 0..2_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let occupied = Bitboard(state & state.rotate_left(23));
            for square in Square::all() {
                assert_eq!(rook(square, occupied), walk(square, occupied, false));
                assert_eq!(bishop(square, occupied), walk(square, occupied, true));
            }
        }
    }
}
