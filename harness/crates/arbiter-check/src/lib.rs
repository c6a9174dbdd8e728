//! Conformance of an engine to the Universal Chess Interface.
//!
//! A [`Check`] is a script of lines to send and answers to wait for, and a function that judges the
//! transcript. [`run_check`] runs the script with a fresh process for each check; everything else
//! only computes. The protocol is the description by S. Meyer-Kahlen (April 2006), in our own
//! words; where it is silent, the expectations of match programs count, and the grade says so.

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

/// Importance of a check; the number is its weight in the score.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Without it, games are lost or runs break.
    Must = 4,
    /// The protocol requires it, and tools show nonsense without it.
    Should = 2,
    /// Convenience for tools and users.
    Nice = 1,
}

impl Grade {
    /// All grades, the most important first.
    pub const ALL: [Grade; 3] = [Grade::Must, Grade::Should, Grade::Nice];
}

arbiter_names::named!(Grade);

/// Rule of the protocol, with its check.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Check {
    /// Name, which never changes.
    pub name: &'static str,
    /// Importance of the rule.
    pub grade: Grade,
    /// Text of the rule: the behaviour expected of an engine.
    pub rule: &'static str,
    /// Completes an empty script for an engine; an error is the reason to skip the check.
    #[serde(skip)]
    script: fn(Script<'_>) -> Result<Script<'_>, String>,
    /// Judges the transcript; an error describes the fault. It is called only where the engine has
    /// neither exited nor been silent when the script waited for it.
    #[serde(skip)]
    judge: fn(&Case) -> Judgement,
    /// `true` if the check measures time, so that a busy machine may be to blame for a failure.
    #[serde(skip)]
    is_timed: bool,
}

/// Judgement of a check; an error describes the fault.
type Judgement = Result<(), String>;

/// Evidence by which a check is judged.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    transcript: &'a Transcript,
    engine: &'a EngineInfo,
    /// Tolerance for a late answer.
    margin: Duration,
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "verdict", content = "reason", rename_all = "lowercase")]
pub enum Outcome {
    /// The engine keeps the rule.
    Passed,
    /// The engine breaks the rule; the text says what it did.
    Failed(String),
    /// The check does not concern the engine; the text says why.
    Skipped(String),
}

/// Check that was run, with its result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Verdict {
    /// Rule that was checked.
    #[serde(flatten)]
    pub check: Check,
    /// Result of the check.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Transcript, that of the last try if there were several; reports choose its lines.
    #[serde(skip)]
    pub transcript: Transcript,
}

/// Judges a transcript.
fn judge(check: &Check, case: &Case) -> Outcome {
    // After a crash or a timeout the rest of the transcript is missing, so a judge would report a
    // consequence in place of the cause.
    let judged = case.transcript.failure().map_or_else(|| (check.judge)(case), Err);
    judged.map_or_else(Outcome::Failed, |()| Outcome::Passed)
}
