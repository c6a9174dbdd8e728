//! Tests of messages that another client sends in the name of a coordinator.

use std::sync::mpsc::channel;
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::audits::{self, falsify};
use super::messages::{DETOUR, detour, games, pair_of, pass};
use super::strangers::{repacked, unpacked};
use super::{assert_untouched, distributed_plan};
use crate::metrics::wait_for_figures;
use crate::resume::PAIRS;
use crate::support::bench::{Bench, Running};
use crate::support::nats::{Client, Message, Server, Worker, free_port, key};
use crate::support::phrases;
use crate::support::plan::Plan;
use crate::support::snapshot::expect_next;
use crate::support::{store, wait_for};

/// Length of key and signature at the start of a coordinator's message, in bytes.
pub const SIGNATURE: usize = 96;

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("messages are JSON")
}

#[test]
fn unsigned_jobs_are_not_played() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.jobs.>");
    let worker = Worker::start(&bench, &server, "a");
    let running = distributed_plan(&bench, &server).start();
    let (subject, genuine) = client.next();
    let (run, _) = subject.rsplit_once('.').expect("a subject names the run and the pair");
    let (signature, text) = genuine.split_at(SIGNATURE);
    let text = String::from_utf8(text.to_vec()).expect("a job is text");
    let log = bench.path("log").display().to_string();
    let options = json!([[["Debug Log File", log]], []]).to_string();
    let changed = text.replace("\"settings\":[[],[]]", &format!("\"settings\":{options}"));
    assert_ne!(changed, text);
    let forged = [signature, changed.as_bytes()].concat();
    let unsigned = changed.into_bytes();
    for (number, payload) in [forged, unsigned, b"x".to_vec()].iter().enumerate() {
        client.publish(&format!("{run}.{}", 1_000 + number), payload);
    }
    client.flush();
    assert_untouched(&bench, running);
    worker.signal(Signal::INT);
    let finished = worker.finish().expect_code(0);
    for part in ["unreadable job", "the signature was not made with key"] {
        assert!(finished.stderr.contains(part), "no '{part}' in {finished:#?}");
    }
}

pub fn give_up(mut running: Running) {
    // A busy process may receive two signals as one.
    while !running.has_ended() {
        running.signal(Signal::INT);
        sleep(Duration::from_millis(300));
    }
    running.finish().expect_code(130);
}

/// Records all messages until the subject `end`, in a separate thread, because the server drops
/// messages that are not read in time.
fn record(mut client: Client, end: &'static str) -> JoinHandle<Vec<Message>> {
    std::thread::spawn(move || {
        let messages = std::iter::from_fn(|| client.next_message());
        messages.take_while(|message| message.subject != end).collect()
    })
}

#[test]
fn workers_do_not_join_a_replayed_run() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let (mut client, mut inboxes) = (Client::connect(&server), Client::connect(&server));
    client.subscribe("arbiter.>");
    inboxes.subscribe("_INBOX.>");
    let (recorded, answers) = (record(client, "arbiter.end"), record(inboxes, "_INBOX.end"));
    let worker = Worker::start(&bench, &server, "a");
    assert_untouched(&bench, distributed_plan(&bench, &server).start());
    drop(worker);
    let mut client = Client::connect(&server);
    client.publish("arbiter.end", b"");
    client.publish("_INBOX.end", b"");
    let [recorded, answers] =
        [recorded, answers].map(|recorder| recorder.join().expect("it only hears"));
    client.subscribe("arbiter.>");
    let answer_to = |word: &str| {
        let is_asked = |message: &&Message| message.subject.split('.').nth(3) == Some(word);
        let request = recorded.iter().find(is_asked).expect("a worker has asked");
        let inbox = request.reply.as_ref().expect("it waits for an answer");
        let answer = answers.iter().find(|answer| answer.subject == *inbox);
        answer.expect("the coordinator has answered").payload.clone()
    };
    let (description, program, admission) =
        (answer_to("head"), answer_to("need"), answer_to("join"));
    let beacon = recorded.iter().find(|message| message.subject == "arbiter.beacon");
    let beacon = beacon.expect("coordinators send beacons").payload.clone();

    let _worker = Worker::start(&bench, &server, "b");
    client.publish("arbiter.beacon", &beacon);
    let why = loop {
        let message = client.next_message().expect("the server goes on");
        // The beacon is repeated after each message, at least with every status of the worker,
        // because a worker forgets a run without beacons.
        if message.subject != "arbiter.beacon" {
            client.publish("arbiter.beacon", &beacon);
        }
        let answer = match message.subject.split('.').nth(3) {
            Some("head") => &description,
            Some("need") => &program,
            Some("join") => &admission,
            _ if message.subject == "arbiter.hello.b" => {
                let status = parsed(&message.payload);
                match status["body"]["refusals"][0][1].as_str() {
                    Some(why) => break why.to_owned(),
                    None => continue,
                }
            }
            _ => continue,
        };
        client.publish(&message.reply.expect("it waits for an answer"), answer);
    };
    expect_next(&why);
}

#[test]
fn forged_and_replayed_coordinator_messages_have_no_effect() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let [mut client, mut beacons, mut results] = [(); 3].map(|()| Client::connect(&server));
    client.subscribe("arbiter.jobs.>");
    beacons.subscribe("arbiter.beacon");
    results.subscribe("arbiter.results.*.*.a");
    let worker = Worker::start(&bench, &server, "a");
    let running = distributed_plan(&bench, &server).start();
    let (subject, genuine) = client.next();
    let (beacon, done) = (beacons.next().1, subject.replace("jobs", "results") + ".a");
    while results.next().0 != done {}
    // A finished job is sent again; further messages claim that the run is over, for all workers or
    // for this worker.
    client.publish(&subject, &genuine);
    let (signature, text) = beacon.split_at(SIGNATURE);
    let Value::Object(beacon_body) = parsed(text)["body"].take() else {
        panic!("a beacon has fields")
    };
    let run = beacon_body["run_id"].as_str().expect("it names the run");
    let word = format!("arbiter.run.{run}.word");
    let later = beacon_body["at"].as_u64().expect("it has a time") + 60_000_000;
    for notice in [json!("cancel"), json!({ "exclude": { "worker": "a", "why": "no" } })] {
        let forged = json!({ "run_id": run, "at": later, "notice": notice });
        let forged = json!({ "v": 8, "body": forged }).to_string();
        client.publish(&word, forged.as_bytes());
        client.publish(&word, &[signature, forged.as_bytes()].concat());
    }
    client.flush();
    assert_untouched(&bench, running);
    worker.signal(Signal::INT);
    let finished = worker.finish().expect_code(0);
    assert_eq!(finished.stderr.matches(phrases::NOT_AGAIN).count(), 1, "{finished:#?}");
    assert!(!finished.stderr.contains(phrases::NOT_PLAYED), "{finished:#?}");
}

/// The worker has joined both runs, which have the same pairs of the same engines.
#[test]
fn results_of_one_run_do_not_count_in_another() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.results.*.*.a");
    let _worker = Worker::start(&bench, &server, "a");
    assert_untouched(&bench, distributed_plan(&bench, &server).start());
    let old: Vec<_> = (0..PAIRS).map(|_| client.next()).collect();
    let running = distributed_plan(&bench, &server).set("name", "again").unset("pgn").start();
    let again = client.next().0;
    let run = again.split('.').nth(2).expect("a subject names the run");
    for (subject, payload) in old {
        let pair = subject.split('.').nth(3).expect("a subject names the pair");
        client.publish(&format!("arbiter.results.{run}.{pair}.a"), &payload);
    }
    client.flush();
    running.finish().expect_code(0);
    let remarks = store::remarks(&bench.path("results")).join("\n");
    let unproven = remarks.matches(&format!("a: {}", phrases::NOT_GIVEN)).count();
    assert_eq!(unproven, 2, "the first and the tenth: {remarks}");
}

/// Sends results that are small when packed and endless when unpacked: first in the name of a
/// worker that was given the job, before its true result; then for many pairs without a job.
#[test]
fn decompression_bombs_take_no_memory() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let _worker = Worker::start(&bench, &server, "a");
    let (receiver, mut client) = detour(&server);
    let plan = Plan::new(&bench, "match", 400).puppet("A", "--delay-ms 2 --seed 1");
    let plan = plan.puppet("B", "--delay-ms 2 --seed 2").unset("concurrency").unset("max-moves");
    let running = plan.set("on", server.url()).start();
    let Message { subject, payload: genuine, .. } = loop {
        match receiver.recv().expect("the worker plays") {
            result if pair_of(&result).is_some() => break result,
            other => pass(&mut client, &other),
        }
    };
    let subject = subject.replacen("held", "passed", 1);
    let before = running.peak_memory_mib();
    let text = unpacked(&genuine);
    let moves = text.find("\"moves\":[").expect("a game has moves") + "\"moves\":[".len();
    let many = |part: &str, bytes: usize| {
        let (head, tail) = text.split_at(moves);
        repacked(&genuine, &[head, &part.repeat(bytes / part.len()), tail].concat())
    };
    let first = format!("{},", games(&mut parsed(text.as_bytes()))["first"]["moves"][0]);
    let bombs = [many("{\"m\":\"\"},", 64 << 20), many(&first, 12 << 20), many("[", 12 << 20)];
    for bomb in &bombs {
        client.publish(&subject, bomb);
    }
    let (run, _) = subject.split_at(subject.len() - ".0.a".len());
    for pair in 100..400 {
        client.publish(&format!("{run}.{pair}.a"), &bombs[0]);
    }
    client.flush();
    let results = bench.path("results");
    wait_for("they are named", || {
        let remarks = store::remarks(&results).join("\n");
        ["more than 16777216 bytes", "at most", "not a message", "of another worker (100 so far)"]
            .iter()
            .all(|part| remarks.contains(part))
            .then_some(())
    });
    let taken = running.peak_memory_mib() - before;
    assert!(taken < 100, "{taken} MiB");
    give_up(running);
}

/// A worker adds long transcripts to its results, all of which wait for an audit.
#[test]
fn results_that_wait_for_audits_take_little_memory() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, audits::DETOUR) else { return };
    let (sender, sent) = channel();
    let _lengthening = falsify(&server, move |result| {
        for key in ["first", "second"] {
            games(result)[key]["transcript"] = "5 W< \n".repeat(100_000).into();
        }
        // The receiver is gone at the end of the test.
        let _ = sender.send(());
    });
    let flags = ["--slots", "8", "--trust", &key(&bench)];
    let _worker = Worker::start_with(&bench, &server, "liar", &flags);
    let plan = Plan::new(&bench, "match", 400).puppet("A", "--delay-ms 9 --seed 1");
    let plan = plan.puppet("B", "--delay-ms 9 --seed 2").unset("concurrency");
    let running = plan.set("fleet audit", "100%").set("on", server.url()).start();
    sent.recv().expect("the worker plays");
    let before = running.peak_memory_mib();
    // A job beyond the slots is sent only when an earlier result waits.
    (0..24).for_each(|_| sent.recv().expect("the worker plays"));
    let taken = running.peak_memory_mib() - before;
    assert!(taken < 80, "{taken} MiB");
    give_up(running);
}

/// Returns the status of a worker with many slots.
pub fn status(is_leaving: bool) -> Vec<u8> {
    let status = json!({
        "v": 8, "body": {
            "version": "?", "slots": 4096, "playing": 4096, "pairs": 0, "recent_pairs": 0,
            "recent_secs": 0, "cores": 1, "memory_mib": 0, "system": "", "cpu": "", "benches": [],
            "refusals": [], "trouble": null, "is_leaving": is_leaving,
        }
    });
    status.to_string().into_bytes()
}

#[test]
fn claimed_slots_count_little_until_they_play() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let port = free_port();
    let plan = Plan::new(&bench, "match", 400).puppet("A", "--seed 1").puppet("B", "--seed 2");
    let plan = plan.set("metrics", port);
    let running = plan.unset("concurrency").set("on", server.url()).start();
    let (mut client, mut beacons) = (Client::connect(&server), Client::connect(&server));
    beacons.subscribe("arbiter.beacon");
    beacons.next();
    let status = status(false);
    for name in 0..3_000 {
        client.publish(&format!("arbiter.hello.made-up-{name}"), &status);
    }
    client.flush();
    let queued = |payload: &[u8]| parsed(&payload[SIGNATURE..])["body"]["queued"].as_u64();
    let most = (0..4).filter_map(|_| queued(&beacons.next().1)).max();
    assert_eq!(most, Some(64));
    // All 3,000 statuses have arrived, but only 1,000 are remembered.
    wait_for_figures(port, &["arbiter_workers{state=\"playing\"} 1000"]);
    give_up(running);
}

#[test]
fn incompatible_versions_are_reported_on_both_sides() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let (mut client, mut beacons) = (Client::connect(&server), Client::connect(&server));
    let later = br#"{"v":10,"body":{}}"#;
    beacons.subscribe("arbiter.beacon");
    let running = distributed_plan(&bench, &server).start();
    beacons.next();
    client.publish("arbiter.hello.later", later);
    client.subscribe("arbiter.hello.here");
    let _worker = Worker::start(&bench, &server, "here");
    let finished = running.finish().expect_code(0);
    let version_error = "a message of version 10, but this arbiter reads versions 8 to 9";
    let trouble = store::remarks(&bench.path("results")).concat();
    assert!(
        trouble.starts_with(&format!("later: does not play: {version_error}")),
        "{finished:#?} {trouble}"
    );
    client.publish("arbiter.beacon", later);
    let names_version = |status: Value| {
        status["body"]["trouble"].as_str().is_some_and(|trouble| trouble.contains(version_error))
    };
    while !names_version(parsed(&client.next().1)) {}
}
