//! Tests of UCI sessions.

use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::engine::Engine;

#[test]
fn handshake_declares_the_options() {
    let mut engine = Engine::start();
    engine.send_line("uci");
    let lines = engine.read_until("uciok");
    assert!(lines[0].starts_with("id name Palimpsest"));
    let names = [
        "Hash",
        "Threads",
        "MultiPV",
        "Move Overhead",
        "Eval",
        "Personality",
        "Disable",
        "Enable",
        "UCI_Chess960",
        "Ponder",
        "Clear Hash",
    ];
    for name in names {
        let start = format!("option name {name} type ");
        assert!(lines.iter().any(|line| line.starts_with(&start)), "{name}");
    }
    engine.send_line("quit");
}

#[test]
fn infinite_search_answers_but_keeps_its_move_until_stopped() {
    let mut engine = Engine::start();
    // The position is a mate in one, so the search itself finishes immediately.
    engine.send_line("position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
    engine.send_line("go infinite");
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(60));
        let lines = engine.sync();
        assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
    }
    engine.send_line("go depth 1");
    engine.send_line("stop");
    let lines = engine.read_until("bestmove");
    assert!(lines.iter().any(|line| line.contains("still running")), "{lines:?}");
    assert!(lines.last().is_some_and(|line| line.starts_with("bestmove a1a8")));
    engine.send_line("go depth 2");
    engine.best_move();
}

#[test]
fn node_limited_games_repeat() {
    let play = || {
        let mut engine = Engine::start();
        let mut game = String::from("position startpos moves");
        for _ in 0..12 {
            engine.send_line(&game);
            engine.send_line("go nodes 3000");
            let lines = engine.read_until("bestmove");
            let mv = lines.last().unwrap().split(' ').nth(1).unwrap().to_owned();
            game.push(' ');
            game.push_str(&mv);
        }
        engine.send_line("ucinewgame");
        engine.send_line("position startpos");
        engine.send_line("go nodes 3000");
        (game, engine.best_move())
    };
    let (game, again) = play();
    assert_eq!(play(), (game.clone(), again.clone()));
    assert_eq!(game.split(' ').nth(3), again.split(' ').nth(1));
}

#[test]
fn ended_games_have_no_best_move() {
    let mut engine = Engine::start();
    for fen in ["k7/2Q5/8/8/8/8/8/7K b - - 0 1", "R3k3/8/4K3/8/8/8/8/8 b - - 0 1"] {
        engine.send_line(&format!("position fen {fen}"));
        engine.send_line("go wtime 1000 btime 1000");
        assert_eq!(engine.best_move(), "bestmove (none)");
    }
}

#[test]
fn invalid_commands_are_reported_and_ignored() {
    let mut engine = Engine::start();
    for line in [
        "xyzzy",
        "position fen not a position at all",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position startpos moves e2e5",
        "position startpos moves e2e4 e2e4",
        "position startpos moves \u{e9}\u{e9}",
        "setoption name Hash value none",
        "setoption name Nothing",
        "setoption name Eval value psychic",
        "setoption name Personality value psychic",
        "setoption name Disable value moon",
        "go depth many",
        "go perft -",
    ] {
        engine.send_line(line);
        let lines = engine.sync();
        assert!(lines.len() == 1 && lines[0].starts_with("info string "), "{line}: {lines:?}");
    }
    engine.input.as_mut().unwrap().write_all(b"\xff\xfe\x00\n").unwrap();
    engine.send_line("go depth 3");
    assert_ne!(engine.best_move(), "bestmove (none)");
}

#[test]
fn a_bad_position_leaves_the_last_good_one() {
    let mut engine = Engine::start();
    engine.send_line("position startpos moves e2e4 c7c5");
    let shown = |engine: &mut Engine| {
        engine.send_line("d");
        engine.sync().into_iter().find(|line| line.starts_with("Fen: ")).expect("d shows the FEN")
    };
    let good = shown(&mut engine);
    for bad in [
        "position startpos moves d2d4 d7d5 d4d6",
        "position startpos moves d2d4 e1e2 d7d5",
        "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1g1 e8e9",
        "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 0 moves e1g1",
        "position fen 4k3/8/8/8/8/8/8/8 w - - 0 1 moves",
    ] {
        engine.send_line(bad);
        let lines = engine.sync();
        assert!(lines.len() == 1 && lines[0].starts_with("info string "), "{bad}: {lines:?}");
        assert_eq!(shown(&mut engine), good, "{bad}");
    }
}

#[test]
fn quoted_input_cannot_break_an_output_line() {
    let mut engine = Engine::start();
    let long = "x".repeat(100_000);
    for line in [
        format!("position startpos moves {long}"),
        format!("setoption name Eval value a\u{1b}[31m\u{7}\0{long}"),
        format!("setoption name {long}"),
        format!("go searchmoves {long} e2e4 depth 1"),
        format!("go depth {}", "x".repeat(2 << 20)),
    ] {
        engine.send_line(&line);
        let lines = engine.sync();
        let is_short = |line: &String| line.len() < 5_000 && !line.contains(char::is_control);
        assert!(!lines.is_empty() && lines.iter().all(is_short), "{} bytes", line.len());
    }
}

#[test]
fn search_moves_and_chess960_are_obeyed() {
    let mut engine = Engine::start();
    engine.send_line("go depth 4 searchmoves a2a3 h2h3");
    let best = engine.best_move();
    assert!(best.starts_with("bestmove a2a3") || best.starts_with("bestmove h2h3"), "{best}");
    engine.send_line("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    engine.send_line("go depth 1 searchmoves e1g1");
    assert!(engine.best_move().starts_with("bestmove e1g1"));
    engine.send_line("setoption name UCI_Chess960 value true");
    engine.send_line("go depth 1 searchmoves e1h1");
    assert!(engine.best_move().starts_with("bestmove e1h1"));
    engine.send_line("go perft 1");
    let lines = engine.read_until("Nodes searched");
    assert!(lines.iter().any(|line| line == "e1h1: 1"), "{lines:?}");
}

#[test]
fn moves_come_in_time() {
    let mut engine = Engine::start();
    for go in ["go wtime 200 btime 200 winc 1 binc 1", "go wtime 1 btime 1", "go movetime 60"] {
        let start = Instant::now();
        engine.send_line(go);
        engine.best_move();
        assert!(start.elapsed() < Duration::from_millis(600), "{go}");
    }
}

#[test]
fn pondering_waits_for_the_hit() {
    let mut engine = Engine::start();
    engine.send_line("position startpos moves e2e4 e7e5");
    engine.send_line("go ponder wtime 100 btime 100");
    std::thread::sleep(Duration::from_millis(250));
    let lines = engine.sync();
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
    engine.send_line("ponderhit");
    engine.best_move();
    engine.send_line("go ponder depth 2");
    engine.send_line("stop");
    engine.best_move();
}

#[test]
fn the_end_of_the_input_ends_a_search() {
    let mut engine = Engine::start();
    engine.send_line("go infinite");
    // Dropping the engine closes the engine's input and waits for the process.
}

#[test]
fn evaluations_are_chosen_by_name() {
    let mut engine = Engine::start();
    engine.send_line("position fen 4k3/8/8/8/8/8/7P/QRBNK3 w - - 0 1");
    engine.send_line("setoption name Eval value material");
    engine.send_line("eval");
    let lines = engine.sync();
    let last = "Evaluation: 2100 cp from White's side (material)";
    assert_eq!(lines.last().map(String::as_str), Some(last));
    assert!(lines.iter().any(|line| line.starts_with("material ")), "{lines:?}");
    engine.send_line("setoption name Eval value palimpsest");
    engine.send_line("eval");
    assert!(engine.sync().last().is_some_and(|line| line.ends_with("(palimpsest)")));
    engine.send_line("d");
    assert!(engine.sync().iter().any(|line| line.starts_with("Fen: 4k3/8/8/8/8/8/7P/QRBNK3 w")));
}

#[test]
fn features_are_switched_off_by_name() {
    let mut engine = Engine::start();
    let last = |engine: &mut Engine| {
        engine.send_line("eval");
        engine.sync().pop().expect("an evaluation is printed")
    };
    engine.send_line("setoption name Eval value rybka-1.0-beta");
    engine.send_line("position fen 4k3/8/8/8/3B4/8/8/4K3 w - - 0 1");
    let complete = last(&mut engine);
    engine.send_line("setoption name Disable value mob_bishop,tempo");
    assert_eq!(engine.sync(), [""; 0]);
    let reduced = last(&mut engine);
    assert_ne!(reduced, complete);
    engine.send_line("setoption name Disable value pawn_antimob");
    let lines = engine.sync();
    assert!(lines[0].starts_with("info string ") && lines[0].contains("mob_bishop"), "{lines:?}");
    assert_eq!(last(&mut engine), reduced);
    engine.send_line("go depth 4");
    assert_ne!(engine.best_move(), "bestmove (none)");
    engine.send_line("setoption name Disable value");
    assert_eq!(last(&mut engine), complete);
}

#[test]
fn every_personality_serves_the_protocol() {
    for personality in ["palimpsest", "micromax", "rdchess"] {
        let mut engine = Engine::start();
        engine.send_line(&format!("setoption name Personality value {personality}"));
        engine.send_line("setoption name Hash value 2");
        assert_eq!(engine.sync(), [""; 0], "{personality}");
        let fen = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1";
        for (position, go, best) in [
            ("startpos", "go nodes 2000", ""),
            ("startpos moves e2e4 e7e5", "go depth 4", ""),
            ("startpos moves e2e4 e7e5", "go movetime 50", ""),
            ("startpos", "go wtime 200 btime 200 winc 1 binc 1", ""),
            ("startpos", "go depth 3 searchmoves a2a3", "bestmove a2a3"),
            (&format!("fen {fen}"), "go depth 6", "bestmove a1a8"),
            (&format!("fen {fen}"), "go mate 1", "bestmove a1a8"),
        ] {
            engine.send_line("ucinewgame");
            engine.send_line(&format!("position {position}"));
            engine.send_line(go);
            let answer = engine.best_move();
            assert!(answer.starts_with(best) && !answer.contains("none"), "{go}: {answer}");
        }
        engine.send_line("position startpos moves d2d4 d7d5");
        for (go, end) in [("go infinite", "stop"), ("go ponder wtime 60 btime 60", "ponderhit")] {
            engine.send_line(go);
            engine.read_until("info depth");
            // The delay is longer than the clock of the second search.
            std::thread::sleep(Duration::from_millis(150));
            let lines = engine.sync();
            assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
            engine.send_line(end);
            let answer = engine.best_move();
            assert!(answer.contains(" ponder "), "{personality} {go}: {answer}");
        }
    }
}

#[test]
fn features_of_a_search_are_switched_off_by_name() {
    let mut engine = Engine::start();
    let nodes = |engine: &mut Engine| {
        engine.send_line("ucinewgame");
        engine.send_line("go depth 5");
        let lines = engine.read_until("bestmove");
        let last = lines.iter().rev().find(|line| line.contains(" nodes ")).cloned();
        let last = last.expect("an iteration is reported");
        let words: Vec<&str> = last.split(' ').collect();
        let at = words.iter().position(|&word| word == "nodes").expect("nodes are named");
        words[at + 1].parse::<u64>().expect("nodes are a number")
    };
    engine.send_line("setoption name Personality value rdchess");
    let complete = nodes(&mut engine);
    engine.send_line("setoption name Disable value null_move,hung");
    assert_ne!(nodes(&mut engine), complete);
    engine.send_line("setoption name Disable value");
    assert_eq!(nodes(&mut engine), complete);
    engine.send_line("setoption name Disable value moon");
    let lines = engine.sync();
    assert!(lines[0].contains("razoring") && lines[0].contains("bishop_pair"), "{lines:?}");
    engine.send_line("setoption name Eval value blunder");
    engine.send_line("eval");
    assert!(engine.sync().last().is_some_and(|line| line.ends_with("(blunder)")));
    assert_ne!(nodes(&mut engine), complete);
}

#[test]
fn normal_builds_have_no_options_for_search_parameters() {
    let mut engine = Engine::start();
    engine.send_line("uci");
    let lines = engine.read_until("uciok");
    let is_tunable =
        |line: &&String| line.contains("reverse_futility_") || line.contains("Without");
    let tunable: Vec<&String> = lines.iter().filter(is_tunable).collect();
    assert_eq!(tunable.is_empty(), cfg!(not(feature = "tuning")), "{tunable:?}");
}

#[test]
fn a_network_trained_on_own_games_can_play() {
    let folder = tempfile::tempdir().unwrap();
    let palimpsest = |words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palimpsest"));
        let done = command.args(words.split(' ')).current_dir(&folder).output().unwrap();
        assert!(done.status.success(), "{words}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    palimpsest("datagen games --nodes 50 --positions 5000 --seed 3");
    let output = palimpsest("train games --out net --epochs 2 --batch 500 --loss loss.svg");
    assert!(output.contains("epoch   2  training 0."), "{output}");
    let output = palimpsest("train games --out other --from net --epochs 1 --rate 0.0001");
    assert!(output.contains("epoch   1  training 0."), "{output}");
    let games = std::fs::read(folder.path().join("games")).unwrap();
    std::fs::write(folder.path().join("cut"), &games[..games.len() - 7]).unwrap();
    for (words, code, reason) in [
        ("games --loss ./games", 2, "./games: two of the files"),
        ("games --loss /dev/null", 2, "regular file"),
        ("games --loss x.checkpoint", 2, "x.checkpoint: two of the files"),
        ("games --loss net", 2, "net: two of the files"),
        ("games --loss nowhere/loss.svg", 2, "nowhere/loss.svg: its folder"),
        ("games ./games", 2, "./games: two of the files"),
        ("games cut", 3, "cut: record "),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palimpsest"));
        let words = format!("train {words} --from net --epochs 1 --out x");
        let done = command.args(words.split(' ')).current_dir(&folder).output().unwrap();
        let output = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code() == Some(code) && output.contains(reason), "{output}");
    }
    let drawn = std::fs::read_to_string(folder.path().join("loss.svg")).unwrap();
    assert!(drawn.contains("validation"), "{drawn}");

    let mut engine = Engine::start();
    engine.send_line("eval");
    let output = engine.sync();
    assert!(
        output[1].contains("no terms") && output.last().unwrap().ends_with("(nnue)"),
        "{output:?}"
    );
    let mut score = |file: &str| {
        engine.send_line(&format!("setoption name EvalFile value {file}"));
        let output = engine.sync();
        engine.send_line("position startpos moves e2e4");
        engine.send_line("go depth 1");
        let lines = engine.read_until("bestmove");
        let line = lines.iter().find_map(|line| line.split_once(" score ")?.1.split_once(" nps "));
        (line.expect("a search has a score").0.to_owned(), output)
    };
    let net = folder.path().join("net");
    let (own, _) = score(&net.display().to_string());
    let mut bytes = std::fs::read(&net).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let damaged = folder.path().join("damaged");
    std::fs::write(&damaged, bytes).unwrap();
    for (file, reason) in [(damaged.display().to_string(), "hash"), ("nothere".into(), "nothere")] {
        let input = folder.path().join("input");
        std::fs::write(&input, format!("setoption name EvalFile value {file}\nisready\n")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_palimpsest"));
        let done = command.stdin(std::fs::File::open(&input).unwrap()).output().unwrap();
        let output = String::from_utf8(done.stdout).unwrap();
        assert_eq!(done.status.code(), Some(3), "{output}");
        assert!(
            output.starts_with("info string EvalFile: ") && output.contains(reason),
            "{output}"
        );
        assert!(!output.contains("readyok"), "{output}");
    }
    let (embedded, output) = score("<embedded>");
    assert!(output.is_empty() && embedded != own, "{own:?} {output:?}");
}
