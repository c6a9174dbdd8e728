//! Formats in which all encounters are known from the start.

use super::{Design, Format, PairPosition};

/// Encounters that are played in turn: the first pair of each encounter, then the second pair of
/// each encounter, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tier {
    encounters: Vec<[usize; 2]>,
    /// Number of the tier's first pair in the run, counted from 0.
    first_pair: u64,
    /// Number of the tier's first encounter in a round, counted from 0.
    first_encounter: u64,
}

/// Lists of encounters; each list is repeated for every pair of every round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fixed {
    tiers: Vec<Tier>,
    /// Number of encounters in a round.
    pub(super) encounters: u64,
    /// Number of pairs per encounter in one round.
    pairs_per_encounter: u64,
    /// Total number of pairs.
    pub(super) pairs: u64,
}

impl Fixed {
    /// Creates the encounters of a fixed format for `engines` engines.
    pub(super) fn new(engines: usize, design: &Design) -> Fixed {
        let tier = |newcomer| (0..newcomer).map(|earlier| [earlier, newcomer]).collect();
        let lists: Vec<Vec<[usize; 2]>> = match design.format {
            Format::Pyramid => (1..engines).map(tier).collect(),
            // A round robin is a gauntlet in which all engines are seeds and the seeds meet each
            // other.
            Format::RoundRobin | Format::Gauntlet => {
                let is_gauntlet = design.format == Format::Gauntlet;
                // A gauntlet needs at least one seed and at least one opponent.
                let seeds = if is_gauntlet { design.seeds.clamp(1, engines - 1) } else { engines };
                let seeds_meet = design.seeds_meet || !is_gauntlet;
                let first_of = |seed| if seeds_meet { seed + 1 } else { seeds };
                let meets = |seed| (first_of(seed)..engines).map(move |other| [seed, other]);
                vec![(0..seeds).flat_map(meets).collect()]
            }
            Format::Knockout | Format::Swiss | Format::Ladder => unreachable!("not fixed"),
        };
        // The product saturates, because the user may set both numbers to huge values for an
        // endless run.
        let repetitions = design.rounds.saturating_mul(design.pairs);
        let mut pairs = 0u64;
        let mut encounters = 0;
        let tiers = lists.into_iter().map(|list| {
            let count = list.len() as u64;
            let tier = Tier { encounters: list, first_pair: pairs, first_encounter: encounters };
            pairs = pairs.saturating_add(repetitions.saturating_mul(count));
            encounters += count;
            tier
        });
        let tiers = tiers.collect();
        Fixed { tiers, encounters, pairs_per_encounter: design.pairs, pairs }
    }

    /// Returns the position of a pair in the tournament, and the engines of the pair; `None` after
    /// the last pair.
    pub(super) fn place(&self, pair: u64) -> Option<(PairPosition, [usize; 2])> {
        if pair >= self.pairs {
            return None;
        }
        let tier = self.tiers.partition_point(|tier| tier.first_pair <= pair).checked_sub(1)?;
        let tier = &self.tiers[tier];
        let within = pair - tier.first_pair;
        let width = tier.encounters.len() as u64;
        let repetition = within / width;
        let index = within % width;
        let round = repetition / self.pairs_per_encounter;
        let encounter = round * self.encounters + tier.first_encounter + index;
        let nth = repetition % self.pairs_per_encounter;
        Some((PairPosition { pair, round, encounter, nth }, tier.encounters[index as usize]))
    }
}
