//! Charts as SVG.
//!
//! The drawing crate knows fixed colours only. Each of ours stands for a variable of the page's
//! style, put in its place after drawing, so that a chart is as dark or light as its page.

use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{Ranged, SegmentedCoord};
use plotters::coord::types::RangedCoordusize;
use plotters::prelude::*;

use super::{Bars, Chart, Intervals, Line, Lines};

/// Size of a chart, in units of its view box.
const SIZE: (u32, u32) = (720, 300);

/// Characters of a name beside an axis.
const NAME_LENGTH: usize = 24;

/// Height of an interval's row, and of what is not rows.
const ROW: u32 = 26;
const FRAME: u32 = 70;

/// Ground, text, grid, and the lines of a chart in their order, as drawn and as the page names them.
const COLOURS: [(RGBColor, &str); 11] = [
    (PAPER, "var(--paper)"),
    (INK, "var(--ink)"),
    (GRID, "var(--grid)"),
    (RGBColor(1, 2, 11), "var(--c1)"),
    (RGBColor(1, 2, 12), "var(--c2)"),
    (RGBColor(1, 2, 13), "var(--c3)"),
    (RGBColor(1, 2, 14), "var(--c4)"),
    (RGBColor(1, 2, 15), "var(--c5)"),
    (RGBColor(1, 2, 16), "var(--c6)"),
    (RGBColor(1, 2, 17), "var(--c7)"),
    (RGBColor(1, 2, 18), "var(--c8)"),
];
const PAPER: RGBColor = RGBColor(1, 2, 8);
const INK: RGBColor = RGBColor(1, 2, 9);
const GRID: RGBColor = RGBColor(1, 2, 10);

/// Where the colours of lines begin.
const FIRST_LINE: usize = 3;

/// Why a chart could not be drawn: there is nothing finite to draw, or a fault of the crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undrawn(pub String);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The element.
///
/// # Errors
///
/// If there is nothing finite to draw.
pub fn draw(chart: &Chart) -> Result<String, Undrawn> {
    let mut text = String::new();
    let size = match chart {
        Chart::Intervals(intervals) => (SIZE.0, FRAME + ROW * intervals.rows.len() as u32),
        Chart::Bars(bars) if bars.is_lying => (SIZE.0, FRAME + ROW * bars.labels.len() as u32),
        Chart::Lines(_) | Chart::Bars(_) => SIZE,
    };
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = match chart {
            Chart::Lines(lines) => draw_lines(&area, lines),
            Chart::Bars(bars) if bars.is_lying => draw_lying(&area, bars),
            Chart::Bars(bars) => draw_bars(&area, bars),
            Chart::Intervals(intervals) => draw_intervals(&area, intervals),
        };
        drawn.map_err(|error| Undrawn(error.to_string()))?;
        area.present().map_err(|error| Undrawn(error.to_string()))?;
    }
    Ok(styled(&text, size))
}

/// With the page's colours and font, as wide as its place.
fn styled(text: &str, (width, height): (u32, u32)) -> String {
    let mut text = text.to_owned();
    for (drawn, name) in COLOURS {
        let RGBColor(r, g, b) = drawn;
        text = text.replace(&format!("#{r:02X}{g:02X}{b:02X}"), name);
    }
    let fixed = format!("width=\"{width}\" height=\"{height}\" ");
    text.replace(&fixed, "").replace("font-family=\"sans-serif\" ", "")
}

fn colour(line: usize) -> RGBColor {
    COLOURS[FIRST_LINE + line % (COLOURS.len() - FIRST_LINE)].0
}

/// The least and the greatest, with some room; `None` without finite values.
fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return None;
    }
    let room = if high > low { 0.06 * (high - low) } else { 1.0 };
    Some((low - room, high + room))
}

fn nothing() -> Box<dyn std::error::Error> {
    "there is nothing to draw".into()
}

fn draw_lines(area: &Area<'_>, chart: &Lines) -> Drawn {
    let points = || chart.lines.iter().flat_map(|line| line.points.iter().copied());
    let levels = chart.levels.iter().map(|level| level.1);
    let (left, right) = range(points().map(|point| point.0)).ok_or_else(nothing)?;
    // The first intervals are so wide that nothing else would be seen.
    let middle = range(points().map(|point| point.1).chain(levels)).ok_or_else(nothing)?;
    let ends =
        |line: &Line| line.band.iter().skip(line.band.len() / 4).copied().collect::<Vec<_>>();
    let band = chart.lines.iter().flat_map(ends).flat_map(|(_, low, high)| [low, high]);
    let (low, high) =
        range(band.chain([middle.0, middle.1])).map_or(middle, |(low, high)| (low, high));
    let mut context = ChartBuilder::on(area)
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(62)
        .build_cartesian_2d(left..right, low..high)?;
    context
        .configure_mesh()
        .x_desc(chart.x.as_str())
        .y_desc(chart.y.as_str())
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|value| number(*value))
        .y_label_formatter(&|value| number(*value))
        .label_style(("sans-serif", 13, &INK))
        .draw()?;
    for (name, level) in &chart.levels {
        context.draw_series(DashedLineSeries::new(
            [(left, *level), (right, *level)],
            6,
            4,
            INK.stroke_width(1),
        ))?;
        let style = ("sans-serif", 13).into_font().color(&INK);
        // A little away from the axis.
        let place = (left + 0.01 * (right - left), *level);
        let label = Text::new(name.clone(), place, style);
        context.draw_series([label])?;
    }
    for (index, line) in chart.lines.iter().enumerate() {
        let colour = colour(index);
        if !line.band.is_empty() {
            let clamp = |value: f64| value.clamp(low, high);
            let upper = line.band.iter().map(|(x, _, top)| (*x, clamp(*top)));
            let lower = line.band.iter().rev().map(|(x, bottom, _)| (*x, clamp(*bottom)));
            let outline: Vec<_> = upper.chain(lower).collect();
            context.draw_series([Polygon::new(outline, colour.mix(0.18).filled())])?;
        }
        let series = LineSeries::new(line.points.iter().copied(), colour.stroke_width(2));
        let drawn = context.draw_series(series)?;
        if chart.lines.len() > 1 {
            let key = move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(3));
            drawn.label(line.name.as_str()).legend(key);
        }
    }
    if chart.lines.len() > 1 {
        draw_key(&mut context, SeriesLabelPosition::UpperLeft)?;
    }
    Ok(())
}

fn draw_bars(area: &Area<'_>, chart: &Bars) -> Drawn {
    let values = chart.series.iter().flat_map(|(_, values)| values.iter().copied());
    let (_, high) = range(values.chain([0.0])).ok_or_else(nothing)?;
    // Room above the bars for the names of their colours.
    let high = if chart.series.len() > 1 { 1.3 * high } else { high };
    let groups = chart.labels.len().max(1);
    let mut context = ChartBuilder::on(area)
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(62)
        .build_cartesian_2d(segments(groups), 0.0..high)?;
    let label = |segment: &SegmentValue<usize>| match segment {
        SegmentValue::CenterOf(group) => chart.labels.get(*group).cloned().unwrap_or_default(),
        SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
    };
    context
        .configure_mesh()
        .y_desc(chart.y.as_str())
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .disable_x_mesh()
        .x_labels(groups)
        .x_label_formatter(&label)
        .y_label_formatter(&|value| number(*value))
        .label_style(("sans-serif", 13, &INK))
        .draw()?;
    let room = context.plotting_area().dim_in_pixel().0 / groups as u32;
    let gap = (room / 6).min(8);
    let width = (room - 2 * gap) / chart.series.len().max(1) as u32;
    for (index, (name, values)) in chart.series.iter().enumerate() {
        let (left, right) = (index as u32, (chart.series.len() - 1 - index) as u32);
        let bars = values.iter().enumerate().map(|(group, value)| {
            let corners =
                [(SegmentValue::Exact(group), 0.0), (SegmentValue::Exact(group + 1), *value)];
            let mut bar = Rectangle::new(corners, colour(index).filled());
            bar.set_margin(0, 0, gap + left * width, gap + right * width);
            bar
        });
        let drawn = context.draw_series(bars)?;
        if chart.series.len() > 1 {
            let colour = colour(index);
            let key = move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled());
            drawn.label(name.as_str()).legend(key);
            continue;
        }
        let counts = values.iter().enumerate().map(|(group, value)| {
            let place = (SegmentValue::CenterOf(group), *value);
            let style = ("sans-serif", 13, &INK).into_text_style(area);
            let style = style.pos(plotters::style::text_anchor::Pos::new(
                plotters::style::text_anchor::HPos::Center,
                plotters::style::text_anchor::VPos::Bottom,
            ));
            Text::new(number(*value), place, style)
        });
        context.draw_series(counts)?;
    }
    if chart.series.len() > 1 {
        draw_key(&mut context, SeriesLabelPosition::UpperRight)?;
    }
    Ok(())
}

/// An axis with so many places of equal size, and two at least: one alone would have no size.
fn segments(count: usize) -> SegmentedCoord<RangedCoordusize> {
    (0..count.max(2) - 1).into_segmented()
}

/// Which colour is which.
fn draw_key<'a, 's: 'a, X: Ranged, Y: Ranged>(
    context: &mut ChartContext<'a, SVGBackend<'s>, Cartesian2d<X, Y>>,
    position: SeriesLabelPosition,
) -> Drawn {
    context
        .configure_series_labels()
        .position(position)
        .background_style(PAPER.mix(0.75))
        .label_font(("sans-serif", 13, &INK))
        .draw()?;
    Ok(())
}

fn draw_lying(area: &Area<'_>, chart: &Bars) -> Drawn {
    let (_, values) = chart.series.first().ok_or_else(nothing)?;
    let (_, high) = range(values.iter().copied().chain([0.0])).ok_or_else(nothing)?;
    let count = values.len();
    let mut context = ChartBuilder::on(area)
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(170)
        // Room for the number behind the longest bar.
        .build_cartesian_2d(0.0..1.1 * high, segments(count))?;
    let name = |segment: &SegmentValue<usize>| row_name(segment, count, |row| &chart.labels[row]);
    context
        .configure_mesh()
        .x_desc(chart.y.as_str())
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .disable_y_mesh()
        .y_labels(count)
        .y_label_formatter(&name)
        .x_label_formatter(&|value| number(*value))
        .label_style(("sans-serif", 13, &INK))
        .draw()?;
    let rows = || values.iter().rev().enumerate();
    context.draw_series(rows().map(|(row, value)| {
        let corners = [(0.0, SegmentValue::Exact(row)), (*value, SegmentValue::Exact(row + 1))];
        let mut bar = Rectangle::new(corners, colour(0).filled());
        bar.set_margin(5, 5, 0, 0);
        bar
    }))?;
    let style = ("sans-serif", 13, &INK).into_text_style(area);
    let style = style.pos(plotters::style::text_anchor::Pos::new(
        plotters::style::text_anchor::HPos::Left,
        plotters::style::text_anchor::VPos::Center,
    ));
    context.draw_series(rows().map(|(row, value)| {
        let place = (*value + 0.008 * high, SegmentValue::CenterOf(row));
        Text::new(number(*value), place, style.clone())
    }))?;
    Ok(())
}

/// The name of a row of a segmented axis on which the first row is on top.
fn row_name<'a>(
    segment: &SegmentValue<usize>,
    count: usize,
    name: impl Fn(usize) -> &'a String,
) -> String {
    match segment {
        SegmentValue::CenterOf(row) if *row < count => shortened(name(count - 1 - row)),
        SegmentValue::CenterOf(_) | SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
    }
}

/// As much of a name as fits beside the axis.
fn shortened(name: &str) -> String {
    match name.chars().count() > NAME_LENGTH {
        true => name.chars().take(NAME_LENGTH - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

fn draw_intervals(area: &Area<'_>, chart: &Intervals) -> Drawn {
    let values = chart.rows.iter().flat_map(|(_, value, low, high)| [*value, *low, *high]);
    let values = values.chain(chart.level);
    let (left, right) = range(values).ok_or_else(nothing)?;
    let count = chart.rows.len();
    let mut context = ChartBuilder::on(area)
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(170)
        .build_cartesian_2d(left..right, segments(count))?;
    let name = |segment: &SegmentValue<usize>| row_name(segment, count, |row| &chart.rows[row].0);
    context
        .configure_mesh()
        .x_desc(chart.x.as_str())
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .y_labels(count)
        .y_label_formatter(&name)
        .x_label_formatter(&|value| number(*value))
        .label_style(("sans-serif", 13, &INK))
        .draw()?;
    if let Some(level) = chart.level {
        let ends = [SegmentValue::Exact(0), SegmentValue::Exact(count)];
        let line = ends.map(|end| (level, end));
        context.draw_series([PathElement::new(line, INK.stroke_width(1))])?;
    }
    for (place, (_, value, low, high)) in chart.rows.iter().rev().enumerate() {
        let row = SegmentValue::CenterOf(place);
        if low.is_finite() && high.is_finite() {
            let whole = [(*low, row.clone()), (*high, row.clone())];
            context.draw_series([PathElement::new(whole, colour(0).stroke_width(2))])?;
        }
        context.draw_series([Circle::new((*value, row), 4, colour(0).filled())])?;
    }
    Ok(())
}

/// A number with as many digits as an axis needs.
fn number(value: f64) -> String {
    let text = match value.abs() {
        v if v >= 1e6 => return format!("{:.1} M", value / 1e6),
        v if v >= 1e4 => return format!("{:.0} k", value / 1e3),
        v if v >= 10.0 => format!("{value:.0}"),
        v if v >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(f64, f64)]) -> Line {
        Line::plain("a <b>", points.to_vec())
    }

    #[test]
    fn every_chart_is_drawn_in_the_colours_of_the_page() {
        let charts = [
            Chart::Lines(Lines {
                lines: vec![line(&[(1.0, 2.0), (3.0, -2.0)]), line(&[(1.0, 0.0)])],
                levels: vec![("H1".to_owned(), 2.94)],
                ..Lines::default()
            }),
            Chart::Bars(Bars {
                labels: vec!["LL".to_owned(), "WW".to_owned()],
                series: vec![(String::new(), vec![3.0, 0.0])],
                ..Bars::default()
            }),
            Chart::Bars(Bars {
                labels: vec!["< 1 ms".to_owned(), "< 10 ms".to_owned()],
                series: vec![
                    ("a <b>".to_owned(), vec![3.0, 0.0]),
                    ("b".to_owned(), vec![1.0, 2.0]),
                ],
                ..Bars::default()
            }),
            Chart::Bars(Bars {
                labels: vec!["a <b> with a name that is far too long".to_owned(), "b".to_owned()],
                series: vec![(String::new(), vec![3.0, 0.0])],
                is_lying: true,
                ..Bars::default()
            }),
            Chart::Intervals(Intervals {
                rows: vec![
                    ("a <b>".to_owned(), 1.0, 0.0, 2.0),
                    ("b".to_owned(), 0.0, f64::NAN, 9.0),
                ],
                ..Intervals::default()
            }),
        ];
        for chart in charts {
            let svg = draw(&chart).expect("there is something to draw");
            assert!(svg.starts_with("<svg ") && svg.contains("var(--c1)"), "{svg}");
            assert!(!svg.contains('#') && !svg.contains("<b>"), "{svg}");
        }
    }

    #[test]
    fn nothing_to_draw_is_said() {
        let chart =
            Chart::Lines(Lines { lines: vec![line(&[(1.0, f64::NAN)])], ..Lines::default() });
        assert!(draw(&chart).is_err());
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.25, -1.5, 12.4, 25_000.0, 3.2e6].map(number);
        assert_eq!(shown, ["0", "0.25", "-1.5", "12", "25 k", "3.2 M"]);
    }
}
