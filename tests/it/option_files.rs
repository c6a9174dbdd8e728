//! Tests of files that engine options name, such as networks: they are identified by content, not
//! by path.

use rustix::process::Signal;

use crate::resume::{resume, slow, wait_for_pairs};
use crate::support::bench::Bench;
use crate::support::nats::{Server, Worker};
use crate::support::plan::Plan;

/// BLAKE3 hashes of the files that [`with_nets`] writes, shortened as in reports.
const SHOWN: [&str; 2] = ["9234e0ab80744d11", "86151a3a463c5162"];

/// Returns a match between two puppets that differ only in the file of an option.
fn with_nets(bench: &Bench) -> Plan<'_> {
    bench.write("a.net", "weights of a");
    bench.write("b.net", "weights of b");
    ["A", "B"].into_iter().zip(["a.net", "b.net"]).fold(Plan::new(bench, "match", 4), {
        |plan, (name, net)| {
            let field = format!(",option.EvalFile=@{}", bench.path(net).display());
            plan.puppet_with(name, "--seed 1", &field)
        }
    })
}

#[test]
fn engines_read_option_files_and_reports_list_them() {
    let bench = Bench::new();
    with_nets(&bench).run().expect_code(0);
    let games = bench.read("games.pgn");
    let files = [("A", "a", SHOWN[0]), ("B", "b", SHOWN[1])];
    for game in games.split("[Event ").skip(1) {
        for (color, (engine, file, hash)) in
            ["White", "Black"].iter().flat_map(|color| files.map(|file| (color, file)))
        {
            let tag = format!("[{color}Files \"EvalFile={file}.net {hash}\"]");
            let plays = format!("[{color} \"{engine}\"]");
            assert_eq!(game.contains(&tag), game.contains(&plays), "{tag}\n{game}");
        }
    }
    let results = bench.path("results").display().to_string();
    let report = ["report", "--results", &results, "run", "--format", "md"];
    let report = bench.arbiter(report).finish().expect_code(0).stdout;
    assert!(report.contains(&format!("EvalFile=a.net {}", SHOWN[0])), "{report}");
    // The file's content determines the moves: with equal content, both games of a pair are equal.
    let moves = |bench: &Bench| {
        let text = bench.read("games.pgn");
        text.lines().filter(|line| line.starts_with('1')).map(str::to_owned).collect::<Vec<_>>()
    };
    let same = Bench::new();
    let plan = with_nets(&same);
    same.write("b.net", "weights of a");
    plan.run().expect_code(0);
    assert_ne!(moves(&bench), moves(&same));
}

#[test]
fn a_run_does_not_resume_with_a_changed_option_file() {
    let bench = Bench::new();
    bench.write("a.net", "weights of a");
    let field = format!(",option.EvalFile=@{}", bench.path("a.net").display());
    let running = slow(&bench).puppet_with("C", "--seed 1 --delay-ms 2", &field);
    let running = running.set("format", "json").start();
    wait_for_pairs(&bench, 1);
    running.signal(Signal::KILL);
    running.finish();
    bench.wait_until_quiet();
    bench.write("a.net", "weights of b");
    resume(&bench).finish().expect_refusal(3, &["a.net", "EvalFile", SHOWN[0], SHOWN[1]]);
    bench.write("a.net", "weights of a");
    resume(&bench).finish().expect_code(0);
}

#[test]
fn missing_option_files_are_named() {
    let bench = Bench::new();
    let plan = with_nets(&bench);
    std::fs::remove_file(bench.path("b.net")).expect("it was written");
    plan.run().expect_error(3);
}

#[test]
fn workers_are_sent_the_files() {
    let local = Bench::new();
    with_nets(&local).run().expect_code(0);
    let bench = Bench::new();
    let Some(server) = Server::start(&bench, "") else { return };
    let worker = Worker::start(&bench, &server, "a");
    let plan = with_nets(&bench).unset("concurrency").set("on", server.url());
    plan.run().expect_code(0);
    assert_eq!(bench.read("games.pgn"), local.read("games.pgn"));
    // The program and two networks, each under its hash.
    let fetched = std::fs::read_dir(bench.path("programs-a")).expect("a worker has a folder");
    let mut fetched: Vec<String> =
        fetched.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(fetched.len(), 3);
    fetched.retain(|hash| SHOWN.iter().any(|shown| hash.starts_with(shown)));
    assert_eq!(fetched.len(), 2);
    drop(worker);
}

#[test]
fn the_bundled_engine_does_not_play_without_its_network() {
    let bench = Bench::new();
    bench.write("bad.net", "palimpsest net 1");
    let bad = format!("bundled,name=bad,option.EvalFile=@{}", bench.path("bad.net").display());
    let args = ["match", &bad, "bundled", "--each", "nodes=100", "--pairs", "1"];
    bench.arbiter(args).finish().expect_error(3);
}
