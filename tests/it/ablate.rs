//! Tests of ablations: a gauntlet of an engine against copies that each lack one feature.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::bench::{Bench, Finished};
use crate::support::plan::{Plan, openings};
use crate::support::snapshot::{expect_next, without_figures, without_machine};
use crate::support::{phrases, programs, store, wait_for};

const PAIRS: usize = 8;

/// Returns an ablation of a puppet, which plays different moves for each value of its option
/// `Style`.
fn styles<'a>(bench: &'a Bench, args: &str) -> Plan<'a> {
    let plan = Plan::new(bench, "ablate", PAIRS).puppet("whole", args);
    plan.set("option", "Style").set("features", "Solid,Risky")
}

/// Returns an ablation of the bundled engine, whose games are always the same.
fn bundled<'a>(bench: &'a Bench, features: &str) -> Plan<'a> {
    let plan = Plan::new(bench, "ablate", PAIRS).set("eval", "blunder").set("features", features);
    plan.set("each", "nodes=60,option.Hash=1")
}

fn features<'a>(report: &'a Value) -> Vec<(&'a str, u64)> {
    let features = report["features"].as_array().expect("an ablation has features");
    let row = |value: &'a Value| {
        assert!(value["elo_simultaneous_low"].as_f64() <= value["elo_low"].as_f64(), "{value:#}");
        let name = value["feature"].as_str().expect("a feature has a name");
        (name, value["games"].as_u64().expect("a feature has games"))
    };
    features.iter().map(row).collect()
}

#[test]
fn any_engine_with_a_feature_option_can_be_tested() {
    let bench = Bench::new();
    let report = styles(&bench, "--seed 1").run().expect_code(0).json();
    assert_eq!(report["kind"], "ablate");
    assert_eq!(report["engines"][2], "whole without Risky");
    let mut found = features(&report);
    found.sort_unstable();
    let games = 2 * PAIRS as u64;
    assert_eq!(found, [("Risky", games), ("Solid", games)]);
    // Features are sorted by descending Elo of the complete engine against the engine without the
    // feature.
    let elo = |index: usize| report["features"][index]["elo"].as_f64();
    assert!(elo(0) >= elo(1), "{report:#}");
    for feature in report["features"].as_array().expect("a list") {
        let score = feature["wins"].as_u64().cmp(&feature["losses"].as_u64());
        let elo = feature["elo"].as_f64().expect("random games are not all won");
        assert_eq!(elo.partial_cmp(&0.0), Some(score), "{feature:#}");
    }
    bench.wait_until_quiet();
}

#[test]
fn an_ablation_survives_repeated_kills() {
    let resume = |bench: &Bench| {
        let results = bench.path("results").display().to_string();
        let args = ["ablate", "--resume", "run", "--results", &results, "--format", "json"];
        bench.arbiter(args)
    };
    let bench = Bench::new();
    let mut running = styles(&bench, "--seed 1 --delay-ms 2").set("concurrency", 2).start();
    for kill in 1..=3 {
        wait_for("pairs are stored", || {
            (store::pairs(&bench.path("results")).len() >= 3 * kill).then_some(())
        });
        running.signal(Signal::KILL);
        assert_eq!(running.finish().code, None);
        bench.wait_until_quiet();
        store::assert_consistent(&bench.path("results"));
        running = resume(&bench);
    }
    let report = running.finish().expect_code(0).json();
    assert_eq!(store::pairs(&bench.path("results")).len(), 2 * PAIRS);
    let reference = Bench::new();
    let uninterrupted = styles(&reference, "--seed 1").run().expect_code(0).json();
    assert_eq!(report, uninterrupted);
    assert_eq!(bench.read("games.pgn"), reference.read("games.pgn"));
}

#[test]
fn each_feature_test_ends_separately_and_stays_ended() {
    fn plan(bench: &Bench) -> Plan<'_> {
        let plan = bundled(bench, "doubled,material").set("pairs", 30);
        let plan = plan.set("openings", bench.write("wide.epd", openings(30)).display());
        plan.set("elo0", 0).set("elo1", 150)
    }
    let bench = Bench::new();
    let report = plan(&bench).run().expect_code(0).json();
    let material = &report["features"][0];
    assert_eq!(
        (&material["feature"], &material["test_verdict"]),
        (&"material".into(), &"H1".into())
    );
    let games = |feature: &Value| feature["games"].as_u64().expect("a count");
    assert!(games(material) < 40, "{material:#}");
    assert_ne!(games(&report["features"][1]), games(material), "{report:#}");
    let stored = store::pairs(&bench.path("results")).len() as u64;
    assert_eq!(2 * stored, report["games"].as_u64().expect("a count"), "one at a time");
    // A killed run has other pairs in progress when a test ends, but gives the same result.
    let killed = Bench::new();
    let running = plan(&killed).set("concurrency", 3).start();
    wait_for("pairs are stored", || {
        (store::pairs(&killed.path("results")).len() >= 5).then_some(())
    });
    running.signal(Signal::KILL);
    running.finish();
    let results = killed.path("results").display().to_string();
    let args = ["ablate", "--resume", "run", "--results", &results, "--format", "json"];
    assert_eq!(killed.arbiter(args).finish().expect_code(0).json(), report);
    assert_eq!(killed.read("games.pgn"), bench.read("games.pgn"));
}

#[test]
fn unknown_features_list_the_known_ones() {
    let bench = Bench::new();
    let check = |args: &[&str], code: i32| {
        let finished = bench.arbiter(["ablate"].iter().chain(args)).finish().expect_code(code);
        expect_next(&finished.stderr);
        assert!(!bench.path("results").exists(), "{args:?} left something");
    };
    check(&["--eval", "crafty"], 3);
    check(&["--eval", "blunder", "--features", "pst,moon"], 3);
    check(&["--eval", "blunder", "--features", "pst,PST"], 3);
    check(&[], 2);
    check(&["--eval", "blunder", "--schedule", "round-robin"], 3);
    let puppet = bench.puppet("P", "", ",nodes=1");
    check(&["--engine", &puppet], 3);
}

#[test]
fn a_feature_that_a_foreign_engine_does_not_know_stops_the_run() {
    let bench = Bench::new();
    let finished = styles(&bench, "").set("features", "Solid,Wild").run().expect_code(3);
    expect_next(&finished.stderr);
    assert_eq!(store::pairs(&bench.path("results")).len(), 0);
}

/// Returns the headings of a Markdown document.
fn headings(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with('#')).collect()
}

fn result(text: &str) -> &str {
    let from = text.find(phrases::RESULT).expect("a result");
    let to = text.find(phrases::CONDITIONS).expect("conditions");
    &text[from..to]
}

fn show(bench: &Bench) -> String {
    let results = bench.path("results").display().to_string();
    let show = ["results", "show", "run", "--results", &results, "--format", "md"];
    let Finished { stdout, .. } = bench.arbiter(show).finish().expect_code(0);
    stdout
}

#[test]
fn a_report_can_be_published_and_played_again() {
    let bench = Bench::new();
    bundled(&bench, "pst,mobility").set("format", "md").run().expect_code(0);
    let text = show(&bench);
    // The section of lint findings depends on the moves played.
    let sections = headings(&text).into_iter().filter(|heading| *heading != phrases::LINT);
    expect_next(&sections.collect::<Vec<_>>().join("\n"));
    let head = text.lines().find(|line| line.starts_with('|')).expect("a table");
    expect_next(&without_figures(&without_machine(head)));
    let (_, conditions) = text.split_once(phrases::CONDITIONS).expect("conditions");
    expect_next(&without_figures(&without_machine(conditions)));
    let command = text.lines().find(|line| line.starts_with("arbiter ")).expect("a command");
    let again = Bench::new();
    let script = format!(
        "arbiter() {{ \"$0\" \"$@\"; }}; {command} --name run --results {} --format md",
        again.path("results").display()
    );
    let arbiter = programs::arbiter().display().to_string();
    let shell = again.start(std::path::Path::new("/bin/sh"), ["-c", &script, &arbiter]);
    let repeated = shell.finish().expect_code(0).stdout;
    assert_eq!(result(&repeated), result(&text));
}

#[test]
fn every_kind_of_run_has_a_report() {
    let check = |command: &'static str, engines: usize, schedule: &str| {
        let bench = Bench::new();
        let mut plan = Plan::new(&bench, command, 2);
        if command == "match" {
            plan = plan.set("schedule", schedule);
        }
        for engine in 0..engines {
            plan = plan.puppet(&format!("P|{engine}"), &format!("--seed {engine}"));
        }
        plan.run();
        let text = show(&bench);
        expect_next(&without_machine(&text));
        // An escaped bar in a name is not a cell border.
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        for table in lines.split(|line| !line.starts_with('|')).filter(|table| !table.is_empty()) {
            assert!(table.iter().all(|row| columns(row) == columns(table[0])), "{table:#?}");
        }
    };
    check("sprt", 2, "");
    check("match", 2, "round-robin");
    check("match", 3, "round-robin");
    check("match", 3, "gauntlet");
}
