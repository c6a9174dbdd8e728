//! Main line of a game, replayed according to the rules of chess.

use arbiter_position::{Start, excerpt};
use shakmaty::san::San;
use shakmaty::{Chess, Move, Position};

use super::games::Part;
use super::moves::{MoveError, legal_move};

/// Replayed part of a game.
#[derive(Debug, Clone)]
pub struct Mainline {
    /// Starting position of the game.
    pub start: Start,
    /// Position after the moves.
    pub position: Chess,
    /// Moves played.
    pub moves: Vec<Move>,
}

impl Mainline {
    /// Creates a main line without moves.
    pub fn new(start: Start) -> Mainline {
        Mainline { position: start.position.clone(), start, moves: Vec::new() }
    }

    /// Plays a move.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`legal_move`].
    pub fn play(&mut self, written: San) -> Result<(), MoveError> {
        let played = legal_move(&self.position, written)?;
        self.position.play_unchecked(played);
        self.moves.push(played);
        Ok(())
    }

    /// Returns the written move with the move number in the current position, such as `23... Nf9`.
    pub fn numbered(&self, written: &str) -> String {
        let dots = if self.position.turn().is_white() { "." } else { "..." };
        format!("{}{dots} {written}", self.position.fullmoves())
    }

    /// Plays a part that is a move. Fails if the part is an illegal move, or an invalid token in
    /// place of a move.
    pub fn take(&mut self, part: &Part<'_>) -> Result<(), String> {
        let (written, error) = match part {
            Part::Comment(_) | Part::Outcome(_) => return Ok(()),
            Part::Unclosed => return Err("unclosed comment or variation".to_owned()),
            Part::Unknown(word) => (excerpt(word), MoveError::NoMove),
            Part::San(san) => match self.play(*san) {
                Ok(()) => return Ok(()),
                Err(error) => (san.to_string(), error),
            },
        };
        Err(format!("{} {error}", self.numbered(&written)))
    }
}
