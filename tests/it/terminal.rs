//! Tests of the messages of commands, besides their results.

use crate::support::bench::Bench;
use crate::support::plan::Plan;
use crate::support::snapshot::{expect_next, without_machine};
use crate::support::store;

fn plan(bench: &Bench) -> Plan<'_> {
    Plan::new(bench, "match", 2).puppet("A", "--seed 1").puppet("B", "--seed 2").unset("format")
}

#[test]
fn a_quiet_run_prints_only_its_result() {
    let bench = Bench::new();
    let quiet = plan(&bench).switch("quiet").run().expect_code(0);
    assert_eq!(quiet.stderr, "");
    expect_next(&quiet.stdout);
    // An error is printed nevertheless.
    let results = bench.path("results").display().to_string();
    let refused = bench.arbiter(["-q", "results", "show", "walk", "--results", &results]).finish();
    refused.expect_error(3);
}

#[test]
fn a_verbose_run_reports_each_game() {
    let bench = Bench::new();
    let verbose = plan(&bench).switch("verbose").run().expect_code(0);
    for game in ["1.1", "1.2", "2.1", "2.2"] {
        assert!(verbose.stderr.contains(&format!(" {game}: ")), "{verbose:#?}");
    }
    let usual = plan(&bench).set("name", "usual").run().expect_code(0);
    assert!(!usual.stderr.contains(" 1.1: "), "{usual:#?}");
}

#[test]
fn a_dry_run_prints_the_plan_and_leaves_nothing() {
    let bench = Bench::new();
    let dry = plan(&bench).switch("dry-run").run().expect_code(0);
    expect_next(&without_machine(&dry.stdout));
    assert!(!bench.path("results").exists() && !bench.path("games.pgn").exists());
    let json = plan(&bench).switch("dry-run").set("format", "json").run().expect_code(0).json();
    assert_eq!(json["engines"][1]["name"], "B");
    assert_eq!((&json["pairs"], &json["openings"]), (&2.into(), &2.into()));
    // The printed command plays the same run.
    let command = json["command"].as_str().expect("a command");
    let args = shell_words::split(command).expect("words of a shell");
    let again = bench.arbiter(args.into_iter().skip(1).chain([
        "--dry-run".to_owned(),
        "--format".to_owned(),
        "json".to_owned(),
    ]));
    assert_eq!(again.finish().expect_code(0).json()["command"], json["command"]);
    // A dry run reports the same errors.
    let wrong = bench.puppet("A", "--seed 1", ",option.Nonsense=1");
    let refused = Plan::new(&bench, "match", 2).engine(wrong).puppet("B", "").unset("format");
    refused.switch("dry-run").run().expect_error(3);
}

#[test]
fn ndjson_has_a_line_per_pair_and_one_for_the_result() {
    let bench = Bench::new();
    let run = plan(&bench).set("format", "ndjson").run().expect_code(0);
    let lines: Vec<serde_json::Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect();
    assert_eq!(lines.len(), 1 + store::pairs(&bench.path("results")).len());
    assert_eq!((&lines[0]["event"], &lines[0]["pair"]), (&"pair".into(), &1.into()));
    assert_eq!(lines[1]["games"].as_array().map(Vec::len), Some(2));
    assert_eq!((&lines[2]["schema"], &lines[2]["games"]), (&"arbiter.report/3".into(), &4.into()));
}

#[test]
fn samples_name_the_file_they_cannot_use() {
    let bench = Bench::new();
    let out = bench.path("samples.txt").display().to_string();
    let bad = bench.write("bad.pgn", "\u{1}\u{2} nothing of the kind").display().to_string();
    let samples = |pgn: &str| bench.arbiter(["samples", "--pgn", pgn, "--out", &out]).finish();
    samples(&bad).expect_error(4);
    let short = bench.write("short.pgn", "1. e4 1-0\n").display().to_string();
    samples(&short).expect_error(4);
    samples("lost.pgn").expect_error(3);
    assert!(!bench.path("samples.txt").exists());
}

#[test]
fn exit_codes_are_documented_alike() {
    let bench = Bench::new();
    let help = bench.arbiter(["--help"]).finish().expect_code(0).stdout;
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a repository");
    let page = std::fs::read_to_string(root.join("docs/exit-codes.md")).expect("there is a page");
    let codes: Vec<u8> = arbiter::ExitCode::all().map(|code| code as u8).collect();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
    let listed: Vec<u8> = rows.filter_map(|number| number.parse().ok()).collect();
    assert_eq!(codes, listed, "the book has other codes than the program");
    for number in codes {
        assert!(help.contains(&format!("{number}")), "{number} is not in the help");
    }
}
