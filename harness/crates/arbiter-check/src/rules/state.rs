//! Checks of `isready`, `stop`, and the end of the process.

use std::time::Duration;

use super::{answered_after_stop, each_search, ensure, must, nice, nothing_more, should};
use crate::script::{MATE_IN_ONE, ONLY_MOVE};
use crate::transcript::Event;
use crate::{Case, Check, Judgement};

pub(super) const CHECKS: &[Check] = &[
    must("isready", "every isready is answered by readyok").script(|s| {
        Ok(s.ready().ready().send("isready\nisready").expect("readyok").expect("readyok"))
    }),
    must("isready-thinking", "isready is answered during a search, which continues")
        .script(|s| Ok(s.think(200).ready().collect(200).stop()))
        .judge(stopped_searches),
    must("stop", "stop ends a search, which is answered by one bestmove")
        .script(|s| Ok(s.think(200).stop().settle()))
        .judge(stopped_searches),
    should("stop-prompt", "stop is obeyed within 50 ms plus the margin")
        .script(|s| Ok(s.think(200).stop()))
        .timed(promptly),
    must("stop-at-once", "stop immediately after go is answered by a legal move")
        .script(|s| Ok(s.go("startpos", "infinite\nstop").expect("bestmove").settle())),
    must("stop-idle", "stop without a search is not answered by bestmove")
        // An answer to such a `stop` would be mistaken for the answer to the next `go`.
        .script(|s| Ok((0..2).fold(s, |s, _| s.send("stop").collect(200).ready())))
        .judge(no_bestmove),
    must("stop-after-move", "a stop that crosses the engine's bestmove does no harm").script(|s| {
        // A match program may send `stop` before it has read the move.
        let s = s.search("startpos", "depth 1").send("stop").ready();
        Ok(s.search("startpos moves e2e4", "depth 2").settle())
    }),
    must(
        "infinite-waits",
        "no bestmove before stop under go infinite, even if nothing is left to search",
    )
    .script(|s| {
        // In these positions, one with a mate and one with a single legal move, engines tend to end
        // an infinite search before `stop`.
        let positions = [MATE_IN_ONE, ONLY_MOVE].into_iter();
        Ok(positions.fold(s, |s, at| s.go(at, "infinite").collect(1000).stop()))
    })
    .judge(stopped_searches),
    must("ucinewgame", "one process plays ten games in succession").script(|s| {
        let positions = ["startpos", "startpos moves e2e4 e7e5"];
        Ok((0..10).fold(s, |s, _| s.send("ucinewgame").ready().search_all(&positions, "depth 3")))
    }),
    must("quit", "quit ends the process").script(|s| Ok(s.send("quit").exit(1))),
    must("quit-thinking", "quit during a search ends the process")
        .script(|s| Ok(s.think(200).send("quit").exit(1)))
        .judge(nothing_more),
    should("end-of-input", "the process ends when its input ends")
        .script(|s| Ok(s.close().exit(1))),
    nice("end-of-input-thinking", "the process ends when its input ends during a search")
        .script(|s| Ok(s.think(200).close().exit(1)))
        .judge(nothing_more),
    nice("exit-status", "after quit, the process ends with exit code 0")
        .script(|s| Ok(s.search("startpos", "depth 1").send("quit").exit(1)))
        .judge(exit_status),
];

/// Requires that every search was answered exactly once, and not before `stop` was sent.
fn stopped_searches(case: &Case) -> Judgement {
    each_search(case, |search| answered_after_stop(search, "stop"))
}

/// Time within which an engine must obey `stop`, in addition to the margin.
const PROMPT: Duration = Duration::from_millis(50);

fn promptly(case: &Case) -> Judgement {
    // The delay after `stop` is meaningful only if no search ended before `stop`.
    stopped_searches(case)?;
    each_search(case, |search| {
        let late = search.answered_at().saturating_sub(search.stop.unwrap_or_default());
        let is_prompt = late <= PROMPT + case.margin;
        ensure(is_prompt, || format!("bestmove {} ms after stop", late.as_millis()))
    })
}

fn no_bestmove(case: &Case) -> Judgement {
    let mut lines = case.transcript.received();
    let found = lines.find(|(_, line)| line.trim_start().starts_with("bestmove"));
    found.map_or(Ok(()), |(_, line)| Err(format!("'{line}' without a command")))
}

fn exit_status(case: &Case) -> Judgement {
    let how = case.transcript.0.iter().find_map(|entry| match &entry.event {
        Event::Exited(how) => Some(how.as_str()),
        _ => None,
    });
    let how = how.unwrap_or("nothing");
    ensure(how == "exit code 0", || format!("the process ended with {how}"))
}
