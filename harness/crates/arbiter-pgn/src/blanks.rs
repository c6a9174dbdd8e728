//! White space and lines.

use std::borrow::Cow;

use memchr::memchr;

/// Returns a text with ASCII spaces in place of other spaces, and without characters that have no
/// width, such as byte order marks. Web pages and word processors insert both.
pub(crate) fn plain_blanks(text: &[u8]) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| !byte.is_ascii()) {
        let (ascii, other) = rest.split_at(at);
        let valid =
            other[..other.len().min(4)].utf8_chunks().next().map_or("", |part| part.valid());
        // A byte that is not UTF-8 is read as Latin-1.
        let (c, length) =
            valid.chars().next().map_or((char::from(other[0]), 1), |c| (c, c.len_utf8()));
        plain.extend_from_slice(ascii);
        if c.is_whitespace() {
            plain.push(b' ');
        } else if !has_no_width(c) {
            plain.extend_from_slice(&other[..length]);
        }
        rest = &other[length..];
    }
    plain.extend_from_slice(rest);
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
