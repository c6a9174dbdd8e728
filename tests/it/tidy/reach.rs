//! Every Rust file belongs to a crate: a file that no `mod` declares is
//! compiled by nobody and rots.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, is_test_file};
use super::{File, Violation};

/// Where crates start, besides what lies in `benches/`, `examples/`, the engine's own `tests/` and
/// its `fuzz/`.
const ROOTS: [&str; 6] = [
    "engine/src/lib.rs",
    "engine/src/main.rs",
    "harness/src/lib.rs",
    "harness/src/main.rs",
    "tests/it/main.rs",
    "tests/puppet/main.rs",
];

/// Finds files that no `mod` declares, modules that have no file, and files
/// named as tests that are compiled into the product.
pub fn check(files: &[File]) -> Vec<Violation> {
    let texts: BTreeMap<&str, &str> =
        files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let mut found = Vec::new();
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<String> =
        texts.keys().filter(|path| is_root(path)).map(|path| (*path).to_owned()).collect();
    while let Some(path) = waiting.pop() {
        let Some(text) = texts.get(path.as_str()) else { continue };
        if !reached.insert(path.clone()) {
            continue;
        }
        for declared in declarations(&path, text) {
            let candidates = declared.candidates.iter();
            match candidates.clone().find(|candidate| texts.contains_key(candidate.as_str())) {
                Some(target) if is_test_file(target) && !declared.in_test => found.push(violation(
                    &path,
                    declared.line,
                    format!("{target} is named as a test but not marked #[cfg(test)]"),
                )),
                Some(target) => waiting.push(target.clone()),
                None => found.push(violation(
                    &path,
                    declared.line,
                    format!(
                        "no file for the module: expected {}",
                        declared.candidates.join(" or ")
                    ),
                )),
            }
        }
    }
    let lost = texts.keys().filter(|path| !reached.contains(**path));
    found.extend(lost.map(|path| violation(path, 1, "no `mod` declares this file".to_owned())));
    found
}

struct Declared {
    line: usize,
    in_test: bool,
    candidates: [String; 2],
}

/// The modules that `path` declares and that live in files of their own.
fn declarations(path: &str, text: &str) -> Vec<Declared> {
    let source = Source::read(path, text);
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let home = match name {
        "mod.rs" | "lib.rs" | "main.rs" => dir.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    };
    let windows = source.tokens.windows(3);
    windows
        .filter(|window| window[0].text == "mod" && window[1].is_word() && window[2].text == ";")
        .map(|window| Declared {
            line: window[0].line,
            in_test: window[0].in_test,
            candidates: [
                format!("{home}/{}.rs", window[1].text),
                format!("{home}/{}/mod.rs", window[1].text),
            ],
        })
        .collect()
}

fn is_root(path: &str) -> bool {
    ROOTS.contains(&path)
        || path.ends_with("/build.rs") && path.matches('/').count() == 1
        || path.contains("/benches/")
        || path.starts_with("engine/fuzz/fuzz_targets/")
        || path.starts_with("engine/tests/")
        || path.contains("/examples/")
}

fn violation(path: &str, line: usize, found: String) -> Violation {
    Violation { path: path.to_owned(), line, rule: "reachable", found }
}

fn found(files: &[(&str, &str)]) -> Vec<String> {
    let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
    check(&files.iter().map(file).collect::<Vec<_>>())
        .iter()
        .map(|violation| format!("{}:{}", violation.path, violation.line))
        .collect()
}

#[test]
fn a_file_is_reached_through_its_parents() {
    let tree = [
        ("engine/src/lib.rs", "pub mod chess;\nmod tt;"),
        ("engine/src/chess/mod.rs", "mod square;\n// mod ghost;"),
        ("engine/src/chess/square.rs", ""),
        ("engine/src/tt.rs", "mod entry;"),
        ("engine/src/tt/entry.rs", "#[cfg(test)]\nmod tests;"),
        ("engine/src/tt/entry/tests.rs", ""),
    ];
    assert!(found(&tree).is_empty());
}

#[test]
fn a_lost_file_a_missing_file_and_a_test_in_the_product_are_found() {
    let tree = [
        ("engine/src/lib.rs", "mod here;\nmod gone;"),
        ("engine/src/here.rs", "mod tests;"),
        ("engine/src/here/tests.rs", ""),
        ("engine/src/lost.rs", ""),
    ];
    let expected = [
        "engine/src/here.rs:1",
        "engine/src/lib.rs:2",
        "engine/src/here/tests.rs:1",
        "engine/src/lost.rs:1",
    ];
    let mut found = found(&tree);
    found.sort();
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(found, expected);
}
