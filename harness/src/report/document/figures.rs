//! The pictures of a run.

use super::{Block, Document, Figure};
use crate::report::chart::{Bars, Chart, Intervals, Line, Lines};
use crate::report::digest::{Digest, EngineDigest, Mark, STAGE_MOVES, Stage};
use crate::report::status::{interval, percent, plus_minus};
use crate::report::summary::Summary;
use crate::report::table::Table;
use crate::stats::elo::Z_95;
use crate::stats::paired::score_interval;
use crate::stats::pentanomial::Trinomial;

/// Rows of a table that tells a course.
const COURSE_ROWS: usize = 16;

/// Engines beyond which a chart has no line for each.
const MAX_LINES: usize = 8;

/// Openings that are listed.
const OPENINGS: usize = 12;

/// Games that a point of the calibration needs.
const MIN_CALIBRATION: u64 = 5;

/// How the evidence grew, how pairs were scored, how strong the engines are.
pub(super) fn course(document: &mut Document, summary: &Summary, digest: &Digest) {
    let marks = digest.course.marks();
    if summary.engines.len() == 2 && !marks.is_empty() {
        document.heading("Course");
        if let Some(figure) = likelihood(summary, &marks) {
            document.blocks.push(Block::Figure(figure));
        }
        document.blocks.push(Block::Figure(elo(summary, &marks)));
        if !summary.is_single {
            document.blocks.push(Block::Figure(pairs(summary)));
        }
    }
    if let Some(figure) = ratings(summary) {
        document.blocks.push(Block::Figure(figure));
    }
}

/// Endings, colours, depth and time, evaluations, openings.
pub(super) fn games(document: &mut Document, summary: &Summary, digest: &Digest) {
    document.blocks.push(Block::Figure(endings(summary)));
    document.heading("Colours and draws");
    document.table(colours(summary, digest));
    document.heading("How the engines thought");
    let depth = ("Depth", "plies, mean of a stage", Stage::depth as fn(&Stage) -> Option<f64>);
    let speed = ("Speed", "nodes per second", Stage::speed as fn(&Stage) -> Option<f64>);
    let time = ("Time", "ms for a move, mean of a stage", Stage::time_ms as _);
    for figure in [depth, speed, time].map(|kind| stages(summary, digest, kind)) {
        document.blocks.extend(figure.map(Block::Figure));
    }
    document.blocks.extend(calibration(summary, digest).map(Block::Figure));
    document.heading("Openings");
    document.paragraph(format!(
        "{} openings were played. Those whose score is the furthest from that of all games, for \
         their number of games:",
        digest.openings.len()
    ));
    document.table(openings(digest));
}

fn likelihood(summary: &Summary, marks: &[Mark]) -> Option<Figure> {
    let (sprt, last) = summary.test()?;
    let looks: Vec<_> = marks.iter().filter_map(|mark| Some((mark.games, mark.look?))).collect();
    let mut table = Table::new(["games", "LLR", "stops below", "stops above"]);
    for &(games, look) in thinned(&looks) {
        let cells = [look.llr, look.lower, look.upper].map(|value| format!("{value:+.2}"));
        let [llr, lower, upper] = cells;
        table.push([games.to_string(), llr, lower, upper]);
    }
    let points = looks.iter().map(|(games, look)| (*games as f64, look.llr)).collect();
    let chart = Lines {
        x: "games".to_owned(),
        y: "log-likelihood ratio".to_owned(),
        lines: vec![Line::plain("LLR", points)],
        levels: vec![("H1".to_owned(), last.upper), ("H0".to_owned(), last.lower)],
    };
    Some(Figure {
        caption: "Log-likelihood ratio of the test".to_owned(),
        description: format!(
            "The ratio after {} games is {:+.2}; H0 ({} Elo) is accepted at {:.2} and H1 ({} Elo) \
             at {:.2}.",
            summary.standing.games(),
            last.llr,
            sprt.elo0(),
            last.lower,
            sprt.elo1(),
            last.upper
        ),
        chart: Chart::Lines(chart),
        table,
    })
}

fn elo(summary: &Summary, marks: &[Mark]) -> Figure {
    let known: Vec<_> = marks.iter().filter_map(|mark| Some((mark.games, mark.elo?))).collect();
    let mut table = Table::new(["games", "Elo (95 %)"]);
    for (games, estimate) in thinned(&known) {
        table.push([games.to_string(), interval(estimate)]);
    }
    let finite = |(games, e): &(u64, crate::stats::elo::Estimate)| {
        Some((*games as f64, e.value.finite()?, e.low.finite()?, e.high.finite()?))
    };
    let finite: Vec<_> = known.iter().filter_map(finite).collect();
    let line = Line {
        name: summary.engines[0].clone(),
        points: finite.iter().map(|(games, elo, ..)| (*games, *elo)).collect(),
        band: finite.iter().map(|(games, _, low, high)| (*games, *low, *high)).collect(),
    };
    let caption = match summary.sprt {
        Some(_) => "Elo over games (95 % at each moment, no allowance for the stop)",
        None => "Elo over games (95 % at each moment)",
    };
    Figure {
        caption: caption.to_owned(),
        description: format!(
            "Elo of {} against {} after {} games: {}.",
            summary.engines[0],
            summary.engines[1],
            summary.standing.games(),
            plus_minus(summary.strength().elo.as_ref())
        ),
        chart: Chart::Lines(Lines {
            x: "games".to_owned(),
            y: "Elo".to_owned(),
            lines: vec![line],
            levels: vec![(String::new(), 0.0)],
        }),
        table,
    }
}

fn pairs(summary: &Summary) -> Figure {
    let names = ["LL", "LD", "DD+WL", "WD", "WW"];
    let counts = summary.strength().pairs.0;
    let mut table = Table::new(["pairs", "count"]);
    for (name, count) in names.into_iter().zip(counts) {
        table.push([name.to_owned(), count.to_string()]);
    }
    Figure {
        caption: format!("Pairs by the points of {}", summary.engines[0]),
        description: format!("From no point (LL) to both (WW): {counts:?}."),
        chart: Chart::Bars(Bars {
            y: "pairs".to_owned(),
            labels: names.map(str::to_owned).to_vec(),
            series: vec![(String::new(), counts.map(|count| count as f64).to_vec())],
        }),
        table,
    }
}

fn ratings(summary: &Summary) -> Option<Figure> {
    let ratings = summary.ratings().filter(|ratings| ratings.len() > 2)?;
    let mut table = Table::new(["engine", "Elo (95 %)"]);
    let mut rows = Vec::new();
    for one in &ratings {
        let name = &summary.engines[one.engine];
        let shown =
            one.margin.map_or("interval open".to_owned(), |margin| format!("± {margin:.1}"));
        table.push([name.clone(), format!("{:+.1} {shown}", one.rating)]);
        let margin = one.margin.unwrap_or(f64::NAN);
        rows.push((name.clone(), one.rating, one.rating - margin, one.rating + margin));
    }
    Some(Figure {
        caption: "Ratings with their 95 % intervals".to_owned(),
        description: format!("{} is first of {}.", rows[0].0, rows.len()),
        chart: Chart::Intervals(Intervals { x: "Elo around the mean".to_owned(), rows }),
        table,
    })
}

fn endings(summary: &Summary) -> Figure {
    let mut counts: Vec<_> = summary.standing.terminations.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let mut table = Table::new(["ending", "games", "share"]);
    for (ending, count) in &counts {
        let share = **count as f64 / summary.standing.games() as f64;
        table.push([ending.to_string(), count.to_string(), percent(Some(share))]);
    }
    Figure {
        caption: "Endings".to_owned(),
        description: format!("{} games by the way they ended.", summary.standing.games()),
        chart: Chart::Bars(Bars {
            y: "games".to_owned(),
            labels: counts.iter().map(|(ending, _)| ending.to_string()).collect(),
            series: vec![(String::new(), counts.iter().map(|(_, n)| **n as f64).collect())],
        }),
        table,
    }
}

fn colours(summary: &Summary, digest: &Digest) -> Table {
    let mut table =
        Table::new(["engine", "as White", "as Black", "drawn as White", "drawn as Black"]);
    let score = |results: &Trinomial| match share(results) {
        Some((mean, margin)) => format!("{:.1} ± {:.1} %", 100.0 * mean, 100.0 * margin),
        None => "undefined".to_owned(),
    };
    for (name, engine) in summary.engines.iter().zip(&digest.engines) {
        let [white, black] = &engine.by_colour;
        let drawn = [white, black].map(|results| percent(results.draw_ratio()));
        let [white_drawn, black_drawn] = drawn;
        table.push([name.clone(), score(white), score(black), white_drawn, black_drawn]);
    }
    let all = &digest.white;
    table.push([
        "all games".to_owned(),
        score(all),
        String::new(),
        percent(all.draw_ratio()),
        String::new(),
    ]);
    table
}

/// A mean score and half of its 95 % interval, by games.
fn share(results: &Trinomial) -> Option<(f64, f64)> {
    let moments = results.distribution().moments()?;
    Some((moments.mean, Z_95 * moments.standard_error()))
}

/// The engines that a chart shows.
fn shown<'a>(
    summary: &'a Summary,
    digest: &'a Digest,
) -> impl Iterator<Item = (&'a String, &'a EngineDigest)> {
    summary.engines.iter().zip(&digest.engines).take(MAX_LINES)
}

type Measure = fn(&Stage) -> Option<f64>;

fn stages(
    summary: &Summary,
    digest: &Digest,
    (title, unit, value): (&str, &str, Measure),
) -> Option<Figure> {
    let mut rows = vec![vec!["engine".to_owned()]];
    let firsts = digest.engines.first()?.stages.iter().map(|(first, _)| first);
    rows[0].extend(firsts.map(|first| format!("{first}–{}", first + STAGE_MOVES - 1)));
    let mut lines = Vec::new();
    for (name, engine) in shown(summary, digest) {
        let values: Vec<_> = engine.stages.iter().map(|(first, s)| (first, value(s))).collect();
        let cells = values.iter().map(|(_, value)| value.map_or(String::new(), compact));
        rows.push(std::iter::once(name.clone()).chain(cells).collect());
        let middle = |first: u32| f64::from(first) + f64::from(STAGE_MOVES - 1) / 2.0;
        let points = values.iter().filter_map(|(first, value)| Some((middle(*first), (*value)?)));
        lines.push(Line::plain(name.clone(), points.collect()));
    }
    if lines.iter().all(|line| line.points.is_empty()) {
        return None;
    }
    Some(Figure {
        caption: format!("{title} by move number"),
        description: format!("{title} of each engine ({unit}) by stages of {STAGE_MOVES} moves."),
        chart: Chart::Lines(Lines {
            x: "move".to_owned(),
            y: unit.to_owned(),
            lines,
            levels: Vec::new(),
        }),
        table: Table::from_rows(rows),
    })
}

fn calibration(summary: &Summary, digest: &Digest) -> Option<Figure> {
    let mut table = Table::new(["engine", "evaluation", "games", "score (95 %)"]);
    let mut lines = Vec::new();
    for (name, engine) in shown(summary, digest) {
        let mut line = Line::plain(name.clone(), Vec::new());
        for (centipawns, results) in engine.calibration.iter() {
            let Some((mean, margin)) = share(results) else { continue };
            let pawns = f64::from(centipawns) / 100.0;
            let shown = format!("{:.1} ± {:.1} %", 100.0 * mean, 100.0 * margin);
            table.push([name.clone(), format!("{pawns:+.0}"), results.games().to_string(), shown]);
            if results.games() >= MIN_CALIBRATION {
                line.points.push((pawns, 100.0 * mean));
                line.band.push((pawns, 100.0 * (mean - margin), 100.0 * (mean + margin)));
            }
        }
        lines.push(line);
    }
    if lines.iter().all(|line| line.points.is_empty()) {
        return None;
    }
    Some(Figure {
        caption: "Evaluations against results".to_owned(),
        description: "Share of the points that an engine got from games in which it once had \
                      that evaluation; each game counts once for each."
            .to_owned(),
        chart: Chart::Lines(Lines {
            x: "evaluation in pawns".to_owned(),
            y: "score, %".to_owned(),
            lines,
            levels: vec![(String::new(), 50.0)],
        }),
        table,
    })
}

fn openings(digest: &Digest) -> Table {
    let mut table =
        Table::new(["opening", "games", "White's score (95 %)", "won", "drawn", "lost"]);
    for opening in digest.openings.outliers(OPENINGS) {
        let results = opening.white;
        table.push([
            opening.name.clone(),
            results.games().to_string(),
            white_score(&results),
            results.wins.to_string(),
            results.draws.to_string(),
            results.losses.to_string(),
        ]);
    }
    table
}

fn white_score(results: &Trinomial) -> String {
    let mean = results.distribution().moments().map(|moments| moments.mean);
    let Some((mean, (low, high))) = mean.zip(score_interval(results)) else { return percent(None) };
    format!("{:.0} % [{:.0}, {:.0}]", 100.0 * mean, 100.0 * low, 100.0 * high)
}

/// A number in few characters.
fn compact(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.0} k", v / 1e3),
        v if v >= 100.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}

/// At most [`COURSE_ROWS`] of the values, evenly spaced, the last one included.
pub(super) fn thinned<T>(values: &[T]) -> impl Iterator<Item = &T> {
    let step = values.len().div_ceil(COURSE_ROWS).max(1);
    let first = (values.len() + step - 1) % step;
    values.iter().skip(first).step_by(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_course_keeps_its_end() {
        for length in 0..200 {
            let values: Vec<usize> = (0..length).collect();
            let kept: Vec<usize> = thinned(&values).copied().collect();
            assert!(
                kept.len() <= COURSE_ROWS && kept.last() == values.last(),
                "{length}: {kept:?}"
            );
        }
    }
}
