//! Drawing of charts as SVG.
//!
//! The drawing crate supports only fixed colours. Each colour is therefore drawn as a placeholder.
//! After drawing, variables of the style sheet replace the placeholders, so that a chart follows
//! the light or dark mode of the page.

mod axis;
mod lines;

use maud::html;
use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::ranged1d::SegmentedCoord;
use plotters::coord::types::{RangedCoordf64, RangedCoordusize};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use self::axis::{every_nth, integer_ticks, number, range, tick};
use self::lines::draw_lines;
use super::{Bars, Chart, Intervals, is_bound};
use crate::parts::text::shortened;

/// Sizes of a drawing, in units of its view box. In these units, text has the same size in every
/// drawing of a chart; the style sheet therefore shows the drawing whose unit is closest to one
/// screen pixel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// CSS class of the element.
    class: &'static str,
    width: u32,
    /// Height of a chart without rows.
    height: u32,
    /// Width of the column for values next to the vertical axis.
    values: u32,
    /// Width of the column for names next to the vertical axis.
    names: u32,
    /// Maximum length of a name next to an axis, in characters.
    name_length: usize,
    /// Maximum length of a name at the end of a line, in characters.
    pub(super) label_length: usize,
    /// Maximum number of ticks on a horizontal axis.
    ticks: usize,
    /// Maximum number of points in a line.
    points: usize,
}

/// Frame for screens wider than 40 rem, and for paper.
pub(crate) const WIDE: Frame = Frame {
    class: "wide",
    width: 560,
    height: 270,
    values: 74,
    names: 150,
    name_length: 24,
    label_length: 16,
    ticks: 10,
    points: 512,
};

/// Frame for mobile phones.
pub(crate) const NARROW: Frame = Frame {
    class: "narrow",
    width: 340,
    height: 240,
    values: 68,
    names: 112,
    name_length: 15,
    label_length: 10,
    ticks: 4,
    points: 128,
};

/// Frame for charts side by side, on all screens.
pub(crate) const SMALL: Frame =
    Frame { class: "small", height: 200, names: 124, name_length: 18, ..NARROW };

/// Height of a row, in units of the view box.
const ROW: u32 = 26;
/// Total height, in units of the view box, of all parts of a chart except its rows.
const BESIDES_ROWS: u32 = 70;

/// Space around a drawing, in units of the view box.
const MARGIN: u32 = 10;
/// Height of the horizontal axis with its labels, in units of the view box.
const AXIS: u32 = 40;

/// Marker around the index of a row whose name is truncated. After drawing, the marked index is
/// replaced by the full name as a tooltip.
const CUT: char = '\u{e000}';

/// Font size, in units of the view box.
const TEXT: u32 = 13;

/// Names of the colours in the style sheet: text, grid, bars that belong to no engine, and the
/// lines in order.
const COLOURS: [&str; 11] = ["ink", "grid", "even", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"];
const INK: RGBColor = drawn_as(0);
const GRID: RGBColor = drawn_as(1);
const EVEN: RGBColor = drawn_as(2);

/// Index of the first line colour in [`COLOURS`].
const FIRST_LINE: usize = 3;
/// Number of line colours.
pub(crate) const LINE_COLOURS: usize = COLOURS.len() - FIRST_LINE;

/// Returns the placeholder of a colour, by its index in [`COLOURS`].
const fn drawn_as(colour: usize) -> RGBColor {
    RGBColor(1, 2, colour as u8)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawing<'a, X, Y> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>;

/// SVG attribute with the coordinates and values of both ends of an axis, or an error if there is
/// nothing to draw.
type DrawResult<T = String> = Result<T, Box<dyn std::error::Error>>;

/// Draws a chart as an SVG element.
///
/// # Errors
///
/// Fails if there is nothing to draw: no finite value, or no line with at least two points.
pub(crate) fn draw(chart: &Chart, frame: &Frame) -> DrawResult {
    let mut text = String::new();
    let size = (frame.width, frame.height_of(chart));
    // The script of the page needs both ends of an axis to convert mouse positions to values.
    let ends = {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let ends = match chart {
            Chart::Lines(lines) => draw_lines(&area, frame, lines)?,
            Chart::Bars(bars) if bars.is_horizontal => draw_horizontal_bars(&area, frame, bars)?,
            Chart::Bars(bars) => draw_bars(&area, frame, bars)?,
            Chart::Intervals(intervals) => draw_intervals(&area, frame, intervals)?,
        };
        area.present()?;
        ends
    };
    let mut text = styled(&text, frame.class, size);
    for (row, name) in chart.row_names().into_iter().enumerate() {
        text = text.replace(&format!("{CUT}{row}{CUT}"), &html! { title { (name) } }.0);
    }
    Ok(text.replacen("viewBox", &format!("{ends} viewBox"), 1))
}

impl Chart {
    /// Returns the names of the rows; empty if the chart has no rows.
    fn row_names(&self) -> Vec<&String> {
        match self {
            Chart::Bars(bars) if bars.is_horizontal => bars.labels.iter().collect(),
            Chart::Intervals(intervals) => intervals.rows.iter().map(|(name, ..)| name).collect(),
            Chart::Lines(_) | Chart::Bars(_) => Vec::new(),
        }
    }
}

/// Replaces the placeholders with variables of the style sheet, and the fixed size with a class.
/// Removes the font.
fn styled(text: &str, class: &str, (width, height): (u32, u32)) -> String {
    let mut text = text.to_owned();
    for (index, name) in COLOURS.iter().enumerate() {
        let RGBColor(r, g, b) = drawn_as(index);
        text = text.replace(&format!("#{r:02X}{g:02X}{b:02X}"), &format!("var(--{name})"));
    }
    let fixed = format!("width=\"{width}\" height=\"{height}\" ");
    let text = text.replace(&fixed, "").replace("font-family=\"sans-serif\" ", "");
    text.replacen("<svg ", &format!("<svg class=\"{class}\" "), 1)
}

fn colour(line: usize) -> RGBColor {
    drawn_as(FIRST_LINE + line % LINE_COLOURS)
}

/// Returns a text style that aligns text relative to the point at which the text is drawn.
fn text_style<'a>(area: &Area<'_>, horizontal: HPos, vertical: VPos) -> TextStyle<'a> {
    let style = ("sans-serif", TEXT, &INK).into_text_style(area);
    style.pos(Pos::new(horizontal, vertical))
}

/// Returns the builder of a chart; `left` is the width of the labels of the vertical axis.
fn builder<'a, 'b>(area: &'a Area<'b>, left: u32) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(MARGIN).x_label_area_size(AXIS).y_label_area_size(left);
    builder
}

fn empty_chart_error() -> Box<dyn std::error::Error> {
    "there is nothing to draw".into()
}

fn draw_bars(area: &Area<'_>, frame: &Frame, chart: &Bars) -> DrawResult {
    let values = chart.series.iter().flat_map(|(_, values)| values.iter().copied());
    let (_, high) = range(values.chain([0.0])).ok_or_else(empty_chart_error)?;
    let groups = chart.labels.len();
    let mut context =
        builder(area, frame.values).build_cartesian_2d(segments(groups)?, 0.0..high)?;
    let room = context.plotting_area().dim_in_pixel().0 / groups as u32;
    let named = every_nth(&chart.labels, room);
    let label = |segment: &SegmentValue<usize>| match segment {
        SegmentValue::CenterOf(group) if group.is_multiple_of(named) => {
            chart.labels.get(*group).cloned().unwrap_or_default()
        }
        SegmentValue::CenterOf(_) | SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
    };
    context
        .configure_mesh()
        .y_desc(chart.y)
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .disable_x_mesh()
        .x_labels(groups)
        .y_labels(integer_ticks((frame.height / 30) as usize, high))
        .x_label_formatter(&label)
        .y_label_formatter(&|value| tick(*value))
        .label_style(("sans-serif", TEXT, &INK))
        .draw()?;
    let gap = (room / 6).min(8);
    let width = (room - 2 * gap) / chart.series.len().max(1) as u32;
    for (index, (_, values)) in chart.series.iter().enumerate() {
        let left = index as u32;
        let right = (chart.series.len() - 1 - index) as u32;
        let bars = values.iter().enumerate().map(|(group, value)| {
            let corners =
                [(SegmentValue::Exact(group), 0.0), (SegmentValue::Exact(group + 1), *value)];
            let mut bar = Rectangle::new(corners, colour(index).filled());
            bar.set_margin(0, 0, gap + left * width, gap + right * width);
            bar
        });
        context.draw_series(bars)?;
        if chart.series.len() > 1 {
            continue;
        }
        let style = text_style(area, HPos::Center, VPos::Bottom);
        let counts = values.iter().enumerate().map(|(group, value)| {
            Text::new(number(*value), (SegmentValue::CenterOf(group), *value), style.clone())
        });
        context.draw_series(counts)?;
    }
    Ok(frame.values_attribute((-0.5, places(groups) as f64 - 0.5), 0))
}

/// Returns the number of segments on an axis with `count` values. The number is at least two,
/// because the drawing crate cannot draw a single segment.
fn places(count: usize) -> usize {
    count.max(2)
}

/// Returns an axis with `count` segments, but at least two. Fails if `count` is 0, because the
/// drawing crate would never return for an empty axis.
fn segments(count: usize) -> DrawResult<SegmentedCoord<RangedCoordusize>> {
    if count == 0 { Err(empty_chart_error()) } else { Ok((0..places(count) - 1).into_segmented()) }
}

/// Chart of rows, with the names of the rows next to the axis; the first row is at the top.
type Rows<'a> = Drawing<'a, RangedCoordf64, SegmentedCoord<RangedCoordusize>>;

/// Draws the axes of a chart of rows. Lines separate the rows, unless the rows are bars of counts
/// (`is_count`).
fn row_axes<'a, 'n>(
    area: &Area<'a>,
    frame: &Frame,
    names: impl Iterator<Item = &'n String>,
    (left, right): (f64, f64),
    unit: &str,
    is_count: bool,
) -> DrawResult<Rows<'a>> {
    let names: Vec<&String> = names.collect();
    let count = names.len();
    let mut context =
        builder(area, frame.names).build_cartesian_2d(left..right, segments(count)?)?;
    let name = |segment: &SegmentValue<usize>| match segment {
        SegmentValue::CenterOf(row) if *row < count => {
            let place = count - 1 - row;
            let name = frame.shortened(names[place]);
            let gap = if count < 2 { "\u{a0}" } else { "" };
            if name == *names[place] { name + gap } else { format!("{CUT}{place}{CUT}{name}{gap}") }
        }
        SegmentValue::CenterOf(_) | SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
    };
    let mut mesh = context.configure_mesh();
    if is_count {
        mesh.disable_y_mesh();
    }
    if count < 2 {
        // A single row has a second, empty segment, because an axis with one segment cannot be
        // drawn. Without tick marks, the second segment is invisible.
        mesh.set_tick_mark_size(LabelAreaPosition::Left, 0);
    }
    mesh.x_desc(unit)
        .x_labels(if is_count { integer_ticks(frame.ticks, right - left) } else { frame.ticks })
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .y_labels(count)
        .y_label_formatter(&name)
        .x_label_formatter(&|value| tick(*value))
        .label_style(("sans-serif", TEXT, &INK))
        .draw()?;
    Ok(context)
}

/// Returns the SVG attribute with both ends of the vertical axis in a chart of rows.
fn rows_attribute(area: &Area<'_>, rows: usize) -> String {
    let end = area.dim_in_pixel().1 - MARGIN - AXIS;
    let last = rows as f64 - 0.5;
    let first = last - places(rows) as f64;
    format!("data-rows=\"{MARGIN} {end} {first} {last}\"")
}

fn draw_horizontal_bars(area: &Area<'_>, frame: &Frame, chart: &Bars) -> DrawResult {
    let mut ends = vec![0.0; chart.labels.len()];
    let mut bars = Vec::new();
    for (index, (_, values)) in chart.series.iter().enumerate() {
        for (row, (end, value)) in ends.iter_mut().rev().zip(values.iter().rev()).enumerate() {
            bars.push((index, row, *end, *end + value));
            *end += value;
        }
    }
    let (_, high) = range(ends.iter().copied().chain([0.0])).ok_or_else(empty_chart_error)?;
    // The additional 10 % leave room for the number after the longest bar.
    let labels = chart.labels.iter();
    let mut context = row_axes(area, frame, labels, (0.0, 1.1 * high), chart.y, true)?;
    context.draw_series(bars.into_iter().map(|(index, row, from, to)| {
        let corners = [(from, SegmentValue::Exact(row)), (to, SegmentValue::Exact(row + 1))];
        let colour = if chart.is_rest(index) { EVEN } else { colour(index) };
        let mut bar = Rectangle::new(corners, colour.filled());
        bar.set_margin(5, 5, 0, 0);
        bar
    }))?;
    let style = text_style(area, HPos::Left, VPos::Center);
    context.draw_series(ends.iter().rev().enumerate().map(|(row, end)| {
        let place = (*end + 0.008 * high, SegmentValue::CenterOf(row));
        Text::new(number(*end), place, style.clone())
    }))?;
    Ok(rows_attribute(area, chart.labels.len()))
}

impl Frame {
    /// Returns the height of a chart in this frame.
    fn height_of(&self, chart: &Chart) -> u32 {
        match chart.row_names().len() {
            0 => self.height,
            rows => BESIDES_ROWS + ROW * places(rows) as u32,
        }
    }

    /// Shortens a name so that it fits next to an axis.
    fn shortened(&self, name: &str) -> String {
        // A suffix `, White` or `, Black` distinguishes two rows of one engine, so only the name
        // before the suffix is shortened.
        let colour = [", White", ", Black"].into_iter().find(|colour| name.ends_with(colour));
        let (name, rest) = name.split_at(name.len() - colour.map_or(0, str::len));
        shortened(name, self.name_length - rest.len()) + rest
    }

    /// Returns the SVG attribute with both ends of a horizontal axis. The axis shows values, or
    /// bars counted from 0. `room` is the width for names at the ends of lines, in units of the
    /// view box.
    fn values_attribute(&self, (left, right): (f64, f64), room: u32) -> String {
        let begin = MARGIN + self.values;
        let end = self.width - MARGIN - room;
        format!("data-plot=\"{begin} {end} {left:.2} {right:.2}\"")
    }
}

fn draw_intervals(area: &Area<'_>, frame: &Frame, chart: &Intervals) -> DrawResult {
    let values = chart.rows.iter().flat_map(|(_, value, low, high)| [*value, *low, *high]);
    let values = values.chain(chart.level);
    let ends = range(values).ok_or_else(empty_chart_error)?;
    let names = chart.rows.iter().map(|(name, ..)| name);
    let mut context = row_axes(area, frame, names, ends, chart.x, false)?;
    if let Some(level) = chart.level {
        let ends = [SegmentValue::Exact(0), SegmentValue::Last];
        let line = ends.map(|end| (level, end));
        context.draw_series([PathElement::new(line, INK.stroke_width(1))])?;
    }
    for (place, (_, value, low, high)) in chart.rows.iter().rev().enumerate() {
        let row = SegmentValue::CenterOf(place);
        let engine = chart.engines.get(chart.rows.len() - 1 - place);
        let colour = engine.copied().unwrap_or(Some(0)).map_or(EVEN, colour);
        // An infinite end of an interval is drawn as an arrow.
        let interval = [(low.max(ends.0), row.clone()), (high.min(ends.1), row.clone())];
        if !low.is_nan() && !high.is_nan() {
            context.draw_series([PathElement::new(interval.clone(), colour.stroke_width(2))])?;
        }
        let arrow = |tip: i32| Polygon::new([(tip, 0), (-tip, -6), (-tip, 6)], colour.filled());
        for ((x, y), tip) in interval.into_iter().zip([-5, 5]) {
            if (if tip < 0 { *low } else { *high }).is_infinite() {
                context.draw_series([EmptyElement::at((x, y)) + arrow(tip)])?;
            }
        }
        let bound = [*low, *high].into_iter().find(|end| end.is_finite());
        match bound.filter(|_| is_bound(*value, *low, *high)) {
            Some(end) => {
                let stroke = colour.stroke_width(2);
                let bar = PathElement::new([(0, -6), (0, 6)], stroke);
                context.draw_series([EmptyElement::at((end, row)) + bar])?;
            }
            None => {
                context.draw_series([Circle::new((*value, row), 4, colour.filled())])?;
            }
        }
    }
    Ok(rows_attribute(area, chart.rows.len()))
}

#[cfg(test)]
mod tests;
