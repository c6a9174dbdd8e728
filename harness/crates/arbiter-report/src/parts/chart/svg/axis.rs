//! Axes of a chart: ends, ticks and numbers.

/// Mean width of a character, in units of the view box.
pub(super) const LETTER: u32 = 7;

/// Returns the minimum and maximum of the finite values, extended by a margin; `None` if there are
/// no finite values.
pub(super) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
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

/// Widens a range to at least 1 % of its largest absolute value. About four digits then distinguish
/// the ticks; longer numbers do not fit next to the axis.
pub(super) fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let lacking = 0.01 * low.abs().max(high.abs()) - (high - low);
    if lacking > 0.0 { (low - lacking / 2.0, high + lacking / 2.0) } else { (low, high) }
}

/// Returns the number of ticks on an axis of counts: at most `ticks`, and few enough for integer
/// steps.
pub(super) fn integer_ticks(ticks: usize, span: f64) -> usize {
    ticks.min(span as usize + 1)
}

/// Returns the step from one labelled segment to the next on an axis whose segments are `room`
/// units wide.
pub(super) fn every_nth(labels: &[String], room: u32) -> usize {
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    (longest as u32 * LETTER).div_ceil(room.max(1)).max(1) as usize
}

/// Formats the value of a bar, with about two significant digits.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{:.1} M", value / 1e6),
        v if v >= 1e4 => format!("{:.0} k", value / 1e3),
        v if v >= 10.0 => format!("{value:.0}"),
        v if v >= 1.0 => trimmed(value, 1),
        _ => trimmed(value, 2),
    }
}

/// Formats the value of a tick, with enough digits to distinguish neighbouring ticks.
pub(super) fn tick(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => format!("{} M", trimmed(value / 1e6, 4)),
        v if v >= 1e4 => format!("{} k", trimmed(value / 1e3, 4)),
        _ => trimmed(value, 4),
    }
}

/// Formats a number with at most `decimals` decimal places.
fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}
