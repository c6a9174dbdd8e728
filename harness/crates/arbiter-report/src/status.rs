//! The state of a running match in one line.

use std::time::Duration;

use crate::summary::Strength;
use crate::text::{percent, plus_minus};
use arbiter_plan::run::counts::RunCounts;
use arbiter_stats::{Decision, Sprt, SprtStatus};

/// What the line needs to know besides the counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// The stopping rule and what it says, if only two engines meet.
    pub(crate) sprt: Option<(Sprt, SprtStatus)>,
    /// How many tests came to a verdict, if there are any.
    pub(crate) decided: Option<usize>,
    /// How many times two engines meet.
    pub(crate) encounters: usize,
    /// Pairs counted.
    pub(crate) counted: u64,
    /// Pairs at most.
    pub(crate) total: u64,
    /// Pairs counted since the start or resumption.
    pub(crate) counted_now: u64,
    /// Time since then.
    pub(crate) elapsed: Duration,
    /// Games of a pair: 1 if each opening is played once.
    pub(crate) games_per_pair: u64,
}

impl Progress {
    /// Games per second since the start.
    fn rate(&self) -> Option<f64> {
        let seconds = self.elapsed.as_secs_f64();
        (self.counted_now > 0 && seconds > 0.0)
            .then(|| (self.games_per_pair * self.counted_now) as f64 / seconds)
    }

    /// Expected time to the end: to the verdict for an SPRT, but never beyond the cap.
    fn remaining(&self, strength: &Strength) -> Option<Duration> {
        let capped = (self.total - self.counted.min(self.total)) as f64;
        let pairs = match self.sprt {
            Some((_, sprt_status)) if sprt_status.decision != Decision::Continue => return None,
            Some((sprt, _)) => sprt.forecast(&strength.pairs)?.mean_units.min(capped),
            None => capped,
        };
        let games = self.games_per_pair as f64 * pairs;
        Duration::try_from_secs_f64(games / self.rate()?).ok()
    }
}

/// What became of a pair that the machine disturbed, and what to do about it.
pub fn disturbance(pair: u64, reason: &str, is_void: bool) -> String {
    let fate = match is_void {
        true => "is void and is played again",
        false => "counts, as it was disturbed each time",
    };
    let number = pair + 1;
    format!("pair {number} {fate}: {reason}; lower --concurrency, or raise --noise-limit")
}

/// All in one line: evidence, if there is any, then pace.
pub(crate) fn one_line([evidence, pace]: [String; 2]) -> String {
    if evidence.is_empty() { pace } else { format!("{evidence} · {pace}") }
}

/// Two lines that fit a narrow terminal: the evidence (likelihood ratio, Elo, counts), which may
/// be empty, and the pace (pairs, speed, time to go).
pub(crate) fn status_lines(counts: &RunCounts, progress: &Progress) -> [String; 2] {
    let strength = Strength::of(counts.main_encounter());
    let mut evidence = Vec::new();
    if let Some((_, SprtStatus { llr, lower, upper, .. })) = progress.sprt {
        evidence.push(format!("LLR {llr:+.2} [{lower:.2}, {upper:.2}]"));
    }
    if progress.encounters == 1 && !counts.encounters.is_empty() {
        evidence.push(format!("Elo {}", plus_minus(strength.elo)));
        evidence.push(format!("LOS {}", percent(strength.los)));
        if strength.pairs.pairs() > 0 {
            evidence.push(format!("ptnml {:?}", strength.pairs.0));
        }
    }
    if let Some(decided) = progress.decided.filter(|_| progress.encounters > 1) {
        evidence.push(format!("{decided}/{} tests decided", progress.encounters));
    }
    let unit = if progress.games_per_pair == 1 { "games" } else { "pairs" };
    let mut pace = vec![format!("{}/{} {unit}", progress.counted, progress.total)];
    if let Some((sprt, sprt_status)) = progress.sprt
        && sprt_status.decision == Decision::Continue
        && let Some(forecast) = sprt.forecast(&strength.pairs)
    {
        pace.push(format!("H1 in {}", percent(Some(forecast.upper_probability))));
    }
    let faults: u64 = counts.faults.values().sum();
    if faults > 0 {
        pace.push(format!("{faults} faults"));
    }
    if let Some(rate) = progress.rate() {
        pace.push(format!("{rate:.1} games/s"));
    }
    if (progress.encounters == 1 || progress.decided.is_none())
        && let Some(left) = progress.remaining(&strength)
    {
        pace.push(format!("about {} left", rough(left)));
    }
    [evidence.join(" · "), pace.join(" · ")]
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
    use arbiter_plan::run::counts::{GameTally, PairTally};
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

    fn sprt_status(llr: f64) -> SprtStatus {
        SprtStatus { llr, lower: -2.7, upper: 2.8, decision: Decision::Continue }
    }

    #[test]
    fn the_line_of_a_match() {
        let progress = Progress {
            sprt: None,
            decided: None,
            encounters: 1,
            counted: 2,
            total: 100,
            counted_now: 2,
            elapsed: Duration::from_secs(4),
            games_per_pair: 2,
        };
        assert_eq!(
            one_line(status_lines(&counts(), &progress)),
            "Elo +88.7 ± 136.3 · LOS 92.1 % · ptnml [0, 0, 1, 1, 0] · 2/100 pairs · \
             1.0 games/s · about 4 min left"
        );
    }

    #[test]
    fn an_sprt_shows_its_ratio_first() {
        let sprt = Sprt::new(0.0, 5.0, 0.05, 0.05, Model::Normalized).unwrap();
        let progress = Progress {
            sprt: Some((sprt, sprt_status(0.25))),
            decided: Some(0),
            encounters: 1,
            counted: 0,
            total: 10,
            counted_now: 0,
            elapsed: Duration::ZERO,
            games_per_pair: 2,
        };
        let line = one_line(status_lines(&RunCounts::default(), &progress));
        assert_eq!(line, "LLR +0.25 [-2.70, 2.80] · 0/10 pairs");
    }

    #[test]
    fn an_sprt_that_can_tell_shows_how_it_may_end() {
        let sprt = Sprt::new(0.0, 5.0, 0.05, 0.05, Model::Normalized).unwrap();
        let progress = Progress {
            sprt: Some((sprt, sprt_status(0.01))),
            decided: Some(0),
            encounters: 1,
            counted: 2,
            total: 10,
            counted_now: 0,
            elapsed: Duration::ZERO,
            games_per_pair: 2,
        };
        let line = one_line(status_lines(&counts(), &progress));
        assert!(line.ends_with("2/10 pairs · H1 in 51.6 %"), "{line}");
        let decided = SprtStatus { decision: Decision::AcceptH1, ..sprt_status(2.9) };
        let progress = Progress { sprt: Some((sprt, decided)), counted_now: 2, ..progress };
        let line = one_line(status_lines(&counts(), &progress));
        assert!(line.ends_with("2/10 pairs"), "{line}");
    }

    #[test]
    fn durations_are_rough() {
        let shown = [5, 99, 100, 7_000, 400_000].map(|s| rough(Duration::from_secs(s)));
        assert_eq!(shown, ["5 s", "99 s", "2 min", "2 h", "5 days"]);
    }
}
