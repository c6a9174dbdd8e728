//! Tests of removing runs, and of moving runs from one store to another.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;

use arbiter_run::RunEnd;
use arbiter_store::{FILE_NAME, Store};
use flate2::read::GzDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::snapshots::rich;
use crate::support::bench::{Bench, Finished};
use crate::support::plan::Plan;
use crate::support::snapshot::{expect_next, without_figures};

fn results(bench: &Bench, folder: &str, args: &[&str]) -> Finished {
    let folder = bench.path(folder).display().to_string();
    bench.arbiter([&["results", "--results", &folder], args].concat()).finish()
}

#[test]
fn an_imported_run_has_the_report_of_the_original() {
    let bench = Bench::new();
    rich::fill(&bench.path("here"));
    // An engine name in `single` is invalid for imports.
    for run in ["rich", "tournament", "tuning", "ablation"] {
        let file = bench.path(run).display().to_string();
        results(&bench, "here", &["export", run, "--out", &file]).expect_code(0);
        // The games of the run have results that do not follow from their moves.
        let other_store = Store::create(&bench.path("there")).expect("a folder takes a store");
        let packed = std::fs::File::open(&file).expect("it is written");
        other_store
            .import_run(&mut GzDecoder::new(packed), None, &|_| Ok(()), &|_| Ok(()))
            .expect("it is sound");
        for form in ["html", "md", "json", "text", "csv"] {
            let report = |folder: &str| {
                let folder = bench.path(folder).display().to_string();
                let args = ["report", run, "--format", form, "--results", &folder];
                bench.arbiter(args).finish().expect_code(0).stdout
            };
            assert_eq!(report("here"), report("there"), "{run}, {form}");
        }
    }
    // Outcomes of gates are imported to be shown, but `arbiter ci` does not reuse them.
    let keys = rusqlite::Connection::open(bench.path("there/arbiter.db")).expect("a store");
    let select = "SELECT group_concat(DISTINCT substr(key, 1, 9)) FROM gates";
    let key: String = keys.query_row(select, [], |row| row.get(0)).expect("there are gates");
    assert_eq!(key, "imported ");
}

#[test]
fn every_reader_names_a_damaged_game() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 2).puppet("A", "--seed 1").puppet("B", "--seed 2");
    plan.set("pgn", "games.pgn").expect_output(0);
    expect_next(&results(&bench, "results", &["verify"]).expect_code(0).stdout);
    let store = rusqlite::Connection::open(bench.path("results/arbiter.db")).expect("a store");
    let damage =
        "UPDATE games SET moves = replace(moves, '\"d\":1', '\"d\":7') WHERE pair = 1 AND half = 1";
    assert_eq!(store.execute(damage, []), Ok(1));
    for run in [&["verify"][..], &["verify", "run"], &["verify", "latest"]] {
        let found = results(&bench, "results", run).expect_code(7);
        expect_next(&(found.stdout + &found.stderr));
    }
    results(&bench, "results", &["verify", "ruin"]).expect_error(3);
    let folder = bench.path("results").display().to_string();
    for command in [
        &["report", "run", "--format", "md"][..],
        &["report", "run", "--out", "run.html"],
        &["results", "export", "run", "--out", "run.gz"],
        &["match", "--resume", "run"],
        &["match", "--resume", "run", "--pgn", "other.pgn"],
    ] {
        let args = [command, &["--results", &folder]].concat();
        expect_next(&bench.arbiter(args).finish().expect_code(7).stderr);
    }
    assert!(!bench.path("run.gz").exists() && !bench.path("run.html").exists());
    results(&bench, "results", &["rm", "run", "--yes"]).expect_code(0);
    expect_next(&results(&bench, "results", &["verify"]).expect_code(0).stdout);
}

#[test]
fn games_that_were_played_are_replayed_from_the_other_store() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 2).puppet("A", "--seed 1").puppet("B", "--seed 2");
    plan.set("transcripts", "all").expect_output(0);
    let file = bench.path("run.jsonl.gz").display().to_string();
    let first = results(&bench, "results", &["export", "run", "--out", &file]).expect_code(0);
    expect_next(&without_figures(&first.stdout));
    let export = |flags: &[&str]| {
        results(&bench, "results", &[&["export", "run", "--out", &file], flags].concat())
    };
    export(&[]).expect_error(3);
    export(&["--force"]).expect_code(0);
    let copy = results(&bench, "there", &["import", &file, "--name", "copy"]).expect_code(0);
    assert_eq!(copy.stderr, "", "there is nothing to resume");
    let heard = |folder: &str, run: &str| {
        let folder = bench.path(folder).display().to_string();
        bench.arbiter(["replay", run, "2.1", "--results", &folder]).finish().expect_code(0).stdout
    };
    assert_eq!(heard("there", "copy").replace("copy", "run"), heard("results", "run"));
    assert_eq!(heard("results", "latest"), heard("results", "run"));
    let newest = results(&bench, "results", &["import", &file, "--name", "latest"]);
    newest.expect_error(3);
    let again = results(&bench, "there", &["import", &file, "--name", "copy"]);
    again.expect_error(3);
    std::fs::write(&file, "no run").expect("it is written");
    results(&bench, "there", &["import", &file]).expect_error(3);
    results(&bench, "there", &["import", "/nowhere"]).expect_error(3);
}

#[test]
fn a_file_may_be_packed_or_not_and_one_that_is_edited_leaves_nothing() {
    let bench = Bench::new();
    Plan::new(&bench, "match", 1).puppet("A", "--seed 1").puppet("B", "--seed 2").expect_output(0);
    let file = bench.path("run.gz").display().to_string();
    results(&bench, "results", &["export", "run", "--out", &file]).expect_code(0);
    let packed = std::fs::read(&file).expect("it is written");
    let mut text = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("it can be unpacked");
    let import = |folder: &str, bytes: &[u8]| {
        std::fs::write(&file, bytes).expect("it is written");
        results(&bench, folder, &["import", &file])
    };
    import("plain", text.as_bytes()).expect_code(0);
    import("zst", &compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)).expect_code(0);
    let first = text.find("\\\"m\\\":\\\"").expect("a game has moves") + 8;
    let illegal = format!("{}a1a1{}", &text[..first], &text[first + 4..]);
    let won = text.replacen("\"result\":\"1/2-1/2\"", "\"result\":\"1-0\"", 1);
    let lost = won.replacen("\"result\":\"0-1\"", "\"result\":\"1-0\"", 1);
    for bytes in [illegal.as_bytes(), lost.as_bytes(), &packed[..packed.len() / 2]] {
        import("new/results", bytes).expect_error(3);
        assert!(!bench.path("new").exists());
    }
    assert!(bench.path("plain").join(FILE_NAME).exists());
}

#[test]
fn an_ending_that_does_not_follow_from_the_pairs_is_rejected() {
    let bench = Bench::new();
    Plan::new(&bench, "match", 1).puppet("A", "--seed 1").puppet("B", "--seed 2").expect_output(0);
    let file = bench.path("run.gz").display().to_string();
    let store = Store::open(&bench.path("results")).expect("a store");
    for (ending, codes) in [(RunEnd::Interrupted, [0, 0]), (RunEnd::AcceptedH1, [7, 3])] {
        store.set_ending("run", Some(ending)).expect("it is noted");
        results(&bench, "results", &["verify"]).expect_code(codes[0]);
        results(&bench, "results", &["export", "run", "--out", &file, "--force"]).expect_code(0);
        let name = format!("copy-{}", codes[0]);
        let imported = results(&bench, "there", &["import", &file, "--name", &name]);
        let imported = imported.expect_code(codes[1]);
        let why = "the stored ending does not follow from the stored pairs";
        assert_eq!(imported.stderr.contains(why), codes[1] == 3, "{}", imported.stderr);
    }
    let shown = results(&bench, "results", &["show", "run"]).expect_code(0).stdout;
    assert!(!shown.contains("H1"), "{shown}");
}

#[test]
fn an_import_removes_only_leftovers_of_killed_imports() {
    let bench = Bench::new();
    Plan::new(&bench, "match", 1).puppet("A", "--seed 1").puppet("B", "--seed 2").expect_output(0);
    let file = bench.path("run.gz").display().to_string();
    results(&bench, "results", &["export", "run", "--out", &file]).expect_code(0);
    let (inside, beside) = ("there/.arbiter-import-a", ".arbiter-import-b");
    for folder in [inside, beside, ".arbiter-import-living", "other"] {
        std::fs::create_dir_all(bench.path(folder)).expect("a folder can be made");
        std::fs::write(bench.path(folder).join(FILE_NAME), "half a store").expect("it is written");
        symlink(bench.path("other"), bench.path(folder).join("link")).expect("a link can be made");
    }
    symlink("other", bench.path(".arbiter-import-link")).expect("a link can be made");
    let living = File::open(bench.path(".arbiter-import-living")).expect("it is there");
    living.lock().expect("nobody else has it");
    results(&bench, "there", &["import", &file]).expect_code(0);
    for (name, is_there) in [
        (inside, false),
        (beside, false),
        (".arbiter-import-living", true),
        (".arbiter-import-link", true),
        ("other/arbiter.db", true),
    ] {
        assert_eq!(bench.path(name).exists(), is_there, "{name}");
    }
}

#[test]
fn runs_are_removed_but_not_while_they_are_played() {
    let bench = Bench::new();
    rich::fill(&bench.path("results"));
    let remaining_runs = || {
        let listed = results(&bench, "results", &["list", "--format", "csv"]).stdout;
        let names = listed.lines().skip(1).filter_map(|line| line.split(',').next());
        names.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let all = remaining_runs();
    results(&bench, "results", &["rm", "killed"]).expect_error(2);
    let unknown = results(&bench, "results", &["rm", "killed", "nobody", "--yes"]);
    unknown.expect_error(3);
    let lock = arbiter_store::RunLock::take(&bench.path("results"), "single").expect("it is free");
    let played = results(&bench, "results", &["rm", "killed", "single", "--yes"]);
    played.expect_error(3);
    assert_eq!(remaining_runs(), all);
    let dry = results(&bench, "results", &["prune", "--keep-days", "1"]).expect_code(0);
    expect_next(&dry.stdout);
    expect_next(&dry.stderr);
    assert_eq!(remaining_runs(), all);
    results(&bench, "results", &["rm", "killed", "--yes"]).expect_code(0);
    results(&bench, "results", &["prune", "--keep-days", "99999", "--yes"]).expect_code(0);
    assert_eq!(remaining_runs(), all.replace("killed ", ""));
    let wanted = ["prune", "--keep-days", "1", "--state", "ended", "--filter", "^t", "--yes"];
    results(&bench, "results", &wanted).expect_code(0);
    assert_eq!(remaining_runs(), "ablation single interrupted undecided rejected rich");
    drop(lock);
    results(&bench, "results", &["prune", "--keep-days", "1", "--yes"]).expect_code(0);
    assert_eq!(remaining_runs(), "");
    assert!(Path::new(&bench.path("results/arbiter.db")).exists());
}
