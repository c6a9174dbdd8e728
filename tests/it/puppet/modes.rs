//! What each mode does, one test per kind of misdeed.

use std::os::unix::process::ExitStatusExt;

use rustix::process::{Pid, Signal, kill_process};

use super::{greeted, help, started};
use crate::support::bench::Bench;
use crate::support::process::{kill_marked, marked, wait_until_gone};
use crate::support::talk::Talk;
use crate::support::wait_for;

const SEARCH: [&str; 2] = ["position startpos moves e2e4", "go nodes 1"];

/// Asks for one move and returns all that is said up to it.
fn search(talk: &mut Talk) -> Vec<String> {
    SEARCH.iter().for_each(|line| talk.send(line));
    talk.until("bestmove")
}

/// The move that a well-behaved puppet plays here.
fn honest_move() -> String {
    search(&mut greeted("")).pop().expect("there is a move")
}

#[test]
fn every_mode_is_documented() {
    let help = help();
    let values = help.split("Possible values:").nth(1).expect("modes are listed");
    let values = values.split("[default").next().expect("a list ends");
    let modes: Vec<&str> = values
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "))
        .map(|line| line.split_once(':').expect("each mode has a description").0)
        .collect();
    assert_eq!(modes.len(), 25, "{modes:?}");
    for mode in ["good", "hang", "lying-score"] {
        assert!(modes.contains(&mode), "{modes:?}");
    }
}

#[test]
fn en_passant_can_be_left_out_of_a_count() {
    // Black can take either pawn that is about to move two squares.
    let ask = |args: &str| {
        let mut talk = greeted(args);
        talk.send("position fen 4k3/8/8/8/2p5/8/1P1P4/4K3 w - - 0 1");
        talk.send("go perft 2");
        talk.until("Nodes searched").pop().expect("there is a count")
    };
    let honest: u64 = ask("").rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert_eq!(ask("--mode no-en-passant"), format!("Nodes searched: {}", honest - 2));
}

#[test]
fn wrong_moves_are_wrong_in_their_way() {
    let honest = honest_move();
    for (mode, expected) in [
        ("illegal-move", None),
        ("garbage-bestmove", Some("bestmove knight-takes-everything")),
        ("null-move", Some("bestmove 0000")),
    ] {
        let mut talk = greeted(&format!("--mode {mode} --after 2"));
        assert_eq!(search(&mut talk).last(), Some(&honest), "{mode} before its time");
        let wrong = search(&mut talk).pop().expect("there is a move");
        match expected {
            Some(expected) => assert_eq!(wrong, expected),
            None => assert_eq!(wrong.len(), "bestmove a1a1".len(), "{wrong}"),
        }
        assert_ne!(wrong, honest, "{mode}");
        assert_eq!(search(&mut talk).pop(), Some(wrong), "{mode} must persist");
    }
}

#[test]
fn an_illegal_move_is_one_that_the_puppet_itself_refuses() {
    let wrong = search(&mut greeted("--mode illegal-move")).pop().expect("there is a move");
    let wrong = wrong.trim_start_matches("bestmove ");
    let mut talk = greeted("");
    talk.send(&format!("position startpos moves e2e4 {wrong}"));
    assert_eq!(talk.exit().code(), Some(99));
}

#[test]
fn a_misdeed_waits_for_its_game() {
    let honest = honest_move();
    let mut talk = greeted("--mode null-move --in-game 2");
    talk.send("ucinewgame");
    assert_eq!(search(&mut talk).last(), Some(&honest));
    talk.send("ucinewgame");
    assert_eq!(search(&mut talk).pop().as_deref(), Some("bestmove 0000"));
}

#[test]
fn it_can_die_in_its_ways() {
    let mut talk = greeted("--mode crash");
    SEARCH.iter().for_each(|line| talk.send(line));
    assert_eq!(talk.line(), None);
    assert_eq!(talk.exit().signal(), Some(6), "a crash is an abort");

    let mut talk = started("--mode exit-at-start");
    assert_eq!(talk.line(), None);
    assert_eq!(talk.exit().code(), Some(1));
}

#[test]
fn it_can_be_silent_in_its_ways() {
    let mut talk = started("--mode mute");
    talk.send("uci");
    talk.assert_silent();

    let mut talk = started("--mode no-uciok");
    talk.send("uci");
    talk.until("option name Clear Hash");
    talk.assert_silent();
    talk.send("isready");
    talk.until("readyok");

    let mut talk = greeted("--mode no-readyok");
    talk.send("isready");
    talk.assert_silent();
    search(&mut talk);

    let mut talk = greeted("--mode hang");
    SEARCH.iter().for_each(|line| talk.send(line));
    ["stop", "isready", "quit"].iter().for_each(|line| talk.send(line));
    talk.assert_silent();
    assert!(talk.is_running());

    let mut talk = greeted("--mode no-bestmove-answer-stop");
    SEARCH.iter().for_each(|line| talk.send(line));
    talk.until("info");
    talk.send("stop");
    talk.assert_silent();
    talk.send("isready");
    talk.until("readyok");
}

#[test]
fn it_can_be_late_in_its_ways() {
    let honest = honest_move();
    let timed = |args: &str, go: &str, stop: bool| {
        let mut talk = greeted(args);
        talk.send(SEARCH[0]);
        let start = std::time::Instant::now();
        talk.send(go);
        if stop {
            talk.send("stop");
        }
        assert_eq!(talk.until("bestmove").last(), Some(&honest), "{args}");
        start.elapsed().as_millis()
    };
    assert!(timed("--mode slow --delay-ms 300", "go wtime 1 btime 1", false) >= 300);
    assert!(timed("--mode slow --delay-ms 60000", "go wtime 1 btime 1", true) < 30_000);
    assert!(timed("--mode late-bestmove --delay-ms 100", "go wtime 1 btime 200", true) >= 300);
    assert!(timed("--mode partial-line", "go nodes 1", false) >= 60);
    assert!(timed("--delay-ms 100", "go nodes 1", false) >= 100);
}

#[test]
fn noise_comes_before_an_honest_move() {
    let honest = honest_move();
    for (mode, lines, bytes) in [
        ("flood", 100_000, 5 << 20),
        ("stderr-noise", 0, 0),
        ("nul-bytes", 2, 10),
        ("huge-line", 1, 16 << 20),
        ("lying-score", 4, 100),
        ("ignore-quit", 0, 0),
    ] {
        let mut talk = greeted(&format!("--mode {mode}"));
        let mut said = search(&mut talk);
        assert_eq!(said.pop().as_ref(), Some(&honest), "{mode}");
        assert!(said.len() > lines, "{mode} said {} lines", said.len());
        assert!(said.iter().map(String::len).sum::<usize>() > bytes, "{mode}");
        let again = search(&mut talk).len() > 2;
        assert_eq!(again, matches!(mode, "nul-bytes" | "lying-score"), "{mode}, second time");
    }
}

#[test]
fn a_flood_without_end_has_no_move() {
    let mut talk = greeted("--mode flood-forever");
    SEARCH.iter().for_each(|line| talk.send(line));
    talk.send("stop");
    for _ in 0..200_000 {
        let line = talk.line().expect("a flood goes on");
        assert!(line.starts_with("info"), "{line}");
    }
}

/// Waits until so many processes are found: while a process changes its program
/// it has no command line for an instant.
fn wait_for_marked(bench: &Bench, count: usize) {
    let what = format!("{count} processes are found");
    wait_for(&what, || (marked(bench.marker()).len() == count).then_some(()));
}

#[test]
fn a_closed_pipe_leaves_the_process_behind() {
    let bench = Bench::new();
    let mut talk = greeted(&format!("--mode disconnect --marker {}", bench.marker()));
    SEARCH.iter().for_each(|line| talk.send(line));
    assert_eq!(talk.line(), None);
    assert!(talk.is_running());
    wait_for_marked(&bench, 1);
}

#[test]
fn a_grandchild_outlives_the_puppet_and_holds_its_pipe() {
    let bench = Bench::new();
    let mut talk = greeted(&format!("--mode spawn-grandchild --marker {}", bench.marker()));
    search(&mut talk);
    wait_for_marked(&bench, 2);
    talk.send("quit");
    assert_eq!(talk.exit().code(), Some(0));
    wait_for_marked(&bench, 1);
    talk.assert_silent();
    kill_marked(bench.marker());
    assert_eq!(talk.line(), None, "the pipe is closed when the grandchild is gone");
    wait_until_gone(bench.marker());
}

#[test]
fn only_a_kill_ends_what_ignores_everything_else() {
    type Request = fn(&mut Talk, Pid);
    let requests: [Request; 3] = [
        |talk, _| talk.send("quit"),
        |talk, _| talk.hang_up(),
        |_, pid| kill_process(pid, Signal::TERM).expect("a child can be sent a signal"),
    ];
    for request in requests {
        let bench = Bench::new();
        let args = format!("--mode ignore-quit --ignore-term --marker {}", bench.marker());
        let mut talk = greeted(&args);
        wait_for_marked(&bench, 1);
        let pid = marked(bench.marker())[0];
        request(&mut talk, pid);
        talk.assert_silent();
        assert!(talk.is_running());
        kill_process(pid, Signal::KILL).expect("a child can be sent a signal");
        assert_eq!(talk.exit().signal(), Some(9));
    }
}

#[test]
fn a_life_has_an_end() {
    let mut talk = started("--mode mute --lifetime-s 0");
    assert_eq!(talk.exit().code(), Some(98));
}
