//! Tests of the permissions of workers on the server, and of programs on a worker.

use std::process::Command;

use serde_json::{Value, json};

use super::own_server::{COORDINATOR, nkey, unencrypted};
use super::{assert_untouched, distributed_plan};
use crate::resume::wait_for_pairs;
use crate::support::bench::Bench;
use crate::support::nats::{Client, Server, Worker, key};
use crate::support::phrases;
use crate::support::plan::Plan;
use crate::support::{store, wait_for};

/// Returns the subjects that a worker would need to create a consumer, with which it could make the
/// server send the messages of a stream to any subject.
fn consumers(stream: &str) -> Vec<String> {
    let calls = ["CREATE", "DURABLE.CREATE", "DELETE", "INFO", "MSG.NEXT"].iter();
    let api = calls.flat_map(|call| {
        ["", ".mine", ".mine.x"].map(|name| format!("$JS.API.CONSUMER.{call}.{stream}{name}"))
    });
    api.chain([format!("$JS.FC.{stream}.mine")]).collect()
}

#[test]
fn a_worker_cannot_read_results_stop_runs_or_remove_anything() {
    let bench = Bench::new();
    let Some(server) = unencrypted(&bench) else { return };
    let running = distributed_plan(&bench, &server).set("on", COORDINATOR).start();
    let _worker = Worker::join(&bench, "cluster/worker1.join");
    wait_for_pairs(&bench, 1);
    let mut thief = Client::connect_with(&server, &nkey(&bench, "worker1"));
    thief.subscribe("arbiter.run.*.word");
    let (subject, _) = thief.next();
    let token = subject.split('.').nth(2).expect("the subject names the run").to_owned();
    let (jobs, results) = (format!("ARBITER_JOBS_{token}"), format!("ARBITER_RESULTS_{token}"));
    for subject in [
        format!("arbiter.jobs.{token}.0"),
        format!("arbiter.run.{token}.word"),
        "arbiter.beacon".to_owned(),
        format!("$JS.API.CONSUMER.MSG.NEXT.{results}.collector"),
        format!("$JS.ACK.{results}.collector.1.1.1.1.0"),
        format!("$JS.ACK.{jobs}.workers.1.1.1.1.0"),
        format!("$JS.API.STREAM.MSG.GET.{results}"),
        format!("$JS.API.STREAM.PURGE.{jobs}"),
        format!("$JS.API.STREAM.DELETE.{jobs}"),
        format!("$JS.API.STREAM.DELETE.{results}"),
        format!("$JS.API.STREAM.UPDATE.{jobs}"),
        format!("$JS.API.CONSUMER.DELETE.{jobs}.workers"),
        // The worker cannot publish in the name of other workers.
        format!("arbiter.results.{token}.0.worker2"),
        format!("arbiter.run.{token}.join.worker2"),
        format!("arbiter.run.{token}.sign.worker2"),
        "arbiter.hello.worker2".to_owned(),
        "$O.ARBITER_PROGRAMS.M.x".to_owned(),
        "$JS.API.STREAM.DELETE.OBJ_ARBITER_PROGRAMS".to_owned(),
        // The worker cannot read anything that does not concern it.
        "$JS.API.INFO".to_owned(),
        format!("$JS.API.CONSUMER.INFO.{jobs}.workers"),
        "$JS.API.STREAM.NAMES".to_owned(),
        "$JS.API.STREAM.INFO.OBJ_ARBITER_PROGRAMS".to_owned(),
        "$JS.API.STREAM.MSG.GET.OBJ_ARBITER_PROGRAMS".to_owned(),
        format!("$JS.API.DIRECT.GET.{jobs}"),
        format!("$JS.API.DIRECT.GET.{results}"),
    ] {
        thief.publish(&subject, b"{}");
        assert!(thief.error().contains("Permissions Violation"), "{subject}");
    }
    for stream in [&jobs, &results, "OBJ_ARBITER_PROGRAMS"] {
        for subject in consumers(stream) {
            thief.publish(&subject, b"{}");
            assert!(thief.error().contains("Permissions Violation"), "{subject}");
        }
    }
    for subject in ["arbiter.results.>", "arbiter.jobs.>", "arbiter.hello.>", "_INBOX.>", ">"] {
        thief.listen(subject);
        assert!(thief.error().contains("Permissions Violation"), "{subject}");
    }
    // The worker cannot make the coordinator send such a message, by a request whose reply subject
    // is one of these calls.
    for reply in [
        format!("$JS.API.STREAM.DELETE.{jobs}"),
        format!("$JS.API.STREAM.DELETE.{results}"),
        format!("$JS.API.STREAM.PURGE.{results}"),
        format!("arbiter.jobs.{token}.11"),
        format!("arbiter.results.{token}.0.worker2"),
    ] {
        for question in ["head", "need"] {
            thief.ask(&format!("arbiter.run.{token}.{question}"), Some(&reply), b"");
        }
        // The worker cannot make the server send such a message either: the server answers a
        // malformed request with an empty message to the reply subject.
        let next = format!("$JS.API.CONSUMER.MSG.NEXT.{jobs}.workers");
        thief.ask(&next, Some(&reply), b"{");
    }
    thief.flush();
    assert_untouched(&bench, running);
    assert_eq!(store::remarks(&bench.path("results")), Vec::<String>::new());
}

#[test]
fn a_replaced_program_is_not_started() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let mut client = Client::connect(&server);
    client.subscribe("$O.ARBITER_PROGRAMS.M.*");
    let honest = Worker::start(&bench, &server, "a");
    let running = distributed_plan(&bench, &server).start();
    let (subject, genuine) = client.next();
    wait_for_pairs(&bench, 1);
    // A user with write permission on the server replaces the uploaded program with another.
    let evil = format!("#!/bin/sh\ntouch {}\n", bench.path("pwned").display());
    let script = bench.write("evil.sh", &evil);
    let digest = Command::new("openssl")
        .args(["dgst", "-sha256", "-binary", "-out"])
        .args([bench.path("digest"), script])
        .status();
    assert!(digest.expect("openssl is there").success());
    let digest = std::fs::read(bench.path("digest")).expect("openssl has written it");
    let mut about: Value = serde_json::from_slice(&genuine).expect("what is known of it is JSON");
    about["nuid"] = json!("evil");
    about["size"] = json!(evil.len());
    about["chunks"] = json!(1);
    about["digest"] = json!(format!("SHA-256={}", data_encoding::BASE64URL.encode(&digest)));
    client.publish("$O.ARBITER_PROGRAMS.C.evil", evil.as_bytes());
    client.replace(&subject, about.to_string().as_bytes());
    client.flush();
    let fooled = Worker::start(&bench, &server, "b");
    let results = bench.path("results");
    wait_for("it is refused", || {
        let remarks = store::remarks(&results);
        remarks.iter().any(|remark| remark.contains(phrases::NOT_SIGNED)).then_some(())
    });
    assert_untouched(&bench, running);
    assert_eq!(store::players(&results).keys().collect::<Vec<_>>(), ["a"]);
    assert!(!bench.path("pwned").exists(), "it was started");
    drop((honest, fooled));
}

#[test]
fn a_program_changed_on_the_worker_is_not_started() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let worker = Worker::start(&bench, &server, "a");
    assert_untouched(&bench, distributed_plan(&bench, &server).start());
    drop(worker);
    let folder = std::fs::read_dir(bench.path("programs-a")).expect("a worker has a folder");
    let folder = folder.flatten().next().expect("it has fetched a program").path();
    let program = folder.join("puppet");
    let genuine = std::fs::read(&program).expect("it is there");
    std::fs::remove_file(&program).expect("a file of ours");
    let evil = format!("#!/bin/sh\ntouch {}\n", bench.path("pwned").display());
    std::fs::write(&program, evil).expect("a file of ours");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&program, mode).expect("a file of ours");
    let _worker = Worker::start(&bench, &server, "a");
    distributed_plan(&bench, &server).set("name", "again").unset("pgn").run().expect_code(0);
    assert!(!bench.path("pwned").exists(), "it was started");
    assert!(std::fs::read(&program).expect("it is there") == genuine, "it was not fetched again");
}

/// Returns a run in which an engine misbehaves forever, so that only a limit of the worker can end
/// it.
fn greedy<'a>(bench: &'a Bench, server: &Server, misdeed: &str) -> Plan<'a> {
    let plan = Plan::new(bench, "match", 1);
    let plan = plan.puppet("A", misdeed).puppet("B", "--seed 2").set("deadlines move", 600);
    plan.unset("concurrency").set("on", server.url())
}

#[test]
fn a_worker_limits_resources_of_programs() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let trust = key(&bench);
    // The sandbox is off, so that only the limit on file sizes prevents an engine from writing its
    // log.
    let flags = ["--slots", "1", "--trust", &trust, "--sandbox", "off"];
    // CPU time: this engine thinks forever, and loses both games when it is killed.
    let busy = greedy(&bench, &server, "--mode flood-forever").start();
    let limits = ["--cpu-time", "1"];
    let worker = Worker::start_with(&bench, &server, "a", &[&flags[..], &limits].concat());
    let finished = busy.finish().expect_code(6);
    assert_eq!(finished.json()["losses"], 2, "{finished:#?}");
    drop(worker);
    // Files: this engine fails to log its input.
    let logs = bench.logs();
    let writer = greedy(&bench, &server, &logs).set("name", "files").start();
    let limits = ["--file-size", "0"];
    let worker = Worker::start_with(&bench, &server, "b", &[&flags[..], &limits].concat());
    let results = bench.path("results");
    wait_for("it cannot be started", || {
        let remarks = store::remarks(&results);
        remarks
            .iter()
            .any(|remark| remark.starts_with(&format!("b{}", phrases::NOT_PLAYED)))
            .then_some(())
    });
    // The coordinator has also started the engine, without limits.
    let mut written = std::fs::read_dir(bench.path("logs")).expect("a folder of ours").flatten();
    assert!(written.any(|file| file.metadata().expect("a file of ours").len() == 0));
    // Memory: no program starts with 1 MiB.
    let limits = ["--memory", "1"];
    let worker =
        (worker, Worker::start_with(&bench, &server, "c", &[&flags[..], &limits].concat()));
    wait_for("it cannot be started either", || {
        let remarks = store::remarks(&results);
        remarks
            .iter()
            .any(|remark| remark.starts_with(&format!("c{}", phrases::NOT_PLAYED)))
            .then_some(())
    });
    // A worker without limits plays the run.
    let _last = Worker::start_with(&bench, &server, "d", &flags);
    writer.finish().expect_code(0);
    drop(worker);
}
