//! Game endings that depend on the position alone.

use super::bitboard::Bitboard;
use super::piece::Kind;
use super::position::Position;

/// The light squares.
pub(crate) const LIGHT: Bitboard = Bitboard(0x55AA_55AA_55AA_55AA);

/// Game ending that depends on the position alone. Repetition is not included, because a repetition
/// depends on earlier positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no move and is not in check.
    Stalemate,
    /// Neither side has enough material to mate.
    InsufficientMaterial,
    /// At least 100 plies without a capture or pawn move, and no mate.
    FiftyMoves,
}

impl Position {
    /// Returns the ending; `None` if the game is not over. Checkmate takes precedence over draws.
    pub fn outcome(&self) -> Option<Outcome> {
        if self.count_legal_moves() == 0 {
            let mate = self.in_check();
            return Some(if mate { Outcome::Checkmate } else { Outcome::Stalemate });
        }
        if self.is_insufficient_material() {
            Some(Outcome::InsufficientMaterial)
        } else if self.halfmove_clock() >= 100 {
            Some(Outcome::FiftyMoves)
        } else {
            None
        }
    }

    /// Returns whether neither side can mate. The board then has, besides the kings, no piece, one
    /// knight, or bishops on squares of one colour only.
    #[inline]
    pub fn is_insufficient_material(&self) -> bool {
        let board = self.board();
        let heavy = board.kind(Kind::Pawn) | board.kind(Kind::Rook) | board.kind(Kind::Queen);
        if heavy.any() {
            return false;
        }
        let (knights, bishops) = (board.kind(Kind::Knight), board.kind(Kind::Bishop));
        if knights.any() {
            return bishops.is_empty() && knights.len() == 1;
        }
        (bishops & LIGHT).is_empty() || (bishops - LIGHT).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;

    #[test]
    fn endings_are_recognised() {
        use Outcome::*;
        for (text, expected) in [
            ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", Some(Checkmate)),
            ("k7/2Q5/8/8/8/8/8/7K b - - 0 1", Some(Stalemate)),
            ("k7/8/8/8/8/8/8/7K b - - 0 1", Some(InsufficientMaterial)),
            ("k7/8/8/8/8/8/8/6NK b - - 0 1", Some(InsufficientMaterial)),
            ("kb6/8/8/8/8/8/7B/7K b - - 0 1", Some(InsufficientMaterial)),
            ("k1b5/8/8/8/8/8/7B/7K b - - 0 1", None),
            ("k7/8/8/8/8/8/8/5NNK b - - 0 1", None),
            ("kn6/8/8/8/8/8/7B/7K b - - 0 1", None),
            ("k7/8/8/8/8/8/7R/7K b - - 100 80", Some(FiftyMoves)),
            ("k7/8/8/8/8/8/7R/7K b - - 99 80", None),
            ("k6R/8/1K6/8/8/8/8/8 b - - 100 80", Some(Checkmate)),
        ] {
            assert_eq!(fen::parse(text).unwrap().outcome(), expected, "{text}");
        }
    }
}
