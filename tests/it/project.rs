//! Tests that settings and results are found from every folder of a repository, and only there.

use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::support::bench::{Bench, Finished};
use crate::support::programs;
use crate::support::project::Project;
use crate::support::snapshot::{expect_next, line_with};

/// ID of a user who does not run the tests.
const OTHER: u32 = 65534;

/// Settings that differ from all defaults.
const SETTINGS: &str = "openings = \"books/one.epd\"\npairs = 1\nseed = 7\n[each]\nnodes = 1\n";

const MATCH: [&str; 3] = ["match", "bundled:material", "bundled:blunder"];

/// Runs the harness in a folder.
fn at(bench: &Bench, folder: &Path, args: &[&str]) -> Finished {
    let arbiter = programs::arbiter().display().to_string();
    let folder = folder.display().to_string();
    let shell = ["-c", "cd \"$0\" && exec \"$@\"", &folder, &arbiter];
    bench.start(Path::new("/bin/sh"), [&shell, args].concat()).finish()
}

/// Returns a repository with settings at its top, and a nested folder in it.
fn project(bench: &Bench) -> (Project<'_>, PathBuf) {
    let project = Project::new(bench);
    project.write("arbiter.toml", SETTINGS);
    project.write("books/one.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n");
    project.write("src/deep/file", "");
    let deep = project.top.join("src/deep");
    (project, deep)
}

/// Returns the first lines of a match's messages.
fn first_lines(done: &Finished) -> String {
    done.stderr.lines().take(3).map(|line| format!("{line}\n")).collect()
}

#[test]
fn settings_and_results_are_found_from_every_folder_of_a_repository() {
    let bench = Bench::new();
    let (project, deep) = project(&bench);
    let done = at(&bench, &deep, &[&MATCH[..], &["--name", "run"]].concat()).expect_code(0);
    expect_next(&done.stderr);
    assert!(project.top.join("results/arbiter.db").is_file());
    let puppet = programs::puppet().display();
    let line = format!(
        "compat fastchess -engine cmd={puppet} name=A args=--seed=1 -engine cmd={puppet} name=B \
         args=--seed=2 -each tc=1+0.1 -rounds 1 -games 2 -maxmoves 4"
    );
    at(&bench, &deep, &line.split_whitespace().collect::<Vec<_>>()).expect_code(0);
    assert!(!deep.join("results").exists());
    // A folder with this name but without a store does not belong to Arbiter.
    std::fs::create_dir(deep.join("results")).unwrap();
    for args in [
        &["results", "show", "run"][..],
        &["report", "run", "--format", "text"],
        &["samples", "--run", "run", "--out", "samples"],
        &["replay", "run"],
        &["match", "--resume", "run"],
    ] {
        let done = at(&bench, &deep, args);
        assert!([0, 3].contains(&done.code.unwrap_or(-1)), "{args:?}: {}", done.stderr);
        assert!(!done.stderr.contains("no results"), "{args:?}: {}", done.stderr);
    }
    assert!(!deep.join("results/arbiter.db").exists());
    symlink(&deep, bench.path("link")).unwrap();
    let linked = at(&bench, &bench.path("link"), &MATCH).expect_code(0);
    expect_next(&first_lines(&linked));
    // The nearest settings file is used, unless another file is named.
    project.write("src/arbiter.toml", "pairs = 2\n[each]\nnodes = 1\n");
    expect_next(&first_lines(&at(&bench, &deep, &MATCH).expect_code(0)));
    let named = ["--config", "../../arbiter.toml"];
    expect_next(&first_lines(&at(&bench, &deep, &[&MATCH[..], &named].concat()).expect_code(0)));
}

#[test]
fn the_folder_of_results_that_settings_name_is_that_of_all_commands() {
    let bench = Bench::new();
    let (project, deep) = project(&bench);
    project.write("arbiter.toml", &format!("results = \"runs\"\n{SETTINGS}"));
    let done = at(&bench, &deep, &[&MATCH[..], &["--name", "run"]].concat()).expect_code(0);
    expect_next(line_with(&done.stderr, "results in"));
    assert!(project.top.join("runs/arbiter.db").is_file());
    at(&bench, &deep, &["results", "show", "run"]).expect_code(0);
    at(&bench, &project.top, &["report", "run"]).expect_code(0);
}

#[test]
fn nothing_is_taken_from_beyond_the_top_of_a_repository() {
    let bench = Bench::new();
    let (project, _) = project(&bench);
    project.commit("First");
    project.write("arbiter.toml", "this is no setting\n");
    project.git(&["worktree", "add", "--quiet", "tree", "HEAD"]);
    std::fs::remove_file(project.top.join("tree/arbiter.toml")).unwrap();
    // A submodule has such a `.git` file.
    project.write("sub/.git", "gitdir: ../.git/modules/sub\n");
    project.write("sub/src/file", "");
    bench.write("arbiter.toml", "this is no setting\n");
    std::fs::create_dir_all(bench.path("plain/src")).unwrap();
    for folder in ["project/tree/books", "project/sub/src", "plain/src"] {
        let args = [&MATCH[..], &["--each", "nodes=1", "--pairs", "1"]].concat();
        let done = at(&bench, &bench.path(folder), &args).expect_code(0);
        expect_next(line_with(&done.stderr, "results in"));
        assert!(bench.path(folder).join("results/arbiter.db").is_file(), "{folder}");
    }
    let broken = at(&bench, &project.top.join("src"), &MATCH);
    expect_next(&broken.stderr);
}

#[test]
fn a_home_that_is_a_repository_is_one() {
    let bench = Bench::new();
    bench.start(Path::new("git"), ["init", "--quiet"]).finish().expect_code(0);
    std::fs::create_dir_all(bench.path("games")).unwrap();
    let args = [&MATCH[..], &["--each", "nodes=1", "--pairs", "1"]].concat();
    let done = at(&bench, &bench.path("games"), &args).expect_code(0);
    expect_next(line_with(&done.stderr, "results in"));
    bench.write("arbiter.toml", "pairs = 1\n[each]\nnodes = 1\n");
    expect_next(&first_lines(&at(&bench, &bench.path("games"), &MATCH).expect_code(0)));
}

#[test]
fn settings_and_results_of_others_are_refused_unless_they_are_named() {
    let bench = Bench::new();
    let (project, deep) = project(&bench);
    if project.top.metadata().unwrap().uid() != 0 {
        eprintln!("skipped: only root can give files away");
        return;
    }
    let settings = project.top.join("arbiter.toml");
    at(&bench, &deep, &[&MATCH[..], &["--name", "run"]].concat()).expect_code(0);
    for owned_path in
        [&settings, &project.top, &project.top.join(".git"), &project.top.join("results")]
    {
        chown(owned_path, Some(OTHER), None).unwrap();
        expect_next(&at(&bench, &deep, &MATCH).stderr);
        expect_next(&at(&bench, &project.top, &["results", "show", "run"]).stderr);
        chown(owned_path, Some(0), None).unwrap();
    }
    chown(&settings, Some(OTHER), None).unwrap();
    let named = ["--config", "../../arbiter.toml", "--results", "../../results"];
    at(&bench, &deep, &[&MATCH[..], &named].concat()).expect_code(0);
}

#[test]
fn gates_and_their_files_are_found_from_below() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let engine = programs::arbiter().display();
    project.write("engine.sh", &format!("#!/bin/sh\nexec '{engine}' engine \"$@\"\n"));
    project.write("src/file", "");
    let (src, cache) = (project.top.join("src"), bench.path("cache").display().to_string());
    let done = at(&bench, &src, &["init", "--no-bench", "--cache", &cache]).expect_code(0);
    expect_next(&done.stdout);
    project.commit("First");
    let args = ["ci", "--only", "perft", "--cache", &cache];
    let done = at(&bench, &src, &args).expect_code(0);
    expect_next(line_with(&done.stderr, "settings of"));
    assert!(project.top.join("results/ci-perft.log").is_file());
    // The result of an earlier gate counts only for the same files.
    project.write("perft.epd", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 ;D1 7\n");
    assert_ne!(at(&bench, &src, &args).code, Some(0));
}
