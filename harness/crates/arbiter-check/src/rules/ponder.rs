//! Thinking on the opponent's time, for engines that have the option.

use std::time::Duration;

use super::super::engine_info::EngineInfo;
use super::super::script::Script;
use super::super::{Case, Check, Grade};
use super::{ms, one_answer, one_legal_answer_each};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "ponder-waits",
        grade: Grade::Must,
        says: "no bestmove during go ponder, however long it takes",
        script: |engine| {
            let script = pondering(engine, "wtime 300 btime 300")?.collect_for(800);
            Ok(script.send("stop").expect("bestmove").collect_for(100).ready())
        },
        judge: waited,
        is_timed: false,
    },
    Check {
        name: "ponder-waits-depth",
        grade: Grade::Should,
        says: "no bestmove during go ponder, though its depth is reached",
        script: |engine| {
            let script = pondering(engine, "wtime 60000 btime 60000 depth 1")?.collect_for(500);
            Ok(script.send("stop").expect("bestmove").collect_for(100).ready())
        },
        judge: waited,
        is_timed: false,
    },
    Check {
        name: "ponderhit",
        grade: Grade::Must,
        says: "after ponderhit the search goes on as an ordinary one and ends in time",
        script: |engine| {
            let script = pondering(engine, "wtime 1000 btime 1000")?.collect_for(200);
            Ok(script.send("ponderhit").expect("bestmove").collect_for(100).ready())
        },
        judge: hit_in_time,
        is_timed: true,
    },
    Check {
        name: "ponderhit-late",
        grade: Grade::Must,
        says: "a ponderhit after the time of the move is used up is answered at once",
        script: |engine| {
            let script = pondering(engine, "wtime 500 btime 500")?.collect_for(1000);
            Ok(script.send("ponderhit").expect("bestmove").collect_for(100).ready())
        },
        judge: hit_in_time,
        is_timed: true,
    },
    Check {
        name: "ponder-miss",
        grade: Grade::Must,
        says: "stop ends go ponder, and the next search is of the new position",
        script: |engine| {
            let script =
                pondering(engine, "wtime 60000 btime 60000")?.collect_for(100).send("stop");
            let script = script.expect("bestmove");
            Ok(script.search("startpos moves e2e4 c7c5", "depth 3").collect_for(100).ready())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "ponderhit-idle",
        grade: Grade::Nice,
        says: "ponderhit without a search does no harm",
        script: |engine| {
            engine.needs("Ponder")?;
            Ok(Script::after_handshake().send("ponderhit").collect_for(100).responds())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
];

fn pondering(engine: &EngineInfo, limits: &str) -> Result<Script, String> {
    engine.needs("Ponder")?;
    let script = Script::after_handshake().send("setoption name Ponder value true").ready();
    Ok(script.send(&format!("position startpos moves e2e4 e7e5\ngo ponder {limits}")))
}

fn waited(case: &Case) -> Result<(), String> {
    one_legal_answer_each(case)?;
    for search in case.transcript.searches() {
        let early = search.answers[0].0;
        if search.stop.is_none_or(|stop| early < stop) {
            let after = ms(early.saturating_sub(search.at));
            return Err(format!("bestmove after {after} ms, before ponderhit or stop"));
        }
    }
    Ok(())
}

fn hit_in_time(case: &Case) -> Result<(), String> {
    for search in case.transcript.searches() {
        one_answer(&search)?;
        let hit = search.hit.unwrap_or_default();
        let (answer, _) = search.answers[0];
        if answer < hit {
            return Err("bestmove before ponderhit".to_owned());
        }
        let limit = match search.go.contains("500") {
            true => Duration::from_millis(500),
            false => Duration::from_millis(1000),
        };
        if answer - hit > limit + case.margin {
            return Err(format!("bestmove {} ms after ponderhit", ms(answer - hit)));
        }
    }
    one_legal_answer_each(case)
}
