//! How far a running match has come, in one line.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::summary::Strength;
use crate::text::{percent, plus_minus};
use arbiter_plan::RunCounts;
use arbiter_schedule::Schedule;
use arbiter_stats::{Decision, Sprt, SprtMonitor, SprtStatus};

/// How far a run has come.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The stopping rule.
    pub(crate) sprt: Option<Sprt>,
    /// What it says of each two engines that have a counted pair.
    pub(crate) sprt_statuses: BTreeMap<[usize; 2], SprtStatus>,
    /// The schedule after the counted pairs.
    pub(crate) schedule: Schedule,
    /// Their counts.
    pub(crate) counts: RunCounts,
    /// Pairs counted.
    pub(crate) counted: u64,
    /// Those counted before the start or resumption.
    pub(crate) counted_before: u64,
}

impl Progress {
    /// The test and what it says, if only two engines meet.
    fn test(&self) -> Option<(Sprt, SprtStatus)> {
        let sprt = self.sprt.filter(|_| self.schedule.matchups() == 1)?;
        let sprt_status = self.sprt_statuses.values().next().copied();
        Some((sprt, sprt_status.unwrap_or_else(|| SprtMonitor::new(sprt, 1).start())))
    }

    /// Games per second in the time since the start or resumption.
    fn rate(&self, elapsed: Duration) -> Option<f64> {
        let (pairs, seconds) = (self.counted - self.counted_before, elapsed.as_secs_f64());
        let games = self.schedule.design().games_per_pair() * pairs;
        (pairs > 0 && seconds > 0.0).then(|| games as f64 / seconds)
    }

    /// Expected time to the end: to the verdict for an SPRT, but never beyond the cap.
    fn remaining(&self, strength: &Strength, elapsed: Duration) -> Option<Duration> {
        let capped = self.schedule.expected().saturating_sub(self.counted) as f64;
        let pairs = match self.test() {
            Some((_, sprt_status)) if sprt_status.decision != Decision::Continue => return None,
            Some((sprt, _)) => sprt.forecast(&strength.pairs)?.mean_units.min(capped),
            None => capped,
        };
        let games = self.schedule.design().games_per_pair() as f64 * pairs;
        Duration::try_from_secs_f64(games / self.rate(elapsed)?).ok()
    }

    /// Two lines that fit a narrow terminal: the evidence (likelihood ratio, Elo, counts), which may
    /// be empty, and the pace (pairs, speed, time to go).
    pub(crate) fn lines(&self, elapsed: Duration) -> [String; 2] {
        let (strength, test) = (Strength::of(self.counts.main_encounter()), self.test());
        let matchups = self.schedule.matchups();
        let mut evidence = Vec::new();
        if let Some((_, SprtStatus { llr, lower, upper, .. })) = test {
            evidence.push(format!("LLR {llr:+.2} [{lower:.2}, {upper:.2}]"));
        }
        if matchups == 1 && !self.counts.encounters.is_empty() {
            evidence.push(format!("Elo {}", plus_minus(strength.elo)));
            evidence.push(format!("LOS {}", percent(strength.los)));
            if strength.pairs.pairs() > 0 {
                evidence.push(format!("ptnml {:?}", strength.pairs.0));
            }
        }
        if self.sprt.is_some() && matchups > 1 {
            let statuses = self.sprt_statuses.values();
            let decided = statuses.filter(|status| status.decision != Decision::Continue).count();
            evidence.push(format!("{decided}/{matchups} tests decided"));
        }
        let unit = if self.schedule.design().is_single { "games" } else { "pairs" };
        let mut pace = vec![format!("{}/{} {unit}", self.counted, self.schedule.expected())];
        if let Some((sprt, sprt_status)) = test
            && sprt_status.decision == Decision::Continue
            && let Some(forecast) = sprt.forecast(&strength.pairs)
        {
            pace.push(format!("H1 in {}", percent(Some(forecast.upper_probability))));
        }
        let faults: u64 = self.counts.faults.values().sum();
        if faults > 0 {
            pace.push(format!("{faults} faults"));
        }
        if let Some(rate) = self.rate(elapsed) {
            pace.push(format!("{rate:.1} games/s"));
        }
        if (matchups == 1 || self.sprt.is_none())
            && let Some(left) = self.remaining(&strength, elapsed)
        {
            pace.push(format!("about {} left", rough(left)));
        }
        [evidence.join(" · "), pace.join(" · ")]
    }
}

/// All in one line: evidence, if there is any, then pace.
pub(crate) fn one_line([evidence, pace]: [String; 2]) -> String {
    if evidence.is_empty() { pace } else { format!("{evidence} · {pace}") }
}

/// A duration in its largest sensible unit.
fn rough(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6_000 => format!("{} min", seconds.div_ceil(60)),
        seconds @ 6_000..360_000 => format!("{} h", seconds.div_ceil(3_600)),
        seconds => format!("{} days", seconds.div_ceil(86_400)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::outcome::Termination;
    use arbiter_plan::{GameTally, PairTally};
    use arbiter_schedule::Design;
    use arbiter_stats::{GameResult, Model};

    fn counts() -> RunCounts {
        let mut counts = RunCounts::default();
        let pairs = [[GameResult::Win, GameResult::Draw], [GameResult::Loss, GameResult::Win]];
        for (pair, results) in (0..).zip(pairs) {
            let game =
                |result| GameTally { result, termination: Termination::Checkmate, fault: None };
            let [first, second] = results.map(game);
            counts.count(&PairTally { pair, engines: [0, 1], first, second: Some(second) });
        }
        counts
    }

    /// A match of so many pairs of which some were counted before.
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
    fn the_line_of_a_match() {
        let progress = Progress { counted_before: 0, ..progress(100, 2) };
        assert_eq!(
            one_line(progress.lines(Duration::from_secs(4))),
            "Elo +88.7 ± 136.3 · LOS 92.1 % · ptnml [0, 0, 1, 1, 0] · 2/100 pairs · \
             1.0 games/s · about 4 min left"
        );
    }

    #[test]
    fn an_sprt_shows_its_ratio_first() {
        let progress = test(progress(10, 0), 0.25, Decision::Continue);
        let line = one_line(progress.lines(Duration::ZERO));
        assert_eq!(line, "LLR +0.25 [-2.70, 2.80] · 0/10 pairs");
    }

    #[test]
    fn an_sprt_that_can_tell_shows_how_it_may_end() {
        let open = test(progress(10, 2), 0.01, Decision::Continue);
        let line = one_line(open.lines(Duration::ZERO));
        assert!(line.ends_with("2/10 pairs · H1 in 51.6 %"), "{line}");
        let decided = test(Progress { counted_before: 0, ..open }, 2.9, Decision::AcceptH1);
        let line = one_line(decided.lines(Duration::ZERO));
        assert!(line.ends_with("2/10 pairs"), "{line}");
    }

    #[test]
    fn durations_are_rough() {
        let shown = [5, 99, 100, 7_000, 400_000].map(|s| rough(Duration::from_secs(s)));
        assert_eq!(shown, ["5 s", "99 s", "2 min", "2 h", "5 days"]);
    }
}
