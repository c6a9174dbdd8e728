//! White space and lines.

use std::borrow::Cow;

use memchr::memchr;

/// Returns a text with ASCII spaces in place of other spaces, and without characters that have no
/// width, such as byte order marks. Web pages and word processors insert both. Keeps joiners and
/// non-joiners. Replaces typographic punctuation in Windows code pages. The number of line endings
/// does not change.
pub(crate) fn plain_blanks(text: &[u8]) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    // Persian and Indic names, and emoji, contain these two characters.
    let is_joiner = |c: char| matches!(c, '\u{200c}' | '\u{200d}');
    let is_invisible = |c: char| has_no_width(c) && !is_joiner(c);
    let is_odd_space = |c: char| !c.is_ascii() && c.is_whitespace();
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        at += chunk.valid().len();
        for part in chunk.valid().split_inclusive(|c: char| !c.is_ascii()) {
            let visible = part.trim_end_matches(|c| is_odd_space(c) || is_invisible(c));
            plain.extend_from_slice(visible.as_bytes());
            plain.extend(part.ends_with(is_odd_space).then_some(b' '));
        }
        // A byte that is not UTF-8 is read as Latin-1. Windows programs write punctuation in place
        // of the control codes of Latin-1. In other encodings, these codes are letters of names,
        // and other such letters adjoin.
        for &byte in chunk.invalid() {
            let mut neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let is_alone = neighbours.all(|at| text.get(at).is_none_or(u8::is_ascii));
            plain.push(match byte {
                0xa0 => b' ',
                // The ellipsis follows a move number or text.
                0x85 if is_alone => b' ',
                0x91 | 0x92 if is_alone => b'\'',
                0x93 | 0x94 if is_alone => b'"',
                0x96 | 0x97 if is_alone => b'-',
                other => other,
            });
            at += 1;
        }
    }
    Cow::Owned(plain)
}

pub(crate) fn has_no_width(c: char) -> bool {
    matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}

pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    let begin = text.iter().position(|byte| !is_blank(*byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_blank(*byte)).map_or(begin, |last| last + 1);
    &text[begin..end]
}

/// Returns whether a byte is white space: space, horizontal or vertical tab, line feed, form feed,
/// or carriage return.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

pub(crate) fn line_length(text: &[u8]) -> usize {
    memchr(b'\n', text).unwrap_or(text.len())
}
