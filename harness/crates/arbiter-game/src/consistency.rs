//! Consistency checks of game records from other machines or files. This module does no I/O.

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Position};

use crate::adjudicate::Rules;
use crate::outcome::Outcome;
use crate::record::GameRecord;
use crate::referee::Referee;

/// Checks that a record is consistent. Its moves must be legal. If the moves end the game by the
/// rules of chess, the recorded outcome must match. Adjudications and engine faults cannot be
/// verified; they are accepted if they agree with the recorded result. The error describes the
/// first contradiction.
pub fn check(record: &GameRecord) -> Result<(), String> {
    let mode = CastlingMode::from_chess960(record.chess960);
    let start = record.legal_start();
    let start = start.ok_or_else(|| format!("'{}' is not a legal position", record.fen))?;
    let moves: Vec<UciMove> = record.moves.iter().map(|played| played.uci).collect();
    // A record contains neither clocks nor tablebases, so the moves are replayed without limits,
    // adjudication rules or tables.
    let unlimited = ByColor::default();
    let turn = start.turn();
    let referee = Referee::new(start, mode, &moves, unlimited, Rules::default(), None);
    let number = referee.moves();
    let judged = referee.outcome();
    if let Some(next) = moves.get(number) {
        return Err(match judged {
            Some(end) => format!("move {} follows the end by {}", number + 1, end.termination),
            None => format!("move {} ({next}) is illegal", number + 1),
        });
    }
    let Outcome { result, termination, .. } = record.outcome;
    let mover = if number.is_multiple_of(2) { turn } else { !turn };
    // An engine fails on its own turn. Before the first engine move, however, either engine may
    // have failed to start.
    let is_begun = record.moves.iter().any(|played| played.search.is_some());
    let is_consistent = match (judged, termination.adjudicated()) {
        (Some(judged), _) => (judged.termination, judged.result) == (termination, result),
        (None, Some(scope)) => scope.contains(result),
        (None, None) if termination.is_of_engine() => {
            result.winner().is_some_and(|winner| winner != mover || !is_begun)
        }
        (None, None) => false,
    };
    if is_consistent {
        Ok(())
    } else {
        Err(format!("the moves do not end in {} by {termination}", result.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::outcome::Termination;
    use crate::record::{MoveRecord, SearchInfo};

    #[test]
    fn endings_are_consistent_with_the_moves() {
        use Termination::*;
        let check = |moves: &str, result: &str, termination| {
            let outcome =
                Outcome { result: result.parse().unwrap(), termination, detail: String::new() };
            let moves = moves.split_whitespace().map(|uci| MoveRecord {
                uci: uci.parse().unwrap(),
                search: Some(SearchInfo::default()),
            });
            super::check(&GameRecord {
                engines: ByColor { white: 0, black: 1 },
                fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".into(),
                chess960: false,
                moves: moves.collect(),
                outcome,
                duration: Duration::ZERO,
                ready: ByColor::default(),
                movetime: ByColor::default(),
                late: None,
                waited: ByColor::default(),
                begun_ms: None,
                transcript: None,
            })
        };
        let mate = "f2f3 e7e5 g2g4 d8h4";
        let knights = "g1f3 g8f6 f3g1 f6g8 ".repeat(2);
        for (moves, result, termination) in [
            (mate, "0-1", Checkmate),
            (&knights, "1/2-1/2", Threefold),
            ("e2e4", "1-0", Crash),
            ("e2e4 e7e5", "0-1", Resignation),
            ("e2e4", "0-1", ResignAdjudication),
            ("e2e4", "1/2-1/2", MoveCap),
            ("e2e4", "1/2-1/2", TablebaseAdjudication),
        ] {
            assert_eq!(check(moves, result, termination), Ok(()), "{moves}");
        }
        for (moves, result, termination, words) in [
            (mate, "1-0", Checkmate, "do not end in 1-0 by checkmate"),
            (mate, "0-1", TimeForfeit, "do not end"),
            ("e2e4", "0-1", Checkmate, "do not end"),
            ("e2e4", "0-1", Crash, "do not end"),
            ("e2e4", "1/2-1/2", Crash, "do not end"),
            ("e2e4", "1-0", MoveCap, "do not end"),
            ("e2e4 a1a1", "1-0", Crash, "move 2 (a1a1) is illegal"),
            (&format!("{mate} e1f2"), "0-1", Checkmate, "move 5 follows the end by checkmate"),
        ] {
            let error = check(moves, result, termination).unwrap_err();
            assert!(error.contains(words), "{moves}: {error}");
        }
    }
}
