//! Source code for the table of weights.

use std::fmt::Write;

use crate::eval::palimpsest::layout::GROUPS;

/// Number of weights on a line.
const ON_A_LINE: usize = 8;

const HEAD: &str = "\
//! The weights of the evaluation, written by `palimpsest tune`; `layout.rs` describes them.
//!
//! Scores are in centipawns for the middlegame and for the endgame. Units of danger and scales are
//! explained where they are used.

use super::layout::LEN;
use crate::eval::pair::Pair;

const fn p(middle: i32, end: i32) -> Pair {
    Pair::new(middle, end)
}

/// The weights, group by group; the middlegame comes first.
#[rustfmt::skip]
pub(super) static WEIGHTS: [Pair; LEN] = [
";

/// Returns the source code of `weights.rs` for the given weights, which are ordered by index.
pub fn source(weights: &[[i32; 2]]) -> String {
    let mut text = HEAD.to_owned();
    for group in GROUPS {
        let gap = if group.label.is_empty() { "" } else { ": " };
        text.push_str(&format!("    // {}{gap}{}\n", group.name, group.label));
        for line in weights[group.start..group.start + group.len].chunks(ON_A_LINE) {
            text.push_str("   ");
            for [middle, end] in line {
                // Writing to a string cannot fail.
                let _ = write!(text, " p({middle:>4}, {end:>4}),");
            }
            text.push('\n');
        }
    }
    text.push_str("];\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::palimpsest::trace::weights;

    #[test]
    fn the_table_in_use_matches_the_written_source() {
        let used = include_str!("../eval/palimpsest/weights.rs");
        assert_eq!(source(&weights()), used);
    }
}
