//! Excerpts of external text for messages.

/// Maximum length of an excerpt, in characters.
const MAX_EXCERPT: usize = 100;

/// Returns the start of an external text as one line for a message: at most 100 characters, with
/// spaces in place of control characters. `…` marks a longer text.
pub fn excerpt(text: &[u8]) -> String {
    // A character has at most four bytes, so only this part of a long text needs to be decoded.
    let text = &text[..text.len().min(4 * MAX_EXCERPT + 4)];
    let text = String::from_utf8_lossy(text);
    let mut short: String = text
        .trim()
        .chars()
        .take(MAX_EXCERPT + 1)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if let Some((end, _)) = short.char_indices().nth(MAX_EXCERPT) {
        short.truncate(end);
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_single_lines() {
        assert_eq!(excerpt(b"  8/8 w - -\r\n"), "8/8 w - -");
        assert_eq!(excerpt(b"a\x07b\nc"), "a b c");
        assert_eq!(excerpt(&[b'x'; 5000]).chars().count(), 101);
        assert_eq!(excerpt("ö".repeat(300).as_bytes()).chars().count(), 101);
        assert_eq!(excerpt(&[0xff, b'a']), "\u{fffd}a");
    }
}
