//! Evaluations in comments.
//!
//! There are two formats. In `+0.31/12 0.5s` and `-M3/9` (cutechess, fastchess, Arbiter), the
//! evaluation is from the point of view of the side that moved. In `[%eval 0.31]` and `[%eval #-3]`
//! (Lichess), it is from White's point of view. Both are in pawns.

/// Number of bytes at the start of a comment that are searched; evaluations come early.
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

/// Returns the evaluation in a comment, if the comment contains one.
pub fn evaluation(comment: &[u8]) -> Option<Evaluation> {
    let comment = &comment[..comment.len().min(MAX_COMMENT)];
    if let Some(at) = memchr::memmem::find(comment, b"[%eval ") {
        let text = &comment[at + "[%eval ".len()..];
        let end = text.iter().position(|byte| matches!(byte, b']' | b','))?;
        return number(&text[..end]).map(Evaluation::OfWhite);
    }
    let text = comment.trim_ascii_start();
    let end = text.iter().position(|byte| matches!(byte, b'/' | b' ' | b',')).unwrap_or(text.len());
    // A number with another meaning, such as in "3 moves to go", has neither a sign nor a decimal
    // point.
    let has_sign_or_point = text[..end].iter().any(|byte| matches!(byte, b'+' | b'-' | b'.'));
    let has_depth = text.get(end) == Some(&b'/');
    // Arbiter and other programs write `0.00/0` for a move without a score.
    let is_none = text[end..].starts_with(b"/0") && &text[..end] == b"0.00";
    if is_none || !has_sign_or_point && !has_depth {
        return None;
    }
    number(&text[..end]).map(Evaluation::Own)
}

/// Converts pawns to centipawns, and the mate scores `M5`, `-M3` and `#-3` to ±∞.
fn number(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'M' | '#');
    if text.len() > MAX_LENGTH || !text.chars().all(plain) {
        return None;
    }
    if text.contains(['M', '#']) {
        let has_number = text.ends_with(|c: char| c.is_ascii_digit());
        let mate = if text.contains('-') { f64::NEG_INFINITY } else { f64::INFINITY };
        return has_number.then_some(mate);
    }
    text.parse().ok().map(|pawns: f64| 100.0 * pawns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_read_in_both_formats() {
        use Evaluation::*;
        let check = |comment: &str, expected: Option<Evaluation>| {
            assert_eq!(evaluation(comment.as_bytes()), expected, "{comment}");
        };
        check("+0.31/12 0.25s", Some(Own(31.0)));
        check("-1.5/9", Some(Own(-150.0)));
        check("0.00/8 1s, Draw by rule", Some(Own(0.0)));
        check("+0.31 0.104s", Some(Own(31.0)));
        check("2/9 0.1s", Some(Own(200.0)));
        check("+M5/9 0.001s, White mates", Some(Own(f64::INFINITY)));
        check("-M3/9", Some(Own(f64::NEG_INFINITY)));
        check(" [%eval 0.17] [%clk 0:00:30] ", Some(OfWhite(17.0)));
        check("[%eval -2.35,20]", Some(OfWhite(-235.0)));
        check("[%eval #-3]", Some(OfWhite(f64::NEG_INFINITY)));
        for none in [
            "book",
            "0.00/0 0.1s",
            "",
            "0.25s",
            "3 moves to go",
            "+M/9",
            "[%clk 0:05:00]",
            "[%eval ",
            "-",
        ] {
            check(none, None);
        }
        check("+1.0e400/9", None);
    }
}
