//! Checks of `info` lines.

use std::time::Duration;

use super::{board, each_search, ensure, must, nice, one_answer, should};
use crate::script::{MATE_IN_ONE, Script};
use crate::transcript::{EngineLine, Search};
use crate::{Case, Check, Judgement};

/// Open middlegame position.
const OPEN: &str = "fen r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 0 1";
const ENDGAME: &str = "fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";

pub(super) const CHECKS: &[Check] = &[
    must("info-score", "a search reports a score, in centipawns or moves to mate, with its depth")
        .script(searched)
        .judge(|case| each_search(case, has_score)),
    should(
        "info-syntax",
        "the fields of info lines follow the protocol: numbers, moves, cp, mate, bounds",
    )
    .script(searched)
    .judge(|case| each_info(case, syntax)),
    should("info-pv-legal", "every move of every PV is legal")
        .script(searched)
        .judge(|case| each_info(case, legal_pv)),
    nice("info-currmove-legal", "currmove is a legal move")
        .script(searched)
        .judge(|case| each_info(case, legal_currmove)),
    nice("info-depth-grows", "the depth does not decrease during a search")
        .script(searched)
        .judge(|case| grows(case, "depth")),
    should(
        "info-nodes-grow",
        "the number of nodes is reported, and does not decrease during a search",
    )
    .script(searched)
    .judge(|case| has_key(case, "nodes").and_then(|()| grows(case, "nodes"))),
    should(
        "info-time",
        "the time is reported in milliseconds, is about right, and never decreases in a search",
    )
    .script(|s| Ok(s.search_all(&[OPEN; 2], "movetime 400")))
    .timed(plausible_time),
    nice("info-seldepth", "seldepth is not less than depth")
        .script(searched)
        .judge(|case| each_info(case, deep_enough)),
    nice("info-nps", "nps is about nodes / time")
        .script(|s| Ok(s.search(OPEN, "movetime 400")))
        .judge(|case| each_info(case, plausible_nps)),
    should(
        "info-mate",
        "a mate is reported as score mate, in moves: 1 for a mate in one, negative if mated",
    )
    .script(|s| {
        let s = s.search(MATE_IN_ONE, "depth 4");
        Ok(s.search("fen 6k1/R7/1R6/8/8/8/8/6K1 b - - 0 1", "depth 10"))
    })
    .judge(mate_scores),
    must("info-point-of-view", "scores are from the point of view of the side to move")
        .script(|s| {
            let positions = [
                "fen 4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1",
                "fen qq2k3/8/8/8/8/8/8/4K3 w - - 0 1",
                "fen qq2k3/8/8/8/8/8/8/4K3 b - - 0 1",
            ];
            Ok(s.search_all(&positions, "depth 3"))
        })
        .judge(points_of_view),
    nice("info-while-thinking", "a search of one second sends info lines before it ends")
        .script(|s| Ok(s.go(OPEN, "movetime 1000").expect("info").expect("bestmove")))
        .judge(|case| each_search(case, shown_early)),
];

fn searched(script: Script<'_>) -> Result<Script<'_>, String> {
    let script = script.try_search(OPEN, "depth 7").try_search(ENDGAME, "depth 8");
    Ok(script.try_search("startpos moves e2e4 e7e5 g1f3", "movetime 200"))
}

/// Judges every `info` line of every search, and requires that every search has exactly one answer.
fn each_info(case: &Case, judge: impl Fn(&Search, &EngineLine) -> Judgement) -> Judgement {
    each_search(case, |search| {
        search.infos.iter().try_for_each(|info| {
            judge(search, info).map_err(|what| format!("{what}: 'info {}'", info.text))
        })
    })
}

fn has_score(search: &Search) -> Judgement {
    let has = |info: &EngineLine, key| info.number(key).is_some();
    let has_both = |info: &EngineLine| has(info, "depth") && (has(info, "cp") || has(info, "mate"));
    ensure(search.infos.iter().any(has_both), || {
        format!("no info line with depth and score after 'go {}'", search.go)
    })
}

fn syntax(_: &Search, info: &EngineLine) -> Judgement {
    let mut words = info.text.split_ascii_whitespace();
    while let Some(word) = words.next() {
        match word {
            // These fields extend to the end of the line.
            "string" | "pv" | "refutation" | "currline" => return Ok(()),
            "score" => {
                let kind = words.next().unwrap_or("without a kind");
                ensure(matches!(kind, "cp" | "mate"), || format!("score {kind}"))?;
                let is_number = words.next().is_some_and(|word| word.parse::<i64>().is_ok());
                ensure(is_number, || "a score that is not a number".to_owned())?;
            }
            "lowerbound" | "upperbound" => {}
            "currmove" | "ebf" => drop(words.next()),
            // The field has three numbers: the chances of a win, a draw and a loss.
            "wdl" => drop((words.next(), words.next(), words.next())),
            "depth" | "seldepth" | "time" | "nodes" | "multipv" | "currmovenumber" | "hashfull"
            | "nps" | "tbhits" | "sbhits" | "cpuload" => {
                let value = words.next().unwrap_or_default();
                let count = value.parse::<u64>();
                let count = count.map_err(|_| format!("{word} '{value}' is not a count"))?;
                let is_share = word != "hashfull" || count <= 1000;
                ensure(is_share, || "hashfull is more than 1000".to_owned())?;
            }
            other => return Err(format!("the unknown word '{other}'")),
        }
    }
    Ok(())
}

fn legal_pv(search: &Search, info: &EngineLine) -> Judgement {
    let played = board::play(&search.position, info.pv());
    played.map(drop).map_err(|word| format!("'{word}' is not legal in the PV"))
}

fn legal_currmove(search: &Search, info: &EngineLine) -> Judgement {
    let Some(word) = info.field("currmove") else { return Ok(()) };
    ensure(board::legal(&search.position, word).is_some(), || format!("'{word}' is not legal"))
}

fn has_key(case: &Case, key: &str) -> Judgement {
    case.transcript.searches().iter().try_for_each(|search| {
        ensure(search.numbers(key).next().is_some(), || {
            format!("no {key} in any info line after 'go {}'", search.go)
        })
    })
}

fn grows(case: &Case, key: &str) -> Judgement {
    each_search(case, |search| {
        // MultiPV lines after the first may belong to the previous iteration.
        let infos = search.infos.iter().filter(|info| info.is_main_line());
        let values: Vec<i64> = infos.filter_map(|info| info.number(key)).collect();
        values.windows(2).try_for_each(|pair| {
            let [one, next] = [pair[0], pair[1]];
            ensure(one <= next, || format!("{key} {one} and then {next} in 'go {}'", search.go))
        })
    })
}

fn plausible_time(case: &Case) -> Judgement {
    has_key(case, "time")?;
    grows(case, "time")?;
    let margin = case.margin + Duration::from_millis(20);
    for search in case.transcript.searches() {
        for info in &search.infos {
            let Some(Ok(ms)) = info.number("time").map(u64::try_from) else { continue };
            let reported = Duration::from_millis(ms);
            let passed = info.at.saturating_sub(search.at);
            ensure(reported.abs_diff(passed) <= margin, || {
                format!("{} ms after go the engine sent 'info {}'", passed.as_millis(), info.text)
            })?;
        }
    }
    Ok(())
}

fn deep_enough(_: &Search, info: &EngineLine) -> Judgement {
    let depths = info.number("depth").zip(info.number("seldepth"));
    let is_less = depths.is_some_and(|(depth, seldepth)| seldepth < depth);
    // A line without a score may be sent at the start of an iteration, before the depth is reached.
    ensure(!is_less || !info.has("score"), || "seldepth is less than depth".to_owned())
}

fn plausible_nps(_: &Search, info: &EngineLine) -> Judgement {
    let [nodes, time, nps] =
        ["nodes", "time", "nps"].map(|key| info.number(key).map(|number| number as f64));
    let (Some(nodes), Some(time), Some(nps)) = (nodes, time, nps) else { return Ok(()) };
    let expected = nodes * 1000.0 / time;
    // For short times, rounding to milliseconds causes a large relative error.
    let is_about = time < 50.0 || (0.8 * expected..=1.25 * expected).contains(&nps);
    ensure(is_about, || format!("nps is not about {expected:.0}"))
}

fn mate_scores(case: &Case) -> Judgement {
    for (search, expected) in case.transcript.searches().iter().zip([1..=1, -2..=-1]) {
        one_answer(search)?;
        // Earlier iterations may be too shallow to find the mate, so only the last score is judged.
        let mut scores = search.infos.iter().rev().filter(|info| info.has("score"));
        let last = scores.next().ok_or("no score")?;
        ensure(last.number("mate").is_some_and(|mate| expected.contains(&mate)), || {
            format!("the last score in {} is 'info {}'", search.fen(), last.text)
        })?;
    }
    Ok(())
}

fn points_of_view(case: &Case) -> Judgement {
    for (search, sign) in case.transcript.searches().iter().zip([1, -1, 1]) {
        let score = |info: &EngineLine| info.number("cp").or_else(|| info.number("mate"));
        let last = search.infos.iter().rev().find_map(score).ok_or("no score")?;
        ensure(last.signum() == sign, || format!("the score in {} is {last}", search.fen()))?;
    }
    Ok(())
}

fn shown_early(search: &Search) -> Judgement {
    let first = search.infos.iter().find(|info| info.has("score"));
    let is_early = |info: &EngineLine| info.at + Duration::from_millis(200) < search.answered_at();
    ensure(first.is_some_and(is_early), || "no score until the move".to_owned())
}
