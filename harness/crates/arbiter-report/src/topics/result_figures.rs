//! Charts and tables that reports of runs and of PGN files share.

use crate::figures::{self, PlayedOpening, Rating, mean_score};
use crate::parts::{
    self, Bars, Block, Chart, Diagram, Document, Figure, Intervals, Line, Lines, Table, percent,
    percent_interval,
};
use arbiter_names::quantity;
use arbiter_stats::elo::Z_95;
use arbiter_stats::paired::{score_interval, share_interval};
use arbiter_stats::{Calibration, Pentanomial, Trinomial, opening_bias};

/// Maximum number of engines in the chart of scores by colour.
const MAX_COLOURED: usize = 12;

/// Maximum number of listed openings.
const MAX_OPENINGS: usize = 12;
/// Maximum number of openings that are shown as boards.
const MAX_BOARDS: usize = 5;

/// Minimum number of games for a point in the calibration chart.
const MIN_GAMES: u64 = 5;

/// Returns the chart of ratings. `engines` contains the index, name and rating of each engine,
/// strongest first, and must not be empty.
pub(crate) fn ratings(engines: &[(usize, &str, Rating)]) -> Figure {
    let mut rows = Vec::new();
    for (_, name, rating) in engines {
        let [low, high] = rating.open_ends(f64::NAN);
        rows.push(((*name).to_owned(), rating.elo, low, high));
    }
    let ((_, first, best), (_, last, worst)) = (engines[0], engines[engines.len() - 1]);
    let count = engines.len();
    let caption = "Ratings with their 95 % intervals".to_owned();
    let description = format!("{first} is first of {count} at {best}; {last} is last at {worst}.");
    let engines = engines.iter().map(|(engine, ..)| Some(*engine)).collect();
    let chart = Intervals { x: "Elo around the mean", rows, level: Some(0.0), engines };
    // The table of ratings next to the chart already contains the values.
    Figure { caption, description, chart: Chart::Intervals(chart), table: Table::new([]) }
}

/// Adds a table with the LOS, in per cent, of each engine against each other engine, and a legend.
/// `engines` contains the index and name of each engine; `likelihood` returns the LOS, 0 to 1, for
/// two indices.
pub(crate) fn superiority(
    document: &mut Document,
    engines: &[(usize, &str)],
    likelihood: impl Fn(usize, usize) -> Option<f64>,
) {
    let names = engines.iter().map(|(_, name)| name);
    let mut table = Table::with_columns(["LOS, %"], names);
    for (row, name) in engines {
        let cells = engines.iter().map(|(column, _)| {
            let shown = |los| parts::superiority(Some(los), None).replace(" %", "");
            let none = if row == column { "·" } else { "–" };
            likelihood(*row, *column).map_or(none.to_owned(), shown)
        });
        table.push_with([name], cells);
    }
    document.table(table);
    document.paragraph(
        "Likelihood that the row's engine is stronger than the column's engine, from the ratings \
         and the covariance of the rating errors; – if undetermined.",
    );
}

/// Returns the chart of pairs by points of an engine; there must be at least one pair.
pub(crate) fn pairs(name: &str, counts: [u64; 5]) -> Figure {
    let names = ["LL", "LD", "DD+WL", "WD", "WW"];
    let all: u64 = counts.iter().sum();
    let mut table = Table::new(["pairs", "count", "share"]);
    for (cell, count) in names.into_iter().zip(counts) {
        table.push([&cell, &count, &percent(Some(count as f64 / all as f64))]);
    }
    let caption = format!("Pairs by the points of {name}");
    let description = format!("From 0 points (LL) to 2 (WW): {counts:?}.");
    let labels = names.map(str::to_owned).to_vec();
    let series = vec![(String::new(), counts.map(|count| count as f64).to_vec())];
    let chart = Chart::Bars(Bars { y: "pairs", labels, series, is_horizontal: false });
    Figure { caption, description, chart, table }
}

/// Returns the chart of games by ending. Each item of `counts` contains an ending, the number of
/// games with this ending, and the number of these games that each engine won.
pub(crate) fn endings(engines: &[&str], mut counts: Vec<(String, u64, Vec<u64>)>) -> Figure {
    counts.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    let all: u64 = counts.iter().map(|(_, count, _)| count).sum();
    let names: Vec<String> = engines.iter().map(|engine| format!("won by {engine}")).collect();
    let mut table = Table::with_columns(["ending", "games", "share (95 %)"], &names);
    for (ending, count, wins) in &counts {
        table.push_with([ending, count, &share(*count, all)], wins);
    }
    let first = counts.first().map_or("none", |(ending, ..)| ending.as_str());
    let games = quantity(all, "game");
    let description = format!("{games} by ending; most frequent: {first}.");
    let wins = |engine: usize| counts.iter().map(|(.., wins)| wins[engine] as f64).collect();
    let mut series: Vec<(String, Vec<f64>)> =
        names.into_iter().enumerate().map(|(engine, name)| (name, wins(engine))).collect();
    let rest =
        |(_, count, wins): &(String, u64, Vec<u64>)| (count - wins.iter().sum::<u64>()) as f64;
    let rest_name = if series.is_empty() { "" } else { "drawn" };
    series.push((rest_name.to_owned(), counts.iter().map(rest).collect()));
    let labels = counts.into_iter().map(|(ending, ..)| ending).collect();
    let chart = Chart::Bars(Bars { y: "games", labels, series, is_horizontal: true });
    Figure { caption: "Endings".to_owned(), description, chart, table }
}

/// Returns the chart of scores by colour. `white` contains the results of all games from White's
/// point of view.
pub(crate) fn colours(engines: &[(&str, [Trinomial; 2])], white: Trinomial) -> Figure {
    let mut table = Table::new(["engine", "colour", "games", "score (95 %)", "drawn (95 %)"]);
    let mut rows = Vec::new();
    let mut owners = Vec::new();
    let mut row = |engine: Option<usize>, name: &str, colour: &str, results: &Trinomial| {
        let games = results.games();
        table.push([&name, &colour, &games, &score(results), &share(results.draws, games)]);
        if let Some((mean, low, high)) = score_percents(results) {
            rows.push((format!("{name}, {colour}"), mean, low, high));
            owners.push(engine);
        }
    };
    row(None, "all games", "White", &white);
    for (engine, (name, [white, black])) in engines.iter().enumerate() {
        row(Some(engine), name, "White", white);
        row(Some(engine), name, "Black", black);
    }
    rows.truncate(1 + 2 * MAX_COLOURED);
    let score = score(&white);
    let drawn = share(white.draws, white.games());
    let games = quantity(white.games(), "game");
    let caption = "Scores by colour with their 95 % intervals".to_owned();
    let description = format!("White scored {score} of {games}, and {drawn} were drawn.");
    let chart = Intervals { x: "score, %", rows, level: Some(50.0), engines: owners };
    Figure { caption, description, chart: Chart::Intervals(chart), table }
}

/// Returns the chart of each engine's score as a function of the engine's evaluation; `None` if too
/// few games have evaluations.
pub(crate) fn calibration(engines: &[(&str, &Calibration)]) -> Option<Figure> {
    let mut table = Table::new(["engine", "evaluation (pawns)", "games", "score (95 %)"]);
    let mut lines = Vec::new();
    for (name, calibration) in engines {
        let mut line = Line::plain(*name, Vec::new());
        for (centipawns, results) in calibration.iter() {
            let Some((mean, low, high)) = score_percents(results) else { continue };
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
            table.push([name, &evaluation, &games, &score(results)]);
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

/// Adds the section on openings: the number of openings, and the openings with the largest
/// deviations of the score from the mean. Deviations are weighted by the square root of the number
/// of games. `first` is the name of the first of two engines.
pub(crate) fn openings(
    document: &mut Document,
    first: Option<&str>,
    mut openings: Vec<&PlayedOpening>,
) {
    document.heading("Openings");
    let verb = if openings.len() == 1 { "was" } else { "were" };
    document.paragraph(format!(
        "{} {verb} played. The list shows the openings whose score deviates most from the \
         mean. Deviations are weighted by the square root of the number of games.",
        quantity(openings.len(), "opening")
    ));
    let expected = mean_score(&openings.iter().map(|opening| opening.white).sum());
    sort_by_deviation(&mut openings, expected, |opening| opening.white);
    let outliers = &openings[..openings.len().min(MAX_OPENINGS)];
    let mut table = Table::with_columns(
        ["opening", "games", "White's score (95 %)", "won", "drawn", "lost"],
        first.map(|name| format!("{name}'s points")),
    );
    let mut rows = Vec::new();
    for PlayedOpening { label, name, white, first: first_results, .. } in outliers {
        let Trinomial { losses, draws, wins } = white;
        let points = first.map(|_| points(first_results));
        table.push_with([name, &white.games(), &score(white), wins, draws, losses], points);
        let ends = score_percents(white);
        rows.extend(ends.map(|(mean, low, high)| (label.clone(), mean, low, high)));
    }
    let level = expected.map(|expected| 100.0 * expected);
    let first_outlier = outliers.first().map_or("none", |opening| opening.name.as_str());
    let caption = "Openings furthest from the mean, with 95 % intervals".to_owned();
    let all = percent(expected);
    let description = format!(
        "White's score in the openings furthest from the mean of {all}; the first: {first_outlier}."
    );
    let chart = Intervals { x: "White's score, %", rows, level, engines: Vec::new() };
    document.figures([Figure { caption, description, chart: Chart::Intervals(chart), table }]);
    if let Some(first) = first {
        boards(document, first, openings);
    }
}

/// Adds boards of the openings in which the score of the first of two engines deviates most from
/// one half. Deviations are weighted by the square root of the number of games. Openings with an
/// even score are omitted.
fn boards(document: &mut Document, first: &str, mut openings: Vec<&PlayedOpening>) {
    openings.retain(|opening| opening.first.wins != opening.first.losses);
    if openings.is_empty() {
        return;
    }
    sort_by_deviation(&mut openings, Some(0.5), |opening| opening.first);
    // If the first engine won some openings and lost others, openings of both kinds are shown.
    let (won, lost): (Vec<_>, Vec<_>) =
        openings.into_iter().partition(|opening| opening.first.wins > opening.first.losses);
    let most = MAX_BOARDS - lost.len().min(MAX_BOARDS / 2);
    let mut openings: Vec<_> = won.into_iter().take(most).chain(lost).take(MAX_BOARDS).collect();
    let score = |opening: &PlayedOpening| mean_score(&opening.first).unwrap_or(0.5);
    openings.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let boards = openings.into_iter().map(|opening| Diagram {
        note: points(&opening.first),
        title: opening.label.clone(),
        placement: opening.placement.clone(),
    });
    let caption = format!("Most decisive openings: points of {first}, best first");
    document.blocks.push(Block::Boards { caption, boards: boards.collect() });
}

/// Sorts openings by the deviation of the score from `expected`, largest deviation first.
/// Deviations are weighted by the square root of the number of games.
fn sort_by_deviation(
    openings: &mut [&PlayedOpening],
    expected: Option<f64>,
    results: fn(&PlayedOpening) -> Trinomial,
) {
    let deviation = |opening: &PlayedOpening| {
        let results = results(opening);
        let mean = mean_score(&results).zip(expected);
        mean.map_or(0.0, |(mean, all)| (mean - all).abs() * (results.games() as f64).sqrt())
    };
    openings.sort_by(|a, b| deviation(b).total_cmp(&deviation(a)));
}

/// Formats the points and the number of games, such as `2½ of 4`.
fn points(results: &Trinomial) -> String {
    let half_points = 2 * results.wins + results.draws;
    format!("{} of {}", figures::points(half_points), results.games())
}

/// Returns the mean score and both ends of the 95 % interval, in per cent; `None` if there are no
/// games.
pub(crate) fn score_percents(results: &Trinomial) -> Option<(f64, f64, f64)> {
    let (mean, (low, high)) = mean_score(results).zip(score_interval(results))?;
    Some((100.0 * mean, 100.0 * low, 100.0 * high))
}

/// Formats the share of `count` in `all`, in per cent, with its 95 % interval.
pub(crate) fn share(count: u64, all: u64) -> String {
    share_interval(count, all)
        .map_or(percent(None), |ends| percent_interval(count as f64 / all as f64, ends))
}

/// Formats the mean score, in per cent, with its 95 % interval.
pub(crate) fn score(results: &Trinomial) -> String {
    let found = mean_score(results).zip(score_interval(results));
    found.map_or(percent(None), |(mean, ends)| percent_interval(mean, ends))
}

/// Minimum half-width, in Elo, of a confidence interval that contains nearly all scores. An
/// advantage with such an interval counts as unknown.
const UNINFORMATIVE_HALF_WIDTH: f64 = 1_000.0;

/// Returns a sentence about White's advantage. `error` is the standard error of `elo`. `elo` and
/// `error` are in Elo on the scale that `scale` describes.
pub(crate) fn advantage(elo: Option<f64>, error: Option<f64>, scale: &str) -> String {
    match (elo, error.map(|error| Z_95 * error)) {
        (Some(elo), Some(error)) if error < UNINFORMATIVE_HALF_WIDTH => {
            // Adding 0 turns −0 into 0.
            let elo = (elo * 10.0).round() / 10.0 + 0.0;
            format!("White's advantage is {elo:+.1} ± {error:.1} Elo (95 %, {scale}).")
        }
        (Some(elo), None) => format!("White's advantage is given as {elo:+.1} Elo."),
        _ => "White's advantage cannot be estimated from these games.".to_owned(),
    }
}

/// Returns a sentence about the opening bias, preceded by a space. Returns an empty string if the
/// bias is undefined.
pub(crate) fn bias_of_openings(pairs: &Pentanomial, games: &Trinomial) -> String {
    let Some(bias) = opening_bias(pairs, games) else { return String::new() };
    format!(
        " Opening bias in Elo (root mean square, estimated from the two games of each pair): {}. \
         The bias cancels out, because each opening is played with both colours.",
        // A root mean square has no sign.
        parts::plus_minus_95(Some(bias)).replace('+', ""),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_intervals() {
        assert_eq!(share(0, 0), "–");
        assert_eq!(share(1, 4), "25.0 % [4.6, 69.9]");
        assert_eq!(score(&Trinomial { losses: 0, draws: 0, wins: 3 }), "100.0 % [43.9, 100.0]");
    }

    #[test]
    fn an_advantage_is_shown_if_significant() {
        let text = |error| advantage(Some(-0.04), Some(error), "logistic scale");
        assert_eq!(text(10.0), "White's advantage is +0.0 ± 19.6 Elo (95 %, logistic scale).");
        assert!([5e6, f64::NAN].iter().all(|error| text(*error).contains("cannot be estimated")));
    }

    #[test]
    fn the_superiority_matrix_marks_unknown_cells() {
        let mut document = Document::new(String::new());
        let likelihood = |one, other| match (one, other) {
            (0, 1) => Some(0.975),
            (1, 0) => Some(0.025),
            (2, 0) => Some(0.99999),
            _ => None,
        };
        superiority(&mut document, &[(0, "A"), (1, "B"), (2, "C")], likelihood);
        let Block::Table(table) = &document.blocks[0] else { panic!("{document:?}") };
        assert_eq!(table.rows()[0], ["LOS, %", "A", "B", "C"]);
        assert_eq!(table.rows()[1], ["A", "·", "97.5", "–"]);
        assert_eq!(table.rows()[2], ["B", "2.5", "·", "–"]);
        assert_eq!(table.rows()[3], ["C", "> 99.9", "–", "·"]);
    }
}
