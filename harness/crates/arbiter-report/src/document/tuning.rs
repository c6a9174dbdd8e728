//! What a tuning found, and the way there.

use super::figures::thinned;
use super::{Block, Document, Figure};
use crate::chart::{Chart, Line, Lines};
use crate::summary::Summary;
use crate::table::Table;
use crate::tuned;
use arbiter_spsa::{PathPoint, SpsaState};

/// The values, ready to be used.
pub(super) fn results(document: &mut Document, summary: &Summary, spsa: &SpsaState) {
    document.table(tuned::table(spsa));
    tuned::notes(summary, spsa).into_iter().for_each(|note| document.paragraph(note));
    document.paragraph("The values as UCI options:");
    document.blocks.push(Block::Verbatim(tuned::options(spsa)));
    let changed = tuned::assignments(spsa);
    if changed.is_empty() {
        document.paragraph("As the engine takes them, they are those of the start.");
        return;
    }
    document.paragraph("What changes in a table of source code:");
    document.blocks.push(Block::Verbatim(changed));
    document.paragraph("As a patch for a file with such lines:");
    document
        .blocks
        .push(Block::Command(format!("arbiter tune patch {} --table FILE", summary.run)));
}

/// The path of each parameter, and the score of the first sides.
pub(super) fn history(document: &mut Document, spsa: &SpsaState) {
    let path = spsa.path();
    document.heading("Path");
    for (place, parameter) in spsa.tuning().parameters.iter().enumerate() {
        let value = |point: &PathPoint| point.theta[place];
        let name = parameter.name.clone();
        let levels = vec![("start".to_owned(), parameter.start)];
        let described = format!(
            "{name} from {} to {:.3}, within {} to {}.",
            parameter.start,
            spsa.theta()[place],
            parameter.min,
            parameter.max
        );
        let figure = figure(spsa, &path, &name, value, levels);
        document.blocks.push(Block::Figure(Figure { description: described, ..figure }));
    }
    let score = |point: &PathPoint| point.score as f64;
    let name = "Games won less games lost by the first sides";
    let figure = figure(spsa, &path, name, score, vec![(String::new(), 0.0)]);
    let description =
        "The sum over all iterations; values move by what it gains or loses.".to_owned();
    document.blocks.push(Block::Figure(Figure { description, ..figure }));
}

fn figure(
    spsa: &SpsaState,
    path: &[PathPoint],
    name: &str,
    value: impl Fn(&PathPoint) -> f64,
    levels: Vec<(String, f64)>,
) -> Figure {
    let games = |point: &PathPoint| 2 * spsa.tuning().pairs * point.iterations;
    let mut table = Table::new(["games", "value"]);
    for point in thinned(path) {
        table.push([games(point).to_string(), format!("{:.3}", value(point))]);
    }
    let points = path.iter().map(|point| (games(point) as f64, value(point))).collect();
    Figure {
        caption: name.to_owned(),
        description: String::new(),
        chart: Chart::Lines(Lines {
            x: "games".to_owned(),
            y: name.to_owned(),
            lines: vec![Line::plain(name, points)],
            levels,
        }),
        table,
    }
}
