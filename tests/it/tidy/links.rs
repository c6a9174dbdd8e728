//! Check of links between pages, and to headings, as they work in the repository. `docs/hooks.py`
//! checks the links of the manual.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use regex_lite::Regex;

use super::{File, Violation};

/// Finds links to missing files and headings.
pub fn check(files: &[File]) -> Vec<Violation> {
    let link = Regex::new(r"\]\(\s*([^)\s]+)\s*\)").expect("the pattern is fixed");
    let pages = files.iter().filter(|file| file.path.ends_with(".md"));
    let anchors: BTreeMap<&str, BTreeSet<String>> =
        pages.clone().map(|page| (page.path.as_str(), anchors(&page.text))).collect();
    let mut found = Vec::new();
    for page in pages {
        for (line, text) in prose(&page.text) {
            for target in link.captures_iter(text).filter_map(|captures| captures.get(1)) {
                let target = target.as_str();
                let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
                if !is_elsewhere && !leads_somewhere(&page.path, target, files, &anchors) {
                    let found_here = format!("`{target}` leads nowhere");
                    let path = page.path.clone();
                    found.push(Violation { path, line, rule: "link", found: found_here });
                }
            }
        }
    }
    found
}

/// Finds promises of the security page without a test, or with a test that does not exist.
pub fn check_promises(files: &[File]) -> Vec<Violation> {
    let page = files.iter().find(|file| file.path == "docs/security.md").expect("it is there");
    let is_promise = |text: &str| text.starts_with("| ") && text.split('|').count() == 5;
    let lines = (1..).zip(page.text.lines());
    let after_heading = lines.skip_while(|(_, text)| *text != "## Defences").skip(1);
    let section = after_heading.take_while(|(_, text)| !text.starts_with("## "));
    let promises = section.filter(|(_, text)| is_promise(text)).skip(1);
    let mut found = Vec::new();
    for (line, text) in promises {
        let shown_by = text.split('|').nth(3).expect("it has three cells");
        let names: Vec<&str> = shown_by.split('`').skip(1).step_by(2).collect();
        let lost = names.iter().filter(|name| !has_tests(name, files));
        let mut lost: Vec<&str> = lost.copied().collect();
        if names.is_empty() {
            lost.push("nothing");
        }
        let (path, rule) = (page.path.clone(), "promise");
        found.extend(lost.into_iter().map(|name| Violation {
            path: path.clone(),
            line,
            rule,
            found: format!("shown by {name}, which has no tests"),
        }));
    }
    found
}

/// Returns whether there are tests in a module of the end-to-end tests, or in a file or crate of
/// the harness.
fn has_tests(name: &str, files: &[File]) -> bool {
    let test_file = format!("tests/it/{}.rs", name.replace("::", "/"));
    let ends =
        [format!("/{name}.rs"), format!("/{name}/tests.rs"), format!("/{name}/src/tests.rs")];
    let is_it = |path: &str| {
        path == test_file
            || (path.starts_with("harness/") && ends.iter().any(|end| path.ends_with(end)))
    };
    files.iter().any(|file| is_it(&file.path) && file.text.contains("#[test]"))
}

fn leads_somewhere(
    from: &str,
    target: &str,
    files: &[File],
    anchors: &BTreeMap<&str, BTreeSet<String>>,
) -> bool {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { from.to_owned() } else { joined(from, path) };
    match anchors.get(path.as_str()) {
        Some(own) => heading.is_empty() || own.contains(heading),
        // Pictures and folders are not text files.
        None => super::root().join(&path).exists() || files.iter().any(|file| file.path == path),
    }
}

/// Converts a path relative to the folder of a file into a path relative to the root of the
/// repository.
fn joined(from: &str, path: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let joined_path = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
    for component in joined_path.components() {
        match component {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.display().to_string()),
            _ => {}
        }
    }
    parts.join("/")
}

/// Returns the lines outside code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_block = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        (!is_block && !is_fence).then_some((index + 1, line))
    })
}

/// Returns the anchors of a page's headings, as GitHub creates them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for (_, line) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let name: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let time = times.entry(name.clone()).or_default();
        all.insert(if *time == 0 { name } else { format!("{name}-{time}") });
        *time += 1;
    }
    all
}

#[test]
fn a_broken_link_is_found() {
    let page = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let files = [
        page(
            "docs/a.md",
            "# One: `two`/3\n[a](b.md)\n[b](b.md#part-1)\n[c](#one-two3)\n[d](c.md)\n[e](b.md#part-2)",
        ),
        page(
            "docs/b.md",
            "## Part\n## Part\n[up](../README.md#top)\n```\n[x](y)\n# z\n```\n[z](#z)",
        ),
        page("README.md", "# Top\n[out](https://example.org/x#y) [over](nowhere/)"),
    ];
    super::assert_lines(&check(&files), &[5, 6, 8, 2]);
}
