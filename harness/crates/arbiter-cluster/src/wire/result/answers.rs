//! What engines answered to a position of a suite.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::As;

use super::Payload;
use crate::wire::WireError;
use crate::wire::text::Text;
use arbiter_protocol::Score;
use arbiter_schema::{Nanos, mirrors};
use arbiter_suite::epd::{Answer, Answered, Found};

/// The answer of each engine, or its fault instead.
#[derive(Serialize, Deserialize)]
pub struct AnswersMessage(
    #[serde(with = "As::<Vec<Result<AnswerDef, Text>>>")] Vec<Result<Answer, String>>,
);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Answer")]
struct AnswerDef {
    #[serde(with = "Text")]
    played: String,
    #[serde(rename = "elapsed_ns", with = "Nanos")]
    elapsed: Duration,
    #[serde(with = "As::<Option<ScoreDef>>")]
    score: Option<Score>,
    depth: Option<u32>,
    nodes: Option<u64>,
    #[serde(with = "As::<Option<FoundDef>>")]
    since: Option<Found>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Score", rename_all = "snake_case")]
enum ScoreDef {
    Centipawns(i32),
    Mate(i32),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Found")]
struct FoundDef {
    #[serde(rename = "at_ns", with = "Nanos")]
    at: Duration,
    depth: Option<u32>,
    nodes: Option<u64>,
}

mirrors! {
    AnswerDef: Answer;
    ScoreDef: Score;
    FoundDef: Found;
}

impl Payload for Answered {
    type Message = AnswersMessage;

    fn to_message(&self) -> AnswersMessage {
        AnswersMessage(self.answers.clone())
    }

    fn from_message(
        number: u64,
        AnswersMessage(answers): AnswersMessage,
    ) -> Result<Answered, WireError> {
        Ok(Answered { number, answers })
    }
}
