//! Tests of search limits and reply times.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use palimpsest::eval::Variant;

use crate::engine::Engine;

/// Returns the word after `name` in a line.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut words = line.split(' ');
    words.find(|word| *word == name)?;
    words.next()
}

fn number(line: &str, name: &str) -> i64 {
    let word = field(line, name).unwrap_or_else(|| panic!("no {name} in {line}"));
    word.parse().unwrap_or_else(|_| panic!("{name} is no number in {line}"))
}

/// Returns the `info` lines of the last iteration.
fn last_iteration(lines: &[String]) -> Vec<&String> {
    let infos: Vec<&String> = lines.iter().filter(|line| line.contains(" pv ")).collect();
    let depth = number(infos.last().expect("an iteration was reported"), "depth");
    infos.into_iter().filter(|line| number(line, "depth") == depth).collect()
}

#[test]
fn multipv_lines_are_sorted_from_the_best() {
    let mut engine = Engine::start();
    for (position, lines, expected) in [
        ("startpos moves e2e4 e7e5", 4, 4),
        ("fen rR4k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", 4, 1),
        ("fen 7k/8/8/8/8/8/8/K6R b - - 0 1", 256, 2),
        ("fen 6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", 5, 5),
    ] {
        engine.send_line(&format!("setoption name MultiPV value {lines}"));
        engine.send_line(&format!("position {position}"));
        engine.send_line("go depth 6");
        let output = engine.read_until("bestmove");
        let last = last_iteration(&output);
        let ranks: Vec<i64> = last.iter().map(|line| number(line, "multipv")).collect();
        assert_eq!(ranks, (1..=expected).collect::<Vec<_>>(), "{position} {last:?}");
        let moves: BTreeSet<_> = last.iter().map(|line| field(line, "pv")).collect();
        assert_eq!(moves.len(), last.len(), "{position} {last:?}");
        let worth = |line: &String| match field(line, "mate") {
            Some(_) => 100_000 / number(line, "mate"),
            None => number(line, "cp"),
        };
        let scores: Vec<i64> = last.iter().map(|line| worth(line)).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{position} {last:?}");
        let best = output.last().and_then(|line| field(line, "bestmove"));
        assert_eq!(best, field(last[0], "pv"), "{position}");
    }
    engine.send_line("setoption name MultiPV value 3");
    engine.send_line("position startpos");
    engine.send_line("go depth 5 searchmoves a2a3 h2h3");
    let output = engine.read_until("bestmove");
    let moves: BTreeSet<_> = last_iteration(&output).iter().map(|line| field(line, "pv")).collect();
    assert_eq!(moves, [Some("a2a3"), Some("h2h3")].into());
}

#[test]
fn several_threads_answer_like_one() {
    let mut engine = Engine::start();
    engine.send_line("setoption name Threads value 5");
    for variant in Variant::ALL.map(Variant::name) {
        engine.send_line(&format!("setoption name Eval value {variant}"));
        for (position, go, best) in [
            ("startpos", "go nodes 30000", ""),
            ("startpos", "go nodes 1", ""),
            ("startpos moves e2e4 e7e5", "go depth 6", ""),
            ("startpos moves e2e4 e7e5", "go movetime 40", ""),
            ("startpos", "go wtime 200 btime 200 winc 1 binc 1", ""),
            ("startpos", "go depth 3 searchmoves a2a3", "bestmove a2a3"),
            ("fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "go depth 6", "bestmove a1a8"),
            ("fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "go mate 1", "bestmove a1a8"),
            ("fen k7/2Q5/8/8/8/8/8/7K b - - 0 1", "go depth 3", "bestmove (none)"),
        ] {
            engine.send_line(&format!("position {position}"));
            engine.send_line(go);
            let lines = engine.read_until("bestmove");
            let answer = lines.last().expect("the answer is the last line");
            assert!(answer.starts_with(best), "{variant} {go}: {answer}");
            assert_eq!(answer.ends_with("(none)"), best.ends_with("(none)"), "{variant} {go}");
            // The best move must be the first move of the last reported line.
            let reported = lines.iter().rev().find_map(|line| field(line, "pv"));
            if go.contains("depth") && reported.is_some() {
                assert_eq!(reported, field(answer, "bestmove"), "{variant} {go}");
            }
        }
    }
}

#[test]
fn all_threads_stop_in_time() {
    let mut engine = Engine::start();
    for threads in [2, 16, 1, 7] {
        engine.send_line(&format!("setoption name Threads value {threads}"));
        engine.send_line("go infinite");
        engine.read_until("info depth 5");
        let start = Instant::now();
        engine.send_line("stop");
        engine.best_move();
        assert!(start.elapsed() < Duration::from_secs(2), "{threads}");
    }
    engine.send_line("setoption name Threads value 3");
    engine.send_line("go infinite");
    // Dropping the engine closes the engine's input and waits for the process.
}

#[test]
fn an_infinite_search_waits_even_without_moves_to_search() {
    let mut engine = Engine::start();
    for (position, go) in [
        ("startpos", "go infinite depth 2"),
        ("startpos", "go infinite nodes 10"),
        ("startpos", "go infinite mate 1 movetime 1 wtime 1 btime 1"),
        ("fen k7/2Q5/8/8/8/8/8/7K b - - 0 1", "go infinite"),
        ("fen R3k3/8/4K3/8/8/8/8/8 b - - 0 1", "go"),
        ("startpos", "go ponder movetime 1"),
        ("startpos", "go ponder depth 1"),
        ("fen k7/2Q5/8/8/8/8/8/7K b - - 0 1", "go ponder"),
    ] {
        for threads in [1, 3] {
            engine.send_line(&format!("setoption name Threads value {threads}"));
            engine.send_line(&format!("position {position}"));
            engine.send_line(go);
            std::thread::sleep(Duration::from_millis(60));
            let lines = engine.sync();
            assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{go}: {lines:?}");
            engine.send_line(if go.contains("ponder movetime") { "ponderhit" } else { "stop" });
            engine.best_move();
        }
    }
}

#[test]
fn every_clock_gets_an_answer_in_time() {
    let mut engine = Engine::start();
    engine.send_line("setoption name Hash value 1");
    for threads in [1, 3] {
        engine.send_line(&format!("setoption name Threads value {threads}"));
        for go in [
            "go wtime 0 btime 0",
            "go wtime 1 btime 1",
            "go wtime -250 btime -250",
            "go wtime 1 btime 1 winc 1 binc 1",
            "go wtime 11 btime 11 movestogo 1",
            "go wtime 100 btime 100 movestogo 1",
            "go wtime 100 btime 100 movestogo 0",
            "go wtime 200 btime 200 movestogo 4000000000",
            "go movetime 0",
            "go movetime -1",
            "go movetime 20",
            "go btime 1000 binc 1000",
            "go nodes 0",
            "go nodes 1",
            "go depth 0",
            "go depth 1",
            "go mate 0 depth 2",
            "go wtime 9223372036854775807 btime 9223372036854775807 depth 3",
            "go winc 9223372036854775807 wtime 9223372036854775807 nodes 500",
            "go movetime 9223372036854775807 depth 2",
        ] {
            engine.send_line("position startpos moves e2e4 e7e5");
            let start = Instant::now();
            engine.send_line(go);
            let answer = engine.best_move();
            assert_ne!(answer, "bestmove (none)", "{go}");
            assert!(start.elapsed() < Duration::from_millis(900), "{go}");
        }
    }
}

#[test]
fn the_overhead_is_kept_free_in_time() {
    let mut engine = Engine::start();
    engine.send_line("setoption name Move Overhead value 900");
    engine.send_line("position startpos");
    let start = Instant::now();
    engine.send_line("go movetime 1000");
    let output = engine.read_until("bestmove");
    let last = last_iteration(&output);
    // The limit is generous: the search should take 100 ms.
    assert!(number(last[0], "time") <= 500, "{last:?}");
    assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
}

#[test]
fn a_bench_can_be_stopped() {
    let mut engine = Engine::start();
    engine.send_line("bench 60");
    assert_eq!(engine.sync(), [""; 0]);
    engine.send_line("stop");
    engine.read_until("info string the bench was stopped");
    engine.send_line("bench 1");
    engine.read_until("Nodes searched");
    engine.send_line("bench 60");
    let output = engine.close();
    assert!(output.iter().any(|line| line.ends_with("stopped")), "{output:?}");
}

#[test]
fn a_count_of_leaves_can_be_stopped() {
    let mut engine = Engine::start();
    let start = Instant::now();
    engine.send_line("go perft 30");
    assert_eq!(engine.sync(), [""; 0]);
    engine.send_line("stop");
    // The second perft is rejected while the first perft is running, so the second perft is
    // requested repeatedly.
    while !engine.sync().iter().any(|line| line == "Nodes searched: 400") {
        // The limit is generous, because the machine may be busy with other tests.
        assert!(start.elapsed() < Duration::from_secs(20));
        engine.send_line("go perft 2");
    }
    engine.send_line("go perft 50");
    let start = Instant::now();
    engine.close();
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn single_threaded_personalities_report_ignored_options() {
    let mut engine = Engine::start();
    engine.send_line("setoption name Threads value 4");
    engine.send_line("setoption name MultiPV value 2");
    assert_eq!(engine.sync(), [""; 0]);
    engine.send_line("setoption name Personality value micromax");
    let lines = engine.sync();
    assert!(lines.len() == 2 && lines[0].contains("one thread"), "{lines:?}");
    assert!(lines[1].contains("one line"), "{lines:?}");
    engine.send_line("go depth 4");
    let output = engine.read_until("bestmove");
    assert!(output.iter().all(|line| !line.contains("multipv 2")), "{output:?}");
    engine.send_line("setoption name Personality value palimpsest");
    engine.send_line("go depth 4");
    let output = engine.read_until("bestmove");
    assert!(output.iter().any(|line| line.contains("multipv 2")), "{output:?}");
}

#[test]
fn nodes_can_replace_time_on_any_machine() {
    let searched = |go: &str, rate: u64| {
        let mut engine = Engine::start();
        engine.send_line(&format!("setoption name nodestime value {rate}"));
        engine.send_line("position startpos moves e2e4 e7e5");
        engine.send_line(go);
        let output = engine.read_until("bestmove");
        let best = output.last().cloned();
        (number(&output[output.len() - 2], "nodes"), best)
    };
    // 90 ms remain after the overhead. The search can slightly exceed the limit, because the limit
    // is checked only every few nodes.
    let (nodes, best) = searched("go movetime 100", 100);
    assert!((9_000..9_512).contains(&nodes), "{nodes}");
    assert_eq!(searched("go movetime 100", 100), (nodes, best));
    // The search uses a share of one hour of virtual time. The real time is short.
    let (nodes, best) = searched("go wtime 3600000 btime 3600000 winc 1000 binc 1000", 1);
    assert!((30_000..1_000_000).contains(&nodes), "{nodes}");
    assert_eq!(searched("go wtime 3600000 btime 3600000 winc 1000 binc 1000", 1), (nodes, best));
}
