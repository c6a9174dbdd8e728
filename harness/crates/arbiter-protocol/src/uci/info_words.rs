//! The words of an `info` line, each with the field that it belongs to.

/// Word of an `info` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InfoWord<'a> {
    /// Field that the word belongs to; empty before the first one.
    pub field: &'a str,
    /// Place of the word in the field: 0 for the name of the field, 1 for its value.
    pub place: usize,
    /// The word itself.
    pub word: &'a str,
}

/// Returns the words after `info`, whatever the order of the fields, with or without their values.
/// What follows `string` is free text, and none of them.
pub fn info_words(rest: &str) -> impl Iterator<Item = InfoWord<'_>> {
    let (mut field, mut place) = ("", 0);
    rest.split_ascii_whitespace().map_while(move |word| {
        // The line ends with the word `string`.
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
    // A number or a move, as most words are, need not be compared with all names.
    let has_digit = word.bytes().take(2).any(|byte| byte.is_ascii_digit());
    !has_digit
        && matches!(
            // The most frequent first, as they are compared in this order.
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
