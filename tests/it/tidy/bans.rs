//! Things that may be named in a few places only: the async runtime, the clock,
//! the terminal and the means to store a type.

use super::Violation;
use super::source::Source;

/// One thing and where it may be named.
struct Ban {
    rule: &'static str,
    /// Sequences of tokens, separated by spaces.
    patterns: &'static [&'static str],
    /// Files; a folder ends with `/`, a `*` stands for the rest of a path.
    allowed: &'static [&'static str],
    /// Whether code in a module of tests is held to it as well.
    in_tests: bool,
    advice: &'static str,
}

const BANS: [Ban; 4] = [
    Ban {
        rule: "async runtime",
        patterns: &["tokio"],
        allowed: &[
            "harness/src/broker/",
            "harness/src/build/",
            "harness/src/cli/",
            "harness/src/game/driver.rs",
            "harness/src/game/player.rs",
            "harness/src/game/relay.rs",
            "harness/src/main.rs",
            "harness/src/run/dispatch.rs",
            "harness/src/run/executor/",
            "harness/src/run/executor.rs",
            "harness/src/run/signal.rs",
            "harness/src/suite/drive.rs",
        ],
        in_tests: false,
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
            "harness/src/check/drive.rs",
            "harness/src/game/driver.rs",
            "harness/src/game/player.rs",
            "harness/src/process/",
            "harness/src/run/dispatch.rs",
        ],
        in_tests: false,
        advice: "take the time as an argument",
    },
    Ban {
        rule: "printing",
        patterns: &[
            "println !",
            "eprintln !",
            "print !",
            "eprint !",
            "dbg !",
            "stdout ( )",
            "stderr ( )",
        ],
        allowed: &[
            "engine/src/bench.rs",
            "engine/src/cli.rs",
            "engine/src/main.rs",
            "engine/src/uci/",
            "harness/src/cli/",
            "harness/src/main.rs",
            "harness/src/report/live*",
            "harness/src/report/terminal*",
        ],
        in_tests: false,
        advice: "return the text, or send an event that a reporter shows",
    },
    Ban {
        rule: "serialisation",
        patterns: &["Serialize", "Deserialize"],
        allowed: &[
            "harness/src/broker/wire.rs",
            "harness/src/broker/wire/",
            "harness/src/config/file.rs",
            "harness/src/config/file/",
            "harness/src/report/",
            "harness/src/store/",
        ],
        in_tests: true,
        advice: "give the type a versioned mirror where it is stored or sent",
    },
];

/// Finds what is named where it may not be.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    if !(path.starts_with("engine/src/") || path.starts_with("harness/src/")) {
        return Vec::new();
    }
    let source = Source::read(path, text);
    let bans: Vec<&Ban> = BANS.iter().filter(|ban| !is_allowed(ban.allowed, path)).collect();
    let mut found = Vec::new();
    for (index, token) in source.tokens.iter().enumerate() {
        for ban in bans.iter().filter(|ban| ban.in_tests || !token.in_test) {
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
    let text =
        "use tokio::select;\nfn f() { std::thread::yield_now(); }\n#[tokio::main]\nfn g() {}";
    lines("harness/src/game/referee.rs", text, &[1, 3]);
    for driver in ["game/driver.rs", "run/dispatch.rs", "run/executor/local.rs", "cli/mod.rs"] {
        lines(&format!("harness/src/{driver}"), text, &[]);
    }
    lines("harness/src/run/state.rs", "// tokio\nconst NAME: &str = \"tokio\";", &[]);
}

#[test]
fn the_clock_is_read_by_the_drivers() {
    let text = "let a = Instant::now();\nlet b = std::time::SystemTime::now();\nlet c = a.elapsed();\n\
                let d = jiff::Zoned::now();\nlet e = clock.elapsed(now);\nlet f = a + b;";
    lines("harness/src/game/referee.rs", text, &[1, 2, 3, 4]);
    lines("engine/src/search/mod.rs", text, &[1, 2, 3, 4]);
    lines("harness/src/process/reader.rs", text, &[]);
    lines("engine/src/time.rs", text, &[]);
    lines("tests/it/support.rs", text, &[]);
}

#[test]
fn only_the_edges_print() {
    let text = "println!(\"a\");\nwrite!(std::io::stdout(), \"b\");\ncommand.stdout(Stdio::piped());\n\
                child.stderr();\nlog(io::stderr().lock());\nwriteln!(out, \"c\");\ndbg!(x);";
    lines("harness/src/run/dispatch.rs", text, &[1, 2, 5, 7]);
    lines("harness/src/report/terminal.rs", text, &[]);
    lines("harness/src/report/live/bar.rs", text, &[]);
    lines("harness/src/report/markdown.rs", text, &[1, 2, 5, 7]);
}

#[test]
fn tests_may_print_and_read_the_clock_but_not_store() {
    let text = "#[cfg(test)]\nmod tests {\n fn f() { println!(\"\"); Instant::now(); }\n\
                #[derive(serde::Serialize)]\n struct A;\n}\nfn g() { println!(\"\") }";
    lines("harness/src/run/state.rs", text, &[4, 7]);
}

#[test]
fn stored_types_are_mirrors() {
    let text = "#[derive(Debug, Serialize, Deserialize)]\nstruct A;\nimpl Serialize for B {}\n\
                /// Serialize\nlet c = serde_json::to_string(&d);";
    lines("harness/src/game/record.rs", text, &[1, 1, 3]);
    lines("harness/src/store/mirror.rs", text, &[]);
    lines("harness/src/config/file.rs", text, &[]);
    lines("harness/src/config/plan.rs", text, &[1, 1, 3]);
}
