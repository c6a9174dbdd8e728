//! Which module may name which: the arrows of the plan, as a table.
//!
//! A module that is not in the table is a violation by itself, so that a new
//! folder is placed before it is used.

mod paths;

use self::paths::{Named, named_paths};
use super::Violation;
use super::source::Source;

/// What the modules below one path may name.
struct Layer {
    package: &'static str,
    /// The module, as folders; the longest entry that fits a file counts.
    module: &'static str,
    /// Modules of the same package, besides those in the same folder; separated
    /// by spaces.
    may_use: &'static str,
    /// Whether it computes only: no files, processes, sockets, environment.
    pure: bool,
    /// The only crates it may name besides `std`; `None` leaves it to Cargo.
    crates: Option<&'static [&'static str]>,
}

const fn layer(module: &'static str, may_use: &'static str) -> Layer {
    Layer { package: "harness", module, may_use, pure: false, crates: None }
}

const fn pure(module: &'static str, may_use: &'static str) -> Layer {
    Layer { package: "harness", module, may_use, pure: true, crates: None }
}

const fn engine(module: &'static str, may_use: &'static str) -> Layer {
    Layer { package: "engine", module, may_use, pure: false, crates: None }
}

const ONLY_STD: Option<&[&str]> = Some(&[]);

const LAYERS: &[Layer] = &[
    // What the user sees.
    layer(
        "cli",
        "adjudicate annotation broker build check clock compressed config game/outcome game/referee \
         game/replay gate openings process protocol rate report run schedule seed stats store suite \
         tablebases tune uci/session",
    ),
    layer(
        "report",
        "annotation check clock config/ablation config/affinity config/plan config/provenance \
         config/tuning \
         game/outcome game/pane game/record game/transcript gate openings/quarantine rate run/control \
         run/event run/job run/latency run/noise run/standing schedule stats suite tune uci/info \
         uci/score",
    ),
    pure("gate", ""),
    // Remote execution, and tools built on runs.
    layer(
        "broker",
        "adjudicate annotation build/bench clock config game process protocol run schedule seed stats \
         suite uci/score uci/session",
    ),
    layer("suite", "clock config game openings process protocol run seed stats uci"),
    pure("suite/epd", "clock game/player game/referee stats uci"),
    pure("suite/perft", "game/player"),
    // Conversations with engines, and their judges.
    pure("check", "suite/start uci"),
    layer("check/drive", "process"),
    // The run: it passes the plan, and the settings in it, on to those below.
    layer(
        "run",
        "adjudicate annotation clock config game openings process protocol schedule seed stats store \
         tune uci",
    ),
    pure("run/event", "game/outcome game/record openings schedule stats tune"),
    pure("run/latency", "game/outcome game/record"),
    pure("run/control", ""),
    pure("run/noise", ""),
    pure("run/places", "config/affinity"),
    pure("run/standing", "game/outcome game/record schedule stats"),
    pure("run/state", "config game/outcome game/record openings schedule seed stats tune"),
    layer(
        "store",
        "adjudicate annotation clock config game/outcome game/record game/transcript gate openings \
         protocol run/event run/job run/latency run/noise run/standing schedule stats tune uci",
    ),
    // The plan: it names the settings of those below and runs nothing.
    layer(
        "config",
        "adjudicate annotation build clock gate openings protocol schedule seed stats tune uci",
    ),
    layer("build", "process"),
    // One game: only the driver knows that engines are processes.
    layer("game", "adjudicate annotation clock protocol uci"),
    layer("game/driver", "adjudicate annotation clock process protocol uci"),
    layer("game/player", "annotation clock process protocol uci"),
    pure("game/referee", "adjudicate clock protocol uci"),
    pure("game/replay", "adjudicate clock protocol uci"),
    pure("game/transcript", ""),
    pure("adjudicate", "game/outcome uci"),
    layer("process", "uci"),
    layer("tablebases", "adjudicate"),
    // Games of others, as counts.
    layer("rate", "stats"),
    // Vocabulary and computation.
    layer("openings", "compressed seed"),
    layer("compressed", ""),
    pure("protocol", "cecp uci"),
    pure("cecp", "clock uci"),
    pure("annotation", ""),
    pure("uci", ""),
    pure("clock", ""),
    pure("seed", ""),
    Layer { crates: ONLY_STD, ..pure("schedule", "seed") },
    Layer { crates: Some(&["statrs"]), ..pure("stats", "") },
    Layer { crates: Some(&["rand_chacha", "statrs"]), ..pure("tune", "seed stats") },
    // The engine, from the top.
    engine("cli", "bench chess eval line search time tt tune uci"),
    engine("uci", "bench chess eval line search time tt tune"),
    engine("bench", "chess eval line search time tt"),
    engine("tune", "chess eval line search"),
    engine("search", "chess eval line time tt"),
    engine("line", "chess eval"),
    engine("tt", "chess eval"),
    engine("time", "chess"),
    engine("eval", "chess"),
    Layer { pure: true, crates: ONLY_STD, ..engine("chess", "") },
];

/// The one file in which the harness names the engine.
const ENGINE_DOOR: &str = "harness/src/cli/engine.rs";

/// Crates that only generate implementations of traits of `std`.
const ALWAYS_ALLOWED: [&str; 1] = ["thiserror"];

/// What code that only computes has no use for.
const EFFECTS: [&str; 5] = ["env", "fs", "io", "net", "process"];

/// Finds names that point the wrong way.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    let Some((package, module)) = module_of(path) else { return Vec::new() };
    let source = Source::read(path, text);
    let mut found = Vec::new();
    let mut complain = |line, what| {
        found.push(Violation {
            path: path.to_owned(),
            line,
            rule: "dependency direction",
            found: what,
        });
    };
    let named = named_paths(&source, &module);
    if package == "harness" && path != ENGINE_DOOR {
        let engine = named.iter().filter(|named| named.path[0] == "palimpsest");
        engine.for_each(|named| {
            complain(named.line, format!("the engine is named in {ENGINE_DOOR} only"))
        });
    }
    // The root of a crate declares the modules and names the one it starts.
    if module.is_empty() {
        return found;
    }
    let Some(layer) = layer_of(package, &module) else {
        complain(
            1,
            format!("module `{}` is not in the table of layers: place it there", module[0]),
        );
        return found;
    };
    for named in &named {
        if let Some(what) = objection(layer, &module, named) {
            complain(named.line, what);
        }
    }
    found
}

/// Why `named` may not be named, if so.
fn objection(layer: &'static Layer, module: &[String], named: &Named) -> Option<String> {
    let first = named.path[0].as_str();
    if first == "crate" {
        let target = &named.path[1..];
        let is_home = target.first() == module.first();
        let is_listed = layer.may_use.split(' ').any(|entry| is_below(target, entry));
        // A test may make values of anything below, however far.
        let is_fixture = || named.in_test && lies_below(layer, target);
        if is_home || target.is_empty() || is_listed || is_fixture() {
            return None;
        }
        return Some(format!("`{}` may not use `{}`", layer.module, target.join("::")));
    }
    if named.in_test {
        return None;
    }
    if first == "std"
        && layer.pure
        && named.path.get(1).is_some_and(|part| EFFECTS.contains(&part.as_str()))
    {
        return Some(format!(
            "`{}` only computes, but names `{}`",
            layer.module,
            named.path.join("::")
        ));
    }
    let allowed = layer.crates?;
    let foreign = !matches!(first, "std" | "core" | "alloc")
        && !allowed.contains(&first)
        && !ALWAYS_ALLOWED.contains(&first);
    foreign.then(|| format!("`{}` may not use the crate `{first}`", layer.module))
}

/// The package and the module path of a file of the product.
fn module_of(path: &str) -> Option<(&str, Vec<String>)> {
    let (package, inner) = path.split_once("/src/")?;
    if !matches!(package, "engine" | "harness") {
        return None;
    }
    let mut module: Vec<String> =
        inner.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    Some((package, module))
}

/// The most specific entry for a module.
fn layer_of(package: &str, module: &[String]) -> Option<&'static Layer> {
    LAYERS
        .iter()
        .filter(|layer| layer.package == package && is_below(module, layer.module))
        .max_by_key(|layer| layer.module.len())
}

/// Whether `target` can be reached from `layer` by following the arrows.
fn lies_below(layer: &'static Layer, target: &[String]) -> bool {
    let mut reached: Vec<&str> = layer.may_use.split(' ').collect();
    let mut at = 0;
    while let Some(&module) = reached.get(at) {
        at += 1;
        if is_below(target, module) {
            return true;
        }
        let parts: Vec<String> = module.split('/').map(str::to_owned).collect();
        let next = layer_of(layer.package, &parts).map_or("", |layer| layer.may_use);
        reached.extend(next.split(' ').filter(|name| !reached.contains(name)).collect::<Vec<_>>());
    }
    false
}

/// Whether `path` is the module written `folder/file`, or something in it.
fn is_below(path: &[String], module: &str) -> bool {
    let parts = module.split('/').count();
    parts <= path.len() && module.split('/').zip(path).all(|(a, b)| a == b)
}

fn lines(path: &str, text: &str, expected: &[usize]) {
    super::assert_lines(&check(path, text), expected);
}

#[test]
fn a_module_names_what_lies_below_it() {
    let text = "use crate::game::record::Record;\nuse crate::run::state;\nuse crate::stats;";
    lines("harness/src/report/summary.rs", text, &[2]);
    lines("harness/src/run/dispatch.rs", text, &[]);
    lines("harness/src/stats/elo.rs", text, &[1, 2]);
    lines("harness/src/schedule/pairs.rs", text, &[1, 2, 3]);
    lines("harness/src/main.rs", text, &[]);
}

#[test]
fn every_way_to_write_a_path_is_followed() {
    lines(
        "harness/src/report/a.rs",
        "use crate::{\n stats::elo,\n run::{event,\n dispatch},\n};",
        &[4],
    );
    lines("harness/src/report/b.rs", "fn f() -> crate::cli::Exit { crate::stats::f() }", &[1]);
    lines("harness/src/report/c.rs", "use super::super::cli;\nuse super::super::stats;", &[1]);
    lines(
        "harness/src/report/mod.rs",
        "use super::cli;\nmod a {\n use super::super::cli;\n use super::b;\n}",
        &[1, 3],
    );
    lines("harness/src/report/d.rs", "pub(crate) fn f() {}\npub(in crate::report) fn g() {}", &[]);
    lines(
        "harness/src/report/e.rs",
        "/// See [`crate::cli`].\nconst A: &str = \"crate::cli\";",
        &[],
    );
}

#[test]
fn only_the_driver_of_a_game_knows_processes() {
    let text = "use crate::process::Engine;";
    lines("harness/src/game/driver.rs", text, &[]);
    lines("harness/src/game/driver/slot.rs", text, &[]);
    lines("harness/src/game/referee.rs", text, &[1]);
    lines("harness/src/game/mod.rs", text, &[1]);
}

#[test]
fn computation_touches_nothing_outside() {
    let text = "use std::fmt;\nuse std::fs::File;\nuse rand::Rng;\nuse statrs::f;\nuse thiserror::Error;\n\
                #[cfg(test)]\nmod tests { use std::fs; use serde_json::Value; }";
    lines("harness/src/stats/elo.rs", text, &[2, 3]);
    lines("harness/src/schedule/swiss.rs", text, &[2, 3, 4]);
    lines("engine/src/chess/fen.rs", text, &[2, 3, 4]);
    lines("harness/src/openings/pgn.rs", text, &[]);
}

#[test]
fn a_test_makes_values_of_anything_below_but_of_nothing_above() {
    let text = "#[cfg(test)]\nmod tests {\n use crate::game::record::Move;\n use crate::stats;\n\
                use crate::cli::Exit;\n}\nuse crate::game::record::Move;";
    lines("harness/src/cli/play.rs", text, &[7]);
    lines("harness/src/report/run.rs", text, &[5]);
    lines("harness/src/stats/elo.rs", text, &[3, 5, 7]);
}

#[test]
fn a_local_name_is_not_taken_for_a_crate() {
    let text = "mod square;\nuse square::Square;\nuse crate::chess::{color, hash as key};\nuse Piece::*;\n\
                #[rustfmt::skip]\nfn f() { color::g(u64::MAX); key::h(Square::A1); list::<u8>(); }\n\
                fn g() { rand::random() }";
    lines("engine/src/chess/mod.rs", text, &[7]);
}

#[test]
fn the_engine_keeps_its_layers_and_the_harness_its_door() {
    lines(
        "engine/src/eval/blunder/mod.rs",
        "use crate::chess::Square;\nuse crate::search::see;",
        &[2],
    );
    lines("engine/src/chess/mod.rs", "use crate::eval::Score;", &[1]);
    lines("harness/src/cli/engine.rs", "palimpsest::uci::run();", &[]);
    lines("harness/src/suite/perft.rs", "palimpsest::chess::perft();", &[1]);
}

#[test]
fn a_module_nobody_placed_is_found() {
    lines("harness/src/helpers.rs", "fn f() {}", &[1]);
    lines("harness/src/run/dispatch.rs", "use crate::helpers;", &[1]);
}
