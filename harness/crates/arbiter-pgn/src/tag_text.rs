//! Parser for tags, including tags in nonstandard forms.

use memchr::{memchr_iter, memchr2, memchr3, memmem};
use pgn_reader::RawTag;

use super::blanks::{is_blank, line_length, trimmed};

/// Maximum length of a stored tag value, in bytes.
const MAX_TAG: usize = 1 << 11;

/// Maximum length of a tag name, in bytes.
const MAX_TAG_NAME: usize = 255;

/// Maximum length of a tag in the text, in bytes. Without a limit, unmatched quotation marks could
/// cause a search through the complete text for every tag.
const MAX_TAG_TEXT: usize = 1 << 14;

/// Maximum length, in bytes, of the rest of a comment in which tags follow a blank line; the rest
/// starts with these tags. Without a limit, a stray brace could hide all games after an unclosed
/// comment.
pub(crate) const MAX_QUOTE: usize = 1 << 16;

/// Start of a tag that begins a game, at any place in a line.
pub(crate) const EVENT: &[u8] = b"[Event \"";

/// Tags that are recognized even without quotation marks around the value.
const KNOWN_TAGS: [&str; 10] =
    ["Event", "Site", "Date", "Round", "White", "Black", "Result", "FEN", "SetUp", "Variant"];

/// Tag in a form other than the standard form.
pub(crate) struct OddTag<'t> {
    pub(crate) name: &'t [u8],
    pub(crate) value: Vec<u8>,
    /// Length of the tag in the text, in bytes.
    pub(crate) length: usize,
}

/// Reads a tag that may extend over several lines, contain unescaped quotation marks, or be
/// unclosed. Returns `None` if the text does not start with a tag.
pub(crate) fn odd_tag(block: &[u8]) -> Option<OddTag<'_>> {
    let text = &block[..block.len().min(MAX_TAG_TEXT)];
    // Spaces may surround the name.
    let before_value = &text[..text.len().min(2 * MAX_TAG_NAME)];
    let quote = memchr2(b'"', b']', before_value).filter(|at| text[*at] == b'"');
    let unquoted = unquoted_tag(text);
    let Some(quote) = quote.filter(|_| unquoted.is_none()) else { return unquoted };
    let name = trimmed(&text[1..quote]);
    if name.len() > MAX_TAG_NAME || name.contains(&b'\n') {
        return None;
    }
    let text_of_value = &text[quote + 1..];
    // A value without a closing quotation mark must not include the next tag or the moves.
    let ends_tag = |at: &usize| matches!(text_of_value.get(at + 1), Some(b'[' | b'\n'));
    let limit = memchr_iter(b'\n', text_of_value).find(ends_tag);
    let text_of_value = &text_of_value[..limit.unwrap_or(text_of_value.len())];
    // A file that was cut within a tag may continue with the next file on the same line.
    let cut = memmem::find(text_of_value, EVENT);
    let text_of_value = &text_of_value[..cut.unwrap_or(text_of_value.len())];
    let blanks_after = |at: usize| blanks(&text_of_value[at + 1..]);
    let closes = |at: &usize| text_of_value.get(at + 1 + blanks_after(*at)) == Some(&b']');
    let is_bare = |at: &usize| {
        let slashes = text_of_value[..*at].iter().rev().take_while(|byte| **byte == b'\\').count();
        // Two backslashes stand for one backslash and do not escape the quotation mark.
        slashes.is_multiple_of(2)
    };
    let ends = || memchr_iter(b'"', text_of_value).filter(closes);
    // A value may contain unescaped quotation marks. Only a mark before a closing bracket can end
    // the value.
    let (value, length) = match ends().find(is_bare).or_else(|| ends().next_back()) {
        Some(end) => (&text_of_value[..end], quote + 1 + end + 1 + blanks_after(end) + 1),
        None => {
            let line = &text_of_value[..line_length(text_of_value)];
            let rest = trimmed(line);
            // Without a closing quotation mark or bracket, the tag ends at the end of the line.
            let value = rest.strip_suffix(b"]").or_else(|| rest.strip_suffix(b"\""));
            let value = value.unwrap_or(rest);
            (value, quote + 1 + cut.unwrap_or_else(|| line_length(&block[quote + 1..])))
        }
    };
    let value = RawTag(value).decode();
    Some(OddTag { name, value: value[..value.len().min(MAX_TAG)].to_vec(), length })
}

/// Returns the length, in bytes, of a tag in the standard form, `[Name "value"]`; `None` for other
/// forms.
pub(crate) fn plain_tag(text: &[u8]) -> Option<usize> {
    let quote = memchr3(b'"', b'\n', b']', text)?;
    let end = quote + 1 + memchr3(b'"', b'\\', b'\n', &text[quote + 1..])?;
    let is_plain = text[quote] == b'"' && text[end..].starts_with(b"\"]");
    (is_plain && quote <= MAX_TAG_NAME && end - quote <= MAX_TAG).then_some(end + 2)
}

/// Returns whether a text after a blank line starts with a tag.
pub(crate) fn begins_tags(text: &[u8]) -> bool {
    is_tag(text) || unquoted_tag(text).is_some()
}

/// Returns the length, in bytes, of the rest of a comment in which tags follow a blank line; `text`
/// starts with these tags. Returns `None` if the comment is unclosed: the tags then begin a game.
/// As comments do not nest, an opening brace before the closing brace belongs to a later game.
pub(crate) fn end_of_quote(text: &[u8]) -> Option<usize> {
    let text = &text[..text.len().min(MAX_QUOTE)];
    memchr2(b'{', b'}', text).filter(|at| text[*at] == b'}').map(|at| at + 1)
}

/// Returns whether a text starts with a bracket, a name and a quotation mark.
pub(crate) fn is_tag(text: &[u8]) -> bool {
    tag_name(text).is_some_and(|(_, rest)| {
        let value = &rest[blanks(rest)..];
        value.starts_with(b"\"") || is_typographic(value)
    })
}

/// Returns the name of a tag and the text after the name; `None` if the text does not start with a
/// bracket and a name.
pub(crate) fn tag_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"[")?;
    let text = &text[blanks(text)..];
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let length = text.iter().take_while(is_letter).count();
    (length > 0).then(|| text.split_at(length))
}

/// Returns the number of blanks at the start of a text.
fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_blank(**byte)).count()
}

/// Returns the [`KNOWN_TAGS`] with which `lines` begin, as a bit set.
pub(crate) fn known_tags<'t>(lines: impl Iterator<Item = &'t [u8]>) -> u16 {
    let bit = |line: &'t [u8]| {
        let (name, _) = tag_name(trimmed(line))?;
        let is_name = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
        KNOWN_TAGS.iter().position(is_name).map(|at| 1 << at)
    };
    lines.filter_map(bit).fold(0, std::ops::BitOr::bitor)
}

/// Returns the [`KNOWN_TAGS`] at the start of a text, up to the next blank line, as a bit set.
pub(crate) fn first_tags(text: &[u8]) -> u16 {
    let lines = text.split(|byte| *byte == b'\n');
    known_tags(lines.take_while(|line| trimmed(line).starts_with(b"[")))
}

/// Reads a tag of [`KNOWN_TAGS`] whose value is not in quotation marks, or any tag whose value is
/// in typographic quotation marks.
fn unquoted_tag(text: &[u8]) -> Option<OddTag<'_>> {
    let (name, rest) = tag_name(text)?;
    let end = memchr2(b']', b'\n', rest).filter(|at| rest[*at] == b']')?;
    let value = trimmed(&rest[..end]);
    let is_known = || KNOWN_TAGS.iter().any(|known| known.as_bytes() == name);
    if !is_typographic(value) && (blanks(rest) == 0 || value.contains(&b'"') || !is_known()) {
        return None;
    }
    let marks = |c| "\"'«»‘’‚‛“”„‟ ".contains(c);
    let value = str::from_utf8(value).map_or(value, |text| text.trim_matches(marks).as_bytes());
    Some(OddTag { name, value: value.to_vec(), length: text.len() - rest.len() + end + 1 })
}

/// Returns whether a text starts with a quotation mark that word processors write in place of `"`.
fn is_typographic(text: &[u8]) -> bool {
    // The apostrophe `’` only closes a quotation.
    "«»‘‚‛“”„‟".chars().any(|mark| text.starts_with(mark.encode_utf8(&mut [0; 4]).as_bytes()))
}
