//! Comparison of evaluations with results.

use super::result_figures;
use crate::figures::mean_score;
use crate::parts::{Chart, Figure, Line, Lines, Table};
use arbiter_stats::Calibration;
use arbiter_stats::paired::score_interval;

/// Minimum number of games for a point of the chart.
const MIN_GAMES: u64 = 5;

/// Returns the chart of score by evaluation for each engine; `None` if too few games have
/// evaluations.
pub(crate) fn figure(engines: &[(&str, &Calibration)]) -> Option<Figure> {
    let mut table = Table::new(["engine", "evaluation (pawns)", "games", "score (95 %)"]);
    let mut lines = Vec::new();
    for (name, calibration) in engines {
        let mut line = Line::plain(*name, Vec::new());
        for (centipawns, results) in calibration.iter() {
            let found = mean_score(results).zip(score_interval(results));
            let Some((mean, (low, high))) = found else { continue };
            let (pawns, games) = (f64::from(centipawns) / 100.0, results.games());
            table.push([name, &format!("{pawns:+.0}"), &games, &result_figures::score(results)]);
            if games >= MIN_GAMES {
                line.points.push((pawns, 100.0 * mean));
                line.band.push((pawns, 100.0 * low, 100.0 * high));
            }
        }
        lines.push(line);
    }
    if lines.iter().all(|line| line.points.len() < 2) {
        return None;
    }
    let levels = vec![(String::new(), 50.0)];
    let chart = Lines {
        x: "evaluation in pawns",
        y: "score, %".to_owned(),
        lines,
        levels,
        ..Lines::default()
    };
    let caption = "Evaluations against results".to_owned();
    let description = "Score of an engine in the games in which it reported this evaluation at \
                       least once.";
    Some(Figure { caption, description: description.to_owned(), chart: Chart::Lines(chart), table })
}
