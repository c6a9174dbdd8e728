//! Patch of the source code that defines the tuned values, in Rust, C, C++ and similar languages.

use std::ops::Range;

use regex_lite::{Captures, Regex};

use super::parameter::TuningError;

/// Number of lines of context before and after a change.
const CONTEXT: usize = 3;

/// Pattern of a number in source code, without its suffix.
const NUMBER: &str =
    r"([-+]?(?:[0-9][0-9_']*(?:\.(?:[0-9][0-9_']*)?)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)";

/// Patterns between a name and its number: first the forms of definitions, then forms that may also
/// be uses, which count only if no definition is found.
const FORMS: [&[&str]; 2] = [
    &[
        r"(?:\s*:\s*[A-Za-z0-9_]+)?\s*=\s*",
        r"(?:\s*:\s*[A-Za-z0-9_]+)?\s*=\s*[A-Za-z0-9_]*\(\s*",
        r"\s*\{\s*",
    ],
    &[r#""?\s*[,:(]\s*"#],
];

/// Returns the source with the number of each name replaced and all other text unchanged.
/// Comparison of names ignores case and `_`. A number keeps its digit separator and its decimal
/// point. Fails unless each name has exactly one definition.
pub fn applied(source: &str, values: &[(String, String)]) -> Result<String, TuningError> {
    let forms = FORMS.map(|forms| fixed(&pattern(forms)));
    let comment = fixed(r"(?m)//.*$|^[ \t]*/?\*.*$");
    let mut text = source.to_owned();
    for (name, value) in values {
        // Spaces of the same length keep the offsets of all other text.
        let code = comment.replace_all(&text, |found: &Captures<'_>| " ".repeat(found[0].len()));
        let mut found = forms.iter().map(|form| numbers(form, &code, name));
        let found = found.find(|places| !places.is_empty()).unwrap_or_default();
        let place = match &found[..] {
            [only] => only.clone(),
            [] => {
                let ways =
                    format!("'{name} = NUMBER', '#define {name} NUMBER' or '{name}, NUMBER'");
                return Err(TuningError(format!("no line has the form {ways}")));
            }
            [first, second, ..] => {
                let [first, second] = [first, second].map(|at| text[..at.end].lines().count());
                let lines = format!("lines {first} and {second} both have a number of");
                return Err(TuningError(format!("{lines} '{name}'")));
            }
        };
        let literal = literal(&text[place.clone()], value);
        text.replace_range(place, &literal);
    }
    Ok(text)
}

fn fixed(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is fixed")
}

/// Returns the pattern of a definition: the name is the first or second group, the number the
/// third.
fn pattern(between: &[&str]) -> String {
    let define = r"^[ \t]*#[ \t]*define\s+([A-Za-z_][A-Za-z0-9_]*)\s+\(?\s*";
    let between = between.join("|");
    format!("(?m)(?:{define}|\\b([A-Za-z_][A-Za-z0-9_]*)(?:{between})){NUMBER}")
}

/// Returns the ranges of all numbers with this name in the code, ignoring case and `_`.
fn numbers(form: &Regex, code: &str, name: &str) -> Vec<Range<usize>> {
    let letters = |name: &str| name.replace('_', "").to_ascii_lowercase();
    let place = |found: Captures<'_>| {
        let word = found.get(1).or(found.get(2))?.as_str();
        let number = found.get(3)?;
        let rest = &code[number.end()..];
        // Not every number after a name is its value: `1..=7` is a range, and `0x1F` is not
        // decimal.
        let is_range = number.as_str().ends_with('.') && rest.starts_with('.');
        let end = number.end() - usize::from(is_range);
        let is_decimal = !rest.starts_with(['x', 'X', 'b', 'B']);
        // In `S(12, 34)`, the number is only part of the value.
        let is_one_of_several = found[0].contains('=')
            && found[0].contains('(')
            && !rest.trim_start_matches(char::is_alphanumeric).trim_start().starts_with(')');
        (letters(word) == letters(name) && is_decimal && !is_one_of_several)
            .then_some(number.start()..end)
    };
    form.captures_iter(code).filter_map(place).collect()
}

/// Formats a value in the style of the number that it replaces.
fn literal(old: &str, value: &str) -> String {
    let mark = old.chars().find(|c| "_'".contains(*c));
    let (whole, rest) = value.find('.').map_or((value, ""), |at| value.split_at(at));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.extend(mark);
        }
        text.push(digit);
    }
    text.push_str(rest);
    if old.contains(['.', 'e', 'E']) && rest.is_empty() {
        // Without a decimal point, the literal would become an integer, which changes the type in
        // Rust and the arithmetic in C.
        text.push_str(".0");
    }
    text
}

/// Returns the unified diff of two texts with the same number of lines; empty if the texts are
/// equal. Only line n of both texts is compared.
pub fn unified(file: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let changed: Vec<usize> = (0..old.len()).filter(|line| old[*line] != new[*line]).collect();
    if changed.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {file}\n+++ {file}\n");
    let mut push = |mark: char, line: &str| {
        let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
        text.push_str(&format!("{mark}{line}{end}"));
    };
    // Changes whose contexts touch share a hunk, because hunks of a unified diff must not overlap.
    for hunk in changed.chunk_by(|a, b| b - a <= 2 * CONTEXT) {
        let (first, last) = (hunk[0], hunk[hunk.len() - 1]);
        let from = first.saturating_sub(CONTEXT);
        let to = (last + CONTEXT + 1).min(old.len());
        let count = to - from;
        push('@', &format!("@ -{},{count} +{},{count} @@\n", from + 1, from + 1));
        for line in from..to {
            if old[line] == new[line] {
                push(' ', old[line])
            } else {
                push('-', old[line]);
                push('+', new[line]);
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
    fn only_the_numbers_are_replaced() {
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
    fn a_name_must_occur_exactly_once() {
        let error = |list| applied(TABLE, &values(list)).unwrap_err().to_string();
        let ways = "'depth = NUMBER', '#define depth NUMBER' or 'depth, NUMBER'";
        assert_eq!(error(&[("depth", "1")]), format!("no line has the form {ways}"));
        let twice = format!("{TABLE}razor = 1;\n");
        let error = applied(&twice, &values(&[("razor", "1")])).unwrap_err().to_string();
        assert_eq!(error, "lines 9 and 10 both have a number of 'razor'");
    }

    #[test]
    fn a_patch_shows_changed_lines_with_context() {
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
    fn values_are_replaced_in_rust_c_and_c_plus_plus() {
        let patched = |line: &str, value: &str| {
            applied(line, &values(&[("razor_margin", value)])).unwrap_or_else(|e| e.to_string())
        };
        for (line, value, expect) in [
            ("int razor_margin = 240;", "251", "int razor_margin = 251;"),
            ("constexpr int RazorMargin{240};", "251", "constexpr int RazorMargin{251};"),
            ("#define RAZOR_MARGIN 240 /* cp */", "251", "#define RAZOR_MARGIN 251 /* cp */"),
            ("  # define RazorMargin (-240)", "251", "  # define RazorMargin (251)"),
            (
                "constexpr Value RazorMargin = Value(240);",
                "9",
                "constexpr Value RazorMargin = Value(9);",
            ),
            ("int a = 1, razorMargin = 240, b = 2;", "-3", "int a = 1, razorMargin = -3, b = 2;"),
            ("  .razor_margin = 240,", "251", "  .razor_margin = 251,"),
            ("long RazorMargin = 3'200L;", "13456", "long RazorMargin = 13'456L;"),
            ("float RazorMargin = 1.5f;", "2", "float RazorMargin = 2.0f;"),
            ("double RazorMargin = 5.;", "6.25", "double RazorMargin = 6.25;"),
            ("double RazorMargin = .5;", "0.75", "double RazorMargin = 0.75;"),
            ("double RazorMargin = 1.5e-3;", "0.25", "double RazorMargin = 0.25;"),
            (
                "TUNE_PARAM(RazorMargin, 240, 80, 720)",
                "251",
                "TUNE_PARAM(RazorMargin, 251, 80, 720)",
            ),
            ("PARAM(int, razor_margin, 240)", "251", "PARAM(int, razor_margin, 251)"),
            (
                "Param RazorMargin(\"RazorMargin\", 240, 80);",
                "251",
                "Param RazorMargin(\"RazorMargin\", 251, 80);",
            ),
            ("Tunable RazorMargin(240, 80, 720);", "251", "Tunable RazorMargin(251, 80, 720);"),
            ("    razor_margin: 240,", "251", "    razor_margin: 251,"),
            ("const RAZOR_MARGIN: f64 = 1.5;", "2", "const RAZOR_MARGIN: f64 = 2.0;"),
            ("razor_margin = 1..=7;", "3", "razor_margin = 3..=7;"),
            // A definition takes precedence over a use, and comments are ignored.
            (
                "int RazorMargin = 240;\nx = max(RazorMargin, 1);",
                "251",
                "int RazorMargin = 251;\nx = max(RazorMargin, 1);",
            ),
            (
                "// razor_margin = 7\n * razor_margin = 8\nint razor_margin = 240; // razor_margin = 9",
                "1",
                "// razor_margin = 7\n * razor_margin = 8\nint razor_margin = 1; // razor_margin = 9",
            ),
            (
                "if (razor_margin == 240) razor_margin += 3;\nint razor_margin = 4;",
                "5",
                "if (razor_margin == 240) razor_margin += 3;\nint razor_margin = 5;",
            ),
        ] {
            assert_eq!(patched(line, value), expect);
        }
        for line in [
            "int razor_margin = 0x10;",
            "int razor_margin = other;",
            "int razor_margin = S(12, 34);",
            "int razor_margins = 3;",
        ] {
            assert!(patched(line, "1").starts_with("no line has the form"), "{line}");
        }
        let twice = patched("int razor_margin = 3, RAZOR_MARGIN = 4;", "1");
        assert_eq!(twice, "lines 1 and 1 both have a number of 'razor_margin'");
    }

    #[test]
    fn a_patch_keeps_line_ends() {
        let old = "int a = 1;\r\nint b = 2;";
        let new = applied(old, &values(&[("a", "3")])).unwrap();
        assert_eq!(new, "int a = 3;\r\nint b = 2;");
        let expect = "--- t.c\n+++ t.c\n@@ -1,2 +1,2 @@\n-int a = 1;\r\n+int a = 3;\r\n int b = 2;\n\
                      \\ No newline at end of file\n";
        assert_eq!(unified("t.c", old, &new), expect);
    }

    #[test]
    fn digit_separators_are_kept() {
        let grouped = |value| literal("3_200", value);
        assert_eq!([grouped("7"), grouped("-1234567.5")], ["7", "-1_234_567.5"]);
    }
}
