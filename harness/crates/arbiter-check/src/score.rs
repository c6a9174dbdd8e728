//! The score of an engine over all checks.

use super::{Grade, Outcome, Verdict};

/// Counts of one grade, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Of no concern to this engine.
    pub skipped: usize,
}

impl Counts {
    /// Passed or failed.
    pub fn judged(&self) -> usize {
        self.passed + self.failed
    }

    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed(_) => self.failed += 1,
            Outcome::Skipped(_) => self.skipped += 1,
        }
    }
}

/// The counts of those that `is_counted`.
pub fn count(verdicts: &[Verdict], is_counted: impl Fn(Grade) -> bool) -> Counts {
    let mut counts = Counts::default();
    for verdict in verdicts.iter().filter(|verdict| is_counted(verdict.check.grade)) {
        counts.add(&verdict.outcome);
    }
    counts
}

/// The share of what could be had, 0 to 100, each check weighed by its grade; `None` if nothing was
/// judged. Only an engine that passes every check has 100.
pub fn score(verdicts: &[Verdict]) -> Option<f64> {
    let sum = |is_counted: fn(&Counts) -> usize| -> f64 {
        Grade::ALL
            .iter()
            .map(|grade| {
                let counts = count(verdicts, |other| other == *grade);
                f64::from(grade.weight()) * is_counted(&counts) as f64
            })
            .sum()
    };
    let all = sum(Counts::judged);
    (all > 0.0).then(|| 100.0 * sum(|counts| counts.passed) / all)
}

/// The score as it is shown: rounded down to tenths, so that only perfection reads as 100.0.
pub fn shown(score: f64) -> String {
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
            let check = rules::all().find(|check| check.grade == grade).copied();
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
        assert_eq!(shown(99.99), "99.9");
        assert_eq!(shown(100.0), "100.0");
    }
}
