//! The move that is meant by what is written.

use std::fmt;

use shakmaty::san::{San, SanError};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Role, Square};

/// The reason why a written move cannot be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveError {
    /// No legal move is written so.
    Illegal,
    /// Several legal moves are written so.
    Ambiguous,
    /// The side to move passes, which chess does not allow.
    Null,
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MoveError::Illegal => "illegal move",
            MoveError::Ambiguous => "ambiguous move",
            MoveError::Null => "a null move",
        })
    }
}

/// Returns the legal move that `written` means: SAN, long algebraic notation, or the squares of UCI. A
/// capture may lack its `x`.
///
/// # Errors
///
/// If no legal move or more than one is meant, and for null moves.
pub fn legal_move(position: &Chess, written: San) -> Result<Move, MoveError> {
    let error = match written.to_move(position) {
        Ok(legal) => return Ok(legal),
        Err(SanError::AmbiguousSan) => MoveError::Ambiguous,
        Err(SanError::IllegalSan) => MoveError::Illegal,
    };
    let San::Normal { role, file, rank, capture, to, promotion } = written else {
        return Err(if written == San::Null { MoveError::Null } else { error });
    };
    if let (Some(file), Some(rank)) = (file, rank) {
        // UCI has no letter for a piece, which reads as the move of a pawn.
        let from = Square::from_coords(file, rank);
        let uci = UciMove::Normal { from, to, promotion };
        let is_meant = |legal: &Move| role == Role::Pawn || role == legal.role();
        return uci.to_move(position).ok().filter(is_meant).ok_or(error);
    }
    let other = San::Normal { role, file, rank, capture: !capture, to, promotion };
    other.to_move(position).map_err(|_| error)
}
