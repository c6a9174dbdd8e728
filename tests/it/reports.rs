//! Reports as documents: what they hold, what they need, and how they refuse.

use std::fs;

use crate::support::bench::{Bench, Finished};
use crate::support::plan::Plan;
use crate::support::store;

const PAIRS: usize = 6;

/// A run of puppets that play at random.
fn played(bench: &Bench, command: &'static str, engines: usize) -> Finished {
    let mut plan = Plan::new(bench, command, PAIRS);
    for engine in 0..engines {
        plan = plan.puppet(&format!("P&{engine}"), &format!("--seed {}", engine + 11));
    }
    plan.run()
}

fn report(bench: &Bench, args: &[&str]) -> Finished {
    let results = bench.path("results").display().to_string();
    let args = [&["report", "--results", &results], args].concat();
    bench.arbiter(args).finish()
}

#[test]
fn a_page_holds_all_and_needs_nothing() {
    let bench = Bench::new();
    played(&bench, "sprt", 2);
    let out = bench.path("run.html").display().to_string();
    report(&bench, &["run", "--out", &out]).expect_code(0);
    let page = bench.read("run.html");
    for part in [
        "<h1>SPRT: P&amp;0 against P&amp;1</h1>",
        "Log-likelihood ratio of the test",
        "Elo over games",
        "Pairs by the points of P&amp;0",
        "Endings",
        "Colours and draws",
        "Openings",
        "To play it again",
        "arbiter sprt ",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Each chart is drawn, and its figures are there as a table.
    let figures = page.matches("<figure>").count();
    assert!(figures >= 4, "{figures} figures");
    assert_eq!(page.matches("<svg ").count(), figures);
    assert_eq!(page.matches("<summary>Figures: ").count(), figures);
    for reference in ["src=", "<link", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    // The same run gives the same page.
    report(&bench, &["run", "--out", &out]).expect_code(0);
    assert_eq!(bench.read("run.html"), page);
    bench.wait_until_quiet();
}

#[test]
fn the_course_is_that_of_the_test() {
    let bench = Bench::new();
    let verdict = played(&bench, "sprt", 2).json();
    let text = report(&bench, &["run"]).expect_code(0).stdout;
    let table = text.split("Log-likelihood ratio of the test:").nth(1).expect("the figures of it");
    let rows: Vec<&str> = table.lines().skip_while(|line| !line.starts_with('|')).collect();
    let last = rows.iter().take_while(|line| line.starts_with('|')).last().expect("a last row");
    let cells: Vec<&str> = last.split('|').map(str::trim).collect();
    assert_eq!(cells[1], verdict["games"].to_string(), "{last}");
    let llr = verdict["llr"].as_f64().expect("an SPRT has a ratio");
    assert_eq!(cells[2], format!("{llr:+.2}"), "{last}");
}

#[test]
fn a_tournament_has_ratings_and_all_engines() {
    let bench = Bench::new();
    played(&bench, "match", 3);
    let folder = bench.path("pages").display().to_string();
    report(&bench, &["run", "--out", &format!("{folder}/")]).expect_code(0);
    let page = bench.read("pages/run.html");
    for part in ["Round robin of 3 engines", "Ratings with their 95 % intervals", "P&amp;2"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("Log-likelihood ratio"), "no test was asked for");
}

#[test]
fn only_counted_games_are_told_of() {
    let bench = Bench::new();
    played(&bench, "match", 2);
    let results = bench.path("results");
    let text = report(&bench, &["run"]).expect_code(0).stdout;
    let games = 2 * store::pairs(&results).len();
    assert_eq!(games, 2 * PAIRS);
    assert!(text.contains(&format!("{PAIRS} openings were played")), "{text}");
}

#[test]
fn json_is_that_of_the_run() {
    let bench = Bench::new();
    let run = played(&bench, "match", 2).json();
    let again = report(&bench, &["run", "--format", "json"]).expect_code(0).json();
    assert_eq!(again, run);
}

#[test]
fn what_cannot_be_made_is_refused() {
    let bench = Bench::new();
    report(&bench, &[]).expect_refusal(3, &["no results"]);
    played(&bench, "match", 2);
    report(&bench, &["walk"]).expect_refusal(3, &["walk"]);
    report(&bench, &["run", "--out", "report.pdf"]).expect_refusal(2, &["report.pdf", "--format"]);
    report(&bench, &["run", "run"]).expect_refusal(2, &["--out"]);
    let file = bench.path("one.html").display().to_string();
    report(&bench, &["run", "run", "--out", &file]).expect_refusal(2, &["one.html", "folder"]);
    let lost = bench.path("nowhere/run.html").display().to_string();
    report(&bench, &["run", "--out", &lost]).expect_refusal(7, &["nowhere/run.html"]);
    // What was there stays.
    let kept = bench.write("kept.html", "kept");
    let kept = kept.display().to_string();
    report(&bench, &["walk", "--out", &kept]).expect_refusal(3, &["walk"]);
    assert_eq!(fs::read_to_string(&kept).expect("it is there"), "kept");
}
