//! Conformance of engines to the Universal Chess Interface (UCI).
//!
//! A [`Check`] consists of a script, which lists lines to send and answers to wait for, and of a
//! function that judges the transcript. [`Engine::run_check`] runs the script of a check, with a
//! new process for each attempt; [`Engine::introduce`] asks an engine for its name and options. All
//! other functions do no I/O.
//!
//! The rules paraphrase the UCI description by S. Meyer-Kahlen (April 2006). If the description
//! does not define a case, the rule follows the expectations of match programs, and the grade of
//! the check reflects that the description leaves the case open.

mod board;

mod engine_info;
mod rules;
mod script;
mod session;
mod transcript;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use engine_info::EngineInfo;
pub use rules::checks;
pub use script::Script;
pub use session::Engine;
pub use transcript::{Event, TimedEvent, Transcript};

/// Importance of a check. The number is the weight in the score.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// An engine that breaks the rule loses games or breaks runs.
    Must = 4,
    /// The protocol requires the rule; tools show wrong information about an engine that breaks it.
    Should = 2,
    /// The rule is a convenience for tools and users.
    Nice = 1,
}

arbiter_names::named!(Grade);

/// Rule of the protocol, with the script and the judge that check the rule.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Name of the check. Names never change.
    pub name: &'static str,
    /// Importance of the rule.
    pub grade: Grade,
    /// Text of the rule: the behaviour that is expected of an engine.
    pub rule: &'static str,
    /// Adds the steps of the check to an empty script. The error is the reason for skipping the
    /// check.
    script: fn(Script<'_>) -> Result<Script<'_>, String>,
    /// Judges the transcript. The error describes the violation. Not called if the engine exited
    /// unexpectedly or an answer timed out.
    judge: fn(&Case) -> Judgement,
    /// `true` if the check measures time, in which case a busy machine can cause a failure.
    is_timed: bool,
}

/// Judgement of a check. The error describes the violation.
type Judgement = Result<(), String>;

/// Data that the judge of a check uses.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    transcript: &'a Transcript,
    engine: &'a EngineInfo,
    /// Time by which an answer may be late.
    margin: Duration,
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", content = "reason", rename_all = "lowercase")]
pub enum Outcome {
    /// The engine follows the rule.
    Passed,
    /// The engine breaks the rule; the text describes the violation.
    Failed(String),
    /// The check does not apply to the engine; the text is the reason.
    Skipped(String),
}

/// Check with its result.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Check that was run.
    pub check: Check,
    /// Result of the check.
    pub outcome: Outcome,
    /// Transcript of the check; transcript of the last attempt if there were several.
    pub transcript: Transcript,
}

/// Judges the transcript of a check.
fn judge(check: &Check, case: &Case) -> Outcome {
    // After a crash or a timeout, the transcript is incomplete. The judge would then report a
    // consequence of the failure instead of its cause.
    let judged = case.transcript.failure().map_or_else(|| (check.judge)(case), Err);
    judged.map_or_else(Outcome::Failed, |()| Outcome::Passed)
}

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

/// Counts, by result, the verdicts whose grades are accepted by `is_counted`.
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
