//! Data in PGN comments: evaluations, the time of a move and the ending of the game.

use memchr::memchr3;

use arbiter_pgn::{Evaluation, command, evaluation};
use arbiter_stats::EvaluationBuckets;

/// Returns whether a comment marks a book move, as in `book`, `(Book)`, `book, mb=+0,` and
/// `book 0.000s`, or the last book move, as in `Both last book move` (ChessBase).
pub(crate) fn is_book(comment: &[u8]) -> bool {
    let text = comment.trim_ascii();
    let begin = text.strip_prefix(b"(").unwrap_or(text);
    let (word, after) = begin.split_at_checked(4).unwrap_or_default();
    let is_sentence = after.trim_ascii_start().first().is_some_and(u8::is_ascii_alphabetic);
    let end = &text[text.len().saturating_sub(14)..];
    word.eq_ignore_ascii_case(b"book") && !is_sentence
        || end.eq_ignore_ascii_case(b"last book move")
}

/// Returns the time of a move, in milliseconds, from the comment on the move; `None` if the comment
/// contains no time. The time can be a number followed by `s` or `ms`, as in `+0.31/12 0.123s`; a
/// number of milliseconds, as in `mt=123`; or a clock, as in `mt=00:02:03` and `[%emt 0:00:01.5]`.
pub(crate) fn time_ms(comment: &[u8]) -> Option<f64> {
    let has_commands = matches!(comment, [b'[', ..] | [b' ', b'[', ..]);
    let written = if has_commands { None } else { written_time(comment) };
    written.or_else(|| clock_ms(command(comment, b"[%emt")?))
}

fn written_time(comment: &[u8]) -> Option<f64> {
    // A long comment has the time near its start, so only the first 200 bytes are searched.
    let mut rest = &comment[..comment.len().min(200)];
    loop {
        if let Some(time) = rest.strip_prefix(b"mt=") {
            let time =
                &time[..time.iter().take_while(|byte| b"0123456789:.".contains(byte)).count()];
            let scale = if time.contains(&b':') { 1.0 } else { 1000.0 };
            return clock_ms(time).map(|time| time / scale);
        }
        if let Some(time) = number_with_unit(rest) {
            return Some(time);
        }
        let (word, after) = rest.split_at(memchr3(b' ', b'\t', b'\n', rest)?);
        // In a sentence, such a number has another meaning, as in `since the 1990s`.
        if word.len() > 1 && word.iter().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        rest = &after[1..];
    }
}

/// Parses a time at the start of `text`, such as `0.123s` or `123ms`, and returns the milliseconds.
/// The parser of the standard library would take three times as long, which matters because files
/// contain a time for each move.
fn number_with_unit(text: &[u8]) -> Option<f64> {
    let mut digits = 0u64;
    let mut point = None;
    for (at, byte) in text.iter().enumerate().take(POWERS.len()) {
        match byte {
            b'0'..=b'9' => digits = 10 * digits + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(at),
            b's' | b'm' if at > 0 => {
                let decimals = point.map_or(0, |point| at - point - 1);
                let (scale, after) = match &text[at..] {
                    [b's', after @ ..] => (1000.0, after),
                    [b'm', b's', after @ ..] => (1.0, after),
                    _ => return None,
                };
                let ends = after.first().is_none_or(|byte| b" \t\n,;)".contains(byte));
                return ends.then_some(scale * (digits as f64 / POWERS[decimals]));
            }
            _ => return None,
        }
    }
    None
}

/// Powers of ten. The length of the array limits the number of digits that [`number_with_unit`]
/// parses. Integers of up to fifteen digits and these powers are exact in an `f64`, so the quotient
/// of such an integer and a power is bit-identical to the result of the standard library.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Returns the milliseconds of a clock: hours, minutes and seconds, or fewer of these.
fn clock_ms(clock: &[u8]) -> Option<f64> {
    let mut seconds = 0.0;
    for part in str::from_utf8(clock).ok()?.split(':') {
        let value: f64 = part.parse().ok()?;
        seconds = 60.0 * seconds + value;
    }
    // The parser of the standard library also accepts infinity, which would make a sum of times
    // infinite.
    (0.0..1e9).contains(&seconds).then_some(1000.0 * seconds)
}

/// Beginnings of endings, after the side, in comments that contain no data.
const ENDINGS: &str = "by, checkmated, connection, disconnects, drawn, forfeits, loses on, \
                       makes an illegal, mates, ran out, resigns, wins by, wins on";

/// Returns the text (such as `White mates`) that follows the data of the last move in a comment, or
/// a comment that contains only such a text (XBoard, Lichess, games of cutechess-cli without
/// moves). The data have the form `, name=value`; a value in quotation marks may contain all
/// characters except quotation marks. A sentence that contains a comma is no ending.
pub(crate) fn ending(comment: &str) -> Option<&str> {
    let text = comment.strip_suffix('.').unwrap_or(comment);
    let is_ending = text.split_once(' ').is_some_and(|(side, rest)| {
        let begins =
            |word: &str| rest.get(..word.len()).is_some_and(|w| w.eq_ignore_ascii_case(word));
        ["White", "White's", "Black", "Black's", "Game", "Draw"].contains(&side)
            && ENDINGS.split(", ").any(begins)
    });
    if is_ending {
        return Some(text);
    }
    let (data, mut rest) = comment.split_once(", ")?;
    let is_word = |word: &str| word.len() > 2 && word.chars().all(char::is_alphabetic);
    if !data.eq_ignore_ascii_case("book") && data.split(' ').any(is_word) {
        return None;
    }
    loop {
        let name = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let Some(value) = rest[name..].strip_prefix('=').filter(|_| name > 0) else {
            return Some(rest).filter(|rest| rest.starts_with(char::is_alphabetic));
        };
        let quoted = value.strip_prefix('"').and_then(|text| text.find('"'));
        rest = value[quoted.map_or(0, |length| length + 2)..].split_once(", ")?.1;
    }
}

/// Evaluations of both sides in one game.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Evaluations {
    /// Evaluations of the side that moved first and of the other side, each from the point of view
    /// of that side.
    side_relative: [EvaluationBuckets; 2],
    /// Evaluations of the side that moved first and of the other side, from White's point of view.
    white_relative: [EvaluationBuckets; 2],
}

impl Evaluations {
    /// Adds the evaluation in a comment after `plies` plies.
    pub(crate) fn add(&mut self, comment: &[u8], plies: u32) {
        // A comment before the first move belongs to no player.
        let Some(last) = plies.checked_sub(1) else { return };
        let side = (last & 1) as usize;
        match evaluation(comment) {
            Some(Evaluation::Own(centipawns)) => self.side_relative[side].add(centipawns),
            Some(Evaluation::OfWhite(centipawns)) => self.white_relative[side].add(centipawns),
            None => {}
        }
    }

    /// Returns the evaluations of White and of Black, each from that side's point of view.
    pub(crate) fn by_colour(self, is_black_first: bool) -> [EvaluationBuckets; 2] {
        let [white, black] = if is_black_first { [1, 0] } else { [0, 1] };
        [
            self.side_relative[white].with(self.white_relative[white]),
            // A score from White's point of view has the opposite sign for Black.
            self.side_relative[black].with(self.white_relative[black].mirrored()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn book_moves_are_marked_in_several_forms() {
        let marks = ["book", " Book ", "(Book)", "book, mb=+0+0,", "book 0.000s", "book [%emt 0]"];
        for comment in marks.into_iter().chain(["Both last book move", "Last book move"]) {
            assert!(is_book(comment.as_bytes()), "{comment}");
        }
        for comment in ["bookish", "a book", "", "out of book", "book move", "boo"] {
            assert!(!is_book(comment.as_bytes()), "{comment}");
        }
    }

    #[test]
    fn times_are_read_in_several_forms() {
        let check = |comment: &str, expected: Option<f64>| {
            assert_eq!(time_ms(comment.as_bytes()), expected, "{comment}");
        };
        check("+0.31/12 0.25s", Some(250.0));
        check("0.25s", Some(250.0));
        check("+0.31/12 2s, Draw by rule", Some(2000.0));
        check(" [%emt 0:01:00.5]", Some(60_500.0));
        check(" [%clk 0:05:00] ", None);
        check("+0.25/12 1200ms", Some(1200.0));
        check("+0.25/12\n1.2s", Some(1200.0));
        check("+0.25/12\t1.2s\t", Some(1200.0));
        check("(+M5/9 1s)", Some(1000.0));
        check("d=30, sd=40, mt=5000, tl=1", Some(5000.0));
        check(" ev=0.00, d=1, mt=00:02:03, tl=01:57:00", Some(123_000.0));
        check("[%emt\n0:00:05]", Some(5000.0));
        check("mt=00:00:31.5, tl=1", Some(31_500.0));
        check("(e7e5 Ng1f3) +0.25/16 23s", Some(23_000.0));
        check("popular in the 1990s", None);
        check("mt=, tl=1", None);
        check("text [%emt 0:00:05]", Some(5000.0));
        check("5 mt=", None);
        check("5m", None);
        check("a move of class", None);
        check("+0.31/12", None);
        check("1.2.3s", None);
        check("", None);
    }

    #[test]
    fn evaluations_are_from_the_point_of_view_of_their_side() {
        let mut evaluations = Evaluations::default();
        evaluations.add(b"+1.00/9", 0);
        evaluations.add(b"+1.00/9", 1);
        evaluations.add(b"[%eval 2.0]", 1);
        evaluations.add(b"-3.00/9", 2);
        evaluations.add(b"[%eval 2.0]", 2);
        let buckets = |pawns: &[f64]| {
            let mut buckets = EvaluationBuckets::default();
            pawns.iter().for_each(|pawns| buckets.add(100.0 * pawns));
            buckets
        };
        assert_eq!(evaluations.by_colour(false), [buckets(&[1.0, 2.0]), buckets(&[-3.0, -2.0])]);
        assert_eq!(evaluations.by_colour(true), [buckets(&[-3.0, 2.0]), buckets(&[1.0, -2.0])]);
    }
}
