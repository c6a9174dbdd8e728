//! Tests of conformance checks: each check detects a misdeed of the puppet, and a well-behaved
//! engine passes.

use serde_json::Value;

use crate::support::bench::{Bench, Finished};
use crate::support::programs::puppet;
use crate::support::snapshot::{expect_next, line_with, without_figures};

fn check(bench: &Bench, engine: &str, more: &[&str]) -> Finished {
    // The timeout is short, to keep the test fast, but long for a puppet.
    let args = [&["check", engine, "--patience", "2"], more].concat();
    bench.arbiter(args).finish()
}

fn outcome<'a>(json: &'a Value, name: &str) -> &'a Value {
    let checks = json["checks"].as_array().expect("a list");
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {json:#}"))
}

/// Asserts that a puppet with this misdeed fails this check, for the reason in the snapshot.
#[track_caller]
fn fails(misdeed: &str, name: &str) {
    let bench = Bench::new();
    let puppet = bench.puppet("P", &format!("--mode {misdeed}"), "");
    let filter = format!("^{name}$");
    let finished = check(&bench, &puppet, &["--filter", &filter, "--format", "json"]);
    let json = finished.json();
    let found = outcome(&json, name);
    assert_eq!(found["verdict"], "failed", "{misdeed}: {json:#}");
    let reason = found["reason"].as_str().expect("a failure has a reason");
    expect_next(&format!("{misdeed}: {}", without_figures(reason)));
    let lines = found["transcript"].as_array().expect("a failure has its conversation");
    assert!(!lines.is_empty(), "{misdeed}: {json:#}");
    finished.expect_code(if found["grade"] == "must" { 1 } else { 0 });
    bench.wait_until_quiet();
}

#[test]
fn misdeeds_at_the_start_are_found() {
    fails("no-uciok", "uciok");
    fails("mute", "uciok");
    fails("exit-at-start", "uciok");
    fails("exit-at-handshake", "id-author");
    fails("bad-options", "option-lines");
    fails("no-options", "option-has-hash");
    fails("banner", "handshake-clean");
    fails("no-readyok", "isready");
}

#[test]
fn an_engine_that_speaks_xboard_is_not_checked() {
    let bench = Bench::new();
    let puppet = bench.puppet("P", "--proto xboard", "");
    check(&bench, &puppet, &[]).expect_error(3);
    bench.wait_until_quiet();
}

#[test]
fn the_argument_that_an_engine_needs_for_uci_is_named() {
    let bench = Bench::new();
    std::os::unix::fs::symlink(puppet(), bench.path("console")).expect("a link can be made");
    let console = "./console,args=\"--proto console\"";
    let done = check(&bench, console, &["--filter", "^uciok$"]).expect_code(1);
    expect_next(line_with(&done.stderr, "args="));
}

#[test]
fn wrong_moves_are_found() {
    for misdeed in
        ["illegal-move", "garbage-bestmove", "null-move", "blank-bestmove", "none-bestmove"]
    {
        fails(misdeed, "bestmove-legal");
    }
    fails("same-square", "bestmove-legal");
    fails("uppercase-promotion", "bestmove-legal");
    fails("double-bestmove", "bestmove-once");
    fails("no-newline", "bestmove-once");
    fails("illegal-ponder --skill greedy", "bestmove-ponder-legal");
}

#[test]
fn engines_that_leave_or_stay_too_long_are_found() {
    fails("crash", "go-depth");
    fails("exit-in-game", "go-depth");
    fails("exit-after-bestmove", "ucinewgame");
    fails("exit-after-game", "ucinewgame");
    fails("disconnect", "go-depth");
    fails("hang", "go-depth");
    fails("ignore-quit", "quit");
    fails("ignore-quit", "end-of-input");
}

#[test]
fn misdeeds_of_time_are_found() {
    fails("no-bestmove-answer-stop", "stop");
    fails("late-bestmove", "go-movetime-kept");
    fails("slow --delay-ms 900", "go-clock-black");
    fails("deaf --delay-ms 700", "infinite-waits");
    fails("deaf --delay-ms 1000", "stop-prompt");
    fails("impatient-ponder", "ponder-waits");
    fails("impatient-ponder", "isready-thinking");
}

#[test]
fn output_of_slow_searches_is_judged() {
    let bench = Bench::new();
    let puppet = bench.puppet("P", "--mode slow --delay-ms 1500", "");
    let filter = "^(info-score|search-repeats)$";
    let args = ["check", &puppet, "--patience", "1", "--filter", filter];
    let text = bench.arbiter(args).finish().expect_code(0).stdout;
    expect_next(&text);
    bench.wait_until_quiet();
}

#[test]
fn nonsense_about_the_search_is_found() {
    fails("no-score", "info-score");
    fails("huge-numbers", "info-syntax");
    fails("illegal-pv", "info-pv-legal");
    fails("bounds-last", "info-mate");
}

#[test]
fn engines_that_punish_odd_input_are_found() {
    // In its default mode, the puppet exits after odd input on purpose.
    fails("good", "unknown-commands");
    fails("good", "option-unknown");
    fails("good", "position-illegal-move");
    fails("good", "go-nonsense");
}

#[test]
fn a_well_behaved_engine_passes() {
    let bench = Bench::new();
    let puppet = bench.puppet("P", "", "");
    let filter = "^(uciok|id-name|option-.*s|isready.*|stop.*|infinite-waits|quit.*|go-clock.*|\
                  bestmove-once|bestmove-legal|position-castling|chess960-.*|ponder.*|crlf|ucinewgame)$";
    let finished = check(&bench, &puppet, &["--filter", filter, "--format", "json"]);
    let json = finished.json();
    let failed: Vec<&Value> = json["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|check| check["verdict"] == "failed")
        // In some positions the puppet can only guess, and it does not support `ponderhit` without
        // a search.
        .filter(|check| check["name"] != "ponderhit-idle")
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    bench.wait_until_quiet();
}

#[test]
fn the_bundled_engine_passes_the_checks_of_its_options() {
    let bench = Bench::new();
    // The gates of this repository run all checks, in a release build.
    let junit = bench.path("junit.xml");
    let junit = junit.to_str().expect("a path of ours");
    let more = ["--filter", "option", "--patience", "20", "--format", "json", "--junit", junit];
    let args = [&["check", "bundled"][..], &more].concat();
    let json = bench.arbiter(args).finish().expect_code(0).json();
    assert_eq!(json["grades"]["must"]["failed"], 0, "{json:#}");
    let judged = json["checks"].as_array().expect("a list");
    assert!(judged.len() >= 10, "{json:#}");
    assert_eq!(outcome(&json, "option-threads")["verdict"], "passed", "{json:#}");
    let failed: Vec<&Value> = judged.iter().filter(|check| check["verdict"] == "failed").collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let xml = bench.read("junit.xml");
    assert!(xml.contains("<testcase name=\"option-threads\" classname=\"check."), "{xml}");
    assert!(!xml.contains("<failure"), "{xml}");
}

#[test]
fn checks_are_listed_and_chosen() {
    let bench = Bench::new();
    let listed = bench.arbiter(["check", "--list", "--filter", "PONDER"]).finish().expect_code(0);
    assert!(listed.stdout.lines().count() >= 5, "{listed:#?}");
    expect_next(&listed.stdout);
    bench.arbiter(["check"]).finish().expect_code(2);
    let refused = check(&bench, "/no/such/engine", &[]);
    refused.expect_error(3);
    check(&bench, "bundled", &["--filter", "nothing like it"]).expect_error(4);
    check(&bench, "bundled", &["--filter", "("]).expect_error(2);
    let one = check(&bench, "bundled", &["--filter", "^isready$"]).expect_code(0);
    expect_next(&one.stdout);
    let puppet = bench.puppet("P", "--mode no-readyok", "");
    let text = check(&bench, &puppet, &["--filter", "^isready$"]).expect_code(1);
    expect_next(&without_figures(&text.stdout));
    let md = check(&bench, &puppet, &["--filter", "^isready$", "--format", "md"]).expect_code(1);
    expect_next(&without_figures(&md.stdout));
}
