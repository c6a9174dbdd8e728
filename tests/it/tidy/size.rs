//! Files stay short enough to be read in one go. (Clippy counts the lines of functions.)

use super::Violation;
use super::bans::is_allowed;

const LINES_MAX: usize = 500;

/// Tables of numbers, which gain nothing from being cut up.
fn is_table(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("engine/src/eval/")
        && (name.starts_with("weights")
            || name.starts_with("tables")
            // The weight sets of one evaluation are named after its versions.
            || is_allowed(&["engine/src/eval/rybka/v*"], path))
}

/// Finds files that are too long.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    let lines = text.lines().count();
    if is_table(path) || lines <= LINES_MAX {
        return Vec::new();
    }
    let found =
        format!("{lines} lines, {LINES_MAX} allowed: split by state machine, driver, rendering");
    vec![Violation { path: path.to_owned(), line: LINES_MAX + 1, rule: "size", found }]
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
