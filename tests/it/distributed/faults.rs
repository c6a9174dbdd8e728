//! Tests of processes that die during a run.

use rustix::process::Signal;

use super::{assert_untouched, distributed_plan, excluded, impatient};
use crate::resume::{PAIRS, uninterrupted, wait_for_pairs};
use crate::support::bench::{Bench, Running};
use crate::support::nats::{Client, LEASE, Server, Worker};
use crate::support::phrases;
use crate::support::plan::RunOutput;
use crate::support::{store, wait_for};

/// Resumes the run in `bench`.
pub fn resume(bench: &Bench, server: &Server) -> Running {
    let results = bench.path("results").display().to_string();
    let pgn = bench.path("games.pgn").display().to_string();
    let (url, lease) = (server.url(), format!("lease={}", LEASE.as_secs()));
    let args = ["match", "--resume", "run", "--results", &results, "--pgn", &pgn];
    let more = ["--on", &url, "--fleet", &lease, "--format", "json"];
    bench.arbiter(args.into_iter().chain(more))
}

#[test]
fn a_worker_that_is_killed_in_a_game_loses_nothing() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let victim = Worker::start(&bench, &server, "a");
    let running = impatient(&bench, &server).start();
    wait_for_pairs(&bench, 2);
    victim.signal(Signal::KILL);
    victim.finish();
    let _other = Worker::start(&bench, &server, "b");
    assert_untouched(&bench, running);
    assert_eq!(store::players(&bench.path("results")).len(), 2);
}

#[test]
fn a_worker_that_is_killed_between_its_job_and_the_start_of_the_game_loses_nothing() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let victim = Worker::start_as(&bench, &server, "a", &["PAUSE=1"]);
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.run.*.sign.a");
    let lease = LEASE.as_secs();
    let running = excluded::distributed_plan(&bench, &server)
        .set("fleet lease", lease)
        .set("pairs", 4)
        .start();
    // The worker has received the job, and its engines are starting.
    let (_, sign) = client.next();
    victim.signal(Signal::KILL);
    victim.finish();
    assert!(String::from_utf8_lossy(&sign).contains("\"half\":null"), "{sign:?}");
    let results = bench.path("results");
    assert_eq!(store::pairs(&results).len(), 0);
    let _other = Worker::start_as(&bench, &server, "b", &[]);
    let finished = running.finish().expect_code(0);
    assert_eq!(finished.json()["games"], 8);
    assert_eq!(store::players(&results), [("b".to_owned(), 4)].into());
    assert_eq!(store::remarks(&results), Vec::<String>::new());
    store::assert_consistent(&results);
}

#[test]
fn a_worker_that_is_killed_between_its_result_and_the_answer_counts_once() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let victim = Worker::start(&bench, &server, "a");
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.results.>");
    let running = impatient(&bench, &server).start();
    let before = wait_for_pairs(&bench, 1);
    // A stopped coordinator stores nothing while results arrive.
    running.signal(Signal::STOP);
    for _ in 0..before + 2 {
        client.next();
    }
    victim.signal(Signal::KILL);
    victim.finish();
    running.signal(Signal::CONT);
    let _other = Worker::start(&bench, &server, "b");
    assert_untouched(&bench, running);
}

#[test]
fn a_killed_coordinator_resumes_its_run() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    let mut running = impatient(&bench, &server).start();
    for kill in 1..=3 {
        wait_for_pairs(&bench, 2 * kill);
        running.signal(Signal::KILL);
        assert_eq!(running.finish().code, None);
        store::assert_consistent(&bench.path("results"));
        running = resume(&bench, &server);
    }
    assert_untouched(&bench, running);
    drop(workers);
}

#[test]
fn a_run_of_workers_needs_a_server_or_a_concurrency_to_continue() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _worker = Worker::start(&bench, &server, "a");
    let running = impatient(&bench, &server).start();
    wait_for_pairs(&bench, 2);
    running.signal(Signal::KILL);
    running.finish();
    let results = bench.path("results").display().to_string();
    let pgn = bench.path("games.pgn").display().to_string();
    let args = ["match", "--resume", "run", "--results", &results, "--pgn", &pgn];
    bench.arbiter(args).finish().expect_error(3);
    let here = ["--concurrency", "2", "--format", "json"];
    assert_untouched(&bench, bench.arbiter(args.into_iter().chain(here)));
}

#[test]
fn results_sent_without_a_coordinator_are_not_lost() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let worker = Worker::start(&bench, &server, "a");
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.results.>");
    let running = impatient(&bench, &server).start();
    wait_for_pairs(&bench, 2);
    running.signal(Signal::KILL);
    running.finish();
    let stored = store::pairs(&bench.path("results")).len();
    // Pairs in progress are finished, and the results wait on the server.
    let mut subject = String::new();
    for _ in 0..=stored {
        subject = client.next().0;
    }
    // Some results had been delivered when the coordinator was killed; this client receives all of
    // them.
    let token = subject.split('.').nth(2).expect("arbiter.results.TOKEN.PAIR.WORKER");
    let mut taker = Client::connect(&server);
    taker.subscribe("taken");
    let take = format!("$JS.API.CONSUMER.MSG.NEXT.ARBITER_RESULTS_{token}.collector");
    taker.ask(&take, Some("taken"), br#"{"batch":100,"no_wait":true}"#);
    taker.next();
    worker.signal(Signal::KILL);
    worker.finish();
    let running = resume(&bench, &server);
    wait_for_pairs(&bench, stored + 1);
    let _other = Worker::start(&bench, &server, "b");
    assert_untouched(&bench, running);
}

#[test]
fn a_server_that_is_killed_and_started_again_loses_nothing() {
    let bench = Bench::new();
    let Some(mut server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    let running = impatient(&bench, &server).start();
    wait_for_pairs(&bench, 2);
    server.kill();
    server.restart();
    wait_for_pairs(&bench, 4);
    server.kill();
    // The outage is longer than a lease: engines continue to play, and results wait.
    std::thread::sleep(2 * LEASE);
    server.restart();
    assert_untouched(&bench, running);
}

#[test]
fn damaged_streams_are_emptied() {
    let bench = Bench::new();
    let Some(mut server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    let running = impatient(&bench, &server).start();
    wait_for_pairs(&bench, 2);
    running.signal(Signal::KILL);
    running.finish();
    // Results arrive, but no coordinator receives them.
    std::thread::sleep(LEASE);
    server.kill();
    assert_eq!(server.damage_streams(), ["ARBITER_JOBS", "ARBITER_RESULTS"]);
    server.restart();
    assert_untouched(&bench, resume(&bench, &server));
    let remarks = store::remarks(&bench.path("results"));
    assert!(remarks.iter().any(|remark| remark.contains(phrases::EMPTIED)), "{remarks:?}");
}

#[test]
fn lost_jobs_are_sent_again() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let first = Worker::start(&bench, &server, "a");
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.results.>");
    let running = impatient(&bench, &server).start();
    let (subject, _) = client.next();
    first.signal(Signal::INT);
    first.finish().expect_code(0);
    let token = subject.split('.').nth(2).expect("arbiter.results.TOKEN.PAIR.WORKER");
    client.publish(&format!("$JS.API.STREAM.PURGE.ARBITER_JOBS_{token}"), b"");
    client.flush();
    let _second = Worker::start(&bench, &server, "b");
    assert_untouched(&bench, running);
    let remarks = store::remarks(&bench.path("results"));
    assert!(remarks.iter().any(|remark| remark.contains(phrases::NOBODY)), "{remarks:?}");
}

#[test]
fn late_results_of_a_stalled_worker_are_ignored() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let sleeper = Worker::start(&bench, &server, "a");
    let running = impatient(&bench, &server).start();
    wait_for_pairs(&bench, 2);
    sleeper.signal(Signal::STOP);
    let other = Worker::start(&bench, &server, "b");
    // The pairs of the stalled worker are given to the other worker, because the stalled worker
    // sends no heartbeats.
    let results = bench.path("results");
    wait_for("the other has played most", || {
        (store::players(&results).get("b").copied().unwrap_or(0) >= 4).then_some(())
    });
    sleeper.signal(Signal::CONT);
    assert_untouched(&bench, running);
    drop(other);
}

#[test]
fn a_draining_worker_finishes_its_pairs_and_a_stopped_one_returns_them() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let polite = Worker::start(&bench, &server, "a");
    let running = distributed_plan(&bench, &server).set("fleet lease", 600).start();
    wait_for_pairs(&bench, 1);
    polite.signal(Signal::INT);
    polite.finish().expect_code(0);
    let hasty = Worker::start(&bench, &server, "b");
    let results = bench.path("results");
    wait_for("the second worker has played", || store::players(&results).get("b").map(|_| ()));
    hasty.signal(Signal::TERM);
    hasty.finish().expect_code(0);
    // With this long lease, pairs that were not returned would not be played again during the test.
    let _last = Worker::start(&bench, &server, "c");
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
    assert_eq!(store::pairs(&bench.path("results")).len(), PAIRS);
    assert_eq!(store::remarks(&bench.path("results")), Vec::<String>::new());
}
