//! Tests of impossible `info` lines of engines: found, counted, and shown with an example.

use serde_json::Value;

use crate::support::bench::{Bench, Finished};
use crate::support::plan::Plan;
use crate::support::snapshot::{expect_next, line_with, without_figures};

/// Position in which the game is over after one move, by the fifty-move rule.
const FIFTY: &str = "4k3/8/8/8/8/8/8/R3K3 w - - 99 80\n";

/// Plays a match of an honest puppet against a puppet that prints these lines before each move.
fn play_linted(bench: &Bench, lines: &str, with: impl FnOnce(Plan<'_>) -> Plan<'_>) -> Finished {
    let plan = Plan::new(bench, "match", 2).puppet("good", "--seed 1");
    let plan = plan.puppet("odd", &format!("--seed 2 --info '{lines}'"));
    with(plan.set("max-moves", 12)).run().expect_code(0)
}

/// Returns the findings: engine and rule.
fn findings(finished: &Finished) -> Vec<(String, String)> {
    let list = finished.json()["lint"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    list.iter().map(|found| (text(&found["engine"]), text(&found["rule"]))).collect()
}

#[test]
fn each_rule_finds_its_fault_and_nothing_else() {
    let check = |lines: &str, each: &str, rule: &str| {
        let bench = Bench::new();
        let finished = play_linted(&bench, lines, |plan| plan.set("each", each));
        let expected = if rule.is_empty() { vec![] } else { vec![("odd".into(), rule.into())] };
        assert_eq!(findings(&finished), expected, "{lines}: {finished:#?}");
    };
    check("depth 1 score cp 7 nodes 9 time 0 hashfull 1000 pv {move}", "nodes=9", "");
    check("score cp 7 pv {move} {illegal}", "nodes=1", "illegal_pv");
    check("score cp 7 pv {another}", "nodes=1", "not_pv_move");
    check("score cp 7 lowerbound pv {another} {illegal}", "nodes=1", "");
    check("multipv 2 score cp 7 pv {another}", "nodes=1", "");
    check("score mate 3 pv {move}", "nodes=1", "mate_score");
    check("score mate 3", "nodes=1", "");
    check("score cp {minus}1500", "nodes=1", "score_jump");
    check("score cp {minus}1500 upperbound", "nodes=1", "");
    check("nodes 100|nodes 99", "nodes=100", "nodes");
    check("nodes 5002", "nodes=1", "node_limit");
    check("depth 3 score cp 7", "depth=2", "depth_limit");
    check("time 5000", "nodes=1", "time");
    check("hashfull 1001 score cp 7", "nodes=1", "hashfull");
}

#[test]
fn variations_must_not_continue_after_the_end_of_a_game() {
    let bench = Bench::new();
    let book = bench.write("fifty.epd", FIFTY).display().to_string();
    let lines = "score cp 7 pv {move} {illegal}";
    let finished = play_linted(&bench, lines, |plan| plan.set("openings", book));
    assert_eq!(findings(&finished), [("odd".into(), "pv_after_end".into())]);
}

#[test]
fn lint_findings_are_reported_immediately_and_in_every_report() {
    let bench = Bench::new();
    let lines = "score cp 7 pv {move} a1a1";
    let finished = play_linted(&bench, lines, |plan| plan.switch("verbose"));
    let list = &finished.json()["lint"];
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{finished:#?}");
    let example = &list[0];
    assert_eq!((&example["moves"], &example["games"]), (&48.into(), &4.into()));
    assert_eq!((&example["example_game"], &example["example_ply"]), (&"1.1".into(), &2.into()));
    let warnings: Vec<&str> =
        finished.stderr.lines().filter(|line| line.contains("a1a1 at ply 2")).collect();
    assert_eq!(warnings.len(), 48, "{finished:#?}");
    expect_next(&without_figures(warnings[0]));

    let results = bench.path("results").display().to_string();
    let report = |format: &str| {
        let args = ["report", "--results", &results, "run", "--format", format];
        bench.arbiter(args).finish().expect_code(0).stdout
    };
    let text = report("text");
    expect_next(line_with(&text, "48 (1.1, 1... "));
    let page = report("html");
    assert!(page.contains("<h2 id=\"lint\">") && page.contains("id=\"lint-0\""), "{page}");
    assert!(page.contains("data-shown=\"2\""), "{page}");
    let markdown = report("md");
    let row = markdown.lines().find(|line| line.starts_with("| odd") && line.contains("a1a1"));
    expect_next(row.expect("a row of it"));
    let csv = report("csv");
    let (head, row) = csv.split_once('\n').expect("a heading and a line");
    let at = head.split(',').position(|column| column == "second_lint_illegal_pv");
    let at = at.or_else(|| head.split(',').position(|column| column == "first_lint_illegal_pv"));
    assert_eq!(row.split(',').nth(at.expect("a column of it")), Some("48"), "{csv}");
    let junit = report("junit");
    assert!(junit.contains("<property name=\"odd illegal_pv\" value=\"48\""), "{junit}");
    // A report without findings does not mention the lint.
    let quiet = Bench::new();
    let finished = play_linted(&quiet, "", |plan| plan.switch("verbose"));
    assert_eq!(findings(&finished), [], "{finished:#?}");
    let results = quiet.path("results").display().to_string();
    let args = ["results", "--results", &results, "show", "run"];
    expect_next(&quiet.arbiter(args).finish().expect_code(0).stdout);
}
