//! What an engine plays.

use super::super::script::Script;
use super::super::{Case, Check, Grade};
use super::{board, legal_answer, one_answer, one_legal_answer_each, pv};

/// Positions in which much can go wrong with a move: castling, en passant, promotion, pins, checks.
const TRICKY: [&str; 10] = [
    "startpos",
    "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "fen r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "fen rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "fen 8/P7/8/8/8/2k3q1/8/7K w - - 0 1",
    "fen 4k3/8/8/8/8/8/4r3/4K3 w - - 0 1",
    "fen 8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
    "fen rR4k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1",
    "fen r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1",
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "bestmove-once",
        grade: Grade::Must,
        says: "every go is answered by exactly one bestmove",
        script: |_| {
            let search = |script: Script, position| {
                script.search(position, "depth 2").collect_for(100).ready()
            };
            Ok(["startpos", "startpos moves d2d4", TRICKY[1]]
                .into_iter()
                .fold(Script::after_handshake(), search))
        },
        judge: |case| case.transcript.searches().iter().try_for_each(one_answer),
        is_timed: false,
    },
    Check {
        name: "bestmove-legal",
        grade: Grade::Must,
        says: "every bestmove is a legal move in the spelling of the protocol: e2e4, e1g1, a7a8q",
        script: |_| {
            let search = |script: Script, position| script.search(position, "depth 3");
            Ok(TRICKY.into_iter().fold(Script::after_handshake(), search))
        },
        judge: |case| case.transcript.searches().iter().try_for_each(legal_answer),
        is_timed: false,
    },
    Check {
        name: "bestmove-is-pv",
        grade: Grade::Should,
        says: "the move played begins the last variation shown",
        script: |_| {
            let search = |script: Script, position| script.search(position, "depth 4");
            Ok(TRICKY.into_iter().take(5).fold(Script::after_handshake(), search))
        },
        judge: is_pv,
        is_timed: false,
    },
    Check {
        name: "bestmove-ponder-legal",
        grade: Grade::Should,
        says: "the reply that bestmove names is legal after the move",
        script: |_| {
            let search = |script: Script, position| script.search(position, "depth 5");
            Ok(TRICKY.into_iter().fold(Script::after_handshake(), search))
        },
        judge: legal_reply,
        is_timed: false,
    },
    Check {
        name: "mate-in-one",
        grade: Grade::Should,
        says: "a mate in one is played",
        script: |_| {
            let mates =
                ["fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "fen 7k/8/5K2/8/8/8/8/6Q1 w - - 0 1"];
            // Deep enough for engines that prune in their first iterations.
            let search = |script: Script, position| script.search(position, "depth 12");
            Ok(mates.into_iter().fold(Script::after_handshake(), search))
        },
        judge: mates,
        is_timed: false,
    },
    Check {
        name: "mated-position",
        grade: Grade::Should,
        says: "a go where the side to move is mated is answered by bestmove (none) or 0000",
        script: |_| Ok(over("fen R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1")),
        judge: no_move_then_one,
        is_timed: false,
    },
    Check {
        name: "stalemate-position",
        grade: Grade::Should,
        says: "a go in stalemate is answered by bestmove (none) or 0000",
        script: |_| Ok(over("fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")),
        judge: no_move_then_one,
        is_timed: false,
    },
    Check {
        name: "over-and-alive",
        grade: Grade::Must,
        says: "a go where the game is over does not end the process",
        script: |_| {
            let script = Script::after_handshake();
            let script = script.send("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo depth 2");
            Ok(script.collect_for(300).send("stop").ready().search("startpos", "depth 2"))
        },
        judge: |case| case.transcript.searches().last().map_or(Ok(()), legal_last),
        is_timed: false,
    },
    Check {
        name: "draws-are-searched",
        grade: Grade::Must,
        says: "a position that is drawn by rule, but not over for the program, gets a move",
        script: |_| {
            let script =
                Script::after_handshake().search("fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1", "depth 3");
            Ok(script.search("fen 4k3/8/8/8/8/8/3R4/4K3 w - - 99 90", "depth 3"))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
];

fn over(position: &str) -> Script {
    Script::after_handshake()
        .search(position, "depth 3")
        .collect_for(100)
        .ready()
        .search("startpos", "depth 2")
}

/// Words for no move.
const NO_MOVE: [&str; 5] = ["(none)", "0000", "none", "NULL", "null"];

fn no_move_then_one(case: &Case) -> Result<(), String> {
    let searches = case.transcript.searches();
    let [over, after] = &searches[..] else { return Err("two searches were expected".to_owned()) };
    one_answer(over)?;
    let best = over.best().unwrap_or_default();
    if !NO_MOVE.contains(&best) {
        return Err(format!("bestmove '{best}' where there is no move"));
    }
    one_answer(after)?;
    legal_answer(after)
}

fn legal_last(search: &super::Search) -> Result<(), String> {
    match search.answers.last() {
        Some((_, text)) => {
            let best = text.split_ascii_whitespace().next().unwrap_or_default();
            let known = board::legal(&search.position, best).map(|_| ());
            known.ok_or_else(|| format!("'{best}' is no legal move of the initial position"))
        }
        None => Err("no bestmove".to_owned()),
    }
}

fn is_pv(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let is_best = |info: &&str| {
            super::number(info, "multipv").is_none_or(|line| line == 1)
                && !info.contains("bound")
                && !pv(info).is_empty()
        };
        let last = search.infos.iter().rev().map(|(_, info)| *info).find(is_best);
        let Some(last) = last else { return Err("no variation in any info line".to_owned()) };
        let best = search.best().unwrap_or_default();
        if pv(last).first() != Some(&best) {
            return Err(format!("bestmove {best} after '{last}'"));
        }
    }
    Ok(())
}

fn legal_reply(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        let Some((_, answer)) = search.answers.first() else { continue };
        let words: Vec<&str> = answer.split_ascii_whitespace().collect();
        let [best, "ponder", reply, ..] = words[..] else { continue };
        if super::follow(&search.position, &[best, reply]).is_err() {
            let fen = arbiter_suite::start::fen(&search.position);
            return Err(format!("'bestmove {answer}' in {fen}"));
        }
    }
    Ok(())
}

fn mates(case: &Case) -> Result<(), String> {
    use shakmaty::Position;
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let best = search.best().unwrap_or_default();
        let end = super::follow(&search.position, &[best]);
        if !end.is_ok_and(|position| position.is_checkmate()) {
            return Err(format!("{best} does not mate"));
        }
    }
    Ok(())
}
