//! Runs under a clock with five workers, one of which lies. Engines do not repeat their moves, so
//! only results can reveal the liar.

use rustix::process::Signal;
use serde_json::{Value, json};
use shakmaty::{CastlingMode, Position};

use super::audits::{DETOUR, excluded_workers, falsify, position_after};
use super::messages::games;
use crate::support::bench::Bench;
use crate::support::nats::{LEASE, Server, Worker};
use crate::support::plan::Plan;
use crate::support::{store, wait_for};

/// Change of a result by the liar.
type Lie = fn(&mut Value);

/// Number of moves after which a game is drawn; about half of the games are lost by material
/// earlier.
const MAX_MOVES: usize = 8;

/// Returns a number below 100 that differs randomly between games.
fn chance(game: &Value) -> u64 {
    game["duration"].as_u64().expect("a game has a duration") % 100
}

/// Returns the half-points of engine A in a game.
fn half_points(game: &Value) -> u32 {
    let is_white = game["engines"]["white"] == 0;
    match game["outcome"]["result"].as_str().expect("a game has a result") {
        "1-0" => 2 * u32::from(is_white),
        "0-1" => 2 * u32::from(!is_white),
        _ => 1,
    }
}

/// Makes an engine lose a game by the resign rule at its first move; White begins.
fn lose(game: &mut Value, engine: usize) {
    let is_white = game["engines"]["white"] == engine;
    let moves = game["moves"].as_array_mut().expect("a game has moves");
    moves.truncate(if is_white { 1 } else { 2 });
    let last = moves.last_mut().expect("each engine has moved");
    last["thought"]["score"] = json!({ "centipawns": -900 });
    let result = if is_white { "0-1" } else { "1-0" };
    let termination = "resign_adjudication";
    game["outcome"] = json!({ "result": result, "termination": termination, "detail": "" });
}

/// Continues a game with level scores until it is drawn; a game that ends by mate or stalemate
/// remains unchanged.
fn draw(game: &mut Value) {
    let fen = game["fen"].as_str().expect("a game has a start").to_owned();
    let random = game["duration"].as_u64().expect("a game has a duration") as usize;
    let mut moves = game["moves"].as_array().expect("a game has moves").clone();
    let mut position = position_after(&fen, &moves);
    while moves.len() < 2 * MAX_MOVES {
        let legal = position.legal_moves();
        if legal.is_empty() {
            return;
        }
        let next = legal[(random >> moves.len()) % legal.len()];
        let mut played = moves.last().expect("each engine has moved").clone();
        played["uci"] = next.to_uci(CastlingMode::Standard).to_string().into();
        moves.push(played);
        position.play_unchecked(next);
    }
    for played in &mut moves {
        played["thought"]["score"] = json!({ "centipawns": 0 });
    }
    game["moves"] = moves.into();
    let termination = "move_cap";
    game["outcome"] = json!({ "result": "1/2-1/2", "termination": termination, "detail": "" });
}

/// Applies a change to both games of a result.
fn change_games(result: &mut Value, change: impl Fn(&mut Value)) {
    ["first", "second"].into_iter().for_each(|key| change(&mut games(result)[key]));
}

/// Claims a breakdown of engine B in this percentage of the games.
fn claim_breakdowns(result: &mut Value, percentage: u64) {
    change_games(result, |game| {
        if chance(game) < percentage {
            lose(game, 1);
            game["outcome"]["termination"] = "crash".into();
            // The breakdown comes on the turn of B.
            game["moves"].as_array_mut().expect("a game has moves").pop();
        }
    });
}

/// Reports each game as won by engine A.
fn win(result: &mut Value) {
    change_games(result, |game| lose(game, 1));
}

/// Reports both games of a pair as won by engine A, in half of the pairs.
fn win_half(result: &mut Value) {
    if chance(&games(result)["first"]) < 50 {
        win(result);
    }
}

/// Reports a draw for each game that engine A loses.
fn draw_losses(result: &mut Value) {
    change_games(result, |game| {
        if half_points(game) == 0 {
            draw(game);
        }
    });
}

/// Reports a loss for two fifths of the games that engine A wins, as if its moves were slowed:
/// about 70 Elo.
fn slow_down(result: &mut Value) {
    change_games(result, |game| {
        if half_points(game) == 2 && chance(game) < 40 {
            lose(game, 0);
        }
    });
}

/// Returns whether engine A loses a pair.
fn is_lost(result: &mut Value) -> bool {
    ["first", "second"].iter().map(|key| half_points(&games(result)[key])).sum::<u32>() < 2
}

/// Gives back the pairs that engine A loses.
fn give_back_losses(result: &mut Value) {
    if is_lost(result) {
        result["body"]["report"] = json!({ "failed": "no engine starts here" });
    }
}

/// Withholds the pairs that engine A loses.
fn withhold_losses(result: &mut Value) {
    if is_lost(result) {
        *result = Value::Null;
    }
}

/// Plays a run with each lie and with this share of audits, and prints when the liar is found.
fn find(lies: &[(&str, Lie)], audited: &str) {
    for (what, lie) in lies {
        let bench = Bench::new();
        let Some(server) = Server::start(&bench, DETOUR) else { return };
        let lying = falsify(&server, *lie);
        let workers = ["a", "b", "c", "d", "liar"].map(|name| Worker::start(&bench, &server, name));
        let plan = Plan::new(&bench, "match", 400).set("pairs", 50_000);
        let plan = plan.puppet("A", "--vary --seed 1").puppet("B", "--vary --seed 2");
        let plan = plan.set("each", "tc=60+0.5").set("max-moves", MAX_MOVES);
        let plan = plan.set("resign", "movecount=1,score=100").set("fleet audit", audited);
        let plan = plan.set("fleet lease", LEASE.as_secs());
        let running = plan.unset("concurrency").set("on", server.url()).start();
        let excluded = wait_for("a worker is excluded", || excluded_workers(&bench).pop());
        let results = bench.path("results");
        let by_others: i64 = store::players(&results).values().sum();
        running.signal(Signal::INT);
        running.finish();
        let by_liar = store::discarded(&results).len();
        println!(
            "{what}, audited {audited}: {by_liar} pairs and {by_others} of the others; {excluded}"
        );
        assert!(excluded.starts_with("liar: "), "{what}: {excluded}");
        assert_eq!(excluded_workers(&bench), [excluded], "{what}");
        drop((workers, server));
        assert!(lying.join().expect("results can be changed") > 0);
    }
}

/// An engine always crashes, and the liar reports its games as drawn.
#[test]
fn hidden_breakdowns_do_not_count() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, DETOUR) else { return };
    let lying = falsify(&server, |result| change_games(result, draw));
    let _workers = ["a", "b", "liar"].map(|name| Worker::start(&bench, &server, name));
    let plan = Plan::new(&bench, "match", 6).puppet("A", "--seed 1");
    let plan = plan.puppet("B", "--seed 2 --mode crash --after 3").set("fault-limit", 1);
    let plan = plan.set("max-moves", MAX_MOVES).set("fleet audit", "100%");
    let plan = plan.set("fleet lease", LEASE.as_secs()).unset("concurrency");
    plan.set("on", server.url()).run().expect_code(0);
    let results = bench.path("results");
    assert!(!store::players(&results).contains_key("liar"));
    let remarks = store::remarks(&results);
    let hidden = "audit: not seen by the worker: game 1, move ";
    assert!(remarks.iter().any(|remark| remark.contains(hidden)), "{remarks:#?}");
    assert!(!remarks.iter().any(|remark| remark.contains("not confirmed")), "{remarks:#?}");
    drop(server);
    assert!(lying.join().expect("results can be changed") > 0);
}

#[test]
fn obvious_lies_under_a_clock_are_found() {
    find(&[("wins", win)], "100%");
    let claims: Lie = |result| claim_breakdowns(result, 50);
    find(&[("wins", win), ("breakdowns in half of the games", claims)], "0%");
}

#[test]
#[ignore = "takes minutes"]
fn subtle_lies_under_a_clock_are_found() {
    let lies: [(&str, Lie); 4] = [
        ("wins in half of the pairs", win_half),
        ("draws for losses", draw_losses),
        ("slowed games", slow_down),
        ("lost pairs given back", give_back_losses),
    ];
    find(&lies, "100%");
    find(&lies, "0%");
    find(&[("breakdowns in a tenth of the games", |result| claim_breakdowns(result, 10))], "0%");
}

#[test]
#[ignore = "takes minutes"]
fn withheld_results_under_a_clock_are_found() {
    find(&[("lost pairs withheld", withhold_losses)], "100%");
    find(&[("lost pairs withheld", withhold_losses)], "0%");
}
