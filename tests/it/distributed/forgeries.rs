//! What is said in the name of a coordinator by somebody else.

use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{assert_untouched, distant};
use crate::support::bench::Bench;
use crate::support::nats::{Client, Message, Server, Worker};
use crate::support::plan::Plan;

/// Key and signature, with which messages of coordinators begin.
pub const SIGNATURE: usize = 96;

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("messages are JSON")
}

#[test]
fn jobs_that_the_coordinator_did_not_sign_are_not_done() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.jobs.>");
    let worker = Worker::start(&bench, &server, "a");
    let running = distant(&bench, &server).start();
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
    for part in ["a job that cannot be read", "the signature is not that of key"] {
        assert!(finished.stderr.contains(part), "no '{part}' in {finished:#?}");
    }
}

/// All that was heard until now.
fn heard(client: &mut Client, end: &str) -> Vec<Message> {
    client.publish(end, b"");
    let messages = std::iter::from_fn(|| client.hear());
    messages.take_while(|message| message.subject != end).collect()
}

#[test]
fn a_run_that_was_recorded_has_nobody_join() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let (mut client, mut inboxes) = (Client::connect(&server), Client::connect(&server));
    client.subscribe("arbiter.>");
    inboxes.subscribe("_INBOX.>");
    let worker = Worker::start(&bench, &server, "a");
    assert_untouched(&bench, distant(&bench, &server).start());
    drop(worker);
    let recorded = heard(&mut client, "arbiter.end");
    let answers = heard(&mut inboxes, "_INBOX.end");
    let answer_to = |word: &str| {
        let is_asked = |message: &&Message| message.subject.split('.').nth(3) == Some(word);
        let asked = recorded.iter().find(is_asked).expect("a worker has asked");
        let inbox = asked.reply.as_ref().expect("it waits for an answer");
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
        let message = client.hear().expect("the server goes on");
        // Its status comes every few seconds, before a run without beacons is forgotten.
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
    assert!(why.contains("the answer is to another request"), "{why}");
}

#[test]
fn what_is_said_in_the_name_of_a_coordinator_or_a_second_time_has_no_effect() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let (mut client, mut words) = (Client::connect(&server), Client::connect(&server));
    client.subscribe("arbiter.jobs.>");
    words.subscribe("arbiter.run.*.word");
    let worker = Worker::start(&bench, &server, "a");
    let running = distant(&bench, &server).start();
    let (subject, genuine) = client.next();
    let (word, stored) = words.next();
    let number = subject.rsplit_once('.').expect("a subject names the pair").1;
    assert!(String::from_utf8_lossy(&stored).contains(&format!("\"stored\":{number}")));
    // A job that is done is there again; all is over, for all or for this worker.
    client.publish(&subject, &genuine);
    let (signature, text) = stored.split_at(SIGNATURE);
    let text = String::from_utf8(text.to_vec()).expect("messages are text");
    let notice = format!("{{\"stored\":{number}}}");
    for forged in ["\"cancel\"", r#"{"exclude":{"worker":"a","why":"no"}}"#] {
        let changed = text.replace(&notice, forged);
        assert_ne!(changed, text);
        client.publish(&word, changed.as_bytes());
        client.publish(&word, &[signature, changed.as_bytes()].concat());
    }
    client.flush();
    assert_untouched(&bench, running);
    worker.signal(Signal::INT);
    let finished = worker.finish().expect_code(0);
    let told = "a job that is not done again: its result was sent";
    assert_eq!(finished.stderr.matches(told).count(), 1, "{finished:#?}");
    assert!(!finished.stderr.contains("does not play run"), "{finished:#?}");
}

#[test]
fn slots_that_were_never_seen_to_play_are_hardly_believed() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let plan = Plan::new(&bench, "match", 400).puppet("A", "--seed 1").puppet("B", "--seed 2");
    let running = plan.unset("concurrency").set("on", server.url()).start();
    let (mut client, mut beacons) = (Client::connect(&server), Client::connect(&server));
    beacons.subscribe("arbiter.beacon");
    beacons.next();
    let status = json!({
        "v": 6, "body": {
            "version": "?", "slots": 4096, "playing": 4096, "pairs": 0, "recent_pairs": 0,
            "recent_secs": 0, "cores": 1, "memory_mib": 0, "system": "", "cpu": "", "benches": [],
            "refusals": [], "trouble": null, "is_leaving": false,
        }
    });
    for name in 0..3_000 {
        client.publish(&format!("arbiter.hello.made-up-{name}"), status.to_string().as_bytes());
    }
    client.flush();
    let queued = |payload: &[u8]| parsed(&payload[SIGNATURE..])["body"]["queued"].as_u64();
    let most = (0..4).filter_map(|_| queued(&beacons.next().1)).max();
    assert_eq!(most, Some(64));
    running.signal(Signal::INT);
    // Two signals at once could be heard in any order.
    sleep(Duration::from_millis(300));
    running.signal(Signal::INT);
    running.finish().expect_code(130);
}
