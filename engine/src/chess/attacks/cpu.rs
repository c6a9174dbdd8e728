//! Detection of CPU features, and code compiled for each set of features.
//!
//! The program is built for any x86-64 CPU, but also uses the instructions of newer CPUs. Code that
//! profits from such instructions is written once as a [`Job`], generic over the [`Cpu`], and
//! compiled for each set of features. [`Machine::run`] runs the copy for the machine's level. Only
//! code that is inlined into a job is compiled for a set of features, so the functions that a job
//! calls are marked `#[inline(always)]`. A recursive job calls itself through [`Cpu::run`].

#![expect(clippy::disallowed_types, reason = "the processor is asked once")]

use std::sync::OnceLock;

use super::move_template::MoveTemplate;
use super::sliders::{Magic, Slots, Tables};
use crate::chess::bitboard::Bitboard;
use crate::chess::moves::{BATCH_MAX, Move};
use crate::chess::square::Square;

/// A set of CPU features. A value of this type proves that the CPU has the features.
pub trait Cpu: Copy + Send + Sync {
    /// Returns the squares that a rook on `square` attacks; pieces on `occupied` block the rook.
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard;

    /// Returns the squares that a bishop on `square` attacks; pieces on `occupied` block the
    /// bishop.
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard;

    /// Writes to `out` the moves whose destinations are in `targets`, in ascending order of
    /// destination. `targets` has at most 32 squares, because no piece and no set of pawns has more
    /// moves. The elements of `out` after the last move have unspecified values.
    #[inline(always)]
    fn write_moves(self, template: MoveTemplate, targets: Bitboard, out: &mut [Move; BATCH_MAX]) {
        template.write(targets, out);
    }

    /// Runs a job in code compiled for this CPU.
    fn run<J: Job>(self, job: J) -> J::Output;
}

/// Work that is compiled for each set of CPU features.
pub trait Job {
    /// Result of the job.
    type Output;

    /// Runs the job. Implementations must be marked `#[inline(always)]`.
    fn run<C: Cpu>(self, cpu: C) -> Self::Output;
}

/// Set of CPU instructions that the program uses. The results are the same at all levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Slider attacks by magic bitboards, with only the instructions that every CPU of the target
    /// architecture has.
    Plain,
    /// Like `Plain`, but counts and scans bits in one instruction.
    Popcnt,
    /// Like `Popcnt`, but computes slider attacks with the PEXT instruction.
    Pext,
    /// Like `Pext`, but writes up to 32 moves in one instruction.
    Avx512,
}

impl Level {
    /// All levels, slowest first.
    pub const ALL: [Level; 4] = [Level::Plain, Level::Popcnt, Level::Pext, Level::Avx512];

    /// Returns the level's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Plain => "plain",
            Level::Popcnt => "popcnt",
            Level::Pext => "pext",
            Level::Avx512 => "avx512",
        }
    }
}

/// The CPU of this machine, used at one [`Level`].
#[derive(Clone, Copy)]
pub struct Machine(DetectedCpu);

#[derive(Clone, Copy)]
enum DetectedCpu {
    Plain(Plain),
    #[cfg(target_arch = "x86_64")]
    Popcnt(x86::Popcnt),
    #[cfg(target_arch = "x86_64")]
    Pext(x86::Pext),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
}

impl Machine {
    /// Returns the CPU at the fastest level, which is detected on the first call.
    #[inline]
    pub fn best() -> Machine {
        static BEST: OnceLock<Machine> = OnceLock::new();
        *BEST.get_or_init(|| {
            let without_pext = [Level::Plain, Level::Popcnt];
            let usable = |level: &Level| without_pext.contains(level) || !pext_is_slow();
            let levels = Level::ALL.into_iter().rev().filter(usable);
            levels.flat_map(Machine::at).next().expect("every CPU has the plain level")
        })
    }

    /// Returns the CPU at `level`; `None` if the CPU lacks a feature of the level.
    pub fn at(level: Level) -> Option<Machine> {
        match level {
            Level::Plain => Some(Machine(DetectedCpu::Plain(Plain(Magic::tables())))),
            #[cfg(target_arch = "x86_64")]
            Level::Popcnt => x86::Popcnt::new().map(|cpu| Machine(DetectedCpu::Popcnt(cpu))),
            #[cfg(target_arch = "x86_64")]
            Level::Pext => x86::Pext::new().map(|cpu| Machine(DetectedCpu::Pext(cpu))),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => x86::Avx512::new().map(|cpu| Machine(DetectedCpu::Avx512(cpu))),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Popcnt | Level::Pext | Level::Avx512 => None,
        }
    }

    /// Returns the level in use.
    pub fn level(self) -> Level {
        match self.0 {
            DetectedCpu::Plain(_) => Level::Plain,
            #[cfg(target_arch = "x86_64")]
            DetectedCpu::Popcnt(_) => Level::Popcnt,
            #[cfg(target_arch = "x86_64")]
            DetectedCpu::Pext(_) => Level::Pext,
            #[cfg(target_arch = "x86_64")]
            DetectedCpu::Avx512(_) => Level::Avx512,
        }
    }

    /// Runs a job in code compiled for this level.
    #[inline]
    pub fn run<J: Job>(self, job: J) -> J::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            DetectedCpu::Avx512(cpu) => cpu.run(job),
            _ => self.run_without_lists(job),
        }
    }

    /// Runs a job that writes no moves. AVX-512 speeds up only the writing of moves, so a copy of
    /// the job for AVX-512 would cost compile time without a benefit.
    #[inline]
    pub fn run_without_lists<J: Job>(self, job: J) -> J::Output {
        match self.0 {
            DetectedCpu::Plain(cpu) => cpu.run(job),
            #[cfg(target_arch = "x86_64")]
            DetectedCpu::Popcnt(cpu) => cpu.run(job),
            #[cfg(target_arch = "x86_64")]
            DetectedCpu::Pext(cpu) | DetectedCpu::Avx512(x86::Avx512(cpu)) => cpu.run(job),
        }
    }
}

/// Any CPU, without optional features.
#[derive(Clone, Copy)]
pub(crate) struct Plain(&'static Tables<Magic>);

impl Cpu for Plain {
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
        run_plain(self, job)
    }
}

/// Runs a job in a separate function, as the other levels do, because jobs that call each other
/// cannot be inlined.
#[inline(never)]
fn run_plain<J: Job>(cpu: Plain, job: J) -> J::Output {
    job.run(cpu)
}

/// Returns whether to avoid PEXT, which takes a hundred cycles or more on AMD CPUs before Zen 3.
fn pext_is_slow() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        x86::is_amd_before_zen_3()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        true
    }
}

#[cfg(target_arch = "x86_64")]
mod x86;
