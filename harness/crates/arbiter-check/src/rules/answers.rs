//! Checks of `bestmove` answers.

use shakmaty::Position;

use super::{board, each_search, ensure, legal_answer, must, nothing_more, one_answer, should};
use crate::script::{MATE_IN_ONE, ONLY_MOVE, Script};
use crate::transcript::Search;
use crate::{Case, Check, Judgement};

/// Positions in which move generators often have bugs: castling, en passant, promotion, pins and
/// checks.
const TRICKY: [&str; 10] = [
    "startpos",
    "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "fen r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "fen rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "fen 8/P7/8/8/8/2k3q1/8/7K w - - 0 1",
    "fen 4k3/8/8/8/8/8/4r3/4K3 w - - 0 1",
    "fen 8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
    ONLY_MOVE,
    "fen r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1",
];

const MATES_IN_ONE: [&str; 2] = [MATE_IN_ONE, "fen 7k/8/5K2/8/8/8/8/6Q1 w - - 0 1"];
const MATED: &str = "fen R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1";
const STALEMATE: &str = "fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";

pub(super) const CHECKS: &[Check] = &[
    must("bestmove-once", "every go is answered by exactly one bestmove")
        .script(|s| {
            let positions = ["startpos", "startpos moves d2d4", TRICKY[1]];
            Ok(positions.into_iter().fold(s, |s, at| s.search(at, "depth 2").settle()))
        })
        .judge(|case| each_search(case, |_| Ok(()))),
    must("bestmove-legal", "every bestmove is a legal move in UCI notation: e2e4, e1g1, a7a8q")
        .script(|s| Ok(s.search_all(&TRICKY, "depth 3")))
        .judge(|case| case.transcript.searches().iter().try_for_each(legal_answer)),
    should("bestmove-is-pv", "the bestmove is the first move of the last PV")
        .script(|s| Ok(s.search_all(&TRICKY[..5], "depth 4")))
        .judge(|case| each_search(case, begins_pv)),
    should(
        "bestmove-ponder-legal",
        "the ponder move in a bestmove line is legal after the best move",
    )
    .script(|s| Ok(s.search_all(&TRICKY, "depth 5")))
    .judge(|case| case.transcript.searches().iter().try_for_each(legal_reply)),
    // The depth suffices even for engines that prune in their first iterations.
    should("mate-in-one", "a mate in one is played")
        .script(|s| Ok(s.search_all(&MATES_IN_ONE, "depth 12")))
        .judge(|case| each_search(case, mates)),
    should(
        "mated-position",
        "if the side to move is checkmated, go is answered by bestmove (none) or 0000",
    )
    .script(|s| Ok(ended_game(s, MATED)))
    .judge(no_move_then_one),
    should(
        "stalemate-position",
        "if the side to move is stalemated, go is answered by bestmove (none) or 0000",
    )
    .script(|s| Ok(ended_game(s, STALEMATE)))
    .judge(no_move_then_one),
    must("over-and-alive", "go in a finished game does not end the process")
        .script(|s| {
            // The script does not wait for `bestmove`, because an engine without a legal move may
            // omit this answer.
            let s = s.go(STALEMATE, "depth 2").collect(300).send("stop").ready();
            Ok(s.search("startpos", "depth 2"))
        })
        .judge(last_is_legal),
    must(
        "draws-are-searched",
        "in a position that is drawn by rule but has legal moves, go is answered by a move",
    )
    .script(|s| {
        // The referee ends drawn games, but a GUI that analyses a drawn position needs a move.
        let draws = ["fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1", "fen 4k3/8/8/8/8/8/3R4/4K3 w - - 99 90"];
        Ok(s.search_all(&draws, "depth 3"))
    }),
];

fn ended_game<'a>(script: Script<'a>, position: &str) -> Script<'a> {
    script.search(position, "depth 3").settle().search("startpos", "depth 2")
}

/// Notations with which engines report that there is no move.
const NO_MOVE: [&str; 5] = ["(none)", "0000", "none", "NULL", "null"];

fn no_move_then_one(case: &Case) -> Judgement {
    let searches = case.transcript.searches();
    let [over, after] = &searches[..] else { return Err("expected two searches".to_owned()) };
    one_answer(over)?;
    let best = over.best();
    ensure(NO_MOVE.contains(&best), || format!("bestmove '{best}' in a position without moves"))?;
    one_answer(after)?;
    legal_answer(after)
}

/// Requires that the last answer is a legal move. Late answers to earlier `go` commands are
/// ignored.
fn last_is_legal(case: &Case) -> Judgement {
    let searches = case.transcript.searches();
    let Some(search) = searches.last() else { return nothing_more(case) };
    let best = search.answers.last().ok_or("no bestmove")?.first_word();
    ensure(board::legal(&search.position, best).is_some(), || {
        format!("'{best}' is not a legal move of the initial position")
    })
}

fn begins_pv(search: &Search) -> Judgement {
    let mut infos = search.infos.iter().rev();
    // A line with a bound may show a move that the engine later discards.
    let last = infos.find(|info| info.is_main_line() && !info.is_bound() && !info.pv().is_empty());
    let last = last.ok_or("no PV in any info line")?;
    let best = search.best();
    ensure(last.pv()[0] == best, || format!("bestmove {best} after '{}'", last.text))
}

fn legal_reply(search: &Search) -> Judgement {
    let Some(answer) = search.answers.first().map(|answer| answer.text) else { return Ok(()) };
    let words: Vec<&str> = answer.split_ascii_whitespace().collect();
    let [best, "ponder", reply, ..] = words[..] else { return Ok(()) };
    let is_legal = board::play(&search.position, [best, reply]).is_ok();
    ensure(is_legal, || format!("'bestmove {answer}' in {}", search.fen()))
}

fn mates(search: &Search) -> Judgement {
    let best = search.best();
    let end = board::play(&search.position, [best]);
    ensure(end.is_ok_and(|end| end.is_checkmate()), || format!("{best} does not mate"))
}
