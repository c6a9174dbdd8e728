//! Check of imports between modules of one crate, which Cargo cannot forbid.

use regex_lite::{Captures, Regex};

use super::Violation;
use super::source::code;

/// Modules of the engine, from the top layer, each with the other modules that it may use.
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

/// Modules of the reports, in the same form.
const REPORT: [(&str, &str); 8] = [
    ("schemas", "live run topics"),
    ("games", "figures parts"),
    ("live", "figures parts topics"),
    ("run", "figures forms parts topics"),
    ("topics", "figures forms parts"),
    ("figures", "parts"),
    ("forms", "parts"),
    ("parts", ""),
];

/// Folders whose modules form layers.
const LAYERS: [(&str, &[(&str, &str)]); 2] =
    [("engine/src/", &ENGINE), ("harness/crates/arbiter-report/src/", &REPORT)];

/// Folder of the subcommands: a file or folder each.
const COMMANDS: &str = "harness/src/commands/";

/// The only file of the harness that uses the engine.
const ENGINE_FILE: &str = "harness/src/bundled_engine.rs";

/// Finds imports in the wrong direction.
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

/// Returns the fault of an import, if it has one.
fn wrong(path: &str, names: &Captures<'_>) -> Option<String> {
    let name = |group| names.get(group).map_or("", |name| name.as_str());
    let layers =
        LAYERS.iter().find_map(|(folder, layers)| Some((layers, module_in(path, folder)?)));
    if let Some((layers, module)) = layers {
        layer_import(layers, module, name(1))
    } else if name(1).is_empty() {
        (path.starts_with("harness/src/") && path != ENGINE_FILE)
            .then(|| format!("name the engine in {ENGINE_FILE} only"))
    } else {
        let command = module_in(path, COMMANDS)?;
        (name(1) == "commands" && name(2) != command)
            .then(|| "a command uses shared modules, never another command".to_owned())
    }
}

fn layer_import(layers: &[(&str, &str)], module: &str, target: &str) -> Option<String> {
    let (_, below) = layers.iter().find(|(name, _)| *name == module)?;
    let is_module = layers.iter().any(|(name, _)| *name == target);
    let may = target == module || below.split(' ').any(|name| name == target);
    (is_module && !may).then(|| format!("`{module}` may not use `{target}`"))
}

/// Returns the first module below `folder` in a path.
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
fn the_reports_keep_their_layers() {
    let text = "use crate::parts::Table;\nuse crate::topics::lint;\nuse crate::run::list;";
    lines("harness/crates/arbiter-report/src/live/status.rs", text, &[3]);
    lines("harness/crates/arbiter-report/src/forms/html/board.rs", text, &[2, 3]);
    lines("harness/crates/arbiter-report/src/lib.rs", text, &[]);
}

#[test]
fn a_command_names_no_other_command() {
    let text = "use crate::args::Format;\nuse crate::commands::sprt::run;\nuse palimpsest::uci;";
    lines("harness/src/commands/sprt.rs", text, &[3]);
    lines("harness/src/commands/tune/confirm.rs", text, &[2, 3]);
    lines("harness/src/bundled_engine.rs", text, &[]);
    lines("harness/src/lib.rs", text, &[3]);
}
