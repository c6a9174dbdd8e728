//! Main line of a game, replayed according to the rules of chess.

use arbiter_position::{Start, excerpt};
use shakmaty::san::San;
use shakmaty::{Chess, Move, Position};

use super::moves::{MoveError, legal_move};
use super::text::UNCLOSED;

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

    /// Returns a message about an invalid token in place of the next move.
    pub fn fault(&self, word: &[u8]) -> String {
        match word {
            UNCLOSED => "unclosed comment or variation".to_owned(),
            word => format!("{} {}", self.numbered(&excerpt(word)), MoveError::NoMove),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn play_moves(fen: &str, moves: &str) -> (Mainline, Result<(), String>) {
        let mut line = Mainline::new(Start::read(fen, false).unwrap());
        let mut moves = moves.split(' ').map(|san| San::from_ascii(san.as_bytes()).unwrap());
        let result = moves.try_for_each(|san| {
            let played = line.play(san);
            played.map_err(|error| format!("{} {error}", line.numbered(&san.to_string())))
        });
        (line, result)
    }

    #[test]
    fn the_first_illegal_move_is_reported() {
        let initial = arbiter_position::fen(&Chess::default());
        let (line, result) = play_moves(&initial, "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6 d3 O-O");
        assert_eq!((line.moves.len(), result), (10, Ok(())));
        for (moves, expected) in [
            ("e4 e5 Ke3 Qa8", "2. Ke3 is not legal"),
            ("e4 Nf8", "1... Nf8 is not legal"),
            ("O-O", "1. O-O is not legal"),
            ("e4 --", "1... -- is a null move"),
        ] {
            assert_eq!(play_moves(&initial, moves).1, Err(expected.to_owned()));
        }
        let chess960 = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1";
        let (line, result) = play_moves(chess960, "e4 e5");
        assert_eq!((result, line.fault(b"x\x1b y")), (Ok(()), "2. x  y is not a move".to_owned()));
        assert_eq!(line.fault(UNCLOSED), "unclosed comment or variation");
    }
}
