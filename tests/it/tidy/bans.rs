//! Names that only some files may use: the async runtime, which belongs to code that does I/O, the
//! terminal streams, whose writers must escape control codes, and the operating system, so that a
//! port changes one crate. Lints forbid reading the clock and `println!`; dependencies of crates
//! limit serialization.

use regex_lite::Regex;

use super::Violation;
use super::source::code;

/// Places that may name the runtime: files, or folders with a trailing `/`.
const ALLOWED: [&str; 9] = [
    "harness/crates/arbiter-cluster/",
    "harness/crates/arbiter-game/src/driver.rs",
    "harness/crates/arbiter-game/src/engine.rs",
    "harness/crates/arbiter-game/src/engine/timer.rs",
    "harness/crates/arbiter-game/src/relay.rs",
    "harness/crates/arbiter-runner/",
    "harness/crates/arbiter-serve/",
    "harness/crates/arbiter-suite/src/runner.rs",
    "harness/src/",
];

/// Places of the harness that may write to standard output and standard error.
const WRITERS: [&str; 5] = [
    "engine/",
    "harness/crates/arbiter-report/src/live/screen.rs",
    "harness/crates/arbiter-report/src/parts/terminal.rs",
    "harness/src/commands/results/keep.rs",
    "harness/src/console.rs",
];

/// Places that may read a file without a check of its kind and size: files of the system, and
/// programs, whose hashes are known.
const READERS: [&str; 4] = [
    "engine/",
    "harness/crates/arbiter-cluster/src/coordinator/streams.rs",
    "harness/crates/arbiter-process/",
    "tests/",
];

/// Places that may name the operating system: the crate that hides it from the other crates, the
/// engine, which uses no crate of the harness, for memory in huge pages, and the signals that end a
/// run, because their streams belong to the runtime.
const SYSTEM: [&str; 3] = [
    "engine/src/tt.rs",
    "harness/crates/arbiter-process/",
    "harness/crates/arbiter-runner/src/signal.rs",
];

/// Finds names in places where they are not allowed.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    if !path.contains("/src/") || path.contains("/benches/") {
        return Vec::new();
    }
    let runtime = "decide in plain code and let the driver or the dispatcher await";
    let writers =
        "print with `print_result` or a message, which show codes for what a terminal obeys";
    let rules = [
        ("async runtime", r"\btokio::|\buse tokio\b", &ALLOWED[..], runtime),
        (
            "terminal",
            r"\b(stdout|stderr)\(\)\.lock\(|\banstream::(stdout|stderr)",
            &WRITERS,
            writers,
        ),
        (
            "input file",
            r"\bfs::read(_to_string)?\(",
            &READERS,
            "a pipe would block forever: read with `read_input`, `read_text` or `read_settings`",
        ),
        (
            "operating system",
            r#"\bstd::os::|\b(libc|rustix|unix)::|\bcfg\((unix|windows|target_os)|"/(proc|sys)/"#,
            &SYSTEM,
            "call a function of `arbiter-process`, or add one there",
        ),
    ];
    let mut violations = Vec::new();
    for (rule, pattern, allowed, found) in rules {
        let pattern = Regex::new(pattern).expect("the pattern is fixed");
        let lines = code(path, text).filter(|(_, code)| pattern.is_match(code));
        let lines = lines.filter(|_| !is_allowed(allowed, path));
        violations.extend(lines.map(|(line, _)| Violation {
            path: path.to_owned(),
            line,
            rule,
            found: found.to_owned(),
        }));
    }
    violations
}

/// Returns whether `path` is in the list `allowed`.
pub fn is_allowed(allowed: &[&str], path: &str) -> bool {
    allowed.iter().any(|entry| match entry.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None if entry.ends_with('/') => path.starts_with(entry),
        None => path == *entry,
    })
}

fn lines(path: &str, text: &str, expected: &[usize]) {
    super::assert_lines(&check(path, text), expected);
}

#[test]
fn the_runtime_belongs_to_the_drivers() {
    let text = "use tokio::select;\nfn f() { std::thread::yield_now(); }\n#[tokio::main]\nfn g() {}\n\
         #[cfg(test)]\nmod tests { use tokio::select; }";
    lines("harness/crates/arbiter-game/src/referee.rs", text, &[1, 3]);
    lines("harness/crates/arbiter-game/src/driver.rs", text, &[]);
    let quoted = "// tokio\nconst NAME: &str = \"tokio\";";
    lines("harness/crates/arbiter-game/src/referee.rs", quoted, &[]);
}

#[test]
fn one_crate_names_the_operating_system() {
    let text = "use std::os::fd::AsFd;\nuse rustix::fs;\nuse std::process::unix::signal;\n\
         fn f() { unsafe { libc::fork() }; }\n#[cfg(target_os = \"linux\")]\n\
         fn g() { read(\"/proc/self/status\"); }\nconst HELP: &str = \"see /proc/self\";";
    lines("harness/crates/arbiter-plan/src/program.rs", text, &[1, 2, 3, 4, 5, 6]);
    lines("harness/crates/arbiter-process/src/files.rs", text, &[]);
}

#[test]
fn files_are_read_with_a_check() {
    let text = "fn f() { std::fs::read(path); }\nfn g() { fs::read_to_string(path); }\n\
         fn h() { fs::read_dir(path); }";
    lines("harness/src/project.rs", text, &[1, 2]);
    lines("harness/crates/arbiter-process/src/linux/host.rs", text, &[]);
}

#[test]
fn terminals_are_written_to_in_few_places() {
    let text = "fn f() { anstream::stdout(); }\nfn g() { std::io::stderr().lock(); }\n\
         fn h() { stderr().is_terminal(); }";
    lines("harness/src/commands/ci.rs", text, &[1, 2]);
    lines("harness/src/console.rs", text, &[]);
}
