//! Figures as reports write them.

use arbiter_stats::Trinomial;
use arbiter_stats::elo::{Estimate, finite};

/// What stands for a figure that is not defined.
pub(crate) const UNDEFINED: &str = "undefined";

/// An estimate as `+4.1 ± 5.3`, or the word "undefined".
pub fn plus_minus(estimate: Option<Estimate>) -> String {
    let Some(estimate) = estimate else { return UNDEFINED.to_owned() };
    match (estimate.value, estimate.half_width()) {
        // All pairs alike show no spread to judge by; that is not certainty.
        (value, Some(0.0)) => format!("{:+.1}, interval undefined", value + 0.0),
        (value, Some(half)) => format!("{value:+.1} ± {half:.1}"),
        (f64::INFINITY, None) => "undefined (all won)".to_owned(),
        (f64::NEG_INFINITY, None) => "undefined (all lost)".to_owned(),
        (value, None) => format!("{value:+.1}, interval open"),
    }
}

/// An estimate as `+4.1 [-1.2, +9.3]`; an end that is beyond all bounds is open.
pub fn interval(estimate: &Estimate) -> String {
    let shown = |value: f64, beyond: &str| {
        finite(value).map_or(beyond.to_owned(), |value| format!("{value:+.1}"))
    };
    let (low, high) = (shown(estimate.low, "open"), shown(estimate.high, "open"));
    format!("{} [{low}, {high}]", shown(estimate.value, UNDEFINED))
}

/// A share as per cent, or the word "undefined".
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| UNDEFINED.to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// A share with its interval as `62.5 % [58.1, 66.7]`.
pub(crate) fn percent_interval(share: f64, (low, high): (f64, f64)) -> String {
    format!("{:.1} % [{:.1}, {:.1}]", 100.0 * share, 100.0 * low, 100.0 * high)
}

/// Games by result, as `10: 4 won, 3 drawn, 3 lost`.
pub(crate) fn results(games: &Trinomial, unit: &str) -> String {
    let Trinomial { losses, draws, wins } = games;
    format!("{}{unit}: {wins} won, {draws} drawn, {losses} lost", games.games())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_ends_are_shown_as_such() {
        let estimate = Estimate { value: 4.06, low: -1.0, high: f64::INFINITY };
        assert_eq!(interval(&estimate), "+4.1 [-1.0, open]");
        let beyond = f64::INFINITY;
        let estimate = Estimate { value: beyond, low: beyond, high: beyond };
        assert_eq!(interval(&estimate), "undefined [open, open]");
    }
}
