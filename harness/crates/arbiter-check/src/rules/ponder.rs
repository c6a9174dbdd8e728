//! Checks of pondering, for engines with the option `Ponder`.

use std::time::Duration;

use super::{
    answered_after_stop, each_search, ensure, legal_answer, legal_answers, must, nice, should,
};
use crate::script::Script;
use crate::{Case, Check, Judgement};

pub(super) const CHECKS: &[Check] = &[
    must("ponder-waits", "no bestmove before ponderhit or stop, however long go ponder takes")
        // The pause is longer than the time on the clock. The pause does not affect a correct
        // engine, because its clock does not run while the engine ponders.
        .script(|s| Ok(pondering(s, "wtime 300 btime 300")?.collect(800).stop().settle()))
        .judge(waited),
    should(
        "ponder-waits-depth",
        "no bestmove before ponderhit or stop, even if go ponder reaches its depth",
    )
    .script(|s| {
        let s = pondering(s, "wtime 60000 btime 60000 depth 1")?;
        Ok(s.collect(500).stop().settle())
    })
    .judge(waited),
    must("ponderhit", "after ponderhit, the search continues as a normal search and ends in time")
        .script(|s| Ok(hit(pondering(s, "wtime 1000 btime 1000")?.collect(200))))
        .timed(|case| hit_in_time(case, 1000)),
    must("ponderhit-late", "a ponderhit after the time has run out is answered immediately")
        // The pause before `ponderhit` is longer than the time on the clock, so an engine that
        // starts its clock at `go ponder` has no time left.
        .script(|s| Ok(hit(pondering(s, "wtime 500 btime 500")?.collect(1000))))
        .timed(|case| hit_in_time(case, 500)),
    must("ponder-miss", "stop ends go ponder, and the next search uses the new position").script(
        |s| {
            let s = pondering(s, "wtime 60000 btime 60000")?.collect(100).stop();
            Ok(s.search("startpos moves e2e4 c7c5", "depth 3").settle())
        },
    ),
    nice("ponderhit-idle", "ponderhit without a search does no harm").script(|s| {
        s.engine.option("Ponder")?;
        Ok(s.send("ponderhit").collect(100).responds())
    }),
];

fn pondering<'a>(script: Script<'a>, limits: &str) -> Result<Script<'a>, String> {
    script.engine.option("Ponder")?;
    let script = script.set("Ponder", true);
    Ok(script.go("startpos moves e2e4 e7e5", &format!("ponder {limits}")))
}

fn hit(script: Script<'_>) -> Script<'_> {
    script.send("ponderhit").expect("bestmove").settle()
}

fn waited(case: &Case) -> Judgement {
    each_search(case, |search| {
        legal_answer(search)?;
        answered_after_stop(search, "ponderhit or stop")
    })
}

/// Requires that every search was answered within `limit` milliseconds, plus the margin, after
/// `ponderhit`.
fn hit_in_time(case: &Case, limit: u64) -> Judgement {
    each_search(case, |search| {
        let hit = search.hit.unwrap_or_default();
        let answered_at = search.answered_at();
        // An answer before `ponderhit` would be a move in a position that may never occur.
        ensure(answered_at >= hit, || "bestmove before ponderhit".to_owned())?;
        let took = answered_at - hit;
        let is_in_time = took <= Duration::from_millis(limit) + case.margin;
        ensure(is_in_time, || format!("bestmove {} ms after ponderhit", took.as_millis()))
    })?;
    legal_answers(case)
}
