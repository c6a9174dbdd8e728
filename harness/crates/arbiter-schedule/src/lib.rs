#![doc = include_str!("../README.md")]

mod fixed;
mod knockout;
mod ladder;
mod ledger;
mod matching;
mod ranking;
pub mod seed;
mod swiss;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::seed::{seed_for, shuffle};
use fixed::Fixed;
use ladder::Ladder;
use ledger::Ledger;
use swiss::Swiss;

pub use knockout::{Entrant, Knockout};
pub use ledger::Encounter;
pub use ranking::RankedEngine;

/// Kind of tournament.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Each engine meets every other engine. With two engines, this is a match.
    #[default]
    RoundRobin,
    /// The first engines meet all other engines.
    Gauntlet,
    /// Engines enter in turn, and each meets all engines listed before it.
    Pyramid,
    /// Single elimination.
    Knockout,
    /// In each round, engines with equal or similar scores meet.
    Swiss,
    /// From the bottom up, the winner of each encounter meets the next engine above.
    Ladder,
}

impl Format {
    /// Returns whether all encounters are known from the start.
    pub fn is_fixed(self) -> bool {
        matches!(self, Format::RoundRobin | Format::Gauntlet | Format::Pyramid)
    }

    /// Returns the default, minimum and maximum number of seeded engines among `engines` engines;
    /// `None` if the format has no seeds.
    pub fn seeds(self, engines: usize) -> Option<(usize, usize, usize)> {
        match self {
            Format::RoundRobin | Format::Pyramid => None,
            Format::Gauntlet => Some((1, 1, engines - 1)),
            Format::Knockout | Format::Swiss | Format::Ladder => Some((engines, 0, engines)),
        }
    }
}

/// Assignment of openings to pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpeningPolicy {
    /// The n-th pair of every encounter in a round gets the same opening, so that no engine gets
    /// easier openings.
    #[default]
    Shared,
    /// All pairs in a round get the same opening.
    PerRound,
    /// All pairs in an encounter get the same opening.
    PerEncounter,
    /// Every pair in the run gets a different opening.
    PerPair,
    /// The pairs cycle through the first n openings, where n is the number of rounds.
    Cycled,
}

arbiter_names::named!(Format, OpeningPolicy);

/// Rules of a tournament.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Design {
    /// Format of the tournament.
    #[serde(rename = "schedule")]
    pub format: Format,
    /// Number of seeded engines at the start of the list. In a gauntlet, the seeded engines meet
    /// all other engines. In a knockout, Swiss or ladder tournament, the seeded engines have the
    /// highest seeds, in the order of the list; the remaining engines follow in random order.
    pub seeds: usize,
    /// `true` if the seeds of a gauntlet also meet each other, as in fastchess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seeds_meet: bool,
    /// Number of repetitions of the complete schedule. In a Swiss or ladder tournament, the value
    /// is the number of rounds. A knockout ignores this value.
    pub rounds: u64,
    /// Number of pairs per encounter; number of games per encounter if `is_single` is `true`.
    pub pairs: u64,
    /// `true` if each opening is played only once, without the second game with colours reversed.
    #[serde(rename = "noswap")]
    pub is_single: bool,
    /// `true` if colours are reversed in every second game of the run, as in fastchess. Used only
    /// for runs of single games.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alternates: bool,
    /// `true` if colours are reversed in every second game of an encounter, as in cutechess-cli.
    /// Used only for runs of single games.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alternates_in_encounter: bool,
    /// Number of consecutive opening numbers that are mapped to the same opening; 0 means 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub repeats: u64,
    /// `true` if the second engine has White in the first game.
    #[serde(rename = "reverse")]
    pub is_reversed: bool,
    /// Assignment of openings to pairs.
    #[serde(rename = "opening_policy")]
    pub openings: OpeningPolicy,
    /// Maximum number of additional pairs in a drawn knockout encounter.
    pub tie_breaks: u64,
    /// `true` if all pairs of a knockout encounter are played, even after the encounter is decided.
    pub plays_out: bool,
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(count: &u64) -> bool {
    *count <= 1
}

impl Design {
    /// Returns the design of a round robin with `pairs` pairs per encounter. With two engines, the
    /// round robin is a match.
    pub fn round_robin(pairs: u64) -> Design {
        Design { rounds: 1, pairs, ..Design::default() }
    }

    /// Returns the number of games in a pair.
    pub fn games_per_pair(&self) -> u64 {
        if self.is_single { 1 } else { 2 }
    }

    /// Returns the number, counted from 0, of the opening for a pair.
    fn opening(&self, place: PairPosition) -> u64 {
        let ordinal = match self.openings {
            OpeningPolicy::Shared => {
                // Tie breaks have separate openings, so that no later round repeats these openings.
                let stride = self.pairs.saturating_add(self.tie_breaks);
                place.round.saturating_mul(stride).saturating_add(place.nth)
            }
            OpeningPolicy::PerRound => place.round,
            OpeningPolicy::PerEncounter => place.encounter,
            OpeningPolicy::PerPair | OpeningPolicy::Cycled => place.pair,
        };
        let ordinal = ordinal / self.repeats.max(1);
        let is_cycled = self.openings == OpeningPolicy::Cycled;
        if is_cycled { ordinal % self.rounds.max(1) } else { ordinal }
    }

    /// Returns the pair at a position in the tournament.
    fn pairing(&self, place: PairPosition, [first, second]: [usize; 2]) -> Pairing {
        let in_encounter = place.round.saturating_mul(self.pairs).saturating_add(place.nth);
        let is_turn = self.alternates && place.pair % 2 == 1
            || self.alternates_in_encounter && in_encounter % 2 == 1;
        let is_reversed = self.is_reversed != is_turn;
        let engines = if is_reversed { [second, first] } else { [first, second] };
        Pairing { pair: place.pair, engines, opening: self.opening(place) }
    }
}

/// Position of a pair in a tournament. All numbers are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PairPosition {
    /// Number of the pair in the run.
    pair: u64,
    round: u64,
    /// Index of the encounter in the run.
    encounter: u64,
    /// Number of the pair in the encounter.
    nth: u64,
}

/// Pair of games from the same opening with colours reversed. In a design with single games, a
/// pairing is one game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// Number of the pair in the run, counted from 0.
    pub pair: u64,
    /// Indices of the two engines; the first engine has White in the first game.
    pub engines: [usize; 2],
    /// Number of the opening, counted from 0. The order of the book maps this number to an opening.
    pub opening: u64,
}

/// Score of two engines against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// Half points of the two engines.
    pub half_points: [u64; 2],
    /// Number of games.
    pub games: u64,
}

impl Score {
    fn add(&mut self, half_points: [u64; 2], games: u64) {
        self.half_points[0] += half_points[0];
        self.half_points[1] += half_points[1];
        self.games += games;
    }
}

#[derive(Debug, Clone)]
enum FormatState {
    Fixed(Fixed),
    Knockout(Knockout),
    Swiss(Swiss),
    Ladder(Ladder),
}

/// Schedule of a tournament: the known pairs, and the results so far.
#[derive(Debug, Clone)]
pub struct Schedule {
    design: Design,
    engines: usize,
    course: FormatState,
    /// Encounters of a format whose schedule depends on results; empty for fixed formats.
    ledger: Ledger,
    /// Number of rounds that may start before the current round is completely counted; `None` for
    /// no limit.
    ahead: Option<u64>,
    counted: u64,
    /// Head-to-head scores. Each key contains the indices of two engines, the lower index first.
    scores: BTreeMap<[usize; 2], Score>,
}

impl Schedule {
    /// Creates the schedule for `engines` engines (at least two), without any results.
    pub fn new(design: Design, engines: usize, seed: u64) -> Schedule {
        assert!(engines >= 2, "a schedule needs two engines");
        let order = || seeding(engines, design.seeds, seed);
        let mut ledger = Ledger::new(design);
        let course = match design.format {
            Format::RoundRobin | Format::Gauntlet | Format::Pyramid => {
                FormatState::Fixed(Fixed::new(engines, &design))
            }
            Format::Knockout => FormatState::Knockout(Knockout::new(&order(), &mut ledger)),
            Format::Swiss => FormatState::Swiss(Swiss::new(order(), &mut ledger)),
            Format::Ladder => FormatState::Ladder(Ladder::new(order(), &mut ledger)),
        };
        let scores = BTreeMap::new();
        Schedule { design, engines, course, ledger, ahead: None, counted: 0, scores }
    }

    /// Allows at most `ahead` further rounds to start before the current round is completely
    /// counted, so that the games of a round can depend on earlier results. Panics if the format is
    /// not fixed.
    #[must_use]
    pub fn with_rounds_ahead(self, ahead: u64) -> Schedule {
        assert!(
            self.design.format.is_fixed(),
            "other formats make their rounds wait by themselves"
        );
        Schedule { ahead: Some(ahead), ..self }
    }

    /// Returns the rules of the tournament.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Returns the number of engines.
    pub fn engines(&self) -> usize {
        self.engines
    }

    /// Returns the number of known pairs, including [void](Schedule::is_void) pairs.
    pub fn known_pairs(&self) -> u64 {
        match (&self.course, self.ahead) {
            (FormatState::Fixed(fixed), Some(ahead)) => {
                let round = fixed.pairs.div_ceil(self.design.rounds.max(1)).max(1);
                let started = (self.counted / round).saturating_add(ahead).saturating_add(1);
                fixed.pairs.min(started.saturating_mul(round))
            }
            (FormatState::Fixed(fixed), None) => fixed.pairs,
            _ => self.ledger.pairs(),
        }
    }

    /// Returns the expected total number of pairs. A knockout may need more pairs to break ties.
    pub fn expected_pairs(&self) -> u64 {
        let engines = self.engines as u64;
        let encounters = match &self.course {
            FormatState::Fixed(fixed) => return fixed.pairs,
            FormatState::Knockout(..) => engines - 1,
            FormatState::Swiss(..) => (engines / 2).saturating_mul(self.design.rounds),
            FormatState::Ladder(..) => (engines - 1).saturating_mul(self.design.rounds),
        };
        // Known encounters may have fewer pairs than designed if they were decided early, or more
        // if they were level.
        let known: u64 = self.encounters().iter().map(|e| e.planned).sum();
        let open = encounters.saturating_sub(self.encounters().len() as u64);
        open.saturating_mul(self.design.pairs).saturating_add(known)
    }

    /// Returns the number of combinations of two engines that meet or may meet.
    pub fn matchups(&self) -> usize {
        match &self.course {
            FormatState::Fixed(fixed) => fixed.encounters as usize,
            _ => self.engines * (self.engines - 1) / 2,
        }
    }

    /// Returns whether all pairs of the tournament are known.
    pub fn is_complete(&self) -> bool {
        match &self.course {
            FormatState::Fixed(fixed) => self.known_pairs() == fixed.pairs,
            FormatState::Knockout(knockout) => knockout.winner().is_some(),
            FormatState::Swiss(swiss) => swiss.is_over,
            FormatState::Ladder(ladder) => ladder.is_over(),
        }
    }

    /// Returns the pair with this number; `None` if the pair is not known yet or does not exist.
    pub fn pairing(&self, pair: u64) -> Option<Pairing> {
        let (place, engines) = match &self.course {
            FormatState::Fixed(_) if pair >= self.known_pairs() => return None,
            FormatState::Fixed(fixed) => fixed.place(pair)?,
            _ => self.ledger.place(pair)?,
        };
        Some(self.design.pairing(place, engines))
    }

    /// Returns whether a known pair does not count because its encounter was decided earlier.
    pub fn is_void(&self, pair: u64) -> bool {
        self.ledger.is_void(pair)
    }

    /// Counts the result of the next pair in schedule order. `half_points` contains the half points
    /// of the two engines in the order of the pairing, and `games` is the number of games. Void
    /// pairs may be skipped. Pairs of fixed formats may be counted in any order.
    ///
    /// # Panics
    ///
    /// Panics if the pair is not in the schedule, or if the format is not fixed and another pair is
    /// next.
    pub fn count(&mut self, pair: u64, half_points: [u64; 2], games: u64) {
        // If the schedule depends on results, it also depends on the order in which pairs are
        // counted.
        let is_next = pair >= self.counted
            && (self.counted..pair).all(|pair| self.is_void(pair))
            && !self.is_void(pair);
        assert!(
            is_next || self.design.format.is_fixed(),
            "pair {pair} is counted when {} is next",
            self.counted
        );
        let pairing = self.pairing(pair).expect("callers count pairs of the schedule");
        self.counted = self.counted.max(pair + 1);
        let [first, second] = pairing.engines;
        let swapped = [half_points[1], half_points[0]];
        let score = self.scores.entry([first.min(second), first.max(second)]).or_default();
        score.add(if first < second { half_points } else { swapped }, games);
        // The ledger lists the engines in the order of the encounter. A reversed pairing swaps this
        // order.
        let half_points = if self.design.is_reversed { swapped } else { half_points };
        let Some(encounter) = self.ledger.count(pair, half_points, games) else { return };
        match &mut self.course {
            FormatState::Fixed(_) => {}
            FormatState::Knockout(knockout) => knockout.settle(encounter, &mut self.ledger),
            FormatState::Swiss(swiss) => swiss.settle(&mut self.ledger),
            FormatState::Ladder(ladder) => ladder.settle(encounter, &mut self.ledger),
        }
    }

    /// Returns the number of the next pair to count.
    pub fn next_to_count(&self) -> u64 {
        self.counted
    }

    /// Returns the encounters so far, in the order in which they became known. The list is empty
    /// for fixed formats.
    pub fn encounters(&self) -> &[Encounter] {
        &self.ledger.encounters
    }

    /// Returns, for each bye in a Swiss tournament, the number of the round and the index of the
    /// engine, both counted from 0.
    pub fn byes(&self) -> &[(u64, usize)] {
        if let FormatState::Swiss(swiss) = &self.course { &swiss.byes } else { &[] }
    }

    /// Returns the bracket of a knockout; `None` for other formats.
    pub fn bracket(&self) -> Option<&Knockout> {
        if let FormatState::Knockout(knockout) = &self.course { Some(knockout) } else { None }
    }

    /// Returns the current round, counted from 0, and the number of rounds.
    pub fn round(&self) -> (u64, u64) {
        let latest = self.encounters().iter().filter(|e| !e.is_over()).map(|e| e.round).min();
        let (round, rounds) = match &self.course {
            FormatState::Fixed(fixed) => {
                let next = self.counted.min(fixed.pairs.saturating_sub(1));
                let round = fixed.place(next).map_or(0, |(place, _)| place.round);
                return (round, self.design.rounds);
            }
            FormatState::Knockout(knockout) => (latest, knockout.rounds()),
            FormatState::Swiss(..) | FormatState::Ladder(..) => (latest, self.design.rounds),
        };
        (round.unwrap_or(rounds.saturating_sub(1)), rounds)
    }
}

/// Returns the engines from the highest seed to the lowest: the first `seeds` engines in the order
/// of the list, then all other engines in random order.
fn seeding(engines: usize, seeds: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..engines).collect();
    shuffle(&mut seed_for(seed, "schedule.draw", 0), &mut order[seeds.min(engines)..]);
    order
}
