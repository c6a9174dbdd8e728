//! What engines answered to a position of a suite.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Payload, ResultMessage};
use crate::wire::{WireError, nanos, printable};
use arbiter_protocol::uci::score::Score;
use arbiter_suite::epd::judge::{Answer, Found};
use arbiter_suite::epd::task::Answered;

/// An answer of one engine, or the fault instead.
#[derive(Serialize, Deserialize)]
pub(super) struct AnswerMessage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(default)]
    played: String,
    #[serde(default)]
    elapsed_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<FoundMessage>,
}

#[derive(Serialize, Deserialize)]
struct FoundMessage {
    at_ns: u64,
    depth: Option<u32>,
    nodes: Option<u64>,
}

impl AnswerMessage {
    fn of(answer: &Result<Answer, String>) -> AnswerMessage {
        let (fault, answer) = match answer {
            Ok(answer) => (None, Some(answer)),
            Err(fault) => (Some(fault.clone()), None),
        };
        let score = answer.and_then(|answer| answer.score);
        AnswerMessage {
            fault,
            played: answer.map(|answer| answer.played.clone()).unwrap_or_default(),
            elapsed_ns: answer.map_or(0, |answer| nanos(answer.elapsed)),
            cp: score.and_then(Score::centipawns),
            mate: score.and_then(Score::mate),
            depth: answer.and_then(|answer| answer.depth),
            nodes: answer.and_then(|answer| answer.nodes),
            since: answer.and_then(|answer| answer.since).map(|found| FoundMessage {
                at_ns: nanos(found.at),
                depth: found.depth,
                nodes: found.nodes,
            }),
        }
    }

    fn into_answer(self) -> Result<Answer, String> {
        if let Some(fault) = self.fault {
            return Err(printable(&fault));
        }
        let since = self.since.map(|found| Found {
            at: Duration::from_nanos(found.at_ns),
            depth: found.depth,
            nodes: found.nodes,
        });
        Ok(Answer {
            played: printable(&self.played),
            elapsed: Duration::from_nanos(self.elapsed_ns),
            score: self.cp.map(Score::Centipawns).or(self.mate.map(Score::Mate)),
            depth: self.depth,
            nodes: self.nodes,
            since,
        })
    }
}

impl Payload for Answered {
    fn fill(&self, message: &mut ResultMessage) {
        message.answers = self.answers.iter().map(AnswerMessage::of).collect();
    }

    fn take(message: ResultMessage) -> Result<Answered, WireError> {
        let answers = message.answers.into_iter().map(AnswerMessage::into_answer).collect();
        Ok(Answered { number: message.pair, answers })
    }

    fn shorten(&mut self) {}
}
