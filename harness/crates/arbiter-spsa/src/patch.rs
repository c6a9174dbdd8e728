//! Patch of the source code that defines the tuned values, in Rust, C, C++ and similar languages.

use std::ops::Range;

use regex_lite::{Captures, Regex};

/// Number of lines of context before and after a change.
const CONTEXT: usize = 3;

/// Pattern of a number in source code, without its suffix.
const NUMBER: &str =
    r"([-+]?(?:[0-9][0-9_']*(?:\.(?:[0-9][0-9_']*)?)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)";

/// Patterns between a name and its number. The first forms are definitions. The other forms may
/// also be uses, and count only if no definition is found.
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
pub fn applied(source: &str, values: &[(String, String)]) -> Result<String, String> {
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
mod tests;
