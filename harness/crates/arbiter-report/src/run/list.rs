//! List of runs.

use regex_lite::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::figures::{RunPhase, Summary, Verdict};
use crate::parts::{Table, to_value, utc_time, utc_time_as};
use arbiter_names::variants;
use arbiter_plan::RunKind;
use arbiter_store::RunHead;

/// Filter for a list of runs; a field that is `None` accepts every run.
#[derive(Debug, Default)]
pub struct RunFilter {
    /// Pattern that must match the run name, an engine name, the purpose, or the state.
    pub pattern: Option<Regex>,
    /// Phase of the run.
    pub phase: Option<RunPhase>,
    /// Kind of the run.
    pub kind: Option<RunKind>,
    /// Name of one of the engines.
    pub engine: Option<String>,
}

/// Compiles a case-insensitive regular expression that filters runs. Returns a message if the
/// expression is invalid.
pub fn run_pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).case_insensitive(true).build().map_err(|error| error.to_string())
}

impl RunFilter {
    /// Returns `true` if a run matches the filter.
    pub fn holds(&self, run: &ListedRun) -> bool {
        let summary = run.summary.as_ref().ok();
        let engines = || summary.iter().flat_map(|summary| &summary.engines);
        let is_match = |pattern: &Regex| {
            let state = run.state_text();
            let texts = [&run.head.run].into_iter().chain(&run.head.about);
            pattern.is_match(&state) || texts.chain(engines()).any(|text| pattern.is_match(text))
        };
        self.phase.is_none_or(|phase| summary.map(Summary::phase) == Some(phase))
            && self.kind.is_none_or(|kind| summary.map(|summary| summary.plan.kind) == Some(kind))
            && self.engine.as_ref().is_none_or(|name| engines().any(|engine| engine == name))
            && self.pattern.as_ref().is_none_or(is_match)
    }
}

/// Run in a list of runs.
#[derive(Debug)]
pub struct ListedRun {
    /// Stored data of the run, without the plan and the pairs.
    pub head: RunHead,
    /// Summary of the run, or the reason why the run cannot be read.
    pub summary: Result<Summary, String>,
}

impl ListedRun {
    /// First columns of a list of runs in CSV, in order. The names are the keys of `RunRow`.
    pub const FIRST: [&str; 14] = [
        "run", "started", "kind", "engines", "limits", "pairs", "games", "elo", "elo_low",
        "elo_high", "llr", "ending", "state", "about",
    ];

    /// Formats the state of the run, or the reason why the run cannot be read.
    pub fn state_text(&self) -> String {
        match &self.summary {
            Ok(summary) => summary.state_text(),
            Err(why) => format!("cannot be read: {why}"),
        }
    }
}

/// Column in the list of runs, on a terminal and on a page, in the order on a terminal. The names
/// are the headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunColumn {
    /// Name of the run.
    Run,
    /// Start time.
    #[serde(rename = "started (UTC)")]
    Started,
    /// Kind of the run.
    Kind,
    /// Names of the engines.
    Engines,
    /// Search limits of the engines.
    Limits,
    /// Number of counted games.
    Games,
    /// Elo with its 95 % interval, or the engine in first place.
    #[serde(rename = "Elo (95 %)")]
    Elo,
    /// LLR with its bounds.
    #[serde(rename = "LLR")]
    Llr,
    /// State of the run.
    State,
    /// Purpose of the run.
    About,
}

arbiter_names::named!(RunColumn);

impl RunColumn {
    /// Returns the cell of a run in this column. If the run cannot be read, cells that need the
    /// summary are empty.
    pub fn cell(self, run: &ListedRun) -> String {
        let figure =
            |format: fn(&Summary) -> String| run.summary.as_ref().map(format).unwrap_or_default();
        match self {
            RunColumn::Run => run.head.run.clone(),
            RunColumn::Started => utc_time_as(run.head.created_ms, "%Y-%m-%d %H:%M"),
            RunColumn::Kind => figure(|summary| summary.plan.kind.to_string()),
            RunColumn::Engines => figure(Summary::engines_text),
            RunColumn::Limits => figure(Summary::limits_text),
            RunColumn::Games => figure(|summary| summary.counts.games().to_string()),
            RunColumn::Elo => figure(Summary::elo_text),
            RunColumn::Llr => figure(Summary::llr_text),
            RunColumn::State => run.state_text(),
            RunColumn::About => run.head.about.clone().unwrap_or_default(),
        }
    }
}

/// Returns a list of runs as a table.
pub fn runs_table(runs: &[ListedRun]) -> Table {
    let mut table = Table::with_columns([], variants::<RunColumn>());
    for run in runs {
        table.push_with([], variants().map(|column: RunColumn| column.cell(run)));
    }
    if runs.iter().any(|run| run.head.about.is_some()) { table } else { table.without("about") }
}

/// Run as listed by `arbiter results list`, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "arbiter.results.list")]
pub(crate) struct RunRow<'a> {
    /// Name of the run.
    run: &'a str,
    /// Start time, in UTC.
    started: String,
    /// Number of stored pairs.
    pairs: u64,
    /// Ending: `H1` or `H0` (of the SPRT), `complete`, `interrupted` or `unfinished`.
    ending: String,
    /// State as text, such as `H1 accepted` or `running`.
    state: String,
    /// Purpose of the run, in one line, if given by the user.
    about: Option<&'a str>,
    #[serde(flatten)]
    played: Option<RunFigures<'a>>,
}

/// Figures of a run; absent if the run cannot be read.
#[derive(Debug, Serialize, JsonSchema)]
struct RunFigures<'a> {
    /// Kind of the run.
    kind: RunKind,
    /// Names of the engines.
    engines: &'a [String],
    /// Search limits of each engine, as text.
    limits: Vec<String>,
    /// Number of counted games.
    games: u64,
    /// Verdict of the run.
    verdict: Verdict,
    /// `true` if the share of games that ended by an engine fault exceeds the limit.
    invalid: bool,
    /// Logistic Elo of the first engine, corrected for the stopping rule.
    elo: Option<f64>,
    /// Lower end of the 95 % interval of `elo`.
    elo_low: Option<f64>,
    /// Upper end of the 95 % interval of `elo`.
    elo_high: Option<f64>,
    /// Log-likelihood ratio of the SPRT.
    llr: Option<f64>,
    /// Log-likelihood ratio at or below which H0 is accepted.
    llr_stop_lower: Option<f64>,
    /// Log-likelihood ratio at or above which H1 is accepted.
    llr_stop_upper: Option<f64>,
}

/// Returns a list of runs as a JSON array.
pub fn runs_json<'a>(runs: &'a [ListedRun]) -> Value {
    let row = |listed: &'a ListedRun| RunRow {
        run: &listed.head.run,
        started: utc_time(listed.head.created_ms),
        pairs: listed.head.pairs,
        ending: listed.head.ending.map_or("unfinished".to_owned(), |ending| ending.to_string()),
        state: listed.state_text(),
        about: listed.head.about.as_deref(),
        played: listed.summary.as_ref().ok().map(figures),
    };
    to_value(&runs.iter().map(row).collect::<Vec<_>>())
}

fn figures(summary: &Summary) -> RunFigures<'_> {
    let elo = summary.duel().and_then(|strength| strength.elo);
    let status = summary.test().map(|(_, status)| status);
    RunFigures {
        kind: summary.plan.kind,
        engines: &summary.engines,
        limits: summary.limits().map(|limits| limits.to_string()).collect(),
        games: summary.counts.games(),
        verdict: summary.verdict(),
        invalid: summary.is_invalid(),
        elo: elo.map(|elo| elo.value),
        elo_low: elo.map(|elo| elo.low),
        elo_high: elo.map(|elo| elo.high),
        llr: status.map(|status| status.llr),
        llr_stop_lower: status.map(|status| status.lower),
        llr_stop_upper: status.map(|status| status.upper),
    }
}
