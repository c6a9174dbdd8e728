//! What bounds a search.

use std::time::Duration;

use super::super::script::{Script, Wait};
use super::super::transcript::Event;
use super::super::{Case, Check, Grade};
use super::{answered_within, field, ms, nothing_more, number, one_answer, one_legal_answer_each};

/// A quiet middlegame, so that no search ends early.
const MIDDLEGAME: &str = "fen r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 0 9";

/// Mate in two by force.
const MATE_IN_TWO: &str = "fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1";

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "go-depth",
        grade: Grade::Must,
        says: "go depth ends by itself",
        script: |_| Ok(Script::after_handshake().search(MIDDLEGAME, "depth 4")),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "go-depth-kept",
        grade: Grade::Should,
        says: "go depth does not go deeper",
        script: |_| Ok(Script::after_handshake().search(MIDDLEGAME, "depth 4")),
        judge: depth_kept,
        is_timed: false,
    },
    Check {
        name: "go-nodes",
        grade: Grade::Must,
        says: "go nodes ends by itself",
        script: |_| Ok(Script::after_handshake().search(MIDDLEGAME, "nodes 20000")),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "go-nodes-kept",
        grade: Grade::Should,
        says: "go nodes visits at most half as many nodes more",
        script: |_| Ok(Script::after_handshake().search(MIDDLEGAME, "nodes 100000")),
        judge: nodes_kept,
        is_timed: false,
    },
    Check {
        name: "go-movetime",
        grade: Grade::Must,
        says: "go movetime ends by itself",
        script: |_| Ok(Script::after_handshake().search(MIDDLEGAME, "movetime 200")),
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "go-movetime-kept",
        grade: Grade::Should,
        says: "go movetime takes no longer than told",
        script: |_| Ok(Script::after_handshake().search(MIDDLEGAME, "movetime 300")),
        judge: |case| answered_within(case, Duration::from_millis(300)),
        is_timed: true,
    },
    Check {
        name: "go-movetime-used",
        grade: Grade::Nice,
        says: "go movetime uses at least half of the time",
        script: |_| Ok(Script::after_handshake().search(MIDDLEGAME, "movetime 300")),
        judge: time_used,
        is_timed: false,
    },
    Check {
        name: "go-clock",
        grade: Grade::Must,
        says: "with a clock, the answer comes before the time is over",
        script: |_| Ok(Script::after_handshake().search(MIDDLEGAME, "wtime 1000 btime 60000")),
        judge: |case| answered_within(case, Duration::from_millis(1000)),
        is_timed: true,
    },
    Check {
        name: "go-clock-black",
        grade: Grade::Must,
        says: "Black's clock is Black's",
        script: |_| {
            let black = "startpos moves e2e4 e7e5 g1f3 b8c6 f1b5";
            Ok(Script::after_handshake().search(black, "wtime 60000 btime 500 winc 1000 binc 0"))
        },
        judge: |case| answered_within(case, Duration::from_millis(500)),
        is_timed: true,
    },
    Check {
        name: "go-increment",
        grade: Grade::Must,
        says: "an increment is added after the move, so it cannot be spent on it",
        script: |_| {
            Ok(Script::after_handshake()
                .search(MIDDLEGAME, "wtime 200 btime 200 winc 2000 binc 2000"))
        },
        judge: |case| answered_within(case, Duration::from_millis(200)),
        is_timed: true,
    },
    Check {
        name: "go-movestogo",
        grade: Grade::Must,
        says: "with moves to the next time control, the answer comes before the time is over",
        script: |_| {
            let script = Script::after_handshake();
            let script = script.search(MIDDLEGAME, "wtime 500 btime 500 movestogo 20");
            Ok(script.search(MIDDLEGAME, "wtime 500 btime 500 movestogo 1"))
        },
        judge: |case| answered_within(case, Duration::from_millis(500)),
        is_timed: true,
    },
    Check {
        name: "go-tiny-times",
        grade: Grade::Must,
        says: "with hardly any time on the clock there is a legal move",
        script: |_| {
            let script = Script::after_handshake().search(MIDDLEGAME, "wtime 1 btime 1");
            let script = script.search(MIDDLEGAME, "wtime 5 btime 5 movestogo 1");
            Ok(script.search(MIDDLEGAME, "movetime 1"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "go-tiny-times-kept",
        grade: Grade::Should,
        says: "with hardly any time on the clock the answer comes at once",
        script: |_| {
            let script = Script::after_handshake().search(MIDDLEGAME, "wtime 20 btime 20");
            Ok(script.search(MIDDLEGAME, "movetime 5"))
        },
        judge: |case| answered_within(case, Duration::from_millis(20)),
        is_timed: true,
    },
    Check {
        name: "go-no-time",
        grade: Grade::Should,
        says: "a clock at or below zero, as after a late answer, is no reason to hang",
        script: |_| {
            let script =
                Script::after_handshake().search(MIDDLEGAME, "wtime 0 btime 1000 winc 10 binc 10");
            Ok(script.search(MIDDLEGAME, "wtime -50 btime 1000 winc 10 binc 10"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "go-mate",
        grade: Grade::Should,
        says: "go mate finds a mate of that length and ends",
        script: |_| Ok(Script::after_handshake().search(MATE_IN_TWO, "mate 2")),
        judge: mate_found,
        is_timed: false,
    },
    Check {
        name: "go-searchmoves",
        grade: Grade::Should,
        says: "go searchmoves plays one of the moves named",
        script: |_| {
            Ok(Script::after_handshake().search("startpos", "depth 3 searchmoves a2a3 h2h3"))
        },
        judge: among_searchmoves,
        is_timed: false,
    },
    Check {
        name: "go-searchmoves-first",
        grade: Grade::Nice,
        says: "other limits may follow the moves of go searchmoves",
        script: |_| {
            Ok(Script::after_handshake().search("startpos", "searchmoves b2b3 a2a3 depth 3"))
        },
        judge: among_searchmoves,
        is_timed: false,
    },
    Check {
        name: "go-bare",
        grade: Grade::Nice,
        says: "go without limits searches until stop",
        script: |_| {
            let script = Script::after_handshake().send("position startpos\ngo").collect_for(300);
            Ok(script.send("stop").expect("bestmove").collect_for(100).ready())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "go-limits-together",
        grade: Grade::Should,
        says: "of several limits the first one reached ends the search",
        script: |_| {
            let script = Script::after_handshake().search(MIDDLEGAME, "depth 60 movetime 200");
            Ok(script.search(MIDDLEGAME, "wtime 60000 btime 60000 depth 1"))
        },
        judge: |case| answered_within(case, Duration::from_millis(200)),
        is_timed: true,
    },
    Check {
        name: "go-perft",
        grade: Grade::Nice,
        says: "go perft counts leaves, so that the rules can be tested (no part of the protocol)",
        script: |_| {
            Ok(Script::after_handshake()
                .send("position startpos\ngo perft 3")
                .collect_for(500)
                .send("stop")
                .ready())
        },
        judge: counts_leaves,
        is_timed: false,
    },
    Check {
        name: "bench",
        grade: Grade::Nice,
        says: "the argument bench prints a count of nodes and ends (no part of the protocol)",
        script: |_| {
            // One that knows no such argument waits for commands, and leaves at their end.
            let script = Script { args: vec!["bench".to_owned()], ..Script::raw() };
            Ok(script.close().exit_within(Wait::Times(12)))
        },
        judge: benched,
        is_timed: false,
    },
    Check {
        name: "search-repeats",
        grade: Grade::Should,
        says: "the same search in a new game ends with the same move and nodes, on one thread",
        script: |engine| {
            let threads = engine.option("Threads").map(|_| "setoption name Threads value 1");
            let script = threads.into_iter().fold(Script::after_handshake(), Script::send);
            let again = |script: Script| {
                let script = script.send("ucinewgame").ready();
                script.search(MIDDLEGAME, "depth 6")
            };
            Ok(again(again(again(script))))
        },
        judge: repeats,
        is_timed: false,
    },
];

fn depth_kept(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let depths = search.infos.iter().filter_map(|(_, info)| number(info, "depth"));
        if let Some(deepest) = depths.max().filter(|depth| *depth > 4) {
            return Err(format!("depth {deepest} in answer to 'go {}'", search.go));
        }
    }
    Ok(())
}

fn nodes_kept(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let nodes = search.infos.iter().filter_map(|(_, info)| number(info, "nodes")).max();
        match nodes {
            None => return Err("no nodes in any info line".to_owned()),
            Some(nodes @ 150_001..) => {
                return Err(format!("{nodes} nodes in answer to 'go {}'", search.go));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn time_used(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let duration = search.duration().unwrap_or_default();
        if duration < Duration::from_millis(150) {
            return Err(format!("'go {}' took {} ms", search.go, ms(duration)));
        }
    }
    Ok(())
}

fn mate_found(case: &Case) -> Result<(), String> {
    one_legal_answer_each(case)?;
    let searches = case.transcript.searches();
    let scores = searches.iter().flat_map(|search| &search.infos);
    let mut mates = scores.filter_map(|(_, info)| number(info, "mate"));
    match mates.any(|mate| (1..=2).contains(&mate)) {
        true => Ok(()),
        false => Err("no 'score mate 2'".to_owned()),
    }
}

fn among_searchmoves(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let best = search.best().unwrap_or_default();
        if !search.go.split_ascii_whitespace().any(|word| word == best) {
            return Err(format!("{best} in answer to 'go {}'", search.go));
        }
    }
    Ok(())
}

fn counts_leaves(case: &Case) -> Result<(), String> {
    let is_count = |line: &str| {
        let is_digit = |c: char| !c.is_ascii_digit();
        line.replace([',', '\''], "").split(is_digit).any(|number| number == "8902")
    };
    match case.transcript.received().any(|(_, line)| is_count(line)) {
        true => Ok(()),
        false => Err("the count 8902 is not in the answer to 'go perft 3'".to_owned()),
    }
}

fn benched(case: &Case) -> Result<(), String> {
    let is_count = |line: &String| {
        let line = line.to_ascii_lowercase();
        line.contains("nodes") && line.contains(|c: char| c.is_ascii_digit())
    };
    let has_count = case.transcript.0.iter().any(|entry| match &entry.event {
        Event::Received(line) | Event::Error(line) => is_count(line),
        _ => false,
    });
    match has_count {
        true => Ok(()),
        false => Err("no line with a number of nodes".to_owned()),
    }
}

fn repeats(case: &Case) -> Result<(), String> {
    nothing_more(case)?;
    let searches = case.transcript.searches();
    let ends: Vec<(Option<&str>, Option<&str>)> = searches
        .iter()
        .map(|search| {
            let nodes = search.infos.iter().rev().find_map(|(_, info)| {
                field(info, "nodes").filter(|_| field(info, "score").is_some())
            });
            (search.best(), nodes)
        })
        .collect();
    match ends.windows(2).find(|pair| pair[0] != pair[1]) {
        Some(pair) => Err(format!("{} and then {}", ending(pair[0]), ending(pair[1]))),
        None => Ok(()),
    }
}

fn ending((best, nodes): (Option<&str>, Option<&str>)) -> String {
    format!("{} after {} nodes", best.unwrap_or("no move"), nodes.unwrap_or("no"))
}
