//! User-visible texts, compared with files in `tests/it/snapshots`, which `UPDATE_EXPECT=1`
//! rewrites.
//!
//! Each test has a separate file: tests run in separate processes, and would overwrite each other's
//! changes to `expect![…]` in one source file.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use regex_lite::Regex;

use super::programs;

/// Line that ends each text.
const END: &str = "----\n";

/// Prefix of the folder names of tests.
pub const PREFIX: &str = "place-";

/// Patterns of text that depends on the folder, with their replacements.
const PLACES: [(&str, &str); 3] = [
    (r#"(/[^\s'"=:,]*/)?place-[A-Za-z0-9]{6}\b"#, "HERE"),
    (" ?--marker HERE", ""),
    (r"\.tmp[A-Za-z0-9]{6}\b", ".tmp"),
];

/// Patterns of text that varies between runs of one test, with their replacements.
const VARYING: [(&str, &str); 10] = [
    // Number and content of progress lines depend on the speed of the machine.
    (r"(?m)^.* games/(s|min|h)\b.*\n", ""),
    (r"\b[0-9a-f]{9,}\b", "HASH"),
    (r"([^-])\bseed \d+", "${1}seed N"),
    (r"\b\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?\b", "DATE"),
    (r"\b\d\d:\d\d:\d\d\b", "TIME"),
    (r"\bon \d+ processors", "on N processors"),
    // Names of runs, and durations.
    (r"-\d{8}-\d{6}-\d{3}\b", "-TIME"),
    (r"\b(in \d+|\d+\.\d{3}) s\b", "N s"),
    (r"\b127\.0\.0\.1:\d{4,}", "127.0.0.1:PORT"),
    (r"concurrency \d+( \([a-z ]+\))?", "concurrency N"),
];

thread_local! {
    /// Texts of this test so far.
    static TEXTS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the folder of all snapshots.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("it/snapshots")
}

/// Compares a text with the file `name`, ignoring version and folder.
pub fn expect(name: &str, text: &str) {
    expect_file![folder().join(name)].assert_eq(&without_paths(text));
}

/// Compares a text with the next text in the file of this test, ignoring varying parts.
pub fn expect_next(text: &str) {
    let text = any_run(text);
    let (is_first, texts) = TEXTS.with_borrow_mut(|texts| {
        let is_first = texts.is_empty();
        texts.push_str(&text);
        if !text.is_empty() && !text.ends_with('\n') {
            texts.push('\n');
        }
        texts.push_str(END);
        (is_first, texts.clone())
    });
    let file = file_of_this_test();
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    if is_update {
        let folder = file.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).expect("a folder can be made");
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    // In an update, the first text of a test replaces the complete old file, so that no old text
    // remains at its end.
    if !stored.starts_with(&texts) || (is_update && is_first) {
        expect_file![file].assert_eq(&texts);
    }
}

/// Returns a text with `N` for each number, for figures that vary.
pub fn without_figures(text: &str) -> String {
    replaced(
        &any_run(text),
        &[(r"\d+(\.\d+)?(e-\d+)?", "N"), (r"\bN (game|pair|run)s?\b", "N ${1}s")],
    )
}

/// Returns a report without the lines and widths that depend on the machine.
pub fn without_machine(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.contains(std::env::consts::ARCH));
    let lines: Vec<&str> = lines.collect();
    replaced(&lines.join("\n"), &[(r" {2,}|─{2,}|-{3,}", " ")])
}

/// Returns the first line of a text that contains `part`, which is a value and not a phrase of the
/// program.
#[track_caller]
pub fn line_with<'a>(text: &'a str, part: &str) -> &'a str {
    let line = text.lines().find(|line| line.contains(part));
    line.unwrap_or_else(|| panic!("no {part} in {text}"))
}

/// Returns a text without version, folder of the test, and paths of the programs.
fn without_paths(text: &str) -> String {
    let text = text
        .replace(&programs::puppet().display().to_string(), "PUPPET")
        .replace(&programs::arbiter().display().to_string(), "ARBITER")
        .replace(env!("CARGO_PKG_VERSION"), "VERSION");
    replaced(&text, &PLACES)
}

/// Returns a text without the parts that vary between runs.
fn any_run(text: &str) -> String {
    replaced(&without_paths(text), &VARYING)
}

/// Returns a text with each pattern replaced by its replacement.
fn replaced(text: &str, replacements: &[(&str, &str)]) -> String {
    replacements.iter().fold(text.to_owned(), |text, (pattern, word)| {
        Regex::new(pattern).expect("a pattern").replace_all(&text, *word).into_owned()
    })
}

/// Returns the file of the running test, from its module path and name.
fn file_of_this_test() -> PathBuf {
    let thread = std::thread::current();
    let name = match thread.name() {
        // With one processor, a test runs in the main thread, which has no test name. nextest sets
        // the name in a variable.
        Some("main") | None => std::env::var("NEXTEST_TEST_NAME").expect("a test has a name"),
        Some(name) => name.to_owned(),
    };
    folder().join(format!("{}.text", name.replace("::", "/")))
}

#[test]
fn varying_values_are_replaced_and_texts_appended() {
    expect_next("at HEAD@0123456789 with seed 7 on 2026-01-02, 03:04:05");
    expect_next(&format!("{}: place-a1B2c3", programs::puppet().display()));
    assert_eq!(without_figures("2 of 3.5"), "N of N");
}

#[test]
fn each_snapshot_belongs_to_a_test() {
    let list = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("a folder can be listed");
        entries.map(|entry| entry.expect("it is there").path()).collect::<Vec<_>>()
    };
    let mut folders: Vec<PathBuf> = list(&folder()).into_iter().filter(|it| it.is_dir()).collect();
    while let Some(inner) = folders.pop() {
        let module = inner.strip_prefix(folder()).expect("it is below").with_extension("rs");
        let source = std::fs::read_to_string(folder().parent().expect("it").join(module));
        for path in list(&inner) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_stem().and_then(|name| name.to_str()).expect("an ASCII name");
            let is_there = source.as_ref().is_ok_and(|text| text.contains(&format!("fn {name}(")));
            assert!(is_there, "no test writes {}", path.display());
        }
    }
}
