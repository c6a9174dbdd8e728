//! Score of an engine over all checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Grade, Outcome, Verdict};

/// Numbers of checks by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Number of checks passed.
    pub passed: usize,
    /// Number of checks failed.
    pub failed: usize,
    /// Number of checks skipped, because they do not apply to the engine.
    pub skipped: usize,
}

impl Counts {
    /// Returns the number of checks that passed or failed.
    pub fn judged(&self) -> usize {
        self.passed + self.failed
    }
}

/// Counts the verdicts whose grades `is_counted` accepts, by result.
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

/// Returns the share of passed checks among the judged checks, 0 to 100 %, weighted by grade;
/// `None` if no check was judged.
pub fn score(verdicts: &[Verdict]) -> Option<f64> {
    let weight = |is_counted: fn(&Outcome) -> bool| -> u32 {
        let counted = verdicts.iter().filter(|verdict| is_counted(&verdict.outcome));
        counted.map(|verdict| verdict.check.grade as u32).sum()
    };
    // A skipped check does not apply to the engine, so it must not lower the score.
    let all = weight(|outcome| !matches!(outcome, Outcome::Skipped(_)));
    let passed = weight(|outcome| *outcome == Outcome::Passed);
    (all > 0).then(|| 100.0 * f64::from(passed) / f64::from(all))
}

/// Formats a score, rounded down to tenths, so that only a perfect score is shown as 100.0.
pub fn format_score(score: f64) -> String {
    format!("{:.1}", (score * 10.0).floor() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;
    use crate::transcript::Transcript;

    #[test]
    fn failures_of_important_checks_weigh_more() {
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
