//! Rules of the repository that a program can check.
//!
//! Each check is a pure function `check(path, text) -> Vec<Violation>`, tested with good and bad
//! snippets beside it; the tests here apply the checks to the real files. A check must never need
//! to compile the code that it reads.

mod bans;
mod globals;
mod imports;
mod links;
mod reach;
mod repository;
mod source;
mod words;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// A violation of a rule at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// File, relative to the root of the repository.
    pub path: String,
    /// Line, counted from one.
    pub line: usize,
    /// Short name of the rule.
    pub rule: &'static str,
    /// Finding, with its remedy.
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.found)
    }
}

/// Text file of the repository.
pub struct File {
    /// Path relative to the root, with forward slashes.
    pub path: String,
    /// Content of the file.
    pub text: String,
}

#[test]
fn imports_within_a_crate_point_one_way() {
    assert_clean(rust_files().iter().flat_map(|file| imports::check(&file.path, &file.text)));
}

#[test]
fn the_runtime_stays_where_it_belongs() {
    assert_clean(rust_files().iter().flat_map(|file| bans::check(&file.path, &file.text)));
}

#[test]
fn there_are_no_mutable_globals() {
    assert_clean(rust_files().iter().flat_map(|file| globals::check(&file.path, &file.text)));
}

#[test]
fn every_rust_file_is_part_of_a_crate() {
    assert_clean(reach::check(&files()));
}

#[test]
fn comments_have_subjects_and_fit_a_page() {
    assert_clean(
        rust_files().iter().flat_map(|file| words::check_comments(&file.path, &file.text)),
    );
}

#[test]
fn texts_for_users_use_the_words_of_the_style_page() {
    assert_clean(files().iter().flat_map(|file| words::check_texts(&file.path, &file.text)));
}

#[test]
fn no_file_contains_a_machine_path() {
    assert_clean(files().iter().flat_map(|file| repository::check_paths(&file.path, &file.text)));
}

#[test]
fn links_between_pages_have_targets() {
    assert_clean(links::check(&files()));
}

#[test]
fn every_promise_of_the_page_about_security_has_tests() {
    assert_clean(links::check_promises(&files()));
}

/// Limits that are too large for a test, each with its sentence on the page about security and its
/// constants in the code.
const FIGURES: [(&str, &[&str]); 9] = [
    (
        "stopped after 10,000 million steps or 20 million rows, and a value may have 64 MiB",
        &[
            "arbiter-store/src/schema.rs: TICK: i32 = 1_000_000;",
            "arbiter-store/src/schema.rs: MAX_TICKS: u64 = if cfg!(test) { 20 } else { 10_000 };",
            "arbiter-store/src/schema.rs: MAX_VALUE: i32 = 64 << 20;",
            "arbiter-store/src/lib.rs: MAX_ROWS: usize = if cfg!(test) { 100_000 } else { 20_000_000 };",
        ],
    ),
    (
        "an answer has a deadline of 10 s and at most 16 MiB",
        &[
            "arbiter-runner/src/control_socket.rs: CONTROL_TIMEOUT: Duration = Duration::from_secs(10);",
            "arbiter-runner/src/control_socket.rs: MAX_ANSWER: usize = 16 << 20;",
        ],
    ),
    (
        "stopped after two minutes, or after ten minutes if it adds the files of a working tree",
        &[
            "arbiter-build/src/git.rs: LIMIT: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 120 });",
            "arbiter-build/src/git.rs: SNAPSHOT_LIMIT: Duration = Duration::from_secs(600);",
        ],
    ),
    (
        "limited to 1 MiB, other output of git to 256 MiB",
        &["arbiter-process/src/input_file.rs: MAX_SETTINGS: u64 = 1 << 20;"],
    ),
    (
        "10 s for the request header and 20 s for receiving a response; beyond 256 connections",
        &[
            "arbiter-serve/src/connections.rs: HEAD_DEADLINE: Duration = Duration::from_secs(10);",
            "arbiter-serve/src/connections.rs: STALL_DEADLINE: Duration = Duration::from_secs(20);",
            "arbiter-serve/src/connections.rs: MAX_CONNECTIONS: usize = 256;",
        ],
    ),
    ("at most 64 pages", &["arbiter-serve/src/hub.rs: MAX_TOPICS: usize = 64;"]),
    (
        "at most 1,000 engines; Swiss tournaments, knockouts and ladders have at most 10 million pairs",
        &[
            "arbiter-plan/src/tournament.rs: MAX_ENGINES: usize = 1_000;",
            "arbiter-plan/src/tournament.rs: MAX_PAIRS: u64 = 10_000_000;",
        ],
    ),
    (
        "have at most 16 MiB together",
        &["arbiter-store/src/archive/import.rs: MAX_IN_MEMORY: usize = 16 << 20;"],
    ),
    (
        "a program of more than 4 GiB is not copied",
        &["arbiter-build/src/cache.rs: MAX_PROGRAM: u64 = 4 << 30;"],
    ),
];

#[test]
fn figures_of_the_page_about_security_are_those_of_the_code() {
    let page = read("docs/security.md").split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    for (sentence, constants) in FIGURES {
        assert!(page.contains(sentence), "the page does not say: {sentence}");
        for constant in constants {
            let (file, text) = constant.split_once(": ").expect("a file and its constant");
            let code = read(&format!("harness/crates/{file}"));
            assert!(code.contains(&format!("const {text}")), "{sentence}: no {constant}");
        }
    }
}

#[test]
fn the_top_level_contains_only_expected_entries() {
    let entries: Vec<String> = std::fs::read_dir(root())
        .expect("the root of the repository can be listed")
        .map(|entry| entry.expect("an entry can be read").file_name().display().to_string())
        .collect();
    assert_clean(repository::check_top_level(&entries));
}

#[test]
fn the_lock_file_is_part_of_the_repository() {
    assert!(root().join("Cargo.lock").exists(), "Cargo.lock is missing");
    assert_clean(repository::check_ignored(".gitignore", &read(".gitignore")));
}

#[test]
fn the_changelog_describes_the_current_version() {
    assert_clean(repository::check_changelog(&read("CHANGELOG.md"), &read("Cargo.toml")));
}

#[test]
fn packages_have_all_features_and_dependencies_are_judged_with_them() {
    let build = read("packaging/build");
    for command in ["cargo build", "cargo about generate", "maturin build"] {
        let lines = build.lines().filter(|line| line.contains(command));
        let lines: Vec<&str> = lines.filter(|line| !line.contains("#")).collect();
        assert!(!lines.is_empty(), "packaging/build has no {command}");
        assert!(lines.iter().all(|line| line.contains("--all-features")), "{lines:#?}");
    }
    let judged: toml::Table = read("packaging/deny.toml").parse().expect("it is TOML");
    assert_eq!(judged["graph"]["all-features"].as_bool(), Some(true));
}

#[test]
fn tests_against_the_clock_are_those_that_the_runner_names() {
    let runner = read(".config/nextest.toml");
    let names = runner.split("test(=").skip(1).filter_map(|rest| rest.split(')').next());
    let named: BTreeSet<&str> =
        names.map(|name| name.rsplit("::").next().unwrap_or(name)).collect();
    let function = regex_lite::Regex::new(r"fn (\w*_in_time\w*)\(\)").expect("a pattern");
    let files = rust_files();
    let found = files.iter().flat_map(|file| function.captures_iter(&file.text));
    let found = found.map(|captures| captures.get(1).expect("a group").as_str());
    assert_eq!(named, found.collect());
}

#[test]
fn distributed_packages_are_optimised() {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("Cargo.toml is TOML");
    let packages = |profile: &str, level: toml::Value| -> BTreeSet<String> {
        let packages = manifest["profile"][profile]["package"].as_table().expect("a table");
        let of_level = packages.iter().filter(|(_, package)| package["opt-level"] == level);
        of_level.map(|(name, _)| name.clone()).collect()
    };
    let left_out = packages("release", 0.into());
    assert!(left_out.len() > 5);
    let missing: Vec<_> = left_out.difference(&packages("dist", "s".into())).cloned().collect();
    assert_eq!(missing, Vec::<String>::new());
}

fn assert_clean(violations: impl IntoIterator<Item = Violation>) {
    let found: Vec<String> =
        violations.into_iter().map(|violation| violation.to_string()).collect();
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

/// Asserts the lines of `text` that a check reports.
fn assert_lines(found: &[Violation], expected: &[usize]) {
    let lines: Vec<usize> = found.iter().map(|violation| violation.line).collect();
    assert_eq!(lines, expected, "found {found:#?}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests are a folder of the repository")
        .to_owned()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path))
        .unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
}

fn rust_files() -> Vec<File> {
    files().into_iter().filter(|file| file.path.ends_with(".rs")).collect()
}

/// Returns the text files of the repository, in a fixed order.
fn files() -> Vec<File> {
    let mut found = Vec::new();
    collect(&root(), "", &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 10, "only {} files found: the walk is broken", found.len());
    found
}

fn collect(dir: &Path, prefix: &str, found: &mut Vec<File>) {
    for entry in std::fs::read_dir(dir).expect("a folder of the repository can be listed") {
        let entry = entry.expect("an entry can be read");
        let path = format!("{prefix}{}", entry.file_name().display());
        // Build output, also of the workspaces of benchmarks, recorded runs, and git data are not
        // part of the source.
        if path == ".git" || path == "target" || path.ends_with("/target") {
            continue;
        }
        if prefix == "results/" && !path.ends_with(".md") {
            continue;
        }
        if entry.file_type().expect("a type can be read").is_dir() {
            collect(&entry.path(), &format!("{path}/"), found);
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            found.push(File { path, text });
        }
    }
}
