//! Verification of games that workers report. This module does no I/O.
//!
//! The coordinator's referee replays each game with the reported moves, scores and times: the game
//! must end after the last move, and in the reported way. Search information and the faults of
//! engines cannot be verified.

use std::collections::BTreeSet;

use crate::wire::RunDescription;
use arbiter_game::driver::{GameSetup, referee};
use arbiter_game::outcome::{Outcome, Termination};
use arbiter_game::record::{GameRecord, MoveRecord, SearchInfo};
use arbiter_game::referee::Reply;
use arbiter_protocol::{Conditions, Info, Protocol};
use arbiter_run::{PairJob, PlayedPair};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Color};

/// Properties of a run that affect the verification of all its results.
#[derive(Debug, Default)]
pub struct Terms {
    /// `true` if workers scale times by their own speed, in which case times are not verified.
    pub is_scaled: bool,
    /// Indices of the engines that can resign: the engines with the xboard protocol.
    pub resigning: BTreeSet<usize>,
}

impl Terms {
    /// Returns the terms of a run.
    pub(crate) fn of(description: &RunDescription) -> Terms {
        let engines = description.engines.iter().enumerate();
        let resigning = engines
            .filter(|(_, run_engine)| run_engine.engine.launch.protocol == Protocol::Xboard)
            .map(|(index, _)| index);
        Terms { is_scaled: description.reference_nps.is_some(), resigning: resigning.collect() }
    }
}

/// Checks whether `played` is a possible result of `job`; the error is the reason why the result is
/// impossible.
pub(crate) fn check(played: &PlayedPair, job: &PairJob, terms: &Terms) -> Result<(), String> {
    if played.pairing != job.pairing {
        return Err("it has other engines or another opening".to_owned());
    }
    if played.games.second.is_some() != job.games.second.is_some() {
        return Err("it has another number of games".to_owned());
    }
    for (number, (record, setup)) in (1..).zip(played.games.iter().zip(job.games.iter())) {
        check_game(record, setup, terms).map_err(|error| format!("game {number}: {error}"))?;
    }
    Ok(())
}

fn check_game(record: &GameRecord, setup: &GameSetup, terms: &Terms) -> Result<(), String> {
    let mode = CastlingMode::from_chess960(record.chess960);
    if record.engines != setup.engines || record.fen != setup.fen || mode != setup.mode {
        return Err("other engines, or another start".to_owned());
    }
    let late = record.late.and_then(|late| late.waited);
    // Waiting times decide whether a pair is void, so a worker could void pairs by inventing
    // waiting times.
    if record.waited.into_iter().chain([late]).flatten().any(|waited| waited > record.duration) {
        return Err("an engine waited longer than the game lasted".to_owned());
    }
    let (book, searched) = record.moves.split_at_checked(setup.book.len()).ok_or("no opening")?;
    let is_of_book =
        |(played, uci): (&MoveRecord, &UciMove)| played.uci == *uci && played.search.is_none();
    if !book.iter().zip(&setup.book).all(is_of_book) {
        return Err("another opening".to_owned());
    }
    let mut setup = setup.clone();
    let is_timed = setup.conditions.map(|conditions| conditions.limits.is_timed());
    // Workers have scaled their clocks, so the clocks of the plan do not apply.
    if terms.is_scaled {
        for Conditions { limits, .. } in setup.conditions.iter_mut() {
            limits.clock = None;
            limits.movetime = None;
        }
    }
    // The referee of local games replays the moves, so that the same code judges local and reported
    // games.
    let mut referee = referee(&setup);
    let mut mover = referee.turn().color;
    for (ply, played) in (book.len()..).zip(searched) {
        let number = ply + 1;
        if let Some(Outcome { termination, .. }) = referee.outcome() {
            return Err(format!("move {number} follows the end by {termination}"));
        }
        let Some(search) = &played.search else {
            return Err(format!("move {number} differs from the opening"));
        };
        referee.judge(reply(played, search));
        if referee.moves() == ply {
            let why = referee.outcome().map_or("it is not played", |outcome| &outcome.detail);
            return Err(format!("move {number} ({}): {why}", played.uci));
        }
        mover = !mover;
    }
    let Outcome { termination, result, .. } = record.outcome;
    let is_so = match referee.outcome() {
        Some(judged) => (judged.termination, judged.result) == (termination, result),
        None => {
            let loser = result.winner().map(Color::other);
            // Before the first move, either side may have failed to start. Later, only the side to
            // move can be at fault.
            loser.is_some_and(|loser| {
                // A loss on time needs a clock, and only xboard engines can resign.
                let may_fail = match termination {
                    Termination::TimeForfeit => *is_timed.get(loser),
                    Termination::Resignation => terms.resigning.contains(setup.engines.get(loser)),
                    _ => true,
                };
                termination.is_of_engine() && may_fail && (loser == mover || searched.is_empty())
            })
        }
    };
    if is_so {
        return Ok(());
    }
    let ended = |outcome: &Outcome| format!(", but by {}", outcome.termination);
    let but = referee.outcome().map_or(String::new(), ended);
    Err(format!("{} does not end by {termination}{but}", result.as_str()))
}

/// Returns the reply that the engine gave with its move.
fn reply(played: &MoveRecord, search: &SearchInfo) -> Reply {
    let SearchInfo { score, depth, seldepth, nodes, elapsed, reported, .. } = *search;
    let info = Info { score, depth, seldepth, nodes, time: reported, ..Info::default() };
    Reply::Move { text: played.uci.to_string(), elapsed, info }
}

#[cfg(test)]
mod tests;
