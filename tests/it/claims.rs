//! The claims of the documents: that the plan can be played, and that one command plays and reports it.

use std::process::Command;

use palimpsest::eval::Variant;
use palimpsest::search::{Configuration, Personality};

use crate::support::snapshot::said;
use crate::support::{bench::Bench, programs};

const PLAN: &str = include_str!("../../results/claims.toml");
const SCRIPT: &str = include_str!("../../results/claims.py");
const MEASURE: &str = include_str!("../../results/claims_measure.py");

/// The options of a player that Palimpsest is asked for.
fn set_up(player: &toml::Value, disable: &str) {
    let option = |key: &str| player.get(key).and_then(toml::Value::as_str);
    let eval = option("Eval").map(|name| Variant::from_name(name).expect("an evaluation"));
    let search = option("Personality").map(|name| Personality::from_name(name).expect("a search"));
    let disable = option("Disable").unwrap_or(disable);
    Configuration::new(search.unwrap_or_default(), eval)
        .without(disable)
        .and_then(|configuration| configuration.trying(option("Enable").unwrap_or_default()))
        .unwrap_or_else(|error| panic!("{player}: {error}"));
}

#[test]
fn every_player_of_the_plan_can_be_set_up() {
    let plan: toml::Value = toml::from_str(PLAN).expect("the plan is TOML");
    let list = |value: &toml::Value| value.as_array().expect("a list").clone();
    let mut ids = Vec::new();
    for claim in list(&plan["claim"]) {
        ids.push(claim["id"].as_str().expect("a name").to_owned());
        for player in [&claim["first"], &claim["second"]] {
            if player.get("cmd").is_none() {
                set_up(player, "");
            }
        }
        assert_ne!(claim["first"], claim["second"], "{}", claim["id"]);
        assert!(plan["programs"].get(claim["program"].as_str().expect("a name")).is_some());
    }
    for step in list(&plan["ladder"]["steps"]) {
        set_up(&plan["ladder"]["player"], step["feature"].as_str().expect("a name"));
    }
    list(&plan["rating"])
        .iter()
        .flat_map(|rating| list(&rating["players"]))
        .for_each(|player| set_up(&player, ""));
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert!(count == ids.len() && count > 30, "{count} claims, {} names", ids.len());
}

const SMALL: &str = r#"
blocks = [2, 3]
each = "option.Hash=1"
benches = { palimpsest = 4, rdchess = 2, micromax = 2 }
measure = []
limits = { "40 nodes" = { set = "nodes=40", cpu = 0.1 }, "a clock" = { set = "tc=1", cpu = 1, clock = true } }
programs = { one = { name = "One", document = "none" } }

[[claim]]
id = "equal"
program = "one"
says = "Nothing matters."
hypothesis = "Twice the same is equal."
expected = "equal"
first = { name = "a", Eval = "material" }
second = { name = "b", Eval = "material" }

[[claim]]
id = "other"
program = "one"
says = "Squares matter."
hypothesis = "Isolated pawns matter more than doubled ones."
first = { name = "isolated", Eval = "blunder", Disable = "doubled" }
second = { name = "doubled", Eval = "blunder", Disable = "passed" }

[ladder]
id = "order"
program = "one"
says = "Steps."
hypothesis = "Step {number}, {about}, helps."
player = { Personality = "rdchess" }
steps = [{ number = "1", feature = "killers", about = "killers" }]

[[rating]]
id = "all"
title = "Three"
pairs = 2
limits = { "40 nodes" = "nodes=40" }
players = [
    { name = "x", Eval = "blunder" },
    { name = "y", Eval = "material" },
    { name = "z", Eval = "micromax" },
]
"#;

/// The plan [`SMALL`] and what plays it, and a call of it with arguments.
fn small() -> (Bench, impl Fn(&[&str]) -> (bool, String)) {
    let bench = Bench::new();
    bench.write("claims.toml", SMALL);
    let script = bench.write("claims.py", SCRIPT);
    bench.write("claims_measure.py", MEASURE);
    let run = move |words: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(&script).arg("--arbiter").arg(programs::arbiter()).args(words);
        let done = command.output().expect("python3 is installed");
        let told = [done.stdout, done.stderr].concat();
        (done.status.success(), String::from_utf8(told).expect("it is text"))
    };
    (bench, run)
}

#[test]
fn one_command_plays_what_is_undecided_and_reports_it() {
    let (bench, call) = small();
    let run = |words: &[&str]| {
        let (success, told) = call(words);
        assert!(success, "{told}");
        told
    };
    let first = run(&["play", "--blocks", "1"]);
    let names: Vec<&str> = first.lines().collect();
    let expected = [
        "rating-all-nodes-40",
        "claim-equal-nodes-40-1",
        "claim-other-nodes-40-1",
        "claim-order-1-nodes-40-1",
    ];
    assert_eq!(names, expected);
    let row = |start: &str| {
        let seeds = bench.read("seeds.md");
        let found = seeds.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no {start} in {seeds}")).to_owned()
    };
    assert_eq!(
        row("| Nothing matters."),
        "| Nothing matters. *Twice the same is equal.* `equal` | race | 40 nodes | 4 | +0.0, no interval | supported: every pair is level |"
    );
    assert!(row("| Steps.").contains("| ablation | 40 nodes | 4 |"));
    // What is decided is not played again; the rest gets its second block, and nothing a third.
    let second = run(&["play"]);
    assert!(!second.contains("rating") && !second.contains("equal"), "{second}");
    assert!(row("| Squares matter.").contains("| 40 nodes | 10 |"), "{second}");
    let nothing = "nothing to play: all of that is on record and decided\n";
    assert_eq!(run(&["play"]), nothing);
    // What was played is on record, a line each: neither going on nor reporting needs the store.
    let kept = bench.read("claims-games.json");
    for start in ["\"rating-all-nodes-40\": {", "\"claim-other-nodes-40-2\": {"] {
        assert!(kept.lines().any(|line| line.starts_with(start)), "{kept}");
    }
    std::fs::remove_file(bench.path("arbiter.db")).expect("there is a store");
    let before = bench.read("seeds.md");
    assert_eq!((run(&["play"]), run(&["report"])), (nothing.to_owned(), String::new()));
    assert_eq!(bench.read("seeds.md"), before);
    assert!(!row("| Squares matter.").contains('†'));
    // Players that search otherwise today are marked, and play again if that is asked for.
    bench.write("claims-games.json", kept.replace("\"bench\": [[", "\"bench\": [[1"));
    run(&["report"]);
    assert!(row("| Squares matter.").contains('†'));
    assert_eq!(run(&["play", "--again", "--id", "other"]).lines().count(), 2);
    assert!(!row("| Squares matter.").contains('†') && row("| Steps.").contains('†'));
    assert!(row("|  |  | a clock | 0 |").contains("not yet played"));
    let ratings = bench.read("evaluations.md");
    assert!(ratings.contains("| 1 | ") && ratings.contains("| isolated pawns |"), "{ratings}");
}

#[test]
fn nothing_is_put_on_record_that_was_not_played() {
    let (bench, run) = small();
    for words in [
        &["report"][..],
        &["play", "--limit", "41 nodes"],
        &["play", "--id", "others"],
        &["play", "--blocks", "0"],
        &["report", "--arbiter", "no/such"],
    ] {
        let (success, told) = run(words);
        assert!(!success, "{told}");
        said(told.lines().last().expect("it says why"));
    }
    assert!(run(&["play", "--id", "other", "--blocks", "1"]).0);
    let kept = bench.read("claims-games.json");
    // Another player now, while the store has the games of the one before by the same name.
    let before = "{ name = \"doubled\", Eval = \"blunder\", Disable = \"passed\" }";
    assert!(SMALL.contains(before));
    let now = "{ name = \"doubled\", Eval = \"micromax\" }";
    bench.write("claims.toml", SMALL.replace(before, now));
    let (success, told) = run(&["play", "--again", "--id", "other", "--blocks", "1"]);
    assert!(!success, "{told}");
    said(told.lines().last().expect("it says why"));
    assert_eq!(bench.read("claims-games.json"), kept);
}
