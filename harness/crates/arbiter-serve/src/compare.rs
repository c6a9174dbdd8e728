//! Page that compares several runs.

use std::path::Path;

use super::fold::Fold;
use super::http_error::HttpError;
use crate::web::static_page;
use arbiter_names::quantity;
use arbiter_report::{
    Chart, Document, Figure, HistoryPoint, Intervals, Line, Lines, LlrHistory, Summary, Table,
    percent, short_hash, signed, sprt_bounds_text, utc_time_as,
};
use arbiter_run::Effect;
use arbiter_settings::command_flags;
use arbiter_stats::{LlrBounds, Trinomial};
use arbiter_store::{Store, StoreError, StoredRun};

/// Maximum number of runs in a comparison: the number of colours in a chart.
pub(crate) const MAX_RUNS: usize = 8;

/// Run in a comparison.
pub(crate) struct ComparedRun {
    /// Summary of the run.
    pub(crate) summary: Summary,
    /// LLR and Elo by number of games, for a run of two engines; empty for other runs.
    pub(crate) history: Vec<HistoryPoint>,
    /// Names and values of the settings of the run.
    pub(crate) settings: Vec<(&'static str, String)>,
    /// Flags of the command that plays the run, each with its value.
    pub(crate) flags: Vec<String>,
}

/// Returns the page that compares runs.
pub(crate) fn compare(results: &Path, runs: &[String]) -> Result<String, HttpError> {
    let store = Store::observe(results)?;
    let runs: Result<Vec<_>, _> = runs.iter().map(|run| compare_run(&store, run)).collect();
    Ok(static_page(&comparison(&runs?)))
}

fn compare_run(store: &Store, run: &str) -> Result<ComparedRun, StoreError> {
    let mut history = LlrHistory::default();
    let (fold, summary) = Fold::begin(store, run, |effect| {
        if let Effect::Count { tally, sprt_status } = effect {
            history.count(&tally, sprt_status);
        }
    })?;
    let history = if summary.engines.len() == 2 { history.points() } else { Vec::new() };
    let settings = settings(&fold.stored, &summary);
    let flags = command_flags(&fold.stored.plan);
    Ok(ComparedRun { summary, history, settings, flags })
}

/// Returns the settings of a run. The comparison shows settings that differ between runs.
fn settings(stored: &StoredRun, summary: &Summary) -> Vec<(&'static str, String)> {
    let plan = &stored.plan;
    let all = |values: Vec<String>| values.join("; ");
    let limits = summary.limits().map(|limits| limits.to_string()).collect();
    let hashes =
        stored.fingerprints.engines.iter().map(|hashes| short_hash(&hashes.program)).collect();
    vec![
        ("kind", plan.kind.to_string()),
        ("engines", all(summary.engines.clone())),
        ("programs (BLAKE3)", all(hashes)),
        ("test", plan.sprt.as_ref().map_or("none".to_owned(), sprt_bounds_text)),
        ("limits", all(limits)),
        ("openings (BLAKE3)", short_hash(&stored.fingerprints.book)),
        ("adjudication", all(plan.rules.describe())),
        ("concurrency", plan.concurrency.to_string()),
        ("arbiter", stored.version.clone()),
    ]
}

/// Returns the comparison as a document.
pub(crate) fn comparison(runs: &[ComparedRun]) -> Document {
    let mut document = Document::new(format!("Comparison of {}", quantity(runs.len(), "run")));
    document.paragraph(LEGEND);
    document.heading("Results");
    document.table(results(runs));
    document.heading("Elo and LLR");
    let figures = [strengths(runs), elo_history(runs), llr_history(runs)];
    let figures: Vec<Figure> = figures.into_iter().flatten().collect();
    if figures.is_empty() {
        document.paragraph("None of these runs has two engines.");
    }
    figures.into_iter().for_each(|figure| document.figures([figure]));
    document.heading("Differences");
    match differences(runs) {
        Some(table) => document.table(table),
        None if runs.len() < 2 => document.paragraph("Select a second run to compare settings."),
        None => document.paragraph("All runs have the same settings."),
    }
    document
}

const LEGEND: &str = "Elo and LOS are from the point of view of the first of two engines; in a \
                      test, both are corrected for the stopping rule. Values of different engines \
                      or settings are not comparable.";

fn results(runs: &[ComparedRun]) -> Table {
    let mut table = Table::with_columns(
        ["run", "verdict", "Elo (95 %)", "LOS", "engines"],
        ["games", "drawn", "LLR", "faults", "started (UTC)"],
    );
    for ComparedRun { summary, .. } in runs {
        let strength = summary.strength();
        let faults: u64 = summary.counts.faults.values().sum();
        let games: Trinomial = summary.counts.encounters.values().map(|met| met.games).sum();
        // No single number compares more than two engines.
        let los = if summary.engines.len() == 2 { strength.los_text() } else { String::new() };
        table.push([
            &summary.run,
            &summary.state_text(),
            &summary.elo_text(),
            &los,
            &summary.engines_text(),
            &games.games(),
            &percent(games.draw_ratio()),
            &summary.test().map_or(String::new(), |(_, status)| signed(status.llr, 2)),
            &faults,
            &utc_time_as(summary.created_ms, "%Y-%m-%d %H:%M"),
        ]);
        table.link("run", format!("/runs/{}", summary.run));
    }
    table
}

/// Returns the names of a run and of its engines, for the legend of a chart.
fn name(ComparedRun { summary, .. }: &ComparedRun) -> String {
    format!("{}: {}", summary.run, summary.engines_text())
}

fn strengths(runs: &[ComparedRun]) -> Option<Figure> {
    let mut table = Table::new(["run", "Elo (95 %)"]);
    let (mut rows, mut engines) = (Vec::new(), Vec::new());
    for (place, ComparedRun { summary, .. }) in runs.iter().enumerate() {
        let Some(elo) = summary.duel().and_then(|strength| strength.elo) else { continue };
        table.push([&summary.run, &summary.elo_text()]);
        table.link("run", format!("/runs/{}", summary.run));
        // An unbounded end of an interval is drawn as an arrow.
        rows.push((summary.run.clone(), elo.value, elo.low, elo.high));
        // A run has the same colour in all charts.
        engines.push(Some(place));
    }
    rows.first()?;
    let caption = "Elo of each run (95 %)".to_owned();
    let description = format!("Elo with its interval of {} runs.", rows.len());
    let chart = Intervals { x: "Elo of the first engine", rows, level: Some(0.0), engines };
    Some(Figure { caption, description, chart: Chart::Intervals(chart), table })
}

fn elo_history(runs: &[ComparedRun]) -> Option<Figure> {
    let line = |run: &ComparedRun| {
        let known = run.history.iter().filter_map(|point| Some((point.games, point.elo?)));
        Line::of_estimates(name(run), &known.collect::<Vec<_>>())
    };
    let zero = vec![(String::new(), 0.0)];
    history(runs, ("Elo by number of games", "Elo, 95 % interval at each point"), zero, line)
}

fn llr_history(runs: &[ComparedRun]) -> Option<Figure> {
    let line = |run: &ComparedRun| {
        let llr = |point: &HistoryPoint| Some((point.games as f64, point.sprt_status?.llr));
        Line::plain(name(run), run.history.iter().filter_map(llr).collect())
    };
    history(runs, ("LLR by number of games", "log-likelihood ratio"), bounds(runs), line)
}

/// Returns the lines of Wald's bounds if all tests have the same bounds, and otherwise a line at
/// zero; empty if there are no tests.
fn bounds(runs: &[ComparedRun]) -> Vec<(String, f64)> {
    let mut all = runs.iter().filter_map(|run| Some(run.summary.plan.sprt?.bounds));
    let Some(LlrBounds { lower, upper }) = all.next() else { return Vec::new() };
    if all.all(|other| (other.lower, other.upper) == (lower, upper)) {
        vec![("H1".to_owned(), upper), ("H0".to_owned(), lower)]
    } else {
        vec![(String::new(), 0.0)]
    }
}

/// Returns a chart with a line for each run that has points, and a table of the last values.
fn history(
    runs: &[ComparedRun],
    (caption, unit): (&str, &str),
    levels: Vec<(String, f64)>,
    line: impl Fn(&ComparedRun) -> Line,
) -> Option<Figure> {
    // A run has the same colour in all charts, even if an earlier run has no line.
    let lines =
        runs.iter().enumerate().map(|(place, run)| Line { engine: Some(place), ..line(run) });
    let lines: Vec<Line> = lines.filter(|line| !line.points.is_empty()).collect();
    let mut table = Table::new(["run", "games", "value by then"]);
    for line in &lines {
        let (games, value) = line.points.last().copied()?;
        let band = |(_, low, high): &_| format!(" [{low:+.1}, {high:+.1}]");
        let around = line.band.last().map_or(String::new(), band);
        table.push([&line.name, &format!("{games:.0}"), &format!("{value:+.2}{around}")]);
    }
    lines.first()?;
    let caption = match &lines[..] {
        [one] => format!("{caption}, {}", one.name),
        _ => caption.to_owned(),
    };
    let description = format!("{caption} of {}.", quantity(lines.len(), "run"));
    let chart =
        Chart::Lines(Lines { x: "games", y: unit.to_owned(), lines, levels, ..Lines::default() });
    Some(Figure { caption, description, chart, table })
}

/// Returns a table of the settings and flags that differ between runs; `None` if all are equal.
fn differences(runs: &[ComparedRun]) -> Option<Table> {
    let mut table = Table::with_columns([""], runs.iter().map(|run| &run.summary.run));
    for (place, (name, first)) in runs.first()?.settings.iter().enumerate() {
        let values: Vec<&str> = runs.iter().map(|run| run.settings[place].1.as_str()).collect();
        if values.iter().any(|value| value != first) {
            table.push_with([name], values);
        }
    }
    let is_own = |flag: &&String| !runs.iter().all(|other| other.flags.contains(flag));
    let own = |run: &ComparedRun| run.flags.iter().filter(is_own).cloned().collect::<Vec<_>>();
    let own: Vec<String> = runs.iter().map(|run| own(run).join(" ")).collect();
    if own.iter().any(|flags| !flags.is_empty()) {
        table.push_with([&"flags"], own);
    }
    (table.rows().len() > 1).then_some(table)
}
