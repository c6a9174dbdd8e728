//! Tests of the examples in README.md and the manual. Blocks marked `console` are executed, all
//! blocks of a file in one folder, and their output has to match the file. `[..]` matches the rest
//! of a line, `...` matches any lines; `? 1` at the end means exit code 1. `UPDATE_EXPECT=1` writes
//! output that differs into the files.

use std::path::{Path, PathBuf};

use regex_lite::Regex;

use crate::support::{bench::Bench, programs};

/// A command with its expected output, and its position in the file, in bytes.
struct Example {
    line: usize,
    command: String,
    printed: String,
    place: std::ops::Range<usize>,
}

/// Returns README.md and all pages that are not generated.
fn pages() -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it is in the repository");
    let mut pages = vec![top.join("README.md")];
    for folder in ["docs", "docs/howto"] {
        let entries = std::fs::read_dir(top.join(folder)).expect("the folder can be listed");
        pages.extend(entries.map(|entry| entry.expect("an entry can be read").path()));
    }
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    pages
}

fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let (mut is_inside, mut at) = (false, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        if line.starts_with("```") {
            is_inside = line.trim_end() == "```console";
        } else if !is_inside {
            continue;
        } else if let Some(command) = line.strip_prefix("$ ") {
            let command = command.to_owned();
            found.push(Example { line: index + 1, command, printed: String::new(), place: at..at });
        } else if let Some(last) = found.last_mut() {
            if last.command.ends_with("\\\n") {
                (last.command += line, last.place = at..at).0
            } else {
                (last.printed += line, last.place = last.place.start..at).0
            }
        } else {
            panic!("line {}: a block begins with a command; found at byte {start}", index + 1);
        }
    }
    found
}

fn is_as_expected(printed: &str, expected: &str) -> bool {
    let line = |line: &str| match line.trim_end() {
        "..." => "(?:.*\n)*?".to_owned(),
        line => {
            let parts = line.split("[..]").map(regex_lite::escape);
            parts.collect::<Vec<_>>().join(".*") + " *\n"
        }
    };
    let pattern: String = expected.lines().map(line).collect();
    Regex::new(&format!("^{pattern}$")).expect("it is escaped").is_match(printed)
}

/// Returns the output of a command, errors included, and its exit code unless it is 0.
fn run(bench: &Bench, command: &str) -> String {
    let folder = programs::arbiter().parent().expect("it is in a folder").display();
    let script = format!(
        "exec 2>&1\nPATH={folder}:$PATH:/usr/games COLUMNS=100\nexport PATH COLUMNS\n{command}"
    );
    let finished = bench.start(Path::new("/bin/sh"), ["-c", &script]).finish();
    let place = bench.path("").display().to_string();
    let printed = finished.stdout.replace(place.trim_end_matches('/'), "FOLDER");
    let lines: String = printed.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    match finished.code {
        Some(0) => lines,
        code => format!("{lines}? {}\n", code.map_or("signal".to_owned(), |code| code.to_string())),
    }
}

#[test]
fn examples_print_what_the_book_says() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        let mut text = std::fs::read_to_string(&page).expect("a page is text");
        let bench = Bench::new();
        let mut changes = Vec::new();
        for Example { line, command, printed: expected, place } in examples(&text) {
            count += 1;
            let printed = run(&bench, &command);
            if !is_as_expected(&printed, &expected) {
                wrong.push(format!("{}:{line}: {command}{printed}", page.display()));
                changes.push((place, printed));
            }
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() && !changes.is_empty() {
            for (place, printed) in changes.into_iter().rev() {
                text.replace_range(place, &printed);
            }
            std::fs::write(&page, text).expect("a page can be written");
        }
    }
    assert!(wrong.is_empty(), "these print something else:\n{}", wrong.join("\n"));
    assert!(count > 0, "there are no examples");
}

#[test]
fn wildcards_match_varying_text() {
    let same = |printed, expected| assert!(is_as_expected(printed, expected), "{printed}");
    let other = |printed, expected| assert!(!is_as_expected(printed, expected), "{printed}");
    same("a (b)\n", "a (b)\n");
    same("a 12 s\nend\n", "a [..] s\nend\n");
    same("1\n2\n3\n", "1\n...\n3\n");
    same("1\n3\n", "1\n...\n3\n");
    other("a (b)\nc\n", "a (b)\n");
    other("a 12 m\n", "a [..] s\n");
    other("1\n2\n", "1\n...\n3\n");
}

#[test]
fn commands_are_parsed_with_their_output() {
    let text = "```sh\n$ no\n```\n```console\n$ a \\\n  b\nout\n$ c\n? 1\n```\n$ no\n";
    let found = examples(text);
    let shown: Vec<_> =
        found.iter().map(|e| (&*e.command, &*e.printed, &text[e.place.clone()])).collect();
    assert_eq!(shown, [("a \\\n  b\n", "out\n", "out\n"), ("c\n", "? 1\n", "? 1\n")]);
}
