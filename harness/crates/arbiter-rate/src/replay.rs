//! The moves of a game, replayed by the rules of chess.

use shakmaty::{Chess, Color, Outcome, Position};

use arbiter_pgn::{MoveError, San, legal_move, text_of};
use arbiter_position::Start;

/// A game being replayed.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    position: Chess,
    /// True if the FEN tag claims what the position cannot have.
    pub(crate) is_corrected: bool,
}

impl Replay {
    /// Begins at the start of a game, or at the position of its FEN tag if that is not empty; `None` if
    /// there is no such position.
    pub(crate) fn new(fen: &[u8]) -> Option<Replay> {
        if fen.is_empty() {
            return Some(Replay { position: Chess::default(), is_corrected: false });
        }
        let Start { position, correction, .. } = Start::read(&text_of(fen), false).ok()?;
        Some(Replay { position, is_corrected: correction.is_some() })
    }

    /// Plays a move, or names it with its number if it cannot be played.
    pub(crate) fn play(&mut self, written: San) -> Result<(), String> {
        match legal_move(&self.position, written) {
            Ok(legal) => self.position.play_unchecked(legal),
            Err(MoveError::Null) => return Err(self.numbered("--, a null move")),
            Err(_) => return Err(self.numbered(&written.to_string())),
        }
        Ok(())
    }

    /// Plays a move and returns it in SAN; `None` if it cannot be played.
    pub(crate) fn san(&mut self, written: San) -> Option<San> {
        let legal = legal_move(&self.position, written).ok()?;
        let san = San::from_move(&self.position, legal);
        self.position.play_unchecked(legal);
        Some(san)
    }

    /// Returns a move with its number, such as `23... Nf9`.
    pub(crate) fn numbered(&self, written: &str) -> String {
        let dots = if self.position.turn() == Color::White { "." } else { "..." };
        format!("{}{dots} {written}", self.position.fullmoves())
    }

    /// Returns the outcome by the last position, if the rules end the game there by themselves: by
    /// checkmate, stalemate, or for want of material.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        Some(self.position.outcome()).filter(|outcome| *outcome != Outcome::Unknown)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use shakmaty::KnownOutcome;

    use super::*;

    fn replay(fen: &str, moves: &str) -> (Replay, Result<(), String>) {
        let mut replay = Replay::new(fen.as_bytes()).unwrap();
        let mut moves = moves.split(' ').map(|san| San::from_ascii(san.as_bytes()).unwrap());
        let played = moves.try_for_each(|san| replay.play(san));
        (replay, played)
    }

    #[test]
    fn the_first_illegal_move_is_named() {
        let (fine, played) = replay("", "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6 d3 O-O");
        assert_eq!((fine.outcome(), played), (None, Ok(())));
        let check = |moves: &str, shown: &str| {
            assert_eq!(replay("", moves).1, Err(shown.to_owned()));
        };
        check("e4 e5 Ke3 Qa8", "2. Ke3");
        check("e4 Nf8", "1... Nf8");
        check("O-O", "1. O-O");
        check("e4 --", "1... --, a null move");
    }

    #[test]
    fn the_last_position_may_tell_the_result() {
        let outcome = |fen, moves| replay(fen, moves).0.outcome();
        let black = KnownOutcome::Decisive { winner: Color::Black };
        assert_eq!(outcome("", "f3 e5 g4 Qh4#"), Some(Outcome::Known(black)));
        let stalemate = "7k/8/5KQ1/8/8/8/8/8 b - - 0 1";
        let stalemate = Replay::new(stalemate.as_bytes()).unwrap();
        assert_eq!(stalemate.outcome(), Some(Outcome::Known(KnownOutcome::Draw)));
        let chess960 = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1";
        assert_eq!(replay(chess960, "e4 e5").1, Ok(()));
        // Castling and en passant that cannot be are left out.
        let claims = Replay::new(b"4k3/8/8/3pP3/8/8/8/4K3 w KQ e6 0 1;").unwrap();
        assert!(claims.is_corrected && !Replay::new(chess960.as_bytes()).unwrap().is_corrected);
        assert!(Replay::new(b"no position").is_none());
        assert!(Replay::new(b"8/8/8/8/8/8/8/K7 w - - 0 1").is_none());
    }
}
