//! Test of messages of every kind, sent one after another as fast as the server accepts them.

use serde_json::json;

use super::forgeries::give_up;
use crate::support::bench::Bench;
use crate::support::nats::{Client, Server, Worker};
use crate::support::plan::Plan;
use crate::support::{store, wait_for};

/// Number of valid messages of each kind.
const RIGHT: usize = 3_000;
/// Number of invalid messages of each kind.
const NOISE: usize = 200;

#[test]
fn message_floods_end_no_run_and_take_little_memory() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _worker = Worker::start(&bench, &server, "a");
    let (mut client, mut ears) = (Client::connect(&server), Client::connect(&server));
    ears.subscribe("arbiter.results.*.*.a");
    let plan = Plan::new(&bench, "match", 400).puppet("A", "--seed 1 --delay-ms 4");
    let plan = plan.puppet("B", "--seed 2 --delay-ms 4").unset("concurrency");
    let running = plan.set("on", server.url()).start();
    let subject = ears.next().0;
    let run = subject.split('.').nth(2).expect("a subject names the run");
    let zeros = "0".repeat(64);
    let status = json!({
        "version": "?", "slots": 4, "playing": 4, "pairs": 0, "recent_pairs": 0, "recent_secs": 0,
        "cores": 1, "memory_mib": 0, "system": "", "cpu": "", "benches": [], "refusals": [],
        "trouble": null, "is_leaving": false,
    });
    let heartbeat = |is_given_back: bool| {
        json!({
            "pair": 3, "attempt": 1, "proof": zeros, "half": 0, "is_given_back": is_given_back,
        })
    };
    let kinds = [
        ("arbiter.hello.mallory".to_owned(), status),
        (format!("arbiter.run.{run}.join.mallory"), json!({ "nonce": zeros, "benches": [] })),
        (format!("arbiter.run.{run}.sign.mallory"), heartbeat(false)),
        (format!("arbiter.run.{run}.sign.mallory"), heartbeat(true)),
        (format!("arbiter.run.{run}.head"), json!({})),
        (format!("arbiter.run.{run}.need"), json!({ "hash": zeros })),
        (format!("arbiter.results.{run}.3.mallory"), json!({})),
        (format!("arbiter.run.{run}.word"), json!({})),
        ("arbiter.beacon".to_owned(), json!({})),
    ];
    let before = running.peak_memory_mib();
    for (subject, body) in kinds {
        let right = json!({ "v": 8, "body": body }).to_string();
        let payloads = std::iter::repeat_n(right.into_bytes(), RIGHT);
        for payload in payloads.chain(std::iter::repeat_n(vec![b'['; 50_000], NOISE)) {
            client.ask(&subject, Some("_INBOX.mallory"), &payload);
        }
    }
    client.flush();
    let results = bench.path("results");
    let pairs = store::pairs(&results).len();
    wait_for("the run goes on", || (store::pairs(&results).len() > pairs + 4).then_some(()));
    let taken = running.peak_memory_mib() - before;
    assert!(taken < 100, "{taken} MiB");
    let remarks = store::remarks(&results);
    assert!(remarks.len() < 20, "{remarks:#?}");
    give_up(running);
}
