//! Tests of search limits, as engines receive them.

use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput};
use crate::support::snapshot::expect_next;

/// Plays a match with limits for each side; returns the `go` commands of each side in order.
fn go_commands(white: &str, black: &str, args: &str) -> (RunOutput, Vec<Vec<String>>) {
    let bench = Bench::new();
    let logs = bench.logs();
    let played = Plan::new(&bench, "match", 1)
        .puppet_with("A", &format!("--seed 1 {args} {logs}"), &format!(",{white}"))
        .puppet_with("B", &format!("--seed 2 {args} {logs}"), &format!(",{black}"))
        .set("max-moves", 12)
        .expect_output(0);
    let go = |input: Vec<String>| input.into_iter().filter(|line| line.starts_with("go")).collect();
    let processes = bench.conversations().into_iter().map(go).collect();
    bench.wait_until_quiet();
    (played, processes)
}

fn field(go: &str, name: &str) -> Option<u64> {
    let mut words = go.split(' ').skip_while(|word| *word != name);
    words.nth(1).and_then(|word| word.parse().ok())
}

#[test]
fn time_control_periods_follow_each_other() {
    let tc = "tc=4/100+1:3/50+0:20";
    let (played, processes) = go_commands(tc, tc, "");
    assert_eq!(played.report.ended_by("move_cap"), 2, "{:#?}", played.report);
    for input in processes {
        let moves: Vec<_> = input.iter().map(|go| field(go, "movestogo")).collect();
        let expected =
            [Some(4), Some(3), Some(2), Some(1), Some(3), Some(2), Some(1), None, None, None];
        assert_eq!(moves[..10], expected, "{input:#?}");
    }
    assert!(played.pgn.contains("[TimeControl \"4/100+1:3/50+0:20\"]"), "{}", played.pgn);
}

#[test]
fn an_hourglass_adds_used_time_to_the_opponent() {
    let (_, processes) = go_commands("tc=hg/60", "tc=hg/60", "--delay-ms 20");
    for go in processes.iter().flatten() {
        let sum = field(go, "wtime").zip(field(go, "btime")).map(|(white, black)| white + black);
        // Each of the two times is truncated to whole milliseconds.
        assert!(sum.is_some_and(|sum| (119_998..=120_000).contains(&sum)), "{go}");
    }
    let last = processes.iter().flatten().filter_map(|go| field(go, "wtime"));
    assert!(last.clone().any(|time| time > 60_000) || last.clone().any(|time| time < 60_000));
}

#[test]
fn mixed_default_limits_are_reported() {
    let bench = Bench::new();
    for (limits, each) in [
        ([",nodes=1", ""], "ponder=false"),
        ([",nodes=1", ""], "depth=1"),
        (["", ""], "ponder=false"),
    ] {
        let plan = Plan::new(&bench, "match", 1).set("each", each).switch("dry-run");
        let plan = plan.puppet_with("A", "--seed 1", limits[0]).puppet_with("B", "", limits[1]);
        expect_next(&plan.run().expect_code(0).stderr);
    }
}

#[test]
fn nodes_stand_for_time() {
    // The puppet reports one node per move, but takes much longer than one node of time.
    let limits = "tc=0.02,nodestime=1,timemargin=0";
    let (played, processes) = go_commands(limits, limits, "--delay-ms 10");
    assert_eq!(played.report.ended_by("move_cap"), 2, "{:#?}", played.report);
    for go in processes.iter().flatten() {
        assert!(field(go, "wtime").is_some_and(|remaining| (8..=20).contains(&remaining)), "{go}");
    }
    assert!(!played.pgn.contains("GameDuration"), "real time decides nothing: {}", played.pgn);
}

#[test]
fn nodes_as_time_run_out() {
    let bench = Bench::new();
    let played = Plan::new(&bench, "match", 1)
        .puppet("A", "--seed 1")
        .puppet_with("B", "--seed 2", ",nodes=1")
        .set("each", "tc=0.005,nodestime=1,timemargin=0")
        .expect_output(6);
    assert_eq!(played.report.ended_by("time_forfeit"), 2, "{:#?}", played.report);
    assert_eq!(played.report.losses, 2, "B has no clock: {:#?}", played.report);
}

#[test]
fn each_side_has_its_own_kind_of_limit() {
    let (played, processes) = go_commands("st=5,depth=3", "tc=inf,nodes=7,depth=9", "");
    assert_eq!(played.report.ended_by("move_cap"), 2);
    let mut kinds: Vec<&str> = processes.iter().flatten().map(String::as_str).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, ["go movetime 5000 depth 3", "go nodes 7 depth 9"]);
}

#[test]
fn unenforceable_limits_are_rejected() {
    for spec in [
        ",tc=inf",
        ",proto=xboard,nodes=5",
        ",depth=3,nodestime=5",
        ",tc=1/1+0:1/1+0:1/1+0:1/1+0:1",
    ] {
        let bench = Bench::new();
        let plan = Plan::new(&bench, "match", 1).puppet_with("A", "", spec).puppet("B", "");
        plan.run().expect_error(3);
    }
}
