//! Tests of servers set up by `arbiter cluster init`: no other client can listen or publish, and
//! each user has only the permissions that the role in its join file requires.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nkeys::KeyPair;
use rustix::process::Signal;

use super::assert_untouched;
use crate::resume::slow;
use crate::support::bench::Bench;
use crate::support::disk::Disk;
use crate::support::nats::{Server, Worker, free_port, key};
use crate::support::phrases;
use crate::support::programs::{self, installed};
use crate::support::snapshot::{expect_next, without_figures};
use crate::support::{PATIENCE, store, wait_for};

pub const COORDINATOR: &str = "cluster/coordinator.join";

/// Creates the files of a server in the folder `cluster`.
fn init(bench: &Bench, port: u16) {
    init_with(bench, &["--port", &port.to_string()]);
}

/// Creates the files with these flags.
fn init_with(bench: &Bench, flags: &[&str]) {
    let made = ["cluster", "init", "--dir", "cluster", "--workers", "2", "--host", "127.0.0.1"];
    bench.arbiter(made.iter().chain(flags)).finish().expect_code(0);
}

/// Starts a server with the users of the folder but without encryption, so that tests can use its
/// protocol.
pub fn unencrypted(bench: &Bench) -> Option<Server> {
    init(bench, 1);
    serve(bench)
}

/// Starts a server for the users in the folder, and enters its address into their join files.
fn serve(bench: &Bench) -> Option<Server> {
    let server = Server::start(bench, "include \"cluster/users.conf\"")?;
    for user in ["coordinator", "worker1", "worker2"] {
        edit(bench, &format!("{user}.join"), "tls://127.0.0.1:1", &server.url());
    }
    Some(server)
}

/// Replaces a string in a file of the folder.
fn edit(bench: &Bench, name: &str, from: &str, to: &str) {
    let text = bench.read(&format!("cluster/{name}"));
    assert!(text.contains(from), "{text}");
    bench.write(&format!("cluster/{name}"), text.replace(from, to));
}

/// Returns the nkey in a join file.
pub fn nkey(bench: &Bench, user: &str) -> KeyPair {
    let join: toml::Table = bench.read(&format!("cluster/{user}.join")).parse().expect("TOML");
    KeyPair::from_seed(join["nkey"].as_str().expect("a text")).expect("a seed")
}

/// Creates the files and starts the server; returns both the server and its port.
pub fn up(bench: &Bench) -> Option<(Worker, u16)> {
    if installed("nats-server").is_none() {
        // Starting a server prints the notice, or fails if a server is required.
        Server::start(bench, "");
        return None;
    }
    let port = free_port();
    init(bench, port);
    let server = Worker::from(bench.arbiter(["cluster", "up", "--dir", "cluster"]));
    wait_for("it listens", || TcpStream::connect(("127.0.0.1", port)).ok());
    Some((server, port))
}

pub fn stop(server: Worker) {
    server.signal(Signal::INT);
    server.finish().expect_code(0);
}

#[test]
fn a_command_each_makes_a_cluster_that_plays_over_tls() {
    let bench = Bench::new();
    let Some((server, port)) = up(&bench) else { return };
    // A second server does not change the files of the first, and a worker cannot list other
    // clients.
    let second = bench.arbiter(["cluster", "up", "--dir", "cluster"]).finish();
    expect_next(&without_figures(&second.expect_code(7).stderr));
    let show = bench.arbiter(["cluster", "show", "--on", "cluster/worker1.join"]).finish();
    show.expect_error(3);
    let running = slow(&bench).unset("concurrency").set("on", COORDINATOR).start();
    // A worker receives only its own replies.
    let curious = bench.read("cluster/worker1.join").replace("_INBOX.worker1", "_INBOX.worker2");
    bench.write("curious.join", curious);
    let refusal = Worker::join(&bench, "curious.join").finish();
    refusal.expect_refusal(8, &["Permissions Violation", "_INBOX.worker2"]);
    let workers =
        ["worker1", "worker2"].map(|name| Worker::join(&bench, &format!("cluster/{name}.join")));
    assert_untouched(&bench, running);
    assert_eq!(store::remarks(&bench.path("results")), Vec::<String>::new());
    let players = store::players(&bench.path("results"));
    assert_eq!(players.keys().collect::<Vec<_>>(), ["worker1", "worker2"]);
    let show = ["cluster", "show", "--on", COORDINATOR, "--format", "json"];
    let shown = bench.arbiter(show).finish().expect_code(0).json();
    assert_eq!(shown["workers"][1]["worker"], "worker2", "{shown}");
    // The server sends nothing in plain text.
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time can be set");
    stream.write_all(b"CONNECT {}\r\nPING\r\n").expect("the server listens");
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply);
    assert!(!String::from_utf8_lossy(&reply).contains("PONG"), "a plain connection is served");
    for worker in workers {
        worker.signal(Signal::INT);
        worker.finish().expect_code(0);
    }
    stop(server);
    assert!(bench.path("cluster/data").is_dir());
}

#[test]
fn a_join_file_is_good_for_one_part_and_strangers_stay_outside() {
    let bench = Bench::new();
    let Some((server, port)) = up(&bench) else { return };
    let join = |file: &str| bench.arbiter(["worker", "--on", file, "--slots", "1"]).finish();
    // The server rejects another worker name.
    let join_file = bench.read("cluster/worker1.join");
    bench.write("changed.join", join_file.replace("worker = \"worker1\"", "worker = \"worker2\""));
    join("changed.join").expect_refusal(8, &["Permissions Violation", "arbiter.hello.worker2"]);
    join(COORDINATOR).expect_error(3);
    let plan = slow(&bench).unset("concurrency").set("on", "cluster/worker2.join");
    plan.run().expect_refusal(3, &["worker2"]);

    let (url, trust) = (format!("tls://127.0.0.1:{port}"), key(&bench));
    let stranger =
        bench.write("stranger", KeyPair::new_user().seed().expect("it was made with one"));
    let stranger = stranger.display().to_string();
    let base = ["worker", "--on", &url, "--trust", &trust, "--slots", "1"];
    let enter = |more: &[&str]| bench.arbiter(base.iter().chain(more)).finish();
    let ca = ["--nats", "ca=cluster/worker1.join"];
    enter(&ca).expect_refusal(8, &["authorization"]);
    let nkey = format!("nkey={stranger}");
    enter(&[&ca[..], &["--nats", &nkey]].concat()).expect_refusal(8, &["authorization"]);
    enter(&[]).expect_refusal(8, &["certificate", "--nats ca=FILE", "'arbiter cluster init'"]);
    let more = ["--nats", &nkey];
    let show = ["cluster", "show", "--on", COORDINATOR];
    bench.arbiter(show.iter().chain(&more)).finish().expect_refusal(3, &["--nats"]);
    stop(server);
}

#[test]
fn workers_are_added_and_taken_away_while_the_server_runs() {
    let bench = Bench::new();
    let Some((server, _)) = up(&bench) else { return };
    let add = |name: &str| bench.arbiter(["cluster", "add", "--dir", "cluster", name]).finish();
    add("tower").expect_code(0);
    add("tower").expect_refusal(3, &["tower"]);
    for name in ["coordinator", "a.b", "", "a b"] {
        add(name).expect_error(3);
    }
    let file = "cluster/tower.join";
    let join = || bench.arbiter(["worker", "--on", file, "--slots", "1"]);
    join().finish().expect_refusal(8, &["authorization"]);
    server.signal(Signal::HUP);
    wait_for("it is let in", || {
        let worker = join();
        let show = ["cluster", "show", "--on", COORDINATOR, "--format", "json"];
        let shown = bench.arbiter(show).finish().expect_code(0).json();
        worker.signal(Signal::TERM);
        worker.finish();
        (shown["workers"][0]["worker"] == "tower").then_some(())
    });
    let users = bench.read("cluster/users.conf");
    let start = users.find("    { # worker tower").expect("it has a block");
    let end = start + users[start..].find("\n    }\n").expect("the block ends") + 7;
    bench.write("cluster/users.conf", [&users[..start], &users[end..]].concat());
    server.signal(Signal::HUP);
    wait_for("it is kept out", || (join_briefly(&bench, file) == Some(8)).then_some(()));
    stop(server);
}

/// A stolen coordinator file can start programs on workers until a new folder has another key;
/// afterwards neither the file nor its key is accepted.
#[test]
fn a_stolen_coordinator_file_is_useless_after_a_new_folder() {
    let bench = Bench::new();
    init(&bench, 1);
    let stolen = bench.read(COORDINATOR);
    std::fs::remove_dir_all(bench.path("cluster")).expect("a folder of ours");
    init_with(&bench, &["--port", "1", "--signing-key", "second.key"]);
    let line = |text: &str, name: &str| {
        text.lines().find(|line| line.starts_with(name)).expect("it has a line").to_owned()
    };
    let Some(server) = serve(&bench) else { return };
    let new = bench.read(COORDINATOR);
    // The thief knows the address of the new server, and later even has the credentials of its
    // coordinator.
    bench.write("stolen.join", stolen.replace(&line(&stolen, "url"), &line(&new, "url")));
    let plan = |file: &str| slow(&bench).unset("concurrency").set("on", file);
    plan("stolen.join").run().expect_refusal(8, &["authorization"]);
    let key = "signing_key";
    bench.write("stolen.join", new.replace(&line(&new, key), &line(&stolen, key)));
    let mut thief = plan("stolen.join").set("name", "theft").unset("pgn").start();
    let _worker = Worker::join(&bench, "cluster/worker1.join");
    let results = bench.path("results");
    wait_for("the worker refuses", || {
        let remarks = store::remarks(&results);
        remarks.iter().any(|remark| remark.contains(phrases::NOT_TRUSTED)).then_some(())
    });
    assert!(!bench.path("programs-cluster-worker1.join").exists(), "it has fetched a program");
    while !thief.has_ended() {
        thief.signal(Signal::TERM);
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    assert_untouched(&bench, plan(COORDINATOR).start());
    drop(server);
}

/// Returns the exit code of a worker that is stopped shortly after its start.
fn join_briefly(bench: &Bench, file: &str) -> Option<i32> {
    let worker = bench.arbiter(["worker", "--on", file, "--slots", "1"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    worker.signal(Signal::TERM);
    worker.finish().code
}

#[test]
fn open_servers_require_the_insecure_flag_on_both_sides() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let trust = key(&bench);
    let parts = ["'arbiter cluster init'", "--insecure"];
    let nats = format!("--on={}", server.url());
    bench.arbiter(["worker", &nats, "--trust", &trust]).finish().expect_refusal(8, &parts);
    let on = |url: &str| slow(&bench).unset("concurrency").switch(&format!("on={url}"));
    on(&server.url()).run().expect_refusal(8, &parts);
    assert!(!store::has_run(&bench.path("results"), "run"), "it has begun a run");
    drop(server);

    // A server with users but without encryption is accepted only on this machine.
    let Some(server) = Server::start(&bench, "authorization { token: secret }") else { return };
    let show = |url: &str| bench.arbiter(["cluster", "show", &format!("--on={url}")]).finish();
    let url = server.url().replace("//", "//secret@");
    show(&url).expect_code(0);
    let elsewhere = url.replace("127.0.0.1", "0.0.0.0");
    show(&elsewhere).expect_refusal(8, &parts);
    on(&elsewhere).run().expect_refusal(8, &parts);
    let insecure = ["cluster", "show", &format!("--on={elsewhere}"), "--insecure"];
    bench.arbiter(insecure).finish().expect_code(0);
}

#[test]
fn no_file_is_overwritten_and_secrets_are_private() {
    let bench = Bench::new();
    init(&bench, 4222);
    assert!(bench.read("cluster/nats.conf").contains("max_file: 16GB }"), "as in security.md");
    let before = bench.read(COORDINATOR);
    let init = |more: &[&str]| bench.arbiter(["cluster", "init"].iter().chain(more)).finish();
    init(&["--dir", "cluster", "--workers", "1"]).expect_error(3);
    assert_eq!(bench.read(COORDINATOR), before);
    for wrong in [["--host", "no name"], ["--worker", "worker1"], ["--worker", "coordinator"]] {
        let flags = [&["--dir", "other", "--workers", "1"], &wrong[..]].concat();
        init(&flags).expect_refusal(3, &[wrong[1]]);
        assert!(!bench.path("other").exists());
    }
    let folder = std::fs::read_dir(bench.path("cluster")).expect("it was made");
    for file in folder.map(|entry| entry.expect("an entry can be read")) {
        let mode = file.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", file.path().display());
    }
    let up = bench.arbiter(["cluster", "up", "--dir", "nowhere"]).finish();
    up.expect_refusal(3, &["nats.conf", "'arbiter cluster init"]);
}

#[test]
fn a_full_disk_leaves_no_incomplete_files() {
    let bench = Bench::new();
    let Some(disk) = Disk::mount(bench.path("disk")) else { return };
    let init = ["cluster", "init", "--dir", "disk/cluster", "--workers", "1", "--host", "host"];
    let add = ["cluster", "add", "--dir", "disk/cluster", "tower"];
    // There is room for some of the files, each smaller than a page.
    for (arguments, pages, file) in [(&init[..], 3, "nats.conf"), (&add, 1, "tower.join")] {
        let room = bench.write("disk/room", "x".repeat(pages * 4096));
        disk.fill();
        std::fs::remove_file(room).expect("a file of ours");
        bench.arbiter(arguments).finish().expect_refusal(7, &[file, "No space left"]);
        disk.clear();
        bench.arbiter(arguments).finish().expect_code(0);
    }
    assert!(bench.read("disk/cluster/users.conf").contains("# worker tower\n"));
}

#[test]
fn invalid_join_files_are_rejected() {
    let bench = Bench::new();
    init(&bench, free_port());
    let join_file = bench.read("cluster/worker1.join");
    let line =
        |name: &str| join_file.lines().find(|line| line.starts_with(name)).expect("it has a line");
    let begin = join_file.find("-----BEGIN").expect("a certificate");
    for wrong in [
        String::new(),
        join_file.replace("tls://", ""),
        join_file.replace("tls://", "tls://me:secret@"),
        join_file.replace("_INBOX.", "$JS.API."),
        join_file.replace("_INBOX.", "_INBOX.\\n"),
        join_file.replace("_INBOX.", &"_INBOX.a".repeat(200)),
        join_file.replace("tls://", "tls://a/\\u001b[2J,tls://"),
        join_file.replace("nkey = \"SU", "nkey = \"XX"),
        join_file.replace(line("worker"), "worker = \"a b\""),
        join_file.replace(line("trust"), ""),
        join_file.replace(line("trust"), "trust = \"ed25519:00\""),
        join_file.replace(line("trust"), "slots = 3"),
        join_file.replace(&join_file[begin + 40..begin + 44], "!!!!"),
        join_file[..begin].to_owned() + "\"\"\"",
        join_file.clone() + &"#".repeat(70_000),
        join_file[..begin].to_owned(),
    ] {
        bench.write("wrong.join", &wrong);
        let join = bench.arbiter(["worker", "--on", "wrong.join"]).finish();
        join.expect_error(3);
    }
    // A join file that other users can read is accepted with a warning. The worker then fails,
    // because this test has no server.
    bench.write("open.join", &join_file);
    let finished = bench.arbiter(["worker", "--on", "open.join"]).finish().expect_code(8);
    assert!(finished.stderr.contains("chmod 600 open.join"), "{finished:#?}");
    // Credentials of a service can have the mode 440, but only the service can read them.
    let script = "exec env CREDENTIALS_DIRECTORY=\"$PWD\" \"$0\" worker --on \"$PWD/open.join\"";
    let arbiter = programs::arbiter().display().to_string();
    let service = bench.start(Path::new("/bin/sh"), ["-c", script, &arbiter]);
    let finished = service.finish().expect_code(8);
    assert!(!finished.stderr.contains("chmod"), "{finished:#?}");
}

#[test]
fn a_new_signing_key_is_announced() {
    let bench = Bench::new();
    let messages = || {
        let args = ["cluster", "key", "--signing-key", "mistyped.key"];
        bench.arbiter(args).finish().expect_code(0).stderr
    };
    let created = "created the signing key mistyped.key; workers do not trust it yet\n";
    assert_eq!(messages(), created);
    assert_eq!(messages(), "");
}

#[test]
fn a_dry_run_leaves_the_concurrency_to_the_workers() {
    let bench = Bench::new();
    let engines = ["match", "bundled", "bundled:material", "--each", "nodes=1"];
    let on = ["--dry-run", "--on", "nats://127.0.0.1:1"];
    let plan = |more: &[&str]| bench.arbiter([&engines[..], &on, more].concat()).finish();
    let shown = plan(&[]).expect_code(0);
    assert!(shown.stdout.contains("decided by the workers (--slots)"), "{shown:#?}");
    assert!(shown.stderr.starts_with("workers would play; "), "{shown:#?}");
    let json = plan(&["--format", "json"]).expect_code(0).json();
    assert!(json["concurrency"].is_null(), "{json:#}");
    assert!(!bench.path("arbiter").exists(), "a dry run makes no key");
    // A dry run reports the same errors.
    plan(&["--stderr-dir", "errors"]).expect_error(3);
}
