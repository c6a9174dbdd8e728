//! All checks, grouped by subject.

mod answers;
mod go;
mod handshake;
mod info;
mod input;
mod options;
mod ponder;
mod positions;
mod state;

use std::time::Duration;

use super::board;
use super::script::Script;
use super::transcript::Search;
use super::{Case, Check, Grade, Judgement};

/// Returns all checks, in the order in which they are run.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    [
        handshake::CHECKS,
        state::CHECKS,
        go::CHECKS,
        answers::CHECKS,
        positions::CHECKS,
        ponder::CHECKS,
        options::CHECKS,
        info::CHECKS,
        input::CHECKS,
    ]
    .into_iter()
    .flatten()
}

// By default, a check requires legal moves, because in every match program, an illegal move loses
// the game.
const fn must(name: &'static str, rule: &'static str) -> Check {
    let grade = Grade::Must;
    let judge = legal_answers;
    Check { name, grade, rule, script: |script| Ok(script), judge, is_timed: false }
}

const fn should(name: &'static str, rule: &'static str) -> Check {
    Check { grade: Grade::Should, ..must(name, rule) }
}

const fn nice(name: &'static str, rule: &'static str) -> Check {
    Check { grade: Grade::Nice, ..must(name, rule) }
}

impl Check {
    const fn script(self, script: fn(Script<'_>) -> Result<Script<'_>, String>) -> Check {
        Check { script, ..self }
    }

    /// Sets the judge of the transcript. The default is [`legal_answers`].
    const fn judge(self, judge: fn(&Case) -> Judgement) -> Check {
        Check { judge, ..self }
    }

    /// Sets the judge of the transcript, and marks the check as timed.
    const fn timed(self, judge: fn(&Case) -> Judgement) -> Check {
        Check { judge, is_timed: true, ..self }
    }
}

fn ensure(holds: bool, wrong: impl FnOnce() -> String) -> Judgement {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// Accepts every transcript. Used for checks whose script only has to run to completion; a crash or
/// a timeout fails these checks before this function is called.
fn nothing_more(_: &Case) -> Judgement {
    Ok(())
}

/// Requires that every search has exactly one answer, and that `judge` accepts the search.
fn each_search(case: &Case, judge: impl Fn(&Search) -> Judgement) -> Judgement {
    case.transcript.searches().iter().try_for_each(|search| {
        one_answer(search)?;
        judge(search)
    })
}

/// Requires that every search has exactly one answer, and that the answer is a legal move.
fn legal_answers(case: &Case) -> Judgement {
    each_search(case, legal_answer)
}

fn one_answer(search: &Search) -> Judgement {
    let count = search.answers.len();
    ensure(count == 1, || format!("{count} bestmove lines for 'go {}'", search.go))
}

fn legal_answer(search: &Search) -> Judgement {
    let best = search.best();
    let is_legal = board::legal(&search.position, best).is_some();
    ensure(is_legal, || format!("'{best}' is not a legal move of {}", search.fen()))
}

/// Requires that every search was answered within `limit` milliseconds, plus the margin, after its
/// start.
fn answered_within(case: &Case, limit: u64) -> Judgement {
    each_search(case, |search| {
        let took = search.duration();
        let go = search.go;
        let margin = case.margin.as_millis();
        ensure(took <= Duration::from_millis(limit) + case.margin, || {
            let took = took.as_millis();
            format!("'go {go}' took {took} ms, expected {limit} ms and at most {margin} ms more")
        })
    })
}

/// Requires that the search was not answered before `stop` was sent. For the message, `before`
/// names the events before which no answer is allowed.
fn answered_after_stop(search: &Search, before: &str) -> Judgement {
    let answered_at = search.answered_at();
    ensure(search.stop.is_some_and(|stop| stop <= answered_at), || {
        format!("bestmove after {} ms, before {before}", search.duration().as_millis())
    })
}

#[cfg(test)]
mod tests;
