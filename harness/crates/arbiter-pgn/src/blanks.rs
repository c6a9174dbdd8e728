//! White space and lines.

use memchr::memchr;

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
