//! What came of a count.

use serde::{Deserialize, Serialize};

use super::{Payload, ResultMessage};
use crate::wire::{WireError, invalid, printable};
use arbiter_suite::perft::task::{Counted, Verdict};
use arbiter_suite::perft::walk::{Finding, Wrong};

/// Most moves of a list: no position has more.
const MAX_MOVES: usize = 256;

/// A verdict, or the engine's fault instead.
#[derive(Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub(super) enum VerdictMessage {
    /// Engine and suite agree.
    Right,
    /// The engine is wrong.
    Wrong { got: u64, leaves: u64, fen: String, path: Vec<String>, wrong: WrongMessage },
    /// The suite is.
    WrongSuite { leaves: u64 },
    /// There is no answer.
    Fault { reason: String },
}

/// What is wrong at the end of the walk.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum WrongMessage {
    /// The list of moves.
    Moves { missing: Vec<String>, extra: Vec<String> },
    /// The count.
    Count { depth: u32, got: u64, expected: u64 },
    /// Something before.
    Context { depth: u32, got: u64, expected: u64 },
    /// Nothing any more.
    Unrepeatable,
}

impl VerdictMessage {
    fn of(verdict: &Result<Verdict, String>) -> VerdictMessage {
        match verdict.clone() {
            Ok(Verdict::Right) => VerdictMessage::Right,
            Ok(Verdict::Wrong { got, leaves, finding: Finding { fen, path, wrong } }) => {
                let wrong = WrongMessage::of(wrong);
                VerdictMessage::Wrong { got, leaves, fen, path, wrong }
            }
            Ok(Verdict::WrongSuite { leaves }) => VerdictMessage::WrongSuite { leaves },
            Err(reason) => VerdictMessage::Fault { reason },
        }
    }

    fn into_verdict(self) -> Result<Verdict, String> {
        match self {
            VerdictMessage::Right => Ok(Verdict::Right),
            VerdictMessage::Wrong { got, leaves, fen, path, wrong } => {
                let (fen, path, wrong) = (printable(&fen), moves(path), wrong.into_wrong());
                Ok(Verdict::Wrong { got, leaves, finding: Finding { fen, path, wrong } })
            }
            VerdictMessage::WrongSuite { leaves } => Ok(Verdict::WrongSuite { leaves }),
            VerdictMessage::Fault { reason } => Err(printable(&reason)),
        }
    }
}

impl WrongMessage {
    fn of(wrong: Wrong) -> WrongMessage {
        match wrong {
            Wrong::Moves { missing, extra } => WrongMessage::Moves { missing, extra },
            Wrong::Count { depth, got, expected } => WrongMessage::Count { depth, got, expected },
            Wrong::Context { depth, got, expected } => {
                WrongMessage::Context { depth, got, expected }
            }
            Wrong::Unrepeatable => WrongMessage::Unrepeatable,
        }
    }

    fn into_wrong(self) -> Wrong {
        match self {
            WrongMessage::Moves { missing, extra } => {
                Wrong::Moves { missing: moves(missing), extra: moves(extra) }
            }
            WrongMessage::Count { depth, got, expected } => Wrong::Count { depth, got, expected },
            WrongMessage::Context { depth, got, expected } => {
                Wrong::Context { depth, got, expected }
            }
            WrongMessage::Unrepeatable => Wrong::Unrepeatable,
        }
    }
}

/// Moves as strangers write them.
fn moves(list: Vec<String>) -> Vec<String> {
    list.iter().take(MAX_MOVES).map(|text| printable(text)).collect()
}

impl Payload for Counted {
    fn fill(&self, message: &mut ResultMessage) {
        message.verdict = Some(VerdictMessage::of(&self.verdict));
    }

    fn take(message: ResultMessage) -> Result<Counted, WireError> {
        let verdict = message.verdict.ok_or_else(|| invalid("no verdict on a count"))?;
        Ok(Counted { number: message.pair, verdict: verdict.into_verdict() })
    }

    fn shorten(&mut self) {}
}
