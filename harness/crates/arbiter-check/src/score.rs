//! Score of an engine over all checks.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Grade, Outcome, Verdict};

/// Counts of one grade, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Checks passed.
    pub passed: usize,
    /// Checks failed.
    pub failed: usize,
    /// Checks skipped, because they do not concern this engine.
    pub skipped: usize,
}

impl Counts {
    /// Returns the number of checks that passed or failed.
    pub fn judged(&self) -> usize {
        self.passed + self.failed
    }
}

/// Counts the verdicts whose grade `is_counted`.
pub fn count(verdicts: &[Verdict], is_counted: impl Fn(Grade) -> bool) -> Counts {
    let mut counts = Counts::default();
    for verdict in verdicts.iter().filter(|verdict| is_counted(verdict.check.grade)) {
        match verdict.outcome {
            Outcome::Passed => counts.passed += 1,
            Outcome::Failed(_) => counts.failed += 1,
            Outcome::Skipped(_) => counts.skipped += 1,
        }
    }
    counts
}

/// Returns the weighted share of passed checks among those judged, 0 to 100; each check has the
/// weight of its grade. `None` if nothing was judged. Only an engine that passes every check has
/// 100.
pub fn score(verdicts: &[Verdict]) -> Option<f64> {
    let weight = |is_counted: fn(&Outcome) -> bool| -> u32 {
        let counted = verdicts.iter().filter(|verdict| is_counted(&verdict.outcome));
        counted.map(|verdict| verdict.check.grade as u32).sum()
    };
    // A skipped check does not concern the engine, and must not lower its score.
    let all = weight(|outcome| !matches!(outcome, Outcome::Skipped(_)));
    let passed = weight(|outcome| *outcome == Outcome::Passed);
    (all > 0).then(|| 100.0 * f64::from(passed) / f64::from(all))
}

/// Formats the score: rounded down to tenths, so that only perfection reads as 100.0.
pub fn format_score(score: f64) -> String {
    format!("{:.1}", (score * 10.0).floor() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;
    use crate::transcript::Transcript;

    #[test]
    fn grave_failures_weigh_more() {
        let of = |grade: Grade, outcome: Outcome| {
            let check = rules::checks().find(|check| check.grade == grade).copied();
            Verdict { check: check.unwrap(), outcome, transcript: Transcript::default() }
        };
        let failed = || Outcome::Failed("x".to_owned());
        let skipped = of(Grade::Must, Outcome::Skipped("y".to_owned()));
        assert_eq!(score(std::slice::from_ref(&skipped)), None);
        let must = [of(Grade::Must, failed()), of(Grade::Nice, Outcome::Passed), skipped];
        let nice = [of(Grade::Must, Outcome::Passed), of(Grade::Nice, failed())];
        assert_eq!(score(&must), Some(20.0));
        assert_eq!(score(&nice), Some(80.0));
        let counts = count(&must, |grade| grade == Grade::Must);
        assert_eq!((counts.passed, counts.failed, counts.skipped), (0, 1, 1));
        assert_eq!(format_score(99.99), "99.9");
        assert_eq!(format_score(100.0), "100.0");
    }
}
