//! What a tuning found, and the way there.

use super::figures::thinned;
use super::{Block, Document, Figure};
use crate::chart::{Chart, Line, Lines};
use crate::summary::Summary;
use crate::table::Table;
use crate::tuned;
use arbiter_spsa::ascent::{Ascent, Mark};

/// The values, ready to be used.
pub(super) fn results(document: &mut Document, summary: &Summary, ascent: &Ascent) {
    document.table(tuned::table(ascent));
    tuned::notes(summary, ascent).into_iter().for_each(|note| document.paragraph(note));
    document.paragraph("The values as UCI options:");
    document.blocks.push(Block::Verbatim(tuned::options(ascent)));
    let changed = tuned::assignments(ascent);
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
pub(super) fn course(document: &mut Document, ascent: &Ascent) {
    let path = ascent.path();
    document.heading("Path");
    for (place, parameter) in ascent.tuning().parameters.iter().enumerate() {
        let value = |mark: &Mark| mark.theta[place];
        let name = parameter.name.clone();
        let levels = vec![("start".to_owned(), parameter.start)];
        let described = format!(
            "{name} from {} to {:.3}, within {} to {}.",
            parameter.start,
            ascent.theta()[place],
            parameter.min,
            parameter.max
        );
        let figure = figure(ascent, &path, &name, value, levels);
        document.blocks.push(Block::Figure(Figure { description: described, ..figure }));
    }
    let score = |mark: &Mark| mark.score as f64;
    let name = "Games won less games lost by the first sides";
    let figure = figure(ascent, &path, name, score, vec![(String::new(), 0.0)]);
    let description =
        "The sum over all iterations; values move by what it gains or loses.".to_owned();
    document.blocks.push(Block::Figure(Figure { description, ..figure }));
}

fn figure(
    ascent: &Ascent,
    path: &[Mark],
    name: &str,
    value: impl Fn(&Mark) -> f64,
    levels: Vec<(String, f64)>,
) -> Figure {
    let games = |mark: &Mark| 2 * ascent.tuning().pairs * mark.iterations;
    let mut table = Table::new(["games", "value"]);
    for mark in thinned(path) {
        table.push([games(mark).to_string(), format!("{:.3}", value(mark))]);
    }
    let points = path.iter().map(|mark| (games(mark) as f64, value(mark))).collect();
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
