//! Tests of lost, repeated and reordered messages. The server sends all results and all messages
//! about runs to the test first, which forwards selected messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::strangers::{HEADER, repacked, unpacked};
use super::{assert_untouched, distributed_plan};
use crate::resume::PAIRS;
use crate::support::bench::Bench;
use crate::support::nats::{Client, Message, Server, Worker};
use crate::support::phrases;
use crate::support::{store, wait_for};

/// Server configuration for the detour. Forwarded messages have another subject.
pub const DETOUR: &str = r#"mappings = {
  "arbiter.results.*.*.*": "held.results.$1.$2.$3"
  "arbiter.run.*.*": "held.run.$1.$2"
  "arbiter.run.*.sign.*": "held.run.$1.sign.$2"
  "passed.results.*.*.*": "arbiter.results.$1.$2.$3"
  "passed.run.*.*": "arbiter.run.$1.$2"
  "passed.run.*.sign.*": "arbiter.run.$1.sign.$2"
}"#;

/// Maximum time that a message is held while no others arrive.
const CALM: Duration = Duration::from_millis(300);

/// Returns the receiver of all messages on the detour, and a client that forwards them.
pub fn detour(server: &Server) -> (Receiver<Message>, Client) {
    let mut listener = Client::connect(server);
    listener.subscribe("held.>");
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        while let Some(message) = listener.next_message() {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    (receiver, Client::connect(server))
}

pub fn pass(forwarder: &mut Client, message: &Message) {
    let subject = message.subject.replacen("held", "passed", 1);
    forwarder.ask(&subject, message.reply.as_deref(), &message.payload);
}

/// Returns the number of the pair whose result a message contains.
pub fn pair_of(message: &Message) -> Option<u64> {
    message.subject.strip_prefix("held.results.")?.split('.').nth(1)?.parse().ok()
}

/// Forwards messages in groups of four, in reverse order and each message twice; returns the number
/// of results that overtook another result.
fn shuffle(server: &Server) -> JoinHandle<usize> {
    let (receiver, mut forwarder) = detour(server);
    std::thread::spawn(move || {
        let (mut held, mut overtaken) = (Vec::new(), 0);
        loop {
            let next = receiver.recv_timeout(CALM);
            let is_over = matches!(next, Err(RecvTimeoutError::Disconnected));
            let is_calm = next.is_err();
            held.extend(next);
            if is_over {
                return overtaken;
            }
            if is_calm || held.len() >= 4 {
                overtaken += held.iter().filter_map(pair_of).count().saturating_sub(1);
                for message in held.drain(..).rev() {
                    pass(&mut forwarder, &message);
                    pass(&mut forwarder, &message);
                }
            }
        }
    })
}

#[test]
fn reordered_and_duplicate_messages_change_nothing() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let shuffling = shuffle(&server);
    let _workers = ["a", "b", "c"].map(|name| Worker::start(&bench, &server, name));
    assert_untouched(&bench, distributed_plan(&bench, &server).start());
    let remarks = store::remarks(&bench.path("results"));
    let doubled = remarks.iter().filter(|remark| remark.contains(phrases::DOUBLED));
    // The copy of the last message may arrive when the run is over.
    assert!(doubled.count() >= PAIRS / 2, "{remarks:#?}");
    let players = store::players(&bench.path("results"));
    assert_eq!(players.values().sum::<i64>(), PAIRS as i64);
    drop(server);
    let overtaken = shuffling.join().expect("it only passes messages on");
    assert!(overtaken > 0, "no result overtook another");
}

/// A fault of a result, the edit that causes it, and the remark that is stored about it.
type ResultFault = (&'static str, fn(&mut Value), &'static str);

const WRONGS: [ResultFault; 11] = [
    ("half a pair", |r| games(r)["second"] = json!(null), "another number of games"),
    ("no game", |r| games(r)["first"] = json!(null), "not a message"),
    (
        "another opening",
        |r| pair_of_result(r)["pairing"]["opening"] = json!(10_000),
        "another opening",
    ),
    ("other engines", |r| pair_of_result(r)["pairing"]["engines"] = json!([1, 0]), "other engines"),
    ("another run", |r| r["body"]["run_id"] = json!("0123456789abcdef"), "a result of another job"),
    ("another version", |r| r["v"] = json!(99), "version 99"),
    (
        "a pair that cannot be",
        |r| r["body"]["number"] = json!(u64::MAX),
        "an impossible pair number",
    ),
    ("a count below zero", |r| r["body"]["attempt"] = json!(-1), "not a message"),
    (
        "the games in the wrong order",
        |r| {
            let first = games(r)["first"].take();
            games(r)["first"] = games(r)["second"].take();
            games(r)["second"] = first;
        },
        "game 1: other engines",
    ),
    ("a move left out", |r| drop(moves(r).remove(3)), "game 1: "),
    (
        "a mate that is none",
        |r| {
            moves(r).pop();
            games(r)["first"]["outcome"]["termination"] = json!("checkmate");
        },
        "does not end by checkmate",
    ),
];

fn pair_of_result(result: &mut Value) -> &mut Value {
    &mut result["body"]["report"]["played"]
}

pub fn games(result: &mut Value) -> &mut Value {
    &mut pair_of_result(result)["games"]
}

fn moves(result: &mut Value) -> &mut Vec<Value> {
    games(result)["first"]["moves"].as_array_mut().expect("a game has moves")
}

#[test]
fn impossible_results_are_rejected_before_the_true_one() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let (receiver, mut forwarder) = detour(&server);
    let lying = std::thread::spawn(move || {
        let (mut wrongs, mut falsified_pairs) = (WRONGS.iter(), BTreeSet::new());
        // The first true result of each pair is preceded by a wrong result from a worker that was
        // given the job; further results of a stored pair are not read.
        for message in receiver {
            if pair_of(&message).is_some_and(|pair| falsified_pairs.insert(pair))
                && let Some((fault, falsify, _)) = wrongs.next()
            {
                let mut lie: Value =
                    serde_json::from_str(&unpacked(&message.payload)).expect("results are JSON");
                falsify(&mut lie);
                assert!(pair_of_result(&mut lie)["games"].is_object(), "{fault}");
                let subject = message.subject.replacen("held", "passed", 1);
                forwarder.publish(&subject, &repacked(&message.payload, &lie.to_string()));
            }
            pass(&mut forwarder, &message);
        }
        wrongs.len()
    });
    let _worker = Worker::start(&bench, &server, "a");
    assert_untouched(&bench, distributed_plan(&bench, &server).start());
    let remarks = store::remarks(&bench.path("results")).join("\n");
    for (fault, _, remark_part) in WRONGS {
        assert!(remarks.contains(remark_part), "{fault}: no '{remark_part}' in\n{remarks}");
    }
    let players = store::players(&bench.path("results"));
    assert_eq!(players, BTreeMap::from([("a".to_owned(), PAIRS as i64)]));
    drop(server);
    assert_eq!(lying.join().expect("results can be changed"), 0, "some lies were not told");
}

#[test]
fn a_worker_with_impossible_results_is_excluded() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let (receiver, mut forwarder) = detour(&server);
    let lying = std::thread::spawn(move || {
        for mut message in receiver {
            if pair_of(&message).is_some() && message.subject.ends_with(".liar") {
                message.payload = [&message.payload[..HEADER], b"no games"].concat();
            }
            pass(&mut forwarder, &message);
        }
    });
    let _liar = Worker::start(&bench, &server, "liar");
    let running = distributed_plan(&bench, &server).start();
    let results = bench.path("results");
    wait_for("it is excluded", || {
        let remarks = store::remarks(&results);
        remarks
            .iter()
            .any(|remark| remark == "liar: excluded: 20 of the worker's results are impossible")
            .then_some(())
    });
    let _honest = Worker::start(&bench, &server, "honest");
    assert_untouched(&bench, running);
    let players = store::players(&results);
    assert_eq!(players, BTreeMap::from([("honest".to_owned(), PAIRS as i64)]));
    drop(server);
    lying.join().expect("results can be changed");
}

#[test]
fn decreasing_and_impossible_worker_counts_are_ignored() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _worker = Worker::start(&bench, &server, "a");
    let running = distributed_plan(&bench, &server).start();
    let mut mallory = Client::connect(&server);
    mallory.subscribe("arbiter.run.*.sign.a");
    let subject = mallory.next().0.replace("sign.a", "sign.mallory");
    let hello = |pairs: Value, slots: Value| {
        json!({
            "v": 8, "body": {
                "version": "?", "slots": slots, "playing": 9, "pairs": pairs, "recent_pairs": 0,
                "recent_secs": 0, "cores": 1, "memory_mib": 0, "system": "", "cpu": "",
                "benches": [], "refusals": [], "trouble": null, "is_leaving": false,
            }
        })
    };
    for (pairs, slots) in [
        (json!(900), json!(4)),
        (json!(3), json!(0)),
        (json!(0), json!(4096)),
        (json!(-1), json!(1)),
        (json!(1), json!(u64::MAX)),
    ] {
        mallory.publish("arbiter.hello.mallory", hello(pairs, slots).to_string().as_bytes());
    }
    // Heartbeats with decreasing game numbers, for pairs that no worker plays, and for games that
    // do not exist.
    for (pair, game_index) in [(0, 1), (0, 0), (0, 1), (u64::MAX, 0), (9_999, 1), (1, 2)] {
        let proof = "0".repeat(64);
        let body = json!({ "pair": pair, "attempt": 0, "proof": proof, "half": game_index });
        let sign = json!({ "v": 8, "body": body });
        mallory.publish(&subject, sign.to_string().as_bytes());
    }
    mallory.flush();
    assert_untouched(&bench, running);
    assert_eq!(store::remarks(&bench.path("results")), Vec::<String>::new());
    let players = store::players(&bench.path("results"));
    assert_eq!(players, BTreeMap::from([("a".to_owned(), PAIRS as i64)]));
    // The server must not keep anything of the run.
    wait_for("streams are removed", || {
        (!bench
            .path("nats/jetstream/$G/streams")
            .read_dir()
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().contains("JOBS")))
        .then_some(())
    });
}
