//! Tests of `arbiter datagen`: positions of games between any engines, in the trainer's format.

use palimpsest::datagen::HEADER_BYTES;
use palimpsest::datagen::record::{GameResult, RECORD_BYTES, Record};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::resume::{PAIRS, wait_for_pairs};
use crate::support::bench::Bench;
use crate::support::nats::{Server, Worker};
use crate::support::plan::Plan;
use crate::support::snapshot::{expect_next, without_figures};

/// Returns twelve games between two puppets, whose positions go to `net.data`.
fn generation<'a>(bench: &'a Bench, more: &str) -> Plan<'a> {
    let out = bench.path("net.data");
    let plan = Plan::new(bench, "datagen", PAIRS).set("out", out.display());
    plan.puppet("A", &format!("--seed 1 {more}")).puppet("B", &format!("--seed 2 {more}"))
}

fn data(bench: &Bench) -> Vec<u8> {
    std::fs::read(bench.path("net.data")).expect("it was written")
}

/// Returns the file of an uninterrupted run.
fn undisturbed() -> Vec<u8> {
    let bench = Bench::new();
    generation(&bench, "").run().expect_code(0);
    data(&bench)
}

/// Returns the records of a file, as the engine reads them.
#[track_caller]
fn records(data: &[u8]) -> Vec<Record> {
    let (header, rest) = data.split_at(HEADER_BYTES);
    assert!(header.starts_with(b"palimpsest positions 1\n") && header.ends_with(b"\n"));
    let (records, remainder) = rest.as_chunks::<RECORD_BYTES>();
    assert!(remainder.is_empty());
    records.iter().map(|bytes| Record::from_bytes(*bytes).expect("a sane record")).collect()
}

#[test]
fn the_trainer_reads_games_of_any_engine() {
    let bench = Bench::new();
    let out = bench.path("net.data").display().to_string();
    // The trainer reserves game 29 for validation.
    bench.write("net.genfens.epd", "what a run of before has left");
    let flags = ["--genfens", "--games", "36", "--each", "nodes=300,option.Hash=1", "--seed", "7"];
    let args = ["datagen", "bundled", "--out", &out].into_iter().chain(flags);
    let finished = bench.arbiter(args.clone()).finish().expect_code(0);
    expect_next(&without_figures(&finished.stderr));
    let written = data(&bench);
    bench.arbiter(args).finish().expect_code(0);
    assert_eq!(data(&bench), written, "the same command goes on, and nothing was left to play");
    let records = records(&written);
    let games = records.iter().filter(|record| record.is_first()).count();
    assert!((30..=36).contains(&games), "few have no quiet position: {games}");
    // The same games, as text samples.
    let text = bench.path("net.txt").display().to_string();
    let args = ["samples", "--run", "net", "--from-ply", "0", "--out", &text];
    bench.arbiter(args).finish().expect_code(0);
    let text = bench.read("net.txt");
    let found: Vec<String> = records
        .iter()
        .map(|record| {
            let result = match record.result() {
                GameResult::WhiteWon => "1-0",
                GameResult::Draw => "1/2-1/2",
                GameResult::BlackWon => "0-1",
            };
            assert!(record.white_score().abs() < 20_000, "{record:?}");
            let position = record.position().expect("a legal position");
            assert!(!position.in_check());
            format!("{position};{result}")
        })
        .collect();
    let expected: Vec<&str> =
        text.lines().map(|line| line.rsplit_once(';').expect("a game").0).collect();
    // With few nodes, some searches give no score; all other positions are present, in order.
    assert!(found.len() <= expected.len() && expected.len() * 98 <= found.len() * 100);
    let mut rest = expected.into_iter();
    for position in &found {
        assert!(rest.any(|line| line == position), "{position}");
    }
    let starts = bench.read("net.genfens.epd");
    assert_eq!(starts.lines().count(), 36);
    let net = bench.path("x.net").display().to_string();
    let train = ["engine", "train", &out, "--out", &net, "--epochs", "1", "--batch", "64"];
    bench.arbiter(train).finish().expect_code(0);
    assert!(bench.path("x.net").is_file());
}

#[test]
fn a_killed_generation_resumes_to_the_same_file() {
    let bench = Bench::new();
    let running = generation(&bench, "--delay-ms 2").start();
    wait_for_pairs(&bench, 2);
    running.signal(Signal::KILL);
    running.finish();
    bench.wait_until_quiet();
    assert!(!bench.path("net.data").exists(), "it is written as a whole");
    let running = generation(&bench, "--delay-ms 2").start();
    wait_for_pairs(&bench, 4);
    running.signal(Signal::INT);
    let messages = running.finish().expect_code(130).stderr;
    expect_next(&without_figures(&messages));
    generation(&bench, "--delay-ms 2").run().expect_code(0);
    let expected = undisturbed();
    assert!(records(&expected).len() > 100);
    assert_eq!(data(&bench), expected);
    // A file created with other settings is not continued.
    generation(&bench, "--delay-ms 2").set("seed", 2).run().expect_error(3);
    bench.write("run.genfens.epd", "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1\n");
    let other = generation(&bench, "--delay-ms 2")
        .unset("openings")
        .unset("openings order")
        .switch("genfens");
    other.run().expect_error(3);
    assert_eq!(data(&bench), expected);
}

#[test]
fn workers_generate_the_same_file() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    generation(&bench, "").unset("concurrency").set("on", server.url()).run().expect_code(0);
    assert_eq!(data(&bench), undisturbed());
}

#[test]
fn engines_without_genfens_are_reported() {
    let bench = Bench::new();
    let plan = generation(&bench, "").unset("openings").switch("genfens");
    plan.run().expect_error(3);
}

#[test]
fn other_files_are_not_overwritten() {
    let bench = Bench::new();
    bench.write("net.data", "my network");
    generation(&bench, "").run().expect_error(3);
    assert_eq!(bench.read("net.data"), "my network");
    std::fs::remove_file(bench.path("net.data")).expect("it is there");
    generation(&bench, "").run().expect_code(0);
    let made = data(&bench);
    // The file of another run is not continued either.
    let other = generation(&bench, "").set("name", "other").run();
    other.expect_error(3);
    let other = generation(&bench, "").set("results", bench.path("other").display()).run();
    other.expect_error(3);
    assert_eq!(data(&bench), made);
    let resumed = generation(&bench, "").unset("name").set("resume", "run").run();
    resumed.expect_error(2);
    let nowhere = bench.path("nowhere/net.data");
    let other = generation(&bench, "").set("out", nowhere.display()).run();
    other.expect_error(3);
    // Opening a pipe without a writer would block forever.
    std::fs::remove_file(bench.path("net.data")).expect("it is there");
    mknodat(CWD, bench.path("net.data"), FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
    generation(&bench, "").run().expect_error(3);
}

#[test]
fn an_engine_without_a_limit_gets_a_node_limit() {
    let bench = Bench::new();
    let plan = generation(&bench, "").unset("each").switch("dry-run");
    let plan = plan.run().expect_code(0).json();
    assert_eq!(plan["engines"][0]["limits"], "5000 nodes");
}
