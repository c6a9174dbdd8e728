//! Calibration: comparison of evaluations with results.

use super::result_figures;
use crate::parts::{Chart, Figure, Line, Lines, Table};
use arbiter_stats::Calibration;

/// Minimum number of games for a point in the chart.
const MIN_GAMES: u64 = 5;

/// Returns the chart of each engine's score as a function of the engine's evaluation; `None` if too
/// few games have evaluations.
pub(crate) fn figure(engines: &[(&str, &Calibration)]) -> Option<Figure> {
    let mut table = Table::new(["engine", "evaluation (pawns)", "games", "score (95 %)"]);
    let mut lines = Vec::new();
    for (name, calibration) in engines {
        let mut line = Line::plain(*name, Vec::new());
        for (centipawns, results) in calibration.iter() {
            let Some((mean, low, high)) = result_figures::score_percents(results) else { continue };
            let pawns = f64::from(centipawns) / 100.0;
            let games = results.games();
            let range = if centipawns == Calibration::MAX_CENTIPAWNS {
                " or more"
            } else if centipawns == -Calibration::MAX_CENTIPAWNS {
                " or less"
            } else {
                ""
            };
            let evaluation = format!("{pawns:+.0}{range}");
            table.push([name, &evaluation, &games, &result_figures::score(results)]);
            if games >= MIN_GAMES {
                line.points.push((pawns, mean));
                line.band.push((pawns, low, high));
            }
        }
        lines.push(line);
    }
    if lines.iter().all(|line| line.points.len() < 2) {
        return None;
    }
    let x = "evaluation in pawns";
    let y = "score, %".to_owned();
    let levels = vec![(String::new(), 50.0)];
    let chart = Lines { x, y, lines, levels, ..Lines::default() };
    let caption =
        "Score of games by reported evaluation (a game may count in several rows)".to_owned();
    let description = "Score of an engine in the games in which it reported this evaluation at \
                       least once.";
    Some(Figure { caption, description: description.to_owned(), chart: Chart::Lines(chart), table })
}
