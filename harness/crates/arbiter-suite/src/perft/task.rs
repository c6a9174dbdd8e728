//! Task that asks an engine for a number of leaves and, if the answer is wrong, locates the fault;
//! parser of the engine's answers.

use std::ops::ControlFlow;
use std::time::Duration;

use regex_lite::Regex;
use serde::{Deserialize, Serialize};
use serde_with::{As, Same, serde_conv};

use super::walk::{Finding, Walk, leaves};
use crate::runner::{Task, TaskError};
use crate::start::{FenAndRules, game};
use arbiter_game::engine::{EngineError, EngineProcess};
use arbiter_game::text::Text;
use arbiter_names::whole_number;
use arbiter_position::{Start, excerpt};
use arbiter_protocol::times::Millis;

/// Command, patterns and time limit for asking an engine for a count.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PerftQuery {
    /// Command to send, with `{depth}` as a placeholder for the depth.
    pub command: String,
    /// Patterns for the lines of the answer.
    #[serde(with = "OwnPattern")]
    pub patterns: Patterns,
    /// Time limit for one answer.
    #[serde(with = "Millis")]
    pub limit: Duration,
}

/// Task to count the leaves below a position.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Count {
    /// Position whose leaves are counted.
    #[serde(with = "FenAndRules")]
    pub start: Start,
    /// Depth of the count, in plies.
    pub depth: u32,
    /// Number of leaves according to the suite.
    pub expected: u64,
    /// Command, patterns and time limit for asking the engine.
    pub query: PerftQuery,
}

/// Verdict on a count. The error is a fault of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountResult(#[serde(with = "As::<Result<Same, Text>>")] pub Result<Verdict, String>);

/// Verdict on the count of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The engine's count equals the count in the suite.
    Right,
    /// The engine's count differs from the count in the suite and from the count of the harness.
    Wrong {
        /// Count of the engine.
        got: u64,
        /// Correct count according to the harness. The count in the suite may be different.
        leaves: u64,
        /// First position in which the engine's moves or count are wrong.
        finding: Finding,
    },
    /// The engine's count equals the count of the harness, but not the count in the suite.
    WrongSuite {
        /// Correct count according to the harness.
        leaves: u64,
    },
}

impl Task for Count {
    type Output = Verdict;

    async fn run(&self, engine: &mut EngineProcess) -> Result<Verdict, TaskError> {
        engine.new_game(game(&self.start)).await?;
        let mut walk = Walk::new(&self.start, self.depth);
        let mut answer = self.ask(engine, &walk).await?;
        // A complete answer ends with a total, so the default is never used.
        let got = answer.total.unwrap_or_default();
        if got == self.expected {
            return Ok(Verdict::Right);
        }
        // The harness counts the leaves only if the engine's count differs from the suite, because
        // the harness may take as long as the engine.
        let leaves = leaves(&self.start.position, self.depth);
        if got == leaves {
            return Ok(Verdict::WrongSuite { leaves });
        }
        let finding = loop {
            if let Some(finding) = walk.answer(&answer) {
                break finding;
            }
            answer = self.ask(engine, &walk).await?;
        };
        Ok(Verdict::Wrong { got, leaves, finding })
    }
}

impl Count {
    async fn ask(&self, engine: &mut EngineProcess, walk: &Walk) -> Result<Answer, TaskError> {
        let (position, depth) = walk.question();
        let mut answer = Answer::default();
        let question = self.query.command.replace("{depth}", &depth.to_string());
        let patterns = &self.query.patterns;
        let mut last = String::new();
        let take = |line: &str| {
            if !line.is_empty() {
                last = excerpt(line.as_bytes());
            }
            answer.take(line, depth, patterns)
        };
        let reply = engine.ask(&position, &question, self.query.limit, take).await;
        match (&answer.search, reply) {
            // The search would also end in a timeout, but this error reports the real cause.
            (Some(line), _) => Err(TaskError::Unsupported(format!(
                "replies to '{question}' with a search ('{line}'); if the engine has another \
                 command for perft, give --command"
            ))),
            // The engine may have printed the total in an unknown form.
            (None, Err(error @ EngineError::Session(_))) if !last.is_empty() => {
                let remedy = "--command and --pattern may help";
                let fault = format!("{error}; the last line was '{last}'; {remedy}");
                Err(TaskError::Fault(fault))
            }
            (None, Err(error)) => Err(error.into()),
            (None, Ok(_)) => Ok(answer),
        }
    }
}

/// Maximum number of moves that are kept. No position has more than 218 legal moves, but endless
/// output must not fill the memory.
const MAX_MOVES: usize = 1000;

/// Maximum length, in bytes, of a pattern from another machine. A worker compiles the pattern, and
/// a long pattern could exhaust the worker's memory.
const MAX_PATTERN: usize = 1_000;

/// Pattern for the count of one move: `e2e4: 20`, `e2e4 20` or `e2e4 - 20`.
const MOVE: &str = r"^\s*([a-h][1-8][a-h][1-8][nbrqkNBRQK]?)\s*[:=-]?>?\s*([0-9]\S*)";

/// Pattern for the total in the formats of common engines: `Nodes searched: 400`, `total 400`,
/// `perft 2: 400`, or the number alone.
///
/// The group `depth` is the depth of `perft 2: 400`.
const TOTAL: &str = r"(?i)^\s*(?:info string )?(?:(?:(?:total )?nodes(?: searched)?|total|leaf nodes|leaves|perft(?:[ (]+(?P<depth>[0-9]+)\)?)?)[ \t:=]+([0-9]\S*)(?:\s+(?:nodes|leaves|time|nps|in|\().*)?|([0-9]\S*)(?:\s+(?:nodes|leaves).*)?)\s*$";

/// Patterns that match the lines of an answer.
#[derive(Debug, Clone)]
pub struct Patterns {
    of_move: Regex,
    total: Regex,
    /// User-supplied pattern for the total, if any.
    custom: Option<String>,
}

impl Patterns {
    /// Compiles the patterns. `custom` matches the line with the total, and the first group of
    /// `custom` matches the number. Without `custom`, common formats are recognized. Fails if
    /// `custom` is not a valid pattern or has no group.
    pub fn new(custom: Option<&str>) -> Result<Patterns, String> {
        let text = custom.unwrap_or(TOTAL);
        let total = Regex::new(text).map_err(|error| format!("pattern '{text}': {error}"))?;
        // `captures_len` also counts the complete match as a group.
        if total.captures_len() < 2 {
            return Err(format!("pattern '{text}': expected a group in parentheses, the count"));
        }
        let of_move = Regex::new(MOVE).map_err(|error| error.to_string())?;
        Ok(Patterns { of_move, total, custom: custom.map(str::to_owned) })
    }
}

serde_conv!(
    /// User-supplied pattern for the total, if any.
    pub(super) OwnPattern,
    Patterns,
    |patterns: &Patterns| patterns.custom.clone(),
    |custom: Option<String>| match custom {
        Some(text) if text.len() > MAX_PATTERN => Err("a pattern of many bytes".to_owned()),
        custom => Patterns::new(custom.as_deref()),
    }
);

/// Counts that an engine reported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Answer {
    /// Moves, as written by the engine, each with its count.
    pub(super) moves: Vec<(String, u64)>,
    /// Total count of all moves; `None` until the engine has reported the total.
    pub(super) total: Option<u64>,
    /// Output line of an engine that searches for a move instead of counting.
    pub(super) search: Option<String>,
}

impl Answer {
    /// Reads a line of the answer to a question about `depth`. Returns `Break` if the answer is
    /// complete, or if the line shows that the engine is searching.
    pub(super) fn take(&mut self, line: &str, depth: u32, patterns: &Patterns) -> ControlFlow<()> {
        if let Some(found) = patterns.of_move.captures(line)
            && let Some(count) = count(&found[2])
        {
            if self.moves.len() < MAX_MOVES {
                self.moves.push((found[1].to_owned(), count));
            }
            return ControlFlow::Continue(());
        }
        if let Some(found) = patterns.total.captures(line) {
            let mut groups = found.iter().skip(1).flatten();
            let label = found.name("depth").and_then(|_| groups.next());
            // Some engines count to each smaller depth first.
            let is_asked = label.is_none_or(|label| label.as_str() == depth.to_string());
            self.total = groups.next().filter(|_| is_asked).and_then(|group| count(group.as_str()));
            // The total is the last line of an answer.
            if self.total.is_some() {
                return ControlFlow::Break(());
            }
        }
        // Many engines treat `go perft` as `go` with an unknown word. They search forever and never
        // report a count.
        let is_search = line.starts_with("bestmove")
            || line.starts_with("info ") && line.contains(" score ") && line.contains(" pv ");
        if is_search {
            self.search = Some(line.to_owned());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Parses a count, which may be followed by a comma, a full stop or a semicolon.
fn count(text: &str) -> Option<u64> {
    whole_number(text.trim_end_matches([',', '.', ';']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, pattern: Option<&str>) -> Answer {
        let patterns = Patterns::new(pattern).unwrap();
        let mut answer = Answer::default();
        let _ = text.lines().try_for_each(|line| answer.take(line, 2, &patterns));
        answer
    }

    #[test]
    fn common_output_formats_are_recognized() {
        let moves = vec![("a2a3".to_owned(), 20), ("h7h8q".to_owned(), 400)];
        for (separator, total) in [
            (": ", "Nodes searched: 420"),
            (" ", "Total: 420"),
            (" - ", "total 420"),
            (":", "perft 2: 420"),
            (" ", "420"),
            ("=", "info string nodes = 420"),
            (" -> ", "420 nodes in 3 ms (140000 nps)"),
            (": ", "perft(2) = 420 (0.001s)"),
            (": ", "Perft (2): 420 nodes, 3 ms"),
            (": ", "perft 1: 20\nperft 2: 420"),
            (": ", "perft(1) 20\nperft(2) 420\nperft(3) 8902"),
            (": ", "Nodes: 420 Time: 3 NPS: 140000"),
            (": ", "nodes 420, time 3 ms"),
            (": ", "Total nodes searched: 420 in 3 ms"),
        ] {
            let text =
                format!("info string begins\na2a3{separator}20\nh7h8q{separator}400\n\n{total}\n");
            let expect = Answer { moves: moves.clone(), total: Some(420), search: None };
            assert_eq!(answer(&text, None), expect, "{text}");
        }
    }

    #[test]
    fn digit_groups_are_accepted_and_invalid_numbers_ignored() {
        let total = |text: &str| answer(text, None).total;
        for text in ["2,030,154", "2'030'154", "2.030.154", "2_030_154", "2\u{a0}030\u{a0}154."] {
            assert_eq!(total(&format!("Nodes searched : {text}")), Some(2_030_154), "{text}");
        }
        for text in ["2.030", "2M", "2 030", "2/3", "2e6"] {
            assert_eq!(total(&format!("Nodes searched: {text}")), None, "{text}");
        }
        assert_eq!(answer("a2a3: 1,234, 5 ms\nb2b3 1.5", None).moves, [("a2a3".to_owned(), 1234)]);
    }

    #[test]
    fn speed_is_not_a_count() {
        assert_eq!(
            answer("nodes/second: 5\ntime: 3 ms\nnps 5\nNodes: 12,345", None).total,
            Some(12345)
        );
    }

    #[test]
    fn the_pattern_of_the_user_replaces_the_default() {
        assert_eq!(answer("Nodes: 7\n* Leaves = 42 *", Some(r"Leaves = (\d+)")).total, Some(42));
        assert!(Patterns::new(Some("no group")).unwrap_err().contains("a group in parentheses"));
        assert!(Patterns::new(Some("(")).is_err());
    }

    #[test]
    fn an_engine_that_searches_is_noticed() {
        let found = answer("info depth 1 score cp 3 pv e2e4\nbestmove e2e4", None);
        assert!(found.search.is_some_and(|line| line.starts_with("info")));
        assert!(answer("bestmove e2e4", None).search.is_some());
    }
}
