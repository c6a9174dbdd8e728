//! Files and functions stay short enough to be read in one go.

use super::Violation;
use super::bans::is_allowed;
use super::source::Source;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// Tables of numbers, which gain nothing from being cut up.
fn is_table(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("engine/src/eval/")
        && (name.starts_with("weights")
            || name.starts_with("tables")
            // The weight sets of one evaluation are named after its versions.
            || is_allowed(&["engine/src/eval/rybka/v*"], path))
}

/// Finds files and functions that are too long.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    if is_table(path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut complain = |line, what: String| {
        found.push(Violation { path: path.to_owned(), line, rule: "size", found: what });
    };
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        complain(
            FILE_LINES_MAX + 1,
            format!(
                "{lines} lines, {FILE_LINES_MAX} allowed: split by state machine, driver, rendering"
            ),
        );
    }
    let source = Source::read(path, text);
    for (name, first, last) in functions(&source) {
        let length = last - first + 1;
        if length > FUNCTION_LINES_MAX {
            complain(first, format!("fn {name} has {length} lines, {FUNCTION_LINES_MAX} allowed"));
        }
    }
    found
}

/// The functions that have a body: name, first line, last line.
fn functions<'a>(source: &Source<'a>) -> Vec<(&'a str, usize, usize)> {
    let tokens = &source.tokens;
    let mut found = Vec::new();
    for (index, pair) in tokens.windows(2).enumerate() {
        if pair[0].text != "fn" || !pair[1].is_word() {
            continue;
        }
        let mut at = index + 2;
        while at < tokens.len() && !matches!(tokens[at].text, "{" | ";") {
            at = if matches!(tokens[at].text, "(" | "[") { source.closing(at) + 1 } else { at + 1 };
        }
        if tokens.get(at).is_some_and(|token| token.text == "{") {
            found.push((pair[1].text, pair[0].line, tokens[source.closing(at)].line));
        }
    }
    found
}

fn function_of(lines: usize) -> String {
    format!("fn f(a: [u8; 2]) -> u8 {{\n{}}}\n", "g();\n".repeat(lines - 2))
}

#[test]
fn a_function_of_seventy_lines_is_the_longest() {
    let path = "harness/src/run/state.rs";
    super::assert_lines(&check(path, &function_of(70)), &[]);
    super::assert_lines(&check(path, &format!("\n{}", function_of(71))), &[2]);
    let in_trait =
        format!("trait T {{ fn f(); fn g() -> [u8; 3]; }}\n{}", "struct A;\n".repeat(80));
    super::assert_lines(&check(path, &in_trait), &[]);
}

#[test]
fn a_file_of_five_hundred_lines_is_the_longest() {
    super::assert_lines(&check("tests/it/a.rs", &"//\n".repeat(500)), &[]);
    super::assert_lines(&check("tests/it/a.rs", &"//\n".repeat(501)), &[501]);
}

#[test]
fn tables_of_weights_may_be_long() {
    let text = "//\n".repeat(501);
    for table in ["palimpsest/weights.rs", "blunder/tables_mg.rs", "rybka/v1_0_beta.rs"] {
        super::assert_lines(&check(&format!("engine/src/eval/{table}"), &text), &[]);
    }
    super::assert_lines(&check("engine/src/eval/rybka/mobility.rs", &text), &[501]);
    super::assert_lines(&check("engine/src/search/weights.rs", &text), &[501]);
}
