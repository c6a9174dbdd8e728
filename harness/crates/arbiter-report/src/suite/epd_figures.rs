//! The report of `arbiter epd` in JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::place::PlaceFigures;
use arbiter_stats::paired::Solved;
use arbiter_suite::LineFault;
use arbiter_suite::epd::Tally;

/// Which positions engines solve: `arbiter epd`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.epd/1")]
pub(crate) struct EpdFigures<'a> {
    /// Name of the suite.
    pub(super) suite: &'a str,
    /// Plies for which a solution had to be held to end the search, if so.
    pub(super) hold_plies: Option<u32>,
    /// The engines.
    pub(super) engines: Vec<EngineFigures<'a>>,
    /// The first engine compared with each of the others.
    pub(super) comparisons: Vec<ComparedFigures<'a>>,
    /// The positions.
    pub(super) positions: Vec<PositionFigures<'a>>,
    /// Lines that were not used.
    pub(super) unusable: &'a [LineFault],
    /// What was left out of positions that are used, as no position can have it.
    pub(super) corrected: &'a [LineFault],
    #[serde(flatten)]
    pub(super) place: PlaceFigures<'a>,
}

/// An engine.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EngineFigures<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// What bounds its searches, in words.
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
    pub(super) mates_seen: Option<u64>,
    /// Mates asked for.
    pub(super) mates_asked: Option<u64>,
    /// Median of the milliseconds to the solutions.
    pub(super) median_time_ms: Option<f64>,
    /// Sum of the milliseconds to the solutions.
    pub(super) total_time_ms: f64,
    /// The same by theme.
    pub(super) themes: Vec<ThemeFigures<'a>>,
}

/// The positions of a theme.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ThemeFigures<'a> {
    /// The theme; `null` for positions without one.
    pub(super) theme: Option<&'a str>,
    #[serde(flatten)]
    pub(super) solved: SolvedFigures,
}

/// How much was solved.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SolvedFigures {
    /// Positions.
    positions: u64,
    /// Positions solved.
    solved: u64,
    /// Points made, where records give points.
    points: Option<u64>,
    /// Points to be had.
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

/// Two engines compared.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComparedFigures<'a> {
    /// Name of the first engine.
    pub(super) first: &'a str,
    /// Name of the other.
    pub(super) second: &'a str,
    #[serde(flatten)]
    pub(super) solved: Solved,
    /// Exact p-value of McNemar's test.
    pub(super) p_exact: Option<f64>,
    /// Mid-p-value of that test.
    pub(super) p_mid: Option<f64>,
    /// Difference of the shares solved.
    pub(super) difference: Option<f64>,
    /// Standard error of that difference.
    pub(super) difference_error: Option<f64>,
    /// Lines of the positions that only the first solves.
    pub(super) won_lines: Vec<usize>,
    /// Lines of the positions that only the second solves.
    pub(super) lost_lines: Vec<usize>,
}

/// A position.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PositionFigures<'a> {
    /// Number of its line, from 1.
    pub(super) line: usize,
    /// Its `id`.
    pub(super) id: Option<&'a str>,
    /// Its theme, as far as the id tells.
    pub(super) theme: Option<&'a str>,
    /// The position.
    pub(super) fen: String,
    /// What is asked for, in SAN.
    pub(super) wanted: String,
    /// Parts of the line that were left out, and why.
    pub(super) notes: &'a [String],
    /// The searches, one of each engine.
    pub(super) searches: Vec<SearchFigures<'a>>,
}

/// A search.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchFigures<'a> {
    /// Whether the position is solved.
    pub(super) solved: bool,
    /// What the engine did instead of an answer; absent if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<&'a str>,
    #[serde(flatten)]
    pub(super) search: Option<AnsweredSearch>,
}

/// A search with an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AnsweredSearch {
    /// The move played, in UCI notation.
    pub(super) r#move: String,
    /// Points of the move, where the record gives points.
    pub(super) points: Option<u32>,
    /// Whether the mate was announced, where the record has one.
    pub(super) mate_seen: Option<bool>,
    /// If solved: milliseconds until the search turned to a solution for good.
    pub(super) solution_ms: Option<f64>,
    /// Depth in plies then.
    pub(super) solution_depth: Option<u32>,
    /// Nodes until then.
    pub(super) solution_nodes: Option<u64>,
    /// Milliseconds of the whole search.
    pub(super) time_ms: f64,
    /// Its depth in plies.
    pub(super) depth: Option<u32>,
    /// Its nodes.
    pub(super) nodes: Option<u64>,
}
