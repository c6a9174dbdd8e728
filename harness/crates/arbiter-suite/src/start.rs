//! A position of a suite.

use serde_with::serde_conv;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode, FromSetup, PositionError, PositionErrorKinds};

use arbiter_protocol::{Game, Limits};

/// A position that an engine is asked about.
#[derive(Debug, Clone)]
pub struct Start {
    /// The position.
    pub position: Chess,
    /// Which rules of castling hold.
    pub mode: CastlingMode,
}

impl Start {
    /// Reads a FEN of six fields. Chess960 is recognised by castling rights that standard chess
    /// does not have, unless `is_chess960` says so. Positions that no game reaches are accepted
    /// as long as their moves are defined; an error says why they are not.
    pub fn read(fen: &str, is_chess960: bool) -> Result<Start, String> {
        let fen: Fen = fen.parse().map_err(|error| format!("'{fen}': {error}"))?;
        let setup = fen.into_setup();
        if setup.pockets.is_some() || setup.promoted.any() || setup.remaining_checks.is_some() {
            return Err("a position of a chess variant".to_owned());
        }
        let read = |mode| {
            Chess::from_setup(setup.clone(), mode)
                .or_else(PositionError::ignore_too_much_material)
                .or_else(PositionError::ignore_impossible_check)
                .or_else(PositionError::ignore_invalid_ep_square)
                .map(|position| Start { position, mode })
                .map_err(Box::new)
        };
        if is_chess960 {
            return read(CastlingMode::Chess960).map_err(|error| error.to_string());
        }
        read(CastlingMode::Standard).or_else(|error| {
            let chess960 = error.kinds().contains(PositionErrorKinds::INVALID_CASTLING_RIGHTS);
            let retry = chess960.then(|| read(CastlingMode::Chess960).ok()).flatten();
            retry.ok_or_else(|| error.to_string())
        })
    }

    /// Whether it needs an engine that plays Chess960.
    pub fn is_chess960(&self) -> bool {
        self.mode == CastlingMode::Chess960
    }

    /// It as the start of a game without limits.
    pub fn game(&self) -> Game<'_> {
        Game { start: &self.position, mode: self.mode, limits: Limits::default(), settings: &[] }
    }

    /// Its FEN, with the en passant square whenever a pawn has just moved two squares.
    pub fn fen(&self) -> String {
        fen(&self.position)
    }

    /// The `position` line that leads to it and then plays `moves`.
    pub fn line(&self, moves: &[String]) -> String {
        let fen = self.fen();
        if moves.is_empty() {
            format!("position fen {fen}")
        } else {
            format!("position fen {fen} moves {}", moves.join(" "))
        }
    }
}

serde_conv!(
    /// A position as its FEN, and whether castling is by the rules of Chess960.
    pub(crate) FenAndRules,
    Start,
    |start: &Start| (start.fen(), start.is_chess960()),
    |(fen, is_chess960): (String, bool)| Start::read(&fen, is_chess960)
);

/// The FEN of a position.
pub fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Always).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chess960_is_recognised_by_its_castling_rights() {
        let mode = |fen: &str| Start::read(fen, false).map(|start| start.mode);
        assert_eq!(mode("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"), Ok(CastlingMode::Standard));
        assert_eq!(mode("4k3/8/8/8/8/8/8/R3K2R w HA - 0 1"), Ok(CastlingMode::Standard));
        assert_eq!(mode("4k3/8/8/8/8/8/8/1R3K1R w HB - 0 1"), Ok(CastlingMode::Chess960));
        assert!(mode("4k3/8/8/8/8/8/8/4K3 w KQ - 0 1").is_err());
        let forced = Start::read("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", true);
        assert!(forced.is_ok_and(|start| start.is_chess960()));
    }

    #[test]
    fn positions_that_no_game_reaches_are_fine_if_their_moves_are_defined() {
        assert!(Start::read("QQQQQQQQ/QQQQQQQQ/8/8/8/8/8/k6K w - - 0 1", false).is_err());
        assert!(Start::read("4k3/8/8/8/8/NNN5/NNNNNNNN/4K3 w - - 0 1", false).is_ok());
        assert!(Start::read("4k3/8/8/8/8/8/8/8 w - - 0 1", false).is_err());
        assert!(Start::read("4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1", false).is_err());
    }
}
