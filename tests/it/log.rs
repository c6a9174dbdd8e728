//! Tests of the log of SPRTs and their results.

use crate::support::bench::{Bench, Finished};
use crate::support::plan::Plan;
use crate::support::project::Project;
use crate::support::snapshot::{expect_next, line_with};

const GREEDY: &str = "--skill greedy --seed 1";
const RANDOM: &str = "--skill random --seed 2";

/// Returns a test in the folder `results` whose H1 is a gain of 50 Elo.
fn test<'a>(bench: &'a Bench, name: &str, engines: [&str; 2], pairs: usize) -> Plan<'a> {
    let [first, second] = engines;
    Plan::new(bench, "sprt", pairs)
        .puppet("new", first)
        .puppet("old", second)
        .set("elo1", 50)
        .set("name", name)
        .unset("pgn")
}

fn results(bench: &Bench, folders: &[&str], more: &[&str]) -> Finished {
    let mut args = vec!["results".to_owned()];
    for folder in folders {
        args.extend(["--results".to_owned(), bench.path(folder).display().to_string()]);
    }
    bench.arbiter(args.into_iter().chain(more.iter().map(|word| (*word).to_owned()))).finish()
}

/// Returns the cells of a Markdown table, without its head.
fn rows(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = |row: &str| row.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect();
    rows.map(cells).collect()
}

#[test]
fn every_test_has_a_row_with_its_verdict() {
    let bench = Bench::new();
    let about = "greed; it ought to pay";
    test(&bench, "b-gain", [GREEDY, RANDOM], 200).set("about", about).run().expect_code(0);
    test(&bench, "a-loss", [RANDOM, GREEDY], 200).run().expect_code(1);
    test(&bench, "open", [GREEDY, RANDOM], 1).run().expect_code(5);
    Plan::new(&bench, "match", 1).puppet("A", GREEDY).puppet("B", RANDOM).run().expect_code(0);

    let log = results(&bench, &["results"], &["log", "--format", "md"]).expect_code(0);
    let found = rows(&log.stdout);
    assert_eq!(found.len(), 3, "a match is no test: {log:#?}");
    let column = |index: usize| found.iter().map(|row| row[index].as_str()).collect::<Vec<_>>();
    assert_eq!(column(1), [about, "a-loss", "open"], "the oldest first");
    assert_eq!((column(2), column(3)), (vec!["new"; 3], vec!["old"; 3]));
    assert_eq!(column(4), ["[0, 50] normalized"; 3]);
    assert_eq!(column(5), ["1 nodes"; 3]);
    assert_eq!(column(10), ["accepted", "rejected", "undecided (cap)"]);
    assert_eq!(column(11), ["b-gain", "a-loss", "open"]);
    assert_eq!(found[2][6], "2");
    for (row, name) in found.iter().zip(column(11)) {
        let shown = results(&bench, &["results"], &["show", name, "--format", "json"]).json();
        assert_eq!(row[6], shown["games"].to_string());
        let counts = shown["pentanomial"].as_array().expect("counts").iter();
        assert_eq!(row[7], counts.map(ToString::to_string).collect::<Vec<_>>().join(", "));
        let llr = shown["llr"].as_f64().expect("a ratio");
        assert!(row[9].starts_with(&format!("{llr:+.2} [")), "{row:?}");
    }
    let shown = results(&bench, &["results"], &["show", "b-gain"]).expect_code(0);
    expect_next(line_with(&shown.stdout, about));

    // The log is written into a file too, and comments can be added later.
    let out = bench.path("log.md").display().to_string();
    results(&bench, &["results"], &["log", "--out", &out]).expect_code(0);
    assert_eq!(bench.read("log.md"), log.stdout);
    results(&bench, &["results"], &["about", "open", "later"]).expect_code(0);
    let more = ["log", "--out", &out, "--title", "Gains", "--filter", "LATER|loss"];
    results(&bench, &["results"], &more).expect_code(0);
    let text = bench.read("log.md");
    assert!(text.starts_with("# Gains\n"), "{text}");
    let named: Vec<String> = rows(&text).iter().map(|row| row[1].clone()).collect();
    assert_eq!(named, ["a-loss", "later"]);
}

#[test]
fn stores_are_read_together_and_nothing_twice() {
    let bench = Bench::new();
    let test = |name: &str, folder: &str| {
        let folder = bench.path(folder).display().to_string();
        let plan = test(&bench, name, [GREEDY, RANDOM], 1).set("results", folder);
        plan.run().expect_code(5);
    };
    test("one", "first");
    test("two", "second");
    test("three", "first");
    std::fs::create_dir(bench.path("copy")).expect("a folder can be made");
    let file = |folder: &str| bench.path(folder).join("arbiter.db");
    std::fs::copy(file("first"), file("copy")).expect("a file can be copied");
    let json = ["log", "--format", "json"];
    let log = results(&bench, &["second", "copy", "first"], &json).expect_code(0).json();
    let runs: Vec<&str> =
        log.as_array().expect("a list").iter().flat_map(|r| r["run"].as_str()).collect();
    assert_eq!(runs, ["one", "two", "three"]);
    assert!(log[0]["started"].as_str().is_some_and(|time| time.ends_with('Z')), "{log:#}");
    assert_eq!(log[0]["limits"], serde_json::json!(["1 nodes", "1 nodes"]));

    let refused = |folders: &[&str], more: &[&str], code| {
        results(&bench, folders, more).expect_error(code);
    };
    refused(&["first"], &["log", "--filter", "none"], 4);
    refused(&["first"], &["log", "--filter", "("], 2);
    refused(&["first", "nowhere"], &["log"], 3);
    refused(&["first", "second"], &["show", "one"], 2);
    refused(&["first"], &["about", "none", "x"], 3);
    results(&bench, &["first"], &["about", "one", "a\nb"]).expect_code(2);
}

#[test]
fn commits_are_named() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let base = project.commit_with_bench(100, "First");
    let test = project.commit_with_bench(200, "Second");
    let more = ["sprt", "--dev", "HEAD", "--base", "HEAD~1", "--name", "run", "--about", "x|y"];
    project.run(&more).expect_code(5);
    let log = results(&bench, &["results"], &["log", "--format", "md"]).expect_code(0).stdout;
    let cells = format!("| x\\|y   | {} | {} |", &test[..9], &base[..9]);
    assert!(log.contains(&cells), "{log}");
    assert!(results(&bench, &["results"], &["log"]).expect_code(0).stdout.contains("x|y"));
}
