//! Tests of `arbiter init`: settings for repositories, which `arbiter ci` can use.

use crate::support::bench::{Bench, Finished};
use crate::support::programs;
use crate::support::project::Project;
use crate::support::snapshot::{expect_next, line_with, without_figures};

fn arbiter(bench: &Bench, project: &Project<'_>, command_line: &[&str]) -> Finished {
    let (top, cache) =
        (project.top.display().to_string(), bench.path("cache").display().to_string());
    bench.arbiter([command_line, &["--repo", &top, "--cache", &cache]].concat()).finish()
}

/// Returns the gates that passed for the last commit.
fn passed(bench: &Bench, project: &Project<'_>, only: &str) -> Vec<String> {
    let (config, results) = (project.top.join("arbiter.toml"), bench.path("results"));
    let [config, results] = [config, results].map(|path| path.display().to_string());
    // The path of a suite in a gate is relative to the current folder, which is the top of the
    // repository in a workflow.
    std::fs::copy(project.top.join("perft.epd"), bench.path("perft.epd")).expect("it was written");
    let command_line = ["ci", "--config", &config, "--results", &results, "--format", "json"];
    let done = arbiter(bench, project, &[&command_line[..], &["--only", only]].concat())
        .expect_code(0)
        .json();
    let gates = done["gates"].as_array().expect("a list").iter();
    let passed = gates.filter(|gate| gate["verdict"] == "passed");
    passed.map(|gate| gate["gate"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn settings_of_a_make_project_pass_its_gates_and_are_never_overwritten() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let engine = programs::arbiter().display();
    project.write("engine.sh", &format!("#!/bin/sh\nexec '{engine}' engine \"$@\"\n"));
    project.write("books/book.epd", "4k3/8/8/8/8/8/8/4K2R w K - 0 1\n");
    project.write("arbiter.toml", "pairs = 3\n");
    let kept = arbiter(&bench, &project, &["init", "--ci"]).expect_code(0);
    expect_next(&kept.stderr);
    let read = |name: &str| std::fs::read_to_string(project.top.join(name)).expect("it is there");
    assert_eq!(read("arbiter.toml"), "pairs = 3\n");
    expect_next(&kept.stdout);
    assert_eq!(read(".gitignore"), "/results/\n");
    std::fs::remove_file(project.top.join("arbiter.toml")).unwrap();

    let done = arbiter(&bench, &project, &["init", "--ci"]).expect_code(0);
    expect_next(&done.stdout);
    expect_next(&without_figures(&done.stderr));
    let text = read("arbiter.toml");
    expect_next(&text);
    project.commit("First");
    assert_eq!(passed(&bench, &project, "bench,perft"), ["build", "bench", "perft"]);
    let again = arbiter(&bench, &project, &["init", "--ci"]).expect_code(0);
    expect_next(&again.stderr);
    assert_eq!(read("arbiter.toml"), text);
}

#[test]
fn an_engine_of_rust_without_bench_has_no_gate_for_it() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let engine = programs::arbiter().display();
    project.write("Cargo.toml", "[package]\nname = \"mine\"\nedition = \"2024\"\n[workspace]\n");
    project.write(
        "src/main.rs",
        &format!(
            "use std::os::unix::process::CommandExt;\nfn main() {{\n    let args = std::env::args();\n    \
             assert_eq!(args.count(), 1);\n    \
             let error = std::process::Command::new({:?}).arg(\"engine\").exec();\n    \
             panic!(\"{{error}}\");\n}}\n",
            engine.to_string()
        ),
    );
    let done = arbiter(&bench, &project, &["init"]).expect_code(0);
    expect_next(&without_figures(&done.stderr));
    expect_next(&done.stdout);
    let text = std::fs::read_to_string(project.top.join("arbiter.toml")).expect("it is there");
    expect_next(&text);
    assert!(!project.top.join(".github").exists());
    project.commit("First");
    project.write("Cargo.toml", &format!("# The same\n{}", bench.read("project/Cargo.toml")));
    project.commit("Second");
    // The gates are those that `init` wrote, with shorter games.
    let quick = text.replace("tc=4+0.04", "nodes=1 --pairs 1");
    std::fs::write(project.top.join("arbiter.toml"), quick).expect("it can be written");
    let all = "check,perft,non-regression";
    assert_eq!(passed(&bench, &project, all), ["build", "check", "perft"]);
}

#[test]
fn settings_that_an_engine_would_not_pass_are_left_out_and_broken_ones_are_named() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let engine = programs::arbiter().display();
    let script = format!("#!/bin/sh\n'{engine}' engine | sed -u 's/^bestmove .*/bestmove a1a1/'\n");
    project.write("engine.sh", &script);
    let done = arbiter(&bench, &project, &["init", "--no-bench"]).expect_code(0);
    // The list of failed checks depends on timing.
    let failure = line_with(&done.stderr, "bestmove-legal").split(": ").next();
    expect_next(failure.expect("a first part"));
    let path = project.top.join("arbiter.toml");
    let text = std::fs::read_to_string(&path).expect("it was written");
    expect_next(&text);

    let init = || arbiter(&bench, &project, &["init"]);
    std::fs::write(&path, "pears = 3\n").expect("it can be written");
    init().expect_error(3);
    std::fs::remove_file(&path).expect("it is there");
    std::os::unix::fs::symlink("nowhere.toml", &path).expect("a link can be made");
    init().expect_error(3);
    std::fs::remove_file(&path).expect("it is there");
    std::fs::create_dir(&path).expect("a folder can be made");
    init().expect_error(3);
    project.run(&["match", "HEAD", "HEAD"]).expect_error(21);
}

#[test]
fn an_engine_of_go_is_built() {
    if programs::installed("go").is_none() {
        eprintln!("skipped: go is not installed");
        return;
    }
    let bench = Bench::new();
    let project = Project::new(&bench);
    let engine = programs::arbiter().display();
    project.write("go.mod", "module mine\n");
    project.write(
        "main.go",
        &format!(
            "package main\nimport (\"os\"; \"syscall\")\nfunc main() {{\n    \
             args := append([]string{{\"arbiter\", \"engine\"}}, os.Args[1:]...)\n    \
             panic(syscall.Exec(\"{engine}\", args, os.Environ()))\n}}\n"
        ),
    );
    arbiter(&bench, &project, &["init"]).expect_code(0);
    project.commit("First");
    assert_eq!(passed(&bench, &project, "bench,perft"), ["build", "bench", "perft"]);
}

#[test]
fn projects_that_cannot_be_built_get_no_settings() {
    let bench = Bench::new();
    bench.arbiter(["init"]).finish().expect_error(20);
    let project = Project::new(&bench);
    project.write("Makefile", "engine:\n\tfalse\n");
    arbiter(&bench, &project, &["init", "--ci"]).expect_error(23);
    std::fs::remove_file(project.top.join("Makefile")).unwrap();
    project.write("README.md", "Nothing to build.\n");
    arbiter(&bench, &project, &["init", "--ci"]).expect_error(23);
    assert!(!project.top.join("arbiter.toml").exists() && !project.top.join(".github").exists());
}

/// Script that stores the comments of a pull request in a folder, one file each, like the API of
/// GitHub.
const GH: &str = r#"#!/bin/sh
[ "$1" = api ] || exit 2
case "$*" in
*"-X PATCH"*) cp comment.md "comments/${4##*/}" ;;
*body=@comment.md) [ "$2" = repos/o/r/issues/7/comments ] && cp comment.md "comments/$(ls comments | wc -l)" ;;
*startswith*) cd comments && grep -l -x '<!-- arbiter -->' * || true ;;
*) exit 2 ;;
esac
"#;

#[test]
fn the_workflow_keeps_one_comment_up_to_date() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.write("arbiter.toml", "pairs = 3\n");
    arbiter(&bench, &project, &["init", "--ci"]).expect_code(0);
    let workflow = std::fs::read_to_string(project.top.join(".github/workflows/arbiter.yml"));
    let workflow = workflow.expect("it was written");
    let step = workflow.split("- name: Summary").nth(1).expect("there is such a step");
    let script = step.split("run: |\n").nth(1).and_then(|rest| rest.split("      - name").next());
    bench.write("step.sh", script.expect("it has a script"));
    for folder in ["bin", "comments"] {
        std::fs::create_dir(bench.path(folder)).expect("a folder can be made");
    }
    bench.write("bin/gh", GH);
    bench.write("comments/0", "somebody else's\n");
    let comment = |summary: &str| {
        bench.write("summary.md", summary);
        let run = std::process::Command::new("bash")
            .args(["-c", "chmod +x bin/gh; PATH=$PWD/bin:$PATH bash -e step.sh"])
            .current_dir(bench.path(""))
            .envs([("GITHUB_STEP_SUMMARY", "job.md"), ("PULL_REQUEST", "7")])
            .envs([("GITHUB_REPOSITORY", "o/r"), ("GITHUB_RUN_ID", "5")])
            .env("GITHUB_SERVER_URL", "https://g.example")
            .status();
        assert!(run.is_ok_and(|status| status.success()), "{summary}");
        let first_comment = bench.read("comments/1");
        let link = "https://g.example/o/r/actions/runs/5";
        assert!(first_comment.contains(summary) && first_comment.contains(link), "{first_comment}");
    };
    comment("# first");
    comment("# second");
    assert_eq!(bench.read("comments/0"), "somebody else's\n");
    assert!(!bench.path("comments/2").exists() && !bench.read("comments/1").contains("first"));
    assert!(bench.read("job.md").contains("# first") && bench.read("job.md").contains("# second"));
}

#[test]
fn files_of_init_do_not_change_the_build() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let engine = programs::arbiter().display();
    project.write("engine.sh", &format!("#!/bin/sh\nexec '{engine}' engine \"$@\"\n"));
    project.commit("First");
    arbiter(&bench, &project, &["init", "--no-bench", "--ci"]).expect_code(0);
    let pgn = project.top.join("games.pgn").display().to_string();
    let played = |what: &str| {
        let command_line = ["match", ".", "bundled:material", "--no-bench", "--each", "nodes=1"];
        let command_line = [&command_line[..], &["--pairs", "1", "--pgn", &pgn]].concat();
        let stderr = arbiter(&bench, &project, &command_line).expect_code(0).stderr;
        let lines = stderr.lines().filter(|line| line.contains("buil") || line.contains("dirty"));
        let lines: Vec<&str> = lines.collect();
        expect_next(&format!("{what}\n{}", lines.join("\n")));
    };
    played("as init left it");
    played("with games beside it");
    project.git(&["add", "arbiter.toml", "perft.epd", ".gitignore", ".github"]);
    played("with its files added to the index");
    let made = "[build]\ncommand = \"cp engine.sh made && chmod +x made\"\nbinary = \"made\"\n";
    project.write("arbiter.toml", made);
    played("by another command");
    project.write("arbiter.toml", "");
    project.write("perft.epd", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D1 5\n");
    played("with a suite of its own");
}
