//! Charts as values; [`svg`] draws them.

pub(crate) mod svg;

use serde_json::json;

/// Most points of a line whose values are given to the script of pages.
const MAX_TOLD: usize = 128;

/// Most lines in a chart that show their names at their ends.
const MAX_LABELLED: usize = 4;

/// Chart to be drawn. Values that are not finite are not drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Chart {
    /// Values that change along an axis.
    Lines(Lines),
    /// A bar for each label, from zero.
    Bars(Bars),
    /// A value with its interval for each label.
    Intervals(Intervals),
}

/// Lines over a common axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lines {
    /// Unit of the horizontal axis, with what it counts.
    pub x: &'static str,
    /// Unit of the vertical axis, with what it counts.
    pub y: String,
    /// The lines.
    pub lines: Vec<Line>,
    /// Horizontal lines with a meaning, such as bounds, with their names.
    pub levels: Vec<(String, f64)>,
    /// Ranges of values with a meaning, such as those beyond bounds; an end may be infinite.
    pub shades: Vec<(f64, f64)>,
}

/// Line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Name of the line.
    pub name: String,
    /// Points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Interval around each point, if there are intervals.
    pub band: Vec<(f64, f64, f64)>,
    /// Engine whose colour the line has; without one, the colour of its place among the lines.
    pub engine: Option<usize>,
}

/// Bars side by side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// Unit of the values.
    pub y: &'static str,
    /// Names of the groups along the axis.
    pub labels: Vec<String>,
    /// Bars of each group, by their names; horizontal bars of a group are stacked.
    pub series: Vec<(String, Vec<f64>)>,
    /// `true` for horizontal bars, which leave room for long names.
    pub is_lying: bool,
}

/// Values with intervals, one below another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Intervals {
    /// Unit of the values, with what they are.
    pub x: &'static str,
    /// Name, value, and both ends of the interval of each row.
    pub rows: Vec<(String, f64, f64, f64)>,
    /// Value with a meaning, such as that of equality.
    pub level: Option<f64>,
    /// Engine whose colour each row has, if it is that of one; all have that of the first if this
    /// is empty.
    pub engines: Vec<Option<usize>>,
}

impl Chart {
    /// Returns the names of the colours, in their order; nothing if there is only one, or if lines
    /// show their names.
    pub(crate) fn names(&self) -> Vec<&str> {
        let names: Vec<&str> = match self {
            Chart::Lines(chart) if chart.is_labelled() => Vec::new(),
            Chart::Lines(chart) => chart.lines.iter().map(|line| line.name.as_str()).collect(),
            Chart::Bars(chart) => chart.series.iter().map(|(name, _)| name.as_str()).collect(),
            Chart::Intervals(_) => Vec::new(),
        };
        if names.len() > 1 { names } else { Vec::new() }
    }

    /// Returns the class of the page's style for the colour at a place, from 0, in the key.
    pub(crate) fn key_class(&self, place: usize) -> String {
        match self {
            Chart::Bars(bars) if bars.is_rest(place) => "even".to_owned(),
            Chart::Lines(chart) => {
                let line = chart.lines.get(place).and_then(|line| line.engine);
                format!("c{}", line.unwrap_or(place) % svg::LINE_COLOURS + 1)
            }
            _ => format!("c{}", place % svg::LINE_COLOURS + 1),
        }
    }

    /// Returns the values at each place along the axis or in each row, as the script of pages reads
    /// them.
    pub(crate) fn values(&self) -> String {
        let told = match self {
            Chart::Lines(chart) => {
                let lines = chart.lines.iter().map(|line| {
                    let band = |at: f64| line.band.iter().find(|(x, ..)| *x == at);
                    let points = thinned(&line.points, MAX_TOLD).map(|&(x, y)| match band(x) {
                        Some((_, low, high)) => vec![x, short(y), short(*low), short(*high)],
                        None => vec![x, short(y)],
                    });
                    json!([line.name, points.collect::<Vec<_>>()])
                });
                json!({ "x": chart.x, "lines": lines.collect::<Vec<_>>() })
            }
            Chart::Bars(Bars { labels, series, .. }) => {
                let lines = series.iter().map(|(name, values)| {
                    let points =
                        (0_u32..).zip(values).map(|(at, value)| json!([at, short(*value)]));
                    json!([name, points.collect::<Vec<_>>()])
                });
                json!({ "labels": labels, "lines": lines.collect::<Vec<_>>() })
            }
            Chart::Intervals(Intervals { rows, .. }) => {
                let labels: Vec<&String> = rows.iter().map(|(name, ..)| name).collect();
                let points = (0_u32..).zip(rows).map(|(at, row)| json!([at, point_text(row)]));
                json!({ "labels": labels, "lines": [["", points.collect::<Vec<_>>()]] })
            }
        };
        told.to_string()
    }
}

/// Returns a value with its interval, or the end that bounds it.
fn point_text((_, value, low, high): &(String, f64, f64, f64)) -> String {
    let shown =
        |value: f64| if value.is_finite() { short(value).to_string() } else { "open".to_owned() };
    match (low.is_finite(), high.is_finite()) {
        (true, false) if is_bound(*value, *low, *high) => format!("> {}", shown(*low)),
        (false, true) if is_bound(*value, *low, *high) => format!("< {}", shown(*high)),
        (false, false) => shown(*value),
        _ => format!("{} [{}, {}]", shown(*value), shown(*low), shown(*high)),
    }
}

/// Returns whether an estimate is only a bound: its value is infinite, or one end of its interval
/// with the other infinite.
pub(crate) fn is_bound(value: f64, low: f64, high: f64) -> bool {
    value.is_infinite()
        || (low.is_infinite() && high == value)
        || (high.is_infinite() && low == value)
}

impl Bars {
    /// Returns whether a series is the rest beside those of engines: the last of several that are
    /// stacked.
    pub(crate) fn is_rest(&self, series: usize) -> bool {
        self.is_lying && series > 0 && series + 1 == self.series.len()
    }
}

impl Lines {
    /// Returns whether the lines show their names at their ends: not a single line, nor more or
    /// longer names than there is room for.
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
}

/// Rounds a number to four significant digits, or to a whole number if it has more digits.
fn short(value: f64) -> f64 {
    let unit = 10_f64.powi((3 - value.abs().max(1e-6).log10().floor() as i32).max(0));
    (value * unit).round() / unit
}

/// Returns at most `most` of the values, evenly spaced, the last one included.
pub(crate) fn thinned<T>(values: &[T], most: usize) -> impl Iterator<Item = &T> {
    let step = values.len().div_ceil(most).max(1);
    let first = (values.len() + step - 1) % step;
    values.iter().skip(first).step_by(step)
}

/// Most rows of a table of values over games.
const HISTORY_ROWS: usize = 16;

/// Returns as many of the values as a table has rows.
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
        let told = r#"{"lines":[["A",[[2.0,1.235,0.0,9.0],[4.0,12346.0]]]],"x":"games"}"#;
        assert_eq!(chart.values(), told);
        let (labels, series) = (vec!["LL".to_owned()], vec![("B".to_owned(), vec![3.0])]);
        let bars = Bars { labels, series, ..Bars::default() };
        let told = r#"{"labels":["LL"],"lines":[["B",[[0,3.0]]]]}"#;
        assert_eq!(Chart::Bars(bars).values(), told);
        let row = |name: &str, low, high| (name.to_owned(), 1.0, low, high);
        let rows = vec![row("C", -1.5, f64::INFINITY), row("D", 1.0, f64::INFINITY)];
        let told = r#"{"labels":["C","D"],"lines":[["",[[0,"1 [-1.5, open]"],[1,"> 1"]]]]}"#;
        assert_eq!(Chart::Intervals(Intervals { rows, ..Intervals::default() }).values(), told);
    }

    #[test]
    fn thinned_points_keep_the_last_one() {
        for length in 0..200 {
            let values: Vec<usize> = (0..length).collect();
            let kept: Vec<usize> = thinned(&values, 16).copied().collect();
            assert!(kept.len() <= 16 && kept.last() == values.last(), "{length}: {kept:?}");
        }
    }
}
