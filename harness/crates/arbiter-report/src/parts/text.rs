//! Formats of values in reports.

use std::cmp::Ordering;
use std::time::Duration;

use arbiter_stats::elo::{Estimate, finite};
use arbiter_stats::sequential::MAX_ELO;
use arbiter_stats::{SprtStatus, Trinomial};

/// Text of an undefined value.
pub(crate) const UNDEFINED: &str = "–";

/// Maximum difference between the lengths of the two sides of an interval that is written with `±`,
/// as a share of the half-width of the interval.
const MAX_SKEW: f64 = 0.25;

/// Formats an estimate as `+4.1 ± 5.3`. Uses [`interval`] instead if the two sides of the interval
/// differ by more than [`MAX_SKEW`] or if the estimate is a bound.
pub(crate) fn plus_minus(estimate: Option<Estimate>) -> String {
    let Some(estimate) = estimate else { return UNDEFINED.to_owned() };
    let skew = estimate.high + estimate.low - 2.0 * estimate.value;
    match estimate.half_width() {
        Some(half_width) if half_width > 0.0 && skew.abs() <= MAX_SKEW * half_width => {
            format!("{} ± {half_width:.1}", signed(estimate.value, 1))
        }
        _ => interval(&estimate),
    }
}

/// Formats an estimate with [`plus_minus`], followed by `(95 %)` if there is an interval or a
/// bound.
pub fn plus_minus_95(estimate: Option<Estimate>) -> String {
    let level = if estimate.as_ref().is_some_and(is_significant) { " (95 %)" } else { "" };
    format!("{}{level}", plus_minus(estimate))
}

/// Formats an estimate as `+4.1 [-1.2, +9.3]`, with `∞` for an infinite end. An infinite estimate
/// is formatted as its finite bound, such as `> +680`.
pub fn interval(estimate: &Estimate) -> String {
    let Estimate { value, low, high } = *estimate;
    let bound = |end: f64, beyond| signed(finite(end).unwrap_or(beyond), 0);
    match value {
        _ if !is_significant(estimate) && value.is_infinite() => UNDEFINED.to_owned(),
        _ if !is_significant(estimate) => format!("{} (no interval)", signed(value, 1)),
        f64::INFINITY => format!("> {}", bound(low, MAX_ELO)),
        f64::NEG_INFINITY => format!("< {}", bound(high, -MAX_ELO)),
        _ => format!("{} {}", signed(value, 1), ends_text(estimate)),
    }
}

/// Formats only the interval of an estimate, as `[-1.2, +9.3]`, with `∞` for an infinite end.
pub(crate) fn ends_text(estimate: &Estimate) -> String {
    let end = |end| match end {
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "-∞".to_owned(),
        end => signed(end, 1),
    };
    format!("[{}, {}]", end(estimate.low), end(estimate.high))
}

/// Returns `true` if an interval or a bound is informative. The following are not informative: an
/// interval without width (all pairs had the same result), an interval without finite ends, and a
/// bound on the wrong side of zero.
pub(crate) fn is_significant(&Estimate { value, low, high }: &Estimate) -> bool {
    match value {
        f64::INFINITY => low > 0.0,
        f64::NEG_INFINITY => high < 0.0,
        _ => low < high && (low.is_finite() || high.is_finite()),
    }
}

/// Formats an LOS (0 to 1), or a bound on the LOS, in per cent. A value that would be rounded to 0
/// or 100 % becomes a bound.
pub(crate) fn superiority(los: Option<f64>, bound: Option<(Ordering, f64)>) -> String {
    let side = match (bound, los) {
        (Some((side, _)), _) => side,
        (None, Some(0.9995..)) => Ordering::Greater,
        (None, Some(..0.0005)) => Ordering::Less,
        (None, _) => return percent(los),
    };
    let value = bound.map(|(_, value)| value).or(los).map(|value| value.clamp(0.001, 0.999));
    format!("{} {}", if side.is_gt() { '>' } else { '<' }, percent(value))
}

/// Formats a number with its sign and `decimals` decimal places; zero has the sign `+`.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    let is_zero = text.bytes().all(|byte| b"-0.".contains(&byte));
    if is_zero { text.replacen('-', "+", 1) } else { text }
}

/// Formats an LLR with its current bounds, as `+1.28 [-2.94, 2.90]`.
pub(crate) fn ratio(SprtStatus { llr, lower, upper, .. }: SprtStatus) -> String {
    format!("{} [{lower:.2}, {upper:.2}]", signed(llr, 2))
}

/// Formats a share (0 to 1) in per cent, with one decimal place.
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| UNDEFINED.to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// Formats a share and its interval (0 to 1) as `62.5 % [58.1, 66.7]`.
pub(crate) fn percent_interval(share: f64, (low, high): (f64, f64)) -> String {
    format!("{:.1} % [{:.1}, {:.1}]", 100.0 * share, 100.0 * low, 100.0 * high)
}

/// Formats games by result, as `10: 4 won, 3 drawn, 3 lost`; `unit` follows the number of games.
pub(crate) fn results(games: &Trinomial, unit: &str) -> String {
    let Trinomial { losses, draws, wins } = games;
    format!("{}{unit}: {wins} won, {draws} drawn, {losses} lost", games.games())
}

/// Shortens a name to at most `room` characters.
pub(crate) fn shortened(name: &str, room: usize) -> String {
    let length = name.chars().count();
    if length <= room {
        return name.to_owned();
    }
    // Similar names, such as names of revisions, differ at the beginning or at the end, so both
    // parts are kept.
    let begin = room - 1 - room / 3;
    let end = length - room / 3;
    name.chars().take(begin).chain(['…']).chain(name.chars().skip(end)).collect()
}

/// Escapes text for Markdown, so that an engine name causes neither markup nor a mention (`@user`)
/// nor a link.
pub(crate) fn escaped(unescaped: &str) -> String {
    let mut text = String::with_capacity(unescaped.len());
    let mut last = ' ';
    let mut rest = unescaped.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        let is_markup = match c {
            '`' | '*' | '~' | '$' => true,
            '\\' => next.is_ascii_punctuation(),
            '<' => next.is_ascii_alphabetic() || "/!?".contains(next),
            '&' => next == '#' || next.is_ascii_alphabetic(),
            // The brackets of an interval remain readable.
            '[' => !next.is_ascii_digit() && !"+-∞".contains(next),
            '(' | ':' if last == ']' => true,
            // Markdown treats an underscore within a word as a letter.
            '_' => !(last.is_alphanumeric() && next.is_alphanumeric()),
            _ => false,
        };
        text.extend(is_markup.then_some('\\'));
        text.push(c);
        // GitHub makes links of `@user`, `#1`, `GH-1`, `http://` and `www.`, and pictures of
        // `:name:`.
        let begins_link = match c {
            '@' => next.is_ascii_alphanumeric(),
            '#' => next.is_ascii_digit() && last != '&',
            '-' => next.is_ascii_digit() && text.to_ascii_lowercase().ends_with("gh-"),
            ':' => next == '/' || next.is_ascii_alphabetic(),
            _ => next == '.' && text.to_ascii_lowercase().ends_with("www"),
        };
        if begins_link {
            text.push_str("<!-- -->");
        }
        last = c;
    }
    text
}

/// Escapes text at the start of a Markdown paragraph or list item, so that the text does not start
/// a heading, block quote, list or horizontal rule.
pub(crate) fn escaped_block(text: &str) -> String {
    let text = escaped(text);
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks: &[&str] =
        if rest.len() < text.len() { &[". ", ") "] } else { &["#", ">", "- ", "+ ", "--"] };
    if marks.iter().any(|mark| rest.starts_with(mark)) {
        let (digits, rest) = text.split_at(text.len() - rest.len());
        return format!("{digits}\\{rest}");
    }
    text
}

/// Formats a Unix time, in milliseconds, as a UTC time in the form of RFC 3339.
pub fn utc_time(unix_ms: i64) -> String {
    utc_time_as(unix_ms, "%Y-%m-%dT%H:%M:%SZ")
}

/// Formats a Unix time, in milliseconds, as a UTC time in the `strftime` format `form`.
pub fn utc_time_as(unix_ms: i64, form: &str) -> String {
    chrono::DateTime::from_timestamp_millis(unix_ms).unwrap_or_default().format(form).to_string()
}

/// Formats a duration roughly: in seconds if the duration is shorter than 100 seconds, and
/// otherwise rounded up to minutes, hours or days.
pub(crate) fn rough(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6_000 => format!("{} min", seconds.div_ceil(60)),
        seconds @ 6_000..360_000 => format!("{} h", seconds.div_ceil(3_600)),
        seconds => format!("{} days", seconds.div_ceil(86_400)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unbounded_intervals_show_infinite_ends() {
        let estimate = Estimate { value: 4.06, low: -1.0, high: f64::INFINITY };
        assert_eq!(interval(&estimate), "+4.1 [-1.0, ∞]");
        assert_eq!(plus_minus(Some(estimate)), interval(&estimate));
        let lopsided = |high| plus_minus(Some(Estimate { value: 800.0, low: 700.0, high }));
        assert_eq!(
            [lopsided(1000.0), lopsided(910.0)],
            ["+800.0 [+700.0, +1000.0]", "+800.0 ± 105.0"]
        );
        let beyond = f64::INFINITY;
        let estimate = Estimate { value: beyond, low: beyond, high: beyond };
        assert_eq!(interval(&estimate), "> +1000");
    }

    #[test]
    fn perfect_scores_are_shown_as_bounds() {
        let beyond = f64::INFINITY;
        let won = Estimate { value: beyond, low: 680.4, high: beyond };
        assert_eq!([plus_minus_95(Some(won)), interval(&won)], ["> +680 (95 %)", "> +680"]);
        let lost = Estimate { value: -beyond, low: -beyond, high: -0.2 };
        assert_eq!(plus_minus(Some(lost)), "< +0");
        let lost = Estimate { high: 636.4, ..lost };
        assert_eq!(plus_minus_95(Some(lost)), "–");
        let won = Estimate { low: -636.4, ..won };
        assert_eq!(interval(&won), "–");
        let los = |los, bound| superiority(los, bound);
        let (most, least) = (|at| Some((Ordering::Less, at)), |at| Some((Ordering::Greater, at)));
        assert_eq!(los(None, least(0.9375)), "> 93.8 %");
        assert_eq!(los(Some(0.9999), least(0.875)), "> 87.5 %");
        assert_eq!(los(None, most(0.0625)), "< 6.2 %");
        assert_eq!([los(None, least(0.5)), los(None, most(0.5))], ["> 50.0 %", "< 50.0 %"]);
        assert_eq!([los(None, least(1.0)), los(None, most(0.0))], ["> 99.9 %", "< 0.1 %"]);
        assert_eq!([los(Some(1.0), None), los(Some(0.0), None)], ["> 99.9 %", "< 0.1 %"]);
        assert_eq!([los(Some(0.9994), None), los(Some(0.0006), None)], ["99.9 %", "0.1 %"]);
        assert_eq!([los(Some(0.5), None), los(None, None)], ["50.0 %", "–"]);
    }

    #[test]
    fn values_near_zero_have_no_minus() {
        assert_eq!([signed(-0.04, 1), signed(-0.06, 1), signed(0.0, 2)], ["+0.0", "-0.1", "+0.00"]);
        let even = Estimate { value: -0.01, low: -3.04, high: 3.02 };
        assert_eq!(plus_minus_95(Some(even)), "+0.0 ± 3.0 (95 %)");
        let even = Estimate { value: -0.0, low: -0.0, high: -0.0 };
        assert_eq!(plus_minus_95(Some(even)), "+0.0 (no interval)");
        let open = Estimate { value: 0.0, low: -f64::INFINITY, high: f64::INFINITY };
        assert_eq!(plus_minus_95(Some(open)), "+0.0 (no interval)");
    }

    #[test]
    fn names_are_escaped_in_markdown() {
        for (text, expected) in [
            ("@user[x](http://e)<img src=x>", r"@<!-- -->user\[x]\(http:<!-- -->//e)\<img src=x>"),
            ("a &#64;b ~~x~~ www.e.f & c", r"a \&#64;b \~\~x\~\~ www<!-- -->.e.f & c"),
            ("[1]: $x$ &lt; [-∞, ∞]", r"[1]\: \$x\$ \&lt; [-∞, ∞]"),
            ("*a* `b` _c_ d_e", r"\*a\* \`b\` \_c\_ d_e"),
            (r"\<b> </b>", r"\\\<b> \</b>"),
            ("+4.1 [-1.2, +9.3], < +636, a @ b", "+4.1 [-1.2, +9.3], < +636, a @ b"),
            ("o/r#1 GH-3 :a: #b", "o/r#<!-- -->1 GH-<!-- -->3 :<!-- -->a: #b"),
        ] {
            assert_eq!(escaped(text), expected);
        }
        for (text, expected) in [
            ("# H", r"\# H"),
            ("> *q*", r"\> \*q\*"),
            ("- l", r"\- l"),
            ("---", r"\---"),
            ("12. l", r"12\. l"),
            ("12 l", "12 l"),
            ("-12.5 > #1", "-12.5 > #<!-- -->1"),
        ] {
            assert_eq!(escaped_block(text), expected);
        }
    }

    #[test]
    fn durations_are_rough() {
        let shown = [5, 99, 100, 7_000, 400_000].map(|s| rough(Duration::from_secs(s)));
        assert_eq!(shown, ["5 s", "99 s", "2 min", "2 h", "5 days"]);
    }
}
