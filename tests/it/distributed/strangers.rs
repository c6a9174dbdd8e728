//! Tests of strangers and of misbehaving workers.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rustix::process::Signal;

use super::{assert_untouched, distributed_plan};
use crate::resume::wait_for_pairs;
use crate::support::bench::Bench;
use crate::support::nats::{Client, Server, Worker, key};
use crate::support::phrases;
use crate::support::{store, wait_for};

/// Length of attempt and proof at the start of a result, in bytes.
pub const HEADER: usize = 36;

pub fn unpacked(payload: &[u8]) -> String {
    let mut text = String::new();
    let unpacking = ZlibDecoder::new(&payload[HEADER..]).read_to_string(&mut text);
    unpacking.expect("results are packed JSON");
    text
}

/// Returns the result of a worker that was given this job but sends `text`.
pub fn repacked(genuine: &[u8], text: &str) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(genuine[..HEADER].to_vec(), Compression::fast());
    packer.write_all(text.as_bytes()).expect("memory takes it");
    packer.finish().expect("memory takes it")
}

#[test]
fn duplicate_and_invalid_results_change_nothing_and_are_recorded() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let _worker = Worker::start(&bench, &server, "a");
    let mut client = Client::connect(&server);
    client.subscribe("arbiter.results.*.*.a");
    let running = distributed_plan(&bench, &server).start();
    let (subject, genuine) = client.next();
    // Until the pair is on disk, another result counts as duplicate, not as late.
    wait_for_pairs(&bench, 1);
    let &[_, _, run, pair, "a"] = &subject.split('.').collect::<Vec<_>>()[..] else {
        panic!("expected a subject of run, pair and worker, got {subject}");
    };
    // A duplicate is followed by bytes that are not a result.
    for payload in [genuine.clone(), [&genuine[..HEADER], b"garbage"].concat()] {
        client.publish(&subject, &payload);
    }
    // Copies in the name of another worker follow, for this pair and for a later pair; then many
    // invalid results.
    for pair in [pair, "11"] {
        client.publish(&format!("arbiter.results.{run}.{pair}.mallory"), &genuine);
    }
    for _ in 0..100 {
        client.publish(&format!("arbiter.results.{run}.11.mallory"), &vec![b'x'; 50_000]);
    }
    client.flush();
    assert_untouched(&bench, running);
    let remarks = store::remarks(&bench.path("results")).join("\n");
    assert_eq!(remarks.matches(&format!("a: {}", phrases::DOUBLED)).count(), 2);
    let unproven = format!("mallory: {}", phrases::NOT_GIVEN);
    let unproven = remarks.matches(&unproven);
    assert_eq!(unproven.count(), 3, "the first, the tenth and the hundredth: {remarks}");
    let players = store::players(&bench.path("results"));
    assert_eq!(players.keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_worker_starts_only_programs_signed_by_a_trusted_key() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let elsewhere = Bench::new();
    let trust = key(&elsewhere);
    let wary = Worker::start_with(&bench, &server, "wary", &["--slots", "2", "--trust", &trust]);
    let running = distributed_plan(&bench, &server).start();
    let results = bench.path("results");
    wait_for("the refusal is written down", || {
        let remarks = store::remarks(&results);
        remarks.iter().any(|remark| remark.contains(phrases::NOT_TRUSTED)).then_some(())
    });
    assert!(!bench.path("programs-wary").exists(), "it has fetched a program");
    // The run waits for other workers.
    let _worker = Worker::start(&bench, &server, "a");
    assert_untouched(&bench, running);
    assert_eq!(store::players(&results).keys().collect::<Vec<_>>(), ["a"]);
    wary.signal(Signal::INT);
    let finished = wary.finish().expect_code(0);
    assert!(finished.stderr.contains("--trust ed25519:"), "{finished:#?}");
}

#[test]
fn unreachable_and_refusing_servers_have_an_exit_code() {
    let bench = Bench::new();
    let secret = "wordthatnobodymaysee";
    let auth = format!("authorization {{\n  user: \"me\"\n  password: \"{secret}\"\n}}");
    let Some(mut server) = Server::start(&bench, &auth) else { return };
    let trust = key(&bench);
    let worker = |url: &str| {
        let args = ["worker", "--on", url, "--name", "a", "--slots", "1", "--trust", &trust];
        bench.arbiter(args).finish()
    };
    worker(&server.url()).expect_refusal(8, &["authorization"]);
    let wrong = server.url().replace("://", "://me:wrong@");
    worker(&wrong).expect_refusal(8, &["authorization"]);
    distributed_plan(&bench, &server).run().expect_refusal(8, &["authorization"]);
    assert!(!store::has_run(&bench.path("results"), "run"), "it has begun a run");

    // The password is in a file and in the URL; no output contains it.
    let file = bench.write("password", format!("{secret}\n")).display().to_string();
    let credentials = format!("user=me,password-file={file}");
    let by_file = ["--slots", "1", "--trust", &trust, "--nats", &credentials];
    let playing = Worker::start_with(&bench, &server, "a", &by_file);
    let url = server.url().replace("://", &format!("://me:{secret}@"));
    let running = distributed_plan(&bench, &server).set("on", url).start();
    wait_for_pairs(&bench, 1);
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    assert!(finished.stderr.contains(" --resume run --on nats://127.0.0.1:"), "{finished:#?}");
    playing.signal(Signal::INT);
    let played = playing.finish().expect_code(0);
    for text in [&finished.stderr, &finished.stdout, &played.stderr, &played.stdout] {
        assert!(!text.contains(secret), "{text}");
    }
    for entry in std::fs::read_dir(bench.path("results")).expect("there are results") {
        let bytes = std::fs::read(entry.expect("an entry can be read").path()).unwrap_or_default();
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "the store has the password");
    }
    server.kill();
    worker(&server.url()).expect_refusal(8, &[phrases::NO_SERVER]);
}

#[test]
fn local_only_resources_are_rejected() {
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let plan = distributed_plan(&bench, &server).set("stderr-dir", bench.path("logs").display());
    plan.run().expect_refusal(3, &["--on", "stderr"]);
    assert!(!store::has_run(&bench.path("results"), "run"));
}
