//! Which instructions the machine at hand has, and code compiled for them.
//!
//! The program is built for any x86-64 and yet uses what a newer CPU offers: work that pays for it
//! is written once as a [`Job`], generic over the [`Cpu`], and compiled for each of them.
//! [`Machine::run`] enters the right copy. Only what is inlined into a job is
//! compiled along with it, which is why its parts are marked `#[inline(always)]`; a job that calls
//! itself does so by [`Cpu::run`].

use std::sync::OnceLock;

use super::sliders::{Magic, Slots, Tables};
use crate::chess::bitboard::Bitboard;
use crate::chess::square::Square;

/// A kind of machine. A value is the proof that the program runs on one of that kind.
pub trait Cpu: Copy + Send + Sync {
    /// Squares a rook attacks on a board occupied like this.
    fn rook(self, square: Square, occupied: Bitboard) -> Bitboard;

    /// Squares a bishop attacks on a board occupied like this.
    fn bishop(self, square: Square, occupied: Bitboard) -> Bitboard;

    /// Does the job in code compiled for this machine.
    fn run<J: Job>(self, job: J) -> J::Output;
}

/// Something worth compiling for each kind of machine.
pub trait Job {
    /// What comes out of it.
    type Output;

    /// Does it. To be marked `#[inline(always)]`.
    fn run<C: Cpu>(self, cpu: C) -> Self::Output;
}

/// How the program uses the machine. Each gives the same results as the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Slider attacks by multiplication, nothing but what every x86-64 (or other) CPU has.
    Plain,
    /// Slider attacks by multiplication; counts and scans bits in one instruction.
    Popcnt,
    /// Slider attacks by the PEXT instruction as well.
    Pext,
}

impl Level {
    /// All levels, slowest first.
    pub const ALL: [Level; 3] = [Level::Plain, Level::Popcnt, Level::Pext];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Plain => "plain",
            Level::Popcnt => "popcnt",
            Level::Pext => "pext",
        }
    }
}

/// The machine at hand, used at one level.
#[derive(Clone, Copy)]
pub struct Machine(Proof);

#[derive(Clone, Copy)]
enum Proof {
    Plain(Plain),
    #[cfg(target_arch = "x86_64")]
    Popcnt(x86::Popcnt),
    #[cfg(target_arch = "x86_64")]
    Pext(x86::Pext),
}

impl Machine {
    /// The machine at its fastest, found out once.
    #[inline]
    pub fn best() -> Machine {
        static BEST: OnceLock<Machine> = OnceLock::new();
        *BEST.get_or_init(|| {
            let usable = |level: &Level| *level != Level::Pext || !pext_is_slow();
            let levels = Level::ALL.into_iter().rev().filter(usable);
            levels.flat_map(Machine::at).next().expect("every machine is a plain one")
        })
    }

    /// The machine used at this level; `None` if it cannot.
    pub fn at(level: Level) -> Option<Machine> {
        match level {
            Level::Plain => Some(Machine(Proof::Plain(Plain(Magic::tables())))),
            #[cfg(target_arch = "x86_64")]
            Level::Popcnt => x86::Popcnt::new().map(|cpu| Machine(Proof::Popcnt(cpu))),
            #[cfg(target_arch = "x86_64")]
            Level::Pext => x86::Pext::new().map(|cpu| Machine(Proof::Pext(cpu))),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Popcnt | Level::Pext => None,
        }
    }

    /// The level it is used at.
    pub fn level(self) -> Level {
        match self.0 {
            Proof::Plain(_) => Level::Plain,
            #[cfg(target_arch = "x86_64")]
            Proof::Popcnt(_) => Level::Popcnt,
            #[cfg(target_arch = "x86_64")]
            Proof::Pext(_) => Level::Pext,
        }
    }

    /// Does a job in code compiled for the machine.
    #[inline]
    pub fn run<J: Job>(self, job: J) -> J::Output {
        match self.0 {
            Proof::Plain(cpu) => cpu.run(job),
            #[cfg(target_arch = "x86_64")]
            Proof::Popcnt(cpu) => cpu.run(job),
            #[cfg(target_arch = "x86_64")]
            Proof::Pext(cpu) => cpu.run(job),
        }
    }
}

/// Any machine.
#[derive(Clone, Copy)]
pub struct Plain(&'static Tables<Magic>);

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

/// A function of its own, as for the other machines: jobs that run each other cannot be inlined.
#[inline(never)]
fn run_plain<J: Job>(cpu: Plain, job: J) -> J::Output {
    job.run(cpu)
}

/// AMD's CPUs before Zen 3 have PEXT but take a hundred cycles and more for it.
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
mod x86 {
    use std::arch::x86_64::__cpuid;

    use super::{Cpu, Job};
    use crate::chess::attacks::sliders::{Magic, Packed, Slots, Tables};
    use crate::chess::bitboard::Bitboard;
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
        let amd = vendor.ebx == u32::from_le_bytes(*b"Auth");
        let hygon = vendor.ebx == u32::from_le_bytes(*b"Hygo");
        (amd || hygon) && family < 0x19
    }

    /// A machine with POPCNT, LZCNT and BMI1.
    #[derive(Clone, Copy)]
    pub(super) struct Popcnt(&'static Tables<Magic>);

    impl Popcnt {
        /// `None` if the machine lacks one of them.
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
            // SAFETY: `new` has seen that the machine has these instructions.
            unsafe { run_popcnt(self, job) }
        }
    }

    #[target_feature(enable = "popcnt,lzcnt,bmi1")]
    #[inline(never)]
    fn run_popcnt<J: Job>(cpu: Popcnt, job: J) -> J::Output {
        job.run(cpu)
    }

    /// A machine with BMI2 besides.
    #[derive(Clone, Copy)]
    pub(super) struct Pext(&'static Tables<Packed>);

    impl Pext {
        /// `None` if the machine lacks one of them.
        pub(super) fn new() -> Option<Pext> {
            let has_all = has_popcnt() && is_x86_feature_detected!("bmi2");
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
            // SAFETY: `new` has seen that the machine has these instructions.
            unsafe { run_pext(self, job) }
        }
    }

    #[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2")]
    #[inline(never)]
    fn run_pext<J: Job>(cpu: Pext, job: J) -> J::Output {
        job.run(cpu)
    }
}
