//! A summary of the movetext for ratings: plies, time used, the opening, the result.

use std::ops::Range;

use memchr::memchr;

/// Summary of a movetext.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct MovetextSummary<'a> {
    /// Half-moves.
    pub plies: u32,
    /// Time used by the side that moved first and by the other, in milliseconds.
    pub time_ms: [f64; 2],
    /// Moves of each side with a time beside them.
    pub timed: [u32; 2],
    /// The result at the end, if there is one.
    pub result: Option<&'a [u8]>,
    /// Text of the last comment.
    pub last_comment: &'a [u8],
    /// Whether the text ends inside a comment.
    pub is_cut: bool,
    /// Where the moves end that come from a book, marked so or the first `limit`.
    pub opening_end: usize,
}

/// Summarizes the movetext of a game. If no move is marked as a book move, the opening is the first `limit`
/// half-moves. `on_move` is told of each move outside variations, and where in the text it begins;
/// `on_comment` of each comment there, and how many half-moves are before it.
pub(crate) fn summarize<'a>(
    text: &'a [u8],
    limit: u32,
    mut on_move: impl FnMut(&'a [u8], usize),
    mut on_comment: impl FnMut(&'a [u8], u32),
) -> MovetextSummary<'a> {
    let mut summary = MovetextSummary::default();
    let mut book_end = None;
    let mut at = 0;
    while at < text.len() {
        let open = memchr(b'{', &text[at..]).map_or(text.len(), |offset| at + offset);
        at = between_comments(text, at..open, limit, &mut summary, &mut on_move);
        // Behind a variation or a comment to the end of the line, everything is looked at anew.
        if at != open || open == text.len() {
            continue;
        }
        let close = memchr(b'}', &text[open..]).map_or(text.len(), |offset| open + offset);
        let comment = &text[open + 1..close];
        summary.last_comment = comment;
        on_comment(comment, summary.plies);
        summary.is_cut = close == text.len();
        at = close + 1;
        if let Some(time) = time_ms(comment) {
            let side = (summary.plies.wrapping_sub(1) & 1) as usize;
            summary.time_ms[side] += time;
            summary.timed[side] += 1;
        } else if comment.trim_ascii() == b"book" {
            book_end = Some(open);
        }
    }
    if let Some(end) = book_end {
        summary.opening_end = end;
    }
    summary
}

/// Counts the half-moves in a part of `text` that holds no comment in braces, and finds a result
/// there. Returns where to go on: the end of the part, or behind a comment to the end of the line
/// or a variation.
fn between_comments<'a>(
    text: &'a [u8],
    part: Range<usize>,
    limit: u32,
    summary: &mut MovetextSummary<'a>,
    on_move: &mut impl FnMut(&'a [u8], usize),
) -> usize {
    let Range { start: mut at, end: to } = part;
    while at < to {
        match text[at] {
            b' ' | b'\n' | b'\r' | b'\t' | b'.' | b'$' => at += 1,
            b';' => return memchr(b'\n', &text[at..]).map_or(text.len(), |offset| at + offset),
            b'(' => return after_variation(text, at),
            first => {
                let length = text[at..to].iter().take_while(|byte| is_word(**byte)).count().max(1);
                let word = &text[at..at + length];
                let start = at;
                at += length;
                // Some write castling with zeros.
                if first.is_ascii_alphabetic() || word.starts_with(b"0-0") {
                    on_move(word, start);
                    summary.plies += 1;
                    if summary.plies <= limit {
                        summary.opening_end = at;
                    }
                } else if matches!(word, b"1-0" | b"0-1" | b"1/2-1/2" | b"*") {
                    summary.result = Some(word);
                }
            }
        }
    }
    to
}

fn is_word(byte: u8) -> bool {
    !matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'.' | b';' | b'(' | b'{')
}

/// The end of the variation that opens at `from`.
fn after_variation(text: &[u8], from: usize) -> usize {
    let mut depth = 0u32;
    let mut at = from;
    while at < text.len() {
        match text[at] {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b'{' => at = memchr(b'}', &text[at..]).map_or(text.len(), |offset| at + offset),
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// The time in a comment: a number followed by "s", as in `+0.31/12 0.123s`, or `[%emt 0:00:01.5]`.
fn time_ms(comment: &[u8]) -> Option<f64> {
    // Usual comments are short; long ones begin with the same things.
    let comment = &comment[..comment.len().min(200)];
    if comment.first() == Some(&b'[') || comment.starts_with(b" [") {
        return elapsed_move_time(comment);
    }
    let mut from = 0;
    while let Some(offset) = memchr(b's', &comment[from..]) {
        let end = from + offset;
        let is_end = comment.get(end + 1).is_none_or(|byte| matches!(byte, b' ' | b',' | b';'));
        if is_end && let Some(seconds) = number_before(&comment[..end]) {
            return Some(1000.0 * seconds);
        }
        from = end + 1;
    }
    None
}

/// Powers of ten, as many as a number has digits at most.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The decimal number at the end of `text`, after a space or at its start. Games have one for each
/// move, and the parser of the standard library takes three times as long.
fn number_before(text: &[u8]) -> Option<f64> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let digits = text.iter().rev().take_while(|byte| is_part(byte)).count();
    let (before, number) = text.split_at(text.len() - digits);
    if digits == 0 || digits >= POWERS.len() || before.last().is_some_and(|byte| *byte != b' ') {
        return None;
    }
    let (mut whole, mut decimals) = (0u64, None);
    for byte in number {
        match (byte, decimals) {
            (b'.', None) => decimals = Some(0),
            (b'.', Some(_)) => return None,
            (digit, _) => {
                whole = 10 * whole + u64::from(digit - b'0');
                decimals = decimals.map(|count| count + 1);
            }
        }
    }
    Some(whole as f64 / POWERS[decimals.unwrap_or(0)])
}

fn elapsed_move_time(comment: &[u8]) -> Option<f64> {
    let start = memchr::memmem::find(comment, b"[%emt ")? + 6;
    let end = start + memchr(b']', &comment[start..])?;
    let clock = std::str::from_utf8(&comment[start..end]).ok()?;
    let mut seconds = 0.0;
    for part in clock.trim().split(':') {
        let value: f64 = part.parse().ok()?;
        seconds = 60.0 * seconds + value;
    }
    (0.0..1e9).contains(&seconds).then_some(1000.0 * seconds)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_for_the_side_that_moved() {
        let text = b"1. e4 {+0.31/12 0.5s} e5 {-0.2/9 1.25s}\n2. Nf3 {book} Nc6 (2... d6 {9s})\n\
                     3. Bb5 $1 {+M5/9 0.001s, White mates} 1-0\n";
        let mut moves = Vec::new();
        let summary = summarize(text, 2, |word, at| moves.push((word, at)), |_, _| ());
        assert_eq!(moves[..2], [(&b"e4"[..], 3), (&b"e5"[..], 22)]);
        assert_eq!(moves.len(), 5);
        assert_eq!(summary.plies, 5);
        assert_eq!(summary.timed, [2, 1]);
        assert!((summary.time_ms[0] - 501.0).abs() < 1e-9);
        assert!((summary.time_ms[1] - 1250.0).abs() < 1e-9);
        assert_eq!(summary.result, Some(&b"1-0"[..]));
        assert_eq!(summary.last_comment, b"+M5/9 0.001s, White mates");
    }

    #[test]
    fn the_opening_is_what_is_marked_or_the_first_moves() {
        let opening = |text: &'static [u8]| {
            let end = summarize(text, 3, |_, _| (), |_, _| ()).opening_end;
            std::str::from_utf8(&text[..end]).unwrap().trim()
        };
        assert_eq!(opening(b"1. e4 e5 2. Nf3 Nc6 3. Bb5 *"), "1. e4 e5 2. Nf3");
        assert_eq!(opening(b"1. d4 {book} d5 {book} 2. c4 {0.1/9 2s} *"), "1. d4 {book} d5");
        assert_eq!(opening(b""), "");
    }

    #[test]
    fn a_comment_without_end_is_seen() {
        assert!(summarize(b"1. e4 {0.1/9 1s} e5 {never ends 1-0", 3, |_, _| (), |_, _| ()).is_cut);
        assert!(!summarize(b"1. e4 {0.1/9 1s} e5 {ends} 1-0", 3, |_, _| (), |_, _| ()).is_cut);
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
        check("a move of class", None);
        check("+0.31/12", None);
        check("1.2.3s", None);
        check("", None);
    }

    #[test]
    fn nothing_panics() {
        for text in ["{", "}", "(", ")", "((", "{}{", "; c", "1. e4 {", ") {s} s", "{[%emt :]}"] {
            summarize(text.as_bytes(), 4, |_, _| (), |_, _| ());
        }
    }
}
