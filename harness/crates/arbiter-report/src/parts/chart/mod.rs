//! Contents of charts, which [`svg`] draws.

pub(crate) mod svg;

use arbiter_stats::elo::Estimate;
use serde_json::json;

/// Maximum number of points per line in the data for the script of HTML pages.
const MAX_SCRIPT_POINTS: usize = 128;

/// Maximum number of lines in a chart that shows the name of each line at the end of the line.
const MAX_LABELLED: usize = 4;

/// Contents of a chart; values that are not finite are not drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Chart {
    /// Lines along a horizontal axis.
    Lines(Lines),
    /// Bars that start at zero, with one or more bars for each label.
    Bars(Bars),
    /// Values with intervals, with one value for each label.
    Intervals(Intervals),
}

/// Lines over a common axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lines {
    /// Label of the horizontal axis: quantity and unit.
    pub x: &'static str,
    /// Label of the vertical axis: quantity and unit.
    pub y: String,
    /// Lines of the chart.
    pub lines: Vec<Line>,
    /// Names and values of horizontal reference lines, such as bounds.
    pub levels: Vec<(String, f64)>,
    /// Shaded ranges of the vertical axis, such as the values beyond a bound; an end may be
    /// infinite.
    pub shades: Vec<(f64, f64)>,
}

/// Line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Name of the line.
    pub name: String,
    /// Points (x, y), from left to right.
    pub points: Vec<(f64, f64)>,
    /// Interval of each point (x, low, high), if there are intervals.
    pub band: Vec<(f64, f64, f64)>,
    /// Index of the engine that determines the colour of the line; `None` to use the index of the
    /// line.
    pub engine: Option<usize>,
}

/// Bars side by side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// Label of the value axis: quantity or unit.
    pub y: &'static str,
    /// Label of each group of bars.
    pub labels: Vec<String>,
    /// Name and values of each series, with one bar per group. Horizontal bars of one group are
    /// stacked.
    pub series: Vec<(String, Vec<f64>)>,
    /// `true` if the bars are horizontal, which leaves more room for labels.
    pub is_horizontal: bool,
}

/// Values with intervals, one value per row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Intervals {
    /// Label of the value axis: quantity and unit.
    pub x: &'static str,
    /// Name, value, and both ends of the interval of each row.
    pub rows: Vec<(String, f64, f64, f64)>,
    /// Reference value, such as equal strength.
    pub level: Option<f64>,
    /// For each row, the index of the engine that determines the colour; `None` for a row that
    /// belongs to no engine. If the list is empty, all rows have the colour of the first engine.
    pub engines: Vec<Option<usize>>,
}

impl Chart {
    /// Returns the names in the legend of the chart, in the order of the colours. The legend is
    /// empty if there is only one name, if the lines are labelled, or if the chart shows intervals.
    pub(crate) fn names(&self) -> Vec<&str> {
        let names: Vec<&str> = match self {
            Chart::Lines(chart) if chart.is_labelled() => Vec::new(),
            Chart::Lines(chart) => chart.lines.iter().map(|line| line.name.as_str()).collect(),
            Chart::Bars(chart) => chart.series.iter().map(|(name, _)| name.as_str()).collect(),
            Chart::Intervals(_) => Vec::new(),
        };
        if names.len() > 1 { names } else { Vec::new() }
    }

    /// Returns the CSS class for the colour of the legend entry with the index `place`.
    pub(crate) fn key_class(&self, place: usize) -> String {
        let line = match self {
            Chart::Bars(bars) if bars.is_rest(place) => return "even".to_owned(),
            Chart::Lines(chart) => chart.lines.get(place).and_then(|line| line.engine),
            _ => None,
        };
        format!("c{}", line.unwrap_or(place) % svg::LINE_COLOURS + 1)
    }

    /// Returns the values of the chart as JSON for the script of HTML pages.
    pub(crate) fn values(&self) -> String {
        let data = match self {
            Chart::Lines(chart) => {
                let lines = chart.lines.iter().map(|line| {
                    let band = |at: f64| line.band.iter().find(|(x, ..)| *x == at);
                    let points =
                        thinned(&line.points, MAX_SCRIPT_POINTS).map(|&(x, y)| match band(x) {
                            Some((_, low, high)) => vec![x, short(y), short(*low), short(*high)],
                            None => vec![x, short(y)],
                        });
                    json!([line.name, points.collect::<Vec<_>>()])
                });
                json!({ "x": chart.x, "lines": lines.collect::<Vec<_>>() })
            }
            Chart::Bars(Bars { labels, series, .. }) => {
                let heights = |values: &[f64]| -> Vec<(usize, f64)> {
                    values.iter().map(|value| short(*value)).enumerate().collect()
                };
                let lines = series.iter().map(|(name, values)| (name, heights(values)));
                json!({ "labels": labels, "lines": lines.collect::<Vec<_>>() })
            }
            Chart::Intervals(Intervals { rows, .. }) => {
                let labels: Vec<&String> = rows.iter().map(|(name, ..)| name).collect();
                let points: Vec<(usize, String)> =
                    rows.iter().map(point_text).enumerate().collect();
                json!({ "labels": labels, "lines": [("", points)] })
            }
        };
        data.to_string()
    }
}

/// Formats a value with its interval, or the bound on the value.
fn point_text((_, value, low, high): &(String, f64, f64, f64)) -> String {
    let shown = |value: f64| match value {
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "-∞".to_owned(),
        value => short(value).to_string(),
    };
    match (low.is_finite(), high.is_finite()) {
        (true, false) if is_bound(*value, *low, *high) => format!("> {}", shown(*low)),
        (false, true) if is_bound(*value, *low, *high) => format!("< {}", shown(*high)),
        (false, false) => shown(*value),
        _ => format!("{} [{}, {}]", shown(*value), shown(*low), shown(*high)),
    }
}

/// Returns `true` if an estimate is only a bound: the value is infinite, or the value equals one
/// end of the interval and the opposite end is infinite.
pub(crate) fn is_bound(value: f64, low: f64, high: f64) -> bool {
    value.is_infinite()
        || (low.is_infinite() && high == value)
        || (high.is_infinite() && low == value)
}

impl Bars {
    /// Returns `true` if a series is the last of several stacked series. The last series contains
    /// the remainder that belongs to no engine.
    pub(crate) fn is_rest(&self, series: usize) -> bool {
        self.is_horizontal && series > 0 && series + 1 == self.series.len()
    }
}

impl Lines {
    /// Returns `true` if names are drawn at the ends of the lines: if there are two to four lines,
    /// and room for all names.
    fn is_labelled(&self) -> bool {
        let has_room = |line: &Line| line.name.chars().count() <= svg::WIDE.label_length;
        (2..=MAX_LABELLED).contains(&self.lines.len()) && self.lines.iter().all(has_room)
    }
}

impl Line {
    /// Returns a line without intervals.
    pub fn plain(name: impl Into<String>, points: Vec<(f64, f64)>) -> Line {
        Line { name: name.into(), points, band: Vec::new(), engine: None }
    }

    /// Returns a line through the finite estimates, with their intervals, over the number of games.
    pub fn of_estimates(name: String, estimates: &[(u64, Estimate)]) -> Line {
        let mut line = Line::plain(name, Vec::new());
        for (games, Estimate { value, low, high }) in estimates {
            if value.is_finite() {
                line.points.push((*games as f64, *value));
                line.band.push((*games as f64, *low, *high));
            }
        }
        line
    }
}

/// Rounds a number to four significant digits. A number with more than four digits before the
/// decimal point is rounded to an integer.
fn short(value: f64) -> f64 {
    let unit = 10_f64.powi((3 - value.abs().max(1e-6).log10().floor() as i32).max(0));
    (value * unit).round() / unit
}

/// Returns at most `limit` of the values, evenly spaced, including the last value.
pub(crate) fn thinned<T>(values: &[T], limit: usize) -> impl Iterator<Item = &T> {
    let step = values.len().div_ceil(limit).max(1);
    let first = (values.len() + step - 1) % step;
    values.iter().skip(first).step_by(step)
}

/// Maximum number of rows in a table of values over the number of games.
const HISTORY_ROWS: usize = 16;

/// Returns at most [`HISTORY_ROWS`] of the values, evenly spaced, including the last value.
pub(crate) fn table_rows<T>(values: &[T]) -> impl Iterator<Item = &T> {
    thinned(values, HISTORY_ROWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_values_are_json_for_the_script() {
        let band = vec![(2.0, 0.0, 9.0)];
        let line = Line { band, ..Line::plain("A", vec![(2.0, 1.23456), (4.0, 12_345.6)]) };
        let chart = Chart::Lines(Lines { x: "games", lines: vec![line], ..Lines::default() });
        let expected = r#"{"lines":[["A",[[2.0,1.235,0.0,9.0],[4.0,12346.0]]]],"x":"games"}"#;
        assert_eq!(chart.values(), expected);
        let (labels, series) = (vec!["LL".to_owned()], vec![("B".to_owned(), vec![3.0])]);
        let bars = Bars { labels, series, ..Bars::default() };
        let expected = r#"{"labels":["LL"],"lines":[["B",[[0,3.0]]]]}"#;
        assert_eq!(Chart::Bars(bars).values(), expected);
        let row = |name: &str, low, high| (name.to_owned(), 1.0, low, high);
        let rows = vec![row("C", -1.5, f64::INFINITY), row("D", 1.0, f64::INFINITY)];
        let expected = r#"{"labels":["C","D"],"lines":[["",[[0,"1 [-1.5, ∞]"],[1,"> 1"]]]]}"#;
        assert_eq!(Chart::Intervals(Intervals { rows, ..Intervals::default() }).values(), expected);
    }

    #[test]
    fn thinned_points_include_the_last_point() {
        for length in 0..200 {
            let values: Vec<usize> = (0..length).collect();
            let kept: Vec<usize> = thinned(&values, 16).copied().collect();
            assert!(kept.len() <= 16 && kept.last() == values.last(), "{length}: {kept:?}");
        }
    }
}
