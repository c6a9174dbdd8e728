//! Conformance of engines to the Universal Chess Interface (UCI).
//!
//! A [`Check`] consists of a script of lines to send and answers to wait for, and a function that
//! judges the transcript. [`run_check`] runs the script, with a new process for each check; all
//! other functions do no I/O. The rules paraphrase the UCI description by S. Meyer-Kahlen (April
//! 2006). If the description leaves a case open, the expectations of match programs count, and the
//! grade reflects this.

mod board;

mod engine_info;
mod rules;
mod score;
mod script;
mod session;
mod transcript;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use engine_info::EngineInfo;
pub use rules::checks;
pub use score::{Counts, count, format_score, score};
pub use script::Script;
pub use session::{Engine, introduce, run_check};
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

impl Grade {
    /// All grades, most important first.
    pub const ALL: [Grade; 3] = [Grade::Must, Grade::Should, Grade::Nice];
}

arbiter_names::named!(Grade);

/// Rule of the protocol, with the script and the judge that check it.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Name of the check; names never change.
    pub name: &'static str,
    /// Importance of the rule.
    pub grade: Grade,
    /// Text of the rule: the behaviour expected of an engine.
    pub rule: &'static str,
    /// Completes an empty script for an engine; the error is the reason to skip the check.
    script: fn(Script<'_>) -> Result<Script<'_>, String>,
    /// Judges the transcript; the error describes the violation. Not called after an unexpected
    /// exit or a timeout.
    judge: fn(&Case) -> Judgement,
    /// `true` if the check measures time, so that a busy machine may cause a failure.
    is_timed: bool,
}

/// Judgement of a check; the error describes the violation.
type Judgement = Result<(), String>;

/// Data by which a check is judged.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    transcript: &'a Transcript,
    engine: &'a EngineInfo,
    /// Tolerance for late answers.
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
    /// Rule that was checked.
    pub check: Check,
    /// Result of the check.
    pub outcome: Outcome,
    /// Transcript of the check (of the last attempt, if there were several).
    pub transcript: Transcript,
}

/// Judges the transcript of a check.
fn judge(check: &Check, case: &Case) -> Outcome {
    // After a crash or a timeout the transcript is incomplete, and the judge would report a
    // consequence of the failure instead of its cause.
    let judged = case.transcript.failure().map_or_else(|| (check.judge)(case), Err);
    judged.map_or_else(Outcome::Failed, |()| Outcome::Passed)
}
