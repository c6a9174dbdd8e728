//! Tests of the limit on open files. The limit applies to a process, so these tests run in a
//! separate process.

use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use arbiter_process::{Launch, Process, Spawner};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn shell(script: &str) -> (Spawner, Process, mpsc::Receiver<String>) {
    let launch = Launch {
        program: "sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        ..Launch::default()
    };
    let (sender, lines) = mpsc::channel();
    let spawner = Spawner::start().unwrap();
    let sink = move |chunk: arbiter_process::Chunk| {
        chunk.lines.into_iter().all(|line| sender.send(line).is_ok())
    };
    let process = spawner.spawn(&launch, sink).unwrap();
    (spawner, process, lines)
}

#[test]
fn a_process_can_be_used_when_no_file_can_be_opened() {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (_spawner, mut process, lines) = shell("read line; echo $line; exit 3");
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limit }).unwrap();
    let early = process.exit_within(Duration::from_millis(50));
    process.write(b"alive\n").unwrap();
    let line = lines.recv();
    let late = process.exit_within(Duration::from_secs(10));
    setrlimit(Resource::Nofile, limit).unwrap();
    assert_eq!((early, line.as_deref()), (None, Ok("alive")));
    assert_eq!(late.as_deref(), Some("exit code 3"));
}

#[test]
fn the_limit_is_raised_for_arbiter_but_not_for_engines() {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = getrlimit(Resource::Nofile);
    let least = before.current.map(|most| most.min(512));
    if std::env::var_os("OPEN_FILES").is_none() {
        // The test runs in a new process, in which the limit has not been raised yet.
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_limit_is_raised_for_arbiter_but_not_for_engines"]);
        assert!(command.env("OPEN_FILES", "1").status().unwrap().success());
        return;
    }
    setrlimit(Resource::Nofile, Rlimit { current: least, ..before }).unwrap();
    for _ in 0..2 {
        let (_spawner, _process, lines) = shell("ulimit -Sn");
        assert_eq!(lines.recv().ok(), least.map(|most| most.to_string()));
        let after = getrlimit(Resource::Nofile);
        assert_eq!(after.current, after.maximum);
    }
}
