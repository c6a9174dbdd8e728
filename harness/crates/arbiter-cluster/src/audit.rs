//! Whether a worker plays like the others. Pure.
//!
//! Looked at are crashes, losses on time, and how pairs are distributed. A worker is looked at when
//! its games have doubled, from [`FIRST_LOOK`] on, so that there are few looks to allow for however
//! long a run is; the limits allow for all of them and for all workers (Bonferroni). If all workers
//! are alike, a run sets one aside with a probability below [`FALSE_ALARM`] for each of the three.

use std::collections::BTreeMap;

use arbiter_game::outcome::Termination;
use arbiter_plan::run::standing::{PairTally, Standing};
use arbiter_stats::excess::{Share, excess};
use arbiter_stats::pentanomial::Pentanomial;
use arbiter_stats::residuals;

/// Games of a worker after which it is looked at for the first time.
pub const FIRST_LOOK: u64 = 16;

/// Probability, at most, that a run of workers that are alike sets one aside for one of the reasons.
pub const FALSE_ALARM: f64 = 1e-3;

/// More looks at a worker than there can be: 16 games doubled so often are more than can be played.
const LOOKS: f64 = 24.0;

/// Failures below this share of the games harm nobody, however sure they are.
const HARMLESS: f64 = 0.02;

/// A normal deviate that is exceeded with a probability of 1e-9: [`FALSE_ALARM`] for some 200
/// workers, each of which is compared at each look at any.
const RESIDUAL: f64 = 6.0;

/// Workers that have to be compared: of two nobody knows which is the odd one.
const QUORUM: usize = 3;

/// A worker that is to be set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its name.
    pub worker: String,
    /// What is wrong, in words.
    pub reason: String,
}

/// What each worker has played that counts.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    /// Whether all pairs are between the same two engines, under the same conditions.
    is_uniform: bool,
    workers: BTreeMap<String, Standing>,
}

/// Whether a game ended as one does when an engine or its machine breaks down.
pub fn is_breakdown(termination: Termination) -> bool {
    termination.is_fault() && termination != Termination::TimeForfeit
}

fn is_time_loss(termination: Termination) -> bool {
    termination == Termination::TimeForfeit
}

impl Audit {
    /// Nothing was played yet. Pairs can be compared as pairs only if all are between the same two
    /// engines, whose options do not change.
    pub fn new(is_uniform: bool) -> Audit {
        Audit { is_uniform, workers: BTreeMap::new() }
    }

    /// Counts a pair of a worker without looking.
    pub fn load(&mut self, worker: &str, tally: &PairTally) {
        self.workers.entry(worker.to_owned()).or_default().count(tally);
    }

    /// Counts a pair of a worker; who is out of line, if it is time to look.
    pub fn count(&mut self, worker: &str, tally: &PairTally) -> Option<Finding> {
        let games = |audit: &Audit| audit.workers.get(worker).map_or(0, Standing::games);
        let before = games(self);
        self.load(worker, tally);
        let is_due =
            (games(self) / FIRST_LOOK).checked_ilog2() != (before / FIRST_LOOK).checked_ilog2();
        if is_due { self.look(worker) } else { None }
    }

    /// A worker's pairs do not count any more.
    pub fn forget(&mut self, worker: &str) {
        self.workers.remove(worker);
    }

    fn look(&self, worker: &str) -> Option<Finding> {
        let fails = self.excess(worker, "crashes and the like", is_breakdown);
        let late = || self.excess(worker, "losses on time", is_time_loss);
        fails.or_else(late).or_else(|| self.residual())
    }

    /// Whether a worker's games end so more often than those of the others.
    fn excess(&self, worker: &str, what: &str, is_one: fn(Termination) -> bool) -> Option<Finding> {
        let share = |standing: &Standing| Share {
            games: standing.games(),
            failures: standing
                .terminations
                .iter()
                .filter(|(termination, _)| is_one(**termination))
                .map(|(_, count)| count)
                .sum(),
        };
        let own = share(self.workers.get(worker)?);
        let others = self.workers.iter().filter(|(name, _)| *name != worker);
        let others =
            others.map(|(_, standing)| share(standing)).fold(Share::default(), |sum, share| {
                Share { games: sum.games + share.games, failures: sum.failures + share.failures }
            });
        let p = excess(own, others) * LOOKS * self.workers.len() as f64;
        let is_out = p < FALSE_ALARM && own.failures as f64 > HARMLESS * own.games as f64;
        is_out.then(|| Finding {
            worker: worker.to_owned(),
            reason: format!(
                "{what} in {} of its {} games, and in {} of {} games of the others (corrected p \
                 {p:.1e})",
                own.failures, own.games, others.failures, others.games
            ),
        })
    }

    /// The worker whose pairs are distributed least like those of the others, if that is no chance.
    fn residual(&self) -> Option<Finding> {
        if !self.is_uniform {
            return None;
        }
        let pairs: Vec<Pentanomial> =
            self.workers.values().map(|standing| standing.main_encounter().pairs).collect();
        let found = residuals::compare(&pairs)?;
        let compared = self.workers.keys().zip(&found.sources);
        let compared: Vec<(&String, f64)> =
            compared.filter_map(|(name, source)| Some((name, (*source)?.0))).collect();
        let (worker, residual) = compared.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_out = compared.len() >= QUORUM && *residual > RESIDUAL;
        is_out.then(|| Finding {
            worker: (*worker).clone(),
            reason: format!(
                "its pairs are won, even and lost unlike those of the {} other workers: residual \
                 {residual:.1} standard deviations, {RESIDUAL:.0} are allowed",
                compared.len() - 1
            ),
        })
    }
}

#[cfg(test)]
mod tests;
