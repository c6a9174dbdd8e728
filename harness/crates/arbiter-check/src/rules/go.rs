//! Checks of `go` and its limits.

use std::time::Duration;

use super::{answered_within, each_search, ensure, legal_answers, must, nice, should};
use crate::transcript::{Event, Search};
use crate::{Case, Check, Judgement};

/// Quiet middlegame position, in which no search ends early.
const MIDDLEGAME: &str = "fen r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 0 9";

/// Position with a forced mate in two.
const MATE_IN_TWO: &str = "fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1";

/// Opening position with Black to move.
const BLACK_TO_MOVE: &str = "startpos moves e2e4 e7e5 g1f3 b8c6 f1b5";

pub(super) const CHECKS: &[Check] = &[
    must("go-depth", "go depth ends by itself").script(|s| Ok(s.search(MIDDLEGAME, "depth 4"))),
    should("go-depth-kept", "go depth does not exceed its depth")
        .script(|s| Ok(s.search(MIDDLEGAME, "depth 4")))
        .judge(|case| each_search(case, depth_kept)),
    must("go-nodes", "go nodes ends by itself").script(|s| Ok(s.search(MIDDLEGAME, "nodes 20000"))),
    should("go-nodes-kept", "go nodes exceeds its limit by at most half")
        .script(|s| Ok(s.search(MIDDLEGAME, "nodes 100000")))
        .judge(|case| each_search(case, nodes_kept)),
    must("go-movetime", "go movetime ends by itself")
        .script(|s| Ok(s.search(MIDDLEGAME, "movetime 200"))),
    should("go-movetime-kept", "go movetime takes no longer than the given time")
        .script(|s| Ok(s.search(MIDDLEGAME, "movetime 300")))
        .timed(|case| answered_within(case, 300)),
    nice("go-movetime-used", "go movetime uses at least half of the given time")
        .script(|s| Ok(s.search(MIDDLEGAME, "movetime 300")))
        .judge(|case| each_search(case, time_used)),
    must("go-clock", "with a clock, bestmove comes before the time runs out")
        .script(|s| Ok(s.search(MIDDLEGAME, "wtime 1000 btime 60000")))
        .timed(|case| answered_within(case, 1000)),
    must("go-clock-black", "with Black to move, the engine uses Black's clock")
        // White has so much time that an engine that uses White's clock answers too late.
        .script(|s| Ok(s.search(BLACK_TO_MOVE, "wtime 60000 btime 500 winc 1000 binc 0")))
        .timed(|case| answered_within(case, 500)),
    must(
        "go-increment",
        "the move cannot use its own increment, which is added only after the move",
    )
    .script(|s| Ok(s.search(MIDDLEGAME, "wtime 200 btime 200 winc 2000 binc 2000")))
    .timed(|case| answered_within(case, 200)),
    must("go-movestogo", "with movestogo, bestmove comes before the time runs out")
        .script(|s| {
            let s = s.search(MIDDLEGAME, "wtime 500 btime 500 movestogo 20");
            Ok(s.search(MIDDLEGAME, "wtime 500 btime 500 movestogo 1"))
        })
        .timed(|case| answered_within(case, 500)),
    must("go-tiny-times", "with almost no time left, bestmove is legal").script(|s| {
        let s = s.search(MIDDLEGAME, "wtime 1 btime 1");
        Ok(s.search(MIDDLEGAME, "wtime 5 btime 5 movestogo 1").search(MIDDLEGAME, "movetime 1"))
    }),
    should("go-tiny-times-kept", "with almost no time on the clock, bestmove comes immediately")
        .script(|s| Ok(s.search(MIDDLEGAME, "wtime 20 btime 20").search(MIDDLEGAME, "movetime 5")))
        .timed(|case| answered_within(case, 20)),
    should(
        "go-no-time",
        "a clock at or below zero, as after a late move, does not make the engine hang",
    )
    .script(|s| {
        let s = s.search(MIDDLEGAME, "wtime 0 btime 1000 winc 10 binc 10");
        Ok(s.search(MIDDLEGAME, "wtime -50 btime 1000 winc 10 binc 10"))
    }),
    should("go-mate", "go mate finds a mate in the given number of moves and ends")
        .script(|s| Ok(s.search(MATE_IN_TWO, "mate 2")))
        .judge(mate_found),
    should("go-searchmoves", "go searchmoves plays one of the listed moves")
        .script(|s| Ok(s.search("startpos", "depth 3 searchmoves a2a3 h2h3")))
        .judge(|case| each_search(case, among_searchmoves)),
    nice("go-searchmoves-first", "limits may follow the moves of go searchmoves")
        .script(|s| Ok(s.search("startpos", "searchmoves b2b3 a2a3 depth 3")))
        .judge(|case| each_search(case, among_searchmoves)),
    nice("go-bare", "go without limits searches until stop")
        .script(|s| Ok(s.send("position startpos\ngo").collect(300).stop().settle())),
    should(
        "go-limits-together",
        "of several limits, the one that is reached first ends the search",
    )
    .script(|s| {
        let s = s.search(MIDDLEGAME, "depth 60 movetime 200");
        Ok(s.search(MIDDLEGAME, "wtime 60000 btime 60000 depth 1"))
    })
    .timed(|case| answered_within(case, 200)),
    nice("go-perft", "go perft counts leaf nodes (not part of the protocol)")
        .script(|s| Ok(s.go("startpos", "perft 3").collect(500).send("stop").ready()))
        .judge(counts_leaves),
    // An engine that ignores this argument waits for commands, and exits at the end of its input.
    nice(
        "bench",
        "with the argument bench, the engine prints a node count and exits (not in the protocol)",
    )
    .script(|mut s| {
        s.args.push("bench".to_owned());
        Ok(s.raw().close().exit(12))
    })
    .judge(benched),
    should(
        "search-repeats",
        "on one thread, the same search in a new game ends with the same move and node count",
    )
    .script(|mut s| {
        if s.engine.option("Threads").is_ok() {
            s = s.send("setoption name Threads value 1");
        }
        Ok((0..3).fold(s, |s, _| s.send("ucinewgame").ready().try_search(MIDDLEGAME, "depth 6")))
    })
    .judge(repeats),
];

fn depth_kept(search: &Search) -> Judgement {
    let deepest = search.numbers("depth").max().unwrap_or(0);
    ensure(deepest <= 4, || format!("depth {deepest} in answer to 'go {}'", search.go))
}

fn nodes_kept(search: &Search) -> Judgement {
    let nodes = search.numbers("nodes").max().ok_or("no nodes in any info line")?;
    ensure(nodes <= 150_000, || format!("{nodes} nodes in answer to 'go {}'", search.go))
}

fn time_used(search: &Search) -> Judgement {
    let took = search.duration();
    ensure(took >= Duration::from_millis(150), || {
        format!("'go {}' took {} ms", search.go, took.as_millis())
    })
}

fn mate_found(case: &Case) -> Judgement {
    legal_answers(case)?;
    let searches = case.transcript.searches();
    let mut mates = searches.iter().flat_map(|search| search.numbers("mate"));
    ensure(mates.any(|mate| (1..=2).contains(&mate)), || "no 'score mate 2'".to_owned())
}

fn among_searchmoves(search: &Search) -> Judgement {
    let best = search.best();
    let go = search.go;
    let is_listed = go.split_ascii_whitespace().any(|word| word == best);
    ensure(is_listed, || format!("{best} in answer to 'go {go}'"))
}

fn counts_leaves(case: &Case) -> Judgement {
    let is_count = |line: &str| {
        let is_no_digit = |c: char| !c.is_ascii_digit();
        // The initial position has 8,902 leaves at depth 3. Some engines group digits.
        line.replace([',', '\''], "").split(is_no_digit).any(|number| number == "8902")
    };
    ensure(case.transcript.received().any(|(_, line)| is_count(line)), || {
        "the count 8902 is not in the answer to 'go perft 3'".to_owned()
    })
}

fn benched(case: &Case) -> Judgement {
    let has_count = case.transcript.0.iter().any(|entry| match &entry.event {
        Event::Received(line) | Event::Error(line) => {
            let line = line.to_ascii_lowercase();
            line.contains("nodes") && line.contains(|c: char| c.is_ascii_digit())
        }
        _ => false,
    });
    ensure(has_count, || "no line with a number of nodes".to_owned())
}

fn repeats(case: &Case) -> Judgement {
    let searches = case.transcript.searches();
    let end = |search: &Search| {
        let mut last = search.infos.iter().rev().filter(|info| info.has("score"));
        let nodes = last.find_map(|info| info.field("nodes")).unwrap_or("no");
        format!("{} after {nodes} nodes", search.best())
    };
    // Stopped searches end at different points, so only the iterations that both searches completed
    // are compared.
    let scores_of = |search: &Search| -> Vec<String> {
        let scores = search.infos.iter().filter(|info| info.has("score"));
        scores.map(|info| format!("{} nodes", info.field("nodes").unwrap_or("no"))).collect()
    };
    searches.windows(2).try_for_each(|pair| {
        let mut ends = vec![(end(&pair[0]), end(&pair[1]))];
        if pair.iter().any(|search| search.stop.is_some()) {
            ends = scores_of(&pair[0]).into_iter().zip(scores_of(&pair[1])).collect();
        }
        let differing = ends.into_iter().find(|(one, other)| one != other);
        differing.map_or(Ok(()), |(one, other)| Err(format!("{one} and then {other}")))
    })
}
