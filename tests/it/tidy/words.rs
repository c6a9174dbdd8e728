//! Check of the rules of `docs/style.md` that a program can check.

use regex_lite::Regex;

use super::Violation;

/// First words of summaries that are clauses without a subject.
const CLAUSE: &str = "What|Who|Whoever|Whether|How|Where|When|Why|Which|That|All that|Those";

/// Maximum width of comments, in columns.
const WIDTH: usize = 100;

/// Words that the style page replaces, as a regular expression.
const REPLACED: &str = r"begun|heeds?|known from before|set aside|goes on|go on|at once|is told";

/// User-visible texts: pages, except the style page, and snapshots.
const TEXTS: [&str; 3] = ["README.md", "docs/", "tests/it/snapshots/"];

/// Texts with words of other programs, of keys, or of earlier versions.
const EXCEPT: [&str; 3] = ["docs/style.md", "docs/schema/", "tests/it/snapshots/compat/"];

/// Finds summaries without a subject, and comments that are too wide.
pub fn check_comments(path: &str, text: &str) -> Vec<Violation> {
    let clause = Regex::new(&format!(r"^//[/!] ({CLAUSE})\b")).expect("the pattern is fixed");
    let mut violations = Vec::new();
    let mut above = "";
    for (index, full) in text.lines().enumerate() {
        let line = full.trim_start();
        let mut add = |rule, found: &str| {
            let (path, found) = (path.to_owned(), found.to_owned());
            violations.push(Violation { path, line: index + 1, rule, found });
        };
        if clause.is_match(line) && above.get(..3) != line.get(..3) {
            add("summary", "begin with a noun phrase or a verb in the third person");
        }
        let is_prose = line.starts_with("//") && !line.contains('|') && !line.contains("://");
        if is_prose && full.chars().count() > WIDTH {
            add("comment", "wrap the comment at 100 columns");
        }
        above = line;
    }
    violations
}

/// Finds words in user-visible texts that the style page replaces.
pub fn check_texts(path: &str, text: &str) -> Vec<Violation> {
    let starts = |list: &[&str]| list.iter().any(|start| path.starts_with(start));
    if !starts(&TEXTS) || starts(&EXCEPT) || path.ends_with(".rs") {
        return Vec::new();
    }
    let replaced = Regex::new(&format!(r"\b({REPLACED})\b")).expect("the pattern is fixed");
    let found = text.lines().enumerate().filter_map(|(index, line)| {
        let word = replaced.find(line)?.as_str();
        let found = format!("`{word}`: docs/style.md has a plainer word");
        Some(Violation { path: path.to_owned(), line: index + 1, rule: "word", found })
    });
    found.collect()
}

#[test]
fn a_summary_has_a_subject() {
    let text = "/// What is read.\n/// What follows may be a clause.\nfn f() {}\n//! Whether it \
                ends.\n/// Whatever.\nfn g() {}\n    /// Who plays.\n";
    super::assert_lines(&check_comments("a.rs", text), &[1, 4, 7]);
}

#[test]
fn a_wide_comment_is_found() {
    let wide = "a ".repeat(WIDTH / 2);
    let text = format!("// {wide}\n// | {wide}\nlet a = \"{wide}\";\n// b\n");
    super::assert_lines(&check_comments("a.rs", &text), &[1]);
}

#[test]
fn a_replaced_word_is_found_in_texts_for_users() {
    let text = "The run has begun.\nIt beguns.\n";
    super::assert_lines(&check_texts("docs/start.md", text), &[1]);
    super::assert_lines(&check_texts("docs/style.md", text), &[]);
    super::assert_lines(&check_texts("engine/src/lib.rs", text), &[]);
}
