//! Checks of the repository itself, outside the code.

use super::Violation;

/// Entries of the top level. Put a new file into one of the folders, or into this list and explain
/// it in the README.
const TOP_LEVEL: [&str; 25] = [
    ".ci",
    ".github",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    // Build and gates of this repository's commits, which arbiter reads from the current folder.
    "arbiter.toml",
    // Build of SQLite, and settings of the test runner.
    ".cargo",
    ".config",
    // The manual, and its build.
    "docs",
    "mkdocs.yml",
    "engine",
    "harness",
    "openings",
    // Builds and tests of packages, and systemd units.
    "packaging",
    "results",
    "clippy.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "tests",
    // Build output, ignored by git.
    "target",
];

/// Prefixes of paths that exist only on one machine, split so that this file does not contain them.
const MACHINE_PATHS: [&str; 5] = [
    concat!("/", "work/"),
    concat!("/", "home/"),
    concat!("/", "root/"),
    concat!("/", "Users/"),
    concat!("C:\\", "Users"),
];

/// Finds paths that exist only on one machine.
pub fn check_paths(path: &str, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(start) = MACHINE_PATHS.iter().find(|start| names(line, start)) {
            found.push(Violation {
                path: path.to_owned(),
                line: index + 1,
                rule: "machine path",
                found: format!("`{start}` exists on one machine only"),
            });
        }
    }
    found
}

/// Returns whether `line` contains `start` as the start of a path, not as a folder within a path
/// (`docs/home/`) or as the path of a URL.
fn names(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '/'))
    })
}

/// Finds unexpected entries of the top level.
pub fn check_top_level(entries: &[String]) -> Vec<Violation> {
    entries
        .iter()
        .filter(|entry| *entry != ".git" && !TOP_LEVEL.contains(&entry.as_str()))
        .map(|entry| Violation {
            path: entry.clone(),
            line: 1,
            rule: "top level",
            found: "not an expected entry: move it into one of the folders".to_owned(),
        })
        .collect()
}

/// Finds lines of a `.gitignore` that exclude the lock file from the repository.
pub fn check_ignored(path: &str, text: &str) -> Vec<Violation> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| matches!(line.trim().trim_start_matches('/'), "Cargo.lock" | "*.lock"))
        .map(|(index, _)| Violation {
            path: path.to_owned(),
            line: index + 1,
            rule: "lock file",
            found: "Cargo.lock is committed, so that every build uses the same versions".to_owned(),
        })
        .collect()
}

/// Finds a changelog whose newest version differs from the version of the workspace.
pub fn check_changelog(changelog: &str, manifest: &str) -> Vec<Violation> {
    let manifest: toml::Table = manifest.parse().expect("Cargo.toml is TOML");
    let version = manifest["workspace"]["package"]["version"].as_str();
    let newest = changelog.lines().enumerate().find_map(|(index, line)| {
        let word = line.strip_prefix("## ")?.split_whitespace().next()?;
        let word = word.trim_matches(['[', ']']);
        word.starts_with(|c: char| c.is_ascii_digit()).then_some((index + 1, word))
    });
    if newest.map(|(_, word)| word) == version {
        return Vec::new();
    }
    vec![Violation {
        path: "CHANGELOG.md".to_owned(),
        line: newest.map_or(1, |(line, _)| line),
        rule: "version",
        found: format!(
            "newest entry {:?}, but Cargo.toml says {version:?}",
            newest.map(|(_, word)| word)
        ),
    }]
}

#[test]
fn a_path_of_a_machine_is_found() {
    let home = concat!("/", "home/");
    let text =
        format!("see {home}me/x\nhttps://example.org{home}x\n\"{home}me\"\n~/.config\n../home/x");
    super::assert_lines(&check_paths("README.md", &text), &[1, 3]);
}

#[test]
fn an_unexpected_entry_is_found() {
    let entries = ["engine", ".git", "target", "notes.txt"].map(str::to_owned);
    let found = check_top_level(&entries);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, "notes.txt");
}

#[test]
fn an_ignored_lock_file_is_found() {
    super::assert_lines(&check_ignored(".gitignore", "/target\n/Cargo.lock\n"), &[2]);
    super::assert_lines(&check_ignored(".gitignore", "/target\n"), &[]);
}

#[test]
fn the_newest_entry_is_the_version() {
    let manifest = "[workspace.package]\nversion = \"0.2.0\"";
    let lines = |changelog, expected: &[usize]| {
        super::assert_lines(&check_changelog(changelog, manifest), expected);
    };
    lines("# Changelog\n\n## Unreleased\n\n## [0.2.0] - 2026-01-01\n\n## 0.1.0", &[]);
    lines("# Changelog\n\n## 0.2.0\n", &[]);
    lines("# Changelog\n\n## 0.1.0\n\n## 0.2.0\n", &[3]);
    lines("# Changelog\n", &[1]);
}
