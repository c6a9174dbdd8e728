//! Tests of well-known engines that play each other through the harness.
//!
//! If the engines are missing, a test prints a notice and is skipped, except in continuous
//! integration, where `tests/run` should have installed them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::bench::Bench;
use crate::support::plan::Plan;
use crate::support::programs::installed;
use crate::support::snapshot::{expect_next, line_with, without_figures};

/// Returns the programs, or `None` with a notice if one is missing.
#[track_caller]
fn programs<const N: usize>(names: [&str; N]) -> Option<[PathBuf; N]> {
    let missing: Vec<&str> = names.into_iter().filter(|name| installed(name).is_none()).collect();
    if missing.is_empty() {
        return Some(names.map(|name| installed(name).expect("it was there a moment ago")));
    }
    let notice = format!("not installed: {}; tests/run installs it", missing.join(", "));
    assert!(std::env::var_os("CI").is_none(), "{notice}");
    eprintln!("skipped: {notice}");
    None
}

/// Faults that none of these engines commits unless the harness provokes them.
const FAULTS: [&str; 5] = ["illegal_move", "unparseable_move", "crash", "disconnect", "stall"];

/// Plays one pair, with a clock for a few moves only, and returns the number of games lost on time.
///
/// Other faults fail the test. Losses on time are allowed, because an old engine may exceed a short
/// time control on a busy machine, which is not a fault of the harness.
#[track_caller]
fn play(specs: [String; 2], each: &str) -> u64 {
    let bench = Bench::new();
    let [first, second] = specs;
    let plan = Plan::new(&bench, "match", 1)
        .engine(first)
        .engine(second)
        .set("each", each)
        .set("fault-limit", 1);
    let plan = if each.starts_with("tc=") { plan.set("max-moves", 8) } else { plan };
    let played = plan.expect_output(0);
    let report = &played.report;
    assert_eq!(report.games, 2, "{report:#?}");
    for fault in FAULTS {
        assert_eq!(report.ended_by(fault), 0, "{report:#?}");
    }
    for game in played.games() {
        let is_played = game.moves.len() > 10 || game.tag("Termination") == "time forfeit";
        assert!(is_played, "{} moves: {:?}", game.moves.len(), game.tags);
    }
    report.ended_by("time_forfeit")
}

/// Returns the value of `--engine` for a program; `fields` are further fields, each preceded by a
/// comma.
fn spec(name: &str, program: &Path, fields: &str) -> String {
    format!("name={name},cmd={}{fields}", program.display())
}

#[test]
fn stockfish_and_ethereal_play_with_a_node_limit() {
    // Excluded are Glaurung, which answers `bestmove (none)` if the limit is reached before its
    // first iteration is complete, and Toga and GNU Chess, which do not support this limit.
    let Some([stockfish, ethereal]) = programs(["stockfish", "ethereal-chess"]) else { return };
    let stockfish = spec("Stockfish", &stockfish, ",option.Hash=16,option.Threads=1");
    let lost = play([stockfish, spec("Ethereal", &ethereal, ",option.Hash=16")], "nodes=3000");
    assert_eq!(lost, 0, "there is no clock to lose on");
}

#[test]
fn stockfish_and_glaurung_play_with_a_clock() {
    let Some([stockfish, glaurung]) = programs(["stockfish", "glaurung"]) else { return };
    let glaurung = spec("Glaurung", &glaurung, ",option.Threads=1");
    play([spec("Stockfish", &stockfish, ""), glaurung], "tc=3+0.05");
}

#[test]
fn toga_and_ethereal_play_with_a_clock() {
    let Some([toga, ethereal]) = programs(["toga2", "ethereal-chess"]) else { return };
    play([spec("Toga", &toga, ""), spec("Ethereal", &ethereal, "")], "tc=3+0.05");
}

#[test]
fn gnuchess_is_started_with_an_argument() {
    let Some([gnuchess, ethereal]) = programs(["gnuchess", "ethereal-chess"]) else { return };
    let specs = [spec("GNUChess", &gnuchess, ""), spec("Ethereal", &ethereal, "")];
    // Depth is the only limit besides time that both engines obey.
    assert_eq!(play(specs, "depth=6"), 0, "there is no clock to lose on");
}

#[test]
fn stockfish_and_toga_ponder() {
    let Some([stockfish, toga]) = programs(["stockfish", "toga2"]) else { return };
    let stockfish = spec("Stockfish", &stockfish, ",ponder=true,option.Threads=1");
    play([stockfish, spec("Toga", &toga, ",ponder=true")], "tc=3+0.05");
}

#[test]
fn stockfish_counts_nodes_as_time() {
    let Some([stockfish]) = programs(["stockfish"]) else { return };
    let side = |name: &str| spec(name, &stockfish, ",option.Threads=1");
    let lost = play([side("One"), side("Other")], "tc=1+0.01,nodestime=200");
    assert_eq!(lost, 0, "no real clock runs, and the engine counts as we do");
}

#[test]
fn engines_play_in_a_sandbox() {
    let names = ["stockfish", "toga2", "gnuchess", "fairymax"];
    let Some([stockfish, toga, gnuchess, fairymax]) = programs(names) else { return };
    let held = |fields: &str| format!(",sandbox=require{fields}");
    let threaded = held(",option.Hash=32,option.Threads=2");
    let palimpsest = spec("Palimpsest", Path::new("bundled"), &threaded);
    play([spec("Stockfish", &stockfish, &threaded), palimpsest], "depth=6");
    let fairymax = spec("Fairy", &fairymax, &held(",proto=xboard"));
    let gnuchess = spec("GNUChess", &gnuchess, &held(""));
    play([fairymax, gnuchess], "depth=4");
    // An engine may be a script.
    let bench = Bench::new();
    let script = format!("#!/usr/bin/env bash\n{} \"$@\"\n", toga.display());
    let script = bench.write("toga", script);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).expect("a file of ours");
    play([spec("Script", &script, &held("")), spec("Toga", &toga, &held(""))], "depth=6");
}

/// Plays an xboard engine against a UCI engine.
#[track_caller]
fn play_xboard(name: &str) {
    let Some([xboard, toga]) = programs([name, "toga2"]) else { return };
    let specs = [spec(name, &xboard, ",proto=xboard"), spec("Toga", &toga, "")];
    play(specs, "tc=3+0.05");
}

#[test]
fn fairymax_plays_with_the_edit_command() {
    play_xboard("fairymax");
}

#[test]
fn hoichess_plays() {
    play_xboard("hoichess");
}

#[test]
fn phalanx_plays() {
    play_xboard("phalanx");
}

#[test]
fn sjeng_plays() {
    play_xboard("sjeng");
}

#[test]
fn openings_beyond_fairymax_are_skipped() {
    let Some([fairymax]) = programs(["fairymax"]) else { return };
    let lost_right = "rnbqkbnr/pppp1ppp/8/8/5p2/1P3NP1/P1PPP2P/RNBQKB1R w KQ -\n";
    let plain = "rnbqkbnr/pppp1ppp/8/8/5p2/1P3NP1/P1PPP2P/RNBQKB1R w KQkq -\n";
    let plan = |bench: &Bench, book: &str| {
        let book = bench.write("odd.epd", book);
        Plan::new(bench, "match", 2)
            .engine(spec("Fairy", &fairymax, ",proto=xboard,depth=2"))
            .puppet("B", "--seed 1")
            .set("openings", book.display())
            .set("max-moves", 5)
            .run()
    };
    let bench = Bench::new();
    let finished = plan(&bench, &format!("{lost_right}{plain}")).expect_code(0);
    expect_next(&finished.stderr);
    assert_eq!(bench.read("games.pgn").matches("KQkq").count(), 4);
    plan(&Bench::new(), lost_right).expect_error(3);
}

#[test]
fn an_engine_that_ignores_its_limit_is_named() {
    let Some([toga]) = programs(["toga2"]) else { return };
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 400).engine(spec("toga2", &toga, "")).puppet("B", "");
    let started = Instant::now();
    let run = plan.set("each", "nodes=8000").run().expect_code(6);
    expect_next(&without_figures(line_with(&run.stderr, " 1.1 (toga2 v B)")));
    assert!(started.elapsed() < Duration::from_secs(60), "{run:#?}");
}
