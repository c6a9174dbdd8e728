//! Ready, stop and the end.

use std::time::Duration;

use super::super::script::Script;
use super::super::transcript::Event;
use super::super::{Case, Check, Grade};
use super::{ms, nothing_more, one_answer, one_legal_answer_each};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "isready",
        grade: Grade::Must,
        says: "isready is answered by readyok, each time",
        script: |_| {
            Ok(Script::after_handshake()
                .ready()
                .ready()
                .send("isready\nisready")
                .expect("readyok")
                .expect("readyok"))
        },
        judge: nothing_more,
        is_timed: false,
    },
    Check {
        name: "isready-thinking",
        grade: Grade::Must,
        says: "isready is answered during a search, which goes on",
        script: |_| Ok(thinking().ready().collect_for(200).send("stop").expect("bestmove")),
        judge: stopped_searches,
        is_timed: false,
    },
    Check {
        name: "stop",
        grade: Grade::Must,
        says: "stop ends a search, which is answered by one bestmove",
        script: |_| Ok(thinking().send("stop").expect("bestmove").collect_for(100).ready()),
        judge: stopped_searches,
        is_timed: false,
    },
    Check {
        name: "stop-prompt",
        grade: Grade::Should,
        says: "stop is obeyed at once, within the margin and 50 ms",
        script: |_| Ok(thinking().send("stop").expect("bestmove")),
        judge: promptly,
        is_timed: true,
    },
    Check {
        name: "stop-at-once",
        grade: Grade::Must,
        says: "stop right behind go is obeyed, and there is a legal move",
        script: |_| {
            let script = Script::after_handshake().send("position startpos\ngo infinite\nstop");
            Ok(script.expect("bestmove").collect_for(100).ready())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "stop-idle",
        grade: Grade::Must,
        says: "stop without a search is not answered by a move",
        script: |_| {
            Ok(Script::after_handshake()
                .send("stop")
                .collect_for(200)
                .ready()
                .send("stop")
                .collect_for(200)
                .ready())
        },
        judge: no_bestmove,
        is_timed: false,
    },
    Check {
        name: "stop-after-move",
        grade: Grade::Must,
        says: "stop that crosses the engine's own bestmove does no harm",
        script: |_| {
            let script =
                Script::after_handshake().search("startpos", "depth 1").send("stop").ready();
            Ok(script.search("startpos moves e2e4", "depth 2").collect_for(100).ready())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "infinite-waits",
        grade: Grade::Must,
        says: "no bestmove before stop under go infinite, though nothing is left to search",
        script: |_| {
            let mate = "position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1\ngo infinite";
            let script = Script::after_handshake()
                .send(mate)
                .collect_for(1000)
                .send("stop")
                .expect("bestmove");
            let only = "position fen rR4k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1\ngo infinite";
            Ok(script.send(only).collect_for(1000).send("stop").expect("bestmove"))
        },
        judge: stopped_searches,
        is_timed: false,
    },
    Check {
        name: "ucinewgame",
        grade: Grade::Must,
        says: "ten games follow each other in one process",
        script: |_| {
            let game = |script: Script, _| {
                let script = script.send("ucinewgame").ready().search("startpos", "depth 3");
                script.search("startpos moves e2e4 e7e5", "depth 3")
            };
            Ok((0..10).fold(Script::after_handshake(), game))
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "quit",
        grade: Grade::Must,
        says: "quit ends the process",
        script: |_| Ok(Script::after_handshake().send("quit").exit()),
        judge: nothing_more,
        is_timed: false,
    },
    Check {
        name: "quit-thinking",
        grade: Grade::Must,
        says: "quit ends the process during a search, too",
        script: |_| Ok(thinking().send("quit").exit()),
        judge: nothing_more,
        is_timed: false,
    },
    Check {
        name: "end-of-input",
        grade: Grade::Should,
        says: "the end of its input ends the process, so that it cannot outlive a program that died",
        script: |_| Ok(Script::after_handshake().close().exit()),
        judge: nothing_more,
        is_timed: false,
    },
    Check {
        name: "end-of-input-thinking",
        grade: Grade::Nice,
        says: "the end of its input ends the process during a search, too",
        script: |_| Ok(thinking().close().exit()),
        judge: nothing_more,
        is_timed: false,
    },
    Check {
        name: "exit-status",
        grade: Grade::Nice,
        says: "the process ends with exit code 0 after quit",
        script: |_| Ok(Script::after_handshake().search("startpos", "depth 1").send("quit").exit()),
        judge: exit_status,
        is_timed: false,
    },
];

/// A search without an end, under way.
fn thinking() -> Script {
    Script::after_handshake().send("position startpos\ngo infinite").collect_for(200)
}

/// Every search was answered once, and not before it was told to stop.
fn stopped_searches(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let (answer, _) = search.answers[0];
        if search.stop.is_none_or(|stop| answer < stop) {
            let early = ms(answer.saturating_sub(search.at));
            return Err(format!("bestmove after {early} ms, before stop"));
        }
    }
    Ok(())
}

/// What an engine may take to look at its input, besides the margin.
const PROMPT: Duration = Duration::from_millis(50);

fn promptly(case: &Case) -> Result<(), String> {
    stopped_searches(case)?;
    for search in case.transcript.searches() {
        let stop = search.stop.unwrap_or_default();
        let late = search.answers[0].0.saturating_sub(stop);
        if late > PROMPT + case.margin {
            return Err(format!("bestmove {} ms after stop", ms(late)));
        }
    }
    Ok(())
}

fn no_bestmove(case: &Case) -> Result<(), String> {
    match case.transcript.received().find(|(_, line)| line.trim_start().starts_with("bestmove")) {
        Some((_, line)) => Err(format!("'{line}', though nothing was asked")),
        None => Ok(()),
    }
}

fn exit_status(case: &Case) -> Result<(), String> {
    let left = case.transcript.0.iter().find_map(|entry| match &entry.event {
        Event::Exited(how) => Some(how.as_str()),
        _ => None,
    });
    match left {
        Some("exit code 0") => Ok(()),
        how => Err(format!("the process ended with {}", how.unwrap_or("nothing"))),
    }
}
