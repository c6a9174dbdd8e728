//! Tests of the systemd units, if the tools of systemd are installed, and of the messages of
//! services.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::bench::Bench;
use crate::support::nats::{Server, key};
use crate::support::programs;
use crate::support::site::Site;
use crate::support::snapshot::expect_next;
use crate::support::wait_for;

#[test]
fn systemd_units_are_valid_and_hardened() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../packaging/systemd");
    let bench = Bench::new();
    let arbiter_path = programs::arbiter().display().to_string();
    // A worker needs namespaces, in which its engines run, and the system calls that set them up.
    for (unit, threshold) in [
        ("arbiter-nats.service", 20),
        ("arbiter-serve.service", 20),
        ("arbiter-worker.service", 21),
    ] {
        let text = std::fs::read_to_string(format!("{folder}/{unit}")).expect("there is a unit");
        let start = text.lines().find_map(|line| line.strip_prefix("ExecStart="));
        let mut command_line =
            start.expect("it starts a program").split(' ').skip(1).collect::<Vec<_>>();
        command_line.push("--help");
        bench.arbiter(command_line).finish().expect_code(0);
        // The verification requires that the program is installed.
        let unit = bench.write(unit, text.replace("/usr/bin/arbiter", &arbiter_path));
        let threshold = format!("--threshold={threshold}");
        for task in [&["verify"][..], &["security", "--offline=true", &threshold]] {
            let Ok(done) = Command::new("systemd-analyze").args(task).arg(&unit).output() else {
                eprintln!("skipped: systemd-analyze is not installed");
                return;
            };
            assert!(done.status.success(), "{unit:?} {task:?} {done:?}");
        }
    }
}

/// Returns the messages of a log of JSON lines, after checking the fields that all messages have.
fn messages(log: &str) -> Vec<Value> {
    let read = |line: &str| {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        let keys = ["timestamp", "level", "message"];
        assert!(keys.iter().all(|key| message[key].is_string()), "{line}");
        message
    };
    log.lines().map(read).collect()
}

#[test]
fn services_print_json_on_request() {
    let bench = Bench::new();
    let flags = ["--read-only", "--log-format", "json", "--metrics", "0"];
    let site = Site::start(&bench, &flags);
    let taken = site.address.clone();
    assert!(messages(&bench.read("serve.log")).len() >= 3);
    let again = ["serve", "--listen", &taken, "--log-format", "json"];
    let refused = bench.arbiter(again).finish().expect_code(7);
    let last = messages(&refused.stderr).pop().expect("it says why");
    assert_eq!(last["level"], "error");
    assert!(last["message"].as_str().is_some_and(|text| text.contains(&taken)), "{last}");
    site.end();
    messages(&bench.read("serve.log"));

    let Some(server) = Server::start(&bench, "") else { return };
    let key = key(&bench);
    let script = "ARBITER_LOG_FORMAT=json exec \"$0\" worker --insecure --name w --on \"$1\" \
        --trust \"$2\" 2>worker.log";
    let arbiter = programs::arbiter().display().to_string();
    let worker = bench.start(Path::new("/bin/sh"), ["-c", script, &arbiter, &server.url(), &key]);
    wait_for("the worker is there", || {
        let log = std::fs::read_to_string(bench.path("worker.log")).ok()?;
        let all = messages(log.rsplit_once('\n')?.0);
        all.iter().any(|message| message["worker"] == "w").then_some(())
    });
    worker.signal(rustix::process::Signal::INT);
    worker.finish().expect_code(0);
    assert!(messages(&bench.read("worker.log")).len() >= 2);
}

#[test]
fn messages_to_the_journal_have_a_priority() {
    let bench = Bench::new();
    let refused = "exec \"$0\" serve --listen 192.0.2.1:1 2>log";
    let journal = "exec 2>log; export JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2)";
    for script in [
        refused.to_owned(),
        format!("ARBITER_LOG_FORMAT=journald {refused}"),
        format!("JOURNAL_STREAM=1:2 {refused}"),
        format!("{journal}; {}", refused.trim_end_matches(" 2>log")),
    ] {
        let arbiter = programs::arbiter().display().to_string();
        bench.start(Path::new("/bin/sh"), ["-c", &script, &arbiter]).finish().expect_code(7);
        expect_next(&bench.read("log"));
    }
    let script = "ARBITER_LOG_FORMAT=no exec \"$0\" serve";
    let arbiter = programs::arbiter().display().to_string();
    let refused = bench.start(Path::new("/bin/sh"), ["-c", script, &arbiter]);
    refused.finish().expect_error(2);
}
