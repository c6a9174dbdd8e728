//! What came of a count.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use serde_with::{As, serde_conv};

use super::Payload;
use crate::wire::WireError;
use crate::wire::text::{Text, printable};
use arbiter_schema::mirrors;
use arbiter_suite::perft::{Counted, Finding, Verdict, Wrong};

/// Most moves of a list: no position has more.
const MAX_MOVES: usize = 256;

/// A verdict, or the engine's fault instead.
#[derive(Serialize, Deserialize)]
pub struct VerdictMessage(
    #[serde(with = "As::<Result<VerdictDef, Text>>")] Result<Verdict, String>,
);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Verdict", rename_all = "snake_case")]
enum VerdictDef {
    Right,
    Wrong {
        got: u64,
        leaves: u64,
        #[serde(with = "FindingDef")]
        finding: Finding,
    },
    WrongSuite {
        leaves: u64,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Finding")]
struct FindingDef {
    #[serde(with = "Text")]
    fen: String,
    #[serde(with = "Moves")]
    path: Vec<String>,
    #[serde(with = "WrongDef")]
    wrong: Wrong,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Wrong", rename_all = "snake_case")]
enum WrongDef {
    Moves {
        #[serde(with = "Moves")]
        missing: Vec<String>,
        #[serde(with = "Moves")]
        extra: Vec<String>,
    },
    Count {
        depth: u32,
        got: u64,
        expected: u64,
    },
    Context {
        depth: u32,
        got: u64,
        expected: u64,
    },
    Unrepeatable,
}

mirrors! {
    VerdictDef: Verdict;
}

serde_conv!(
    /// Moves as strangers write them.
    Moves,
    Vec<String>,
    Vec::as_slice,
    |list: Vec<String>| {
        let moves = list.iter().take(MAX_MOVES).map(|text| printable(text));
        Ok::<_, Infallible>(moves.collect())
    }
);

impl Payload for Counted {
    type Message = VerdictMessage;

    fn to_message(&self) -> VerdictMessage {
        VerdictMessage(self.verdict.clone())
    }

    fn from_message(
        number: u64,
        VerdictMessage(verdict): VerdictMessage,
    ) -> Result<Counted, WireError> {
        Ok(Counted { number, verdict })
    }
}
