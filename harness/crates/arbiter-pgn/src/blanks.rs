//! White space and lines.

use memchr::memchr;

/// Returns a text with ASCII spaces in place of other spaces, and without characters that have no
/// width, such as byte order marks. Web pages and word processors insert both.
pub(crate) fn plain_blanks(text: Vec<u8>) -> Vec<u8> {
    if text.is_ascii() {
        return text;
    }
    let is_odd_space = |c: char| !c.is_ascii() && c.is_whitespace();
    let mut plain = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for part in chunk.valid().split_inclusive(|c: char| !c.is_ascii()) {
            let visible = part.trim_end_matches(|c| is_odd_space(c) || has_no_width(c));
            plain.extend_from_slice(visible.as_bytes());
            plain.extend(part.ends_with(is_odd_space).then_some(b' '));
        }
        // A byte that is not UTF-8 is read as Latin-1, which has one such space.
        plain.extend(chunk.invalid().iter().map(|byte| if *byte == 0xa0 { b' ' } else { *byte }));
    }
    plain
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
