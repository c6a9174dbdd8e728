//! Results of a tuning, and their course.

use super::figures::thinned;
use super::{Block, Document, Figure};
use crate::chart::{Chart, Line, Lines};
use crate::summary::Summary;
use crate::table::Table;
use crate::text::results;
use crate::tuned;
use arbiter_spsa::{PathPoint, SpsaState};

/// Adds the values in short, ready to be used.
pub(super) fn brief(document: &mut Document, summary: &Summary, spsa: &SpsaState) {
    let sums = results(&summary.strength().games, "");
    document.value("Games", format!("{sums} by the first sides"));
    document.value("Tuning", tuned::tuned_names(spsa.tuning()));
    document.value("SPSA", tuned::tuning_schedule(spsa.tuning()));
    document.table(tuned::table(spsa));
    tuned::notes(summary, spsa).into_iter().for_each(|note| document.value("Note", note));
    let lines = [tuned::options(spsa), tuned::assignments(spsa)];
    for lines in lines.into_iter().filter(|lines| !lines.is_empty()) {
        document.blocks.extend([Block::Gap, Block::Verbatim(lines)]);
    }
    document.blocks.push(Block::Gap);
}

/// Adds the values with their explanation.
pub(super) fn results_in_full(document: &mut Document, summary: &Summary, spsa: &SpsaState) {
    document.table(tuned::table(spsa));
    tuned::notes(summary, spsa).into_iter().for_each(|note| document.paragraph(note));
    document.paragraph("The values as UCI options:");
    document.blocks.push(Block::Verbatim(tuned::options(spsa)));
    let changed = tuned::assignments(spsa);
    if changed.is_empty() {
        document.paragraph("As UCI options, they equal the start values.");
        return;
    }
    document.paragraph("Changes to a table in source code:");
    document.blocks.push(Block::Verbatim(changed));
    document.paragraph("As a patch for a file with such lines:");
    let command = format!("arbiter tune patch {} --table FILE", summary.run);
    document.blocks.push(Block::Command(command));
}

/// Adds the path of each parameter, and the score of the first sides.
pub(super) fn history(document: &mut Document, spsa: &SpsaState) {
    let path = spsa.path();
    document.heading("Path");
    let parameters = spsa.tuning().parameters.iter().enumerate().map(|(place, parameter)| {
        let value = |point: &PathPoint| point.theta[place];
        let (name, start, last) = (&parameter.name, parameter.start, spsa.theta()[place]);
        let description = format!(
            "{name} from {start} to {last:.3}, within {} to {}.",
            parameter.min, parameter.max
        );
        let level = ("start".to_owned(), start);
        figure(spsa, &path, (name, "value"), description, value, level)
    });
    let score = |point: &PathPoint| point.score as f64;
    let name = "Games won minus games lost by the first sides";
    let description = "Sum over all iterations; each change moves the values.".to_owned();
    let level = (String::new(), 0.0);
    let score = figure(spsa, &path, (name, "games"), description, score, level);
    document.multiples(parameters.chain([score]));
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
    for point in thinned(path) {
        table.push([&games(point), &format!("{:.3}", value(point))]);
    }
    let points = path.iter().map(|point| (games(point) as f64, value(point))).collect();
    let lines = vec![Line::plain(name, points)];
    let levels = vec![level];
    let chart = Lines { x: "games", y: unit.to_owned(), lines, levels, ..Lines::default() };
    Figure { caption: name.to_owned(), description, chart: Chart::Lines(chart), table }
}
