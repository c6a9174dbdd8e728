//! Tests of machines with a wrong clock or a full disk.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::faults::resume;
use super::{assert_untouched, distributed_plan, impatient, own_server};
use crate::resume::{PAIRS, slow, uninterrupted, wait_for_pairs};
use crate::support::bench::Bench;
use crate::support::disk::Disk;
use crate::support::nats::{Server, Worker};
use crate::support::plan::RunOutput;
use crate::support::{programs, store};

/// Returns the path of libfaketime, which gives a program a wrong time, if it is installed.
fn liar() -> Option<PathBuf> {
    let found = Path::new("/usr/lib").read_dir().ok()?.flatten().find_map(|entry| {
        let library = entry.path().join("faketime/libfaketime.so.1");
        library.is_file().then_some(library)
    });
    if found.is_none() {
        let notice = "not installed: faketime; tests/run installs it";
        assert!(std::env::var_os("CI").is_none(), "{notice}");
        eprintln!("skipped: {notice}");
    }
    found
}

/// Returns the environment variables that shift a program's clock by `shift`. Time passes at its
/// normal rate, so the durations that the machine measures are right.
fn shifted(library: &Path, shift: &str) -> [String; 4] {
    [
        format!("LD_PRELOAD={}", library.display()),
        format!("FAKETIME={shift}"),
        "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
        "DONT_FAKE_MONOTONIC=1".to_owned(),
    ]
}

fn year(env: &[String]) -> i64 {
    let output =
        Command::new("env").args(env).args(["date", "+%Y"]).output().expect("date is there");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a year is a number")
}

#[test]
fn the_clock_of_a_worker_does_not_matter() {
    let bench = Bench::new();
    let (Some(library), Some(server)) = (liar(), Server::start(&bench, "")) else { return };
    let (ahead, behind) = (shifted(&library, "+10y"), shifted(&library, "-20y"));
    let now = year(&[]);
    assert!(year(&ahead) >= now + 9 && year(&behind) <= now - 19, "nobody is lied to");
    let _workers = [
        Worker::start_as(&bench, &server, "ahead", &ahead.each_ref().map(String::as_str)),
        Worker::start_as(&bench, &server, "behind", &behind.each_ref().map(String::as_str)),
    ];
    assert_untouched(&bench, distributed_plan(&bench, &server).start());
    let results = bench.path("results");
    assert_eq!(store::remarks(&results), Vec::<String>::new());
    let players = store::players(&results);
    assert_eq!(players.keys().collect::<Vec<_>>(), ["ahead", "behind"], "both have played");
    let games = bench.read("games.pgn");
    assert!(games.contains(&format!("[Date \"{now}.")), "{games}");
}

/// Checks encryption and signatures too: coordinator and workers are up to two hours apart.
#[test]
fn an_encrypted_server_accepts_clocks_that_are_an_hour_wrong() {
    let bench = Bench::new();
    let (Some(library), Some((server, _))) = (liar(), own_server::up(&bench)) else { return };
    let join = |name: &str, shift: &str| {
        let env = shifted(&library, shift);
        let arbiter = programs::arbiter().display().to_string();
        let (file, programs) = (format!("cluster/{name}.join"), format!("programs-{name}"));
        let args = [&arbiter, "worker", "--on", &file, "--slots", "2", "--programs", &programs];
        Worker::from(bench.start(Path::new("env"), env.iter().map(String::as_str).chain(args)))
    };
    let ahead = shifted(&library, "+1h").join(" ");
    let plan = slow(&bench).unset("concurrency").set("on", own_server::COORDINATOR);
    let running = plan.start_by(&format!("{ahead} exec \"$0\" \"$@\""));
    let workers = [join("worker1", "-1h"), join("worker2", "+1h")];
    let finished = running.finish().expect_code(0);
    // Near midnight, the dates in the PGN differ, so only moves are compared.
    assert_eq!(RunOutput::read(&bench, &finished).moves(), uninterrupted().moves());
    let results = bench.path("results");
    assert_eq!(store::remarks(&results), Vec::<String>::new());
    assert_eq!(store::players(&results).keys().collect::<Vec<_>>(), ["worker1", "worker2"]);
    drop(workers);
    own_server::stop(server);
}

#[test]
fn a_coordinator_reports_a_full_disk_and_continues_when_there_is_room() {
    let bench = Bench::new();
    let Some(disk) = Disk::mount(bench.path("results")) else { return };
    let Some(server) = Server::start(&bench, "") else { return };
    let _workers = ["a", "b"].map(|name| Worker::start(&bench, &server, name));
    let running = impatient(&bench, &server).start();
    wait_for_pairs(&bench, 1);
    disk.fill();
    let finished = running.finish().expect_code(7);
    assert!(finished.stderr.contains("arbiter.db"), "{finished:#?}");
    disk.clear();
    store::assert_consistent(&bench.path("results"));
    let stored = store::pairs(&bench.path("results")).len();
    assert!(stored < PAIRS, "the run was over before the disk was full");
    assert_untouched(&bench, resume(&bench, &server));
}
