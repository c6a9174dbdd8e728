//! Tests of finding suite positions in games, without losing results.

use std::path::PathBuf;

use arbiter_suite::epd::read;

use crate::support::bench::{Bench, Finished};
use crate::support::programs::installed;
use crate::support::snapshot::{expect_next, without_figures};

/// Games in which White mates on f7, although Black could have prevented the mate earlier.
const GAMES: &str = "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n\
    1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n\n\
    1. e4 e5 2. Qh5 Nc6 3. Bc4 g6 4. Qf3 Nd4 5. Qxf7# 1-0\n";

/// Returns Stockfish, or `None` with a notice if it is missing.
fn stockfish() -> Option<PathBuf> {
    let found = installed("stockfish");
    let notice = "not installed: stockfish; tests/run installs it";
    assert!(found.is_some() || std::env::var_os("CI").is_none(), "{notice}");
    if found.is_none() {
        eprintln!("skipped: {notice}");
    }
    found
}

/// Flags of a quick search.
const QUICK: [&str; 6] = ["--depth", "8", "--looks", "4", "--found-at", "1"];

/// Flags of a search that takes longer than a millisecond with any engine.
const SLOWER: [&str; 6] = ["--depth", "14", "--looks", "12", "--found-at", "1"];

fn mine(bench: &Bench, out: &str, more: &[&[&str]]) -> Finished {
    let fixed = ["mine", "--pgn", "games.pgn", "--out", out, "--from-ply", "0"];
    bench.arbiter([&fixed, &more.concat()[..]].concat()).finish()
}

#[test]
fn a_missed_mate_becomes_a_question() {
    if stockfish().is_none() {
        return;
    }
    let bench = Bench::new();
    bench.write("games.pgn", GAMES);
    let found = mine(&bench, "suite.epd", &[&QUICK]).expect_code(0);
    expect_next(&found.stdout);
    let text = bench.read("suite.epd");
    let suite = read(&text, false);
    assert_eq!(suite.unusable, []);
    let mates: Vec<&str> = text.lines().filter(|line| line.contains(" bm Qxf7#;")).collect();
    assert_eq!(mates.len(), 2, "{text}");
    assert!(mates[0].contains("id \"mate.001\"; c0 \"mate, "), "{text}");
    assert!(mates[0].contains("c2 \"A v B, games.pgn game 1 ply 6\"; acd 8; dm 1;"), "{text}");
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
    expect_next(&without_figures(&head.join("\n")));
    assert!(!bench.path("suite.epd.journal").exists());
    // The order in which positions are searched makes no difference.
    mine(&bench, "again.epd", &[&QUICK, &["--concurrency", "3"]]).expect_code(0);
    assert_eq!(bench.read("again.epd"), text);
}

#[test]
fn positions_with_engine_faults_are_searched_again() {
    if stockfish().is_none() {
        return;
    }
    let bench = Bench::new();
    bench.write("games.pgn", GAMES);
    let hurry = ["--deadline", "0.001"];
    let failed = mine(&bench, "suite.epd", &[&SLOWER, &hurry]).expect_code(6);
    expect_next(&without_figures(&failed.stderr));
    assert!(!bench.path("suite.epd").exists());
    assert!(bench.path("suite.epd.journal").exists());
    let other = mine(&bench, "suite.epd", &[&SLOWER, &["--gap", "300"]]);
    other.expect_error(3);
    // More games may be added to an unfinished attempt.
    bench.write("one.pgn", "1. f3 e5 2. g4 Qh4# 0-1\n");
    mine(&bench, "suite.epd", &[&SLOWER, &["--pgn", "one.pgn"]]).expect_code(0);
    let text = bench.read("suite.epd");
    assert!(text.contains("bm Qh4#;") && text.contains("bm Qxf7#;"), "{text}");
    assert!(!bench.path("suite.epd.journal").exists());
}

#[test]
fn invalid_mine_requests_are_rejected() {
    let bench = Bench::new();
    bench.write("games.pgn", GAMES);
    bench.write("empty.pgn", "");
    let puppet = bench.puppet("P", "", "");
    let refused = |more: &[&str], code| {
        mine(&bench, "out.epd", &[&QUICK, more]).expect_error(code);
    };
    refused(&["--engine", &puppet], 3);
    refused(&["--looks", "9"], 2);
    refused(&["--gap", "1300"], 2);
    refused(&["--pgn", "none.pgn"], 3);
    mine(&bench, "out.epd", &[&["--depth", "14", "--found-at", "13"]]).expect_error(2);
    let nothing = ["mine", "--pgn", "empty.pgn", "--out", "out.epd"];
    bench.arbiter(nothing).finish().expect_error(4);
    bench.arbiter(["mine", "--out", "out.epd"]).finish().expect_code(2);
    assert!(!bench.path("out.epd").exists());
}

#[test]
fn games_of_the_store_are_read() {
    let Some(stockfish) = stockfish() else { return };
    let bench = Bench::new();
    let play = ["match", "--pairs", "1", "--name", "quick", "--seed", "3", "--max-moves", "12"];
    let engines =
        ["--engine", "cmd=bundled,nodes=50,name=A", "--engine", "cmd=bundled,nodes=50,name=B"];
    bench.arbiter([&play[..], &engines].concat()).finish().expect_code(0);
    let engine = format!("cmd={}", stockfish.display());
    let args = ["mine", "--run", "quick", "--engine", &engine, "--out", "q.epd", "--depth", "6"];
    let more = ["--looks", "3", "--found-at", "1", "--gap", "1", "--from-ply", "0"];
    bench.arbiter([&args[..], &more].concat()).finish().expect_code(0);
    assert!(bench.read("q.epd").contains("run quick pair 1 game "), "{}", bench.read("q.epd"));
    let unknown = ["mine", "--run", "nothing", "--out", "n.epd"];
    bench.arbiter(unknown).finish().expect_error(3);
}
