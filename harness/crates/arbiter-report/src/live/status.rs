//! Progress of a run, formatted as parts of a line.

use std::collections::BTreeMap;
use std::time::Duration;

use super::recent::Recent;
use crate::figures::Strength;
use crate::parts::{rough, superiority};
use arbiter_names::quantity;
use arbiter_plan::Plan;
use arbiter_run::{PairTally, RunCounts, RunState};
use arbiter_schedule::Schedule;
use arbiter_stats::{Decision, Sprt, SprtMonitor, SprtStatus};

/// Progress of a run.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Stopping rule.
    pub(crate) sprt: Option<Sprt>,
    /// State of the stopping rule for each encounter with counted pairs, by the indices of the
    /// engines.
    pub(crate) sprt_statuses: BTreeMap<[usize; 2], SprtStatus>,
    /// State of the schedule after the counted pairs.
    pub(crate) schedule: Schedule,
    /// Counts of games, pairs, endings and faults over the counted pairs.
    pub(crate) counts: RunCounts,
    /// Number of counted pairs.
    pub(crate) counted: u64,
    /// Number of pairs counted before the start or resumption.
    pub(crate) counted_before: u64,
}

impl Progress {
    /// Returns the progress of a run that starts or resumes in the state `state`.
    pub(crate) fn of(sprt: Option<Sprt>, state: &RunState) -> Progress {
        let counted = state.counted_pairs().count() as u64;
        Progress {
            sprt,
            sprt_statuses: state.sprt_statuses().clone(),
            schedule: state.schedule().clone(),
            counts: state.counts().clone(),
            counted,
            counted_before: counted,
        }
    }

    /// Counts a pair, and records the state of the stopping rule after this pair.
    pub(crate) fn add(&mut self, tally: &PairTally, sprt_status: Option<SprtStatus>) {
        self.counts.count(tally);
        tally.count_in(&mut self.schedule);
        self.counted += 1;
        self.sprt_statuses.extend(sprt_status.map(|status| (tally.engine_pair(), status)));
    }

    /// Returns the SPRT and its state, if the run has an SPRT and a single encounter.
    pub(crate) fn test(&self) -> Option<(Sprt, SprtStatus)> {
        let sprt = self.sprt.filter(|_| self.schedule.matchups() == 1)?;
        let sprt_status = self.sprt_statuses.values().next().copied();
        Some((sprt, sprt_status.unwrap_or_else(|| SprtMonitor::new(sprt, 1).start())))
    }

    /// Returns the speed in games per second since the start or resumption; `None` before the first
    /// counted pair. `elapsed` is the playing time.
    fn rate(&self, elapsed: Duration) -> Option<f64> {
        let pairs = self.counted - self.counted_before;
        let seconds = elapsed.as_secs_f64();
        let games = self.schedule.design().games_per_pair() * pairs;
        (pairs > 0 && seconds > 0.0).then(|| games as f64 / seconds)
    }

    /// Returns the number of pairs that remain until the maximum.
    fn remaining_pairs(&self) -> u64 {
        self.schedule.expected_pairs().saturating_sub(self.counted)
    }

    fn strength(&self) -> Strength {
        Strength::of(self.counts.main_encounter())
    }

    /// Returns the expected time until the verdict of the single SPRT, or until the maximum number
    /// of pairs. Returns `None` if no forecast is possible.
    fn remaining(&self, elapsed: Duration) -> Option<Duration> {
        let capped = self.remaining_pairs() as f64;
        let pairs = match self.test() {
            Some((_, sprt_status)) if sprt_status.decision != Decision::Continue => return None,
            Some((sprt, _)) => sprt.forecast(&self.strength().pairs)?.mean_units.min(capped),
            // With several tests, each test may end before its maximum number of pairs, so there is
            // no common forecast.
            None if self.sprt.is_some() => return None,
            None => capped,
        };
        let games = self.schedule.design().games_per_pair() as f64 * pairs;
        Duration::try_from_secs_f64(games / self.rate(elapsed)?).ok()
    }

    /// Returns the probability of each verdict of the single SPRT; empty before the first results
    /// and after the verdict.
    pub(crate) fn chances(&self) -> Vec<String> {
        let open = self.test().filter(|(_, status)| status.decision == Decision::Continue);
        let chances =
            open.and_then(|(sprt, _)| sprt.chances(&self.strength().pairs, self.remaining_pairs()));
        let Some([h1, h0]) = chances else { return Vec::new() };
        let neither = 1.0 - h1 - h0;
        let verdicts = [("H1", h1), ("H0", h0)].into_iter();
        verdicts
            .chain((neither >= 0.001).then_some(("neither", neither)))
            .map(|(verdict, chance)| match 100.0 * chance {
                share @ 0.5..99.5 => format!("{verdict} {share:.0} %"),
                _ => format!("{verdict} {}", superiority(Some(chance), None)),
            })
            .collect()
    }

    /// Returns the strength of the first of two engines or, in a run with several tests, the number
    /// of decided tests.
    pub(crate) fn evidence(&self) -> Vec<String> {
        let matchups = self.schedule.matchups();
        if matchups > 1 {
            let statuses = self.sprt_statuses.values();
            let decided = statuses.filter(|status| status.decision != Decision::Continue).count();
            let tests = self.sprt.map(|_| format!("{decided}/{matchups} tests decided"));
            return tests.into_iter().collect();
        }
        if self.counts.encounters.is_empty() {
            return Vec::new();
        }
        let strength = self.strength();
        let pairs = format!("ptnml {:?}", strength.pairs.0);
        let mut parts =
            vec![format!("Elo {}", strength.elo_text()), format!("LOS {}", strength.los_text())];
        parts.extend((strength.pairs.pairs() > 0).then_some(pairs));
        parts
    }

    fn unit(&self) -> &'static str {
        if self.schedule.design().is_single { "game" } else { "pair" }
    }

    /// Formats the number of counted pairs.
    pub(crate) fn pairs(&self) -> String {
        quantity(self.counted, self.unit())
    }

    /// Formats the number of counted pairs and the maximum number of pairs.
    pub(crate) fn count(&self) -> String {
        let maximum = self.schedule.expected_pairs();
        match self.sprt {
            Some(_) => format!("{} of at most {maximum}", self.pairs()),
            None => format!("{}/{maximum} {}s", self.counted, self.unit()),
        }
    }

    /// Returns the faults, the speed and the remaining time; `elapsed` is the playing time.
    pub(crate) fn pace(&self, elapsed: Duration) -> Vec<String> {
        let faults: u64 = self.counts.faults.values().sum();
        let faults = (faults > 0).then(|| quantity(faults, "fault"));
        let rate = self.rate(elapsed).map(|rate| match rate {
            1.0.. => format!("{rate:.1} games/s"),
            _ => format!("{:.1} games/min", 60.0 * rate),
        });
        let remaining = self.remaining(elapsed).filter(|remaining| remaining.as_secs() > 0);
        let remaining = remaining.map(|remaining| format!("about {} left", rough(remaining)));
        [faults, rate, remaining].into_iter().flatten().collect()
    }
}

/// Returns two parts of the live view: the probability of each verdict; and the faults, the speed
/// and the remaining time.
pub fn outlook(plan: &Plan, state: &RunState, recent: &Recent) -> [Vec<String>; 2] {
    let mut progress = Progress::of(plan.sprt, state);
    // The pairs of an excluded worker no longer count, so the number of counted pairs can be
    // smaller than at the start.
    progress.counted_before = recent.pairs_before.min(progress.counted);
    [progress.chances(), progress.pace(Duration::from_millis(recent.active_ms))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::outcome::Termination;
    use arbiter_run::GameTally;
    use arbiter_schedule::Design;
    use arbiter_stats::{GameResult, Model};

    fn counts() -> RunCounts {
        let mut counts = RunCounts::default();
        let pairs = [[GameResult::Win, GameResult::Draw], [GameResult::Loss, GameResult::Win]];
        for (pair, results) in (0..).zip(pairs) {
            let game = |result| GameTally {
                result,
                termination: Termination::Checkmate,
                fault: None,
                hash: None,
            };
            let [first, second] = results.map(game);
            counts.count(&PairTally {
                pair,
                engines: [0, 1],
                first,
                second: Some(second),
                is_repeat: false,
            });
        }
        counts
    }

    /// Returns the progress of a match of `pairs` pairs, of which `counted` have been counted.
    fn progress(pairs: u64, counted: u64) -> Progress {
        Progress {
            sprt: None,
            sprt_statuses: BTreeMap::new(),
            schedule: Schedule::new(Design::round_robin(pairs), 2, 1),
            counts: if counted > 0 { counts() } else { RunCounts::default() },
            counted,
            counted_before: counted,
        }
    }

    fn test(progress: Progress, llr: f64, decision: Decision) -> Progress {
        let sprt = Sprt::new(0.0, 5.0, 0.05, 0.05, Model::Normalized).ok();
        let sprt_status = SprtStatus { llr, lower: -2.7, upper: 2.8, decision };
        Progress { sprt, sprt_statuses: [([0, 1], sprt_status)].into(), ..progress }
    }

    #[test]
    fn match_status_shows_strength_and_speed() {
        let progress = Progress { counted_before: 0, ..progress(100, 2) };
        let elo = ["Elo +88.7 ± 136.3", "LOS > 75.0 %", "ptnml [0, 0, 1, 1, 0]"];
        assert_eq!(progress.evidence(), elo);
        assert_eq!(progress.count(), "2/100 pairs");
        assert_eq!(progress.pace(Duration::from_secs(4)), ["1.0 games/s", "about 4 min left"]);
        assert!(progress.chances().is_empty());
    }

    #[test]
    fn an_sprt_forecast_appears_once_it_is_informative() {
        let begun = test(progress(10, 0), 0.25, Decision::Continue);
        assert_eq!((begun.chances(), begun.evidence()), (vec![], vec![]));
        let open = test(progress(20_000, 2), 0.01, Decision::Continue);
        assert_eq!(open.count(), "2 pairs of at most 20000");
        assert_eq!(open.chances(), ["H1 44 %", "H0 42 %", "neither 14 %"]);
        let decided = test(Progress { counted_before: 0, ..open }, 2.9, Decision::AcceptH1);
        assert!(decided.chances().is_empty());
        assert_eq!(decided.pace(Duration::from_secs(1)), ["4.0 games/s"]);
    }
}
