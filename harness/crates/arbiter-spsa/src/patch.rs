//! Patch that writes tuned values into source code in Rust, C, C++ and similar languages.

use std::ops::Range;

use regex_lite::{Captures, Regex};

/// Number of lines of context before and after a change.
const CONTEXT: usize = 3;

/// Pattern of a number in source code, without a type suffix.
const NUMBER: &str =
    r"([-+]?(?:[0-9][0-9_']*(?:\.(?:[0-9][0-9_']*)?)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)";

/// Patterns of the text between a name and its number. The first group matches definitions. The
/// second group may also match uses, so the second group is tried only if the first group matches
/// nothing.
const FORMS: [&[&str]; 2] = [
    &[
        r"(?:\s*:\s*[A-Za-z0-9_]+)?\s*=\s*",
        r"(?:\s*:\s*[A-Za-z0-9_]+)?\s*=\s*[A-Za-z0-9_]*\(\s*",
        r"\s*\{\s*",
    ],
    &[r#""?\s*[,:(]\s*"#],
];

/// Returns `source` with the number assigned to each name in `values` replaced by the new value.
/// All other text is unchanged. Comparisons of names ignore case and `_`. A number keeps its digit
/// separator and its decimal point. Fails unless exactly one number is found for each name.
pub fn applied(source: &str, values: &[(String, String)]) -> Result<String, String> {
    let forms = FORMS.map(|forms| compile(&pattern(forms)));
    let comment = compile(r"(?m)//.*$|^[ \t]*/?\*.*$");
    let mut text = source.to_owned();
    for (name, value) in values {
        // Each comment is replaced by spaces, so that all other text keeps its offset.
        let code = comment.replace_all(&text, |found: &Captures<'_>| " ".repeat(found[0].len()));
        let mut found = forms.iter().map(|form| numbers(form, &code, name));
        let found = found.find(|places| !places.is_empty()).unwrap_or_default();
        let place = match &found[..] {
            [only] => only.clone(),
            [] => {
                let ways =
                    format!("'{name} = NUMBER', '#define {name} NUMBER' or '{name}, NUMBER'");
                return Err(format!("no line has the form {ways}"));
            }
            [first, second, ..] => {
                let [first, second] = [first, second].map(|at| text[..at.end].lines().count());
                return Err(format!("lines {first} and {second} both have a number of '{name}'"));
            }
        };
        let literal = literal(&text[place.clone()], value);
        text.replace_range(place, &literal);
    }
    Ok(text)
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is fixed")
}

/// Returns the pattern of a name followed by a number. Capture group 1 is the name in a `#define`,
/// group 2 is the name in any other form, and group 3 is the number.
fn pattern(between: &[&str]) -> String {
    let define = r"^[ \t]*#[ \t]*define\s+([A-Za-z_][A-Za-z0-9_]*)\s+\(?\s*";
    let between = between.join("|");
    format!("(?m)(?:{define}|\\b([A-Za-z_][A-Za-z0-9_]*)(?:{between})){NUMBER}")
}

/// Returns the byte ranges of all numbers of `name` in the code. Comparisons of names ignore case
/// and `_`.
fn numbers(form: &Regex, code: &str, name: &str) -> Vec<Range<usize>> {
    let letters = |name: &str| name.replace('_', "").to_ascii_lowercase();
    let place = |found: Captures<'_>| {
        let word = found.get(1).or(found.get(2))?.as_str();
        let number = found.get(3)?;
        let rest = &code[number.end()..];
        // In `1..=7`, the point after the 1 belongs to the range, not to the number. In `0x1F`, the
        // 0 is only a prefix.
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
    let separator = old.chars().find(|c| "_'".contains(*c));
    let (integer, rest) = value.find('.').map_or((value, ""), |at| value.split_at(at));
    let (sign, digits) = integer.strip_prefix('-').map_or(("", integer), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.extend(separator);
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

/// Returns the unified diff of two strings; an empty string if the two strings are equal. Both
/// strings must have the same number of lines, because line n is compared only with line n.
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
    // Changes whose contexts overlap share a hunk, because hunks of a unified diff must not
    // overlap.
    for hunk in changed.chunk_by(|a, b| b - a <= 2 * CONTEXT) {
        let first = hunk[0];
        let last = hunk[hunk.len() - 1];
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
mod tests;
