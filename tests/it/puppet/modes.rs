//! Tests of each mode, grouped by kind of misdeed.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;

use rustix::process::{Pid, Signal, kill_process};

use super::{greeted, mode_names, started};
use crate::support::bench::Bench;
use crate::support::process::{kill_marked, marked, wait_until_gone};
use crate::support::talk::Talk;
use crate::support::wait_for;

const SEARCH: [&str; 2] = ["position startpos moves e2e4", "go nodes 1"];

/// Requests one move and returns all output including the move.
fn search(talk: &mut Talk) -> Vec<String> {
    SEARCH.iter().for_each(|line| talk.send(line));
    talk.read_until("bestmove")
}

/// Returns the move of a well-behaved puppet in this position.
fn honest_move() -> String {
    search(&mut greeted("")).pop().expect("there is a move")
}

#[test]
fn every_mode_is_documented() {
    let modes = mode_names();
    assert_eq!(modes.len(), 69, "{modes:?}");
    for mode in ["good", "hang", "lying-score"] {
        assert!(modes.iter().any(|name| name == mode), "{modes:?}");
    }
}

#[test]
fn perft_counts_follow_the_rules_of_the_mode() {
    // Black can capture either pawn after its double step.
    let ask = |args: &str| {
        let mut talk = greeted(args);
        talk.send("position fen 4k3/8/8/8/2p5/8/1P1P4/4K3 w - - 0 1");
        talk.send("go perft 2");
        talk.read_until("Nodes searched").pop().expect("there is a count")
    };
    let honest: u64 = ask("").rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert_eq!(ask("--mode no-en-passant"), format!("Nodes searched: {}", honest - 2));
    // Neither pawn has a piece in front of it.
    assert_eq!(ask("--mode leaping-pawns"), format!("Nodes searched: {honest}"));
}

#[test]
fn wrong_move_modes_play_the_documented_moves() {
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
fn an_illegal_move_is_rejected_by_the_puppet_itself() {
    let wrong = search(&mut greeted("--mode illegal-move")).pop().expect("there is a move");
    let wrong = wrong.trim_start_matches("bestmove ");
    let mut talk = greeted("");
    talk.send(&format!("position startpos moves e2e4 {wrong}"));
    assert_eq!(talk.exit().code(), Some(99));
}

#[test]
fn a_misdeed_can_be_delayed_to_a_later_game() {
    let honest = honest_move();
    let mut talk = greeted("--mode null-move --in-game 2");
    talk.send("ucinewgame");
    assert_eq!(search(&mut talk).last(), Some(&honest));
    talk.send("ucinewgame");
    assert_eq!(search(&mut talk).pop().as_deref(), Some("bestmove 0000"));
}

#[test]
fn crash_modes_end_as_documented() {
    let mut talk = greeted("--mode crash");
    SEARCH.iter().for_each(|line| talk.send(line));
    assert_eq!(talk.line(), None);
    assert_eq!(talk.exit().signal(), Some(6), "a crash is an abort");

    let mut talk = started("--mode exit-at-start");
    assert_eq!(talk.line(), None);
    assert_eq!(talk.exit().code(), Some(1));
}

#[test]
fn silent_modes_do_not_reply() {
    let mut talk = started("--mode mute");
    talk.send("uci");
    talk.assert_silent();

    let mut talk = started("--mode no-uciok");
    talk.send("uci");
    talk.read_until("option name Clear Hash");
    talk.assert_silent();
    talk.send("isready");
    talk.read_until("readyok");

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
    talk.read_until("info");
    talk.send("stop");
    talk.assert_silent();
    talk.send("isready");
    talk.read_until("readyok");
}

#[test]
fn late_modes_reply_after_the_limit() {
    let honest = honest_move();
    let timed = |args: &str, go: &str, stop: bool| {
        let mut talk = greeted(args);
        talk.send(SEARCH[0]);
        let start = std::time::Instant::now();
        talk.send(go);
        if stop {
            talk.send("stop");
        }
        assert_eq!(talk.read_until("bestmove").last(), Some(&honest), "{args}");
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
        ("flood", 30_000, 1 << 20),
        ("stderr-noise", 0, 0),
        ("nul-bytes", 2, 10),
        ("huge-line", 1, 16 << 20),
        ("lying-score", 4, 100),
        ("ignore-quit", 0, 0),
    ] {
        let mut talk = greeted(&format!("--mode {mode}"));
        let mut output = search(&mut talk);
        assert_eq!(output.pop().as_ref(), Some(&honest), "{mode}");
        assert!(output.len() > lines, "{mode} said {} lines", output.len());
        assert!(output.iter().map(String::len).sum::<usize>() > bytes, "{mode}");
        let again = search(&mut talk).len() > 2;
        assert_eq!(again, matches!(mode, "nul-bytes" | "lying-score"), "{mode}, second time");
    }
}

#[test]
fn an_endless_flood_has_no_move() {
    let mut talk = greeted("--mode flood-forever");
    SEARCH.iter().for_each(|line| talk.send(line));
    talk.send("stop");
    for _ in 0..200_000 {
        let line = talk.line().expect("a flood goes on");
        assert!(line.starts_with("info"), "{line}");
    }
}

/// Waits until `count` processes are found; while a process changes its program, it has no command
/// line for an instant.
fn wait_for_marked(bench: &Bench, count: usize) {
    let description = format!("{count} processes are found");
    wait_for(&description, || (marked(bench.marker()).len() == count).then_some(()));
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
fn only_a_kill_ends_a_mode_that_ignores_signals() {
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

/// Returns the reply to `uci`.
fn greeting(mode: &str) -> Vec<String> {
    let mut talk = started(&format!("--mode {mode}"));
    talk.send("uci");
    talk.read_until("uciok")
}

#[test]
fn greeting_modes_reply_as_documented() {
    let plain = greeting("good");
    assert_eq!(greeting("many-options").len(), plain.len() + 500);
    assert_eq!(greeting("no-options").len(), 3);
    let threads = "option name Threads type spin default 2 min 1 max 64";
    assert!(greeting("two-threads").iter().any(|line| line == threads));
    assert!(greeting("banner").iter().any(|line| line.starts_with("***")));
    assert!(greeting("bad-options").iter().any(|line| line == "option name type spin"));
    let mut talk = started("--mode double-uciok");
    talk.send("uci");
    talk.read_until("uciok");
    assert_eq!(talk.line().as_deref(), Some("uciok"));
    let mut talk = started("--mode exit-at-handshake");
    talk.send("uci");
    assert_eq!(talk.exit().code(), Some(1));
}

#[test]
fn move_format_modes_write_moves_as_documented() {
    let honest = honest_move();
    let word = honest.trim_start_matches("bestmove ");
    for (mode, expected) in [
        ("blank-bestmove", "bestmove".to_owned()),
        ("none-bestmove", "bestmove (none)".to_owned()),
        ("null-word", "bestmove NULL".to_owned()),
        ("same-square", "bestmove a1a1".to_owned()),
        ("crlf", format!("{honest}\r")),
    ] {
        let output = search(&mut greeted(&format!("--mode {mode}")));
        assert_eq!(output.last(), Some(&expected), "{mode}");
    }
    let mut talk = greeted("--mode blanks");
    SEARCH.iter().for_each(|line| talk.send(line));
    assert_eq!(talk.read_until(" \t bestmove").pop(), Some(format!(" \t bestmove   {word} \t ")));
    let mut talk = greeted("--mode early-bestmove");
    talk.send(SEARCH[0]);
    talk.read_until("bestmove a1a1");
    for mode in ["illegal-ponder", "unasked-ponder"] {
        let output = search(&mut greeted(&format!("--mode {mode}"))).pop();
        assert!(output.expect("a move").starts_with(&format!("{honest} ponder ")), "{mode}");
    }
    let mut talk = greeted("--mode no-newline");
    SEARCH.iter().for_each(|line| talk.send(line));
    talk.read_until("info");
    talk.assert_silent();
}

#[test]
fn special_moves_are_written_oddly() {
    let written_moves = |mode: &str, fen: &str, moves: &str| -> BTreeSet<String> {
        let one = |seed: u32| {
            let mut talk = greeted(&format!("--seed {seed} --mode {mode}"));
            talk.send(&format!("position fen {fen}{moves}"));
            talk.send("go nodes 1");
            talk.read_until("bestmove").pop().expect("there is a move")
        };
        (1..40).map(one).collect()
    };
    let promotions = written_moves("uppercase-promotion", "8/P6k/8/8/8/8/8/7K w - - 0 1", "");
    assert!(promotions.contains("bestmove a7a8Q"), "{promotions:?}");
    let castlings = written_moves("other-castling", "7k/8/8/8/8/8/3PPP1P/4K2R w K - 0 1", "");
    assert!(castlings.contains("bestmove e1h1"), "{castlings:?}");
}

#[test]
fn faulty_info_lines_come_directly_before_the_move() {
    for (mode, expected) in [
        ("mate-zero", "info depth 2 score mate 0"),
        ("bounds-last", "info depth 9 score mate -1 upperbound"),
        ("multipv-last", "info depth 9 multipv 2"),
        ("illegal-pv", "info depth 9 score cp 1 pv"),
        ("huge-numbers", "info score mate 999"),
    ] {
        let output = search(&mut greeted(&format!("--mode {mode}")));
        let last = &output[output.len() - 2];
        assert!(last.starts_with(expected), "{mode}: {last}");
    }
    assert_eq!(search(&mut greeted("--mode no-score")).len(), 1);
}

#[test]
fn exit_modes_exit_as_documented() {
    for (mode, code) in [("exit-in-game", 3), ("exit-after-bestmove", 0)] {
        let mut talk = greeted(&format!("--mode {mode}"));
        SEARCH.iter().for_each(|line| talk.send(line));
        assert_eq!(talk.exit().code(), Some(code), "{mode}");
    }
    let mut talk = greeted("--mode exit-after-game");
    talk.send("ucinewgame");
    search(&mut talk);
    assert!(talk.is_running());
    talk.send("ucinewgame");
    assert_eq!(talk.exit().code(), Some(0));
}

#[test]
fn a_mode_closes_its_input_and_keeps_running() {
    let bench = Bench::new();
    let mut talk = greeted(&format!("--mode close-stdin --marker {}", bench.marker()));
    search(&mut talk);
    wait_for_marked(&bench, 1);
    talk.send("quit");
    talk.assert_silent();
    assert!(talk.is_running());
}

#[test]
fn a_daemon_is_nobodys_child() {
    let bench = Bench::new();
    let mut talk = greeted(&format!("--mode spawn-daemon --marker {}", bench.marker()));
    search(&mut talk);
    wait_for_marked(&bench, 2);
    talk.send("quit");
    assert_eq!(talk.exit().code(), Some(0));
    wait_for_marked(&bench, 1);
}

#[test]
fn slow_modes_delay_as_documented() {
    let honest = honest_move();
    let start = std::time::Instant::now();
    let mut talk = greeted("--mode slow-ready --delay-ms 200");
    talk.send("isready");
    talk.read_until("readyok");
    assert!(start.elapsed().as_millis() >= 200);
    for (mode, go) in [("deaf --delay-ms 200", "go nodes 1"), ("exact-limit", "go movetime 200")] {
        let mut talk = greeted(&format!("--mode {mode}"));
        talk.send(SEARCH[0]);
        let start = std::time::Instant::now();
        talk.send(go);
        talk.send("stop");
        assert_eq!(talk.read_until("bestmove").last(), Some(&honest), "{mode}");
        assert!(start.elapsed().as_millis() >= 200, "{mode}");
    }
}

#[test]
fn the_puppet_ponders_on_request() {
    let pondering = |mode: &str| {
        let mut talk = greeted(&format!("--mode {mode}"));
        talk.send("setoption name Ponder value true");
        let answer = search(&mut talk).pop().expect("a move");
        assert!(answer.contains(" ponder "), "{answer}");
        talk.send(SEARCH[0]);
        talk.send("go ponder wtime 1000 btime 1000");
        talk.read_until("info");
        talk
    };
    let mut talk = pondering("good");
    talk.assert_silent();
    talk.send("ponderhit");
    talk.read_until("bestmove");
    pondering("impatient-ponder").read_until("bestmove");
}

#[test]
fn a_lifetime_limit_ends_the_puppet() {
    let mut talk = started("--mode mute --lifetime-s 0");
    assert_eq!(talk.exit().code(), Some(98));
}
