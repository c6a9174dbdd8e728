//! Report of `arbiter epd` as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SuiteConditions;
use crate::parts::Table;
use arbiter_stats::paired::SolvedCounts;
use arbiter_suite::epd::Tally;

/// Solved positions of engines, printed by `arbiter epd`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.epd/2")]
pub(crate) struct EpdFigures<'a> {
    /// Name of the suite.
    pub(super) suite: &'a str,
    /// Number of plies for which a solution had to be stable to end the search; `null` if no search
    /// was ended early.
    pub(super) stable_plies: Option<u32>,
    #[serde(flatten)]
    pub(super) results: EpdResults<'a>,
    /// Positions, with the searches of all engines.
    pub(super) positions: Vec<PositionFigures<'a>>,
    #[serde(flatten)]
    pub(super) conditions: &'a SuiteConditions<'a>,
}

/// Counts of solved positions, and comparisons.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct EpdResults<'a> {
    /// Engines, with counts of solved positions.
    #[serde(borrow)]
    pub(crate) engines: Vec<EngineFigures<'a>>,
    /// Comparisons of the first engine with each other engine.
    pub(crate) comparisons: Vec<ComparedFigures<'a>>,
}

/// Engine, with counts of solved positions.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct EngineFigures<'a> {
    /// Name of the engine.
    pub(crate) name: &'a str,
    /// Search limits of the engine, as text.
    pub(super) limits: &'a str,
    #[serde(flatten)]
    pub(crate) solved: SolvedFigures,
    /// Lower end of the 95 % interval of the share of solved positions, 0 to 1.
    pub(super) share_low: Option<f64>,
    /// Upper end of the 95 % interval of the share of solved positions, 0 to 1.
    pub(super) share_high: Option<f64>,
    /// Number of positions to which the engine gave no legal move; these positions count as not
    /// solved.
    pub(super) faults: u64,
    /// Number of announced mates; `null` if no record expects a mate.
    pub(super) mates_announced: Option<u64>,
    /// Number of expected mates; `null` if no record expects a mate.
    pub(super) mates_expected: Option<u64>,
    /// Median time to the solution, in milliseconds.
    pub(super) median_time_ms: Option<f64>,
    /// Total time to the solutions, in milliseconds.
    pub(super) total_time_ms: f64,
    /// Counts of solved positions by theme.
    pub(crate) themes: Vec<ThemeFigures<'a>>,
}

/// Counts of solved positions of one theme.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ThemeFigures<'a> {
    /// Name of the theme; `null` for positions without a theme.
    pub(crate) theme: Option<&'a str>,
    #[serde(flatten)]
    pub(crate) solved: SolvedFigures,
}

/// Returns a table of the counts that `cell` formats, with a row for each theme of the first engine
/// and a column for each engine. `none` is the name of the positions without a theme.
pub(crate) fn theme_table(
    engines: &[EngineFigures<'_>],
    none: &str,
    cell: impl Fn(&SolvedFigures) -> String,
) -> Table {
    let mut table = Table::with_columns(["theme"], engines.iter().map(|engine| engine.name));
    for ThemeFigures { theme, .. } in engines.iter().take(1).flat_map(|first| &first.themes) {
        let cells = engines.iter().map(|engine| {
            let found = engine.themes.iter().find(|found| found.theme == *theme);
            found.map_or(String::new(), |found| cell(&found.solved))
        });
        table.push_with([&theme.unwrap_or(none)], cells);
    }
    table
}

/// Counts of solved positions.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SolvedFigures {
    /// Number of positions.
    pub(crate) positions: u64,
    /// Number of solved positions.
    pub(crate) solved: u64,
    /// Number of points; `null` if no record has points.
    pub(super) points: Option<u64>,
    /// Maximum number of points; `null` if no record has points.
    pub(super) points_max: Option<u64>,
}

impl From<Tally> for SolvedFigures {
    fn from(tally: Tally) -> SolvedFigures {
        SolvedFigures {
            positions: tally.positions,
            solved: tally.solved,
            points: tally.points.map(|(made, _)| made),
            points_max: tally.points.map(|(_, all)| all),
        }
    }
}

/// Comparison of the solved positions of two engines.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ComparedFigures<'a> {
    /// Name of the first engine.
    pub(super) first: &'a str,
    /// Name of the second engine.
    pub(super) second: &'a str,
    #[serde(flatten)]
    pub(super) solved: SolvedCounts,
    /// Exact p-value of McNemar's test.
    pub(super) p_exact: Option<f64>,
    /// Mid-p-value of McNemar's test.
    pub(super) p_mid: Option<f64>,
    /// Share of positions solved by the first engine minus share solved by the second.
    pub(super) difference: Option<f64>,
    /// Standard error of `difference`.
    pub(super) difference_error: Option<f64>,
    /// Lines of the positions that only the first engine solved.
    pub(super) won_lines: Vec<usize>,
    /// Lines of the positions that only the second engine solved.
    pub(crate) lost_lines: Vec<usize>,
}

/// Position, with the searches of all engines.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PositionFigures<'a> {
    /// Line number in the suite, from 1.
    pub(super) line: usize,
    /// Operand of the opcode `id`.
    pub(super) id: Option<&'a str>,
    /// Theme of the position, if `id` contains one.
    pub(super) theme: Option<&'a str>,
    /// FEN of the position.
    pub(super) fen: String,
    /// Solution, in SAN.
    pub(super) solution: String,
    /// Ignored parts of the line, with reasons.
    pub(super) notes: &'a [String],
    /// Searches, one per engine.
    pub(super) searches: Vec<SearchFigures<'a>>,
}

/// Search of a position by one engine.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchFigures<'a> {
    /// `true` if the position is solved.
    pub(super) solved: bool,
    /// Fault of the engine, if there was no valid answer; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<&'a str>,
    #[serde(flatten)]
    pub(super) search: Option<AnsweredSearch>,
}

/// Search with a valid answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AnsweredSearch {
    /// Move played, in UCI notation.
    pub(super) r#move: String,
    /// Points of the move; `null` if the record has no points.
    pub(super) points: Option<u32>,
    /// `true` if the expected mate was announced; `null` if the record expects no mate.
    pub(super) mate_announced: Option<bool>,
    /// Time since which the best move was a solution until the end of the search, in milliseconds
    /// from the start; `null` if not solved.
    pub(super) solution_ms: Option<f64>,
    /// Search depth at `solution_ms`, in plies.
    pub(super) solution_depth: Option<u32>,
    /// Nodes searched until `solution_ms`.
    pub(super) solution_nodes: Option<u64>,
    /// Duration of the search, in milliseconds.
    pub(super) time_ms: f64,
    /// Final depth of the search, in plies.
    pub(super) depth: Option<u32>,
    /// Total nodes of the search.
    pub(super) nodes: Option<u64>,
}
