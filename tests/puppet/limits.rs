//! Limits of a `go` command.

use std::time::Duration;

/// Limits of a `go` command that the puppet obeys.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Remaining time of the side to move, or `movetime`.
    pub time: Option<Duration>,
    /// `true` if only `stop` ends the search.
    pub endless: bool,
}

impl Limits {
    /// Parses the words after `go`.
    pub fn parse(words: &str, white_to_move: bool) -> Result<Limits, String> {
        let mut limits = Limits::default();
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "infinite" | "ponder" => limits.endless = true,
                "wtime" | "btime" | "winc" | "binc" | "movestogo" | "depth" | "nodes" | "mate"
                | "movetime" => {
                    // The clock of an opponent who is late may be negative.
                    let number: i64 = words
                        .next()
                        .and_then(|text| text.parse().ok())
                        .ok_or_else(|| format!("go {word} without a number"))?;
                    let mine = if white_to_move { "wtime" } else { "btime" };
                    if word == mine || word == "movetime" {
                        let millis = u64::try_from(number).unwrap_or(0);
                        limits.time = Some(Duration::from_millis(millis));
                    }
                }
                // The puppet ignores the moves that follow.
                "searchmoves" => break,
                _ => return Err(format!("go has the unknown word {word}")),
            }
        }
        Ok(limits)
    }
}
