//! Report of `arbiter perft`, as a document and as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SuiteConditions;
use crate::parts::{Block, Document, Table, to_value};
use arbiter_suite::perft::{Case, Count, PositionFault, Verdict};

/// Results of `arbiter perft`.
#[derive(Debug)]
pub struct PerftReport<'a> {
    /// Name of the engine.
    pub engine: &'a str,
    /// Name of the suite.
    pub suite: &'a str,
    /// Positions of the suite.
    pub cases: &'a [Case],
    /// Count that was requested for each position.
    pub counts: &'a [Count],
    /// Verdict on each count; an error describes an engine fault.
    pub verdicts: &'a [Result<Verdict, String>],
    /// For each verdict, the text ` (worker NAME)` that is part of error descriptions; empty if the
    /// engine ran on this machine.
    pub workers: &'a [String],
    /// Number of positions that were skipped because every count exceeds --depth or --max-nodes.
    pub beyond: usize,
    /// Unusable and corrected lines of the suite, and machines on which the engine ran.
    pub conditions: SuiteConditions<'a>,
}

/// Perft counts of an engine, printed by `arbiter perft`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.perft/2")]
pub(crate) struct PerftFigures<'a> {
    /// Name of the suite.
    suite: &'a str,
    #[serde(flatten)]
    totals: PerftTotals<'a>,
    /// Number of skipped positions, whose counts all exceed --depth or --max-nodes.
    beyond_limits: usize,
    /// Positions, with verdicts.
    positions: Vec<PositionFigures<'a>>,
    #[serde(flatten)]
    conditions: &'a SuiteConditions<'a>,
}

/// Position, with the verdict on its count.
#[derive(Debug, Serialize, JsonSchema)]
struct PositionFigures<'a> {
    /// Line number in the suite, from 1; in a JSON file, number of the case.
    line: usize,
    /// Name of the position in the suite.
    name: Option<&'a str>,
    /// FEN of the position.
    fen: String,
    /// `true` for a position of Chess960.
    chess960: bool,
    /// Depth in plies.
    depth: u32,
    /// Expected count, from the suite.
    expected: u64,
    #[serde(flatten)]
    verdict: CountVerdict<'a>,
}

/// Verdict on the count of a position.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum CountVerdict<'a> {
    /// Engine and suite agree.
    Right,
    /// The engine is correct and the suite is wrong.
    WrongSuite {
        /// Correct count.
        correct: u64,
    },
    /// The engine did not answer.
    Fault {
        /// Description of the engine fault.
        reason: &'a str,
    },
    /// The engine is wrong.
    Wrong {
        /// Count by the engine.
        found: u64,
        /// Correct count.
        correct: u64,
        /// First position with a wrong count.
        first_wrong: WrongPosition<'a>,
    },
}

/// Position with a wrong count.
#[derive(Debug, Serialize, JsonSchema)]
struct WrongPosition<'a> {
    /// Kind of the error: wrong `moves`, or only a wrong `count`; `context` if the count of this
    /// position alone is correct; `unrepeatable` if a second request returned the correct count.
    kind: &'static str,
    /// FEN of the position.
    fen: &'a str,
    /// Moves from the position of the suite to this position, in UCI notation.
    path: &'a [String],
    /// Legal moves missing from the engine's list.
    missing: &'a [String],
    /// Illegal moves in the engine's list.
    extra: &'a [String],
}

/// Number of positions by verdict.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PerftTotals<'a> {
    /// Name of the engine.
    pub engine: &'a str,
    /// Number of positions in which engine and suite agree.
    pub right: usize,
    /// Number of positions in which the engine is wrong.
    pub wrong: usize,
    /// Number of positions in which only the suite is wrong.
    pub wrong_suite: usize,
    /// Number of positions without an answer from the engine.
    pub faults: usize,
    /// Sum of the correct counts, in leaf nodes.
    // Stored gates may contain reports of format 1, in which the key of this sum is `leaves`.
    #[serde(alias = "leaves")]
    pub nodes: u64,
}

impl PerftReport<'_> {
    /// Returns the numbers of positions by verdict.
    pub fn totals(&self) -> PerftTotals<'_> {
        let mut totals = PerftTotals { engine: self.engine, ..PerftTotals::default() };
        for (count, verdict) in self.counts.iter().zip(self.verdicts) {
            match verdict {
                Ok(Verdict::Right) => {
                    totals.right += 1;
                    totals.nodes += count.expected;
                }
                Ok(Verdict::Wrong { .. }) => totals.wrong += 1,
                Ok(Verdict::WrongSuite { .. }) => totals.wrong_suite += 1,
                Err(_) => totals.faults += 1,
            }
        }
        totals
    }

    /// Returns the report as a document: totals, errors and, if `has_positions` is `true`, a table
    /// of all positions.
    pub fn document(&self, has_positions: bool) -> Document {
        let mut document = Document::new(format!("Perft of {}", self.engine));
        let PerftTotals { right, nodes, .. } = self.totals();
        let PerftReport { engine, suite, .. } = self;
        let all = self.counts.len();
        let strong =
            format!("{engine}: {right} of {all} positions of {suite} correct, {nodes} leaves");
        document.blocks.push(Block::Paragraph { strong, text: String::new() });
        let other_counts = self.other_counts();
        if !other_counts.is_empty() {
            document.blocks.push(Block::List(other_counts));
        }
        let error_texts = self.error_texts();
        if !error_texts.is_empty() {
            document.heading("Errors");
            document.blocks.push(Block::Verbatim(error_texts));
        }
        if has_positions {
            document.heading("Positions");
            document.table(self.table());
        }
        self.conditions.place.add_excluded_workers(&mut document);
        self.conditions.add_line_faults(&mut document);
        document
    }

    fn table(&self) -> Table {
        let mut table = Table::new(["line", "name", "FEN", "depth", "count", "verdict"]);
        for ((case, count), verdict) in self.all() {
            let name = case.name.as_deref().unwrap_or_default();
            let fen = case.start.fen();
            let Count { depth, expected, .. } = count;
            table.push([&case.line, &name, &fen, depth, expected, &verdict_text(verdict)]);
        }
        table
    }

    fn all(&self) -> impl Iterator<Item = ((&Case, &Count), &Result<Verdict, String>)> {
        self.cases.iter().zip(self.counts).zip(self.verdicts)
    }

    /// Describes all errors; wrong counts of the engine come first.
    fn error_texts(&self) -> String {
        let workers = self.workers.iter().map(String::as_str).chain(std::iter::repeat(""));
        let mut all: Vec<_> = self.all().zip(workers).collect();
        all.sort_by_key(|((_, verdict), _)| !matches!(verdict, Ok(Verdict::Wrong { .. })));
        let text = |(((case, count), verdict), by)| error_text(case, count, verdict, by);
        all.into_iter().map(text).collect()
    }

    /// Returns lines with the numbers of positions that were skipped or whose verdict is not
    /// [`Verdict::Right`], and, if workers were used, a line with the number of positions by
    /// worker.
    fn other_counts(&self) -> Vec<String> {
        let PerftTotals { wrong, wrong_suite, faults, .. } = self.totals();
        let all = [
            (wrong, "wrong"),
            (faults, "without a reply (engine fault)"),
            (wrong_suite, "correct, but with a wrong count in the suite"),
            (self.beyond, "skipped: every count is beyond --depth or --max-nodes"),
        ];
        let some = all.into_iter().filter(|(number, _)| *number > 0);
        let some = some.map(|(number, verdict)| format!("{number} {verdict}"));
        let place = &self.conditions.place;
        some.chain(place.workers.is_some().then(|| place.describe())).collect()
    }

    /// Returns the report as one JSON object.
    pub fn json(&self) -> Value {
        to_value(&PerftFigures {
            suite: self.suite,
            totals: self.totals(),
            beyond_limits: self.beyond,
            positions: self.all().map(position).collect(),
            conditions: &self.conditions,
        })
    }
}

fn position<'a>(
    ((case, count), verdict): ((&'a Case, &Count), &'a Result<Verdict, String>),
) -> PositionFigures<'a> {
    PositionFigures {
        line: case.line,
        name: case.name.as_deref(),
        fen: case.start.fen(),
        chess960: case.start.is_chess960(),
        depth: count.depth,
        expected: count.expected,
        verdict: match verdict {
            Ok(Verdict::Right) => CountVerdict::Right,
            Ok(Verdict::WrongSuite { leaves }) => CountVerdict::WrongSuite { correct: *leaves },
            Err(reason) => CountVerdict::Fault { reason },
            Ok(Verdict::Wrong { got, leaves, finding }) => {
                let (kind, missing, extra) = match &finding.wrong {
                    PositionFault::Moves { missing, extra } => ("moves", &**missing, &**extra),
                    PositionFault::Count { .. } => ("count", [].as_slice(), [].as_slice()),
                    PositionFault::Context { .. } => ("context", [].as_slice(), [].as_slice()),
                    PositionFault::Unrepeatable => ("unrepeatable", [].as_slice(), [].as_slice()),
                };
                let (fen, path) = (&finding.fen, &finding.path);
                let first_wrong = WrongPosition { kind, fen, path, missing, extra };
                CountVerdict::Wrong { found: *got, correct: *leaves, first_wrong }
            }
        },
    }
}

/// Formats the verdict on the count of a position in a few words.
fn verdict_text(verdict: &Result<Verdict, String>) -> String {
    match verdict {
        Ok(Verdict::Right) => "correct".to_owned(),
        Ok(Verdict::Wrong { got, leaves, .. }) => format!("wrong: {got}, expected {leaves}"),
        Ok(Verdict::WrongSuite { leaves }) => format!("the suite is wrong: {leaves}"),
        Err(_) => "no reply".to_owned(),
    }
}

/// Returns several lines that describe the error in the count of a position; empty if the count is
/// correct. `by` is ` (worker NAME)`, or empty if the engine ran on this machine.
fn error_text(case: &Case, count: &Count, verdict: &Result<Verdict, String>, by: &str) -> String {
    let name = case.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let place = format!("line {}{name}, depth {}{by}", case.line, count.depth);
    let fen = case.start.fen();
    match verdict {
        Ok(Verdict::Right) => String::new(),
        Err(reason) => format!("NO REPLY   {place}: {reason}\n  {fen}\n"),
        Ok(Verdict::WrongSuite { leaves }) => format!(
            "SUITE      {place}: the suite has {}, engine and referee count {leaves}\n  {fen}\n",
            count.expected
        ),
        Ok(Verdict::Wrong { got, leaves, finding }) => {
            let suite = if *leaves == count.expected {
                String::new()
            } else {
                format!(" (the suite has {}, which is wrong)", count.expected)
            };
            let by = got.abs_diff(*leaves);
            let sign = if got > leaves { '+' } else { '-' };
            let path = match &finding.path[..] {
                [] => "the position itself".to_owned(),
                path => format!("after {}", path.join(" ")),
            };
            format!(
                "WRONG      {place}: counts {got}, expected {leaves} ({sign}{by}){suite}\n  \
                 {fen}\n  first wrong position: {path}\n  {}\n{}",
                finding.fen,
                fault_description(&finding.wrong)
            )
        }
    }
}

fn fault_description(wrong: &PositionFault) -> String {
    match wrong {
        PositionFault::Moves { missing, extra } => {
            let list = |title: &str, moves: &[String]| match moves {
                [] => String::new(),
                _ => format!("  {title} moves: {}\n", moves.join(" ")),
            };
            list("missing", missing) + &list("extra", extra)
        }
        PositionFault::Count { depth, got, expected } => format!(
            "  counts {got} at depth {depth}, expected {expected}; the reply does not list counts \
             by move\n"
        ),
        PositionFault::Context { depth, got, expected } => format!(
            "  counts {got} as part of the parent position, but {expected} (correct) for this \
             position alone (depth {depth}): check make and unmake of moves, and hash tables\n"
        ),
        PositionFault::Unrepeatable => "  a second request gives the correct count\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::topics::suite::EngineLocation;
    use arbiter_suite::perft::{Finding, Patterns, PerftQuery, read};

    #[test]
    fn mismatches_come_first() {
        let line = "4k3/8/8/8/8/8/8/4K3 w - - ;D1 5";
        let suite = read(&format!("{line}\n{line}\n{line}\n{line}\n? ;D1 1"), false);
        let query = PerftQuery {
            command: "go perft {depth}".to_owned(),
            patterns: Patterns::new(None).unwrap(),
            limit: Duration::from_secs(1),
        };
        let count = |case: &Case| Count {
            start: case.start.clone(),
            depth: 1,
            expected: 5,
            query: query.clone(),
        };
        let counts: Vec<Count> = suite.cases.iter().map(count).collect();
        let wrong =
            PositionFault::Moves { missing: vec!["e1d1".into()], extra: vec!["e1e3".into()] };
        let finding = Finding { fen: "FEN".into(), path: vec!["e1e2".into()], wrong };
        let verdicts = [
            Ok(Verdict::Right),
            Err("exited".to_owned()),
            Ok(Verdict::WrongSuite { leaves: 6 }),
            Ok(Verdict::Wrong { got: 7, leaves: 5, finding }),
        ];
        let report = PerftReport {
            engine: "E",
            suite: "s.epd",
            cases: &suite.cases,
            counts: &counts,
            verdicts: &verdicts,
            workers: &["", "", " (worker w)"].map(str::to_owned),
            beyond: 2,
            conditions: SuiteConditions {
                unusable: &suite.unusable,
                corrected: &suite.corrected,
                place: EngineLocation::here(1),
            },
        };
        let text = crate::forms::plain_text(&report.document(false), None);
        let first = text.lines().find(|line| line.contains(", depth ")).unwrap();
        assert_eq!(first, "WRONG      line 4, depth 1: counts 7, expected 5 (+2)");
        for part in [
            "first wrong position: after e1e2\n  FEN\n  missing moves: e1d1\n  extra moves: e1e3\n",
            "NO REPLY   line 2, depth 1: exited",
            "SUITE      line 3, depth 1 (worker w): the suite has 5, engine and referee count 6",
            "E: 1 of 4 positions of s.epd correct, 5 leaves",
            "2 skipped",
            "line 5: ",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let markdown = crate::forms::markdown(&report.document(true));
        for part in [
            "# Perft of E\n\n**E: 1 of 4 positions of s.epd correct, 5 leaves**\n\n- 1 wrong\n",
            "```text\nWRONG      line 4, depth 1: ",
            "| wrong: 7, expected 5 ",
            "the suite is wrong: 6 |",
            "| no reply ",
            "- line 5: ",
        ] {
            assert!(markdown.contains(part), "{part}: {markdown}");
        }
        let json = report.json();
        assert_eq!(json["positions"][3]["first_wrong"]["missing"][0], "e1d1");
        assert_eq!(json["unusable"][0]["line"], 5);
    }
}
