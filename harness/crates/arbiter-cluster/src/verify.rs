//! Whether games can be those of the pair that was sent out. Pure.
//!
//! A worker may still have made up games that are possible.

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, KnownOutcome, Position};

use arbiter_game::driver::GameSetup;
use arbiter_game::outcome::Termination;
use arbiter_game::record::GameRecord;
use arbiter_plan::{PairJob, PlayedPair};

/// Most moves of a game.
const MAX_MOVES: usize = 20_000;

/// An error says why `played` cannot be what became of `job`.
pub(crate) fn check(played: &PlayedPair, job: &PairJob) -> Result<(), String> {
    if played.pairing != job.pairing {
        return Err("it names other engines or another opening".to_owned());
    }
    if played.games.second.is_some() != job.games.second.is_some() {
        return Err("it has another number of games".to_owned());
    }
    for (number, (record, setup)) in (1..).zip(played.games.iter().zip(job.games.iter())) {
        check_game(record, setup).map_err(|error| format!("game {number}: {error}"))?;
    }
    Ok(())
}

fn check_game(record: &GameRecord, setup: &GameSetup) -> Result<(), String> {
    if record.moves.len() > MAX_MOVES {
        return Err(format!("{} moves", record.moves.len()));
    }
    let mode = CastlingMode::from_chess960(record.chess960);
    if record.engines != setup.engines || record.fen != setup.fen || mode != setup.mode {
        return Err("other engines, or another start".to_owned());
    }
    let mut position = setup.start.clone();
    for (ply, played) in record.moves.iter().enumerate() {
        let book: Option<&UciMove> = setup.book.get(ply);
        if book.is_some_and(|book| *book != played.uci)
            || book.is_some() != played.thought.is_none()
        {
            return Err(format!("move {} is not that of the opening", ply + 1));
        }
        let legal = played.uci.to_move(&position);
        let legal = legal.map_err(|_| format!("move {} ({}) is illegal", ply + 1, played.uci))?;
        position.play_unchecked(legal);
    }
    if record.moves.len() < setup.book.len() {
        return Err("the opening was not played".to_owned());
    }
    let (termination, result) = (record.outcome.termination, record.outcome.result);
    if is_possible(termination, result, &position) {
        Ok(())
    } else {
        Err(format!("{} cannot end by {termination} there", result.as_str()))
    }
}

/// Whether a game can end in `position` in that way with that result.
fn is_possible(termination: Termination, result: KnownOutcome, position: &Chess) -> bool {
    let is_draw = result == KnownOutcome::Draw;
    match termination {
        Termination::Checkmate => {
            position.is_checkmate() && result.winner() == Some(!position.turn())
        }
        Termination::Stalemate => is_draw && position.is_stalemate(),
        Termination::Threefold
        | Termination::FiftyMoves
        | Termination::DeadPosition
        | Termination::DrawAdjudication
        | Termination::MoveCap => is_draw,
        Termination::ResignAdjudication | Termination::Resignation => !is_draw,
        Termination::TablebaseAdjudication => false,
        // Who fails loses, but for one whose opponent could never mate.
        Termination::TimeForfeit
        | Termination::IllegalMove
        | Termination::UnparseableMove
        | Termination::ProtocolError
        | Termination::Crash
        | Termination::Disconnect
        | Termination::Stall => true,
    }
}

#[cfg(test)]
pub(super) mod tests;
