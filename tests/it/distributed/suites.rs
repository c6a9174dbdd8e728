//! Tests of suites whose positions are searched by workers: the results equal the results of one
//! machine.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::forgeries::SIGNATURE;
use crate::support::bench::{Bench, Finished, Running};
use crate::support::nats::{Client, LEASE, Server, Worker, key};
use crate::support::phrases;
use crate::support::snapshot::{expect_next, without_figures};
use crate::support::wait_for;

/// Number of positions of the suite.
const POSITIONS: usize = 40;

/// Writes a suite of our own positions, and an invalid line.
fn suite(bench: &Bench, positions: usize) -> PathBuf {
    let suite_path = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/tactics.epd");
    let text = std::fs::read_to_string(suite_path).expect("the suite is there");
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.starts_with('#')).take(positions).collect();
    bench.write("suite.epd", format!("this is no position\n{}\n", lines.join("\n")))
}

/// Starts a search of the suite by two engines; `more` are further arguments.
fn ask(bench: &Bench, more: &[&str]) -> Running {
    ask_some(bench, POSITIONS, more)
}

/// Starts [`ask`] with this number of positions.
fn ask_some(bench: &Bench, positions: usize, more: &[&str]) -> Running {
    let file = suite(bench, positions).display().to_string();
    let engines = ["name=A,cmd=bundled,nodes=2000", "name=B,cmd=bundled,eval=material,nodes=300"];
    let mut args = vec!["epd", "--suite", &file, "--format", "json"];
    engines.iter().for_each(|engine| args.extend(["--engine", engine]));
    args.extend(more);
    bench.arbiter(args)
}

fn start_distributed(bench: &Bench, server: &Server, more: &[&str]) -> Running {
    let url = server.url();
    ask(bench, &[&["--on", &url], more].concat())
}

/// Returns the results without times and worker names, which differ.
fn comparable_results(finished: Finished, code: i32) -> Value {
    fn timeless(json: Value) -> Value {
        let differs = |key: &str| key.ends_with("_ms") || key.starts_with("workers");
        match json {
            Value::Object(fields) => {
                let stays = fields.into_iter().filter(|(key, _)| !differs(key));
                stays.map(|(key, value)| (key, timeless(value))).collect()
            }
            Value::Array(values) => values.into_iter().map(timeless).collect(),
            Value::String(text) => json!(text.split(" (worker ").next()),
            plain => plain,
        }
    }
    let mut json = timeless(finished.expect_code(code).json());
    json.as_object_mut().expect("a report is an object").remove("concurrency");
    json
}

/// Returns the number of positions that each worker has received.
fn positions(finished: &Finished) -> Vec<(String, u64)> {
    let json = finished.json();
    let workers = json["workers"].as_object().expect("workers are named");
    workers.iter().map(|(name, count)| (name.clone(), count.as_u64().expect("a count"))).collect()
}

#[test]
fn workers_and_one_machine_solve_the_same_positions() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b", "c"].map(|name| Worker::start(&bench, &server, name));
    let finished = start_distributed(&bench, &server, &[]).finish();
    let each = positions(&finished);
    assert_eq!(each.iter().map(|(_, count)| count).sum::<u64>(), POSITIONS as u64);
    assert!(each.len() > 1, "{each:?}");
    let here = comparable_results(ask(&bench, &[]).finish(), 0);
    assert_eq!(here["positions"].as_array().map(Vec::len), Some(POSITIONS));
    assert_eq!(here["unusable"][0]["line"], 1);
    assert_eq!(comparable_results(finished, 0), here);
    // A gate fails as on one machine.
    start_distributed(&bench, &server, &["--min-solved", "41"]).finish().expect_code(1);
}

#[test]
fn workers_and_one_machine_count_alike() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    let perft = |bench: &Bench, engine: &str, more: &[&str]| {
        let suite_path = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/perft.epd");
        let suite_path = suite_path.display().to_string();
        let args = ["perft", "--suite", &suite_path, "--max-nodes", "30000", "--format", "json"];
        bench.arbiter(args.iter().chain(&["--engine", engine]).chain(more)).finish()
    };
    let url = server.url();
    let buggy = bench.puppet("Buggy", "--mode no-en-passant", "");
    for (engine, code) in [("cmd=bundled", 0), (&buggy, 1)] {
        let finished = perft(&bench, engine, &["--on", &url]);
        let here = perft(&bench, engine, &[]);
        let each = positions(&finished);
        assert_eq!(
            each.iter().map(|(_, count)| *count as usize).sum::<usize>(),
            here.json()["positions"].as_array().expect("a list").len()
        );
        assert_eq!(comparable_results(finished, code), comparable_results(here, code));
    }
    // An engine without perft is reported.
    let searching =
        perft(&bench, "cmd=stockfish", &["--on", &url, "--command", "go depth {depth}"]);
    let searching = searching.expect_code(6).json();
    let fault = searching["positions"][0]["reason"].as_str().expect("it is told");
    let (_, advice) = fault.rsplit_once("; ").expect("advice");
    expect_next(advice.split(" (").next().expect("a first part"));
}

#[test]
fn a_worker_that_is_killed_loses_no_position() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let victim = Worker::start(&bench, &server, "a");
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.results.>");
    let lease = format!("lease={}", LEASE.as_secs());
    let running = start_distributed(&bench, &server, &["--fleet", &lease]);
    (0..3).for_each(|_| drop(client.next()));
    victim.signal(Signal::KILL);
    victim.finish();
    let _other = Worker::start(&bench, &server, "b");
    let finished = running.finish();
    let each = positions(&finished);
    assert_eq!(each.len(), 2, "{each:?}");
    assert_eq!(each.iter().map(|(_, count)| count).sum::<u64>(), POSITIONS as u64);
    assert_eq!(comparable_results(finished, 0), comparable_results(ask(&bench, &[]).finish(), 0));
}

#[test]
fn a_suite_that_is_interrupted_leaves_nothing_behind() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _worker = Worker::start(&bench, &server, "a");
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.results.>");
    let running = start_distributed(&bench, &server, &["--deadline", "5"]);
    client.next();
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    expect_next(&without_figures(finished.stderr.lines().last().expect("it says why")));
    wait_for("streams are removed", || (streams(&bench) == 0).then_some(()));
    // The worker is available for the next suite.
    assert_eq!(positions(&start_distributed(&bench, &server, &[]).finish()).len(), 1);
}

/// Returns the number of streams on the server.
fn streams(bench: &Bench) -> usize {
    let folder = bench.path("nats/jetstream/$G/streams");
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.filter(|e| e.file_name().to_string_lossy().starts_with("ARBITER_")).count()
}

#[test]
fn a_suite_interrupted_before_its_start_leaves_nothing_behind() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    for _ in 0..5 {
        let running = start_distributed(&bench, &server, &[]);
        wait_for("a stream is made", || (streams(&bench) > 0).then_some(()));
        running.signal(Signal::INT);
        running.finish().expect_code(130);
        wait_for("streams are removed", || (streams(&bench) == 0).then_some(()));
    }
}

#[test]
fn a_suite_after_another_has_the_workers_in_time() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    let takes = |bench: &Bench| {
        let started = Instant::now();
        ask_some(bench, 6, &["--on", &server.url()]).finish().expect_code(0);
        started.elapsed()
    };
    let first = takes(&bench);
    let slowest = (0..10).map(|_| takes(&bench)).max().expect("there are ten");
    assert!(slowest < first + Duration::from_secs(2), "{first:?}, then {slowest:?}");
}

#[test]
fn engine_faults_are_reported_and_foreign_answers_rejected() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let file = suite(&bench, POSITIONS).display().to_string();
    let crashing = bench.puppet("Crashing", "--mode crash --after 0", ",nodes=1");
    let args = ["epd", "--suite", &file, "--format", "json", "--engine", &crashing];
    let url = server.url();
    let running = bench.arbiter(args.iter().chain(&["--on", &url]));
    // The stranger sends the first reply, but it is invalid.
    let mut mallory = Client::connect(&server);
    mallory.subscribe("arbiter.beacon");
    let beacon = mallory.next().1;
    let beacon: Value = serde_json::from_slice(&beacon[SIGNATURE..]).expect("beacons are JSON");
    let run = beacon["body"]["run_id"].as_str().expect("a beacon names the run");
    for _ in 0..3 {
        mallory.publish(&format!("arbiter.results.{run}.7.mallory"), &[0; 100]);
    }
    mallory.flush();
    let _worker =
        Worker::start_with(&bench, &server, "a", &["--slots", "2", "--trust", &key(&bench)]);
    let finished = running.finish().expect_code(6);
    let refusal = format!("worker mallory: {}", phrases::NOT_GIVEN);
    assert_eq!(finished.stderr.matches(&refusal).count(), 1, "{finished:#?}");
    let json = finished.json();
    assert_eq!(json["engines"][0]["faults"], POSITIONS);
    assert_eq!(json["workers"]["a"], POSITIONS);
    let fault = json["positions"][0]["searches"][0]["fault"].as_str().expect("it is told");
    expect_next(fault);
}
