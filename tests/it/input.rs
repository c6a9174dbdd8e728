//! Tests of invalid input: it is rejected before the first game, with an exit code for its kind and
//! an error that names the fault.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::bench::{Bench, Finished};
use crate::support::plan::Plan;

/// Returns a valid match; each test makes one part of it invalid.
fn usable(bench: &Bench) -> Plan<'_> {
    Plan::new(bench, "match", 1).puppet("A", "--seed 1").set("deadlines start", 5)
}

/// Asserts that a run is rejected as described, and that no process remains.
#[track_caller]
fn assert_refused(bench: &Bench, finished: Finished, code: i32) {
    finished.expect_error(code);
    bench.wait_until_quiet();
}

/// Checks a match against an opponent described by `spec`, in which the word `PUPPET` is replaced
/// by the path of the puppet.
#[track_caller]
fn opponent_is_refused(spec: &str) {
    let bench = Bench::new();
    let puppet = crate::support::programs::puppet().display().to_string();
    let spec = spec.replace("PUPPET", &puppet).replace("MARKER", bench.marker());
    let finished = usable(&bench).engine(spec).run();
    assert_refused(&bench, finished, 3);
}

/// Checks a match whose book has these contents.
#[track_caller]
fn book_is_refused(contents: &[u8]) {
    let bench = Bench::new();
    let book = bench.write("bad.epd", contents);
    let plan = usable(&bench).puppet("B", "--seed 2").set("openings", book.display());
    assert_refused(&bench, plan.run(), 3);
}

/// Checks a match between valid engines with one flag set.
#[track_caller]
fn flag_is_refused(flag: &str, value: &str, code: i32) {
    let bench = Bench::new();
    let plan = usable(&bench).puppet("B", "--seed 2").set(flag, value);
    assert_refused(&bench, plan.run(), code);
}

#[test]
fn an_engine_that_is_not_there() {
    opponent_is_refused("name=B,cmd=/no/such/engine");
    opponent_is_refused("name=B,cmd=no-engine-has-this-name");
}

#[test]
fn an_engine_that_is_not_executable() {
    let bench = Bench::new();
    let text = bench.write("notes.txt", "not a program");
    let plan = usable(&bench).engine(format!("name=B,cmd={}", text.display()));
    assert_refused(&bench, plan.run(), 3);
}

#[test]
fn an_engine_whose_interpreter_is_not_there() {
    for first_line in ["#!/nonexistent/python", "#! /nonexistent/python -u\r"] {
        let bench = Bench::new();
        let script = bench.write("engine.py", format!("{first_line}\nprint('uciok')\n"));
        std::fs::set_permissions(&script, Permissions::from_mode(0o755)).expect("it is ours");
        let plan = usable(&bench).engine(format!("name=B,cmd={}", script.display()));
        assert_refused(&bench, plan.run(), 3);
    }
}

#[test]
fn commands_in_a_folder_that_has_been_deleted() {
    let bench = Bench::new();
    let exe = crate::support::programs::arbiter().display().to_string();
    let config = bench.write("arbiter.toml", "pairs = 1\n").display().to_string();
    for (args, code) in [
        ("match ./engine bundled --results /tmp", 3),
        ("match bundled bundled,name=b --each nodes=1 --results new --config", 7),
        ("results list", 3),
        ("report --results there", 3),
        ("rate games.pgn", 3),
        ("engines add mine ./engine", 3),
    ] {
        let args = args.replace("--config", &format!("--config {config}"));
        let line = format!("mkdir gone && cd gone && rmdir ../gone && exec {exe} {args}");
        let finished = bench.start(Path::new("/bin/sh"), ["-c", &line]).finish();
        assert_refused(&bench, finished, code);
    }
}

#[test]
fn an_engine_that_fails_its_first_check() {
    let spec = |mode: &str| format!("name=Bee,cmd=PUPPET,args=\"--mode {mode} --marker MARKER\"");
    opponent_is_refused(&spec("exit-at-start"));
    opponent_is_refused(&spec("no-uciok"));
    opponent_is_refused(&spec("mute"));
    opponent_is_refused(&spec("mute --ignore-term"));
}

#[test]
fn an_option_that_the_engine_does_not_have() {
    let spec = |option: &str| format!("name=Bee,cmd=PUPPET,args=\"--marker MARKER\",{option}");
    opponent_is_refused(&spec("option.NoSuchOption=1"));
    opponent_is_refused(&spec("option.Hash=99999999"));
    opponent_is_refused(&spec("option.Hash=much"));
    opponent_is_refused(&spec("option.Style=Wild"));
    opponent_is_refused(&spec("option.Ponder=maybe"));
    opponent_is_refused(&spec("option.uci_chess960=true"));
}

#[test]
fn a_description_that_makes_no_sense() {
    opponent_is_refused("name=B,cmd=PUPPET,tc=soon");
    opponent_is_refused("name=B,cmd=PUPPET,tc=-1+0");
    opponent_is_refused("name=B,cmd=PUPPET,colour=red");
    opponent_is_refused("name=B,cmd=PUPPET,nodes=many");
    opponent_is_refused("name=B");
    opponent_is_refused("name=B,cmd=\"PUPPET");
    opponent_is_refused("name=A,cmd=PUPPET");
    opponent_is_refused("name=,cmd=PUPPET");
}

#[test]
fn a_book_of_bad_lines_only() {
    let good = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";
    let bad = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w - -\n";
    book_is_refused(format!("{bad}hello\n").as_bytes());
    let mated = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq -\n";
    book_is_refused(format!("# mated\n{mated}").as_bytes());
    let bench = Bench::new();
    let book = bench.write("bad.epd", format!("{good}{bad}"));
    let plan = usable(&bench).puppet("B", "--seed 2").set("openings", book.display());
    assert_refused(&bench, plan.set("openings strict", true).run(), 3);
}

#[test]
fn a_book_with_nothing_in_it() {
    book_is_refused(b"");
    book_is_refused(b"\n\n");
    flag_is_refused("openings", "/no/such/book.epd", 3);
}

#[test]
fn a_flag_that_makes_no_sense() {
    flag_is_refused("pairs", "many", 2);
    flag_is_refused("openings order", "alphabetical", 2);
    flag_is_refused("no-such-flag", "1", 2);
    flag_is_refused("each", "tc=soon", 3);
    flag_is_refused("concurrency", "0", 2);
}

#[test]
fn a_command_that_does_not_exist() {
    let bench = Bench::new();
    assert_refused(&bench, bench.arbiter(["frobnicate"]).finish(), 2);
}

#[test]
fn a_test_whose_hypotheses_are_reversed() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "sprt", 1).puppet("A", "--seed 1").puppet("B", "--seed 2");
    let finished = plan.set("elo0", 5).set("elo1", 0).run();
    assert_refused(&bench, finished, 3);
}

#[test]
fn a_name_that_no_run_can_have() {
    for name in ["../x", "a b", "", &"x".repeat(300)] {
        flag_is_refused("name", name, 3);
    }
}

#[test]
fn a_match_of_no_games() {
    flag_is_refused("pairs", "0", 4);
}

#[test]
fn results_that_cannot_be_written() {
    // Permissions do not stop root, but nobody can use a file as a folder.
    let bench = Bench::new();
    let file = bench.write("file", "");
    let below = file.join("results").display().to_string();
    let plan = usable(&bench).puppet("B", "--seed 2").set("results", &below);
    assert_refused(&bench, plan.run(), 7);
    flag_is_refused("results", "/proc/results", 7);
    flag_is_refused("pgn", "/proc/games.pgn", 7);
}

#[test]
fn a_run_that_does_not_exist() {
    let bench = Bench::new();
    let results = bench.path("results").display().to_string();
    let ask_for_ghost = || {
        for question in [["match", "--resume"], ["results", "show"]] {
            let args = question.into_iter().chain(["ghost", "--results", &results]);
            assert_refused(&bench, bench.arbiter(args).finish(), 3);
        }
    };
    ask_for_ghost();
    usable(&bench).puppet("B", "--seed 2").run().expect_code(0);
    ask_for_ghost();
}

/// Returns command lines that read a file given by the user; `FILE` is replaced by its name.
fn readers(bench: &Bench) -> Vec<Vec<String>> {
    let engines = [bench.puppet("A", "--seed 1", ""), bench.puppet("B", "--seed 2", "")];
    let [one, two] = engines.each_ref();
    let short = ["--each", "nodes=1", "--pairs", "1"];
    let of_match = [&["match", "--engine", one, "--engine", two], &short[..]].concat();
    let with = |start: &[&str], more: &[&str]| -> Vec<String> {
        start.iter().chain(more).map(|word| (*word).to_owned()).collect()
    };
    vec![
        with(&of_match, &["--openings", "FILE"]),
        with(&of_match, &["--config", "FILE"]),
        with(&["tune", "--engine", one], &["--params", "FILE", "--iterations", "1"]),
        with(&["tune", "simulate", "--params", "FILE"], &[]),
        with(&["perft", "--engine", one, "--suite", "FILE"], &[]),
        with(&["epd", "--engine", one, "--nodes", "1", "--suite", "FILE"], &[]),
        with(&["rate", "FILE"], &[]),
        with(&["report", "FILE"], &[]),
        with(&["mine", "--engine", one, "--out", "a.epd", "--pgn", "FILE"], &[]),
        with(&["samples", "--out", "a.samples", "--pgn", "FILE"], &[]),
        with(&["ci", "--config", "FILE"], &[]),
        with(&["serve", "--token-file", "FILE"], &[]),
        with(&["worker", "--on", "nats://127.0.0.1:1", "--trust", "FILE"], &[]),
        with(&["cluster", "show", "--on", "nats://127.0.0.1:1", "--nats", "creds=FILE"], &[]),
        with(&["cluster", "show", "--on", "tls://127.0.0.1:1", "--nats", "ca=FILE"], &[]),
        with(&["cluster", "key", "--signing-key", "FILE"], &[]),
        with(&["engine", "perft", "--suite", "FILE"], &[]),
        with(&["engine", "tune", "FILE"], &[]),
        with(
            &["compat", "fastchess", "-engine", "cmd=sh", "-engine", "cmd=cat"],
            &["-each", "nodes=1", "-openings", "file=FILE", "format=epd"],
        ),
    ]
}

#[test]
fn endless_files_are_rejected() {
    let bench = Bench::new();
    mknodat(CWD, bench.path("pipe.pgn"), FileType::Fifo, Mode::RUSR, 0)
        .expect("a pipe can be made");
    std::os::unix::fs::symlink("/dev/zero", bench.path("zero.pgn")).expect("a link can be made");
    for (command_line, file) in
        readers(&bench).iter().flat_map(|w| [(w, "pipe.pgn"), (w, "zero.pgn")])
    {
        let command_line: Vec<String> =
            command_line.iter().map(|word| word.replace("FILE", file)).collect();
        eprintln!("{command_line:?}");
        let started = Instant::now();
        let finished = bench.arbiter(&command_line).finish();
        assert!(started.elapsed() < Duration::from_secs(30), "{finished:#?}");
        // Errors of fastchess have code 1.
        let refused = finished.expect_code(if command_line[0] == "compat" { 1 } else { 3 });
        let names_file = [file, "a regular file"].iter().all(|part| refused.stderr.contains(part));
        let lines = refused.stderr.lines().filter(|line| !line.starts_with("seed ")).count();
        assert!(names_file && lines == 1, "{refused:#?}");
    }
}
