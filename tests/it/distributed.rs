//! Tests of runs on other machines, over a real NATS server: the games equal the games of a local
//! run, even if any process dies.

mod access;
mod audits;
mod disasters;
mod excluded;
mod faults;
mod floods;
mod forgeries;
mod leaving;
mod liars;
pub mod machines;
mod messages;
mod namespaces;
mod own_server;
mod permissions;
mod sandbox;
mod storm;
mod strangers;
mod suites;

use rustix::process::Signal;

use crate::browser;
use crate::resume::{PAIRS, slow, uninterrupted, wait_for_pairs};
use crate::support::bench::{Bench, Running};
use crate::support::nats::{LEASE, Server, Worker, key};
use crate::support::phrases;
use crate::support::plan::{Plan, RunOutput};
use crate::support::site::{Site, page_text};
use crate::support::snapshot::{expect_next, without_figures};
use crate::support::store;

/// Returns [`slow`], played by workers.
pub fn distributed_plan<'a>(bench: &'a Bench, server: &Server) -> Plan<'a> {
    slow(bench).unset("concurrency").set("on", server.url())
}

/// Returns [`distributed_plan`] with a short lease: a worker that sends no heartbeat for [`LEASE`]
/// loses its pairs.
pub fn impatient<'a>(bench: &'a Bench, server: &Server) -> Plan<'a> {
    distributed_plan(bench, server).set("fleet lease", LEASE.as_secs())
}

/// Asserts that a run has ended like an undisturbed run, with each pair stored once.
#[track_caller]
pub fn assert_untouched(bench: &Bench, running: Running) {
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(bench, &finished), uninterrupted());
    store::assert_consistent(&bench.path("results"));
    assert_eq!(store::pairs(&bench.path("results")).len(), PAIRS);
}

#[test]
fn three_workers_play_the_games_of_a_local_run() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let workers = ["a", "b", "c"].map(|name| Worker::start(&bench, &server, name));
    assert_untouched(&bench, distributed_plan(&bench, &server).start());
    assert_eq!(store::remarks(&bench.path("results")), Vec::<String>::new());
    let players = store::players(&bench.path("results"));
    assert_eq!(players.values().sum::<i64>(), PAIRS as i64);
    // The worker has fetched the program from the server, under its hash.
    let fetched = std::fs::read_dir(bench.path("programs-a")).expect("a worker has a folder");
    assert_eq!(fetched.count(), 1);
    for worker in workers {
        worker.signal(Signal::INT);
        worker.finish().expect_code(0);
    }
    bench.wait_until_quiet();
}

#[test]
fn an_sprt_and_a_tournament_equal_local_runs() {
    let plans: [fn(&Bench) -> Plan<'_>; 2] = [
        |bench| {
            let plan = Plan::new(bench, "sprt", 60).set("elo0", 0).set("elo1", 400);
            plan.puppet("A", "--seed 1").puppet("B", "--seed 2").set("model", "logistic")
        },
        |bench| {
            let plan = Plan::new(bench, "tournament", 2).set("rounds", 2);
            plan.puppet("A", "--seed 1").puppet("B", "--seed 2").puppet("C", "--seed 3")
        },
    ];
    for plan in plans {
        let bench = Bench::new();
        let finished = plan(&bench).run();
        let local = bench.read("games.pgn");
        let bench = Bench::new();
        let Some(server) = Server::start(&bench, "") else { return };
        let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
        let distant = plan(&bench).unset("concurrency").set("on", server.url()).run();
        assert_eq!(distant.code, finished.code, "{distant:#?}");
        assert_eq!(bench.read("games.pgn"), local);
        assert_eq!(distant.json()["verdict"], finished.json()["verdict"]);
    }
}

#[test]
fn an_ablation_equals_a_local_run() {
    let plan = |bench| {
        let plan = Plan::new(bench, "ablate", 4).puppet("whole", "--seed 1");
        plan.set("option", "Style").set("features", "Solid,Risky")
    };
    let local = Bench::new();
    let finished = plan(&local).run().expect_code(0);
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    let distant = plan(&bench).unset("concurrency").set("on", server.url()).run().expect_code(0);
    assert_eq!(distant.json(), finished.json());
    assert_eq!(bench.read("games.pgn"), local.read("games.pgn"));
}

#[test]
fn a_late_worker_is_used_immediately() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let running = distributed_plan(&bench, &server).start();
    let first =
        Worker::start_with(&bench, &server, "a", &["--slots", "1", "--trust", &key(&bench)]);
    wait_for_pairs(&bench, 1);
    let second = Worker::start(&bench, &server, "b");
    assert_untouched(&bench, running);
    assert_eq!(store::players(&bench.path("results")).len(), 2);
    drop((first, second));
}

#[test]
fn two_runs_share_the_workers() {
    let benches = [Bench::new(), Bench::new()];
    let Some(server) = Server::start(&benches[0], "") else { return };
    let keys = [key(&benches[0]), key(&benches[1])];
    let flags = ["--slots", "2", "--trust", &keys[0], "--trust", &keys[1]];
    let _worker = Worker::start_with(&benches[0], &server, "a", &flags);
    let runs = [&benches[0], &benches[1]].map(|bench| distributed_plan(bench, &server).start());
    for (bench, running) in benches.iter().zip(runs) {
        assert_untouched(bench, running);
    }
}

/// Plays two runs of 40 pairs on a worker with two slots. The second run, with this priority,
/// starts when the first has stored a pair. Returns the number of pairs of the first run that are
/// played during the second run.
fn pairs_beside(priority: u8) -> usize {
    const PAIRS: usize = 40;
    let benches = [Bench::new(), Bench::new()];
    let server = Server::start(&benches[0], "").expect("it was there before");
    let keys = [key(&benches[0]), key(&benches[1])];
    let flags = ["--slots", "2", "--trust", &keys[0], "--trust", &keys[1]];
    let _worker = Worker::start_with(&benches[0], &server, "a", &flags);
    let start = |bench: &Bench, priority: u8| {
        let plan = Plan::new(bench, "match", PAIRS).puppet("A", "--seed 1 --delay-ms 5");
        let plan = plan.puppet("B", "--seed 2 --delay-ms 5").unset("concurrency");
        plan.set("on", server.url()).set("fleet priority", priority).start()
    };
    let first = start(&benches[0], 100);
    wait_for_pairs(&benches[0], 1);
    let second = start(&benches[1], priority);
    wait_for_pairs(&benches[1], 1);
    let before = store::pairs(&benches[0].path("results")).len();
    second.finish().expect_code(0);
    let beside = store::pairs(&benches[0].path("results")).len() - before;
    first.finish().expect_code(0);
    beside
}

#[test]
fn a_run_with_priority_gets_the_workers_and_equal_runs_share_them() {
    let bench = Bench::new();
    if Server::start(&bench, "").is_none() {
        return;
    }
    // The second run starts while jobs of the first are in progress, and these are finished.
    let beside = pairs_beside(200);
    assert!(beside <= 8, "{beside} pairs beside 40 of a more important run");
    let beside = pairs_beside(100);
    assert!((20..=40).contains(&beside), "{beside} pairs beside 40 of an equal run");
}

#[test]
fn the_cluster_command_lists_workers() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let worker = Worker::start(&bench, &server, "a");
    let other = key(&Bench::new());
    let flags = ["--slots", "1", "--trust", &other];
    let stranger = Worker::start_with(&bench, &server, "b", &flags);
    let running = distributed_plan(&bench, &server).start();
    wait_for_pairs(&bench, 1);
    let show = ["cluster", "show", "--on", &server.url()];
    let shown =
        bench.arbiter(show.iter().chain(&["--format", "json"])).finish().expect_code(0).json();
    assert_eq!(shown["workers"][0]["worker"], "a");
    assert_eq!(shown["workers"][0]["slots"], 2);
    let text = bench.arbiter(show).finish().expect_code(0).stdout;
    let count = text.lines().find(|line| line.starts_with("2 ")).expect("a count");
    expect_next(&without_figures(count));
    let csv = bench.arbiter(show.iter().chain(&["--format", "csv"])).finish().expect_code(0).stdout;
    assert!(csv.starts_with("worker,slots,playing,"), "{csv}");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    running.finish().expect_code(0);
    drop((worker, stranger));
}

#[test]
fn the_live_page_lists_workers() {
    let bench = Bench::new();
    let Some(mut server) = Server::start(&bench, "") else { return };
    let elsewhere = Bench::new();
    let without = Site::start(&elsewhere, &[]);
    expect_next(&page_text(&without.get("/cluster").body));
    without.end();
    let worker = Worker::start(&bench, &server, "alpha");
    let site = Site::start(&bench, &["--on", &server.url()]);
    let mut events = site.events("/events/cluster");
    events.wait_for("worker-alpha", &["badge idle", "0 of 2"]);
    let running = distributed_plan(&bench, &server).start();
    events.wait_for("part-runs", &[phrases::QUEUED]);
    events.wait_for("worker-alpha", &["badge running", " of 2"]);
    // A page that is loaded now has the same content.
    let page = site.get("/cluster").body;
    assert!(page.contains("alpha"), "{page}");
    if let Some(mut browser) = browser::browser() {
        browser.open(&site.url("/cluster"));
        browser::assert_accessible(&mut browser, None, "cluster");
    }
    running.finish().expect_code(0);
    server.kill();
    events.wait_for("part-standing", &[phrases::SERVER_LOST]);
    server.restart();
    events.wait_for("worker-alpha", &["badge "]);
    let idle = site.get("/cluster?state=silent").body;
    assert!(!idle.contains("worker-alpha"), "{idle}");
    drop(worker);
    site.end();
}
