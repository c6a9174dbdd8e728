//! Tests of the sandbox of engines on workers, which allows access only to required resources.

use std::os::unix::net::UnixListener;

use expect_test::expect_file;

use crate::support::bench::Bench;
use crate::support::nats::{Server, key};
use crate::support::plan::Plan;
use crate::support::{process, programs};

const PASSWORD: &str = "known-to-workers";

/// Section of the documentation with the table.
const SECTION: &str = "## What an engine at a worker can do\n";

/// Returns the probe's results on a worker with this sandbox, as table rows; empty without a
/// server.
fn attempts(sandbox: &str) -> Vec<String> {
    attempts_at(sandbox, |_| Vec::new())
}

/// Returns the probe's results on a worker that is started with these arguments.
pub fn attempts_at(sandbox: &str, by: impl FnOnce(&Bench) -> Vec<String>) -> Vec<String> {
    let bench = Bench::new();
    let user = format!("authorization {{ user: worker, password: \"{PASSWORD}\" }}");
    let Some(server) = Server::start(&bench, &user) else { return Vec::new() };
    let probe = bench.write("probe", include_str!("probe.pl"));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&probe, executable).expect("a file of ours");
    std::fs::create_dir_all(bench.path("programs-a/other")).expect("a folder can be made");
    let other = bench.write("programs-a/other/engine", "another program");
    bench.write("secret", "a secret");
    bench.write("victim", "a victim");
    let socket = bench.path("socket");
    let _listener = UnixListener::bind(&socket).expect("a socket can be made");
    let url = server.url();
    let port = url.rsplit(':').next().expect("a port");
    let home = bench.path("").display().to_string();
    let mut env =
        vec!["ARBITER_NATS_USER=worker".to_owned(), format!("ARBITER_NATS_PASSWORD={PASSWORD}")];
    let password = bench.write("password", PASSWORD);
    let credentials = format!("user=worker,password-file={}", password.display());
    let access = ["--nats", &credentials];
    let trust = key(&bench);
    let flags = ["--on", &url, "--name", "a", "--slots", "1", "--sandbox", sandbox];
    let more = ["--trust", &trust, "--programs", "programs-a"];
    env.extend(by(&bench));
    env.push(programs::arbiter().display().to_string());
    let args_of_worker = env.iter().map(String::as_str).chain(["worker"]).chain(flags).chain(more);
    let worker = bench.start(std::path::Path::new("env"), args_of_worker);
    let (other, socket) = (other.display(), socket.display());
    let number = worker.pid().as_raw_nonzero();
    // Duration that identifies the process, in seconds.
    let sleep = format!("60.{number}");
    let args = format!("{home} {other} {port} {socket} {number} {sleep}");
    let plan = Plan::new(&bench, "match", 1).puppet("Good", "--seed 1");
    let net = bench.write("network", "weights").display().to_string();
    let probe = format!("name=Probe,cmd=\"{}\",args=\"{args}\",option.Net=@{net}", probe.display());
    let plan = plan.engine(probe);
    let plan = plan.unset("concurrency").set("on", &url).set("transcripts", "all");
    let plan = plan.set(&access[0][2..], access[1]);
    let finished = plan.run();
    assert_eq!(finished.json()["games"], 2, "{finished:#?}");
    // A process that the kernel kills takes a moment to disappear.
    if sandbox != "off" {
        process::wait_until_gone(&sleep);
    }
    let is_left = !process::marked(&sleep).is_empty();
    process::kill_marked(&sleep);
    worker.signal(rustix::process::Signal::TERM);
    worker.finish();
    let results = bench.path("results").display().to_string();
    let replay = bench.arbiter(["replay", "--results", &results, "run", "1.1"]).finish().stdout;
    let rows = replay.lines().filter_map(|line| line.split_once("info string |"));
    let mut rows: Vec<String> =
        rows.map(|(_, row)| format!("|{row}").trim_end().to_owned()).collect();
    assert!(!rows.is_empty(), "{replay}");
    let answer = if is_left { "yes" } else { "no" };
    rows.push(format!("| leave a process behind that outlives its game | {answer} | namespace |"));
    rows
}

/// Returns the result of one attempt.
#[track_caller]
pub fn answer<'a>(rows: &'a [String], attempt: &str) -> &'a str {
    let row = rows.iter().find(|row| row.contains(attempt)).expect(attempt);
    row.split('|').nth(2).expect("a cell").trim()
}

#[test]
fn engine_access_at_a_worker_matches_the_security_page() {
    let rows = attempts("require");
    if rows.is_empty() {
        return;
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/security.md");
    let text = std::fs::read_to_string(file).expect("it is there");
    let (before, section) = text.split_once(SECTION).expect("the section is there");
    let lines: Vec<&str> = section.lines().collect();
    let is_row = |line: &&str| line.starts_with("| ");
    let first = lines.iter().position(|line| line.starts_with("|--")).expect("a table") + 1;
    let count = lines[first..].iter().take_while(|line| is_row(line)).count();
    let rows = rows.iter().map(String::as_str);
    let lines =
        lines[..first].iter().copied().chain(rows).chain(lines[first + count..].iter().copied());
    let renewed: String = lines.flat_map(|line| [line, "\n"]).collect();
    expect_file![file].assert_eq(&format!("{before}{SECTION}{renewed}"));
}

#[test]
fn an_engine_without_a_sandbox_has_the_access_of_the_user() {
    let rows = attempts("off");
    if rows.is_empty() {
        return;
    }
    for attempt in [
        "read a file in the home",
        "connect to the NATS server",
        "write in `/tmp`",
        "gain privileges by a setuid",
        "change another program",
        "change the limits of the worker",
        "leave a process behind",
        "replace, link, move or remove a file that it was given",
    ] {
        assert_eq!(answer(&rows, attempt), "yes", "{attempt}: {rows:#?}");
    }
}

#[test]
fn a_local_run_sandboxes_engines_on_request() {
    let bench = Bench::new();
    // The engine logs its input outside its home folder.
    let args = format!("--seed 1 {}", bench.logs());
    let plan = |name: &str| {
        Plan::new(&bench, "match", 1).puppet("A", &args).puppet("B", "--seed 2").set("name", name)
    };
    plan("free").run().expect_code(0);
    plan("held").set("sandbox", "require").run().expect_refusal(3, &["'A'"]);
}
