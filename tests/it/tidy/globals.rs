//! No mutable globals.

use super::Violation;
use super::bans::is_allowed;
use super::source::Source;

/// Where a value may be computed once at first use: tables of the rules, the embedded network,
/// and the limits with which the process was started, which are the process's own.
const COMPUTED_ONCE_ALLOWED: [&str; 4] = [
    "engine/src/chess/",
    "engine/src/eval/nnue/mod.rs",
    "harness/crates/arbiter-process/src/linux/limits.rs",
    "tests/it/",
];

/// Where the parameters of the search are that a build for tuning can set.
const SETTABLE_ALLOWED: [&str; 2] =
    ["engine/src/search/tunable.rs", "engine/src/search/features.rs"];

/// Where the texts of a test are kept, which has a thread of its own.
const OF_A_TEST_ALLOWED: [&str; 1] = ["tests/it/support/snapshot.rs"];

/// Types that make a `static` mutable.
const MUTABLE: [&str; 6] = ["Cell", "Mutex", "RefCell", "RwLock", "SyncUnsafeCell", "UnsafeCell"];

/// Types that make a `static` a table that is computed once.
const COMPUTED_ONCE: [&str; 4] = ["LazyCell", "LazyLock", "OnceCell", "OnceLock"];

/// Finds mutable globals.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    // Test programs of a crate are their own.
    let is_program_of_its_own = path.contains("/tests/") && !path.starts_with("tests/");
    if is_program_of_its_own || is_allowed(&OF_A_TEST_ALLOWED, path) {
        return Vec::new();
    }
    let source = Source::read(path, text);
    let mut found = Vec::new();
    for (index, token) in source.tokens.iter().enumerate() {
        let complaint = match token.text {
            "static" => global(path, &source, index),
            "thread_local" => Some("thread_local! hides a global".to_owned()),
            _ => None,
        };
        found.extend(complaint.map(|found| Violation {
            path: path.to_owned(),
            line: token.line,
            rule: "global state",
            found,
        }));
    }
    found
}

/// What is wrong with the `static` at `index`.
fn global(path: &str, source: &Source<'_>, index: usize) -> Option<String> {
    if source.matches(index, "static mut") {
        return Some("`static mut`: pass the value as a parameter".to_owned());
    }
    let declaration =
        source.tokens[index..].iter().take_while(|token| !matches!(token.text, "=" | ";"));
    for token in declaration {
        let settable = token.text.starts_with("Atomic") && !is_allowed(&SETTABLE_ALLOWED, path);
        if MUTABLE.contains(&token.text) || settable {
            return Some(format!("a global {}: pass the value as a parameter", token.text));
        }
        if COMPUTED_ONCE.contains(&token.text) && !is_allowed(&COMPUTED_ONCE_ALLOWED, path) {
            return Some(format!("a global {}: build the table in const or pass it", token.text));
        }
    }
    None
}

fn lines(path: &str, text: &str, expected: &[usize]) {
    super::assert_lines(&check(path, text), expected);
}

#[test]
fn a_global_that_can_change_is_found() {
    let text = "static mut A: u8 = 0;\nstatic B: Mutex<u8> = Mutex::new(0);\n\
                static C: std::sync::atomic::AtomicU64 = AtomicU64::new(0);\n\
                static D: [u8; 2] = [1, 2];\nfn f(x: &'static str) { static E: RefCell<u8> = g(); }\n\
                thread_local! { static F: Cell<u8> = Cell::new(0); }\nstatic G: fn() = g;";
    lines("harness/src/run/state.rs", text, &[1, 2, 3, 5, 6, 6]);
}

#[test]
fn only_the_parameters_of_a_tuning_build_can_be_set() {
    let text = "static NOW: AtomicI32 = AtomicI32::new(1);\nstatic A: Mutex<u8> = Mutex::new(0);";
    lines("engine/src/search/tunable.rs", text, &[2]);
    lines("engine/src/search/params.rs", text, &[1, 2]);
}

#[test]
fn a_table_computed_once_belongs_to_the_rules_of_chess() {
    let text = "static TABLE: OnceLock<[u64; 64]> = OnceLock::new();";
    lines("engine/src/search/mod.rs", text, &[1]);
    lines("engine/src/chess/attacks/sliders.rs", text, &[]);
}
