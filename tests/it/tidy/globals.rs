//! Check against mutable globals. Lints forbid lazily computed tables and thread-local values.

use regex_lite::Regex;

use super::Violation;
use super::bans::is_allowed;
use super::source::code;

/// Files in which a `static` may change: the search parameters in a build for tuning, the texts of
/// a test, which has a separate thread, signals, which a process has only once, and the examples
/// below.
const ALLOWED: [&str; 5] = [
    "harness/crates/arbiter-runner/src/signal.rs",
    "engine/src/search/tunable.rs",
    "engine/src/search/features.rs",
    "tests/it/support/snapshot.rs",
    "tests/it/tidy/globals.rs",
];

/// Finds mutable globals.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    // Test programs of a crate are separate programs.
    let is_program_of_its_own = path.contains("/tests/") && !path.starts_with("tests/");
    if is_program_of_its_own || is_allowed(&ALLOWED, path) {
        return Vec::new();
    }
    let mutable =
        r"\bstatic (mut\b|\w+: [^=;]*\b(Atomic\w+|Cell|Mutex|RefCell|RwLock|\w*UnsafeCell)\b)";
    let mutable = Regex::new(mutable).expect("the pattern is fixed");
    let lines = code(path, text).filter(|(_, code)| mutable.is_match(code));
    let violation = |(line, code): (usize, &str)| Violation {
        path: path.to_owned(),
        line,
        rule: "global state",
        found: format!("`{}`: pass the value as a parameter", code.trim()),
    };
    lines.map(violation).collect()
}

fn lines(path: &str, text: &str, expected: &[usize]) {
    super::assert_lines(&check(path, text), expected);
}

#[test]
fn a_global_that_can_change_is_found() {
    let text = "static mut A: u8 = 0;\nstatic B: Mutex<u8> = Mutex::new(0);\n\
                static C: std::sync::atomic::AtomicU64 = AtomicU64::new(0);\n\
                static D: [u8; 2] = [1, 2];\nfn f(x: &'static str) { static E: RefCell<u8> = g(); }\n\
                static G: fn() = g;\nfn g<T: 'static>(x: Mutex<T>) {}\npub static H: Cell<u8> = h();";
    lines("harness/src/run/state.rs", text, &[1, 2, 3, 5, 8]);
}

#[test]
fn only_the_parameters_of_a_tuning_build_can_be_set() {
    let text = "static NOW: AtomicI32 = AtomicI32::new(1);\nstatic A: Mutex<u8> = Mutex::new(0);";
    lines("engine/src/search/tunable.rs", text, &[]);
    lines("engine/src/search/params.rs", text, &[1, 2]);
}
