//! The state of a running match in one line.

use std::time::Duration;

use crate::report::summary::Strength;
use crate::run::standing::Standing;
use crate::stats::elo::{Estimate, Extended};
use crate::stats::sprt::{Decision, Sprt};

/// What the line needs to know besides the counts.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// The stopping rule and its ratio.
    pub sprt: Option<(Sprt, f64)>,
    /// How many times two engines meet.
    pub encounters: usize,
    /// Pairs counted.
    pub counted: u64,
    /// Pairs at most.
    pub total: u64,
    /// Pairs counted since the start or resumption.
    pub counted_now: u64,
    /// Time since then.
    pub elapsed: Duration,
}

impl Progress {
    /// Games per second since the start.
    fn rate(&self) -> Option<f64> {
        let seconds = self.elapsed.as_secs_f64();
        (self.counted_now > 0 && seconds > 0.0).then(|| 2.0 * self.counted_now as f64 / seconds)
    }

    /// Expected time to the end: to the verdict for an SPRT, but never beyond the cap.
    fn remaining(&self, strength: &Strength) -> Option<Duration> {
        let capped = (self.total - self.counted.min(self.total)) as f64;
        let pairs = match self.sprt {
            Some((sprt, _)) => sprt.expected_remaining_pairs(&strength.pairs)?.min(capped),
            None => capped,
        };
        Duration::try_from_secs_f64(2.0 * pairs / self.rate()?).ok()
    }
}

/// All in one line: evidence, then pace.
pub fn status_line(standing: &Standing, progress: &Progress) -> String {
    let [evidence, pace] = status_lines(standing, progress);
    if evidence.is_empty() { pace } else { format!("{evidence} · {pace}") }
}

/// Two lines that fit a narrow terminal: the evidence (likelihood ratio, Elo, counts), which may
/// be empty, and the pace (pairs, speed, time to go).
pub fn status_lines(standing: &Standing, progress: &Progress) -> [String; 2] {
    let strength = Strength::of(standing.main_encounter());
    let mut evidence = Vec::new();
    if let Some((sprt, llr)) = progress.sprt.filter(|_| progress.encounters == 1) {
        let bounds = sprt.bounds();
        evidence.push(format!("LLR {llr:+.2} [{:.2}, {:.2}]", bounds.lower(), bounds.upper()));
    }
    if progress.encounters == 1 && !standing.encounters.is_empty() {
        evidence.push(format!("Elo {}", plus_minus(strength.elo.as_ref())));
        evidence.push(format!("LOS {}", percent(strength.los)));
        evidence.push(format!("ptnml {:?}", strength.pairs.0));
    }
    if let Some((sprt, _)) = progress.sprt.filter(|_| progress.encounters > 1) {
        let all = standing.encounters.values();
        let is_decided = |pairs| sprt.decide(sprt.llr(pairs)) != Decision::Continue;
        let decided = all.filter(|encounter| is_decided(&encounter.pairs)).count();
        evidence.push(format!("{decided}/{} tests decided", progress.encounters));
    }
    let mut pace = vec![format!("{}/{} pairs", progress.counted, progress.total)];
    let only_test = progress.sprt.filter(|_| progress.encounters == 1);
    if let Some(outlook) = only_test.and_then(|(sprt, _)| sprt.outlook(&strength.pairs)) {
        pace.push(format!("H1 in {}", percent(Some(outlook.upper_probability))));
    }
    let faults: u64 = standing.faults.values().sum();
    if faults > 0 {
        pace.push(format!("{faults} faults"));
    }
    if let Some(rate) = progress.rate() {
        pace.push(format!("{rate:.1} games/s"));
    }
    if (progress.encounters == 1 || progress.sprt.is_none())
        && let Some(left) = progress.remaining(&strength)
    {
        pace.push(format!("about {} left", rough(left)));
    }
    [evidence.join(" · "), pace.join(" · ")]
}

/// An estimate as `+4.1 ± 5.3`, or the word "undefined".
pub fn plus_minus(estimate: Option<&Estimate>) -> String {
    let Some(estimate) = estimate else { return "undefined".to_owned() };
    match (estimate.value, estimate.half_width()) {
        // All pairs alike show no spread to judge by; that is not certainty.
        (Extended::Finite(value), Some(0.0)) => format!("{:+.1}, interval undefined", value + 0.0),
        (Extended::Finite(value), Some(half)) => format!("{value:+.1} ± {half:.1}"),
        (Extended::Finite(value), None) => format!("{value:+.1}, interval open"),
        (Extended::PosInfinity, _) => "undefined (all won)".to_owned(),
        (Extended::NegInfinity, _) => "undefined (all lost)".to_owned(),
    }
}

/// An estimate as `+4.1 [-1.2, +9.3]`; an end that is beyond all bounds is open.
pub fn interval(estimate: &Estimate) -> String {
    let shown = |value: Extended, beyond: &str| {
        value.finite().map_or(beyond.to_owned(), |value| format!("{value:+.1}"))
    };
    let (low, high) = (shown(estimate.low, "open"), shown(estimate.high, "open"));
    format!("{} [{low}, {high}]", shown(estimate.value, "undefined"))
}

/// A share as per cent, or the word "undefined".
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "undefined".to_owned(), |share| format!("{:.1} %", 100.0 * share))
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
    use crate::game::outcome::Termination;
    use crate::run::standing::PairTally;
    use crate::stats::pentanomial::GameResult;
    use crate::stats::sprt::Model;

    fn standing() -> Standing {
        let mut standing = Standing::default();
        let pairs = [[GameResult::Win, GameResult::Draw], [GameResult::Loss, GameResult::Win]];
        for (pair, results) in (0..).zip(pairs) {
            standing.count(&PairTally {
                pair,
                engines: [0, 1],
                results,
                terminations: [Termination::Checkmate; 2],
                faults: [None; 2],
            });
        }
        standing
    }

    #[test]
    fn the_line_of_a_match() {
        let progress = Progress {
            sprt: None,
            encounters: 1,
            counted: 2,
            total: 100,
            counted_now: 2,
            elapsed: Duration::from_secs(4),
        };
        assert_eq!(
            status_line(&standing(), &progress),
            "Elo +88.7 ± 136.3 · LOS 92.1 % · ptnml [0, 0, 1, 1, 0] · 2/100 pairs · \
             1.0 games/s · about 4 min left"
        );
    }

    #[test]
    fn an_sprt_shows_its_ratio_first() {
        let sprt = Sprt::new(0.0, 5.0, 0.05, 0.05, Model::Normalized).unwrap();
        let progress = Progress {
            sprt: Some((sprt, 0.25)),
            encounters: 1,
            counted: 0,
            total: 10,
            counted_now: 0,
            elapsed: Duration::ZERO,
        };
        let line = status_line(&Standing::default(), &progress);
        assert_eq!(line, "LLR +0.25 [-2.94, 2.94] · 0/10 pairs");
    }

    #[test]
    fn an_sprt_that_can_tell_shows_how_it_may_end() {
        let sprt = Sprt::new(0.0, 5.0, 0.05, 0.05, Model::Normalized).unwrap();
        let progress = Progress {
            sprt: Some((sprt, 0.01)),
            encounters: 1,
            counted: 2,
            total: 10,
            counted_now: 0,
            elapsed: Duration::ZERO,
        };
        let line = status_line(&standing(), &progress);
        assert!(line.ends_with("2/10 pairs · H1 in 100.0 %"), "{line}");
    }

    #[test]
    fn open_ends_are_shown_as_such() {
        let estimate = Estimate {
            value: Extended::Finite(4.06),
            low: Extended::Finite(-1.0),
            high: Extended::PosInfinity,
        };
        assert_eq!(interval(&estimate), "+4.1 [-1.0, open]");
        let beyond = Extended::PosInfinity;
        let estimate = Estimate { value: beyond, low: beyond, high: beyond };
        assert_eq!(interval(&estimate), "undefined [open, open]");
    }

    #[test]
    fn durations_are_rough() {
        let shown = [5, 99, 100, 7_000, 400_000].map(|s| rough(Duration::from_secs(s)));
        assert_eq!(shown, ["5 s", "99 s", "2 min", "2 h", "5 days"]);
    }
}
