//! Results of a tuning run: values, notes, and the path of the parameters.

use schemars::JsonSchema;
use serde::Serialize;

use crate::figures::Summary;
use crate::parts::{Block, Chart, Document, Figure, Line, Lines, Table, results, table_rows};
use arbiter_plan::base_name;
use arbiter_spsa::{Parameter, PathPoint, SpsaState, Tuning, noise};

/// Maximum number of parameters that a line names.
const MAX_NAMED: usize = 6;

/// Results of a tuning run by SPSA.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TuningFigures<'a> {
    /// Number of iterations.
    iterations: u64,
    /// Number of iterations with a result.
    iterations_done: u64,
    /// Number of pairs per iteration.
    pairs_per_iteration: u64,
    /// Maximum number of earlier iterations without a result when an iteration starts.
    iterations_ahead: u64,
    /// Exponent of the decrease of the step size.
    alpha: f64,
    /// Exponent of the decrease of the perturbations.
    gamma: f64,
    /// SPSA's constant `A`, as a share of all pairs.
    a_ratio: f64,
    /// Mean Elo lost to the noise of SPSA after convergence.
    noise_elo: Option<f64>,
    /// Upper bound (95 %) of the Elo lost to the noise of SPSA after convergence.
    noise_elo_95: Option<f64>,
    /// Parameters, with current values.
    parameters: Vec<Tuned<'a>>,
    /// Path points, beginning with the initial values.
    path: Vec<Step>,
}

/// Tuned parameter.
#[derive(Debug, Serialize, JsonSchema)]
struct Tuned<'a> {
    #[serde(flatten)]
    parameter: &'a Parameter,
    /// Current value, not rounded.
    value: f64,
    /// Current value as sent to the engine.
    tuned: String,
}

/// Path point of a tuning run.
#[derive(Debug, Serialize, JsonSchema)]
struct Step {
    /// Number of games until this point.
    games: u64,
    /// Number of games won minus games lost by the first sides until this point.
    score: i64,
    /// Values, in the order of the parameters, not rounded.
    values: Vec<f64>,
}

/// Returns the results of a tuning run for JSON; `None` if the run is not a tuning run.
pub(crate) fn figures(summary: &Summary) -> Option<TuningFigures<'_>> {
    let spsa = summary.spsa.as_ref()?;
    let tuning = spsa.tuning();
    let noise = expected_noise(summary, tuning);
    let point = |point: PathPoint| Step {
        games: 2 * tuning.pairs * point.iterations,
        score: point.score,
        values: point.theta,
    };
    Some(TuningFigures {
        iterations: tuning.iterations,
        iterations_done: spsa.finished(),
        pairs_per_iteration: tuning.pairs,
        iterations_ahead: tuning.ahead,
        alpha: tuning.alpha,
        gamma: tuning.gamma,
        a_ratio: tuning.a_ratio,
        noise_elo: noise.map(|(mean, _)| mean),
        noise_elo_95: noise.map(|(_, quantile)| quantile),
        parameters: (tuning.parameters.iter().zip(spsa.theta()))
            .map(|(parameter, &value)| Tuned {
                parameter,
                value,
                tuned: parameter.setting(value).1,
            })
            .collect(),
        path: spsa.path().into_iter().map(point).collect(),
    })
}

/// Formats the names of the first tuned parameters, and the number of remaining parameters.
pub fn tuned_names(tuning: &Tuning) -> String {
    let shown = tuning.parameters.iter().take(MAX_NAMED).map(|p| p.name.as_str());
    let shown = shown.collect::<Vec<_>>().join(", ");
    match tuning.parameters.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Formats the length and the gain schedule of a tuning run.
pub fn tuning_schedule(tuning: &Tuning) -> String {
    let Tuning { parameters: _, alpha, gamma, a_ratio, iterations, pairs, ahead } = tuning;
    let games = 2 * tuning.all_pairs();
    format!(
        "{iterations} iterations of {pairs} pairs ({games} games), {ahead} ahead, alpha {alpha}, \
         gamma {gamma}, A {a_ratio} of all pairs"
    )
}

/// Formats the state of a tuning run in one line: the number of finished iterations, and the first
/// values with their changes.
pub(crate) fn line(tuning: &Tuning, finished: u64, theta: &[f64]) -> String {
    let shown = tuning.parameters.iter().zip(theta).take(MAX_NAMED);
    let values = shown.map(|(parameter, value)| {
        format!("{} {value:.2} ({:+.2})", parameter.name, value - parameter.start + 0.0)
    });
    let iteration = format!("iteration {finished}/{}", tuning.iterations);
    let more = (tuning.parameters.len() > MAX_NAMED).then(|| "…".to_owned());
    std::iter::once(iteration).chain(values).chain(more).collect::<Vec<_>>().join(" · ")
}

/// Returns a table with one row per parameter.
fn table(spsa: &SpsaState) -> Table {
    let mut table = Table::with_columns(
        ["parameter", "start", "value", "tuned"],
        ["change, in last steps", "range", "last step (c_end)", "last rate (r_end)"],
    );
    for (parameter, value) in spsa.tuning().parameters.iter().zip(spsa.theta()) {
        let Parameter { name, start, min, max, c_end, r_end, .. } = parameter;
        let change = format!("{:+.2}", (value - start) / c_end + 0.0);
        let tuned = parameter.setting(*value).1;
        let range = format!("{min} to {max}");
        let value = format!("{value:.3}");
        table.push([name, start, &value, &tuned, &change, &range, c_end, r_end]);
    }
    table
}

/// Formats the values as UCI commands, one per line.
fn options(spsa: &SpsaState) -> String {
    let settings = spsa.tuning().settings(spsa.theta()).into_iter();
    settings.map(|(name, value)| format!("setoption name {name} value {value}\n")).collect()
}

/// Formats the changed values as removed and added lines of a table in source code.
fn assignments(spsa: &SpsaState) -> String {
    let tuning = spsa.tuning();
    let now = tuning.settings(spsa.theta());
    let start = tuning.settings(&tuning.start());
    let changed = start.into_iter().zip(now).filter(|(start, now)| start != now);
    let line = |((name, old), (_, new))| format!("-{name} = {old}\n+{name} = {new}\n");
    changed.map(line).collect()
}

/// Returns notes on the expected loss caused by SPSA noise, and on values at a limit of the allowed
/// range.
fn notes(summary: &Summary, spsa: &SpsaState) -> Vec<String> {
    let tuning = spsa.tuning();
    let mut notes = Vec::new();
    if let Some((mean, quantile)) = expected_noise(summary, tuning) {
        notes.push(format!(
            "Expected loss from SPSA noise after convergence: {mean:.1} Elo on average, at most \
             {quantile:.1} Elo with 95 % probability (theory, from the final rates and the draw \
             ratio)."
        ));
    }
    let values = tuning.parameters.iter().zip(spsa.theta());
    let at_end =
        values.filter(|(parameter, value)| **value <= parameter.min || **value >= parameter.max);
    let ends: Vec<&str> = at_end.map(|(parameter, _)| parameter.name.as_str()).collect();
    if !ends.is_empty() {
        notes.push(format!("At a limit of the range: {}.", ends.join(", ")));
    }
    notes
}

/// Returns the mean and the 95 % quantile of the loss caused by SPSA noise after convergence, in
/// Elo; `None` before the first game.
fn expected_noise(summary: &Summary, tuning: &Tuning) -> Option<(f64, f64)> {
    Some(noise(tuning, summary.counts.main_encounter().games.draw_ratio()?))
}

/// Returns a sentence with the first tuned values.
pub(crate) fn conclusion(summary: &Summary, spsa: &SpsaState) -> String {
    let done = spsa.finished();
    let all = spsa.tuning().iterations;
    let values = spsa.tuning().settings(spsa.theta()).into_iter();
    let values = values.take(MAX_NAMED).map(|(name, value)| format!("{name} {value}"));
    let values = values.collect::<Vec<_>>().join(", ");
    let name = base_name(&summary.engines[0]);
    format!("{name} after {done} of {all} iterations: {values}.")
}

/// Adds the values to the short report: as a table, as UCI commands, and as changed lines of source
/// code.
pub(crate) fn brief(document: &mut Document, summary: &Summary, spsa: &SpsaState) {
    let sums = results(&summary.strength().games, "");
    document.value("Games", format!("{sums} by the first sides"));
    document.value("Tuning", tuned_names(spsa.tuning()));
    document.value("SPSA", tuning_schedule(spsa.tuning()));
    document.table(table(spsa));
    notes(summary, spsa).into_iter().for_each(|note| document.value("Note", note));
    for lines in [options(spsa), assignments(spsa)].into_iter().filter(|lines| !lines.is_empty()) {
        document.blocks.extend([Block::Gap, Block::Verbatim(lines)]);
    }
    document.blocks.push(Block::Gap);
}

/// Adds the values to the full report: as a table, as UCI commands, and as changed lines of source
/// code.
pub(crate) fn results_in_full(document: &mut Document, summary: &Summary, spsa: &SpsaState) {
    document.table(table(spsa));
    notes(summary, spsa).into_iter().for_each(|note| document.paragraph(note));
    document.paragraph("The values as UCI options:");
    document.blocks.push(Block::Verbatim(options(spsa)));
    let changed = assignments(spsa);
    if changed.is_empty() {
        document.paragraph("As UCI options, the tuned values equal the initial values.");
        return;
    }
    document.paragraph("Changes to a table in source code:");
    document.blocks.push(Block::Verbatim(changed));
    document.paragraph("As a patch for a file with such lines:");
    let command = format!("arbiter tune patch {} --table FILE", summary.run);
    document.blocks.push(Block::Command(command));
}

/// Adds a chart of the path of each parameter, and a chart of the first side's score.
pub(crate) fn history(document: &mut Document, spsa: &SpsaState) {
    let path = spsa.path();
    document.heading("Path");
    let parameters = spsa.tuning().parameters.iter().enumerate().map(|(place, parameter)| {
        let value = |point: &PathPoint| point.theta[place];
        let Parameter { name, start, min, max, .. } = parameter;
        let last = spsa.theta()[place];
        let description = format!("{name} from {start} to {last:.3}, within {min} to {max}.");
        let level = ("start".to_owned(), *start);
        figure(spsa, &path, (name, "value"), description, value, level)
    });
    let score = |point: &PathPoint| point.score as f64;
    let name = "Games won minus games lost by the first sides";
    let description = "Sum over all iterations; each change moves the values.".to_owned();
    let level = (String::new(), 0.0);
    let score = figure(spsa, &path, (name, "games"), description, score, level);
    document.figures(parameters.chain([score]));
}

fn figure(
    spsa: &SpsaState,
    path: &[PathPoint],
    (name, unit): (&str, &str),
    description: String,
    value: impl Fn(&PathPoint) -> f64,
    level: (String, f64),
) -> Figure {
    let games = |point: &PathPoint| 2 * spsa.tuning().pairs * point.iterations;
    let mut table = Table::new(["games", "value"]);
    for point in table_rows(path) {
        table.push([&games(point), &format!("{:.3}", value(point))]);
    }
    let points = path.iter().map(|point| (games(point) as f64, value(point))).collect();
    let lines = vec![Line::plain(name, points)];
    let levels = vec![level];
    let chart = Lines { x: "games", y: unit.to_owned(), lines, levels, ..Lines::default() };
    Figure { caption: name.to_owned(), description, chart: Chart::Lines(chart), table }
}
