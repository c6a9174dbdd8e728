//! Detection of workers whose results differ from the results of other workers. This module does no
//! I/O.
//!
//! Three criteria are compared: rate of crashes, rate of losses on time, and distribution of pair
//! results. A worker is first checked after [`FIRST_CHECK`] games, and then whenever its number of
//! games has doubled, so that even a long run has few checks. The limits are corrected for all
//! checks and all workers (Bonferroni). If no worker differs from the other workers, the
//! probability that a run excludes a worker is below [`FALSE_ALARM`] for each criterion.

use std::collections::BTreeMap;

use arbiter_game::outcome::Termination;
use arbiter_run::{PairTally, RunCounts};
use arbiter_stats::{FailureCount, Pentanomial, fisher_exact, residuals};

/// Number of games of a worker before its first check. If the number were larger, a worker that
/// fails in every game would spoil a short run before the check.
pub(crate) const FIRST_CHECK: u64 = 4;

/// Type I error rate of each criterion: the maximum probability that a run excludes a worker
/// although no worker differs.
pub(crate) const FALSE_ALARM: f64 = 1e-3;

/// Upper bound on the number of checks of a worker: 26 doublings of 4 games are 268 million games.
const MAX_CHECKS: f64 = 26.0;

/// Minimum share of games that a worker must lose on time before the worker is excluded, however
/// significant the excess is. A smaller share is tolerated because a machine may be slightly slow.
/// Breakdowns have no minimum share, because a worker could report false breakdowns below such a
/// share.
const MIN_TIME_LOSSES: f64 = 0.02;

/// Minimum number of jobs that a worker must give back before the worker is excluded; the share is
/// checked at each multiple of this number.
const MIN_GIVEN_BACK: u64 = 50;
/// Minimum number of times that a worker must give back all jobs that it plays in parallel before
/// the worker is excluded. An honest worker gives back its unfinished jobs when it is stopped, and
/// loses these jobs when its machine fails.
const MIN_STOPS: u64 = 3;
/// Minimum share of jobs that a worker must give back before the worker is excluded.
const MIN_SHARE_GIVEN_BACK: f64 = 0.1;

/// Maximum residual, in standard deviations; a worker exceeds this limit by chance with a
/// probability of 1e-9. For about 200 workers, the limit corresponds to [`FALSE_ALARM`], because
/// all workers are compared at each check of any worker.
const MAX_RESIDUAL: f64 = 6.0;

/// Minimum number of workers for a comparison of residuals. If a run has only two workers, and the
/// two differ, either worker may be the outlier.
const MIN_WORKERS: usize = 3;

/// Worker to exclude, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Name of the worker.
    pub(crate) worker: String,
    /// Reason for the exclusion, as a sentence.
    pub(crate) reason: String,
}

/// Detector of outliers, with the counted results of each worker.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutlierDetector {
    /// `true` if all pairs are between the same two engines, under the same conditions.
    is_uniform: bool,
    workers: BTreeMap<String, RunCounts>,
    /// Number of jobs that each worker has given back or withholds.
    given_back: BTreeMap<String, u64>,
    /// Number of games in pairs that the coordinator's machine played without the breakdown that a
    /// worker had reported.
    pub(crate) refuted: u64,
}

/// Returns whether a game ended by a fault other than a loss on time.
pub(crate) fn is_breakdown(termination: Termination) -> bool {
    termination.is_fault() && termination != Termination::TimeForfeit
}

/// Returns, for each worker with enough pairs, the deviation (in standard deviations) of the
/// worker's pair results from the results of other workers. All pairs must be between the same two
/// engines under the same conditions.
pub fn worker_residuals(played: &[(String, PairTally)]) -> BTreeMap<String, f64> {
    let mut detector = OutlierDetector::new(true);
    played.iter().for_each(|(worker, tally)| detector.add(worker, tally));
    detector.residuals().into_iter().map(|(name, residual)| (name.clone(), residual)).collect()
}

impl OutlierDetector {
    /// Creates a detector without results. Residuals are compared only if `is_uniform` is `true`,
    /// that is, if all pairs are between the same two engines, with unchanged options.
    pub(crate) fn new(is_uniform: bool) -> OutlierDetector {
        OutlierDetector { is_uniform, ..OutlierDetector::default() }
    }

    /// Adds a pair played by a worker.
    pub(crate) fn add(&mut self, worker: &str, tally: &PairTally) {
        self.workers.entry(worker.to_owned()).or_default().count(tally);
    }

    /// Adds a pair played by a worker, and checks the worker if a check is due. Returns the
    /// outlier, if any.
    pub(crate) fn add_and_check(&mut self, worker: &str, tally: &PairTally) -> Option<Finding> {
        // The number of checks grows only with the logarithm of the number of games, so
        // Bonferroni's correction stays small.
        let doublings = |outliers: &OutlierDetector| {
            let games = outliers.workers.get(worker).map_or(0, RunCounts::games);
            (games / FIRST_CHECK).checked_ilog2()
        };
        let before = doublings(self);
        self.add(worker, tally);
        let is_due = doublings(self) != before;
        is_due.then(|| self.check(worker)).flatten()
    }

    /// Counts a job that a worker gives back or withholds; `most` is the largest number of jobs
    /// that the worker has played in parallel. Returns a finding if the worker gives back many more
    /// jobs than other workers, because such a worker could select the results that it sends.
    pub(crate) fn gave_back(&mut self, worker: &str, most: u64) -> Option<Finding> {
        self.workers.entry(worker.to_owned()).or_default();
        let count = self.given_back.entry(worker.to_owned()).or_default();
        *count += 1;
        if !count.is_multiple_of(MIN_GIVEN_BACK) || *count <= MIN_STOPS * most {
            return None;
        }
        self.excess(worker, "no result", "jobs", 0, MIN_SHARE_GIVEN_BACK, |name, counts| {
            let failures = self.given_back.get(name).copied().unwrap_or(0);
            let pairs: u64 = counts.encounters.values().map(|met| met.pairs.pairs()).sum();
            // A job is a pair or a single game, so the two games of a pair are counted as one job.
            FailureCount { games: failures + counts.games() - pairs, failures }
        })
    }

    /// Corrects the count of [`gave_back`](Self::gave_back) for a withheld job that has a result
    /// after all.
    pub(crate) fn finished_withheld(&mut self, worker: &str) {
        self.given_back.entry(worker.to_owned()).and_modify(|count| *count -= 1);
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
        let is_late = |termination| termination == Termination::TimeForfeit;
        let late = || ended(worker, "losses on time", is_late, MIN_TIME_LOSSES);
        fails.or_else(late).or_else(|| self.residual())
    }

    /// Returns the worker if the failure rate of the worker's games or jobs is significantly higher
    /// than the failure rate of other workers, and above `min_share`. `here` is the number of games
    /// that the coordinator's machine played without failures.
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
        // Bonferroni's correction covers all checks of all workers. Fisher's exact test is used,
        // because the normal approximation fails for small counts.
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

    /// Returns, for each worker with enough pairs, the deviation (in standard deviations) of the
    /// worker's pair results from the results of other workers.
    fn residuals(&self) -> Vec<(&String, f64)> {
        let pairs: Vec<Pentanomial> =
            self.workers.values().map(|counts| counts.main_encounter().pairs).collect();
        let compared = self.workers.keys().zip(residuals::compare(&pairs));
        compared.filter_map(|(name, residual)| Some((name, residual?))).collect()
    }

    /// Returns the worker whose pair results differ most from the results of other workers, if the
    /// difference is significant.
    fn residual(&self) -> Option<Finding> {
        if !self.is_uniform {
            return None;
        }
        let compared = self.residuals();
        // Only the worker with the largest residual is considered, because one deviating worker
        // raises the residuals of all other workers.
        let (worker, residual) = compared.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_out = compared.len() >= MIN_WORKERS && *residual > MAX_RESIDUAL;
        is_out.then(|| Finding {
            worker: (*worker).clone(),
            reason: format!(
                "the worker's results differ from the results of the {} other workers: residual \
                 {residual:.1} standard deviations, limit {MAX_RESIDUAL:.0}",
                compared.len() - 1
            ),
        })
    }
}

#[cfg(test)]
mod tests;
