//! Thinking on the opponent's time, for engines that have the option.

use std::time::Duration;

use super::super::facts::Facts;
use super::super::script::Script;
use super::super::{Case, Check, Grade};
use super::{ms, one_answer, one_legal_answer_each};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "ponder-waits",
        grade: Grade::Must,
        says: "no bestmove during go ponder, however long it takes",
        script: |facts| {
            let script = pondering(facts, "wtime 300 btime 300")?.listen(800);
            Ok(script.say("stop").hear("bestmove").listen(100).ready())
        },
        judge: waited,
        is_timed: false,
    },
    Check {
        name: "ponder-waits-depth",
        grade: Grade::Should,
        says: "no bestmove during go ponder, though its depth is reached",
        script: |facts| {
            let script = pondering(facts, "wtime 60000 btime 60000 depth 1")?.listen(500);
            Ok(script.say("stop").hear("bestmove").listen(100).ready())
        },
        judge: waited,
        is_timed: false,
    },
    Check {
        name: "ponderhit",
        grade: Grade::Must,
        says: "after ponderhit the search goes on as an ordinary one and ends in time",
        script: |facts| {
            let script = pondering(facts, "wtime 1000 btime 1000")?.listen(200);
            Ok(script.say("ponderhit").hear("bestmove").listen(100).ready())
        },
        judge: hit_in_time,
        is_timed: true,
    },
    Check {
        name: "ponderhit-late",
        grade: Grade::Must,
        says: "a ponderhit after the time of the move is used up is answered at once",
        script: |facts| {
            let script = pondering(facts, "wtime 500 btime 500")?.listen(1000);
            Ok(script.say("ponderhit").hear("bestmove").listen(100).ready())
        },
        judge: hit_in_time,
        is_timed: true,
    },
    Check {
        name: "ponder-miss",
        grade: Grade::Must,
        says: "stop ends go ponder, and the next search is of the new position",
        script: |facts| {
            let script = pondering(facts, "wtime 60000 btime 60000")?.listen(100).say("stop");
            let script = script.hear("bestmove");
            Ok(script.search("startpos moves e2e4 c7c5", "depth 3").listen(100).ready())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
    Check {
        name: "ponderhit-idle",
        grade: Grade::Nice,
        says: "ponderhit without a search does no harm",
        script: |facts| {
            facts.needs("Ponder")?;
            Ok(Script::greeted().say("ponderhit").listen(100).alive())
        },
        judge: one_legal_answer_each,
        is_timed: false,
    },
];

fn pondering(facts: &Facts, limits: &str) -> Result<Script, String> {
    facts.needs("Ponder")?;
    let script = Script::greeted().say("setoption name Ponder value true").ready();
    Ok(script.say(&format!("position startpos moves e2e4 e7e5\ngo ponder {limits}")))
}

fn waited(case: &Case) -> Result<(), String> {
    one_legal_answer_each(case)?;
    for search in case.talk.searches() {
        let early = search.answers[0].0;
        if search.stop.is_none_or(|stop| early < stop) {
            let after = ms(early.saturating_sub(search.at));
            return Err(format!("bestmove after {after} ms, before ponderhit or stop"));
        }
    }
    Ok(())
}

fn hit_in_time(case: &Case) -> Result<(), String> {
    for search in case.talk.searches() {
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
