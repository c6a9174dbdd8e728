//! Tests of `arbiter speed` and `arbiter ci`: gates for commits.

use std::path::Path;

use rustix::process::Signal;

use crate::support::bench::{Bench, Finished, Running};
use crate::support::project::Project;
use crate::support::snapshot::{expect_next, without_figures};
use crate::support::{programs, wait_for};

const SUITE: &str = "4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D1 5 ;D2 25\n";

fn ci(bench: &Bench, project: &Project<'_>, more: &[&str]) -> Finished {
    start(bench, project, more).finish()
}

fn start(bench: &Bench, project: &Project<'_>, more: &[&str]) -> Running {
    let results = bench.path("results").display().to_string();
    let config = bench.path("arbiter.toml").display().to_string();
    let top = project.top.display().to_string();
    let command_line = ["ci", "--repo", &top, "--config", &config, "--results", &results];
    bench.arbiter([&command_line[..], &["--format", "json"], more].concat())
}

/// Returns the verdict of each gate.
fn verdicts(finished: &Finished) -> Vec<(String, String)> {
    let json = finished.json();
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let gates = json["gates"].as_array().expect("a list");
    gates.iter().map(|gate| (text(&gate["gate"]), text(&gate["verdict"]))).collect()
}

fn expect(finished: &Finished, expected: &[(&str, &str)]) {
    let found = verdicts(finished);
    let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(found, expected, "{finished:#?}");
}

/// Returns the text of each gate.
fn gate_texts(finished: &Finished) -> String {
    let json = finished.json();
    let gates = json["gates"].as_array().expect("a list").iter();
    gates.map(|gate| format!("{}\n", gate["text"].as_str().expect("words"))).collect()
}

#[test]
fn gates_are_passed_reported_and_cached() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    project.commit_with_bench(200, "Second\n\nBench: 200");
    let suite = bench.write("suite.epd", SUITE).display().to_string();
    bench.write(
        "arbiter.toml",
        format!(
            "concurrency = 2\n[[ci.gate]]\nkind = 'bench'\n\
             [[ci.gate]]\nkind = 'perft'\nargs = '--suite \"{suite}\"'\n\
             [[ci.gate]]\nkind = 'sprt'\nargs = '--each nodes=1 --pairs 2'\nchanged = ['engine.sh']\n\
             [[ci.gate]]\nname = 'docs'\nkind = 'sprt'\nchanged = ['docs']\n"
        ),
    );
    let junit = bench.path("junit.xml").display().to_string();
    let summary = bench.path("summary.md").display().to_string();
    let more = ["--junit", &junit, "--summary", &summary];
    let first = ci(&bench, &project, &more).expect_code(0);
    let passed = [
        ("build", "passed"),
        ("bench", "passed"),
        ("perft", "passed"),
        ("sprt", "undecided"),
        ("docs", "skipped"),
    ];
    expect(&first, &passed);
    assert_eq!(first.json()["gates"][1]["report"]["nodes"], 200);
    assert_eq!(first.json()["gates"][1]["report"]["copies"], 2);
    assert_eq!(first.json()["gates"][3]["report"]["games"], 4);
    let log = bench.read("results/ci-sprt.log");
    expect_next(&log);
    let xml = bench.read("junit.xml");
    assert!(xml.contains("tests=\"5\" skipped=\"1\" errors=\"0\" failures=\"0\""), "{xml}");
    assert!(bench.read("summary.md").starts_with("# ✅ HEAD@"), "{}", bench.read("summary.md"));

    let again = ci(&bench, &project, &[]).expect_code(0);
    expect(&again, &passed);
    let cached = |run: &Finished| -> Vec<bool> {
        let json = run.json();
        let gates = json["gates"].as_array().expect("a list").iter();
        gates.map(|gate| gate["cached"].as_bool().expect("a truth")).collect()
    };
    assert_eq!(cached(&again), [false, true, true, true, false]);
    expect_next(&again.stderr);
    // A changed suite is not cached.
    bench.write("suite.epd", SUITE.repeat(2));
    assert_eq!(cached(&ci(&bench, &project, &[])), [false, true, false, true, false]);
    let fresh = ci(&bench, &project, &["--no-cache"]).expect_code(0);
    assert_eq!(cached(&fresh), [false; 5]);

    let results = bench.path("results").display().to_string();
    let command_line =
        ["results", "--results", &results, "gates", "--gate", "perft", "--format", "json"];
    let past = bench.arbiter(command_line).finish().expect_code(0).json();
    assert_eq!(past["gates"].as_array().map(Vec::len), Some(3), "{past:#}");
    assert_eq!(past["gates"][0]["dev"], project.git(&["rev-parse", "HEAD"]));
}

#[test]
fn a_failed_gate_stops_the_others_by_default() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    let wrong = bench.write("wrong.epd", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D1 6\n");
    let right = bench.write("right.epd", SUITE);
    let gates = |stop: bool| {
        let [wrong, right] = [&wrong, &right].map(|path| path.display());
        bench.write(
            "arbiter.toml",
            format!(
                "[[ci.gate]]\nname = 'a'\nkind = 'perft'\nargs = '--suite {wrong}'\nstop = {stop}\n\
                 [[ci.gate]]\nname = 'b'\nkind = 'perft'\nargs = '--suite {right}'\n\
                 [[ci.gate]]\nname = 'c'\nkind = 'sprt'\n"
            ),
        );
    };
    gates(true);
    // The suite is invalid, so the gate cannot judge the engine.
    let stopped = ci(&bench, &project, &[]).expect_code(3);
    expect(&stopped, &[("build", "passed"), ("a", "broken"), ("b", "skipped"), ("c", "skipped")]);
    gates(false);
    let gone_on = ci(&bench, &project, &[]).expect_code(3);
    expect(&gone_on, &[("build", "passed"), ("a", "broken"), ("b", "passed"), ("c", "skipped")]);
    expect_next(&gate_texts(&gone_on));
    expect(
        &ci(&bench, &project, &["--only", "b"]).expect_code(0),
        &[("build", "passed"), ("b", "passed")],
    );
    let unknown = ci(&bench, &project, &["--only", "x"]).expect_code(3);
    expect_next(&unknown.stderr);
}

#[test]
fn a_commit_that_lies_or_does_not_build_fails_with_its_own_code() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    bench.write("arbiter.toml", "[[ci.gate]]\nkind = 'bench'\n");
    project.commit_with_bench(100, "Lies\n\nBench: 99");
    let lies = ci(&bench, &project, &[]).expect_code(28);
    expect(&lies, &[("build", "passed"), ("bench", "failed")]);
    project.write("Makefile", "engine:\n\tfalse\n");
    project.commit("Does not build");
    let broken = ci(&bench, &project, &[]).expect_code(23);
    expect(&broken, &[("build", "broken"), ("bench", "skipped")]);
    expect_next(&gate_texts(&broken));
}

#[test]
fn a_clone_without_the_parent_skips_what_needs_it() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    project.commit_with_bench(200, "Second");
    let clone = bench.path("clone").display().to_string();
    let from = format!("file://{}", project.top.display());
    project.git(&["clone", "--quiet", "--depth", "1", &from, &clone]);
    bench.write("arbiter.toml", "[[ci.gate]]\nkind = 'bench'\n[[ci.gate]]\nkind = 'sprt'\n");
    let clone = project.cloned_to(clone.into());
    let done = ci(&bench, &clone, &[]).expect_code(0);
    expect(&done, &[("build", "passed"), ("bench", "passed"), ("sprt", "skipped")]);
    expect_next(&gate_texts(&done));
}

#[test]
fn protocol_violations_name_the_broken_rules() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    let gates = "[[ci.gate]]\nkind = 'check'\nargs = '--filter ^quit'\n\
                 [[ci.gate]]\nname = 'moves'\nkind = 'check'\nargs = '--filter ^bestmove-legal'\n";
    bench.write("arbiter.toml", gates);
    expect(
        &ci(&bench, &project, &[]).expect_code(0),
        &[("build", "passed"), ("check", "passed"), ("moves", "passed")],
    );
    let script =
        bench.read("project/engine.sh").replace("--marker", "--mode illegal-move --marker");
    project.write("engine.sh", &script);
    project.commit("Illegal");
    let failed = ci(&bench, &project, &[]).expect_code(1);
    let text = "1 must failed: bestmove-legal; score 0.0 of 100";
    assert_eq!(failed.json()["gates"][2]["text"], text);
    expect_next(&bench.read("results/ci-moves.log"));
}

#[test]
fn an_sprt_ends_with_its_budget() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    project.commit_with_bench(200, "Second");
    let gate = |rule: &str| {
        let args = "--each nodes=1 --elo0 0 --elo1 0.1";
        let text = format!(
            "concurrency = 1\n[[ci.gate]]\nkind = 'sprt'\nargs = '{args}'\nbudget = 2\n\
             inconclusive = '{rule}'\n"
        );
        bench.write("arbiter.toml", text);
    };
    gate("pass");
    let open = ci(&bench, &project, &[]).expect_code(0);
    expect(&open, &[("build", "passed"), ("sprt", "undecided")]);
    let log = bench.read("results/ci-sprt.log");
    expect_next(&without_figures(&log));
    gate("fail");
    let open = ci(&bench, &project, &[]).expect_code(5);
    expect(&open, &[("build", "passed"), ("sprt", "unproven")]);
}

#[test]
fn a_lint_fails_by_what_it_finds_and_keeps_the_games() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    let args = "--each nodes=1 --pairs 2 --max-moves 5";
    bench.write("arbiter.toml", format!("[[ci.gate]]\nkind = 'lint'\nargs = '{args}'\n"));
    let passed = ci(&bench, &project, &[]).expect_code(0);
    expect(&passed, &[("build", "passed"), ("lint", "passed")]);
    assert_eq!(passed.json()["gates"][1]["text"], "4 games, nothing found");

    project.engine("echo 100 nodes 50000 nps");
    let script = bench.read("project/engine.sh");
    let lines = "--info 'score cp 7 pv {another}' --marker";
    project.write("engine.sh", &script.replace("--marker", lines));
    project.commit("Odd");
    let failed = ci(&bench, &project, &[]).expect_code(1);
    expect(&failed, &[("build", "passed"), ("lint", "failed")]);
    expect_next(&gate_texts(&failed));
    // A rule can be ignored.
    let flags = format!("kind = 'lint'\nargs = '{args}'\nignore = ['not_pv_move']\n");
    bench.write("arbiter.toml", format!("[[ci.gate]]\n{flags}"));
    let ignored = ci(&bench, &project, &[]).expect_code(0);
    assert_eq!(ignored.json()["gates"][1]["text"], "4 games, nothing found");
    // The engine's output is stored, so that the example can be replayed.
    let results = bench.path("results").display().to_string();
    let run = failed.json()["gates"][1]["report"]["run"].as_str().expect("a run").to_owned();
    let replay = bench.arbiter(["replay", "--results", &results, &run, "1.1"]).finish();
    assert!(replay.expect_code(0).stdout.contains("info score cp 7 pv "));
}

#[test]
fn speeds_are_compared_until_significant() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let speed_of = |nps: u32| {
        // Each run of the bench reports the next speed of a fixed sequence, so that the speeds have
        // a spread.
        let counter = bench.path("counter").display().to_string();
        let script = format!(
            "n=$(cat '{counter}' 2>/dev/null || echo 0); echo $((n + 1)) > '{counter}'; \
             echo \"1000 nodes $(({nps} + n % 7)) nps\""
        );
        project.engine(&script);
        project.commit(&nps.to_string());
    };
    speed_of(50_000);
    speed_of(47_000);
    let top = project.top.display().to_string();
    let speed = |more: &[&str]| {
        let command_line = ["speed", "HEAD", "HEAD~1", "--repo", &top, "--format", "json"];
        bench.arbiter([&command_line[..], more].concat()).finish()
    };
    let slower = speed(&[]).expect_code(0).json();
    assert_eq!((&slower["verdict"], &slower["rounds"]), (&"slower".into(), &8.into()));
    let ratio = slower["ratio"].as_f64().expect("a ratio");
    assert!((ratio - 0.94).abs() < 0.001, "{ratio}");
    assert_eq!(speed(&["--max-loss", "10"]).expect_code(0).json()["verdict"], "passed");
    assert_eq!(speed(&["--max-loss", "5"]).expect_code(1).json()["verdict"], "failed");
    let same = bench.arbiter(["speed", "HEAD", "HEAD", "--repo", &top, "--rounds", "10"]);
    expect_next(&without_figures(&same.finish().expect_code(0).stdout));
    let puppet = programs::puppet().display().to_string();
    let none = bench.arbiter(["speed", "HEAD", &puppet, "--repo", &top]).finish();
    none.expect_error(26);
    bench.arbiter(["speed", "HEAD"]).finish().expect_code(2);
    assert!(Path::new(&top).is_dir());
}

#[test]
fn an_interrupted_gate_is_named_in_the_reports() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    let started = bench.path("started");
    project.engine(&format!("touch '{}'; exec sleep 1000", started.display()));
    project.commit("Second");
    let suite = bench.write("suite.epd", SUITE).display().to_string();
    bench.write(
        "arbiter.toml",
        format!(
            "[[ci.gate]]\nkind = 'perft'\nargs = '--suite \"{suite}\"'\n\
             [[ci.gate]]\nkind = 'speed'\n[[ci.gate]]\nkind = 'sprt'\n"
        ),
    );
    let junit = bench.path("junit.xml").display().to_string();
    let running = start(&bench, &project, &["--junit", &junit]);
    wait_for("the bench runs", || started.exists().then_some(()));
    running.signal(Signal::TERM);
    let ended = running.finish().expect_code(143);
    expect(
        &ended,
        &[("build", "passed"), ("perft", "passed"), ("speed", "broken"), ("sprt", "skipped")],
    );
    assert!(ended.stderr.contains("error: interrupted in the gate 'speed'"), "{ended:#?}");
    let xml = bench.read("junit.xml");
    assert!(xml.contains("tests=\"4\" skipped=\"1\" errors=\"1\" failures=\"0\""), "{xml}");
    assert!(xml.contains("interrupted in the gate"), "{xml}");
}

#[test]
fn evaluations_and_options_of_the_sides_reach_the_gates() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    let args = "--each nodes=1 --pairs 1 --elo0 0 --elo1 5";
    bench.write("arbiter.toml", format!("[[ci.gate]]\nkind = 'sprt'\nargs = '{args}'\n"));
    let against = |base: &str| {
        let done = ci(&bench, &project, &["--dev", "bundled", "--base", base]).expect_code(0);
        let log = bench.read("results/ci-sprt.log");
        let line = log.lines().find(|line| line.starts_with("run ")).expect("the run is announced");
        let (_, engines) = line.split_once(": ").expect("the engines follow the name");
        (done.json()["gates"][1]["cached"].clone(), engines.to_owned())
    };
    let played = "palimpsest (1 nodes) v material (1 nodes)";
    assert_eq!(against("bundled:material"), (false.into(), played.to_owned()));
    assert_eq!(against("bundled:material"), (true.into(), played.to_owned()));
    // A cached result of one evaluation is not used for another evaluation.
    let played = "palimpsest (1 nodes) v blunder (1 nodes)";
    assert_eq!(against("bundled:blunder,option.Hash=2"), (false.into(), played.to_owned()));
}
