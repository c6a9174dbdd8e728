//! Tests of the time in which workers notice the end of a run and exit.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::bench::Bench;
use crate::support::nats::{Client, Server, Worker};
use crate::support::plan::Plan;
use crate::support::site::Site;
use crate::support::{process, store, wait_for};

/// Maximum time to exit. The promise is one second; the rest is for busy machines. A worker that
/// does not notice the end continues for as long as endless games, or the wait for a lost server,
/// take.
const PROMPT: Duration = Duration::from_secs(5);

/// Returns a run whose games do not end during a test.
fn endless<'a>(bench: &'a Bench, server: &Server) -> Plan<'a> {
    let args = |seed: u32| format!("--mode slow --delay-ms 300000 --seed {seed}");
    let plan = Plan::new(bench, "match", 4).puppet("A", &args(1)).puppet("B", &args(2));
    plan.unset("concurrency").set("on", server.url()).set("deadlines move", 600)
}

#[track_caller]
fn assert_prompt(event: &str, took: Duration) {
    eprintln!("{event}: {took:?}");
    assert!(took < PROMPT, "{event}: {took:?}");
}

/// Returns the time that a worker takes to exit.
#[track_caller]
fn leave(worker: Worker, signal: Signal) -> Duration {
    let signalled = Instant::now();
    worker.signal(signal);
    worker.finish().expect_code(0);
    signalled.elapsed()
}

#[test]
fn workers_learn_of_the_end_within_a_second() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.run.*.sign.*");
    let running = endless(&bench, &server).start();
    for _ in 0..4 {
        client.next();
    }
    wait_for("engines play", || (process::marked(bench.marker()).len() >= 8).then_some(()));
    running.signal(Signal::INT);
    // Two signals in quick succession could arrive in any order.
    sleep(Duration::from_millis(300));
    assert!(process::marked(bench.marker()).len() >= 8, "the first one lets games end");
    running.signal(Signal::INT);
    let signalled = Instant::now();
    bench.wait_until_quiet();
    assert_prompt("from Ctrl-C to the end of all engines", signalled.elapsed());
    running.finish().expect_code(130);
    assert!(store::pairs(&bench.path("results")).is_empty());
}

#[test]
fn a_verdict_reaches_workers_within_a_second() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    // Each worker's engines play `SUFFICE` pairs, and then do not finish. The first endless pair
    // comes after at least as many other pairs, which suffice for a verdict.
    const SUFFICE: u32 = 8;
    let slow = format!("--mode slow --delay-ms 300000 --in-game {}", 2 * SUFFICE + 1);
    let plan = Plan::new(&bench, "sprt", 200)
        .puppet("A", &format!("--skill greedy --seed 1 {slow}"))
        .puppet("B", &format!("--skill random --seed 2 {slow}"))
        .set("elo0", 0)
        .set("elo1", 200)
        .set("alpha", 0.2)
        .set("beta", 0.2)
        .set("model", "logistic");
    let plan = plan.unset("concurrency").set("on", server.url()).set("deadlines move", 600);
    let _workers = ["a", "b"].map(|name| Worker::start_as(&bench, &server, name, &[]));
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.run.*.word");
    let running = plan.start();
    while !String::from_utf8_lossy(&client.next().1).contains("\"cancel\"") {}
    let decided = Instant::now();
    bench.wait_until_quiet();
    assert_prompt("from the verdict to the end of all engines", decided.elapsed());
    let finished = running.finish().expect_code(0);
    assert_eq!(finished.json()["verdict"], "H1");
}

#[test]
fn a_worker_without_its_server_leaves_immediately() {
    for signal in [Signal::INT, Signal::TERM] {
        let bench = Bench::new();
        let Some(mut server) = Server::start(&bench, "") else { return };
        // One worker plays an endless game, one is idle, and one knows no run.
        let playing = Worker::start_as(&bench, &server, "a", &[]);
        let mut client = Client::connect(&server);
        client.subscribe("arbiter.run.*.sign.*");
        let running = endless(&bench, &server).set("concurrency", 1).start();
        while !String::from_utf8_lossy(&client.next().1).contains("\"half\":0") {}
        let mut client = Client::connect(&server);
        client.subscribe("arbiter.hello.*");
        let idle = Worker::start_as(&bench, &server, "b", &[]);
        let flags = ["--slots", "1", "--trust", &crate::support::nats::key(&Bench::new())];
        let stranger = Worker::start_with(&bench, &server, "c", &flags);
        for name in ["b", "c"] {
            // Workers send a greeting when they learn of the run, and again three seconds later.
            for _ in 0..2 {
                while client.next().0 != format!("arbiter.hello.{name}") {}
            }
        }
        server.kill();
        sleep(Duration::from_millis(300));
        assert_prompt("an idle worker", leave(idle, signal));
        assert_prompt("a worker without a run", leave(stranger, signal));
        assert_prompt("a worker at play", leave(playing, signal));
        bench.wait_until_quiet();
        running.signal(Signal::KILL);
        running.finish();
    }
}

#[test]
fn an_idle_worker_leaves_immediately() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _playing = Worker::start_as(&bench, &server, "a", &[]);
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.run.*.sign.*");
    let running = endless(&bench, &server).set("concurrency", 1).start();
    while !String::from_utf8_lossy(&client.next().1).contains("\"half\":0") {}
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.hello.b");
    for signal in [Signal::INT, Signal::TERM] {
        let idle = Worker::start_as(&bench, &server, "b", &[]);
        (0..2).for_each(|_| drop(client.next()));
        assert_prompt("an idle worker", leave(idle, signal));
    }
    // Viewers see workers join and leave, but the store does not record these events.
    let site = Site::start(&bench, &["--read-only"]);
    site.events("/events/runs/run").wait_for(
        "part-events",
        &["worker a: joined with ", "worker b: joined with ", "worker b: left"],
    );
    site.end();
    assert_eq!(store::remarks(&bench.path("results")), Vec::<String>::new());
    running.signal(Signal::KILL);
    running.finish();
}

#[test]
fn one_signal_ends_a_coordinator_whose_workers_are_gone() {
    let bench = Bench::new();
    let Some(mut server) = Server::start(&bench, "") else { return };
    let worker = Worker::start(&bench, &server, "a");
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.run.*.sign.*");
    let running = endless(&bench, &server).start();
    client.next();
    worker.signal(Signal::KILL);
    server.kill();
    running.signal(Signal::TERM);
    let signalled = Instant::now();
    running.finish().expect_code(143);
    // Workers count as lost after 10 s without a message.
    let took = signalled.elapsed();
    assert!(took < Duration::from_secs(30), "it waited for nobody for {took:?}");
}

#[test]
fn a_coordinator_without_a_server_leaves_in_time() {
    let bench = Bench::new();
    let Some(mut server) = Server::start(&bench, "") else { return };
    let _worker = Worker::start(&bench, &server, "a");
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.run.*.sign.*");
    let running = endless(&bench, &server).start();
    client.next();
    server.kill();
    running.signal(Signal::TERM);
    // Two signals in quick succession could count as one.
    sleep(Duration::from_millis(300));
    running.signal(Signal::TERM);
    let signalled = Instant::now();
    running.finish().expect_code(143);
    let took = signalled.elapsed();
    assert!(took < Duration::from_secs(2), "the last words of a coordinator took {took:?}");
}
