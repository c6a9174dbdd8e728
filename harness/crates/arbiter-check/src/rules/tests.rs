use std::collections::BTreeSet;

use super::*;
use crate::engine_info::EngineInfo;
use crate::transcript::tests::transcript;
use crate::{Outcome, judge};

/// Returns the outcome of a check for a transcript in the notation that [`transcript`] parses.
fn outcome(name: &str, text: &str) -> Outcome {
    let check = checks().find(|check| check.name == name).expect(name);
    let transcript = transcript(text);
    let engine = EngineInfo::read(&transcript);
    judge(
        check,
        &Case { transcript: &transcript, engine: &engine, margin: Duration::from_millis(100) },
    )
}

#[track_caller]
fn passes(name: &str, text: &str) {
    assert_eq!(outcome(name, text), Outcome::Passed, "{name}");
}

#[track_caller]
fn fails(name: &str, text: &str, words: &str) {
    match outcome(name, text) {
        Outcome::Failed(reason) => assert!(reason.contains(words), "{name}: {reason}"),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn check_names_are_unique_and_each_check_has_a_requirement() {
    let names: Vec<&str> = checks().map(|check| check.name).collect();
    let unique: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(unique.len(), names.len());
    assert!(names.len() >= 50);
    for check in checks() {
        assert!(check.rule.len() > 10 && !check.rule.ends_with('.'), "{}", check.name);
    }
}

#[test]
fn only_move_positions_have_one_legal_move() {
    use shakmaty::Position;
    for words in positions::ONLY_MOVES {
        let position = board::set_up(words, false).expect(words);
        assert_eq!(position.legal_moves().len(), 1, "{words}");
    }
}

#[test]
fn every_position_of_a_script_can_be_set_up() {
    use crate::script::Step;
    let engine = EngineInfo::read(&transcript(
        "> uci
         < option name Hash type spin default 16 min 1 max 64
         < option name Threads type spin default 1 min 1 max 4
         < option name MultiPV type spin default 1 min 1 max 9
         < option name Ponder type check default false
         < option name UCI_Chess960 type check default false
         < option name Clear Hash type button
         < option name Move Overhead type spin default 1 min 1 max 9
         < uciok",
    ));
    for check in checks() {
        let script = (check.script)(Script::new(&engine))
            .unwrap_or_else(|why| panic!("{}: {why}", check.name));
        let has_nonsense = ["position-nonsense", "position-illegal-move"].contains(&check.name);
        let lines = script.steps.iter().flat_map(|step| match step {
            Step::Send(_, lines) => lines.clone(),
            _ => Vec::new(),
        });
        for line in lines.filter(|_| !has_nonsense) {
            let Some(words) = line.trim().strip_prefix("position ") else { continue };
            let is_chess960 = check.name.starts_with("chess960") && check.name != "chess960-off";
            let set_up = board::set_up(words.trim(), is_chess960);
            assert!(set_up.is_some(), "{}: {line}", check.name);
        }
    }
}

#[test]
fn answers_to_uci_are_judged() {
    let uci = |line: &str| format!("> uci\n< id name X\n< id author Y\n< {line}\n< uciok");
    let hash = "option name Hash type spin default 16 min 1 max 64";
    for name in
        ["uciok", "id-name", "id-author", "option-lines", "option-defaults", "handshake-clean"]
    {
        passes(name, &uci(hash));
    }
    fails("id-name", "> uci\n< id author Y\n< uciok", "no id name");
    fails("id-name", "> uci\n< id name\n< uciok", "empty");
    for (line, words) in [
        ("option", "no name"),
        ("option name X type wheel default round", "known type"),
        ("option name X type spin default 5 min 9 max 1", "min is more"),
        ("option name X type spin default 5", "needs the numbers"),
        ("option name X type combo default a", "needs values"),
        ("option name X type check", "needs a default"),
    ] {
        fails("option-lines", &uci(line), words);
    }
    for line in [
        "option name X type spin default 50 min 1 max 9",
        "option name X type check default maybe",
        "option name X type combo default c var a var b",
    ] {
        fails("option-defaults", &uci(line), "its own default");
    }
    fails("option-names", &uci(&format!("{hash}\n< option name hash type button")), "twice");
    fails("silence-before-uci", "< readyok\n> uci\n< uciok", "before uci");
    passes("silence-before-uci", "< Hello, I am an engine\n> uci\n< uciok");
    fails("handshake-clean", "> uci\n< Hello\n< uciok", "'Hello'");
}

#[test]
fn answers_are_counted_and_judged() {
    passes("bestmove-once", "> go depth 1\n< bestmove e2e4");
    fails("bestmove-once", "> go depth 1\n< bestmove e2e4\n< bestmove e2e4", "2 bestmove");
    fails("bestmove-legal", "> go depth 1\n< bestmove e2e5", "not a legal move");
    fails("bestmove-legal", "> go depth 1\n< bestmove Nf3", "not a legal move");
    let pv = "> go depth 1\n< info depth 1 score cp 1 pv e2e4 e7e5\n< bestmove";
    passes("bestmove-is-pv", &format!("{pv} e2e4"));
    fails("bestmove-is-pv", &format!("{pv} d2d4"), "bestmove d2d4");
    passes("bestmove-ponder-legal", "> go depth 1\n< bestmove e2e4 ponder e7e5");
    fails("bestmove-ponder-legal", "> go depth 1\n< bestmove e2e4 ponder d2d4", "ponder d2d4");
    let mated = "> position fen R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1\n> go depth 3\n< bestmove";
    let then = "> position startpos\n> go depth 2\n< bestmove e2e4";
    passes("mated-position", &format!("{mated} (none)\n{then}"));
    fails("mated-position", &format!("{mated} g8h8\n{then}"), "in a position without moves");
    let mate = "> position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1\n> go depth 3\n< bestmove";
    passes("mate-in-one", &format!("{mate} a1a8"));
    fails("mate-in-one", &format!("{mate} a1a7"), "does not mate");
}

#[test]
fn answers_before_or_long_after_stop_fail() {
    passes("stop", "> go infinite\n= 200\n> stop\n< bestmove e2e4");
    fails("stop", "> go infinite\n< bestmove e2e4\n= 200\n> stop", "before stop");
    passes("stop-prompt", "> go infinite\n> stop\n= 100\n< bestmove e2e4");
    fails("stop-prompt", "> go infinite\n> stop\n= 200\n< bestmove e2e4", "210 ms after stop");
    fails("stop-idle", "> stop\n< bestmove e2e4", "without a command");
    passes("exit-status", "> quit\n- exit code 0");
    fails("exit-status", "> quit\n- exit code 3", "exit code 3");
    passes("ponderhit", "> go ponder wtime 1000 btime 1000\n> ponderhit\n= 900\n< bestmove e2e4");
    let late = "> go ponder wtime 1000 btime 1000\n> ponderhit\n= 1100\n< bestmove e2e4";
    fails("ponderhit", late, "after ponderhit");
    let early = "> go ponder wtime 300 btime 300\n< bestmove e2e4\n> stop";
    fails("ponder-waits", early, "before ponderhit or stop");
}

#[test]
fn limits_are_kept() {
    passes("go-movetime-kept", "> go movetime 300\n= 380\n< bestmove e2e4");
    fails("go-movetime-kept", "> go movetime 300\n= 395\n< bestmove e2e4", "took 405 ms");
    fails("go-movetime-used", "> go movetime 300\n< bestmove e2e4", "took 10 ms");
    fails("go-depth-kept", "> go depth 4\n< info depth 5 nodes 1\n< bestmove e2e4", "depth 5");
    passes("go-nodes-kept", "> go nodes 100000\n< info nodes 150000\n< bestmove e2e4");
    fails("go-nodes-kept", "> go nodes 100000\n< info nodes 150001\n< bestmove e2e4", "150001");
    fails("go-searchmoves", "> go searchmoves a2a3\n< bestmove e2e4", "e2e4");
    passes("go-mate", "> go mate 2\n< info score mate 2\n< bestmove e2e4");
    fails("go-mate", "> go mate 2\n< info score mate 3\n< bestmove e2e4", "no 'score mate 2'");
    passes("go-perft", "> go perft 3\n< Nodes searched: 8902");
    passes("go-perft", "> go perft 3\n< 8,902 leaves");
    fails("go-perft", "> go perft 3\n< nodes 18902", "8902");
    passes("bench", "! Nodes searched  : 123\n- exit code 0");
    fails("bench", "< done\n- exit code 0", "number of nodes");
    let search =
        |nodes| format!("> go nodes 9\n< info score cp 1 nodes {nodes}\n< bestmove e2e4\n");
    passes("search-repeats", &(search(9) + &search(9)));
    fails("search-repeats", &(search(9) + &search(10)), "e2e4 after 10 nodes");
}

#[test]
fn info_lines_are_judged() {
    let said = |lines: &[&str]| {
        let infos: String = lines.iter().map(|line| format!("< info {line}\n")).collect();
        format!("> go depth 5\n{infos}< bestmove e2e4")
    };
    let full = "depth 5 seldepth 7 multipv 1 score cp 20 lowerbound nodes 900 nps 9000 hashfull 3 \
                tbhits 0 time 10 pv e2e4 e7e5";
    for name in ["info-score", "info-syntax", "info-pv-legal", "info-seldepth", "info-nodes-grow"] {
        passes(name, &said(&[full, "string anything goes, depth x"]));
    }
    fails("info-score", &said(&["depth 5 nodes 3"]), "no info line with depth and score");
    fails("info-syntax", &said(&["depth x"]), "not a count");
    fails("info-syntax", &said(&["score 20"]), "score 20");
    fails("info-syntax", &said(&["hashfull 1001"]), "1000");
    fails("info-syntax", &said(&["speed 9"]), "unknown word 'speed'");
    fails("info-pv-legal", &said(&["depth 1 pv e2e4 e2e4"]), "'e2e4' is not legal");
    fails("info-currmove-legal", &said(&["currmove e2e5 currmovenumber 1"]), "e2e5");
    fails("info-depth-grows", &said(&["depth 5", "depth 4"]), "depth 5 and then 4");
    fails("info-nodes-grow", &said(&["nodes 5", "nodes 4"]), "nodes 5 and then 4");
    fails("info-nodes-grow", &said(&["depth 4"]), "no nodes");
    fails("info-seldepth", &said(&["depth 5 seldepth 4 score cp 1"]), "less than depth");
    fails("info-nps", &said(&["nodes 1000 time 1000 nps 2000"]), "about 1000");
    passes("info-time", &said(&["time 10", "time 90"]));
    fails("info-time", &said(&["time 900"]), "10 ms after go");
    fails("info-while-thinking", &said(&["depth 1 score cp 4"]), "no score until the move");
    let mate = |score| {
        format!(
            "> position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1\n> go depth 4\n\
             < info depth 4 score {score}\n< bestmove a1a8"
        )
    };
    passes("info-mate", &mate("mate 1"));
    fails("info-mate", &mate("cp 9999"), "cp 9999");
    fails("info-point-of-view", &said(&["score cp -900"]), "is -900");
}

#[test]
fn lines_of_multipv_are_counted_and_ordered() {
    let said = |lines: &[(i64, i64, &str)]| {
        let infos: String = lines
            .iter()
            .map(|(line, cp, first)| {
                format!("< info depth 5 multipv {line} score cp {cp} pv {first}\n")
            })
            .collect();
        format!("> go depth 5\n{infos}< bestmove e2e4")
    };
    let three = [(1, 30, "e2e4"), (2, 20, "d2d4"), (3, 10, "g1f3")];
    passes("multipv-count", &said(&three));
    fails("multipv-count", &said(&three[..2]), "[1, 2], expected [1, 2, 3]");
    let same = [(1, 30, "e2e4"), (2, 20, "e2e4"), (3, 10, "g1f3")];
    fails("multipv-count", &said(&same), "2 different moves");
    let [a, b, c] = three;
    passes("multipv-order", &said(&[a, b, c, (4, 0, "c2c4")]));
    fails("multipv-order", &said(&[a, b, c, (4, 15, "c2c4")]), "[30, 20, 10, 15]");
}
