//! Who meets whom, with which opening. Pure: a pairing is a function of its number.

pub mod gauntlet;
pub mod round_robin;

use gauntlet::Gauntlet;
use round_robin::RoundRobin;

/// The kinds of schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Everyone meets everyone. With two engines, the only format there is.
    #[default]
    RoundRobin,
    /// The first engine meets everyone else.
    Gauntlet,
}

/// A schedule of one of the formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// See [`RoundRobin`].
    RoundRobin(RoundRobin),
    /// See [`Gauntlet`].
    Gauntlet(Gauntlet),
}

impl Schedule {
    /// `rounds` pairs for each two engines that meet.
    pub fn new(format: Format, engines: usize, rounds: u64) -> Schedule {
        match format {
            Format::RoundRobin => Schedule::RoundRobin(RoundRobin::new(engines, rounds)),
            Format::Gauntlet => Schedule::Gauntlet(Gauntlet::new(engines, rounds)),
        }
    }

    /// Pairs in all.
    pub fn pairs(&self) -> u64 {
        match self {
            Schedule::RoundRobin(schedule) => schedule.pairs(),
            Schedule::Gauntlet(schedule) => schedule.pairs(),
        }
    }

    /// How many times two engines meet, whatever the number of their pairs.
    pub fn encounters(&self) -> usize {
        match self {
            Schedule::RoundRobin(schedule) => schedule.encounters() as usize,
            Schedule::Gauntlet(schedule) => schedule.opponents() as usize,
        }
    }

    /// The pair with this number, or `None` beyond the last.
    pub fn pairing(&self, pair: u64) -> Option<Pairing> {
        match self {
            Schedule::RoundRobin(schedule) => schedule.pairing(pair),
            Schedule::Gauntlet(schedule) => schedule.pairing(pair),
        }
    }
}

/// One pair of games: the same opening twice, colours reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairing {
    /// Number of the pair in the run, from 0.
    pub pair: u64,
    /// The two engines; the first is White in the first game.
    pub engines: [usize; 2],
    /// Ordinal of the opening, from 0; the order of the book says which opening that is.
    pub opening: u64,
}
