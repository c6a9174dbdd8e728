//! Tests that an interrupted run is resumed, and gives the same result as an uninterrupted run.

use rusqlite::Connection;
use rustix::process::Signal;

use crate::support::bench::{Bench, Running};
use crate::support::disk::Disk;
use crate::support::plan::{Plan, RunOutput};
use crate::support::snapshot::expect_next;
use crate::support::{store, wait_for};

/// Number of pairs of a run that is interrupted.
pub const PAIRS: usize = 12;

/// Returns a run that is slow enough to be interrupted in the middle.
pub fn slow(bench: &Bench) -> Plan<'_> {
    Plan::new(bench, "match", PAIRS)
        .puppet("A", "--seed 1 --delay-ms 8")
        .puppet("B", "--seed 2 --delay-ms 8")
        .set("concurrency", 2)
}

/// Plays [`slow`] without an interruption.
pub fn uninterrupted() -> RunOutput {
    let bench = Bench::new();
    Plan::new(&bench, "match", PAIRS)
        .puppet("A", "--seed 1")
        .puppet("B", "--seed 2")
        .expect_output(0)
}

/// Resumes the run in `bench`. The plan is in the store, so only the paths of the store and of the
/// output are given again.
pub fn resume(bench: &Bench) -> Running {
    let results = bench.path("results").display().to_string();
    let pgn = bench.path("games.pgn").display().to_string();
    let args = ["match", "--resume", "run", "--results", &results, "--pgn", &pgn];
    bench.arbiter(args.into_iter().chain(["--format", "json"]))
}

/// Waits until at least `count` pairs are in the store, asserts that the run is not complete, and
/// returns the number of stored pairs.
#[track_caller]
pub fn wait_for_pairs(bench: &Bench, count: usize) -> usize {
    let results = bench.path("results");
    let stored = wait_for(&format!("{count} pairs are stored"), || {
        let stored = store::pairs(&results).len();
        (stored >= count).then_some(stored)
    });
    assert!(stored < PAIRS, "the run was over before it could be cut short");
    stored
}

#[test]
fn a_run_survives_repeated_kills() {
    let bench = Bench::new();
    let mut running = slow(&bench).start();
    for kill in 1..=3 {
        wait_for_pairs(&bench, 2 * kill);
        running.signal(Signal::KILL);
        assert_eq!(running.finish().code, None);
        bench.wait_until_quiet();
        store::assert_consistent(&bench.path("results"));
        running = resume(&bench);
    }
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
    store::assert_consistent(&bench.path("results"));
    assert_eq!(store::pairs(&bench.path("results")).len(), PAIRS);
    bench.wait_until_quiet();
}

/// Interrupts a run by filling the disk of `folder`; the error has to name the file `file` of the
/// run.
fn a_disk_fills_up(folder: &str, file: &str) {
    let bench = Bench::new();
    let Some(disk) = Disk::mount(bench.path(folder)) else { return };
    let pgn = bench.path("pgn");
    std::fs::create_dir_all(&pgn).expect("a folder can be made");
    let running = slow(&bench).set("pgn", pgn.join("games.pgn").display()).start();
    wait_for_pairs(&bench, 2);
    disk.fill();
    let finished = running.finish().expect_code(7);
    assert!(finished.stderr.contains(file), "{finished:#?}");
    // A file without room on the disk is saved in the next folder that has room.
    let (_, rest) = finished.stderr.split_once(" saved ").expect("the message names a file");
    let saved = rest.split([' ', ':', ';']).nth(1).expect("a name follows");
    let saved = std::path::Path::new(saved);
    assert_eq!(saved.parent(), Some(bench.path("")).as_deref(), "{finished:#?}");
    if file == "arbiter.db" {
        let copy = bench.path("copy");
        std::fs::create_dir_all(&copy).expect("a folder can be made");
        std::fs::copy(saved, copy.join(file)).expect("a store is saved");
        store::assert_consistent(&copy);
        assert!(store::pairs(&copy).len() >= 2, "{finished:#?}");
    } else {
        assert!(std::fs::read_to_string(saved).expect("it is text").starts_with("[Event "));
    }
    bench.wait_until_quiet();
    disk.clear();
    store::assert_consistent(&bench.path("results"));
    let results = bench.path("results").display().to_string();
    let again = ["match", "--resume", "run", "--results", &results, "--format", "json"];
    bench.arbiter(again).finish().expect_code(0);
    assert_eq!(bench.read("pgn/games.pgn"), uninterrupted().pgn);
    store::assert_consistent(&bench.path("results"));
    assert_eq!(store::pairs(&bench.path("results")).len(), PAIRS);
}

#[test]
fn a_store_on_a_full_disk_loses_no_game() {
    a_disk_fills_up("results", "arbiter.db");
}

#[test]
fn machines_that_share_a_folder_do_not_play_in_it_together() {
    let bench = Bench::new();
    let Some(_disk) = Disk::mount_from("server:/export", bench.path("results")) else { return };
    let plan = |name: &'static str| {
        let plan = Plan::new(&bench, "match", 1).puppet("A", "--seed 1").puppet("B", "--seed 2");
        plan.set("name", name)
    };
    plan("one").start().finish().expect_code(0);
    let lock = bench.path("results/two.lock");
    std::fs::write(&lock, "process 7 on host far").expect("a file can be made");
    for name in ["two", "three"] {
        expect_next(&plan(name).start().finish().expect_code(3).stderr);
    }
    std::fs::remove_file(&lock).expect("it stays");
    plan("two").start().finish().expect_code(0);
}

#[test]
fn a_pgn_file_on_a_full_disk_loses_no_game() {
    a_disk_fills_up("pgn", "games.pgn");
}

#[test]
fn engines_do_not_outlive_a_harness_that_is_killed() {
    let bench = Bench::new();
    // These engines ignore the end of their input and the request to exit.
    let args = |seed: u32| format!("--mode ignore-quit --ignore-term --delay-ms 8 --seed {seed}");
    let plan = Plan::new(&bench, "match", PAIRS).puppet("A", &args(1)).puppet("B", &args(2));
    let running = plan.start();
    wait_for_pairs(&bench, 1);
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, None);
    bench.wait_until_quiet();
}

#[test]
fn a_run_is_complete_though_its_final_status_cannot_be_written() {
    let bench = Bench::new();
    let play = |command_line: &[&str]| {
        let engines = ["match", "bundled", "bundled:material", "--each", "nodes=1", "--pairs", "1"];
        bench.arbiter(engines.iter().chain(command_line)).finish().expect_code(0).stderr
    };
    play(&[]);
    let store = Connection::open(bench.path("results/arbiter.db")).expect("a store");
    let full = "CREATE UNIQUE INDEX one ON runs (ending IS NOT NULL) WHERE ending IS NOT NULL";
    store.execute_batch(full).expect("one run has ended");
    let messages = play(&["--name", "run"]);
    let again = bench.arbiter(["match", "--resume", "run"]).finish().expect_code(0).stderr;
    for messages in [messages, again] {
        expect_next(&messages);
    }
}

#[test]
fn resuming_a_finished_run_changes_nothing() {
    let bench = Bench::new();
    // The path is relative to the current folder, but the file is the same.
    let plan = Plan::new(&bench, "match", 2).puppet("A", "--seed 1").puppet("B", "--seed 2");
    let played = plan.set("pgn", "games.pgn").expect_output(0);
    for pgn in ["games.pgn", "./games.pgn", &bench.path("games.pgn").display().to_string()] {
        let results = bench.path("results").display().to_string();
        let again = ["match", "--resume", "run", "--results", &results, "--pgn", pgn];
        bench.arbiter(again.into_iter().chain(["--format", "json"])).finish().expect_code(0);
        assert_eq!(bench.read("games.pgn"), played.pgn, "{pgn}");
    }
}

#[test]
fn repeating_the_command_resumes_or_names_the_changed_flag() {
    let bench = Bench::new();
    let played = slow(&bench).switch("resume-or-start").start();
    wait_for_pairs(&bench, 2);
    played.signal(Signal::KILL);
    assert_eq!(played.finish().code, None);
    let resumed = || slow(&bench).unset("name").set("resume", "run");
    for (flag, value) in [
        ("pairs", "99"),
        ("seed", "7"),
        ("each", "nodes=2"),
        ("draw", "movenumber=40,movecount=8,score=10"),
        ("pgn notation", "lan"),
    ] {
        resumed().set(flag, value).run().expect_error(3);
    }
    resumed().puppet("C", "").run().expect_error(3);
    // The run continues with another concurrency, and twice with the same command line.
    let started = slow(&bench).switch("resume-or-start").set("concurrency", 2);
    assert_eq!(started.expect_output(0), uninterrupted());
    assert_eq!(resumed().expect_output(0), uninterrupted());
}

#[test]
fn a_locked_run_is_not_read() {
    let bench = Bench::new();
    Plan::new(&bench, "match", 1).puppet("A", "--seed 1").puppet("B", "--seed 2").expect_output(0);
    let lock = std::fs::File::create(bench.path("results/run.lock")).expect("the folder is there");
    lock.lock().expect("nobody else has it");
    let results = bench.path("results").display().to_string();
    // If the run were read, the error would be about its kind, which is match and not sprt.
    let finished = bench.arbiter(["sprt", "--resume", "run", "--results", &results]).finish();
    expect_next(&finished.stderr);
}

#[test]
fn another_pgn_file_gets_all_games_and_is_remembered() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 2).puppet("A", "--seed 1").puppet("B", "--seed 2");
    let played = plan.expect_output(0);
    bench.write("other.pgn", "; notes");
    let results = bench.path("results").display().to_string();
    let resume = |more: &[&str]| {
        let args = ["match", "--resume", "run", "--results", &results];
        bench.arbiter(args.into_iter().chain(more.iter().copied())).finish()
    };
    // An unusable file changes nothing.
    resume(&["--pgn", "no/such/folder.pgn"]).expect_code(7);
    resume(&[]).expect_code(0);
    for more in [&["--pgn", "other.pgn"][..], &[]] {
        resume(more).expect_code(0);
        assert_eq!(bench.read("other.pgn"), format!("; notes\n\n{}", played.pgn));
        assert_eq!(bench.read("games.pgn"), played.pgn);
    }
}

#[test]
fn flags_with_resume_must_match_the_stored_run() {
    let bench = Bench::new();
    let tuned = ["--param", "Hash,2,1,10,1,0.1"];
    for (kind, flags, tried) in [
        (
            "match",
            &["bundled:material", "bundled:blunder", "--pairs", "2", "--seed", "3"][..],
            &[
                "--pairs 2",
                "--pairs 60",
                "--games 4",
                "--games 6",
                "--rounds 2",
                "--seed 3 --each nodes=1",
                "--seed 4",
                "--each nodes=2",
                "--each nodes=1,option.Hash=2",
                "--noswap",
                "--draw score=3",
                "--dev bundled:material --base bundled:blunder",
                "bundled:material bundled:blunder",
                "bundled:material bundled:rdchess",
            ][..],
        ),
        (
            "sprt",
            &["bundled:material", "bundled:blunder", "--elo1", "20", "--pairs", "2"],
            &["--elo1 20 --pairs 2", "--elo0 7", "--elo1 5", "--alpha 0.1", "--pairs 3"],
        ),
        (
            "tournament",
            &["swiss", "bundled:material", "bundled:blunder", "bundled:rdchess", "--rounds", "2"],
            &["--rounds 2", "swiss", "gauntlet", "--rounds 3", "--schedule seeds=2"],
        ),
        (
            "ablate",
            &["bundled:blunder", "--features", "pst,passed", "--pairs", "1"],
            &[
                "--pairs 1",
                "--pairs 60",
                "--features pst",
                "--option Off",
                "--sprt",
                "--eval blunder",
            ],
        ),
        (
            "tune",
            &["bundled", tuned[0], tuned[1], "--no-probe", "--iterations", "2", "--pairs", "1"],
            &[
                "--iterations 2 --pairs 1",
                "--param Hash,2,1,10,1,0.1 --no-probe",
                "--iterations 5",
                "--pairs 2",
                "--param Hash,2,1,20,1,0.1",
                "--alpha 0.7",
            ],
        ),
    ] {
        let started = [&[kind], flags, &["--each", "nodes=1", "--name", kind]].concat();
        bench.arbiter(&started).finish().expect_code(if kind == "sprt" { 5 } else { 0 });
        for more in tried {
            let command_line: Vec<&str> =
                [kind, "--resume", kind].into_iter().chain(more.split(' ')).collect();
            let done = bench.arbiter(command_line).finish();
            let error = done.stderr.lines().find(|line| line.starts_with("error")).unwrap_or("");
            expect_next(&format!("{kind} {more}: {:?} {error}", done.code));
        }
    }
}
