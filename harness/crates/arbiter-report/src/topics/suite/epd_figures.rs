//! Report of `arbiter epd` in JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::place::PlaceFigures;
use arbiter_stats::paired::SolvedCounts;
use arbiter_suite::LineFault;
use arbiter_suite::epd::Tally;

/// Positions that engines solve: `arbiter epd`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.epd/2")]
pub(crate) struct EpdFigures<'a> {
    /// Name of the suite.
    pub(super) suite: &'a str,
    /// Plies for which a solution had to be stable to end the search; `null` if searches were not
    /// ended.
    pub(super) stable_plies: Option<u32>,
    /// Engines with their counts.
    pub(super) engines: Vec<EngineFigures<'a>>,
    /// Comparisons of the first engine with each of the others.
    pub(super) comparisons: Vec<ComparedFigures<'a>>,
    /// Positions with their searches.
    pub(super) positions: Vec<PositionFigures<'a>>,
    /// Lines that were not used.
    pub(super) unusable: &'a [LineFault],
    /// Impossible parts left out of positions that are used.
    pub(super) corrected: &'a [LineFault],
    #[serde(flatten)]
    pub(super) place: PlaceFigures<'a>,
}

/// Engine with its counts.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EngineFigures<'a> {
    /// Name of the engine.
    pub(super) name: &'a str,
    /// Limits of the searches, in words.
    pub(super) limits: &'a str,
    #[serde(flatten)]
    pub(super) solved: SolvedFigures,
    /// Lower end of a 95 % interval of the share solved, 0 to 1.
    pub(super) share_low: Option<f64>,
    /// Upper end of that interval.
    pub(super) share_high: Option<f64>,
    /// Positions without a legal move in answer, which are not solved.
    pub(super) faults: u64,
    /// Mates announced in time, where records ask for mates.
    pub(super) mates_announced: Option<u64>,
    /// Mates that records ask for.
    pub(super) mates_expected: Option<u64>,
    /// Median of the milliseconds to the solutions.
    pub(super) median_time_ms: Option<f64>,
    /// Sum of the milliseconds to the solutions.
    pub(super) total_time_ms: f64,
    /// Counts by theme.
    pub(super) themes: Vec<ThemeFigures<'a>>,
}

/// Counts over the positions of a theme.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ThemeFigures<'a> {
    /// Name of the theme; `null` for positions without one.
    pub(super) theme: Option<&'a str>,
    #[serde(flatten)]
    pub(super) solved: SolvedFigures,
}

/// Counts of solved positions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SolvedFigures {
    /// Number of positions.
    positions: u64,
    /// Number of positions solved.
    solved: u64,
    /// Points made, where records give points.
    points: Option<u64>,
    /// Most points possible.
    points_max: Option<u64>,
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

/// Comparison of two engines.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComparedFigures<'a> {
    /// Name of the first engine.
    pub(super) first: &'a str,
    /// Name of the second engine.
    pub(super) second: &'a str,
    #[serde(flatten)]
    pub(super) solved: SolvedCounts,
    /// Exact p-value of McNemar's test.
    pub(super) p_exact: Option<f64>,
    /// Mid-p-value of that test.
    pub(super) p_mid: Option<f64>,
    /// Difference of the shares solved.
    pub(super) difference: Option<f64>,
    /// Standard error of that difference.
    pub(super) difference_error: Option<f64>,
    /// Lines of the positions that only the first engine solves.
    pub(super) won_lines: Vec<usize>,
    /// Lines of the positions that only the second engine solves.
    pub(super) lost_lines: Vec<usize>,
}

/// Position with its searches.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PositionFigures<'a> {
    /// Number of the line, from 1.
    pub(super) line: usize,
    /// Operand of `id`.
    pub(super) id: Option<&'a str>,
    /// Theme of the position, as far as the id names one.
    pub(super) theme: Option<&'a str>,
    /// FEN of the position.
    pub(super) fen: String,
    /// Solution, in SAN.
    pub(super) solution: String,
    /// Parts of the line that were left out, with reasons.
    pub(super) notes: &'a [String],
    /// Searches, one of each engine.
    pub(super) searches: Vec<SearchFigures<'a>>,
}

/// Search of a position by one engine.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchFigures<'a> {
    /// `true` if the position is solved.
    pub(super) solved: bool,
    /// Fault of the engine in place of an answer; absent if there is an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<&'a str>,
    #[serde(flatten)]
    pub(super) search: Option<AnsweredSearch>,
}

/// Search with an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AnsweredSearch {
    /// Move played, in UCI notation.
    pub(super) r#move: String,
    /// Points of the move, where the record gives points.
    pub(super) points: Option<u32>,
    /// `true` if the mate of the record was announced; `None` if the record has no mate.
    pub(super) mate_announced: Option<bool>,
    /// If solved: milliseconds until the search turned to a solution for good.
    pub(super) solution_ms: Option<f64>,
    /// Depth in plies at that moment.
    pub(super) solution_depth: Option<u32>,
    /// Nodes searched up to that moment.
    pub(super) solution_nodes: Option<u64>,
    /// Milliseconds of the whole search.
    pub(super) time_ms: f64,
    /// Depth of the whole search, in plies.
    pub(super) depth: Option<u32>,
    /// Nodes of the whole search.
    pub(super) nodes: Option<u64>,
}
