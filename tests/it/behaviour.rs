//! Tests of start, initialization and reuse of engines, configured by flags and by the file.

use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput};
use crate::support::programs;
use crate::support::snapshot::expect_next;

/// Returns a match of `pairs` pairs in which A logs its input.
fn logged<'a>(bench: &'a Bench, pairs: usize, args: &str, fields: &str) -> Plan<'a> {
    let logs = bench.logs();
    Plan::new(bench, "match", pairs)
        .puppet_with("A", &format!("--seed 1 {logs} {args}"), fields)
        .puppet("B", "--seed 2")
}

/// Returns the input of the only process of A.
#[track_caller]
fn engine_input(bench: &Bench) -> Vec<String> {
    let mut processes = bench.conversations();
    assert_eq!(processes.len(), 1, "{processes:#?}");
    processes.remove(0)
}

fn play_with_behaviour(pairs: usize) -> RunOutput {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", pairs).puppet("A", "--seed 1").puppet("B", "--seed 2");
    plan.expect_output(0)
}

#[test]
fn user_commands_are_sent_after_the_options() {
    let bench = Bench::new();
    let fields = r",option.Hash=8,init=debug on\nstop";
    logged(&bench, 1, "", fields).expect_output(0);
    let input = engine_input(&bench);
    let expected = ["uci", "setoption name Hash value 8", "debug on", "stop", "isready"];
    assert_eq!(input[..5], expected, "{input:#?}");
}

#[test]
fn each_game_may_have_a_separate_process() {
    for (restart, processes) in [("on", 4), ("off", 1), ("auto", 1)] {
        let bench = Bench::new();
        let played = logged(&bench, 2, "", &format!(",restart={restart}")).expect_output(0);
        assert_eq!(bench.conversations().len(), processes, "{restart}");
        assert_eq!(played.moves(), play_with_behaviour(2).moves(), "{restart}");
        bench.wait_until_quiet();
    }
}

#[test]
fn a_pondering_engine_plays_the_same_moves_and_gets_correct_commands() {
    let bench = Bench::new();
    // If both engines have the same seed, the engine predicts its opponent's moves correctly; with
    // different seeds, it rarely does.
    let logs = bench.logs();
    let ponderer = |seed: u32| format!("--seed {seed} {logs}");
    let played = Plan::new(&bench, "match", 1)
        .puppet_with("A", &ponderer(1), ",ponder=true")
        .puppet_with("B", "--seed 1", "")
        .expect_output(0);
    let input = engine_input(&bench);
    let count = |word: &str| input.iter().filter(|line| line.starts_with(word)).count();
    assert!(count("setoption name Ponder value true") == 1, "{input:#?}");
    assert!(count("go ponder") > 5, "{input:#?}");
    assert!(count("ponderhit") + 2 >= count("go ponder"), "{input:#?}");
    assert_eq!(played.report.games, 2);
    let bench = Bench::new();
    let played = logged(&bench, 1, "", ",ponder=true").set("each", "tc=60+1").expect_output(0);
    let input = self::engine_input(&bench);
    let count = |word: &str| input.iter().filter(|line| line.starts_with(word)).count();
    assert!(count("stop") > 5 && count("stop") + count("ponderhit") == count("go ponder"));
    let pondering = input.iter().find(|line| line.starts_with("go ponder")).expect("one");
    assert!(pondering.contains("wtime") && pondering.contains("binc 1000"), "{pondering}");
    assert_eq!(played.moves(), play_with_behaviour(1).moves());
    bench.wait_until_quiet();
}

#[test]
fn engines_without_pondering_are_not_told_to_ponder() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 1).puppet_with("A", "--mode no-options", ",ponder=true");
    plan.puppet("B", "").run().expect_error(3);
}

#[test]
fn engines_with_several_default_threads_are_named() {
    for more in ["", ",option.threads=2", ",option.Threads=1"] {
        let bench = Bench::new();
        let plan = Plan::new(&bench, "match", 1).puppet_with("A", "--mode two-threads", more);
        expect_next(&plan.puppet("B", "--seed 2").run().expect_code(0).stderr);
    }
}

#[test]
fn error_output_goes_to_a_separate_file() {
    let bench = Bench::new();
    let file = bench.path("A.err");
    Plan::new(&bench, "match", 1)
        .puppet_with("A", "--seed 1 --mode exit-in-game", &format!(",stderr={}", file.display()))
        .puppet("B", "--seed 2")
        .expect_output(6);
    assert_eq!(bench.read("A.err"), "puppet: leaving, as asked\n".repeat(2));
    let plan = Plan::new(&bench, "match", 1).set("name", "other").puppet("B", "");
    let nowhere = bench.path("no/folder/A.err").display().to_string();
    let plan = plan.puppet_with("A", "", &format!(",stderr={nowhere}"));
    plan.run().expect_error(7);
}

#[test]
fn a_slow_start_can_be_given_more_time() {
    let plan = |bench: &Bench, scale: &str| {
        Plan::new(bench, "match", 1)
            .puppet("A", "--seed 1 --mode slow-ready --delay-ms 1500")
            .puppet("B", "--seed 2")
            .set("deadlines ready", 0.5)
            .set("deadlines scale", scale)
            .run()
    };
    plan(&Bench::new(), "1").expect_error(3);
    plan(&Bench::new(), "100").expect_code(0);
    plan(&Bench::new(), "0").expect_code(2);
}

#[test]
fn settings_file_and_flags_agree() {
    let bench = Bench::new();
    let logs = bench.logs();
    let puppet = programs::puppet().display();
    let marker = bench.marker();
    let text = format!(
        r#"
        deadlines = {{ scale = 3 }}
        each = {{ nodes = 1 }}
        [[engine]]
        name = "A"
        cmd = "{puppet}"
        args = "--seed 1 {logs} --marker {marker}"
        init = ["debug on", "debug off"]
        restart = "on"
        ponder = true
        stderr = "A.err"
        memory = 4000
        [[engine]]
        name = "B"
        cmd = "{puppet}"
        args = "--seed 2 --proto xboard --marker {marker}"
        proto = "xboard"
        depth = 1
        "#
    );
    let file = bench.write("our.toml", text);
    let played = Plan::new(&bench, "match", 2).set("config", file.display()).expect_output(0);
    assert_eq!(played.moves(), play_with_behaviour(2).moves());
    let processes = bench.conversations();
    assert_eq!(processes.len(), 4);
    for input in processes {
        assert!(input.iter().any(|line| line == "debug off"), "{input:#?}");
        assert!(input.iter().any(|line| line == "go ponder nodes 1"), "{input:#?}");
    }
    assert_eq!(bench.read("A.err"), "");
    bench.wait_until_quiet();
}
