//! Feature levels of x86-64 CPUs.

use std::arch::x86_64::{
    __cpuid, _mm512_loadu_si512, _mm512_mask_blend_epi16, _mm512_mask_compress_epi16,
    _mm512_or_si512, _mm512_set1_epi16, _mm512_storeu_si512,
};

use super::{Cpu, Job, MoveTemplate};
use crate::chess::attacks::sliders::{Magic, Packed, Slots, Tables};
use crate::chess::bitboard::Bitboard;
use crate::chess::moves::{BATCH_MAX, Move};
use crate::chess::square::Square;

fn has_popcnt() -> bool {
    is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("lzcnt")
}

pub(super) fn is_amd_before_zen_3() -> bool {
    let vendor = __cpuid(0);
    let signature = __cpuid(1).eax;
    let family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
    // The vendor names are "AuthenticAMD" and "HygonGenuine"; Hygon's CPUs have the Zen 1 design.
    let amd = vendor.ebx == u32::from_le_bytes(*b"Auth");
    let hygon = vendor.ebx == u32::from_le_bytes(*b"Hygo");
    (amd || hygon) && family < 0x19
}

/// A CPU with POPCNT, LZCNT and BMI1.
#[derive(Clone, Copy)]
pub(super) struct Popcnt(&'static Tables<Magic>);

impl Popcnt {
    /// Returns the CPU; `None` if the CPU lacks one of the features.
    pub(super) fn new() -> Option<Popcnt> {
        let has_all = has_popcnt();
        has_all.then(|| Popcnt(Magic::tables()))
    }
}

impl Cpu for Popcnt {
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.0.rook(square, occupied)
    }

    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.0.bishop(square, occupied)
    }

    #[inline(always)]
    fn run<J: Job>(self, job: J) -> J::Output {
        // SAFETY: `new` has checked that the CPU has these instructions.
        unsafe { run_popcnt(self, job) }
    }
}

#[target_feature(enable = "popcnt,lzcnt,bmi1")]
#[inline(never)]
fn run_popcnt<J: Job>(cpu: Popcnt, job: J) -> J::Output {
    job.run(cpu)
}

/// A CPU with the features of [`Popcnt`], and with BMI2 and AVX2.
#[derive(Clone, Copy)]
pub(super) struct Pext(&'static Tables<Packed>);

impl Pext {
    /// Returns the CPU; `None` if the CPU lacks one of the features.
    pub(super) fn new() -> Option<Pext> {
        let has_all =
            has_popcnt() && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("avx2");
        has_all.then(|| Pext(Packed::tables()))
    }
}

impl Cpu for Pext {
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.0.rook(square, occupied)
    }

    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.0.bishop(square, occupied)
    }

    #[inline(always)]
    fn run<J: Job>(self, job: J) -> J::Output {
        // SAFETY: `new` has checked that the CPU has these instructions.
        unsafe { run_pext(self, job) }
    }
}

#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
#[inline(never)]
fn run_pext<J: Job>(cpu: Pext, job: J) -> J::Output {
    job.run(cpu)
}

/// A CPU with the features of [`Pext`], and with the AVX-512 extensions for compressing 16-bit
/// words.
#[derive(Clone, Copy)]
pub(super) struct Avx512(pub(super) Pext);

impl Avx512 {
    /// Returns the CPU; `None` if the CPU lacks one of the features.
    pub(super) fn new() -> Option<Avx512> {
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi2");
        Pext::new().filter(|_| has_all).map(Avx512)
    }
}

impl Cpu for Avx512 {
    #[inline(always)]
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.0.rook(square, occupied)
    }

    #[inline(always)]
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard {
        self.0.bishop(square, occupied)
    }

    #[inline(always)]
    fn write_moves(self, template: MoveTemplate, targets: Bitboard, out: &mut [Move; BATCH_MAX]) {
        // SAFETY: `new` has checked that the CPU has these instructions.
        unsafe { pick_moves(template, targets, out) }
    }

    #[inline(always)]
    fn run<J: Job>(self, job: J) -> J::Output {
        // SAFETY: `new` has checked that the CPU has these instructions.
        unsafe { run_avx512(self, job) }
    }
}

/// Implements [`Cpu::write_moves`] without a loop over the targets, because the CPU could not
/// predict the end of such a loop. For each half of the board, the encoded moves to all 32 squares
/// are loaded, and the moves to targets are compressed.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
#[inline]
fn pick_moves(template: MoveTemplate, targets: Bitboard, out: &mut [Move; BATCH_MAX]) {
    let [quiet, capture] = template.base_moves().map(|base| _mm512_set1_epi16(base.bits() as i16));
    let mut place = out.as_mut_ptr();
    for (half, square_bits) in template.square_bits().as_chunks::<32>().0.iter().enumerate() {
        let half_mask = |set: Bitboard| (set.0 >> (32 * half)) as u32;
        // SAFETY: `square_bits` has 64 bytes, and the instruction allows unaligned loads.
        let square_bits = unsafe { _mm512_loadu_si512(square_bits.as_ptr().cast()) };
        let moves = _mm512_or_si512(
            square_bits,
            _mm512_mask_blend_epi16(half_mask(template.taken), quiet, capture),
        );
        // All 32 words are written, including the words after the moves. The words after the moves
        // also have the type `Move`, so all 32 words must be valid moves.
        let moves = _mm512_mask_compress_epi16(quiet, half_mask(targets), moves);
        // SAFETY: a move is one word. The 32 words are written to the first half of `out`, or after
        // at most 32 moves of the first half of the board. No word is zero, because `quiet` is not
        // zero.
        unsafe { _mm512_storeu_si512(place.cast(), moves) };
        // SAFETY: each half of the board advances `place` by at most 32 of the 64 moves.
        place = unsafe { place.add(half_mask(targets).count_ones() as usize) };
    }
}

#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx512f,avx512bw,avx512vbmi2")]
#[inline(never)]
fn run_avx512<J: Job>(cpu: Avx512, job: J) -> J::Output {
    job.run(cpu)
}
