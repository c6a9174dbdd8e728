//! Tests of revisions as engines: each is built only once, and unusable revisions are rejected.

use std::path::Path;

use rustix::process::Signal;

use crate::support::bench::Bench;
use crate::support::project::Project;
use crate::support::snapshot::{expect_next, line_with, without_figures};
use crate::support::{programs, wait_for};

/// Returns the path of a program without a bench.
fn puppet() -> String {
    programs::puppet().display().to_string()
}

#[test]
fn a_commit_plays_a_commit_and_nothing_is_built_twice() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let first = project.commit_with_bench(100, "First\n\nBench: 100");
    let second = project.commit_with_bench(200, "Second");
    let before = project.git(&["status", "--porcelain=v2", "--branch"]);
    let args = ["match", "--dev", "main", "--base", "HEAD~1", "--format", "json"];
    let cold = project.run(&[&args[..], &["--name", "cold"]].concat()).expect_code(0);
    expect_next(&cold.stderr);
    let json = cold.json();
    let builds = json["builds"].as_array().expect("both are builds");
    assert_eq!([&builds[0]["commit"], &builds[1]["commit"]], [&*second, &*first]);
    assert_eq!(builds[0]["bench_nodes"], 200);
    assert_eq!(json["engines"][0], format!("main@{}", &second[..9]));
    assert_eq!(json["games"], 2);

    let warm = project.run(&args).expect_code(0);
    expect_next(&warm.stderr);

    let results = bench.path("results").display().to_string();
    let again = ["match", "--resume", "cold", "--results", &results, "--format", "json"];
    assert_eq!(bench.arbiter(again).finish().expect_code(0).json()["games"], 2);
    // A program that is missing from the cache is built again.
    std::fs::remove_dir_all(bench.path(".cache")).expect("the cache is there");
    let resumed = bench.arbiter(again).finish().expect_code(0);
    expect_next(&resumed.stderr);
    assert_eq!(resumed.json()["games"], 2);
    let shown = ["results", "--results", &results, "show", "cold", "--format", "md"];
    let report = bench.arbiter(shown).finish().expect_code(0).stdout;
    let command = report.lines().find(|line| line.starts_with("arbiter match")).expect("a command");
    let mut repeat = shell_words::split(command).expect("it is a command");
    repeat.extend(["--results".to_owned(), results, "--format".to_owned(), "json".to_owned()]);
    let repeated = bench.arbiter(&repeat[1..]).finish().expect_code(0).json();
    assert_eq!(repeated["builds"][0]["commit"], *second);
    assert_eq!(repeated["engines"], json["engines"]);
    assert_eq!(project.git(&["status", "--porcelain=v2", "--branch"]), before);
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn the_working_tree_is_built_and_left_unchanged() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    project.engine("echo Bench: 300");
    project.write("new.txt", "untracked");
    let args = ["match", "--dev", ".", "--base", "HEAD", "--format", "json"];
    let dirty = project.run(&args).expect_code(0);
    expect_next(&dirty.stderr);
    let builds = &dirty.json()["builds"];
    assert_eq!((&builds[0]["dirty"], &builds[0]["bench_nodes"]), (&true.into(), &300.into()));
    assert_eq!(builds[1]["dirty"], false);
    assert_eq!(project.git(&["status", "--porcelain"]), " M engine.sh\n?? new.txt");
    assert!(!project.top.join("engine").exists(), "built elsewhere");
    let again = project.run(&args).expect_code(0);
    expect_next(&again.stderr);
    let beside = project.top.join("../beside").display().to_string();
    let elsewhere = project.run(&[&args[..], &["--cache", &beside]].concat()).expect_code(0);
    expect_next(&elsewhere.stderr);

    project.commit("Second");
    let clean = project.run(&args).expect_code(0);
    expect_next(&clean.stderr);
    // The results folder is not part of the working tree, whether git ignores it or not.
    let top = project.top.display().to_string();
    let inside = format!("{top}/results");
    for ignored in ["none\n", "/results/\n"] {
        project.write(".gitignore", ignored);
        project.git(&["add", ".gitignore"]);
        project.git(&["commit", "--quiet", "--message", "Ignore"]);
        for _ in 0..2 {
            let flags = ["--repo", &top, "--results", &inside, "--each", "nodes=1", "--pairs", "1"];
            let kept = bench.arbiter([&args[..], &flags].concat()).finish().expect_code(0);
            expect_next(&kept.stderr);
        }
    }
    let args = ["match", "--dev", "main", "--base", "main", "--format", "json"];
    let twice = project.run(&args).expect_code(0);
    let name = format!("main@{}", &project.git(&["rev-parse", "HEAD"])[..9]);
    let names = ["dev", "base"].map(|side| format!("{name} {side}"));
    assert_eq!(twice.json()["engines"], serde_json::json!(names));
    project.write("new.txt", "changed");
    project.commit("Third");
    let third = project.run(&["match", "main", "HEAD~1"]).expect_code(0);
    let dry = project.run(&["match", "main", "HEAD~1", "--dry-run"]).expect_code(0);
    [&twice, &third, &dry].iter().for_each(|run| expect_next(&run.stderr));
    project.run(&["match", "mian", "HEAD"]).expect_error(21);
}

#[test]
fn uncommitted_changes_are_reported() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    for nodes in [100, 200, 300] {
        project.commit_with_bench(nodes, "Next");
    }
    let head = project.git(&["rev-parse", "HEAD"]);
    let output = || {
        let mut output = String::new();
        for args in [
            ["match", "HEAD", "HEAD~1"],
            ["sprt", "HEAD~1", "main"],
            ["match", "HEAD~1", "HEAD~2"],
            ["match", ".", "HEAD"],
            ["match", &head, "HEAD~1"],
        ] {
            let done = project.run(&[&args[..], &["--dry-run"]].concat()).expect_code(0);
            let lines = done.stderr.lines().filter(|line| line.contains("the working tree has"));
            output += &format!("{} {} {}\n", args[0], args[1], args[2]);
            output.extend(lines.map(|line| format!("    {line}\n")));
        }
        output
    };
    expect_next(&output());
    project.write("untracked.c", "");
    expect_next(&output());
    let done = project.run(&["speed", "HEAD", "HEAD~1", "--rounds", "8"]).expect_code(0);
    expect_next(line_with(&done.stderr, "the working tree has"));
}

#[test]
fn other_errors_are_reported_before_building() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    project.commit_with_bench(200, "Second");
    let results = bench.path("results").display().to_string();
    project.run(&["match", "bundled", "bundled:material", "--name", "taken"]).expect_code(0);
    let store = bench.path("results/arbiter.db").display().to_string();
    let two = |command| [command, "HEAD", "HEAD~1"];
    for args in [
        &["sprt", "HEAD"][..],
        &["sprt", "--dev", "HEAD"],
        &["match", "."],
        &["match", "HEAD", "rev=nothing"],
        &["match", "HEAD", "./nothing"],
        &[&two("sprt")[..], &["--elo0", "5", "--elo1", "1"]].concat(),
        &[&two("sprt")[..], &["--alpha", "2"]].concat(),
        &[&two("match")[..], &["--openings", "none.epd"]].concat(),
        &[&two("match")[..], &["--openings", "start=99999"]].concat(),
        &[&two("match")[..], &["--name", "../x"]].concat(),
        &[&two("match")[..], &["--name", "taken"]].concat(),
        &[&two("match")[..], &["--pgn", &store]].concat(),
        &[&two("match")[..], &["--syzygy", "nowhere"]].concat(),
        &[&two("match")[..], &["--fault-limit", "7"]].concat(),
        &["tune", "HEAD", "HEAD~1", "--spins", "*"],
        &["tune", "HEAD", "--spins", "*", "--results", &results, "--name", "taken"],
        &["ablate", "HEAD", "--features", "a,a"],
        &["perft", "HEAD", "--suite", "none.epd"],
        &["epd", "HEAD", "--suite", "none.epd"],
        &["speed", "HEAD", "rev=nothing"],
    ] {
        let done = project.run(args);
        expect_next(&format!("{}\n{}", args.join(" "), done.stderr));
        assert_ne!(done.code, Some(0), "{args:?}");
        let builds = std::fs::read_dir(bench.path(".cache/arbiter/builds")).into_iter().flatten();
        assert_eq!(builds.count(), 0, "{args:?}: {}", done.stderr);
    }
}

#[test]
fn head_is_tested_if_only_the_base_is_given() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    project.commit_with_bench(200, "Second");
    let done = project.run(&["match", "--base", "HEAD~1"]).expect_code(0);
    expect_next(line_with(&done.stderr, "run match"));
    let done = project.run(&["speed", "--base", "HEAD~1", "--rounds", "8"]).expect_code(0);
    expect_next(&without_figures(done.stdout.lines().next().unwrap_or_default()));
    project.run(&["match", "./x", "--base", "HEAD"]).expect_code(2);
    let config = bench.write("arbiter.toml", "[[ci.gate]]\nkind = 'bench'\n");
    let config = config.display().to_string();
    let done = project.run(&["ci", "--base", "main", "--config", &config]).expect_code(0);
    expect_next(line_with(&done.stderr, "bench: passed"));
}

#[test]
fn a_side_can_be_a_program_or_the_bundled_engine() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    let played = project.run(&["match", "--dev", "HEAD", "--base", &puppet()]).expect_code(0);
    expect_next(&played.stderr);
    let args = ["match", "--dev", "HEAD", "--base", "bundled", "--no-bench"];
    project.run(&args).expect_code(0);
    let spec = format!("name=built,rev=HEAD,repo={}", project.top.display());
    let engines = ["--engine", &spec, "--engine", "cmd=bundled"];
    let args = [&["match", "--no-bench", "--format", "json"][..], &engines].concat();
    let played = project.run(&args).expect_code(0).json();
    assert_eq!(played["engines"][0], "built");
    assert!(played["builds"][1].is_null());
}

#[test]
fn suites_accept_revisions() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    let suite = bench.write("suite.epd", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 ;D1 5 ;D2 25\n");
    let suite = suite.display().to_string();
    let counted = project.run(&["perft", "--dev", "HEAD", "--suite", &suite]).expect_code(0);
    expect_next(&counted.stdout);
    let suite = bench.write("bm.epd", "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id \"M.1\";\n");
    let suite = suite.display().to_string();
    let args = [
        "epd",
        "--dev",
        "HEAD",
        "--base",
        "bundled",
        "--suite",
        &suite,
        "--depth",
        "3",
        "--no-bench",
    ];
    let found = project.run(&args).expect_code(0);
    expect_next(&found.stdout);
}

#[test]
fn concurrent_runs_build_a_revision_once() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let log = bench.path("builds.log");
    let command = format!("echo x >> '{}'; sleep 0.5; cp engine.sh engine", log.display());
    project.write(
        "arbiter.toml",
        &format!("[build]\ncommand = \"{command}; chmod +x engine\"\nbinary = \"engine\"\n"),
    );
    project.commit_with_bench(100, "First");
    let args = ["match", "--dev", "HEAD", "--base", "bundled", "--no-bench"];
    for run in [project.start(&args), project.start(&args)] {
        run.finish().expect_code(0);
    }
    assert_eq!(bench.read("builds.log"), "x\n");
}

#[test]
fn an_interrupted_build_leaves_no_process() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let pid = bench.path("pid");
    let command = format!("sleep 1000 & echo $! > '{}'; wait", pid.display());
    project.write("arbiter.toml", &format!("[build]\ncommand = \"{command}\"\n"));
    project.commit_with_bench(100, "First");
    let args = ["match", "--dev", "HEAD", "--base", &puppet()];
    let running = project.start(&args);
    let stat = || {
        let pid = std::fs::read_to_string(&pid).ok().filter(|pid| pid.ends_with('\n'))?;
        std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).ok()
    };
    wait_for("the build runs", || stat().map(drop));
    running.signal(Signal::INT);
    running.finish().expect_error(130);
    wait_for("the build is gone", || stat().is_none_or(|s| s.contains(") Z")).then_some(()));
}

#[test]
fn build_failures_show_the_log() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "Works\n\nBench: 100");
    let refused = |rev: &str, code: i32| {
        project.run(&["match", "--dev", rev, "--base", &puppet()]).expect_error(code);
    };
    refused("no-such-branch", 21);
    let recipe = |text: &str| {
        project.write("arbiter.toml", &format!("[build]\n{text}\n"));
        project.commit(text);
    };
    recipe("command = \"echo fine; echo $PWD/x.c:1: error: bad; exit 3\"");
    refused("HEAD", 23);
    recipe("command = \"sleep 1000\"\ntimeout = 0.2");
    refused("HEAD", 24);
    recipe("command = \"true\"");
    refused("HEAD", 25);
    recipe("command = \"true\"\nbinary = \"src/engine\"");
    refused("HEAD", 25);
    recipe("comand = \"true\"");
    refused("HEAD", 3);
    project.git(&["rm", "--quiet", "arbiter.toml"]);
    project.engine("echo nothing");
    project.commit("No bench, but a promise\n\nBench: 7");
    refused("HEAD", 26);
    project.commit_with_bench(7, "Has a bench");
    project.engine("exit 9");
    project.commit("Fails");
    refused("HEAD", 26);
    project.engine("echo nothing");
    project.commit("No bench");
    let lost = project.run(&["match", "HEAD", "HEAD~2"]);
    lost.expect_error(26);
    // A program that has never had a bench plays without one.
    let played = project.run(&["match", "HEAD", &puppet()]).expect_code(0);
    expect_next(&played.stderr);
    let scaled = ["match", "HEAD", &puppet(), "--scale", "1000"];
    project.run(&scaled).expect_error(26);
    project.commit_with_bench(101, "Lies\n\nBench: 100");
    refused("HEAD", 28);
    project.engine("echo $$ nodes 7 nps");
    project.commit("Unsteady");
    let args = ["match", "--dev", "HEAD", "--base", &puppet(), "--concurrency", "2"];
    let unsteady = project.run(&args).expect_code(27);
    expect_next(&without_figures(line_with(&unsteady.stderr, "error: ")));
    project.git(&["rm", "--quiet", "Makefile"]);
    project.commit("No build");
    refused("HEAD", 23);
}

#[test]
fn shallow_clones_and_missing_repositories_are_distinguished() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    project.commit_with_bench(200, "Second");
    let clone = bench.path("clone").display().to_string();
    let from = format!("file://{}", project.top.display());
    project.git(&["clone", "--quiet", "--depth", "1", &from, &clone]);
    let args = ["match", "--base", "HEAD~1", "--dev", "HEAD", "--repo", &clone];
    bench.arbiter(args).finish().expect_error(22);
    let results = bench.path("results").display().to_string();
    let args = ["match", "--base", &puppet(), "--dev", "HEAD", "--repo", &clone];
    let short = ["--each", "nodes=1", "--pairs", "1", "--results", &results];
    bench.arbiter([&args[..], &short].concat()).finish().expect_code(0);
    let nowhere = bench.path("nowhere");
    std::fs::create_dir(&nowhere).unwrap();
    let nowhere = nowhere.display().to_string();
    let args = ["match", "--base", "HEAD", "--dev", "main", "--repo", &nowhere];
    bench.arbiter(args).finish().expect_error(20);
    // The search path contains no git here.
    let arbiter = programs::arbiter().display().to_string();
    let script = format!("PATH={nowhere} exec '{arbiter}' match --base HEAD --dev main");
    let running = bench.start(Path::new("/bin/sh"), ["-c", &script]);
    running.finish().expect_error(20);
}

#[test]
fn usual_projects_need_no_recipe() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.engine("echo Nodes searched: 7");
    std::fs::remove_file(project.top.join("Makefile")).unwrap();
    // As in Stockfish, the first target of the Makefile is `help`, and the Makefile is in the
    // folder `src`.
    project.write(
        "src/Makefile",
        "help:\n\t@echo ARCH\nbuild:\n\ttest \"$(ARCH)\" = native\n\tcp ../engine.sh fish\n\
         \tchmod +x fish\n",
    );
    project.commit("src/Makefile");
    let args = ["match", "--dev", "HEAD", "--base", &puppet()];
    let made = project.run(&args).expect_code(0);
    expect_next(&made.stderr);

    project.write("Cargo.toml", "[package]\nname = \"tiny\"\nedition = \"2024\"\n");
    let engine = project.top.join("engine.sh");
    let script = std::fs::read_to_string(&engine).unwrap();
    project.write(
        "src/main.rs",
        "use std::os::unix::process::CommandExt;\nfn main() {\n\
         let args = std::env::args().skip(1);\n\
         panic!(\"{}\", std::process::Command::new(\"sh\").arg(\"-c\")\n\
         .arg(include_str!(\"../engine.sh\")).arg(\"sh\").args(args).exec());\n}\n",
    );
    assert!(script.contains("bench"));
    project.commit("Cargo.toml");
    let built = project.run(&args).expect_code(0);
    expect_next(&built.stderr);
}

/// Returns a C program that runs the engine script of the repository.
fn launcher(project: &Project<'_>) -> String {
    format!(
        "#include <unistd.h>\nint main(int count, char **words) {{\n\
         (void)count; words[0] = \"{}\";\nreturn execv(words[0], words);\n}}\n",
        project.top.join("engine.sh").display()
    )
}

#[test]
fn cmake_projects_need_no_recipe() {
    if programs::installed("cmake").is_none() {
        assert!(std::env::var_os("CI").is_none(), "cmake is not installed");
        eprintln!("skipped: cmake is not installed");
        return;
    }
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.engine("echo Nodes searched: 7");
    project.git(&["add", "--chmod=+x", "engine.sh"]);
    std::fs::remove_file(project.top.join("Makefile")).unwrap();
    project.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\nproject(tiny C)\n\
         add_executable(tiny main.c)\n\
         set_target_properties(tiny PROPERTIES RUNTIME_OUTPUT_DIRECTORY bin)\n",
    );
    project.write("main.c", &launcher(&project));
    let engine = project.top.join("engine.sh");
    std::fs::set_permissions(&engine, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    project.commit("CMake");
    let built = project.run(&["match", "--dev", "HEAD", "--base", &puppet()]).expect_code(0);
    expect_next(&built.stderr);
}

/// A script replaces the Go tool, which is too large to be required for this test.
#[test]
fn go_projects_need_no_recipe() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.engine("echo Nodes searched: 7");
    std::fs::remove_file(project.top.join("Makefile")).unwrap();
    project.write("go.mod", "module tiny\n");
    project.commit("Go");
    let tools = bench.path("tools");
    std::fs::create_dir(&tools).unwrap();
    // With this command line, Go puts a program for each main package into the folder.
    let script = "#!/bin/sh\ncase \"$*\" in\n\
                  version) echo go version go1.0 stand/in ;;\n\
                  'build -o built/ ./...') test -d built && cp engine.sh built/tiny && \
                  chmod +x built/tiny ;;\n\
                  *) exit 2 ;;\nesac\n";
    let go = tools.join("go");
    std::fs::write(&go, script).unwrap();
    std::fs::set_permissions(&go, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let play = format!(
        "PATH='{}':\"$PATH\" exec \"$0\" match --dev HEAD --base '{}' --repo '{}' --each nodes=1 \
         --pairs 1",
        tools.display(),
        puppet(),
        project.top.display()
    );
    let arbiter = programs::arbiter().display().to_string();
    let built = bench.start(Path::new("/bin/sh"), ["-c", &play, &arbiter]).finish().expect_code(0);
    expect_next(&built.stderr);
}

#[test]
fn builds_are_listed_and_cleaned_but_none_in_use() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    project.commit_with_bench(200, "Second");
    let builds = |args: &[&str]| bench.arbiter([&["builds"], args].concat()).finish();
    let listed = || builds(&["list", "--format", "json"]).expect_code(0).json();
    assert_eq!(listed(), serde_json::json!([]));
    let args = ["match", "--dev", "HEAD", "--base", "HEAD~1"];
    project.run(&args).expect_code(0);
    let list = listed();
    assert_eq!(list.as_array().map(Vec::len), Some(2), "{list:#}");
    assert!(list[0]["bytes"].as_u64() > Some(100), "{list:#}");
    let nodes = [&list[0], &list[1]].map(|build| build["bench_nodes"].as_u64());
    assert!(nodes.contains(&Some(100)) && nodes.contains(&Some(200)), "{list:#}");
    expect_next(&without_figures(&builds(&[]).expect_code(0).stdout));

    builds(&["clean"]).expect_code(2);
    let clean = |args: &[&str]| {
        let done = builds(&[&["clean"], args].concat()).expect_code(0);
        expect_next(&done.stdout);
    };
    clean(&["--keep-days", "1", "--max-size", "1"]);
    clean(&["--all", "--dry-run"]);
    assert_eq!(listed(), list);

    // A build in use stays in the cache.
    let logs = bench.logs();
    let slow = format!(
        "name=slow,rev=HEAD,repo=\"{}\",args=\"--mode slow --delay-ms 300000 {logs}\"",
        project.top.display()
    );
    let of_run = ["--no-bench", "--each", "depth=1", "--pairs", "1", "--results", "results"];
    let engines = ["match", "--engine", &slow, "--engine", "cmd=bundled"];
    let mut running = bench.arbiter([&engines[..], &of_run].concat());
    wait_for("an engine thinks", || {
        let logs = std::fs::read_dir(bench.path("logs")).expect("the folder can be listed");
        let texts = logs.filter_map(|log| std::fs::read_to_string(log.ok()?.path()).ok());
        let mut lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        lines.any(|line| line.starts_with("go")).then_some(())
    });
    clean(&["--max-size", "0"]);
    assert_eq!(listed().as_array().map(Vec::len), Some(1));
    wait_for("the run ends", || {
        let has_ended = running.has_ended();
        if !has_ended {
            running.signal(Signal::INT);
            // Two signals in quick succession may be received as one.
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        has_ended.then_some(())
    });
    running.finish().expect_code(130);
    clean(&["--all"]);
    let again = project.run(&args).expect_code(0);
    expect_next(&again.stderr);
}

#[test]
fn times_are_scaled_by_the_speed_of_the_base() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    project.commit_with_bench(200, "Second");
    let args = ["--scale", "75000", "--format", "json", "--name", "scaled"];
    let sides = ["match", "--dev", "HEAD", "--base", "HEAD~1"];
    let results = bench.path("results").display().to_string();
    let top = project.top.display().to_string();
    let pgn = bench.path("games.pgn").display().to_string();
    let more = ["--each", "tc=4+0.2", "--pairs", "1", "--results", &results, "--repo", &top];
    let all = [&sides[..], &args, &more, &["--pgn", &pgn]].concat();
    let json = bench.arbiter(all).finish().expect_code(0).json();
    assert_eq!((&json["time_scale"], &json["measured_nps"]), (&1.5.into(), &50_000.0.into()));
    assert!(bench.read("games.pgn").contains("[TimeControl \"6+0.3\"]"));
    let shown = ["results", "--results", &results, "show", "scaled"];
    let shown = bench.arbiter(shown).finish().expect_code(0).stdout;
    expect_next(line_with(&shown, "50000"));
    let args = [&sides[..], &["--scale", "0", "--repo", &top]].concat();
    bench.arbiter(args).finish().expect_error(2);
}
