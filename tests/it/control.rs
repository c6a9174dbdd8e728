//! Tests that steer a run in progress, over its socket and by keys.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::resume::{resume, slow, uninterrupted, wait_for_pairs};
use crate::support::bench::{Bench, Finished};
use crate::support::plan::{Plan, RunOutput};
use crate::support::snapshot::{expect_next, without_figures, without_machine};
use crate::support::{phrases, store, wait_for};

/// Runs `arbiter ctl run …` for the run in `bench`.
fn ctl(bench: &Bench, command: &[&str]) -> Finished {
    let results = bench.path("results").display().to_string();
    let args = ["ctl", "--results", &results, "run"];
    bench.arbiter(args.into_iter().chain(command.iter().copied())).finish()
}

fn status(bench: &Bench) -> Value {
    ctl(bench, &["status", "--format", "json"]).expect_code(0).json()
}

#[test]
fn a_paused_run_resumes_with_the_same_result() {
    let bench = Bench::new();
    let running = slow(&bench).start();
    wait_for_pairs(&bench, 2);
    let reply = ctl(&bench, &["pause"]).expect_code(0).stdout;
    expect_next(reply.split(';').next().expect("a first part"));
    wait_for("the pairs in flight are over", || {
        let status = status(&bench);
        assert_eq!(status["state"], "paused");
        (status["pairs_in_flight"] == 0).then_some(())
    });
    let before = store::pairs(&bench.path("results")).len();
    // A test cannot wait for an event that must not happen, so it watches for a while.
    std::thread::sleep(Duration::from_secs(1));
    let status_text = ctl(&bench, &["status"]).expect_code(0).stdout;
    assert!(status_text.contains(&format!(" {before} of 12 ")), "{status_text}");
    expect_next(&without_figures(&status_text));
    assert_eq!(ctl(&bench, &["resume"]).expect_code(0).stdout, "running\n");
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
}

#[test]
fn a_drained_run_says_so_and_can_be_resumed() {
    let bench = Bench::new();
    let running = slow(&bench).start();
    let before = wait_for_pairs(&bench, 2);
    let reply = ctl(&bench, &["drain"]).expect_code(0).stdout;
    expect_next(reply.split(';').next().expect("a first part"));
    let finished = running.finish().expect_code(75);
    expect_next(&without_figures(&finished.stderr));
    bench.wait_until_quiet();
    let after = store::pairs(&bench.path("results")).len();
    assert!(after > before && after <= before + 4, "{before}, then {after}");
    assert!(!bench.path("results/run.ctl").exists(), "the socket is left behind");
    ctl(&bench, &["status"]).expect_error(3);
    let finished = resume(&bench).finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
}

#[test]
fn a_stopped_run_gives_up_its_games_and_can_be_resumed() {
    let bench = Bench::new();
    let running = slow(&bench).start();
    wait_for_pairs(&bench, 2);
    let boards = wait_for("both games are seen", || {
        let reply = ctl(&bench, &["boards"]).expect_code(0).json();
        (reply["boards"]["shown"].as_array()?.len() == 2).then_some(reply)
    });
    assert_eq!((&boards["state"], &boards["boards"]["count"]), (&"running".into(), &2.into()));
    let csv = ctl(&bench, &["boards", "--format", "csv"]).expect_code(0).stdout;
    assert!(csv.lines().next().is_some_and(|head| head.contains("pair")), "{csv}");
    let table = ctl(&bench, &["status", "--format", "md"]).expect_code(0).stdout;
    expect_next(&without_figures(&without_machine(&table)));
    let reply = ctl(&bench, &["stop"]).expect_code(0).stdout;
    expect_next(reply.split(';').next().expect("a first part"));
    let finished = running.finish().expect_code(75);
    expect_next(&without_figures(&finished.stderr));
    bench.wait_until_quiet();
    let finished = resume(&bench).finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
}

#[test]
fn concurrency_can_be_raised_and_lowered() {
    let bench = Bench::new();
    let running = slow(&bench).set("concurrency", 1).start();
    wait_for_pairs(&bench, 1);
    assert_eq!(ctl(&bench, &["concurrency", "4"]).expect_code(0).stdout, "concurrency 4\n");
    wait_for("four pairs are played at once", || {
        let status = status(&bench);
        assert_eq!(status["concurrency"], 4);
        (status["pairs_in_flight"] == 4).then_some(())
    });
    assert_eq!(ctl(&bench, &["concurrency", "1"]).expect_code(0).stdout, "concurrency 1\n");
    wait_for("one pair is played at a time", || {
        (status(&bench)["pairs_in_flight"].as_u64() <= Some(1)).then_some(())
    });
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
    bench.wait_until_quiet();
}

/// Sends a command to the socket of a run and returns the reply.
fn call(socket: &Path, request: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).expect("the run listens");
    stream.write_all(request).expect("the run reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the run answers in UTF-8");
    answer
}

#[test]
fn invalid_control_requests_get_an_error_and_change_nothing() {
    let bench = Bench::new();
    let running = slow(&bench).start();
    wait_for_pairs(&bench, 1);
    ctl(&bench, &["halt"]).expect_error(3);
    ctl(&bench, &["concurrency", "0"]).expect_error(3);
    let socket = bench.path("results/run.ctl");
    let mode = std::fs::metadata(&socket).expect("the socket is a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // A silent connection must not block other connections or the end of the run.
    let _silent = UnixStream::connect(&socket).expect("the run listens");
    let long = [b'x'; 5000];
    for request in [&b"\n"[..], b"halt\x1b[2J\n", b"\xff\xfe\n", b"pause\0\n", &long] {
        let answer = call(&socket, request);
        assert!(answer.starts_with("error: "), "{answer}");
        assert!(answer.ends_with('\n') && answer.lines().count() == 1, "{answer:?}");
        assert!(!answer.trim_end().contains(char::is_control), "{answer:?}");
    }
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
}

#[test]
fn the_socket_of_a_killed_run_is_replaced() {
    let bench = Bench::new();
    let running = slow(&bench).start();
    wait_for_pairs(&bench, 1);
    running.signal(Signal::KILL);
    assert_eq!(running.finish().code, None);
    bench.wait_until_quiet();
    assert!(bench.path("results/run.ctl").exists(), "nobody could remove it");
    ctl(&bench, &["pause"]).expect_error(3);
    let running = resume(&bench);
    // Pairs may have been stored before the kill, so they do not show that the new socket exists.
    let answer = wait_for("the new socket answers", || {
        let answer = ctl(&bench, &["status", "--format", "json"]);
        (answer.code == Some(0)).then(|| answer.json())
    });
    assert_eq!(answer["state"], "running");
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
    ctl(&bench, &["pause"]).expect_error(3);
}

/// A run in a separate terminal, created by `script`, whose keyboard the test controls.
struct Seat(Child);

impl Seat {
    /// Starts the run in a terminal, whose shell executes `then` after the run.
    fn at(bench: &Bench, plan: Plan<'_>, then: &str) -> Seat {
        let line = plan.command_line();
        let script = bench
            .write("terminal.sh", format!("trap : INT\n{line}\ncode=$?\n{then}\nexit $code\n"));
        let mut command = Command::new("script");
        command.args(["-qefc", &format!("sh {}", script.display()), "/dev/null"]);
        command.current_dir(bench.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
        Seat(command.spawn().expect("script is part of util-linux"))
    }

    fn press(&mut self, keys: &str) {
        let keyboard = self.0.stdin.as_mut().expect("stdin is piped");
        keyboard.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Returns the terminal's output and the exit code.
    fn leave(mut self) -> (String, Option<i32>) {
        let mut shown = Vec::new();
        let screen = self.0.stdout.as_mut().expect("stdout is piped");
        screen.read_to_end(&mut shown).expect("a screen can be read");
        let status = self.0.wait().expect("a child can be waited for");
        (String::from_utf8_lossy(&shown).into_owned(), status.code())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // The process has ended unless the test has failed.
        let _ = self.0.kill();
    }
}

#[test]
fn keys_steer_a_run_and_the_terminal_is_restored() {
    let bench = Bench::new();
    let mut seat = Seat::at(&bench, slow(&bench), "stty -a");
    wait_for_pairs(&bench, 1);
    seat.press("p");
    wait_for("it is paused", || (status(&bench)["state"] == "paused").then_some(()));
    seat.press("++-x");
    wait_for("there are three places", || (status(&bench)["concurrency"] == 3).then_some(()));
    seat.press("r");
    wait_for("it goes on", || (status(&bench)["state"] == "running").then_some(()));
    seat.press("d");
    let (shown, code) = seat.leave();
    assert_eq!(code, Some(75), "{shown}");
    for phrase in [phrases::KEYS, phrases::PAUSED[0], phrases::PAUSED[1], " icanon", " echo "] {
        assert!(shown.contains(phrase), "the terminal has lost {phrase}: {shown}");
    }
    let finished = resume(&bench).finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
}

#[test]
fn a_signal_also_restores_the_terminal() {
    let bench = Bench::new();
    let mut seat = Seat::at(&bench, slow(&bench), "stty -a");
    wait_for_pairs(&bench, 1);
    // Ctrl-C as a terminal sends it, then the key with the same effect.
    seat.press("\u{3}q");
    let (shown, code) = seat.leave();
    assert!(shown.contains(" icanon") && shown.contains(" echo "), "{shown}");
    assert_eq!(code, Some(130), "{shown}");
    store::assert_consistent(&bench.path("results"));
}
