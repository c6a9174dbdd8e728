//! Check that every Rust file belongs to a crate: a file that no manifest names and no `mod`
//! declares is never compiled.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use super::source::is_test_file;
use super::{File, Violation};

/// Folders in which each file is a crate without an entry in the manifest, with the manifest key
/// that disables this.
const FOLDERS: [(&str, &str); 4] = [
    ("tests", "autotests"),
    ("benches", "autobenches"),
    ("examples", "autoexamples"),
    ("src/bin", "autobins"),
];

/// Finds files that no `mod` declares, modules without a file, and test files that are compiled
/// into the product.
pub fn check(files: &[File]) -> Vec<Violation> {
    let texts: BTreeMap<&str, &str> =
        files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let mut found = Vec::new();
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<String> = texts
        .iter()
        .filter_map(|(path, text)| Some((path.strip_suffix("Cargo.toml")?, text)))
        .flat_map(|(home, manifest)| roots(home, manifest, &texts))
        .collect();
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
    let lost = texts.keys().filter(|path| path.ends_with(".rs") && !reached.contains(**path));
    found.extend(lost.map(|path| {
        violation(path, 1, "no manifest names this file and no `mod` declares it".to_owned())
    }));
    found
}

struct Declaration {
    line: usize,
    in_test: bool,
    candidates: [String; 2],
}

/// Returns the modules that `path` declares and that have separate files.
fn declarations(path: &str, text: &str) -> Vec<Declaration> {
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let home = match name {
        "mod.rs" | "lib.rs" | "main.rs" => dir.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    };
    let module =
        Regex::new(r"^\s*(?:pub(?:\([^)]*\))? )?mod (\w+);").expect("the pattern is fixed");
    let (mut declared, mut in_test) = (Vec::new(), false);
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = module.captures(line).and_then(|names| names.get(1)) {
            let name = name.as_str();
            declared.push(Declaration {
                line: index + 1,
                in_test: in_test || is_test_file(path),
                candidates: [format!("{home}/{name}.rs"), format!("{home}/{name}/mod.rs")],
            });
        }
        // The test attribute is before the declaration, or before the enclosing module.
        in_test = line.starts_with("#[cfg(test)]")
            || in_test && (line.starts_with(['#', ' ']) || line.ends_with('{'));
    }
    declared
}

/// Returns the root files of a package's crates; `home` is its folder, with a trailing slash, or
/// empty at the top level.
fn roots(home: &str, manifest: &str, texts: &BTreeMap<&str, &str>) -> Vec<String> {
    let manifest: toml::Table = manifest.parse().expect("a manifest is TOML");
    let Some(package) = manifest.get("package") else { return Vec::new() };
    let mut roots: Vec<String> =
        ["build.rs", "src/lib.rs", "src/main.rs"].map(|file| format!("{home}{file}")).to_vec();
    for kind in ["bin", "test", "bench", "example"] {
        let targets = manifest.get(kind).and_then(|targets| targets.as_array());
        let named = targets.into_iter().flatten();
        roots.extend(
            named.filter_map(|target| Some(format!("{home}{}", target.get("path")?.as_str()?))),
        );
    }
    for (folder, switch) in FOLDERS {
        if package.get(switch).and_then(|value| value.as_bool()) == Some(false) {
            continue;
        }
        let folder = format!("{home}{folder}/");
        let files = texts.keys().filter(|path| {
            let inner = path.strip_prefix(&folder).and_then(|rest| rest.strip_suffix(".rs"));
            inner.is_some_and(|name| !name.contains('/') || name.ends_with("/main"))
        });
        roots.extend(files.map(|path| (*path).to_owned()));
    }
    roots
}

fn violation(path: &str, line: usize, found: String) -> Violation {
    Violation { path: path.to_owned(), line, rule: "reachable", found }
}

fn violations(files: &[(&str, &str)]) -> Vec<String> {
    let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
    check(&files.iter().map(file).collect::<Vec<_>>())
        .iter()
        .map(|violation| format!("{}:{}", violation.path, violation.line))
        .collect()
}

#[test]
fn a_file_is_reached_through_its_parents() {
    let tree = [
        ("engine/Cargo.toml", "[package]\nname = \"engine\""),
        ("engine/src/lib.rs", "pub mod chess;\nmod tt;"),
        ("engine/src/chess/mod.rs", "mod square;\n// mod ghost;"),
        ("engine/src/chess/square.rs", ""),
        ("engine/src/tt.rs", "mod entry;"),
        ("engine/src/tt/entry.rs", "#[cfg(test)]\nmod tests;"),
        ("engine/src/tt/entry/tests.rs", ""),
    ];
    assert!(violations(&tree).is_empty());
}

#[test]
fn a_lost_file_a_missing_file_and_a_test_in_the_product_are_found() {
    let tree = [
        ("engine/Cargo.toml", "[package]\nname = \"engine\""),
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
    let mut found = violations(&tree);
    found.sort();
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_manifest_names_crates() {
    let manifest = "[package]\nautotests = false\n[[bin]]\npath = \"targets/fen.rs\"\n\
                    [[test]]\nname = \"it\"\npath = \"it/main.rs\"";
    let tree = [
        ("Cargo.toml", "[workspace]"),
        ("tests/Cargo.toml", manifest),
        ("tests/it/main.rs", "mod a;"),
        ("tests/it/a.rs", ""),
        ("tests/targets/fen.rs", ""),
        ("tests/targets/lost.rs", ""),
        ("tests/tests/off.rs", ""),
        ("tests/benches/on.rs", ""),
        ("tests/examples/on/main.rs", "mod helper;"),
        ("tests/examples/on/helper.rs", ""),
        ("src/main.rs", ""),
    ];
    let expected = ["src/main.rs:1", "tests/targets/lost.rs:1", "tests/tests/off.rs:1"];
    assert_eq!(violations(&tree), expected);
}
