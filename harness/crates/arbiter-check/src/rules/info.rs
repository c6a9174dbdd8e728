//! What an engine tells of its search.

use std::time::Duration;

use super::super::engine_info::EngineInfo;
use super::super::script::Script;
use super::super::transcript::Search;
use super::super::{Case, Check, Grade};
use super::{board, field, follow, ms, number, one_answer, pv};

/// An open position and an endgame.
const OPEN: &str = "fen r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 0 1";
const ENDGAME: &str = "fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "info-score",
        grade: Grade::Must,
        says: "a search tells a score, in centipawns or moves to mate, with its depth",
        script: searched,
        judge: has_score,
        is_timed: false,
    },
    Check {
        name: "info-syntax",
        grade: Grade::Should,
        says: "the fields of info lines are what the protocol says: numbers, moves, cp, mate, bounds",
        script: searched,
        judge: |case| each_info(case, &syntax),
        is_timed: false,
    },
    Check {
        name: "info-pv-legal",
        grade: Grade::Should,
        says: "every move of every variation is legal",
        script: searched,
        judge: |case| each_info(case, &legal_pv),
        is_timed: false,
    },
    Check {
        name: "info-currmove-legal",
        grade: Grade::Nice,
        says: "currmove is a legal move",
        script: searched,
        judge: |case| each_info(case, &legal_currmove),
        is_timed: false,
    },
    Check {
        name: "info-depth-grows",
        grade: Grade::Nice,
        says: "the depth of a search does not shrink",
        script: searched,
        judge: |case| grows(case, "depth"),
        is_timed: false,
    },
    Check {
        name: "info-nodes-grow",
        grade: Grade::Should,
        says: "the nodes of a search are told and do not shrink",
        script: searched,
        judge: |case| told(case, "nodes").and_then(|()| grows(case, "nodes")),
        is_timed: false,
    },
    Check {
        name: "info-time",
        grade: Grade::Should,
        says: "the time of a search is told in milliseconds, does not shrink, and is about right",
        script: |_| {
            let script = Script::after_handshake().search(OPEN, "movetime 400");
            Ok(script.search(OPEN, "movetime 400"))
        },
        judge: plausible_time,
        is_timed: true,
    },
    Check {
        name: "info-seldepth",
        grade: Grade::Nice,
        says: "seldepth is not less than depth",
        script: searched,
        judge: |case| each_info(case, &deep_enough),
        is_timed: false,
    },
    Check {
        name: "info-nps",
        grade: Grade::Nice,
        says: "nps is about nodes by time",
        script: |_| Ok(Script::after_handshake().search(OPEN, "movetime 400")),
        judge: |case| each_info(case, &plausible_nps),
        is_timed: false,
    },
    Check {
        name: "info-mate",
        grade: Grade::Should,
        says: "a mate is told as score mate, in moves: 1 to mate in one, negative to be mated",
        script: |_| {
            let script = Script::after_handshake();
            let script = script.search("fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "depth 4");
            Ok(script.search("fen 6k1/R7/1R6/8/8/8/8/6K1 b - - 0 1", "depth 10"))
        },
        judge: mate_scores,
        is_timed: false,
    },
    Check {
        name: "info-point-of-view",
        grade: Grade::Must,
        says: "scores are those of the side to move",
        script: |_| {
            let script =
                Script::after_handshake().search("fen 4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1", "depth 3");
            Ok(script
                .search("fen qq2k3/8/8/8/8/8/8/4K3 w - - 0 1", "depth 3")
                .search("fen qq2k3/8/8/8/8/8/8/4K3 b - - 0 1", "depth 3"))
        },
        judge: points_of_view,
        is_timed: false,
    },
    Check {
        name: "info-while-thinking",
        grade: Grade::Nice,
        says: "a search of a second shows something before it ends",
        script: |_| {
            let script =
                Script::after_handshake().send(&format!("position {OPEN}\ngo movetime 1000"));
            Ok(script.expect("info").expect("bestmove"))
        },
        judge: shown_early,
        is_timed: false,
    },
];

fn searched(_: &EngineInfo) -> Result<Script, String> {
    let script = Script::after_handshake().search(OPEN, "depth 7").search(ENDGAME, "depth 8");
    Ok(script.search("startpos moves e2e4 e7e5 g1f3", "movetime 200"))
}

/// Every info line, with its search; strings are left out.
fn each_info(
    case: &Case,
    judge: &dyn Fn(&Search, &str) -> Result<(), String>,
) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        for (_, info) in &search.infos {
            judge(&search, info).map_err(|what| format!("{what}: 'info {info}'"))?;
        }
    }
    Ok(())
}

fn has_score(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let has_both = |info: &str| {
            number(info, "depth").is_some()
                && (number(info, "cp").is_some() || number(info, "mate").is_some())
        };
        if !search.infos.iter().any(|(_, info)| has_both(info)) {
            return Err(format!("no info line with depth and score after 'go {}'", search.go));
        }
    }
    Ok(())
}

/// Fields with a whole number that is not negative.
const COUNTS: [&str; 12] = [
    "depth",
    "seldepth",
    "time",
    "nodes",
    "multipv",
    "currmovenumber",
    "hashfull",
    "nps",
    "tbhits",
    "sbhits",
    "cpuload",
    "ebf",
];

fn syntax(_: &Search, info: &str) -> Result<(), String> {
    let mut words = info.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "string" | "pv" | "refutation" | "currline" => return Ok(()),
            "score" => {
                let kind = words.next();
                if !matches!(kind, Some("cp" | "mate")) {
                    return Err(format!("score {}", kind.unwrap_or("of nothing")));
                }
                if words.next().and_then(|word| word.parse::<i64>().ok()).is_none() {
                    return Err("a score that is no number".to_owned());
                }
            }
            "lowerbound" | "upperbound" => {}
            "currmove" => drop(words.next()),
            // Three numbers: the chances to win, draw and lose.
            "wdl" => drop((words.next(), words.next(), words.next())),
            "ebf" => drop(words.next()),
            _ if COUNTS.contains(&word) => {
                let value = words.next().unwrap_or_default();
                if value.parse::<u64>().is_err() {
                    return Err(format!("{word} '{value}' is no count"));
                }
                if word == "hashfull" && value.parse::<u64>().is_ok_and(|mille| mille > 1000) {
                    return Err("hashfull is more than 1000".to_owned());
                }
            }
            other => return Err(format!("the unknown word '{other}'")),
        }
    }
    Ok(())
}

fn legal_pv(search: &Search, info: &str) -> Result<(), String> {
    let moves = pv(info);
    follow(&search.position, &moves)
        .map(drop)
        .map_err(|word| format!("'{word}' is not legal in the variation"))
}

fn legal_currmove(search: &Search, info: &str) -> Result<(), String> {
    match field(info, "currmove") {
        Some(word) if board::legal(&search.position, word).is_none() => {
            Err(format!("'{word}' is not legal"))
        }
        _ => Ok(()),
    }
}

fn told(case: &Case, key: &str) -> Result<(), String> {
    for search in case.transcript.searches() {
        if !search.infos.iter().any(|(_, info)| number(info, key).is_some()) {
            return Err(format!("no {key} in any info line after 'go {}'", search.go));
        }
    }
    Ok(())
}

fn grows(case: &Case, key: &str) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let is_main = |info: &&str| number(info, "multipv").is_none_or(|line| line == 1);
        let infos = search.infos.iter().map(|(_, info)| *info).filter(is_main);
        let values: Vec<i64> = infos.filter_map(|info| number(info, key)).collect();
        if let Some(pair) = values.windows(2).find(|pair| pair[1] < pair[0]) {
            return Err(format!("{key} {} and then {} in 'go {}'", pair[0], pair[1], search.go));
        }
    }
    Ok(())
}

fn plausible_time(case: &Case) -> Result<(), String> {
    told(case, "time")?;
    grows(case, "time")?;
    let margin = case.margin + Duration::from_millis(20);
    for search in case.transcript.searches() {
        for (at, info) in &search.infos {
            let Some(time) = number(info, "time").and_then(|time| u64::try_from(time).ok()) else {
                continue;
            };
            let (told, passed) = (Duration::from_millis(time), at.saturating_sub(search.at));
            if told > passed + margin || passed > told + margin {
                let passed = ms(passed);
                return Err(format!("{passed} ms after go the engine said 'info {info}'"));
            }
        }
    }
    Ok(())
}

fn deep_enough(_: &Search, info: &str) -> Result<(), String> {
    match (number(info, "depth"), number(info, "seldepth")) {
        (Some(depth), Some(seldepth)) if seldepth < depth && field(info, "score").is_some() => {
            Err("seldepth is less than depth".to_owned())
        }
        _ => Ok(()),
    }
}

fn plausible_nps(_: &Search, info: &str) -> Result<(), String> {
    let read = |key| number(info, key).map(|number| number as f64);
    let (Some(nodes), Some(time), Some(nps)) = (read("nodes"), read("time"), read("nps")) else {
        return Ok(());
    };
    // A millisecond more or less is a large share of a short time.
    if time < 50.0 {
        return Ok(());
    }
    let expected = nodes * 1000.0 / time;
    match (0.8 * expected..=1.25 * expected).contains(&nps) {
        true => Ok(()),
        false => Err(format!("nps is not about {expected:.0}")),
    }
}

fn mate_scores(case: &Case) -> Result<(), String> {
    let searches = case.transcript.searches();
    for (search, expected) in searches.iter().zip([1..=1, -2..=-1]) {
        one_answer(search)?;
        let last = search
            .infos
            .iter()
            .rev()
            .find_map(|(_, info)| field(info, "score").map(|_| (number(info, "mate"), *info)));
        match last {
            Some((Some(mate), _)) if expected.contains(&mate) => {}
            Some((_, info)) => {
                let fen = arbiter_suite::start::fen(&search.position);
                return Err(format!("the last score in {fen} is 'info {info}'"));
            }
            None => return Err("no score".to_owned()),
        }
    }
    Ok(())
}

fn points_of_view(case: &Case) -> Result<(), String> {
    for (search, sign) in case.transcript.searches().iter().zip([1, -1, 1]) {
        let last = search
            .infos
            .iter()
            .rev()
            .find_map(|(_, info)| number(info, "cp").or_else(|| number(info, "mate")));
        let last = last.ok_or("no score")?;
        if last.signum() != sign {
            let fen = arbiter_suite::start::fen(&search.position);
            return Err(format!("the score in {fen} is {last}"));
        }
    }
    Ok(())
}

fn shown_early(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let (answer, _) = search.answers[0];
        let first = search.infos.iter().find(|(_, info)| field(info, "score").is_some());
        match first {
            Some((at, _)) if *at + Duration::from_millis(200) < answer => {}
            _ => return Err("no score until the move".to_owned()),
        }
    }
    Ok(())
}
