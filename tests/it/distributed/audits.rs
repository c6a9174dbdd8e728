//! Tests of workers that fabricate games, which the audit detects.

use std::collections::BTreeMap;
use std::thread::JoinHandle;

use rustix::process::Signal;
use serde_json::{Value, json};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};

use super::forgeries::status;
use super::messages::{self, detour, games, pair_of, pass};
use super::strangers::{repacked, unpacked};
use super::{assert_untouched, distributed_plan, impatient};
use crate::support::bench::Bench;
use crate::support::nats::{Client, LEASE, Message, Server, Worker};
use crate::support::plan::{Plan, RunOutput};
use crate::support::{phrases, store, wait_for};

/// Server configuration that sends the results of two workers to the test first.
pub const DETOUR: &str = r#"mappings = {
  "arbiter.results.*.*.liar": "held.results.$1.$2.liar"
  "passed.results.*.*.liar": "arbiter.results.$1.$2.liar"
  "arbiter.results.*.*.accomplice": "held.results.$1.$2.accomplice"
  "passed.results.*.*.accomplice": "arbiter.results.$1.$2.accomplice"
}"#;

/// Number of pairs of a run in which each of five workers meets every other worker.
const PAIRS: usize = 40;

const MODE: CastlingMode = CastlingMode::Standard;

/// Makes engine A win both games of a pair: the opponent breaks down before the true end of each
/// game, after a different move of A if `is_made_up`.
fn won_by_a(result: &mut Value, is_made_up: bool) {
    for key in ["first", "second"] {
        let game = &mut games(result)[key];
        let is_white = game["engines"]["white"] == 0;
        let fen = game["fen"].as_str().expect("a game has a start").to_owned();
        let starts_white = fen.split(' ').nth(1) == Some("w");
        let moves = game["moves"].as_array_mut().expect("a game has moves");
        // The breakdown comes on the opponent's turn, after the opening.
        let is_white_to_move = |plies: usize| plies.is_multiple_of(2) == starts_white;
        let plies = moves.len() - 1;
        moves.truncate(if is_white_to_move(plies) == is_white { plies - 1 } else { plies });
        if is_made_up && let Some(last) = moves.len().checked_sub(1) {
            moves[last]["uci"] = another_move(&fen, &moves[..=last]).into();
        }
        let result = if is_white { "1-0" } else { "0-1" };
        game["outcome"] = json!({ "result": result, "termination": "crash", "detail": "it died" });
    }
}

/// Returns a legal move that differs from the last of `moves`.
fn another_move(fen: &str, moves: &[Value]) -> String {
    let (last, before) = moves.split_last().expect("there is a move");
    let legal = position_after(fen, before).legal_moves();
    let mut texts = legal.iter().map(|legal| legal.to_uci(MODE).to_string());
    texts.find(|text| *text != last["uci"]).expect("there is a choice")
}

/// Returns the position after the moves of a reported game.
pub fn position_after(fen: &str, moves: &[Value]) -> Chess {
    let fen: Fen = fen.parse().expect("a game has a FEN");
    let mut position: Chess = fen.into_position(MODE).expect("games begin in legal positions");
    for played in moves {
        let uci: UciMove = played["uci"].as_str().expect("moves are UCI").parse().expect("legal");
        let played = uci.to_move(&position).expect("it was played");
        position.play_unchecked(played);
    }
    position
}

/// Changes the liar's results so that engine A wins, and forwards them; returns the number of
/// results.
fn lie(server: &Server, is_made_up: bool) -> JoinHandle<usize> {
    falsify(server, move |result| won_by_a(result, is_made_up))
}

/// Forwards the changed results of the liar; returns the number of results. A result that is
/// changed to null is confirmed to the liar, but not forwarded.
pub fn falsify(server: &Server, change: impl Fn(&mut Value) + Send + 'static) -> JoinHandle<usize> {
    let (receiver, mut forwarder) = detour(server);
    std::thread::spawn(move || {
        let mut lies = 0;
        for mut message in receiver {
            if pair_of(&message).is_some() {
                let mut result: Value =
                    serde_json::from_str(&unpacked(&message.payload)).expect("results are JSON");
                change(&mut result);
                lies += 1;
                if result.is_null() {
                    let reply = message.reply.expect("the liar waits for a confirmation");
                    forwarder.publish(&reply, br#"{"stream":"held","seq":1}"#);
                    continue;
                }
                message.payload = repacked(&message.payload, &result.to_string());
            }
            pass(&mut forwarder, &message);
        }
        lies
    })
}

#[test]
fn a_liar_among_five_workers_is_found_and_its_results_are_discarded() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let lying = lie(&server, true);
    let _workers = ["a", "b", "c", "d", "liar"].map(|name| Worker::start(&bench, &server, name));
    // Jobs of an excluded worker are sent again when no worker reports playing them.
    assert_untouched(&bench, impatient(&bench, &server).set("fleet audit", "100%").start());
    let results = bench.path("results");
    assert!(!store::players(&results).contains_key("liar"), "{:?}", store::players(&results));
    let remarks = store::remarks(&results);
    let excluded = remarks.iter().filter(|remark| remark.contains(phrases::AUDITED));
    assert!(excluded.clone().all(|remark| remark.starts_with("liar: ")), "{remarks:#?}");
    assert_eq!(excluded.count(), 1, "{remarks:#?}");
    drop(server);
    assert!(lying.join().expect("results can be changed") > 0);
}

#[test]
fn breakdown_claims_count_only_if_confirmed() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let lying = lie(&server, false);
    let _workers = ["a", "liar"].map(|name| Worker::start(&bench, &server, name));
    assert_untouched(&bench, impatient(&bench, &server).set("fleet audit", "1%").start());
    let results = bench.path("results");
    assert!(!store::players(&results).contains_key("liar"), "{:?}", store::players(&results));
    let remarks = store::remarks(&results);
    let unconfirmed = |remark: &&String| remark.starts_with("liar: ") && remark.contains("it died");
    assert!(remarks.iter().any(|remark| unconfirmed(&remark)), "{remarks:#?}");
    drop(server);
    assert!(lying.join().expect("results can be changed") > 0);
}

#[test]
fn an_audit_of_honest_workers_changes_nothing() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    // A worker that gets an audit of its own pair returns the job, so that the other worker gets it
    // long before this lease ends.
    let plan =
        distributed_plan(&bench, &server).set("fleet audit", "100%").set("fleet lease", 3600);
    assert_untouched(&bench, plan.start());
    assert_eq!(store::remarks(&bench.path("results")), Vec::<String>::new());
}

/// A worker leaves after it has repeated a pair. Its result arrives when another worker has been
/// drawn.
#[test]
fn a_repetition_counts_only_if_its_worker_is_drawn() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, messages::DETOUR) else { return };
    let (receiver, mut forwarder) = detour(&server);
    let names = ["a", "b", "c"];
    let mut workers: BTreeMap<&str, Worker> =
        names.map(|name| (name, Worker::start(&bench, &server, name))).into();
    let running = impatient(&bench, &server).set("fleet audit", "100%").start();
    let mut next_where = |is_wanted: &dyn Fn(u64) -> bool| loop {
        let message: Message = receiver.recv().expect("the workers play");
        match pair_of(&message) {
            Some(pair) if is_wanted(pair) => break (pair, message),
            _ => pass(&mut forwarder, &message),
        }
    };
    // Audits have numbers that no pair has.
    let (audit, late) = next_where(&|pair| pair >= 1 << 62);
    let worker = late.subject.rsplit('.').next().expect("a subject names the worker");
    drop(workers.remove(worker));
    let mut client = Client::connect(&server);
    client.publish(&format!("arbiter.hello.{worker}"), &status(true));
    client.flush();
    let (_, again) = next_where(&|pair| pair == audit);
    pass(&mut forwarder, &late);
    pass(&mut forwarder, &again);
    std::thread::spawn(move || receiver.iter().for_each(|message| pass(&mut forwarder, &message)));
    assert_untouched(&bench, running);
    let remarks = store::remarks(&bench.path("results"));
    let not_drawn = |remark: &String| {
        remark.starts_with(&format!("{worker}: ")) && remark.contains("not selected to repeat")
    };
    assert!(remarks.iter().any(not_drawn), "{remarks:#?}");
}

/// Returns a run of [`PAIRS`] pairs in which each move takes `delay` milliseconds.
fn longer(bench: &Bench, delay: u32) -> Plan<'_> {
    let plan = Plan::new(bench, "match", PAIRS);
    let plan = plan.puppet("A", &format!("--seed 1 --delay-ms {delay}"));
    plan.puppet("B", &format!("--seed 2 --delay-ms {delay}"))
}

/// Returns the remarks on excluded workers.
pub fn excluded_workers(bench: &Bench) -> Vec<String> {
    let remarks = store::remarks(&bench.path("results"));
    remarks.into_iter().filter(|remark| remark.contains(": excluded: ")).collect()
}

/// Each of the two liars confirms the results of the other.
#[test]
fn colluding_liars_are_found_by_the_other_workers() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let lying = lie(&server, true);
    let _workers =
        ["a", "b", "c", "liar", "accomplice"].map(|name| Worker::start(&bench, &server, name));
    let plan = longer(&bench, 4).unset("concurrency").set("on", server.url());
    let finished =
        plan.set("fleet lease", LEASE.as_secs()).set("fleet audit", "100%").run().expect_code(0);
    let local = Bench::new();
    assert_eq!(RunOutput::read(&bench, &finished), longer(&local, 0).expect_output(0));
    let excluded = excluded_workers(&bench);
    let is_liar =
        |remark: &String| remark.starts_with("liar: ") || remark.starts_with("accomplice: ");
    assert!(excluded.len() == 2 && excluded.iter().all(is_liar), "{excluded:#?}");
    drop(server);
    assert!(lying.join().expect("results can be changed") > 0);
}

/// Plays a run with a liar while the only honest worker is stopped; the honest worker continues
/// after the liar is excluded.
fn lie_alone(is_made_up: bool, audit: &str) {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let lying = lie(&server, is_made_up);
    let running = impatient(&bench, &server).set("fleet audit", audit).start();
    let honest = Worker::start(&bench, &server, "a");
    wait_for("the honest worker has joined", || bench.path("programs-a").exists().then_some(()));
    honest.signal(Signal::STOP);
    let _liar = Worker::start(&bench, &server, "liar");
    wait_for("the liar is excluded", || (!excluded_workers(&bench).is_empty()).then_some(()));
    honest.signal(Signal::CONT);
    assert_untouched(&bench, running);
    assert!(excluded_workers(&bench).iter().all(|remark| remark.starts_with("liar: ")));
    assert_eq!(store::players(&bench.path("results")).keys().collect::<Vec<_>>(), ["a"]);
    drop(server);
    assert!(lying.join().expect("results can be changed") > 0);
}

#[test]
fn a_liar_is_found_while_no_other_worker_responds() {
    lie_alone(true, "100%");
}

/// The liar must not replay its own breakdowns forever.
#[test]
fn breakdown_claims_end_while_no_other_worker_responds() {
    lie_alone(false, "1%");
}

#[test]
fn breakdown_claims_under_a_clock_are_detected_by_their_rate() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let lying = lie(&server, false);
    let _workers = ["a", "b", "liar"].map(|name| Worker::start(&bench, &server, name));
    let plan = longer(&bench, 4).unset("concurrency").set("on", server.url());
    let plan = plan.set("fleet lease", LEASE.as_secs()).set("each", "tc=60+0.5");
    plan.set("fleet audit", "100%").run().expect_code(0);
    let excluded = excluded_workers(&bench);
    let by_rate = "liar: excluded: engine failures in ";
    assert!(excluded.len() == 1 && excluded[0].starts_with(by_rate), "{excluded:#?}");
    let players = store::players(&bench.path("results"));
    assert_eq!(players.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(players.values().sum::<i64>(), PAIRS as i64);
    drop(server);
    assert!(lying.join().expect("results can be changed") > 0);
}

/// Plays a run in which the reports of one of two workers are changed or lost, so that its games do
/// not count, and asserts that the worker is excluded.
fn give_back_all(each: &str, delay: u32, change: fn(&mut Value)) {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let changing = falsify(&server, change);
    let _workers = ["a", "liar"].map(|name| Worker::start(&bench, &server, name));
    let plan = longer(&bench, delay).unset("concurrency").set("on", server.url());
    let plan = plan.set("pairs", 50_000).set("each", each).set("cpu-contention", "discard");
    // On a loaded machine, any fixed number of pairs could end before the worker is found.
    let running = plan.set("fleet lease", LEASE.as_secs()).start();
    let excluded = wait_for("a worker is excluded", || excluded_workers(&bench).pop());
    running.signal(Signal::INT);
    running.finish();
    assert!(excluded.starts_with("liar: excluded: no result in "), "{excluded}");
    assert_eq!(excluded_workers(&bench), [excluded]);
    drop(server);
    assert!(changing.join().expect("results can be changed") >= 50);
}

#[test]
fn a_worker_that_falsely_claims_failures_is_found() {
    give_back_all("nodes=100", 0, |result| {
        result["body"]["report"] = json!({ "failed": "no engine starts here" });
    });
}

#[test]
fn a_worker_that_falsely_claims_disturbances_is_found() {
    give_back_all("tc=1+0.01", 1, |result| {
        for key in ["first", "second"] {
            let game = &mut games(result)[key];
            let nanos = game["duration"].as_u64().expect("a game has a duration");
            let full_time =
                json!({ "secs": nanos / 1_000_000_000, "nanos": nanos % 1_000_000_000 });
            let none = json!({ "secs": 0, "nanos": 0 });
            let is_white = game["engines"]["white"] == 0;
            let (white, black) = if is_white { (&full_time, &none) } else { (&none, &full_time) };
            game["waited"] = json!({ "white": white, "black": black });
        }
    });
}

#[test]
fn a_worker_that_withholds_results_is_found() {
    give_back_all("nodes=100", 2, |result| *result = Value::Null);
}
