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
pub use ranking::Ranked;

/// The kinds of tournament.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Every engine meets every other. With two engines, a match.
    #[default]
    RoundRobin,
    /// The first engines meet all others.
    Gauntlet,
    /// Each engine meets all before it when it is its turn to enter.
    Pyramid,
    /// Single elimination.
    Knockout,
    /// In each round, engines with equal scores meet.
    Swiss,
    /// From the bottom up, the winner of each encounter meets the next one above.
    Ladder,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] = [
        Format::RoundRobin,
        Format::Gauntlet,
        Format::Pyramid,
        Format::Knockout,
        Format::Swiss,
        Format::Ladder,
    ];

    /// Whether all encounters are known from the beginning.
    pub fn is_fixed(self) -> bool {
        matches!(self, Format::RoundRobin | Format::Gauntlet | Format::Pyramid)
    }
}

/// When the next opening is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpeningPolicy {
    /// The n-th pair of every encounter of a round gets the same opening, so that no engine has
    /// easier openings.
    #[default]
    Shared,
    /// One opening for all pairs of a round.
    PerRound,
    /// One opening for all pairs of an encounter.
    PerEncounter,
    /// Every pair of the run gets an opening of its own.
    PerPair,
    /// Pairs take as many openings in turn as there are rounds.
    Cycled,
}

arbiter_names::named!(Format, OpeningPolicy);

/// The rules of a tournament.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Design {
    /// Which engines meet.
    #[serde(rename = "schedule")]
    pub format: Format,
    /// Gauntlet: how many of the first engines meet all others. Knockout, Swiss, ladder: how many
    /// of the first engines are seeded in their order; the others follow in an order that is drawn.
    pub seeds: usize,
    /// Gauntlet: whether these meet each other, too, as in fastchess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seeds_meet: bool,
    /// Repetitions of the whole schedule; for a Swiss, its rounds. A knockout ignores it.
    pub rounds: u64,
    /// Pairs of an encounter; games if `is_single`.
    pub pairs: u64,
    /// Whether each opening is played once, without the second game with colours reversed.
    #[serde(rename = "noswap")]
    pub is_single: bool,
    /// Whether single games have colours reversed in turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alternates: bool,
    /// Consecutive pairs of an encounter with one opening; 0 is 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub repeats: u64,
    /// Whether the other engine is White first.
    #[serde(rename = "reverse")]
    pub is_reversed: bool,
    /// When the next opening of the book is used.
    #[serde(rename = "opening_policy")]
    pub openings: OpeningPolicy,
    /// Further pairs, at most, of a knockout encounter that is level.
    pub tie_breaks: u64,
    /// Whether a knockout encounter goes on after it is decided.
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
    /// `pairs` pairs for each two engines of a round robin, which for two engines is a match.
    pub fn round_robin(pairs: u64) -> Design {
        Design { rounds: 1, pairs, ..Design::default() }
    }

    /// Games of a pair.
    pub fn games_per_pair(&self) -> u64 {
        if self.is_single { 1 } else { 2 }
    }

    /// Ordinal of the opening of a pair.
    fn opening(&self, place: Place) -> u64 {
        let ordinal = match self.openings {
            OpeningPolicy::Shared => {
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

    /// The pair at a place.
    fn pairing(&self, place: Place, [first, second]: [usize; 2]) -> Pairing {
        let is_turn = self.alternates && place.pair % 2 == 1;
        let is_reversed = self.is_reversed != is_turn;
        let engines = if is_reversed { [second, first] } else { [first, second] };
        Pairing { pair: place.pair, engines, opening: self.opening(place) }
    }
}

/// Where a pair stands in a tournament; all numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// In the run.
    pair: u64,
    round: u64,
    /// Ordinal of the encounter in the run.
    encounter: u64,
    /// In the encounter.
    nth: u64,
}

/// One pair of games: the same opening twice, colours reversed; or once, if the design says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// Number of the pair in the run, from 0.
    pub pair: u64,
    /// The two engines; the first is White in the first game.
    pub engines: [usize; 2],
    /// Ordinal of the opening, from 0; the order of the book says which opening that is.
    pub opening: u64,
}

/// What two engines scored against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// Half points of each.
    pub halves: [u64; 2],
    /// Games.
    pub games: u64,
}

impl Score {
    fn add(&mut self, halves: [u64; 2], games: u64) {
        self.halves[0] += halves[0];
        self.halves[1] += halves[1];
        self.games += games;
    }
}

#[derive(Debug, Clone)]
enum Course {
    Fixed(Fixed),
    Knockout(Knockout),
    Swiss(Swiss),
    Ladder(Ladder),
}

/// A tournament as far as it is known.
#[derive(Debug, Clone)]
pub struct Schedule {
    design: Design,
    engines: usize,
    course: Course,
    /// The encounters of a format that appends them as results come in; none of a fixed one.
    ledger: Ledger,
    /// Rounds that may begin before the one in hand is counted, if they have to wait at all.
    ahead: Option<u64>,
    counted: u64,
    /// By the two engines, lower index first.
    scores: BTreeMap<[usize; 2], Score>,
}

impl Schedule {
    /// The schedule of `engines` (at least two) before the first result.
    pub fn new(design: Design, engines: usize, seed: u64) -> Schedule {
        assert!(engines >= 2, "a schedule needs two engines");
        let order = || seeding(engines, design.seeds, seed);
        let mut ledger = Ledger::new(design);
        let course = match design.format {
            Format::RoundRobin | Format::Gauntlet | Format::Pyramid => {
                Course::Fixed(Fixed::new(engines, &design))
            }
            Format::Knockout => Course::Knockout(Knockout::new(&order(), &mut ledger)),
            Format::Swiss => Course::Swiss(Swiss::new(order(), &mut ledger)),
            Format::Ladder => Course::Ladder(Ladder::new(order(), &mut ledger)),
        };
        let scores = BTreeMap::new();
        Schedule { design, engines, course, ledger, ahead: None, counted: 0, scores }
    }

    /// The same, where no more than `ahead` rounds begin before the first uncounted one is counted.
    /// For fixed formats: what is played in a round may then follow from earlier results.
    #[must_use]
    pub fn with_rounds_ahead(self, ahead: u64) -> Schedule {
        assert!(
            self.design.format.is_fixed(),
            "other formats make their rounds wait by themselves"
        );
        Schedule { ahead: Some(ahead), ..self }
    }

    /// The rules.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Number of engines.
    pub fn engines(&self) -> usize {
        self.engines
    }

    /// Pairs that are known so far; those that are [void](Schedule::is_void) are among them.
    pub fn known(&self) -> u64 {
        match (&self.course, self.ahead) {
            (Course::Fixed(fixed), Some(ahead)) => {
                let round = fixed.pairs.div_ceil(self.design.rounds.max(1)).max(1);
                let started = (self.counted / round).saturating_add(ahead).saturating_add(1);
                fixed.pairs.min(started.saturating_mul(round))
            }
            (Course::Fixed(fixed), None) => fixed.pairs,
            _ => self.ledger.pairs(),
        }
    }

    /// Total number of pairs, as far as it is known: a knockout may need more to break ties.
    pub fn expected(&self) -> u64 {
        let engines = self.engines as u64;
        let encounters = match &self.course {
            Course::Fixed(fixed) => return fixed.pairs,
            Course::Knockout(..) => engines - 1,
            Course::Swiss(..) => (engines / 2).saturating_mul(self.design.rounds),
            Course::Ladder(..) => (engines - 1).saturating_mul(self.design.rounds),
        };
        // Those that are known may be shorter or longer than usual.
        let known: u64 = self.encounters().iter().map(|e| e.planned).sum();
        let open = encounters.saturating_sub(self.encounters().len() as u64);
        open.saturating_mul(self.design.pairs).saturating_add(known)
    }

    /// Number of matchups: two engines that meet, or may meet.
    pub fn matchups(&self) -> usize {
        match &self.course {
            Course::Fixed(fixed) => fixed.encounters as usize,
            _ => self.engines * (self.engines - 1) / 2,
        }
    }

    /// Whether no pair will follow those that are known.
    pub fn is_complete(&self) -> bool {
        match &self.course {
            Course::Fixed(fixed) => self.known() == fixed.pairs,
            Course::Knockout(knockout) => knockout.winner().is_some(),
            Course::Swiss(swiss) => swiss.is_over,
            Course::Ladder(ladder) => ladder.is_over(),
        }
    }

    /// The pair with this number; `None` if it is not known yet, or beyond the end.
    pub fn pairing(&self, pair: u64) -> Option<Pairing> {
        let (place, engines) = match &self.course {
            Course::Fixed(_) if pair >= self.known() => return None,
            Course::Fixed(fixed) => fixed.place(pair)?,
            _ => self.ledger.place(pair)?,
        };
        Some(self.design.pairing(place, engines))
    }

    /// Whether a known pair does not count because its encounter was decided before it.
    pub fn is_void(&self, pair: u64) -> bool {
        self.ledger.is_void(pair)
    }

    /// Counts the result of the next pair in schedule order: half points of the engines of its
    /// pairing, in its order, from `games` games. Void pairs may be skipped, and pairs of fixed formats may
    /// come in any order.
    ///
    /// # Panics
    ///
    /// If another pair is next.
    pub fn count(&mut self, pair: u64, halves: [u64; 2], games: u64) {
        let is_next = pair >= self.counted
            && (self.counted..pair).all(|pair| self.is_void(pair))
            && !self.is_void(pair);
        assert!(
            is_next || self.design.format.is_fixed(),
            "pair {pair} is counted when {} is next",
            self.counted
        );
        let pairing = self.pairing(pair).expect("only pairs of the schedule are counted");
        self.counted = self.counted.max(pair + 1);
        let [first, second] = pairing.engines;
        let (key, sorted) = match first < second {
            true => ([first, second], halves),
            false => ([second, first], [halves[1], halves[0]]),
        };
        self.scores.entry(key).or_default().add(sorted, games);
        let halves = if self.design.is_reversed { [halves[1], halves[0]] } else { halves };
        let Some(encounter) = self.ledger.count(pair, halves, games) else { return };
        match &mut self.course {
            Course::Fixed(_) => {}
            Course::Knockout(knockout) => knockout.settle(encounter, &mut self.ledger),
            Course::Swiss(swiss) => swiss.settle(&mut self.ledger),
            Course::Ladder(ladder) => ladder.settle(encounter, &mut self.ledger),
        }
    }

    /// The next pair to be counted.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// The encounters so far, in the order in which they became known; empty for fixed formats.
    pub fn encounters(&self) -> &[Encounter] {
        &self.ledger.encounters
    }

    /// Byes of a Swiss, as (round, engine), both from 0.
    pub fn byes(&self) -> &[(u64, usize)] {
        if let Course::Swiss(swiss) = &self.course { &swiss.byes } else { &[] }
    }

    /// The bracket of a knockout.
    pub fn bracket(&self) -> Option<&Knockout> {
        if let Course::Knockout(knockout) = &self.course { Some(knockout) } else { None }
    }

    /// The round that is being played, from 0, and how many there are.
    pub fn round(&self) -> (u64, u64) {
        let latest = self.encounters().iter().filter(|e| !e.is_over()).map(|e| e.round).min();
        let (round, rounds) = match &self.course {
            Course::Fixed(fixed) => {
                let next = self.counted.min(fixed.pairs.saturating_sub(1));
                let round = fixed.place(next).map_or(0, |(place, _)| place.round);
                return (round, self.design.rounds);
            }
            Course::Knockout(knockout) => (latest, knockout.rounds()),
            Course::Swiss(..) | Course::Ladder(..) => (latest, self.design.rounds),
        };
        (round.unwrap_or(rounds.saturating_sub(1)), rounds)
    }
}

/// Engines from the best seed to the worst: the first `seeds` as listed, the others as drawn.
fn seeding(engines: usize, seeds: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..engines).collect();
    shuffle(&mut seed_for(seed, "schedule.draw", 0), &mut order[seeds.min(engines)..]);
    order
}
