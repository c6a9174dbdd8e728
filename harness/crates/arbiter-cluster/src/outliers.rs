//! Detection of workers whose results differ from those of the others. Pure.
//!
//! Three rates are compared: crashes, losses on time, and the distribution of pair results. A
//! worker is checked whenever its games have doubled, from [`FIRST_CHECK`] on, so that there are
//! few checks however long a run is; the limits are corrected for all checks and all workers
//! (Bonferroni). If all workers are alike, a run excludes one with a probability below
//! [`FALSE_ALARM`] for each of the three.

use std::collections::BTreeMap;

use arbiter_game::outcome::Termination;
use arbiter_plan::{PairTally, RunCounts};
use arbiter_stats::residuals;
use arbiter_stats::{FailureCount, Pentanomial, fisher_exact};

/// Number of games of a worker before its first check.
pub(crate) const FIRST_CHECK: u64 = 16;

/// Largest probability, for each of the criteria, that a run whose workers are alike excludes one.
pub(crate) const FALSE_ALARM: f64 = 1e-3;

/// Upper bound of the number of checks of a worker: 24 doublings of 16 games are 268 million games.
const MAX_CHECKS: f64 = 24.0;

/// Share of a worker's games that have to be lost on time before it is excluded, however
/// significant the excess: a machine may be a little slow. There is no such share of breakdowns, as
/// a worker can claim some.
const MIN_TIME_LOSSES: f64 = 0.02;

/// Number of jobs that a worker has to give back before it is excluded for that, and their share of
/// its jobs: a worker that is stopped gives back what it plays.
const MIN_GIVEN_BACK: u64 = 50;
const MIN_SHARE_GIVEN_BACK: f64 = 0.1;

/// Largest residual, in standard deviations, exceeded with a probability of 1e-9: that is
/// [`FALSE_ALARM`] for some 200 workers, all of which are compared at each check of any.
const MAX_RESIDUAL: f64 = 6.0;

/// Number of workers needed to compare residuals, because with two it is unknown which one is the
/// outlier.
const MIN_WORKERS: usize = 3;

/// Worker that is to be excluded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Name of the worker.
    pub(crate) worker: String,
    /// Reason for the exclusion, as a sentence.
    pub(crate) reason: String,
}

/// Counted results of each worker.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutlierDetector {
    /// `true` if all pairs are between the same two engines, under the same conditions.
    is_uniform: bool,
    workers: BTreeMap<String, RunCounts>,
    /// Number of jobs that each worker has given back.
    given_back: BTreeMap<String, u64>,
    /// Number of games of the coordinator's machine that did not end by the breakdown that a worker
    /// had claimed.
    pub(crate) refuted: u64,
}

/// Returns whether a game ended by a failure of an engine or its machine other than a loss on time.
pub(crate) fn is_breakdown(termination: Termination) -> bool {
    termination.is_fault() && termination != Termination::TimeForfeit
}

fn is_time_loss(termination: Termination) -> bool {
    termination == Termination::TimeForfeit
}

/// Returns the deviation of each worker's pair results from those of the others, in standard
/// deviations: for runs of the same two engines under the same conditions, and workers with enough
/// pairs.
pub fn worker_residuals(played: &[(String, PairTally)]) -> BTreeMap<String, f64> {
    let mut detector = OutlierDetector::new(true);
    played.iter().for_each(|(worker, tally)| detector.add(worker, tally));
    detector.residuals().into_iter().map(|(name, residual)| (name.clone(), residual)).collect()
}

impl OutlierDetector {
    /// Creates a detector without results. Residuals are compared only if `is_uniform`: if all
    /// pairs are between the same two engines, whose options do not change.
    pub(crate) fn new(is_uniform: bool) -> OutlierDetector {
        OutlierDetector { is_uniform, ..OutlierDetector::default() }
    }

    /// Adds a pair of a worker.
    pub(crate) fn add(&mut self, worker: &str, tally: &PairTally) {
        self.workers.entry(worker.to_owned()).or_default().count(tally);
    }

    /// Adds a pair of a worker, and checks the worker if that is due. Returns the outlier, if any.
    pub(crate) fn add_and_check(&mut self, worker: &str, tally: &PairTally) -> Option<Finding> {
        // Checks at doublings keep their number logarithmic, and with it the price of Bonferroni's
        // correction.
        let doublings = |outliers: &OutlierDetector| {
            let games = outliers.workers.get(worker).map_or(0, RunCounts::games);
            (games / FIRST_CHECK).checked_ilog2()
        };
        let before = doublings(self);
        self.add(worker, tally);
        let is_due = doublings(self) != before;
        is_due.then(|| self.check(worker)).flatten()
    }

    /// Counts a job that a worker gives back: by doing so often it could choose which results to
    /// send. Returns the worker if it gives back far more than the others.
    pub(crate) fn gave_back(&mut self, worker: &str) -> Option<Finding> {
        self.workers.entry(worker.to_owned()).or_default();
        let count = self.given_back.entry(worker.to_owned()).or_default();
        *count += 1;
        if !count.is_multiple_of(MIN_GIVEN_BACK) {
            return None;
        }
        self.excess(worker, "no result", "jobs", 0, MIN_SHARE_GIVEN_BACK, |name, counts| {
            let failures = self.given_back.get(name).copied().unwrap_or(0);
            let pairs: u64 = counts.encounters.values().map(|met| met.pairs.pairs()).sum();
            // A job is a pair or a single game, so two games of a pair count as one job.
            FailureCount { games: failures + counts.games() - pairs, failures }
        })
    }

    /// Removes all pairs of a worker.
    pub(crate) fn remove(&mut self, worker: &str) {
        self.workers.remove(worker);
    }

    fn check(&self, worker: &str) -> Option<Finding> {
        let ended = |worker, what, is_one: fn(Termination) -> bool, min_share| {
            self.excess(worker, what, "games", self.refuted, min_share, |_, counts| {
                let terminations = counts.terminations.iter();
                let those = terminations.filter(|(termination, _)| is_one(**termination));
                let failures = those.map(|(_, count)| count).sum();
                FailureCount { games: counts.games(), failures }
            })
        };
        let fails = ended(worker, "engine failures", is_breakdown, 0.0);
        let late = || ended(worker, "losses on time", is_time_loss, MIN_TIME_LOSSES);
        fails.or_else(late).or_else(|| self.residual())
    }

    /// Returns the worker if significantly more of its games, or jobs, fail in a way than of the
    /// others', and more than a share of `min_share`; `here` are games without failures that no
    /// worker has played.
    fn excess(
        &self,
        worker: &str,
        what: &str,
        of: &str,
        here: u64,
        min_share: f64,
        count: impl Fn(&str, &RunCounts) -> FailureCount,
    ) -> Option<Finding> {
        let own = count(worker, self.workers.get(worker)?);
        let mut others = FailureCount { games: here, failures: 0 };
        for (name, counts) in self.workers.iter().filter(|(name, _)| *name != worker) {
            let FailureCount { games, failures } = count(name, counts);
            others.games += games;
            others.failures += failures;
        }
        // Bonferroni's correction for all checks of all workers. Fisher's test is exact for small
        // counts, where the normal approximation fails.
        let p = fisher_exact(own, others) * MAX_CHECKS * self.workers.len() as f64;
        let is_out = p < FALSE_ALARM && own.failures as f64 > min_share * own.games as f64;
        is_out.then(|| Finding {
            worker: worker.to_owned(),
            reason: format!(
                "{what} in {} of its {} {of}, and in {} of {} {of} of the other workers (corrected \
                 p {p:.1e})",
                own.failures, own.games, others.failures, others.games
            ),
        })
    }

    /// Returns the deviation of each worker's pair results from those of the others, in standard
    /// deviations, for workers with enough pairs.
    fn residuals(&self) -> Vec<(&String, f64)> {
        let pairs: Vec<Pentanomial> =
            self.workers.values().map(|counts| counts.main_encounter().pairs).collect();
        let compared = self.workers.keys().zip(residuals::compare(&pairs));
        compared.filter_map(|(name, residual)| Some((name, residual?))).collect()
    }

    /// Returns the worker whose pair results differ most from those of the others, if
    /// significantly.
    fn residual(&self) -> Option<Finding> {
        if !self.is_uniform {
            return None;
        }
        let compared = self.residuals();
        // Only the largest: one odd worker raises the residuals of the others as well.
        let (worker, residual) = compared.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_out = compared.len() >= MIN_WORKERS && *residual > MAX_RESIDUAL;
        is_out.then(|| Finding {
            worker: (*worker).clone(),
            reason: format!(
                "its results differ from those of the {} other workers: residual {residual:.1} \
                 standard deviations, limit {MAX_RESIDUAL:.0}",
                compared.len() - 1
            ),
        })
    }
}

#[cfg(test)]
mod tests;
