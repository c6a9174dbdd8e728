//! Tests of the records of games: PGN as configured by the user, final positions, error output, and
//! engine latencies.

use rustix::process::Signal;
use serde_json::Value;
use shakmaty::fen::Epd;
use shakmaty::{EnPassantMode, Position};

use crate::resume;
use crate::support::bench::{Bench, Finished};
use crate::support::plan::{Plan, RunOutput};
use crate::support::store;

/// Returns a match of the bundled engine against a puppet.
fn telling<'a>(bench: &'a Bench, pairs: usize) -> Plan<'a> {
    Plan::new(bench, "match", pairs)
        .engine("cmd=bundled,name=A".to_owned())
        .puppet("B", "--seed 2")
        .set("each", "tc=60+1,nodes=300")
        .set("max-moves", 6)
}

/// Returns the comments of a PGN, except those about the book.
fn comments(pgn: &str) -> Vec<String> {
    let inner = pgn.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    inner.map(|(comment, _)| comment.replace('\n', " ")).collect()
}

#[test]
fn comments_contain_the_requested_fields() {
    let bench = Bench::new();
    let plan = telling(&bench, 1).set("pgn fields", "all").set("pgn match", "seldepth 1 .* pv");
    let played = plan.expect_output(0);
    let comments = comments(&played.pgn);
    assert_eq!(comments.len(), 24);
    // The puppet reports so little that its comments are recognizable.
    let (short, long): (Vec<&String>, Vec<&String>) =
        comments.iter().partition(|comment| comment.contains("/1 "));
    assert_eq!((short.len(), long.len()), (12, 12), "{comments:#?}");
    for comment in &long {
        for key in [", tl=", ", latency=", ", n=", ", sd=", ", nps=", ", hashfull=", ", pv=\""] {
            assert!(comment.contains(key), "no {key} in {comment}");
        }
    }
    for comment in &short {
        for key in [", tl=", ", latency=", ", n=1, sd=1, pv=\"", ", line=\"info depth 1 "] {
            assert!(comment.contains(key), "no {key} in {comment}");
        }
        assert!(!comment.contains("nps="), "{comment}");
    }
    played.games();
}

#[test]
fn comments_are_short_by_default() {
    let bench = Bench::new();
    let played = telling(&bench, 1).expect_output(0);
    for comment in comments(&played.pgn) {
        assert!(!comment.contains('='), "{comment}");
    }
}

#[test]
fn settings_file_and_flags_agree() {
    let by_flags = Bench::new();
    let plain =
        |bench| Plan::new(bench, "match", 2).puppet("A", "--seed 1").puppet("B", "--seed 2");
    let plan = plain(&by_flags).set("pgn fields", "seldepth+pv").set("pgn notation", "lan");
    let plan = plan.set("pgn match", "^info depth").set("epd", by_flags.path("ends.epd").display());
    let plan = plan.set("pgn event", "Cup").set("pgn site", "my home");
    let expected = plan.set("transcripts", "none").expect_output(0);
    let by_file = Bench::new();
    let text = "epd = 'ends.epd'\ntranscripts = 'none'\nstderr-dir = 'errors'\n[pgn]\n\
                fields = ['pv', 'seldepth']\nmatch = '^info depth'\nnotation = 'lan'\n\
                event = 'Cup'\nsite = 'my home'\n";
    let file = by_file.write("our.toml", text);
    let found = plain(&by_file).set("config", file.display()).expect_output(0);
    assert_eq!(found.pgn, expected.pgn);
    assert_eq!(by_file.read("ends.epd"), by_flags.read("ends.epd"));
    assert_eq!(by_file.read("errors/A.log"), "");
    assert!(found.pgn.contains("sd=1, pv=\""), "{}", found.pgn);
    assert!(found.pgn.starts_with("[Event \"Cup\"]\n[Site \"my home\"]\n"), "{}", found.pgn);
}

#[test]
fn pgn_moves_have_the_requested_notation() {
    let text = |notation: &str| {
        let bench = Bench::new();
        let plan = Plan::new(&bench, "match", 1).puppet("A", "--seed 1").puppet("B", "--seed 2");
        let plan = plan.set("pgn notation", notation).set("pgn minimal", true).set("max-moves", 8);
        plan.run().expect_code(0);
        let pgn = bench.read("games.pgn");
        assert!(!pgn.contains('{') && !pgn.contains("[Seed"), "{pgn}");
        assert!(pgn.contains("[Result ") && pgn.contains("[FEN "), "{pgn}");
        let games = pgn.split("\n\n").skip(1).step_by(2);
        let tokens = games.flat_map(|game| game.split_ascii_whitespace().map(str::to_owned));
        tokens.filter(|word| !word.ends_with('.')).collect::<Vec<_>>()
    };
    let (short, long, uci) = (text("san"), text("lan"), text("uci"));
    assert!(short.len() > 20 && short.len() == long.len() && long.len() == uci.len());
    let plain = |long: &String| long.replace(['x', '+', '#', '=', 'N', 'B', 'R', 'Q', 'K'], "");
    for ((short, long), uci) in short.iter().zip(&long).zip(&uci) {
        if !long.starts_with("O-") && !long.contains('=') {
            assert_eq!(&plain(long), uci, "{short}");
        }
    }
    assert!(short.iter().zip(&long).any(|(short, long)| short.len() + 1 < long.len()));
}

#[test]
fn games_name_their_origin() {
    let bench = Bench::new();
    let book = bench.write("sicilian.pgn", "1. e4 c5 2. Nf3 d6 3. d4 *\n");
    let plan = Plan::new(&bench, "match", 1).puppet("A", "--seed 1").puppet("B", "--seed 2");
    let played = plan.set("openings", book.display()).set("seed", 77).expect_output(0);
    for game in played.games() {
        assert_eq!(game.tag("Seed"), "77");
        assert!(game.tag("ECO").starts_with("B5"), "{}", game.tag("ECO"));
        assert!(game.tag("Opening").starts_with("Sicilian Defence"));
        assert_eq!(game.tag("WhiteHash"), game.tag("BlackHash"), "the program is the same");
        assert_eq!(game.tag("WhiteHash").len(), 64);
    }
}

#[test]
fn invalid_record_settings_are_rejected() {
    let check = |flag: &str, value: &str| {
        let bench = Bench::new();
        telling(&bench, 1).set(flag, value).run().expect_error(2);
    };
    check("pgn fields", "nodes+luck");
    check("pgn match", "(");
    check("pgn notation", "figurine");
    check("transcripts", "some");
    for text in [
        "pgn = { notation = 'x' }",
        "pgn = 'games.pgn,minimal'",
        "deadlines = '5'",
        "pgn = { match = '(' }",
        "openings = { order = 'up' }",
        "openings = { policy = 'x' }",
        "deadlines = { ready = 0.0 }",
        "pairs = 'x'\n",
    ] {
        let bench = Bench::new();
        let file = bench.write("our.toml", text);
        let plan = Plan::new(&bench, "match", 1).puppet("A", "").puppet("B", "");
        let plan = plan.set("config", file.display()).unset("openings order").unset("pairs");
        plan.run().expect_error(3);
    }
}

#[test]
fn opening_start_must_be_within_the_book() {
    let run = |bench: &Bench, start: usize| {
        let plan = Plan::new(bench, "match", 3).puppet("A", "--seed 1").puppet("B", "--seed 2");
        plan.set("openings start", start).run()
    };
    run(&Bench::new(), 3).expect_code(0);
    run(&Bench::new(), 4).expect_error(3);
}

/// Returns the final positions of the games in a PGN, in the format of the file of positions.
fn ends(played: &RunOutput) -> String {
    let line = |game: &crate::support::pgn::Game| {
        let end = &game.end;
        let position = Epd::from_position(end, EnPassantMode::Legal);
        let (half, full) = (end.halfmoves(), end.fullmoves());
        format!("{position} hmvc {half}; fmvn {full}; c9 \"{}\";\n", game.result)
    };
    played.games().iter().map(line).collect()
}

#[test]
fn final_positions_survive_kills_each_once() {
    let bench = Bench::new();
    let before = "8/8/8/8/8/8/8/K1k5 w - -";
    let file = bench.write("ends.epd", before);
    let mut running = resume::slow(&bench).set("epd", file.display()).start();
    for kill in 1..=3 {
        resume::wait_for_pairs(&bench, 2 * kill);
        running.signal(Signal::KILL);
        running.finish();
        bench.wait_until_quiet();
        // The last line may be incomplete, because only a part of it was written.
        let text = bench.read("ends.epd");
        bench.write("ends.epd", &text[..text.len().saturating_sub(kill).max(before.len() + 1)]);
        running = resume::resume(&bench);
    }
    let played = RunOutput::read(&bench, &running.finish().expect_code(0));
    assert_eq!(bench.read("ends.epd"), format!("{before}\n{}", ends(&played)));
    bench.write("ends.epd", "somebody else's\n".repeat(400));
    resume::resume(&bench).finish().expect_error(3);
}

#[test]
fn each_engine_has_a_file_for_its_error_output() {
    let bench = Bench::new();
    Plan::new(&bench, "match", 1)
        .puppet("A/1", "--seed 1 --mode exit-in-game")
        .puppet_with("B", "--seed 2", &format!(",stderr={}", bench.path("B.own").display()))
        .set("stderr-dir", bench.path("errors/of all").display())
        .run()
        .expect_code(6);
    assert_eq!(bench.read("errors/of all/A_1.log"), "puppet: leaving, as asked\n".repeat(2));
    assert_eq!(bench.read("B.own"), "");
    let folder = std::fs::read_dir(bench.path("errors/of all")).expect("the folder is there");
    assert_eq!(folder.count(), 1);
    let plan = Plan::new(&bench, "match", 1).puppet("A", "").puppet("B", "");
    let plan = plan.set("name", "other").set("stderr-dir", bench.path("B.own/x").display());
    plan.run().expect_error(7);
}

#[test]
fn latencies_include_moves_that_lose_on_time() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 1).puppet("A", "--seed 1 --mode slow --delay-ms 700");
    let plan = plan.puppet("B", "--seed 2").set("each", "tc=0.2");
    let report = plan.run().expect_code(6).json();
    let late = latency(&report, "A", "overrun").expect("it was late");
    assert_eq!(late["count"], 2, "{late}");
    assert!(late["max_us"].as_u64().expect("a time") >= 9_900, "{late}");
    assert_eq!(latency(&report, "B", "overrun"), None);
}

/// Returns the latencies of one engine and kind.
pub fn latency<'a>(report: &'a Value, engine: &str, kind: &str) -> Option<&'a Value> {
    let all = report["latencies"].as_array().expect("there is a list");
    all.iter().find(|one| one["engine"] == engine && one["kind"] == kind)
}

#[test]
fn latencies_are_measured_and_kept() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 2)
        .puppet("A", "--seed 1 --delay-ms 20")
        .puppet_with("B", "--seed 2 --mode slow-ready --delay-ms 300", ",st=5")
        .set("max-moves", 5);
    let report = plan.run().expect_code(0).json();
    let count = |engine, kind| {
        latency(&report, engine, kind).map(|one| one["count"].as_u64().expect("a count"))
    };
    let us = |engine, kind, key: &str| {
        let one = latency(&report, engine, kind).unwrap_or_else(|| panic!("{engine} {kind}"));
        one[key].as_u64().expect("microseconds")
    };
    assert_eq!((count("A", "ready"), count("B", "ready")), (Some(4), Some(4)));
    assert_eq!((count("A", "move"), count("B", "move")), (Some(20), Some(20)));
    assert_eq!((count("A", "overrun"), count("B", "overrun")), (None, Some(20)));
    // The engine thinks for 20 ms but reports no time.
    assert!(us("A", "move", "p50_us") >= 19_800, "{report:#}");
    assert!(us("B", "ready", "p50_us") >= 297_000, "{report:#}");
    assert_eq!(us("B", "overrun", "max_us"), 0, "{report:#}");
    assert!(us("A", "move", "p99_us") <= us("A", "move", "max_us"));
    let decades = latency(&report, "A", "move").expect("there are some")["decades"].clone();
    let sum: u64 = decades.as_array().into_iter().flatten().filter_map(Value::as_u64).sum();
    assert_eq!(sum, 20);
    let shown = |format: &str| -> Finished {
        let results = bench.path("results").display().to_string();
        bench
            .arbiter(["results", "show", "run", "--results", &results, "--format", format])
            .finish()
    };
    assert_eq!(shown("json").json()["latencies"], report["latencies"]);
    for format in ["text", "md"] {
        let text = shown(format).stdout;
        assert!(text.contains("p99") && text.contains("overrun"), "{text}");
    }
}

#[test]
fn latencies_of_a_killed_run_count_each_game_once() {
    let bench = Bench::new();
    let running = resume::slow(&bench).set("each", "tc=60+1").start();
    resume::wait_for_pairs(&bench, 3);
    running.signal(Signal::KILL);
    running.finish();
    bench.wait_until_quiet();
    let finished = resume::resume(&bench).finish().expect_code(0);
    let games = RunOutput::read(&bench, &finished).games();
    let report = finished.json();
    let moves: usize = games.iter().map(|game| game.moves.len()).sum();
    let count = |kind| {
        let of = |engine| latency(&report, engine, kind).expect("it is there")["count"].as_u64();
        of("A").expect("a count") + of("B").expect("a count")
    };
    assert_eq!(count("ready"), 2 * games.len() as u64);
    assert_eq!(count("move"), moves as u64);
    store::assert_consistent(&bench.path("results"));
}
