//! The list of runs.

use regex_lite::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stored::{utc_time, utc_time_as};
use crate::summary::{Summary, Verdict};
use crate::table::Table;
use crate::to_value;
use arbiter_plan::{Ending, RunKind};
use arbiter_store::RunHead;

/// What stands for the state of a run that cannot be read.
const UNREADABLE: &str = "cannot be read";

/// Whether a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunPhase {
    /// It is being played.
    Running,
    /// It is complete, or decided.
    Ended,
    /// It was interrupted or killed.
    Unfinished,
}

arbiter_names::named!(RunPhase);

/// Which runs of a list are wanted; `None` is for any.
#[derive(Debug, Default)]
pub struct RunFilter {
    /// Matches the name, an engine, what it tries, or the state.
    pub pattern: Option<Regex>,
    /// Whether it is over.
    pub phase: Option<RunPhase>,
    /// What kind of question it answers.
    pub kind: Option<RunKind>,
    /// The name of one of its engines.
    pub engine: Option<String>,
}

/// A pattern for runs, whatever the case.
pub fn run_pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).case_insensitive(true).build().map_err(|error| error.to_string())
}

impl RunFilter {
    /// Whether a run is wanted.
    pub fn holds(&self, run: &ListedRun) -> bool {
        let summary = run.summary.as_ref().ok();
        let engines = || summary.iter().flat_map(|summary| &summary.engines);
        let is_match = |pattern: &Regex| {
            let state = run.state_in_words();
            let texts = [&run.head.run].into_iter().chain(&run.head.about);
            pattern.is_match(&state) || texts.chain(engines()).any(|text| pattern.is_match(text))
        };
        self.phase.is_none_or(|phase| summary.map(Summary::phase) == Some(phase))
            && self.kind.is_none_or(|kind| summary.map(|summary| summary.plan.kind) == Some(kind))
            && self.engine.as_ref().is_none_or(|name| engines().any(|own| own == name))
            && self.pattern.as_ref().is_none_or(is_match)
    }
}

/// One run of the list.
#[derive(Debug)]
pub struct ListedRun {
    /// What the store says of it.
    pub head: RunHead,
    /// What follows from its games, or why they cannot be read.
    pub summary: Result<Summary, String>,
}

impl ListedRun {
    /// How it stands or ended, in a word or two.
    pub fn state_in_words(&self) -> String {
        match &self.summary {
            Ok(summary) => summary.state_in_words(),
            Err(why) => format!("{UNREADABLE}: {why}"),
        }
    }
}

/// The list as a table.
pub fn runs_table(runs: &[ListedRun]) -> Table {
    let mut table = Table::with_columns(
        ["run", "started (UTC)", "kind", "engines", "limits", "games", "Elo (95 %)", "LLR [stops]"],
        ["state", "about"],
    );
    for run in runs {
        let (head, summary) = (&run.head, run.summary.as_ref().ok());
        let said = |say: fn(&Summary) -> String| summary.map_or(String::new(), say);
        table.push([
            &head.run,
            &utc_time_as(head.created_ms, "%Y-%m-%d %H:%M"),
            &said(|summary| summary.plan.kind.to_string()),
            &said(Summary::engines_in_words),
            &said(Summary::limits_in_words),
            &said(|summary| summary.counts.games().to_string()),
            &said(Summary::elo_in_words),
            &said(Summary::llr_in_words),
            &run.state_in_words(),
            &head.about.as_deref().unwrap_or_default(),
        ]);
    }
    match runs.iter().any(|run| run.head.about.is_some()) {
        true => table,
        false => table.without("about"),
    }
}

/// A run of `arbiter results list`, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "arbiter.results.list")]
pub(crate) struct RunRow<'a> {
    /// Its name.
    run: &'a str,
    /// When it began, in UTC.
    begun: String,
    /// Pairs on disk.
    pairs: u64,
    /// How it ended: `H1` or `H0` (of its SPRT), `complete`, `interrupted` or `unfinished`.
    ending: &'static str,
    /// How it stands or ended, in a word or two.
    state: String,
    /// What it tries, in one line, if its user said so.
    about: Option<&'a str>,
    #[serde(flatten)]
    played: Option<RunFigures<'a>>,
}

/// What follows from its games; absent if they cannot be read.
#[derive(Debug, Serialize, JsonSchema)]
struct RunFigures<'a> {
    /// Kind of the run.
    kind: RunKind,
    /// Names of the engines.
    engines: &'a [String],
    /// What bounds them, in words, one for each.
    limits: Vec<String>,
    /// Games that count.
    games: u64,
    /// Its answer.
    verdict: Verdict,
    /// Whether too many games ended by faults of engines.
    invalid: bool,
    /// Logistic Elo of the first engine, corrected for the stopping rule.
    elo: Option<f64>,
    /// Lower end of its 95 % interval.
    elo_low: Option<f64>,
    /// Upper end of its 95 % interval.
    elo_high: Option<f64>,
    /// Log-likelihood ratio of its SPRT.
    llr: Option<f64>,
    /// H0 is accepted at or below it.
    llr_stop_lower: Option<f64>,
    /// H1 is accepted at or above it.
    llr_stop_upper: Option<f64>,
}

/// The list as a JSON array.
pub fn runs_json<'a>(runs: &'a [ListedRun]) -> Value {
    let row = |listed: &'a ListedRun| RunRow {
        run: &listed.head.run,
        begun: utc_time(listed.head.created_ms),
        pairs: listed.head.pairs,
        ending: ending_word(listed.head.ending),
        state: listed.state_in_words(),
        about: listed.head.about.as_deref(),
        played: listed.summary.as_ref().ok().map(figures),
    };
    to_value(&runs.iter().map(row).collect::<Vec<_>>())
}

fn figures(summary: &Summary) -> RunFigures<'_> {
    let elo = summary.duel().and_then(|strength| strength.elo);
    let look = summary.test().map(|(_, look)| look);
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
        llr: look.map(|look| look.llr),
        llr_stop_lower: look.map(|look| look.lower),
        llr_stop_upper: look.map(|look| look.upper),
    }
}

fn ending_word(ending: Option<Ending>) -> &'static str {
    match ending {
        Some(Ending::AcceptedH1) => "H1",
        Some(Ending::AcceptedH0) => "H0",
        Some(Ending::Complete) => "complete",
        Some(Ending::Interrupted) => "interrupted",
        None => "unfinished",
    }
}
