//! Tuned values as a patch of `name = value` lines in source code.

use super::parameter::TuningError;

/// Lines of context before and after a change.
const CONTEXT: usize = 3;

/// The text with the numbers after `name =` replaced, and everything else as it was. Names are
/// compared without regard to case. A number with `_` between its digits keeps that style. An error
/// if not exactly one line has a name.
pub fn applied(table: &str, values: &[(String, String)]) -> Result<String, TuningError> {
    let mut lines: Vec<String> = table.split_inclusive('\n').map(str::to_owned).collect();
    for (name, value) in values {
        let found: Vec<_> =
            (0..lines.len()).filter_map(|line| Some((line, number(&lines[line], name)?))).collect();
        let (line, place) = match &found[..] {
            [only] => only.clone(),
            [] => return Err(TuningError(format!("no line says '{name} = ' and a number"))),
            [(first, _), (second, _), ..] => {
                let lines = format!("lines {} and {}", first + 1, second + 1);
                return Err(TuningError(format!("{lines} both say '{name} = ' and a number")));
            }
        };
        let is_grouped = lines[line][place.clone()].contains('_');
        let value = if is_grouped { grouped(value) } else { value.clone() };
        lines[line].replace_range(place, &value);
    }
    Ok(lines.concat())
}

/// Where in a line the number of this name is.
fn number(line: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (left, _) = line.split_once('=')?;
    // Between name and sign there may be a type.
    let declared = left.split(':').next()?.trim_end();
    let word = declared.rsplit(|c: char| !is_word(c)).next()?;
    if !word.eq_ignore_ascii_case(name) {
        return None;
    }
    let right = &line[left.len() + 1..];
    let start = left.len() + 1 + (right.len() - right.trim_start().len());
    let rest = &line[start..];
    let unsigned = rest.strip_prefix('-').unwrap_or(rest);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut length = rest.len() - unsigned.len();
    let mut points = 0;
    for (at, c) in unsigned.char_indices() {
        let follows = unsigned[at + c.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
        match c {
            '.' if points == 0 && follows => points = 1,
            '0'..='9' | '_' => {}
            _ => break,
        }
        length += c.len_utf8();
    }
    Some(start..start + length)
}

/// The digits before the point in groups of three.
fn grouped(value: &str) -> String {
    let (whole, rest) = value.find('.').map_or((value, ""), |at| value.split_at(at));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    format!("{sign}{text}{rest}")
}

/// Unified diff of two texts with the same number of lines, empty if they are equal. Lines are
/// replaced one for one, so there is nothing to align.
pub fn unified(file: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let changed: Vec<usize> = (0..old.len()).filter(|line| old[*line] != new[*line]).collect();
    if changed.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {file}\n+++ {file}\n");
    // Changes whose contexts touch share a hunk.
    for hunk in changed.chunk_by(|a, b| b - a <= 2 * CONTEXT) {
        let (first, last) = (hunk[0], hunk[hunk.len() - 1]);
        let from = first.saturating_sub(CONTEXT);
        let to = (last + CONTEXT + 1).min(old.len());
        let count = to - from;
        text.push_str(&format!("@@ -{},{count} +{},{count} @@\n", from + 1, from + 1));
        for line in from..to {
            match old[line] == new[line] {
                true => text.push_str(&format!(" {}\n", old[line])),
                false => text.push_str(&format!("-{}\n+{}\n", old[line], new[line])),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    const TABLE: &str = "\
figures! {
    /// Depth.
    razor_depth = 3 in 1..=7;
    /// A razor_margin of its own.
    razor_margin = 240 in 80..=720;
    history_skip = 3_200 in 1_066..=9_600;
}
pub const TEMPO: f64 = -1.5; // half a move
    razor = 9;
";

    #[test]
    fn numbers_are_replaced_and_nothing_else() {
        let new = values(&[("razor_margin", "251"), ("History_Skip", "13456"), ("TEMPO", "0.25")]);
        let patched = applied(TABLE, &new).unwrap();
        let expect = TABLE.replace("= 240", "= 251").replace("3_200", "13_456");
        assert_eq!(patched, expect.replace("-1.5", "0.25"));
        assert_eq!(
            applied(TABLE, &values(&[("razor", "8")])).unwrap(),
            TABLE.replace("= 9", "= 8")
        );
    }

    #[test]
    fn a_name_that_is_not_there_once_is_an_error() {
        let error = |list| applied(TABLE, &values(list)).unwrap_err().to_string();
        assert_eq!(error(&[("depth", "1")]), "no line says 'depth = ' and a number");
        let twice = format!("{TABLE}razor = 1;\n");
        let error = applied(&twice, &values(&[("razor", "1")])).unwrap_err().to_string();
        assert_eq!(error, "lines 9 and 10 both say 'razor = ' and a number");
    }

    #[test]
    fn a_patch_shows_changed_lines_with_their_surroundings() {
        let new = applied(TABLE, &values(&[("razor_margin", "251"), ("razor", "8")])).unwrap();
        let expect = "\
--- t.rs
+++ t.rs
@@ -2,8 +2,8 @@
     /// Depth.
     razor_depth = 3 in 1..=7;
     /// A razor_margin of its own.
-    razor_margin = 240 in 80..=720;
+    razor_margin = 251 in 80..=720;
     history_skip = 3_200 in 1_066..=9_600;
 }
 pub const TEMPO: f64 = -1.5; // half a move
-    razor = 9;
+    razor = 8;
";
        assert_eq!(unified("t.rs", TABLE, &new), expect);
        assert_eq!(unified("t.rs", TABLE, TABLE), "");
    }

    #[test]
    fn digits_are_grouped_as_they_were() {
        assert_eq!([grouped("7"), grouped("-1234567.5")], ["7", "-1_234_567.5"]);
    }
}
