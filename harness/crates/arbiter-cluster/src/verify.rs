//! Whether a result can be one of the pair that was sent out. Pure.
//!
//! A worker that lies about games it has played cannot be found out here; what is impossible can.

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, KnownOutcome, Position};

use arbiter_game::driver::GameSetup;
use arbiter_game::outcome::Termination;
use arbiter_game::record::GameRecord;
use arbiter_plan::run::job::{PairJob, PlayedPair};

/// An error says why `played` cannot be what became of `job`.
pub fn check(played: &PlayedPair, job: &PairJob) -> Result<(), String> {
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
pub(super) mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use shakmaty::{ByColor, Color};

    use super::*;
    use arbiter_game::adjudicate::Rules;
    use arbiter_game::outcome::Outcome;
    use arbiter_game::progress::Progress;
    use arbiter_game::record::{Keep, MoveRecord, Thought};
    use arbiter_plan::run::job::Games;
    use arbiter_protocol::{Conditions, Limits};
    use arbiter_schedule::Pairing;

    /// The pair of this number, with one move of opening.
    pub(crate) fn job(pair: u64) -> PairJob {
        let limits = Limits { nodes: Some(1), ..Limits::default() };
        let conditions = Conditions { limits, margin: Duration::ZERO };
        let setup = |white, black| GameSetup {
            engines: ByColor { white, black },
            fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned(),
            start: Chess::default(),
            mode: CastlingMode::Standard,
            book: vec!["f2f3".parse().unwrap()],
            conditions: ByColor { white: conditions, black: conditions },
            settings: ByColor::default(),
            rules: Rules::default(),
            tables: None,
            keep: Arc::new(Keep::default()),
            progress: Progress::default(),
        };
        let games = Games { first: setup(0, 1), second: Some(setup(1, 0)) };
        PairJob { pairing: Pairing { pair, engines: [0, 1], opening: pair }, games }
    }

    /// What can become of it: White is mated twice.
    pub(crate) fn played(pair: u64) -> PlayedPair {
        let job = job(pair);
        let record = |setup: &GameSetup| GameRecord {
            engines: setup.engines,
            fen: setup.fen.clone(),
            chess960: false,
            moves: ["f2f3", "e7e5", "g2g4", "d8h4"]
                .into_iter()
                .enumerate()
                .map(|(ply, uci)| MoveRecord {
                    uci: uci.parse().unwrap(),
                    thought: (ply > 0).then(Thought::default),
                })
                .collect(),
            outcome: Outcome::lost(Color::White, Termination::Checkmate, "White is mated"),
            duration: Duration::from_millis(7),
            ready: ByColor::default(),
            late: None,
            transcript: None,
        };
        let second = job.games.second.as_ref().map(record);
        PlayedPair {
            pairing: job.pairing,
            games: Games { first: record(&job.games.first), second },
        }
    }

    #[test]
    fn what_was_played_is_believed() {
        assert_eq!(check(&played(3), &job(3)), Ok(()));
    }

    #[test]
    fn what_cannot_be_is_not() {
        let refuse = |part: &str, change: &dyn Fn(&mut PlayedPair)| {
            let mut played = played(3);
            change(&mut played);
            let error = check(&played, &job(3)).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        let uci = |text: &str| text.parse::<UciMove>().unwrap();
        refuse("other engines", &|p| p.pairing.engines = [1, 0]);
        refuse("another opening", &|p| p.pairing.opening = 4);
        refuse("number of games", &|p| p.games.second = None);
        refuse("game 1: other engines", &|p| {
            p.games.first.engines = ByColor { white: 1, black: 0 }
        });
        refuse("another start", &|p| p.games.first.fen = "8/8/8/8/8/8/8/8 w - - 0 1".into());
        refuse("not that of the opening", &|p| p.games.first.moves[0].uci = uci("e2e4"));
        refuse("not that of the opening", &|p| p.games.first.moves[1].thought = None);
        refuse("move 2 (e7e4) is illegal", &|p| p.games.first.moves[1].uci = uci("e7e4"));
        refuse("was not played", &|p| {
            p.games.first.moves.clear();
            p.games.first.outcome.termination = Termination::Crash;
        });
        let is_mate = |p: &mut PlayedPair| p.games.first.outcome.result = KnownOutcome::Draw;
        refuse("1/2-1/2 cannot end by checkmate", &is_mate);
        refuse("cannot end by checkmate", &|p| {
            p.games.first.moves.pop();
        });
        refuse("cannot end by threefold", &|p| {
            p.games.first.outcome.termination = Termination::Threefold;
        });
        refuse("cannot end by stalemate", &|p| {
            p.games.first.outcome = Outcome::drawn(Termination::Stalemate, "");
        });
    }
}
