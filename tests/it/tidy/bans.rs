//! The async runtime and the clock, which only code that acts may name. Printing is forbidden by
//! lints, serialisation by what crates depend on.

use super::Violation;
use super::source::Source;

/// One thing and where it may be named.
struct Ban {
    rule: &'static str,
    /// Sequences of tokens, separated by spaces.
    patterns: &'static [&'static str],
    /// Files; a folder ends with `/`, a `*` stands for the rest of a path.
    allowed: &'static [&'static str],
    advice: &'static str,
}

const BANS: [Ban; 2] = [
    Ban {
        rule: "async runtime",
        patterns: &["tokio"],
        allowed: &[
            "harness/crates/arbiter-cluster/",
            "harness/crates/arbiter-game/src/driver.rs",
            "harness/crates/arbiter-game/src/engine.rs",
            "harness/crates/arbiter-game/src/engine/timer.rs",
            "harness/crates/arbiter-game/src/relay.rs",
            "harness/crates/arbiter-runner/",
            "harness/crates/arbiter-serve/",
            "harness/crates/arbiter-suite/src/runner.rs",
            "harness/src/",
        ],
        advice: "decide in plain code and let the driver or the dispatcher await",
    },
    Ban {
        rule: "wall clock",
        patterns: &[
            "Instant :: now",
            "SystemTime :: now",
            "Timestamp :: now",
            "Zoned :: now",
            "jiff :: now",
            "clock_gettime",
            ". elapsed ( )",
        ],
        allowed: &[
            "engine/src/bench.rs",
            "engine/src/time.rs",
            "engine/src/uci/",
            "harness/crates/arbiter-check/src/session.rs",
            "harness/crates/arbiter-game/src/driver.rs",
            "harness/crates/arbiter-game/src/engine.rs",
            "harness/crates/arbiter-game/src/engine/timer.rs",
            "harness/crates/arbiter-process/",
            "harness/crates/arbiter-runner/src/dispatch.rs",
            "harness/crates/arbiter-serve/src/metrics.rs",
        ],
        advice: "take the time as an argument",
    },
];

/// Finds what is named where it may not be.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    if !path.contains("/src/") || path.contains("/benches/") {
        return Vec::new();
    }
    let source = Source::read(path, text);
    let bans: Vec<&Ban> = BANS.iter().filter(|ban| !is_allowed(ban.allowed, path)).collect();
    let mut found = Vec::new();
    for (index, token) in source.tokens.iter().enumerate() {
        for ban in bans.iter().filter(|_| !token.in_test) {
            let named = ban.patterns.iter().find(|pattern| names(&source, index, pattern));
            found.extend(named.map(|pattern| Violation {
                path: path.to_owned(),
                line: token.line,
                rule: ban.rule,
                found: format!("`{}` here: {}", pattern.replace(' ', ""), ban.advice),
            }));
        }
    }
    found
}

/// Whether the tokens at `index` are the thing itself, not a method that
/// happens to have its name.
fn names(source: &Source<'_>, index: usize, pattern: &str) -> bool {
    let is_method = index > 0 && source.tokens[index - 1].text == ".";
    !is_method && source.matches(index, pattern)
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

#[test]
fn the_clock_is_read_by_the_drivers() {
    let text = "let a = Instant::now();\nlet b = std::time::SystemTime::now();\nlet c = a.elapsed();\n\
                let d = jiff::Zoned::now();\nlet e = clock.elapsed(now);\nlet f = a + b;";
    lines("harness/crates/arbiter-game/src/referee.rs", text, &[1, 2, 3, 4]);
    lines("engine/src/search/mod.rs", text, &[1, 2, 3, 4]);
    lines("harness/crates/arbiter-process/src/reader.rs", text, &[]);
    lines("engine/src/time.rs", text, &[]);
    lines("tests/it/support.rs", text, &[]);
}
