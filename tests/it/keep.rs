//! Runs that are removed, and those that go from one store to another.

use std::path::Path;

use crate::snapshots::rich;
use crate::support::bench::{Bench, Finished};
use crate::support::plan::Plan;

fn results(bench: &Bench, folder: &str, args: &[&str]) -> Finished {
    let folder = bench.path(folder).display().to_string();
    bench.arbiter([&["results", "--results", &folder], args].concat()).finish()
}

#[test]
fn the_report_of_an_imported_run_is_that_of_the_original() {
    let bench = Bench::new();
    rich::fill(&bench.path("here"));
    for run in ["rich", "tournament", "tuning", "ablation", "single"] {
        let file = bench.path(run).display().to_string();
        results(&bench, "here", &["export", run, "--out", &file]).expect_code(0);
        results(&bench, "there", &["import", &file]).expect_code(0);
        for form in ["html", "md", "json", "text", "csv"] {
            let report = |folder: &str| {
                let folder = bench.path(folder).display().to_string();
                let args = ["report", run, "--format", form, "--results", &folder];
                bench.arbiter(args).finish().expect_code(0).stdout
            };
            assert_eq!(report("here"), report("there"), "{run}, {form}");
        }
    }
    // Outcomes of gates come along to be shown, and spare no step of a pipeline.
    let keys = rusqlite::Connection::open(bench.path("there/arbiter.db")).expect("a store");
    let select = "SELECT group_concat(DISTINCT key) FROM gates";
    let key: String = keys.query_row(select, [], |row| row.get(0)).expect("there are gates");
    assert_eq!(key, "imported");
}

#[test]
fn games_that_were_played_are_replayed_from_the_other_store() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 2).puppet("A", "--seed 1").puppet("B", "--seed 2");
    plan.set("transcripts", "all").played(0);
    let file = bench.path("run.jsonl.gz").display().to_string();
    results(&bench, "results", &["export", "run", "--out", &file]).expect_code(0);
    results(&bench, "there", &["import", &file, "--name", "copy"]).expect_code(0);
    let said = |folder: &str, run: &str| {
        let folder = bench.path(folder).display().to_string();
        bench.arbiter(["replay", run, "2.1", "--results", &folder]).finish().expect_code(0).stdout
    };
    assert_eq!(said("there", "copy").replace("copy", "run"), said("results", "run"));
    let again = results(&bench, "there", &["import", &file, "--name", "copy"]);
    again.expect_refusal(3, &["copy", "exists"]);
    std::fs::write(&file, "no run").expect("it is written");
    results(&bench, "there", &["import", &file]).expect_refusal(3, &["run.jsonl.gz", "line 1"]);
    results(&bench, "there", &["import", "/nowhere"]).expect_refusal(3, &["/nowhere"]);
}

#[test]
fn runs_are_removed_but_not_while_they_are_played() {
    let bench = Bench::new();
    rich::fill(&bench.path("results"));
    let left = || {
        let listed = results(&bench, "results", &["list", "--format", "csv"]).stdout;
        let names = listed.lines().skip(1).filter_map(|line| line.split(',').next());
        names.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let all = left();
    results(&bench, "results", &["rm", "killed"]).expect_refusal(2, &["--yes"]);
    let unknown = results(&bench, "results", &["rm", "killed", "nobody", "--yes"]);
    unknown.expect_refusal(3, &["nobody"]);
    let lock = arbiter_store::RunLock::take(&bench.path("results"), "single").expect("it is free");
    let played = results(&bench, "results", &["rm", "killed", "single", "--yes"]);
    played.expect_refusal(3, &["single", "being played"]);
    assert_eq!(left(), all);
    let dry = results(&bench, "results", &["prune", "--keep-days", "1"]).expect_code(0);
    assert!(dry.stdout.contains("8 runs with") && dry.stdout.contains("--yes"), "{}", dry.stdout);
    assert!(dry.stderr.contains("'single' is being played"), "{}", dry.stderr);
    assert_eq!(left(), all);
    results(&bench, "results", &["rm", "killed", "--yes"]).expect_code(0);
    results(&bench, "results", &["prune", "--keep-days", "99999", "--yes"]).expect_code(0);
    assert_eq!(left(), all.replace("killed ", ""));
    let wanted = ["prune", "--keep-days", "1", "--state", "ended", "--filter", "^t", "--yes"];
    results(&bench, "results", &wanted).expect_code(0);
    assert_eq!(left(), "ablation single interrupted undecided rejected rich");
    drop(lock);
    results(&bench, "results", &["prune", "--keep-days", "1", "--yes"]).expect_code(0);
    assert_eq!(left(), "");
    assert!(Path::new(&bench.path("results/arbiter.db")).exists());
}
