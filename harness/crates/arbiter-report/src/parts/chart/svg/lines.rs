//! Line charts, with names at the ends of the lines.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{LETTER, integer_ticks, range, tick, widened};
use super::{
    AXIS, Area, DrawResult, Frame, GRID, INK, MARGIN, TEXT, builder, colour, empty_chart_error,
    text_style,
};
use crate::parts::chart::{Line, Lines, thinned};
use crate::parts::text::shortened;

/// Height of a name, in units of the view box.
pub(super) const LABEL: i32 = 16;

impl Frame {
    /// Returns the width for the names at the ends of lines, in units of the view box.
    pub(super) fn label_room(&self, chart: &Lines) -> u32 {
        let names = chart.lines.iter().filter(|_| chart.is_labelled());
        let length = |line: &Line| line.name.chars().count().min(self.label_length);
        names.map(length).max().map_or(0, |length| 14 + LETTER * length as u32)
    }
}

pub(super) fn draw_lines(area: &Area<'_>, frame: &Frame, chart: &Lines) -> DrawResult {
    let points = || chart.lines.iter().flat_map(|line| line.points.iter().copied());
    let levels = chart.levels.iter().map(|level| level.1);
    if chart.lines.iter().all(|line| line.points.len() < 2) {
        return Err(empty_chart_error());
    }
    let places = points().map(|point| point.0);
    let (left, right) = range(places).ok_or_else(empty_chart_error)?;
    // The first intervals can be so wide that the rest of the chart would be too small to see.
    // Therefore the first quarter of the intervals does not affect the range.
    let values = points().map(|point| point.1);
    let middle = range(values.chain(levels)).ok_or_else(empty_chart_error)?;
    let ends =
        |line: &Line| line.band.iter().skip(line.band.len() / 4).copied().collect::<Vec<_>>();
    let band = chart.lines.iter().flat_map(ends).flat_map(|(_, low, high)| [low, high]);
    let (low, high) = widened(range(band.chain([middle.0, middle.1])).unwrap_or(middle));
    let mut context = builder(area, frame.values)
        .margin_right(MARGIN + frame.label_room(chart))
        .build_cartesian_2d(left..right, low..high)?;
    context.draw_series(chart.shades.iter().map(|(from, to)| {
        let corners = [(left, from.clamp(low, high)), (right, to.clamp(low, high))];
        Rectangle::new(corners, INK.mix(0.07).filled())
    }))?;
    context
        .configure_mesh()
        .x_desc(chart.x)
        .y_desc(chart.y.as_str())
        .x_labels(integer_ticks(frame.ticks, right - left))
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .y_labels((frame.height / 30) as usize)
        .x_label_formatter(&|value| tick(*value))
        .y_label_formatter(&|value| tick(*value))
        .label_style(("sans-serif", TEXT, &INK))
        .draw()?;
    for (name, level) in &chart.levels {
        let ends = [(left, *level), (right, *level)];
        context.draw_series(DashedLineSeries::new(ends, 6, 4, INK.stroke_width(1)))?;
        // The name is above the line, slightly to the right of the axis.
        let style = text_style(area, HPos::Left, VPos::Bottom);
        let place = (left + 0.01 * (right - left), *level);
        context.draw_series([Text::new(name.clone(), place, style)])?;
    }
    for (index, line) in chart.lines.iter().enumerate() {
        let colour = colour(line.engine.unwrap_or(index));
        if !line.band.is_empty() {
            let clamp = |value: f64| value.clamp(low, high);
            let band: Vec<_> = thinned(&line.band, frame.points).collect();
            let upper = band.iter().map(|(x, _, top)| (*x, clamp(*top)));
            let lower = band.iter().rev().map(|(x, bottom, _)| (*x, clamp(*bottom)));
            let outline: Vec<_> = upper.chain(lower).collect();
            context.draw_series([Polygon::new(outline, colour.mix(0.18).filled())])?;
        }
        // A line with only one point would be invisible, so the point is drawn as a circle.
        let size = if line.points.len() == 1 { 4 } else { 0 };
        let points = thinned(&line.points, frame.points).copied();
        let series = LineSeries::new(points, colour.stroke_width(2).filled());
        context.draw_series(series.point_size(size))?;
        if let [(x, bottom, top)] = line.band[..] {
            let interval = [bottom, top].map(|end| (x, end.clamp(low, high)));
            context.draw_series([PathElement::new(interval, colour.stroke_width(2))])?;
        }
    }
    if chart.is_labelled() {
        let lines = chart.lines.iter().enumerate();
        let ends = lines.filter_map(|(index, line)| Some((line.points.last()?, index)));
        let ends = ends.map(|(point, index)| (context.backend_coord(point).1, index));
        draw_labels(area, frame, chart, ends.collect())?;
    }
    Ok(frame.values_attribute((left, right), frame.label_room(chart)))
}

/// Draws the names of the lines at the ends of the lines, and moves names that would overlap.
/// `places` contains, for each line, the vertical coordinate of the end and the index of the line.
fn draw_labels(
    area: &Area<'_>,
    frame: &Frame,
    chart: &Lines,
    mut places: Vec<(i32, usize)>,
) -> DrawResult<()> {
    places.sort_unstable();
    let lowest = (frame.height - MARGIN - AXIS) as i32;
    let mut room = lowest;
    for (height, _) in places.iter_mut().rev() {
        *height = (*height).min(room);
        room = *height - LABEL;
    }
    let mut room = MARGIN as i32;
    for (height, line) in places {
        let height = height.max(room);
        room = height + LABEL;
        let Line { name, engine, .. } = &chart.lines[line];
        let at = ((frame.width - frame.label_room(chart)) as i32, height);
        area.draw(&Circle::new(at, 4, colour(engine.unwrap_or(line)).filled()))?;
        let style = text_style(area, HPos::Left, VPos::Center);
        let name = shortened(name, frame.label_length);
        area.draw(&Text::new(name, (at.0 + 8, height), style))?;
    }
    Ok(())
}
