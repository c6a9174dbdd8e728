//! The async runtime, which only code that acts may name. Reading the clock and printing are forbidden by
//! lints, serialisation by what crates depend on.

use regex_lite::Regex;

use super::Violation;
use super::source::code;

/// Places that may name the runtime: files, or folders with a `/` at the end.
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

/// Finds what is named where it may not be.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    if !path.contains("/src/") || path.contains("/benches/") || is_allowed(&ALLOWED, path) {
        return Vec::new();
    }
    let runtime = Regex::new(r"\btokio::|\buse tokio\b").expect("the pattern is fixed");
    let lines = code(path, text).filter(|(_, code)| runtime.is_match(code));
    let found = "decide in plain code and let the driver or the dispatcher await";
    let violation = |(line, _)| Violation {
        path: path.to_owned(),
        line,
        rule: "async runtime",
        found: found.to_owned(),
    };
    lines.map(violation).collect()
}

/// Whether `path` is one of `allowed`.
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
