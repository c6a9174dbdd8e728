//! Does an engine keep to the Universal Chess Interface?
//!
//! A [`Check`] is a script of what to send and what to wait for, and a judge of the transcript.
//! [`drive`] runs the script with a fresh process for each check; everything else computes only. The protocol is the description by S. Meyer-Kahlen (April 2006), in our own
//! words; where it is silent, what match programs rely on counts, and the grade says so.

mod board;
pub mod drive;
pub mod engine_info;
pub mod rules;
pub mod score;
pub mod script;
pub mod transcript;

use std::time::Duration;

use self::engine_info::EngineInfo;
use self::script::Script;
use self::transcript::Transcript;

/// How much depends on a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Games are lost or runs break without it.
    Must,
    /// The protocol asks for it, and tools show nonsense without it.
    Should,
    /// It helps.
    Nice,
}

impl Grade {
    /// All grades, the gravest first.
    pub const ALL: [Grade; 3] = [Grade::Must, Grade::Should, Grade::Nice];

    /// Its name in reports.
    pub fn word(self) -> &'static str {
        match self {
            Grade::Must => "must",
            Grade::Should => "should",
            Grade::Nice => "nice",
        }
    }

    /// What a check of this grade weighs in the score.
    pub fn weight(self) -> u32 {
        match self {
            Grade::Must => 4,
            Grade::Should => 2,
            Grade::Nice => 1,
        }
    }
}

/// One rule of the protocol.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its name, which never changes.
    pub name: &'static str,
    /// How much depends on it.
    pub grade: Grade,
    /// What is expected of an engine.
    pub says: &'static str,
    /// What to say to this engine; an error says why there is nothing to check.
    pub script: fn(&EngineInfo) -> Result<Script, String>,
    /// What is wrong with the transcript, if anything. It is asked only where the engine has
    /// neither left nor kept silent when the script waited for it.
    pub judge: fn(&Case) -> Result<(), String>,
    /// Whether it is about time, so that a busy machine may be to blame for a failure.
    pub is_timed: bool,
}

/// What a check is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The transcript.
    pub transcript: &'a Transcript,
    /// Name and options of the engine.
    pub engine: &'a EngineInfo,
    /// How late an answer may be.
    pub margin: Duration,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The engine does as it should.
    Passed,
    /// It does not; the text says what it did.
    Failed(String),
    /// The check does not concern it; the text says why.
    Skipped(String),
}

/// A check that was carried out.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The check.
    pub check: Check,
    /// What came of it.
    pub outcome: Outcome,
    /// The transcript, that of the last try if there were several.
    pub transcript: Transcript,
}

/// Judges a transcript.
pub fn judge(check: &Check, case: &Case) -> Outcome {
    let judged = match case.transcript.failure() {
        Some(failure) => Err(failure),
        None => (check.judge)(case),
    };
    judged.map_or_else(Outcome::Failed, |()| Outcome::Passed)
}
