//! Head of a run's page: the main values, with pictures. Horizontal positions are percentages, so
//! that a picture fills the available width.

use arbiter_stats::elo::Estimate;
use maud::{Markup, html};

use super::minus_signs;
use crate::parts::{Gauge, Picture, is_bound};

/// Positions of both ends of an axis, in per cent of the width; the remaining width is reserved for
/// labels next to the axis.
const ENDS: (f64, f64) = (8.0, 92.0);

/// Minimum distance between zero and a hypothesis, in per cent of the width, at which the labels do
/// not overlap.
const ROOM: f64 = 14.0;

/// Draws the values in a row. The pictures are hidden from screen readers, because the text
/// contains the same values.
pub(super) fn head(gauges: &[Gauge]) -> Markup {
    html! {
        dl class="head" { @for gauge in gauges {
            div {
                dt { (gauge.name) }
                dd class="value" { (minus_signs(&gauge.value)) }
                dd {
                    svg aria-hidden="true" width="100%" height="44" { (match &gauge.picture {
                        Picture::Interval { estimate, hypotheses } => interval(estimate, *hypotheses),
                        Picture::Progress { value, bounds } => progress(*value, *bounds),
                        Picture::Shares(counts) => shares(counts),
                    }) }
                }
                dd class="note" { (minus_signs(&gauge.note)) }
            }
        } }
    }
}

/// Formats a position in per cent of the width.
fn at(place: f64) -> String {
    format!("{place:.2}%")
}

fn interval(Estimate { value, low, high }: &Estimate, hypotheses: Option<[f64; 2]>) -> Markup {
    let shown = [*value, *low, *high, 0.0].into_iter().chain(hypotheses.into_iter().flatten());
    let (least, most) = shown
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let place = |value: f64| {
        // The minimum prevents a division by 0 if all values are equal.
        let share = (value.clamp(least, most) - least) / (most - least).max(f64::MIN_POSITIVE);
        ENDS.0 + (ENDS.1 - ENDS.0) * share
    };
    let zero = place(0.0);
    let is_clear = hypotheses
        .is_none_or(|[elo0, elo1]| zero < place(elo0) - ROOM || zero > place(elo1) + ROOM);
    let is_bound = is_bound(*value, *low, *high);
    // An interval with an infinite end extends to the edge.
    let ends = [(*low, 0.0), (*high, 100.0)];
    let [left, right] = ends.map(|(end, edge)| if end.is_finite() { place(end) } else { edge });
    html! {
        @if let Some([elo0, elo1]) = hypotheses {
            @let (from, to) = (place(elo0), place(elo1));
            rect class="shade" x=(at(from)) y="2" width=(at((to - from).max(0.5))) height="24" {}
            @if to - from < ROOM / 2.0 {
                text x=(at((from + to) / 2.0)) y="38" text-anchor="middle" { "H0, H1" }
            } @else {
                text x=(at(from)) y="38" text-anchor="end" { "H0" }
                text x=(at(to)) y="38" { "H1" }
            }
        }
        line class="zero" x1=(at(zero)) y1="2" x2=(at(zero)) y2="26" {}
        @if is_clear { text x=(at(zero)) y="38" text-anchor="middle" { "0" } }
        line class="axis" x1="0" y1="26" x2="100%" y2="26" {}
        line class="whole" x1=(at(left)) y1="14" x2=(at(right)) y2="14" {}
        @if *low == f64::NEG_INFINITY { (arrow("0", "M0 14l9 -5v10z")) }
        @if *high == f64::INFINITY { (arrow("100%", "M0 14l-9 -5v10z")) }
        @if !is_bound {
            circle cx=(at(place(*value))) cy="14" r="5" {}
        } @else {
            // A bound has no value except its finite end.
            @for (end, _) in ends.iter().filter(|(end, _)| end.is_finite()) {
                line class="whole" x1=(at(place(*end))) y1="8" x2=(at(place(*end))) y2="20" {}
            }
        }
    }
}

fn arrow(x: &str, path: &str) -> Markup {
    html! { svg x=(x) overflow="visible" { path d=(path) {} } }
}

fn progress(value: f64, [lower, upper]: [f64; 2]) -> Markup {
    let place = |value: f64| 100.0 * (value.clamp(lower, upper) - lower) / (upper - lower);
    let (zero, end) = (place(0.0), place(value));
    html! {
        rect class="room" x="0" y="6" width="100%" height="16" {}
        rect class=(if value < 0.0 { "worst" } else { "best" }) x=(at(zero.min(end))) y="6"
            width=(at((end - zero).abs())) height="16" {}
        line class="zero" x1=(at(zero)) y1="2" x2=(at(zero)) y2="26" {}
        @if lower < 0.0 {
            text x="0" y="38" { "H0" }
            text x=(at(zero)) y="38" text-anchor="middle" { "0" }
            text x="100%" y="38" text-anchor="end" { "H1" }
        }
    }
}

/// Draws the counts as parts of a bar, with the best results on the left.
fn shares(counts: &[u64; 5]) -> Markup {
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let parts = counts.iter().zip(["worst", "worse", "even", "better", "best"]).rev();
    let parts = parts.scan(0.0, |end, (count, class)| {
        let share = 100.0 * *count as f64 / all;
        *end += share;
        Some((class, *end - share, share))
    });
    html! { @for (class, from, share) in parts.filter(|(_, _, share)| *share > 0.0) {
        rect class=(class) x=(at(from)) y="6" width=(at(share)) height="20" {}
    } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture_html(picture: Picture) -> String {
        let (name, value, note) = ("Elo".to_owned(), "+1.0".to_owned(), "<b>".to_owned());
        head(&[Gauge { name, value, note, picture }]).into_string()
    }

    #[test]
    fn a_bound_is_an_arrow_and_an_estimate_a_dot() {
        let estimate = Estimate { value: 4.0, low: -2.0, high: 10.0 };
        let both = picture_html(Picture::Interval { estimate, hypotheses: Some([0.0, 5.0]) });
        assert!(both.contains("<circle cx=\"50.00%\"") && !both.contains("<path"), "{both}");
        assert!(both.contains(">H0<") && both.contains(">H1<") && !both.contains(">0<"), "{both}");
        assert!(both.contains("&lt;b&gt;"), "{both}");
        let estimate = Estimate { value: -400.0, low: f64::NEG_INFINITY, high: -400.0 };
        let bound = picture_html(Picture::Interval { estimate, hypotheses: None });
        assert!(!bound.contains("<circle") && bound.contains("M0 14l9 "), "{bound}");
        assert!(bound.contains(">0<") && !bound.contains("NaN"), "{bound}");
    }

    #[test]
    fn bar_lengths_match_their_values() {
        let bar = picture_html(Picture::Shares([1, 0, 1, 0, 2]));
        let best = "<rect class=\"best\" x=\"0.00%\" y=\"6\" width=\"50.00%\"";
        assert!(bar.contains(best) && bar.matches("<rect").count() == 3, "{bar}");
        let llr = picture_html(Picture::Progress { value: -1.0, bounds: [-2.0, 2.0] });
        assert!(llr.contains("class=\"worst\" x=\"25.00%\" y=\"6\" width=\"25.00%\""), "{llr}");
    }
}
