//! Tests of the access of a commit's build commands to the machine.

use std::path::{Path, PathBuf};

use crate::distributed::machines::WITHOUT_CALLS;
use crate::support::bench::{Bench, Finished};
use crate::support::programs;
use crate::support::project::Project;
use crate::support::snapshot::{expect_next, without_figures, without_machine};

/// Returns the path of a program without a bench.
fn puppet() -> String {
    programs::puppet().display().to_string()
}

/// Sets the `[build]` table of the next commit.
fn recipe(project: &Project<'_>, text: &str) {
    project.write("arbiter.toml", &format!("[build]\n{text}\n"));
}

/// Plays a match of `HEAD` in an environment with a secret.
fn play(bench: &Bench, project: &Project<'_>, more: &[&str]) -> Finished {
    play_in("SECRET_TOKEN=hidden CC=a-compiler", bench, project, more)
}

/// Plays a match of `HEAD` with these environment variables.
fn play_in(variables: &str, bench: &Bench, project: &Project<'_>, more: &[&str]) -> Finished {
    let script = &format!("{variables} exec \"$0\" \"$@\"");
    let arbiter = programs::arbiter().display().to_string();
    let (top, puppet) = (project.top.display().to_string(), puppet());
    let engines = ["match", "--dev", "HEAD", "--base", &puppet, "--repo", &top];
    let short = ["--each", "nodes=1", "--pairs", "1", "--results", "results"];
    let args = [&["-c", script, &arbiter], &engines[..], &short, more].concat();
    bench.start(Path::new("/bin/sh"), args).finish()
}

/// Returns the only `build.log` of the cache.
fn build_log(bench: &Bench) -> PathBuf {
    let entries = std::fs::read_dir(bench.path(".cache/arbiter/builds")).expect("there are builds");
    let logs: Vec<PathBuf> =
        entries.map(|entry| entry.expect("it is there").path().join("build.log")).collect();
    assert_eq!(logs.len(), 1, "{logs:?}");
    logs[0].clone()
}

#[test]
fn build_commands_are_announced_run_in_the_checkout_and_skipped_in_dry_runs() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let seen = bench.path("seen").display().to_string();
    let tool = format!("pwd >> {seen}; git config core.hooksPath /tmp; echo tool 1");
    recipe(&project, &format!("toolchain = [\"{tool}\"]"));
    let commit = project.commit_with_bench(100, "First");
    let config = || std::fs::read_to_string(project.top.join(".git/config")).expect("it is text");
    let before = config();

    let dry = play(&bench, &project, &["--dry-run", "--name", "dry"]).expect_code(0);
    expect_next(&dry.stderr);
    expect_next(&without_figures(&without_machine(&dry.stdout)));
    assert!(!bench.path("seen").exists(), "{dry:#?}");
    let short = ["--dry-run", "--format", "json"];
    let json = play(&bench, &project, &short).expect_code(0).json();
    let engine = &json["engines"][0];
    assert_eq!((&engine["program"], &engine["commit"]), (&"not built".into(), &(*commit).into()));

    let run = play(&bench, &project, &[]).expect_code(0);
    expect_next(&run.stderr);
    let seen = bench.read("seen");
    assert!(seen.contains(".cache/arbiter/staging/") && seen.lines().count() == 1, "{seen}");
    assert_eq!(config(), before);
}

#[test]
fn builds_and_benches_see_no_secrets_by_default() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let path = |name: &str| bench.path(name).display().to_string();
    let command = format!("env >> {}; cp engine.sh e; chmod +x e", path("build.env"));
    recipe(&project, &format!("command = \"{command}\"\nbinary = \"e\""));
    project.engine(&format!("env >> {}; echo 7 nodes 7 nps", path("bench.env")));
    project.commit("First");
    play(&bench, &project, &[]).expect_code(0);
    for name in ["build.env", "bench.env"] {
        let seen = bench.read(name);
        assert!(!seen.contains("SECRET_TOKEN"), "{name}: {seen}");
        for variable in ["PATH=", "HOME=", "CC=a-compiler"] {
            assert!(seen.contains(variable), "{variable} in {name}: {seen}");
        }
        std::fs::remove_file(bench.path(name)).expect("it is there");
    }
    let cache = path("other-cache");
    let flags = ["--pass-env", "SECRET_TOKEN", "--cache", &cache];
    play(&bench, &project, &flags).expect_code(0);
    for name in ["build.env", "bench.env"] {
        assert!(bench.read(name).contains("SECRET_TOKEN=hidden"), "{name}");
    }
}

#[test]
fn a_git_filter_of_the_user_runs_at_the_checkout_without_secrets() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.write(".gitattributes", "engine.sh filter=spy\n");
    recipe(&project, "command = \"cp engine.sh e; chmod +x e\"\nbinary = \"e\"");
    project.engine("echo 7 nodes 7 nps");
    project.commit("First");
    let filter = format!("'env > {}; cat'", bench.path("seen").display());
    let variables = format!(
        "ARBITER_TOKEN=hidden OTHER=passed GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=filter.spy.smudge \
         GIT_CONFIG_VALUE_0={filter}"
    );
    play_in(&variables, &bench, &project, &[]).expect_code(0);
    let seen = bench.read("seen");
    assert!(seen.contains("OTHER=passed") && !seen.contains("hidden"), "{seen}");
}

#[test]
fn a_variable_that_can_change_the_program_makes_another_build() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let log = bench.path("builds.log").display().to_string();
    let command = format!("echo x >> {log}; cp engine.sh e; chmod +x e");
    recipe(&project, &format!("command = \"{command}\"\nbinary = \"e\""));
    project.commit_with_bench(100, "First");
    let more = ["--no-bench", "--pass-env", "OWN_SWITCH"];
    let builds = |variables: &str| {
        play_in(variables, &bench, &project, &more).expect_code(0);
        bench.read("builds.log").lines().count()
    };
    let compilers = [
        "GOAMD64=v3",
        "GOARCH=386",
        "CGO_CFLAGS=-O3",
        "CARGO_BUILD_TARGET=wasm32",
        "RUSTC=other",
        "RUSTC_WRAPPER=wrapper",
        "CPATH=/nowhere",
        "LD=gold",
        "NIX_CFLAGS_COMPILE=-O3",
        "OWN_SWITCH=1",
        "OWN_SWITCH=2",
    ];
    let alike = ["OWN_SWITCH=1", "LANG=C", "LC_ALL=C", "CARGO_BUILD_JOBS=1", "OTHER=1"];
    assert_eq!(builds(""), 1);
    for (count, variable) in (2..).zip(compilers) {
        assert_eq!(builds(variable), count, "{variable}");
    }
    for variable in alike {
        assert_eq!(builds(variable), 1 + compilers.len(), "{variable}");
    }
}

#[test]
fn a_failed_submodule_fetch_fails_every_build() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let command = "cp engine.sh e; chmod +x e\ntrue";
    recipe(&project, &format!("command = \"\"\"{command}\"\"\"\nbinary = \"e\""));
    project.write(".gitmodules", "[submodule \"part\"]\n\tpath = part\n\turl = ./no-such-folder\n");
    project.commit_with_bench(100, "First");
    let link = format!("160000,{},part", project.git(&["rev-parse", "HEAD"]));
    project.git(&["update-index", "--add", "--cacheinfo", &link]);
    project.git(&["commit", "--quiet", "--message", "With a part that is nowhere"]);
    play(&bench, &project, &[]).expect_error(23);
}

#[test]
fn a_build_in_a_sandbox_has_the_network_that_its_recipe_asks_for() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has an address").port();
    let command = format!(
        "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr => q(127.0.0.1:{port})) or die qq(failed \
         to connect: $!\\n)' && cp engine.sh e && chmod +x e"
    );
    let table = format!("command = \"\"\"{command}\"\"\"\nbinary = \"e\"");
    recipe(&project, &table);
    project.commit_with_bench(100, "First");
    let sandbox = ["--no-bench", "--sandbox", "auto"];
    let refused = play(&bench, &project, &sandbox);
    assert!(refused.stderr.contains("`network = true`"), "{refused:#?}");
    refused.expect_error(23);
    recipe(&project, &format!("{table}\nnetwork = true"));
    project.commit("It asks for it");
    let dry = play(&bench, &project, &["--dry-run", "--no-bench"]);
    assert!(dry.expect_code(0).stdout.contains("HEAD"));
    let built = play(&bench, &project, &sandbox);
    assert!(built.stderr.contains("built HEAD"), "{built:#?}");
}

#[test]
fn a_build_in_a_sandbox_without_namespaces_has_a_warning() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    project.commit_with_bench(100, "First");
    // The system call `unshare` does not exist.
    let without = format!("exec perl -e '{WITHOUT_CALLS}' 272 272 \"$0\" \"$@\";");
    let built = play_in(&without, &bench, &project, &["--no-bench", "--sandbox", "auto"]);
    let warning = "builds in a sandbox can change modes, owners and times of the user's files";
    assert!(built.stderr.contains(warning), "{built:#?}");
}

/// A Cargo build script is a program of the commit, and so is the code that a macro runs when it is
/// expanded.
#[test]
fn a_cargo_build_script_runs_in_the_sandbox() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let victim = bench.write("victim", "as it was");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has an address").port();
    std::fs::remove_file(project.top.join("Makefile")).expect("it is there");
    let manifest =
        "[package]\nname = \"tool\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[workspace]\n";
    project.write("Cargo.toml", manifest);
    project.write("Cargo.lock", "version = 4\n[[package]]\nname = \"tool\"\nversion = \"1.0.0\"\n");
    project.write("src/main.rs", "fn main() {}");
    let script = format!(
        "fn main() {{
            let wrote = std::fs::write({victim:?}, \"spoilt\").is_ok();
            let spoke = std::net::TcpStream::connect((\"127.0.0.1\", {port})).is_ok();
            let secret = std::env::var(\"SECRET_TOKEN\").is_ok();
            panic!(\"tried: {{wrote}} {{spoke}} {{secret}}\");
        }}",
        victim = victim.display().to_string()
    );
    project.write("build.rs", &script);
    let command = "cargo build --offline --locked --target-dir target && cp engine.sh target/e";
    recipe(&project, &format!("command = \"{command}\"\nbinary = \"target/e\""));
    project.commit_with_bench(100, "First");
    play(&bench, &project, &["--no-bench", "--sandbox", "auto"]).expect_code(23);
    let log = std::fs::read_to_string(build_log(&bench)).expect("it is text");
    assert!(log.contains("tried: false false false"), "{log}");
    assert_eq!(bench.read("victim"), "as it was");
}

#[test]
fn a_long_log_keeps_its_beginning_and_its_end() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let command = "echo begun; yes filler | head -c 50000000; echo 'x.c: error: bad'; exit 3";
    recipe(&project, &format!("command = \"{command}\""));
    project.commit_with_bench(100, "First");
    let refused = play(&bench, &project, &[]);
    refused.expect_error(23);
    let log = std::fs::read_to_string(build_log(&bench)).expect("it is text");
    assert!(log.len() < 3_000_000, "{} bytes", log.len());
    assert!(log.starts_with("$ echo begun") && log.ends_with("error: bad\n"));
    let cut = log.lines().find(|line| line.ends_with(']'));
    expect_next(&without_figures(cut.expect("a line in place of the others")));
}

#[test]
fn a_built_program_must_lie_in_its_checkout_and_its_git_settings_have_no_effect() {
    let bench = Bench::new();
    let project = Project::new(&bench);
    let evil = bench.path("evil").display().to_string();
    let command =
        format!("git config core.fsmonitor 'touch {evil}; :'; cp engine.sh e; chmod +x e");
    recipe(&project, &format!("command = \"{command}\""));
    project.commit_with_bench(100, "First");
    play(&bench, &project, &[]).expect_code(0);
    assert!(!bench.path("evil").exists());
    recipe(&project, "command = \"ln -s /bin/sh e\"\nbinary = \"e\"");
    project.commit("A link to elsewhere");
    play(&bench, &project, &[]).expect_error(25);
}
