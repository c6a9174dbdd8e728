//! Evaluations in comments.
//!
//! In `+0.31/12 0.5s` and `-M3/9` (cutechess, fastchess, Arbiter), the evaluation is from the point
//! of view of the side that moved. In `[%eval 0.31]` and `[%eval #-3]` (Lichess), in `wv=0.31`
//! (TCEC) and in `[%eval 31,12]` (ChessBase), the evaluation is from White's point of view.
//! ChessBase and c-chess-cli (`31/12`) write centipawns without a decimal point; the other
//! programs write pawns.

use memchr::{memchr, memmem};

/// Number of bytes at the start of a comment that are searched for an evaluation.
const MAX_COMMENT: usize = 200;

/// Maximum length of a plausible evaluation, in characters.
const MAX_LENGTH: usize = 12;

/// Evaluation in centipawns; ±∞ for a mate score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Evaluation {
    /// Evaluation from the point of view of the side that moved.
    Own(f64),
    /// Evaluation from White's point of view.
    OfWhite(f64),
}

impl Evaluation {
    /// Returns whether the evaluation is a mate score, for either side.
    pub fn is_mate(self) -> bool {
        let (Evaluation::Own(centipawns) | Evaluation::OfWhite(centipawns)) = self;
        centipawns.is_infinite()
    }
}

/// Returns the evaluation in a comment; `None` if the comment contains no evaluation.
pub fn evaluation(comment: &[u8]) -> Option<Evaluation> {
    let start = &comment[..comment.len().min(MAX_COMMENT)];
    if let Some(text) = command(start, b"[%eval") {
        let end = text.iter().position(|byte| b",/".contains(byte)).unwrap_or(text.len());
        // ChessBase writes the depth after a comma.
        return number(&text[..end], text[end..].starts_with(b",")).map(Evaluation::OfWhite);
    }
    let text = start.trim_ascii();
    let in_parentheses = text.strip_prefix(b"(");
    let text = in_parentheses.unwrap_or(text);
    let (written, after) =
        text.split_at(text.iter().position(|byte| ends_number(*byte)).unwrap_or(text.len()));
    let has = |marks: &[u8]| written.iter().any(|byte| marks.contains(byte));
    let is_number = match (written, after.trim_ascii_start()) {
        // Arbiter and other programs write `0.00/0` for a move without a score, and a comment may
        // repeat the result, `1/2-1/2`.
        (b"0.00", [b'/', b'0', ..]) | (b"1", [b'/', b'2']) => false,
        // Dates, and positions in FEN, contain such numbers, too.
        (_, [b'/', depth @ ..]) => has(b"+-.M#") || is_depth(depth),
        // A decimal comma divides the number: `+0,31/12`.
        (_, [b',', b'0'..=b'9', ..]) => has(b".M#"),
        // Lichess writes `(0.14 → 0.80)`, from the point of view of White, before the evaluation.
        (_, [first, ..]) if !first.is_ascii() => false,
        // A number without a sign has another meaning before a word, as in `2.5 hours`.
        (_, [first, ..]) if first.is_ascii_alphabetic() => has(b"+-M#"),
        _ => has(b"+-.M#"),
    };
    let own = number(written, after.starts_with(b"/")).filter(|_| is_number).map(Evaluation::Own);
    // Arena writes the variation before the evaluation: `(e7e5 Ng1f3) +0.31/12`.
    let behind = || in_parentheses.and_then(|text| evaluation(&text[memchr(b')', text)? + 1..]));
    own.or_else(behind).or_else(|| white_value(comment))
}

/// Returns whether a text is a depth, which a time may follow.
fn is_depth(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && matches!(&text[digits..], [] | [b' ' | b'\n', b'0'..=b'9', ..])
}

/// Returns the evaluation in the form of TCEC (`wv=0.31`). The complete comment is searched,
/// because the evaluation may follow a long variation.
fn white_value(comment: &[u8]) -> Option<Evaluation> {
    let at = memmem::find(comment, b"wv=")?;
    let text = &comment[at + "wv=".len()..];
    let end = text.iter().position(|byte| ends_number(*byte)).unwrap_or(text.len());
    let is_name = at == 0 || comment[at - 1].is_ascii_whitespace();
    number(&text[..end], false).filter(|_| is_name).map(Evaluation::OfWhite)
}

/// Returns the value of a command that is embedded in a comment, such as `[%emt 0:00:05]`; `name`
/// includes the characters `[%`. A line may end after the name.
pub fn command<'c>(comment: &'c [u8], name: &[u8]) -> Option<&'c [u8]> {
    // Most comments contain no command, and the search for one byte is faster.
    let commands = &comment[memchr(b'[', comment)?..];
    let after = &commands[memmem::find(commands, name)? + name.len()..];
    let value = &after[..memchr(b']', after)?];
    value.first()?.is_ascii_whitespace().then(|| value.trim_ascii())
}

fn ends_number(byte: u8) -> bool {
    b"/,)".contains(&byte) || byte.is_ascii_whitespace()
}

/// Converts pawns to centipawns, and the mate scores `M5`, `-M3` and `#-3` to ±∞. If `has_depth` is
/// `true`, a number without a decimal point is in centipawns.
fn number(text: &[u8], has_depth: bool) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'M' | '#');
    // A number with a full stop at its end is the number of a move.
    let is_complete = text.ends_with(|c: char| c.is_ascii_digit());
    if text.len() > MAX_LENGTH || !is_complete || !text.chars().all(plain) {
        return None;
    }
    if text.contains(['M', '#']) {
        return Some(if text.contains('-') { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    let scale = if has_depth && !text.contains('.') { 1.0 } else { 100.0 };
    text.parse().ok().map(|value: f64| scale * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_read_in_every_format() {
        use Evaluation::*;
        let check = |comment: &str, expected: Option<Evaluation>| {
            assert_eq!(evaluation(comment.as_bytes()), expected, "{comment}");
        };
        check("+0.31/12 0.25s", Some(Own(31.0)));
        check("-1.5/9", Some(Own(-150.0)));
        check("0.00/8 1s, Draw by rule", Some(Own(0.0)));
        check("+0.31 0.104s", Some(Own(31.0)));
        check("38/21 36165ms", Some(Own(38.0)));
        check("-24/20 32597ms", Some(Own(-24.0)));
        check("+2", Some(Own(200.0)));
        check("1/21 36165ms", Some(Own(1.0)));
        check("+M5/9 0.001s, White mates", Some(Own(f64::INFINITY)));
        check("-M3/9", Some(Own(f64::NEG_INFINITY)));
        check(" [%eval 0.17] [%clk 0:00:30] ", Some(OfWhite(17.0)));
        check("[%eval -2.35,20]", Some(OfWhite(-235.0)));
        check("[%eval #-3]", Some(OfWhite(f64::NEG_INFINITY)));
        check("[%eval #5/20]", Some(OfWhite(f64::INFINITY)));
        check("[%eval 23,14] [%emt 0:00:11]", Some(OfWhite(23.0)));
        check("[%eval -2]", Some(OfWhite(-200.0)));
        check("M5", Some(Own(f64::INFINITY)));
        check("#5", Some(Own(f64::INFINITY)));
        check("(+M5/9) 1s", Some(Own(f64::INFINITY)));
        check("(+0.25)", Some(Own(25.0)));
        check("(e7e5 Ng1f3) +0.31/12 3", Some(Own(31.0)));
        check("(Nf6) -M3/9 1", Some(Own(f64::NEG_INFINITY)));
        check("+0.25\n1.2s", Some(Own(25.0)));
        check("[%eval\n23,14]", Some(OfWhite(23.0)));
        check("0.31 0.104s", Some(Own(31.0)));
        check("+0.31 e5 Nf3", Some(Own(31.0)));
        check("+0.31,12", Some(Own(31.0)));
        check("(2.14 → 0.80) Mistake. [%eval 0.8]", Some(OfWhite(80.0)));
        let long = "Nf3 ".repeat(100);
        check(&format!("d=30, pv={long}, wv=0.27, R50=50,"), Some(OfWhite(27.0)));
        check("d=30, mt=5000, wv=-M12,", Some(OfWhite(f64::NEG_INFINITY)));
        for none in [
            "book",
            "0.00/0 0.1s",
            "",
            "0.25s",
            "3 moves to go",
            "+M/9",
            "[%clk 0:05:00]",
            "[%eval ",
            "Mate in 5",
            "xwv=1.0",
            "(2.14 → 0.80) Mistake. Bxb5 was best.",
            "(-0.35 → Mate in 4)",
            "2. Nf3 is the main line",
            "2.5 hours later",
            "1/2-1/2",
            "8/5k2/8/8/8/8/5K2/8 w - - 0 1",
            "8/8/5k2/8/8/8/5K2/8 w - - 0 1",
            "12/05/2020",
            "1/8 final",
            "+2,10/12 0,5s",
            "[%evaluation 1.0]",
            "-",
        ] {
            check(none, None);
        }
        check("+1.0e400/9", None);
    }
}
