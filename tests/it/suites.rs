//! Tests of suites: perft counts and solved positions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use arbiter_suite::perft::{leaves, read};

use crate::support::bench::{Bench, Finished};
use crate::support::snapshot::expect_next;

/// Positions with a mate in one by the rook, a mate in one by the queen, and a pawn to capture.
const TACTICS: &str = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id \"MATE.1\";
7k/8/5K2/8/8/8/8/6Q1 w - - bm Qg7#; id \"MATE.2\"
this is no position
4k3/8/8/3p4/4P3/8/8/4K3 w - - bm Qxd5; id \"WRONG.1\";
4k3/8/8/3q4/4P3/8/8/4K3 w - - bm exd5; id \"WIN.1\";
";

fn own_suite(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("suites").join(name)
}

fn suite(bench: &Bench, command: &str, engines: &[&str], file: &Path, more: &[&str]) -> Finished {
    let mut args = vec![command.to_owned(), "--suite".to_owned(), file.display().to_string()];
    for engine in engines {
        args.extend(["--engine".to_owned(), (*engine).to_owned()]);
    }
    args.extend(more.iter().map(|word| (*word).to_owned()));
    bench.arbiter(args).finish()
}

#[test]
fn bundled_perft_counts_match_the_rules() {
    for (name, positions) in [("perft.epd", 30), ("perft960.epd", 10)] {
        let text = std::fs::read_to_string(own_suite(name)).expect("the suite is there");
        let suite = read(&text, name == "perft960.epd");
        assert_eq!(suite.unusable, [], "{name}");
        assert_eq!(suite.cases.len(), positions, "{name}");
        for case in &suite.cases {
            let (depth, count) =
                case.within(64, 300_000).expect("every position has a small count");
            assert_eq!(leaves(&case.start.position, depth), count, "{name}:{}", case.line);
            let shallow = case.counts.iter().filter(|(_, count)| *count <= 10_000);
            for (depth, count) in shallow {
                assert_eq!(leaves(&case.start.position, *depth), *count, "{name}:{}", case.line);
            }
        }
    }
}

#[test]
fn bundled_tactics_have_one_solution_and_an_origin() {
    let text = std::fs::read_to_string(own_suite("tactics.epd")).expect("the suite is there");
    let suite = arbiter_suite::epd::read(&text, false);
    assert_eq!(suite.unusable, []);
    assert!(suite.cases.len() >= 300, "{}", suite.cases.len());
    let mut fens = BTreeSet::new();
    for record in &suite.cases {
        assert!(fens.insert(record.start.fen()), "line {} comes twice", record.line);
        assert_eq!(record.goal.best.len(), 1, "line {}", record.line);
        assert!(record.theme.is_some(), "line {}", record.line);
        assert_eq!(record.notes, Vec::<String>::new(), "line {}", record.line);
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields = ["c0 \"", "gap ", "from depth ", " game ", "acd 18;", " pv "];
        assert!(fields.iter().all(|part| line.contains(part)), "{line}");
    }
    for part in ["arbiter", "mine --engine", "Proven by Stockfish", "--depth 18", "--gap 200"] {
        assert!(text.lines().take(8).any(|line| line.contains(part)), "{part}");
    }
}

#[test]
fn the_bundled_engine_knows_the_rules() {
    let bench = Bench::new();
    for (name, more) in [("perft.epd", &[][..]), ("perft960.epd", &["--chess960"])] {
        let args = [&["--max-nodes", "100000", "--format", "json"], more].concat();
        let json =
            suite(&bench, "perft", &["cmd=bundled"], &own_suite(name), &args).expect_code(0).json();
        assert_eq!(json["wrong"], 0, "{json:#}");
        assert_eq!(json["right"], json["positions"].as_array().expect("a list").len(), "{json:#}");
    }
}

#[test]
fn a_planted_bug_is_located() {
    let bench = Bench::new();
    let buggy = bench.puppet("Buggy", "--mode no-en-passant", "");
    let file = bench.write(
        "suite.epd",
        "4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D1 5 ;D2 25\n\
         4k3/8/8/8/2p5/8/1P6/4K3 w - - 0 1 ;D1 7 ;D2 44\n",
    );
    let found = suite(&bench, "perft", &[&buggy], &file, &[]).expect_code(1);
    expect_next(&found.stdout);
    let honest = bench.puppet("Honest", "", "");
    suite(&bench, "perft", &[&honest], &file, &[]).expect_code(0);
}

/// A wrong count at some depth leads to the position in which the moves are wrong.
#[test]
fn a_planted_bug_is_found_below_several_moves() {
    let bench = Bench::new();
    let check = |mode: &str, fen: &str, depth: u32| {
        let position = &read(&format!("{fen} ;D{depth} 1"), false).cases[0].start.position;
        let right = leaves(position, depth);
        let file = bench.write("suite.epd", format!("{fen} ;D{depth} {right}\n"));
        let buggy = bench.puppet("Buggy", &format!("--mode {mode}"), "");
        let found = suite(&bench, "perft", &[&buggy], &file, &[]).expect_code(1);
        expect_next(&found.stdout);
    };
    check("no-en-passant", "4k3/2p5/8/8/1P6/8/8/4K3 w - - 0 1", 4);
    check("leaping-pawns", "4k3/8/8/8/8/8/1N1P4/4K3 w - - 0 1", 3);
}

#[test]
fn perft_failures_have_their_exit_codes() {
    let bench = Bench::new();
    let honest = bench.puppet("Honest", "", "");
    let wrong = bench.write("wrong.epd", "4k3/8/8/8/8/8/8/4K3 w - - ;D1 6\n");
    let found = suite(&bench, "perft", &[&honest], &wrong, &[]).expect_code(3);
    expect_next(&found.stdout);
    let two = "4k3/8/8/8/8/8/8/4K3 w - - ;D1 5\n4k3/8/8/8/8/8/8/4K3 b - - ;D1 5\n";
    let two = bench.write("two.epd", two);
    let crash = bench.puppet("Crash", "--mode crash --after 2", "");
    let found = suite(&bench, "perft", &[&crash], &two, &[]).expect_code(6);
    expect_next(&found.stdout);
    let silent = bench.puppet("Silent", "--mode hang", "");
    let late = ["--deadline", "0.2"];
    let found = suite(&bench, "perft", &[&silent], &two, &late).expect_code(6);
    expect_next(&found.stdout);
    let none = bench.write("none.epd", "# nothing\nhello\n");
    let refused = suite(&bench, "perft", &[&honest], &none, &[]).expect_code(4);
    expect_next(&refused.stderr);
    let other = ["--command", "count {depth}"];
    let found = suite(&bench, "perft", &[&honest], &two, &other).expect_code(6);
    expect_next(&found.stdout);
}

#[test]
fn a_suite_is_solved_and_its_bad_lines_are_not_counted() {
    let bench = Bench::new();
    let file = bench.write("tactics.epd", TACTICS);
    let nodes = ["--nodes", "20000", "--format", "json"];
    let json = suite(&bench, "epd", &["cmd=bundled"], &file, &nodes).expect_code(0).json();
    assert_eq!(json["engines"][0]["positions"], 3, "{json:#}");
    assert_eq!(json["engines"][0]["solved"], 3, "{json:#}");
    let unusable = json["unusable"].as_array().expect("a list");
    assert_eq!(unusable.len(), 2, "{json:#}");
    assert_eq!(unusable[0]["line"], 3, "{json:#}");
    assert_eq!(unusable[1]["reason"], "bm 'Qxd5' is not legal", "{json:#}");
    assert_eq!(json["positions"][0]["searches"][0]["move"], "a1a8", "{json:#}");
    let text = suite(&bench, "epd", &["cmd=bundled"], &file, &["--nodes", "20000"]).expect_code(0);
    expect_next(&text.stdout);
}

#[test]
fn positions_of_suites_are_corrected_and_listed() {
    let bench = Bench::new();
    let honest = bench.puppet("Honest", "", "");
    let position = "4k3/8/8/8/8/8/4P3/4K2R w KQ e6 0 1";
    let reason = "ignored as impossible: castling with a1, en passant on e6";
    for (command, line) in [("perft", "|1|16"), ("epd", " ;bm O-O")] {
        let text = format!("% a suite\r; of one line\r\r{position}{line}\r");
        let file = bench.write("odd.epd", text);
        let found = suite(&bench, command, &[&honest], &file, &["--format", "json"]).expect_code(0);
        let (json, one) = (found.json(), serde_json::json!([{"line": 4, "reason": reason}]));
        assert_eq!((&json["corrected"], &json["unusable"]), (&one, &serde_json::json!([])));
        let text = suite(&bench, command, &[&honest], &file, &[]).expect_code(0).stdout;
        assert!(text.contains(&format!("Corrected positions: 1\n  line 4: {reason}\n")), "{text}");
    }
}

#[test]
fn gates_fail_when_they_should() {
    let bench = Bench::new();
    let file = bench.write("tactics.epd", TACTICS);
    let weak = bench.puppet("Weak", "", "");
    let gate = |engines: &[&str], more: &[&str]| {
        suite(&bench, "epd", engines, &file, &[&["--nodes", "20000"], more].concat())
    };
    gate(&["cmd=bundled"], &["--min-solved", "3"]).expect_code(0);
    gate(&["cmd=bundled"], &["--min-solved", "4"]).expect_code(1);
    let lost = gate(&[&weak, "cmd=bundled"], &["--max-lost", "0"]).expect_code(1);
    expect_next(&lost.stdout);
    expect_next(&lost.stderr);
    gate(&[&weak, "cmd=bundled"], &["--max-lost", "3"]).expect_code(0);
    gate(&["cmd=bundled", &weak], &["--max-lost", "0"]).expect_code(0);
    gate(&["cmd=bundled"], &["--max-lost", "0"]).expect_error(2);
    let none = bench.write("none.epd", "4k3/8/8/8/8/8/8/4K3 w - - bm Qa1;\n");
    let refused = suite(&bench, "epd", &["cmd=bundled"], &none, &[]).expect_code(4);
    expect_next(&refused.stderr);
}

#[test]
fn an_engine_that_fails_at_one_position_continues_with_the_others() {
    let bench = Bench::new();
    let file = bench.write("tactics.epd", TACTICS);
    let crash = bench.puppet("Crash", "--mode crash --after 2 --skill greedy", "");
    let args = ["--nodes", "100", "--format", "json"];
    let json = suite(&bench, "epd", &[&crash], &file, &args).expect_code(6).json();
    assert_eq!(json["engines"][0]["faults"], 1, "{json:#}");
    assert_eq!(json["engines"][0]["solved"], 2, "{json:#}");
    let fault = json["positions"][1]["searches"][0]["fault"].as_str().expect("a fault");
    expect_next(fault);
    bench.wait_until_quiet();
}

#[test]
fn a_search_ends_when_its_solution_has_been_kept() {
    let bench = Bench::new();
    let file = bench.write("one.epd", TACTICS.lines().last().expect("a line"));
    let args = ["--movetime", "100s", "--hold", "2", "--format", "json"];
    let json = suite(&bench, "epd", &["cmd=bundled"], &file, &args).expect_code(0).json();
    let search = &json["positions"][0]["searches"][0];
    let time = |key: &str| search[key].as_f64().expect("a time");
    assert!(time("time_ms") < 50_000.0, "{json:#}");
    assert!(time("solution_ms") <= time("time_ms"), "{json:#}");
}

#[test]
fn control_codes_in_position_names_are_escaped() {
    let bench = Bench::new();
    let id = "a\u{202e}\u{9b}1A\u{1b}[2Jb";
    bench.write("x.epd", format!("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm h3; id \"{id}\";\n"));
    let finished = bench.arbiter(["epd", "bundled", "--suite", "x.epd", "--nodes", "100"]).finish();
    let line = finished
        .stdout
        .lines()
        .find_map(|line| line.split_once(": played"))
        .expect("it is not solved");
    assert_eq!(line.0, "  a\\u202e\\u009b1A\\u001b[2Jb");
}
