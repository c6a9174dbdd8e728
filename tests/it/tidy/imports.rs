//! Imports that Cargo cannot forbid: between modules of one crate.

use regex_lite::{Captures, Regex};

use super::Violation;
use super::source::code;

/// The engine's modules from the top, each with those it may name besides itself.
const ENGINE: [(&str, &str); 15] = [
    ("tools", "bench chess datagen eval failure input search time train tune uci"),
    ("uci", "bench chess eval failure input search time tt"),
    ("bench", "chess eval line search time tt"),
    ("datagen", "bench chess eval line random search time tt"),
    ("train", "chess datagen eval random"),
    ("tune", "chess eval line random search"),
    ("search", "chess eval line time tt"),
    ("line", "chess eval"),
    ("tt", "chess eval"),
    ("time", "chess"),
    ("eval", "chess"),
    ("chess", ""),
    ("failure", ""),
    ("input", ""),
    ("random", ""),
];

/// The subcommands: a file or folder each.
const COMMANDS: &str = "harness/src/commands/";

/// The one file of the harness that names the engine.
const ENGINE_FILE: &str = "harness/src/bundled_engine.rs";

/// Finds imports that point the wrong way.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    let import =
        Regex::new(r"\bcrate::(\w+)(?:::(\w+))?|\bpalimpsest::").expect("the pattern is fixed");
    let found = code(path, text).flat_map(|(line, code)| {
        let names = import.captures_iter(code).filter_map(|names| wrong(path, &names));
        let violation = |found| Violation { path: path.to_owned(), line, rule: "import", found };
        names.map(violation).collect::<Vec<_>>()
    });
    found.collect()
}

/// Returns what is wrong with an import, if anything.
fn wrong(path: &str, names: &Captures<'_>) -> Option<String> {
    let name = |group| names.get(group).map_or("", |name| name.as_str());
    if let Some(module) = module_in(path, "engine/src/") {
        engine_import(module, name(1))
    } else if name(1).is_empty() {
        (path.starts_with("harness/src/") && path != ENGINE_FILE)
            .then(|| format!("name the engine in {ENGINE_FILE} only"))
    } else {
        let command = module_in(path, COMMANDS)?;
        (name(1) == "commands" && name(2) != command)
            .then(|| "a command uses shared modules, never another command".to_owned())
    }
}

fn engine_import(module: &str, target: &str) -> Option<String> {
    let (_, below) = ENGINE.iter().find(|(name, _)| *name == module)?;
    let is_module = ENGINE.iter().any(|(name, _)| *name == target);
    let may = target == module || below.split(' ').any(|name| name == target);
    (is_module && !may).then(|| format!("`{module}` may not use `{target}`"))
}

/// The first module below `folder` in a path.
fn module_in<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let inner = path.strip_prefix(folder)?;
    inner.split('/').next().map(|name| name.trim_end_matches(".rs"))
}

fn lines(path: &str, text: &str, expected: &[usize]) {
    super::assert_lines(&check(path, text), expected);
}

#[test]
fn the_engine_keeps_its_layers() {
    let text = "use crate::chess::Square;\nuse crate::search::see;\nuse crate::eval::Score;\n\
                #[cfg(test)]\nmod tests { use crate::search::Search; }";
    lines("engine/src/eval/blunder/mod.rs", text, &[2]);
    lines("engine/src/chess/mod.rs", text, &[2, 3]);
    lines("engine/src/lib.rs", text, &[]);
}

#[test]
fn a_command_names_no_other_command() {
    let text = "use crate::args::Format;\nuse crate::commands::sprt::run;\nuse palimpsest::uci;";
    lines("harness/src/commands/sprt.rs", text, &[3]);
    lines("harness/src/commands/tune/confirm.rs", text, &[2, 3]);
    lines("harness/src/bundled_engine.rs", text, &[]);
    lines("harness/src/lib.rs", text, &[3]);
}
