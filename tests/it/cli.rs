//! Tests of the subcommands around a run: stored runs are listed and shown, and the bundled engine
//! behaves like any other engine.

use std::process::Command;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use crate::support::bench::Bench;
use crate::support::plan::Plan;
use crate::support::programs::arbiter;
use crate::support::report::Report;
use crate::support::talk::Talk;

#[test]
fn stored_and_reported_results_agree() {
    let bench = Bench::new();
    let results = bench.path("results").display().to_string();
    let mut reported = Vec::new();
    for (name, seed) in [("first", 1), ("second", 2)] {
        let finished = Plan::new(&bench, "match", 2)
            .puppet("A", &format!("--seed {seed}"))
            .puppet("B", "--seed 3")
            .set("name", name)
            .run()
            .expect_code(0);
        reported.push(Report::read(&finished.json()));
    }
    for report in &reported {
        let args = ["results", "show", &report.run, "--results", &results, "--format", "json"];
        let shown = bench.arbiter(args).finish().expect_code(0);
        assert_eq!(&Report::read(&shown.json()), report);
    }
    let args = ["results", "list", "--results", &results, "--format", "json"];
    let listed = bench.arbiter(args).finish().expect_code(0).json();
    let runs = listed.as_array().expect("a list of runs");
    let mut names: Vec<&str> = runs.iter().filter_map(|run| run["run"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["first", "second"], "{listed:#}");
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.arbiter(["completions", shell]).finish().expect_code(0).stdout;
        for word in ["sprt", "tournament", "elo0"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let out = bench.path("man").display().to_string();
    bench.arbiter(["man", "--out", &out]).finish().expect_code(0);
    let page = bench.read("man/arbiter-sprt.1");
    assert!(page.contains("elo0") && page.contains(".TH"), "{page}");
    bench.arbiter(["man", "--format", "markdown", "--out", &out]).finish().expect_code(0);
    let (index, page) = (bench.read("man/index.md"), bench.read("man/sprt.md"));
    assert!(index.contains("[`arbiter results list`](results-list.md)"), "{index}");
    assert!(page.contains("{#elo0}") && page.starts_with("# arbiter sprt\n"), "{page}");
    let first = bench.arbiter(["man"]).finish().expect_code(0).stdout;
    assert!(first.contains("arbiter\\-sprt") && first.contains("xit code"), "{first}");
}

#[test]
fn the_bundled_engine_speaks_uci() {
    let mut talk = Talk::start(Command::new(arbiter()).arg("engine"));
    talk.send("uci");
    let greeting = talk.read_until("uciok");
    assert!(greeting.iter().any(|line| line.starts_with("id name ")), "{greeting:#?}");
    talk.send("isready");
    talk.read_until("readyok");
    talk.send("position startpos");
    talk.send("go nodes 1000");
    let line = talk.read_until("bestmove").pop().expect("there is a move");
    let word = line.split(' ').nth(1).expect("a move follows");
    let played: UciMove = word.parse().expect("a move can be parsed");
    let legal = played.to_move(&Chess::default()).expect("the move is legal");
    assert!(Chess::default().is_legal(legal));
    talk.send("quit");
    assert_eq!(talk.exit().code(), Some(0));
}

#[test]
fn the_bundled_engine_plays_a_match() {
    let bench = Bench::new();
    let played = Plan::new(&bench, "match", 1)
        .engine(format!("name=Bundled,cmd=\"{}\",args=engine", arbiter().display()))
        .puppet("B", "--seed 1")
        .set("each", "nodes=500")
        .expect_output(0);
    assert_eq!(played.report.wins, 2, "it must beat random moves: {:#?}", played.report);
    assert_eq!(played.report.ended_by("checkmate"), 2, "{:#?}", played.report);
}

#[test]
fn help_and_version_go_to_stdout() {
    let bench = Bench::new();
    let version = bench.arbiter(["--version"]).finish().expect_code(0);
    assert!(version.stdout.contains(env!("CARGO_PKG_VERSION")), "{version:#?}");
    let help = bench.arbiter(["--help"]).finish().expect_code(0);
    for command in ["match", "sprt", "results", "engine"] {
        assert!(help.stdout.contains(command), "{command} is not listed: {help:#?}");
    }
}
