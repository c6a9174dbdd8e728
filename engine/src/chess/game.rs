//! Game: starting position, moves and current position.

use super::moves::Move;
use super::position::Position;

/// A game up to its current position.
#[derive(Clone, Debug)]
pub struct Game {
    start: Position,
    moves: Vec<Move>,
    position: Position,
    /// Keys of the earlier positions since the last irreversible move, oldest first.
    keys: Vec<u64>,
}

impl Game {
    /// Returns a game that starts with this position.
    pub fn new(position: Position) -> Game {
        Game { start: position, moves: Vec::new(), position, keys: Vec::new() }
    }

    /// Returns the starting position.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// Returns the moves played.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the current position.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Returns the keys of the earlier positions since the last irreversible move, oldest first.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        self.keys.push(self.position.key());
        self.moves.push(mv);
        self.position = self.position.play(mv);
        if self.position.halfmove_clock() == 0 {
            self.keys.clear();
        }
    }
}
