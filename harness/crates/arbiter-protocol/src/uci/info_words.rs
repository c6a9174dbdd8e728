//! Words of UCI `info` lines, each with its field.

/// Word of an `info` line, with its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InfoWord<'a> {
    /// Name of the field that contains the word; empty before the first field.
    pub field: &'a str,
    /// Index of the word in the field: 0 for the name of the field, 1 for its value.
    pub place: usize,
    /// Text of the word.
    pub word: &'a str,
}

/// Returns the words after `info`, up to and including `string`, after which free text follows. The
/// fields may have any order and may lack values.
pub fn info_words(rest: &str) -> impl Iterator<Item = InfoWord<'_>> {
    let (mut field, mut place) = ("", 0);
    rest.split_ascii_whitespace().map_while(move |word| {
        // The words after `string` are free text.
        if field == "string" {
            return None;
        }
        if begins_a_field(word) {
            (field, place) = (word, 0);
        } else {
            place += 1;
        }
        Some(InfoWord { field, place, word })
    })
}

/// Returns whether a word is the name of a field.
fn begins_a_field(word: &str) -> bool {
    // Most words are numbers or moves; the check for digits avoids comparing them with all names.
    let has_digit = word.bytes().take(2).any(|byte| byte.is_ascii_digit());
    !has_digit
        && matches!(
            // The most frequent names come first, because they are compared in this order.
            word,
            "pv" | "depth"
                | "seldepth"
                | "multipv"
                | "score"
                | "cp"
                | "nodes"
                | "nps"
                | "hashfull"
                | "tbhits"
                | "time"
                | "wdl"
                | "mate"
                | "lowerbound"
                | "upperbound"
                | "string"
                | "currmove"
                | "currmovenumber"
                | "cpuload"
                | "currline"
                | "ebf"
                | "refutation"
                | "sbhits"
        )
}
