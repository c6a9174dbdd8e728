//! EPD operations: an opcode, its operands, and a semicolon.
//!
//! Files deviate from the standard in many ways, so no EPD crate is used. This reader accepts a
//! missing final semicolon, missing semicolons before a known opcode, unquoted strings and unclosed
//! strings.

/// Opcodes whose operands are single words, never strings. Only the operands of these opcodes are
/// searched for another opcode.
const OPCODES_OF_WORDS: [&str; 12] =
    ["acd", "acn", "acs", "am", "bm", "ce", "dm", "fmvn", "hmvc", "pm", "pv", "sm"];

/// Operation of an EPD line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Opcode in lowercase.
    pub opcode: String,
    /// Operands as written; a single string has no quotation marks.
    pub operand: String,
}

/// Returns the operations in `rest`, the text after a position.
pub fn operations(mut rest: &str) -> Vec<Operation> {
    let is_between = |c: char| c.is_whitespace() || c == ';' || c == '\0';
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches(is_between);
        if rest.is_empty() {
            return found;
        }
        let end = rest.find(|c| is_between(c) || c == '"').unwrap_or(rest.len());
        let (opcode, operand) = rest.split_at(end);
        let opcode = opcode.trim_end_matches([':', '=']).to_ascii_lowercase();
        let end = end_of_operand(&opcode, operand);
        let (operand, next) = operand.split_at(end);
        found.push(Operation { opcode, operand: unquoted(operand) });
        rest = next;
    }
}

/// Returns the offset, in bytes, of the end of an operand.
fn end_of_operand(opcode: &str, text: &str) -> usize {
    let text_start = text.len() - text.trim_start().len();
    if text[text_start..].starts_with('"')
        && let Some(end) = end_of_string(text, text_start)
    {
        return end;
    }
    let end = text.find(';').unwrap_or(text.len());
    if !OPCODES_OF_WORDS.contains(&opcode) {
        return end;
    }
    // If the semicolon is missing, the text also contains the next opcode.
    let mut at = 0;
    for word in text[..end].split_inclusive(char::is_whitespace) {
        let next = at + word.len();
        // `c3` is both a move and an opcode, but only an opcode is followed by a string.
        let is_move = word.starts_with('c') && word.trim().len() == 2 && word.trim() != "ce";
        if is_opcode(word.trim()) && (!is_move || text[next..].trim_start().starts_with('"')) {
            return at;
        }
        at = next;
    }
    end
}

/// Returns the offset, in bytes, of the end of the string that starts at `start`; the closing
/// quotation mark is part of the string. Returns `None` if the string is unclosed. A quotation mark
/// closes the string only if the operation ends after the mark. Otherwise, the mark opens the
/// string of another operation, and the string at `start` is unclosed. A backslash before the mark
/// makes it a part of the string.
fn end_of_string(text: &str, start: usize) -> Option<usize> {
    let mut marks = text[start + 1..].match_indices('"').map(|(at, _)| start + 1 + at);
    let close = marks.find(|at| !text[..*at].ends_with('\\'))?;
    let after = text[close + 1..].trim_start();
    let is_closing = after.is_empty()
        || after.starts_with([';', '\0'])
        || after.split_whitespace().next().is_some_and(is_opcode);
    is_closing.then_some(close + 1)
}

/// Returns whether a word is an opcode that ends the moves of the preceding operation, from section
/// 16.2.5 of the PGN standard.
pub(crate) fn is_opcode(word: &str) -> bool {
    let word = word.trim_end_matches([':', '=']).to_ascii_lowercase();
    let is_comment = matches!(word.as_bytes(), [b'c', b'0'..=b'9']);
    is_comment || matches!(word.as_str(), "eco" | "id") || OPCODES_OF_WORDS.contains(&&*word)
}

fn unquoted(operand: &str) -> String {
    let operand = operand.trim().trim_end_matches('\0').trim_end();
    // Either quotation mark of a string may be missing.
    let inner = operand.strip_prefix('"').unwrap_or(operand);
    inner.strip_suffix('"').unwrap_or(inner).trim().replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, &str)]) {
        let found = operations(text);
        let found: Vec<(&str, &str)> =
            found.iter().map(|o| (o.opcode.as_str(), o.operand.as_str())).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn standard_operations_are_read() {
        check(r#"bm Nf3; id "x.1";"#, &[("bm", "Nf3"), ("id", "x.1")]);
        check(r#"id "a; b"; bm Nf3;"#, &[("id", "a; b"), ("bm", "Nf3")]);
        check("noop; bm e4 d4;", &[("noop", ""), ("bm", "e4 d4")]);
        let quoted = r#"a "b; bm d4;" c"#;
        check(r#"id "a \"b; bm d4;\" c"; bm e4;"#, &[("id", quoted), ("bm", "e4")]);
    }

    #[test]
    fn missing_and_extra_semicolons_are_accepted() {
        check(r#"bm Nf3; id "x.1""#, &[("bm", "Nf3"), ("id", "x.1")]);
        check("; ;bm Nf3;; ;id x", &[("bm", "Nf3"), ("id", "x")]);
        check(r#"bm Nf3 d4 id "x";"#, &[("bm", "Nf3 d4"), ("id", "x")]);
        check(r#"id "x" bm Nf3"#, &[("id", "x"), ("bm", "Nf3")]);
        check("bm Nf3", &[("bm", "Nf3")]);
        check(r#"bm c3 c4 c5 "x""#, &[("bm", "c3 c4"), ("c5", "x")]);
        check(r#"acd 12 BM Nf3 ID "x""#, &[("acd", "12"), ("bm", "Nf3"), ("id", "x")]);
        check(r#"pv e4 e5 id "x""#, &[("pv", "e4 e5"), ("id", "x")]);
        check(r#"bm: Nf3 id: "x""#, &[("bm", "Nf3"), ("id", "x")]);
    }

    #[test]
    fn strings_may_lack_a_quotation_mark() {
        check("id x.1 easy; bm Nf3;", &[("id", "x.1 easy"), ("bm", "Nf3")]);
        check(r#"bm Nf3; id "x.1"#, &[("bm", "Nf3"), ("id", "x.1")]);
        check(r#"id "x.1; bm Nf3;"#, &[("id", "x.1"), ("bm", "Nf3")]);
        check(r#"id "x.1; c0 "y"; bm e4;"#, &[("id", "x.1"), ("c0", "y"), ("bm", "e4")]);
        check(r#"id x.1"; bm e4;"#, &[("id", "x.1"), ("bm", "e4")]);
        check(r#"id"x.1"; bm e4;"#, &[("id", "x.1"), ("bm", "e4")]);
        check(r#"id "x\"; bm e4; c0 "y";"#, &[("id", "x\\"), ("bm", "e4"), ("c0", "y")]);
    }
}
