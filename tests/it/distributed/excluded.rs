//! Tests of workers that are unfit for a run or differ from the others.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use serde_json::Value;

use super::audits::DETOUR;
use super::faults::resume;
use super::messages::{detour, games, pair_of, pass};
use super::strangers::{repacked, unpacked};
use super::{assert_untouched, impatient};
use crate::resume::wait_for_pairs;
use crate::support::bench::{Bench, Finished};
use crate::support::nats::{Client, Server, Worker, key};
use crate::support::plan::{Plan, RunOutput};
use crate::support::snapshot::{expect_next, line_with, without_figures};
use crate::support::{programs, store, wait_for};

/// Number of pairs of a run that is long enough to check workers.
const PAIRS: usize = 60;

/// Variable that makes engines crash during every game.
const CRASHES: &str = "PUPPET=--mode crash --after 10";

/// Returns a run whose engines depend on environment variables of each machine: BENCH and NPS set
/// their bench result, PUPPET their behaviour, and PAUSE their start time in seconds. Each move
/// takes `delay` ms.
fn fickle<'a>(bench: &'a Bench, delay: u32) -> Plan<'a> {
    let script = format!(
        "#!/bin/sh\nsleep ${{PAUSE:-0}}\nfor last; do :; done\n\
         if [ \"$last\" = bench ]; then \n\
         echo \"Nodes searched: ${{BENCH:-1000}}\"; echo \"Nodes/second: ${{NPS:-1000}}\"; exit; fi\n\
         exec {} --marker {} \"$@\" $PUPPET\n",
        programs::puppet().display(),
        bench.marker()
    );
    let path = bench.write("engine", script);
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, permissions).expect("a file can be made a program");
    let engine = |name: &str, seed: u32| {
        let path = path.display();
        format!("name={name},cmd=\"{path}\",args=\"--seed {seed} --delay-ms {delay}\"")
    };
    Plan::new(bench, "match", PAIRS).engine(engine("A", 1)).engine(engine("B", 2))
}

/// Returns the same run, played by workers.
pub fn distributed_plan<'a>(bench: &'a Bench, server: &Server) -> Plan<'a> {
    fickle(bench, 5).unset("concurrency").set("on", server.url())
}

/// Plays `pairs` pairs of the run on one machine, at full speed.
fn local(pairs: usize) -> RunOutput {
    let bench = Bench::new();
    fickle(&bench, 0).set("pairs", pairs).set("concurrency", 2).expect_output(0)
}

/// Asserts that a run has ended like a run on one machine. The hash of the script may differ.
#[track_caller]
fn assert_as_local(bench: &Bench, finished: &Finished, pairs: usize) {
    let (found, expected) = (RunOutput::read(bench, finished), local(pairs));
    assert_eq!(found.report, expected.report);
    assert_eq!(found.moves(), expected.moves());
}

/// Returns name, reason and number of discarded pairs of each excluded worker.
fn excluded_workers(finished: &serde_json::Value) -> Vec<(String, String, u64)> {
    let all = finished["workers_excluded"].as_array().cloned().unwrap_or_default();
    let word = |value: &serde_json::Value| value.as_str().expect("a word").to_owned();
    let one = |one: serde_json::Value| {
        let pairs = one["pairs_discarded"].as_u64().expect("a number");
        (word(&one["worker"]), word(&one["reason"]), pairs)
    };
    all.into_iter().map(one).collect()
}

#[test]
fn a_worker_with_another_bench_is_excluded_before_it_plays() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let odd = Worker::start_as(&bench, &server, "b", &["BENCH=7"]);
    let running =
        distributed_plan(&bench, &server).set("fleet check-bench", true).set("pairs", 12).start();
    // The good worker starts later, because such a short run could otherwise end before the other
    // worker's bench.
    let results = bench.path("results");
    wait_for("it is excluded", || store::remarks(&results).first().map(|_| ()));
    let _good = Worker::start_as(&bench, &server, "a", &[]);
    let finished = running.finish().expect_code(0);
    let report = finished.json();
    let excluded = excluded_workers(&report);
    let [(worker, why, 0)] = &excluded[..] else { panic!("{excluded:?}") };
    assert_eq!(worker, "b");
    expect_next(why);
    expect_next(line_with(&finished.stderr, ": 1000 nodes"));
    assert_eq!(store::players(&results).keys().collect::<Vec<_>>(), ["a"]);
    expect_next(&store::remarks(&results).join("\n"));
    assert_as_local(&bench, &finished, 12);
    odd.signal(rustix::process::Signal::INT);
    let odd = odd.finish().expect_code(0);
    expect_next(line_with(&odd.stderr, why));
}

#[test]
fn each_worker_scales_times_by_its_own_speed() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let env = ["NPS=500".to_owned(), format!("PUPPET={}", bench.logs())];
    let worker = Worker::start_as(&bench, &server, "slow", &env.each_ref().map(String::as_str));
    let plan = distributed_plan(&bench, &server).set("each", "tc=60+0.5").set("pairs", 2);
    plan.set("scale", 2000).run().expect_code(0);
    let times = |lines: &[String]| {
        let first = lines.iter().find(|line| line.starts_with("go "))?;
        Some(first.split(' ').map(str::to_owned).collect::<Vec<_>>())
    };
    let go_commands: Vec<Vec<String>> =
        bench.conversations().iter().filter_map(|c| times(c)).collect();
    assert!(!go_commands.is_empty());
    for go_command in go_commands {
        let text = go_command.join(" ");
        // The worker has a quarter of the reference speed, so all times are multiplied by four.
        assert!(text.contains("winc 2000 binc 2000"), "{text}");
        assert!(text.contains("btime 240000"), "{text}");
    }
    // `cluster show` prints the speeds.
    let show = ["cluster", "show", "--on", &server.url()];
    let json = bench.arbiter(show.iter().chain(&["--format", "json"])).finish().json();
    assert_eq!(json["workers"][0]["bench_nps"], serde_json::json!({"A": 500.0, "B": 500.0}));
    let text = bench.arbiter(show).finish().stdout;
    assert!(text.contains("A 0.5 "), "{text}");
    worker.signal(rustix::process::Signal::INT);
    let worker = worker.finish().expect_code(0);
    expect_next(line_with(&worker.stderr, "2.000"));
}

#[test]
fn several_workers_with_another_bench_end_the_run() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _odd = ["a", "b"].map(|name| Worker::start_as(&bench, &server, name, &["BENCH=7"]));
    let finished =
        distributed_plan(&bench, &server).set("fleet check-bench", true).run().expect_code(7);
    expect_next(line_with(&finished.stderr, "error: "));
    assert!(store::pairs(&bench.path("results")).is_empty());
}

/// The games of the bad worker end long before the games of the other worker, and there are few
/// pairs.
#[test]
fn a_worker_on_which_nothing_works_does_not_take_all_pairs_of_a_short_run() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _bad = Worker::start_as(&bench, &server, "bad", &["PUPPET=--mode crash --after 0"]);
    let running = distributed_plan(&bench, &server).start();
    wait_for_pairs(&bench, 2);
    let _good = Worker::start_as(&bench, &server, "good", &[]);
    let finished = running.finish().expect_code(0);
    let excluded = excluded_workers(&finished.json());
    let [(worker, why, pairs)] = &excluded[..] else { panic!("{excluded:?}") };
    assert_eq!(worker, "bad");
    expect_next(&without_figures(why));
    assert!((8..30).contains(pairs), "{pairs}");
    assert_as_local(&bench, &finished, PAIRS);
}

#[test]
fn a_worker_that_crashes_is_excluded_and_its_pairs_are_played_again() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _workers = [
        Worker::start_as(&bench, &server, "good", &[]),
        Worker::start_as(&bench, &server, "bad", &[CRASHES]),
    ];
    let finished = distributed_plan(&bench, &server).run().expect_code(0);
    let results = bench.path("results");
    let excluded = excluded_workers(&finished.json());
    let [(worker, why, pairs)] = &excluded[..] else { panic!("{excluded:?}") };
    assert_eq!(worker, "bad");
    expect_next(&without_figures(why));
    assert!(*pairs >= 8, "{pairs}");
    // The pairs of the bad worker are stored separately, and were played again.
    let discarded = store::discarded(&results);
    assert_eq!(discarded.len() as u64, *pairs);
    assert!(discarded.iter().all(|(_, worker)| worker == "bad"));
    assert_eq!(store::players(&results).keys().collect::<Vec<_>>(), ["good"]);
    store::assert_consistent(&results);
    assert_eq!(store::pairs(&results).len(), PAIRS);
    // Neither the report nor the PGN contains anything from the bad worker.
    assert_as_local(&bench, &finished, PAIRS);
    let remarks = store::remarks(&results);
    let is_exclusion = |remark: &String| remark.starts_with("bad: ") && remark.ends_with(why);
    assert!(remarks.iter().any(is_exclusion), "{remarks:#?}");
    // A later report from the store is equal.
    let show = ["results", "--results", &results.display().to_string(), "show", "run"];
    let shown = bench.arbiter(show.iter().chain(&["--format", "json"])).finish().expect_code(0);
    assert_eq!(shown.json(), finished.json());
    let text = bench.arbiter(show).finish().expect_code(0).stdout;
    expect_next(&without_figures(line_with(&text, why)));
}

#[test]
fn exclusions_persist_when_the_run_is_resumed() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let good = Worker::start_as(&bench, &server, "good", &[]);
    let _bad = Worker::start_as(&bench, &server, "bad", &[CRASHES]);
    let running = distributed_plan(&bench, &server).start();
    let results = bench.path("results");
    wait_for("it is excluded", || (!store::discarded(&results).is_empty()).then_some(()));
    running.signal(rustix::process::Signal::KILL);
    running.finish();
    store::assert_consistent(&results);
    let (folder, pgn) =
        (results.display().to_string(), bench.path("games.pgn").display().to_string());
    let args = ["match", "--resume", "run", "--results", &folder, "--pgn", &pgn];
    let url = server.url();
    let more = ["--on", &url, "--format", "json"];
    let finished = bench.arbiter(args.iter().chain(&more)).finish().expect_code(0);
    assert_as_local(&bench, &finished, PAIRS);
    assert_eq!(excluded_workers(&finished.json()).len(), 1);
    assert_eq!(store::players(&results).keys().collect::<Vec<_>>(), ["good"]);
    drop(good);
}

#[test]
fn games_go_to_workers_with_enough_slots() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let trust = key(&bench);
    // The engine is a script that starts a program other than the worker's own copy.
    let folder = programs::puppet().parent().expect("it is in a folder").display().to_string();
    let worker = |name: &str, slots: &str| {
        let flags = ["--slots", slots, "--trust", &trust, "--readable", &folder];
        Worker::start_with(&bench, &server, name, &flags)
    };
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.hello.*");
    let _workers = [worker("small", "1"), worker("large", "3")];
    let plan = distributed_plan(&bench, &server)
        .set("each", "nodes=1,option.Threads=2")
        .set("max-moves", 40);
    let finished = plan.run().expect_code(0);
    assert_eq!(finished.json()["games"], 2 * PAIRS);
    let results = bench.path("results");
    assert_eq!(store::players(&results).keys().collect::<Vec<_>>(), ["large"]);
    let remarks = store::remarks(&results);
    let refusal = "small: does not play: a game needs 2 threads, but --slots is 1";
    assert_eq!(remarks, [refusal]);
    // Three slots have room for only one game with two threads.
    let mut most = 0;
    client.publish("arbiter.hello.last", b"last");
    loop {
        let (_, hello) = client.next();
        let Ok(hello) = serde_json::from_slice::<serde_json::Value>(&hello) else { break };
        most = most.max(hello["body"]["playing"].as_u64().expect("a number"));
    }
    assert_eq!(most, 1);
}

/// The results arrive while no coordinator runs: impossible results of three pairs, and the true
/// result of a later pair.
#[test]
fn waiting_results_of_an_excluded_worker_do_not_count() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let (receiver, mut forwarder) = detour(&server);
    let flags = ["--slots", "4", "--trust", &key(&bench)];
    let liar = Worker::start_with(&bench, &server, "liar", &flags);
    let running = impatient(&bench, &server).start();
    let mut sent = BTreeMap::new();
    while sent.len() < 4 {
        let message = receiver.recv().expect("the worker plays");
        sent.extend(pair_of(&message).map(|pair| (pair, message)));
    }
    running.signal(Signal::KILL);
    running.finish();
    drop(liar);
    let (_, genuine) = sent.pop_last().expect("four pairs");
    for mut message in sent.into_values() {
        let mut result: Value =
            serde_json::from_str(&unpacked(&message.payload)).expect("results are JSON");
        games(&mut result)["second"] = Value::Null;
        message.payload = repacked(&message.payload, &result.to_string());
        // The worker is excluded after 20 impossible results; at most eight results of a pair wait.
        (0..8).for_each(|_| pass(&mut forwarder, &message));
    }
    pass(&mut forwarder, &genuine);
    forwarder.flush();
    let _honest = Worker::start(&bench, &server, "a");
    assert_untouched(&bench, resume(&bench, &server));
    let results = bench.path("results");
    let remarks = store::remarks(&results);
    let reason = "liar: excluded: 20 of the worker's results are impossible";
    assert!(remarks.iter().any(|remark| remark.starts_with(reason)), "{remarks:#?}");
    assert_eq!(store::players(&results).keys().collect::<Vec<_>>(), ["a"], "{remarks:#?}");
}
