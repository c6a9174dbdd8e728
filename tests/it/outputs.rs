//! Tests of output files: a file in use is never overwritten, and no output is lost silently.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rusqlite::Connection;
use rustix::process::Signal;

use crate::support::bench::{Bench, Finished};
use crate::support::plan::{Plan, RunOutput};
use crate::support::{programs, store, wait_for};

/// Damage that another program causes to a file.
type Damage<'a> = &'a dyn Fn(&Path);

const PAIRS: usize = 12;

fn play_match(bench: &Bench) -> RunOutput {
    Plan::new(bench, "match", 1).puppet("A", "--seed 1").puppet("B", "--seed 2").expect_output(0)
}

/// Asserts that a command whose output is the file `name`, given by its name and by links, is
/// rejected and leaves the file unchanged.
fn is_spared(bench: &Bench, name: &str, command: impl Fn(&Path) -> Finished) {
    let file = bench.path(name);
    let before = fs::read(&file).expect("it is there");
    let [soft, hard] = ["soft", "hard"].map(|link| bench.path(link));
    for link in [&soft, &hard] {
        let _ = fs::remove_file(link);
    }
    symlink(&file, &soft).expect("a link can be made");
    fs::hard_link(&file, &hard).expect("a link can be made");
    for path in [&file, &soft, &hard] {
        let finished = command(path).expect_code(3);
        assert!(finished.stderr.contains(" is both "), "{finished:#?}");
        assert_eq!(fs::read(&file).expect("it is there"), before, "{finished:#?}");
    }
}

#[test]
fn files_in_use_are_never_outputs() {
    let bench = Bench::new();
    play_match(&bench);
    let results = bench.path("results").display().to_string();
    let with_store = |args: &[&str], path: &Path| {
        let flags = ["--results", &results, "--out"].map(OsStr::new);
        let args = args.iter().map(OsStr::new).chain(flags).chain([path.as_os_str()]);
        bench.arbiter(args).finish()
    };
    for args in [
        &["report", "run", "--format", "md"][..],
        &["results", "export", "run", "--force"],
        &["results", "log"],
        &["samples", "--run", "run"],
    ] {
        is_spared(&bench, "results/arbiter.db", |path| with_store(args, path));
    }
    is_spared(&bench, "games.pgn", |path| with_store(&["samples", "--pgn", "games.pgn"], path));
    is_spared(&bench, "games.pgn", |path| {
        with_store(&["report", "games.pgn", "--format", "md"], path)
    });
    bench.write("arbiter.toml", "");
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", programs::puppet().display());
    let script = bench.write("engine.sh", script);
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("it is ours");
    let engine = format!("name=B,cmd={},args=--marker {}", script.display(), bench.marker());
    for flag in ["pgn", "epd"] {
        for name in ["results/arbiter.db", "book.epd", "arbiter.toml", "engine.sh"] {
            is_spared(&bench, name, |path| {
                let plan = Plan::new(&bench, "match", 1).puppet("A", "").engine(engine.clone());
                plan.set("name", "other").set(flag, path.display()).run()
            });
        }
    }
    // None of these files exists yet.
    for (pgn, epd) in [
        ("x", "./x"),
        ("results/other.lock", "y"),
        ("results/arbiter.db-wal", "y"),
        ("results/arbiter.db-journal", "y"),
    ] {
        let plan = Plan::new(&bench, "match", 1).puppet("A", "").puppet("B", "");
        let plan = plan.set("name", "other").set("pgn", pgn).set("epd", epd);
        let refused = plan.run().expect_code(3);
        assert!(refused.stderr.contains(" is both "), "{refused:#?}");
    }
    assert!(!bench.path("x").exists() && !store::has_run(&bench.path("results"), "other"));
}

#[test]
fn input_files_cannot_be_the_redirected_output() {
    let bench = Bench::new();
    play_match(&bench);
    for (command, file) in [
        ("rate games.pgn", "games.pgn"),
        ("results list", "results/arbiter.db"),
        ("report", "results/arbiter.db"),
        ("perft --suite book.epd bundled", "book.epd"),
    ] {
        let before = fs::read(bench.path(file)).expect("it is there");
        let line = format!("exec '{}' {command} >> {file}", programs::arbiter().display());
        let finished = bench.start(Path::new("/bin/sh"), ["-c", &line]).finish();
        assert!(finished.stderr.contains(" is both the redirected output"), "{finished:#?}");
        assert_eq!(fs::read(bench.path(file)).expect("it is there"), before, "{command}");
    }
}

/// Damages a file of a run during the run; returns the finished run, and the file that its final
/// message names.
fn disturbed(name: &str, disturb: impl Fn(&Path)) -> (Bench, Finished, String) {
    let bench = Bench::new();
    let engines = ["A", "B"].map(|name| bench.puppet(name, "--seed 1 --delay-ms 4", ""));
    let mut plan = Plan::new(&bench, "match", 80);
    for engine in engines {
        plan = plan.engine(engine);
    }
    let running = plan.start();
    wait_for("pairs are stored", || {
        (store::pairs(&bench.path("results")).len() >= 3).then_some(())
    });
    disturb(&bench.path(name));
    let finished = running.finish().expect_code(7);
    let saved = finished.stderr.split("saved ").nth(1).expect("a place is named");
    let saved = saved.split("/place-").nth(1).expect("beside it").to_owned();
    let saved = saved.split_once('/').expect("a path").1;
    let saved = saved.split([':', ';']).next().expect("it ends").to_owned();
    (bench, finished, saved)
}

#[test]
fn a_store_removed_during_a_run_is_reported_and_saved() {
    let replace = |file: &Path| {
        let other = file.with_extension("other");
        fs::copy(file, &other).expect("it can be copied");
        fs::rename(&other, file).expect("it can be replaced");
    };
    let delete = |file: &Path| fs::remove_file(file).expect("it is there");
    let cut = |file: &Path| {
        let file = File::options().write(true).open(file).expect("it is there");
        // Most of a new store is in its write-ahead log.
        file.set_len(0).expect("it can be cut");
    };
    let cases: [(Damage<'_>, &str); 3] =
        [(&delete, "was deleted"), (&replace, "was replaced"), (&cut, "was truncated")];
    for (disturb, change) in cases {
        let (bench, finished, saved) = disturbed("results/arbiter.db", disturb);
        assert!(finished.stderr.contains(change), "{finished:#?}");
        let saved = Connection::open(bench.path(&saved)).expect("a store");
        let count = "SELECT count(*) FROM pairs WHERE run = 'run'";
        let pairs: i64 = saved.query_row(count, [], |row| row.get(0)).expect("a store");
        assert!(pairs >= if change == "was truncated" { 1 } else { 3 }, "{change}: {pairs}");
    }
}

#[test]
fn a_saved_store_replaces_the_deleted_one() {
    let (bench, _, saved) = disturbed("results/arbiter.db", |file| {
        fs::remove_file(file).expect("it is there");
    });
    for beside in ["-wal", "-shm"] {
        let _ = fs::remove_file(bench.path(&format!("results/arbiter.db{beside}")));
    }
    fs::rename(bench.path(&saved), bench.path("results/arbiter.db")).expect("it is there");
    let again = ["match", "--resume", "run", "--results", "results", "--format", "json"];
    bench.arbiter(again).finish().expect_code(0);
    assert_eq!(store::pairs(&bench.path("results")).len(), 80);
    assert_eq!(bench.read("games.pgn").matches("[Event ").count(), 160);
}

#[test]
fn a_pgn_file_removed_during_a_run_is_reported_and_saved() {
    let delete = |file: &Path| fs::remove_file(file).expect("it is there");
    let cut = |file: &Path| {
        let file = File::options().write(true).open(file).expect("it is there");
        file.set_len(10).expect("it can be cut");
    };
    let replace = |file: &Path| {
        // In one step, because the run could notice a file that is missing for a moment.
        let other = file.with_extension("other");
        fs::write(&other, "other games").expect("it can be written");
        fs::rename(&other, file).expect("it can be replaced");
    };
    let cases: [(Damage<'_>, &str); 3] =
        [(&delete, "was deleted"), (&replace, "was replaced"), (&cut, "was truncated")];
    for (disturb, change) in cases {
        let (bench, finished, saved) = disturbed("games.pgn", disturb);
        assert!(finished.stderr.contains(change), "{finished:#?}");
        assert!(bench.read(&saved).contains("[Event "), "{change}");
    }
}

#[test]
fn every_killed_run_resumes_with_the_same_command() {
    fn plan<'a>(bench: &'a Bench, kind: &'static str) -> Plan<'a> {
        let plan = Plan::new(bench, kind, PAIRS).switch("resume-or-start").set("concurrency", 2);
        let plan = plan.puppet("A", "--seed 1 --delay-ms 2");
        match kind {
            "ablate" => plan.set("option", "Style").set("features", "Solid,Risky"),
            "tune" => {
                let params = bench.write("params.txt", "Courage,50,0,100,10,0.5\n");
                let plan = plan.set("params", params.display());
                plan.set("iterations", PAIRS / 2).set("pairs", 2)
            }
            _ => plan.puppet("B", "--seed 2 --delay-ms 2"),
        }
    }
    let mut random = u64::from(std::process::id());
    for kind in ["match", "sprt", "tournament", "ablate", "tune"] {
        let reference = Bench::new();
        let code = plan(&reference, kind).run().code;
        let bench = Bench::new();
        for _ in 0..4 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let running = plan(&bench, kind).start();
            std::thread::sleep(std::time::Duration::from_millis(random >> 55));
            running.signal(Signal::KILL);
            running.finish();
            bench.wait_until_quiet();
        }
        let finished = plan(&bench, kind).run();
        assert_eq!(finished.code, code, "{kind}, {random}: {finished:#?}");
        assert_eq!(bench.read("games.pgn"), reference.read("games.pgn"), "{kind}, {random}");
    }
}

#[test]
fn an_argument_that_is_not_utf_8_is_refused() {
    let bench = Bench::new();
    let args = ["match", "bundled", "bundled:material", "--pgn"].map(OsStr::new);
    let args = args.into_iter().chain([OsStr::from_bytes(b"games\xff.pgn")]);
    bench.arbiter(args).finish().expect_refusal(2, &["is not UTF-8"]);
}

#[test]
fn files_have_no_colours_and_name_lists_are_records() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 1).puppet("my engine", "").puppet("B other", "");
    plan.run().expect_code(0);
    bench.arbiter(["report", "--out", "report.txt"]).finish().expect_code(0);
    assert!(!bench.read("report.txt").contains('\u{1b}'));
    let list = bench.arbiter(["results", "list", "--format", "csv"]).finish().expect_code(0);
    assert!(list.stdout.contains(r#","my engine,B other","#), "{}", list.stdout);
}

#[test]
fn an_export_that_is_killed_leaves_nothing() {
    let bench = Bench::new();
    play_match(&bench);
    fs::create_dir(bench.path("out")).expect("a folder can be made");
    for delay in 0..8 {
        let running = bench.arbiter(["results", "export", "run", "--force", "--out", "out/x.gz"]);
        std::thread::sleep(std::time::Duration::from_millis(2 * delay));
        running.signal(Signal::KILL);
        running.finish();
    }
    let names = fs::read_dir(bench.path("out")).expect("it is there").flatten();
    assert!(names.map(|entry| entry.file_name()).all(|name| name == "x.gz"));
}
