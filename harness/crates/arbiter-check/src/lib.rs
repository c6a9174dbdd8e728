//! Conformance of an engine to the Universal Chess Interface.
//!
//! A [`Check`] is a script of what to send and what to wait for, and a function that judges the
//! transcript. [`carry_out`] runs the script with a fresh process for each check; everything else
//! computes only. The protocol is the description by S. Meyer-Kahlen (April 2006), in our own
//! words; where it is silent, what match programs rely on counts, and the grade says so.

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
pub use session::{Engine, carry_out, introduce};
pub use transcript::{Event, TimedEvent, Transcript};

/// How much depends on a check; the number is its weight in the score.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Games are lost or runs break without it.
    Must = 4,
    /// The protocol asks for it, and tools show nonsense without it.
    Should = 2,
    /// It helps.
    Nice = 1,
}

impl Grade {
    /// All grades, the gravest first.
    pub const ALL: [Grade; 3] = [Grade::Must, Grade::Should, Grade::Nice];
}

arbiter_names::named!(Grade);

/// One rule of the protocol, and how it is checked.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Check {
    /// Its name, which never changes.
    pub name: &'static str,
    /// How much depends on it.
    pub grade: Grade,
    /// What is expected of an engine.
    #[serde(rename = "says")]
    pub rule: &'static str,
    /// Completes an empty script for an engine; an error says why there is nothing to check.
    #[serde(skip)]
    script: fn(Script<'_>) -> Result<Script<'_>, String>,
    /// What is wrong with the transcript, if anything. It is called only where the engine has
    /// neither exited nor been silent when the script waited for it.
    #[serde(skip)]
    judge: fn(&Case) -> Judged,
    /// Whether it is about time, so that a busy machine may be to blame for a failure.
    #[serde(skip)]
    is_timed: bool,
}

/// What is wrong, if anything.
type Judged = Result<(), String>;

/// What a check is judged by.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    transcript: &'a Transcript,
    engine: &'a EngineInfo,
    /// How late an answer may be.
    margin: Duration,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "outcome", content = "reason", rename_all = "lowercase")]
pub enum Outcome {
    /// The engine keeps the rule.
    Passed,
    /// It does not; the text says what it did.
    Failed(String),
    /// The check does not concern the engine; the text says why.
    Skipped(String),
}

/// A check that was carried out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Verdict {
    /// The check.
    #[serde(flatten)]
    pub check: Check,
    /// Its result.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The transcript, that of the last try if there were several; reports choose its lines.
    #[serde(skip)]
    pub transcript: Transcript,
}

/// Judges a transcript.
fn judge(check: &Check, case: &Case) -> Outcome {
    let judged = case.transcript.failure().map_or_else(|| (check.judge)(case), Err);
    judged.map_or_else(Outcome::Failed, |()| Outcome::Passed)
}
