//! Conversion of a set-up to a position, with a list of all faults.

use std::fmt;

use super::Position;
use crate::chess::bitboard::Bitboard;
use crate::chess::color::Color;
use crate::chess::piece::{Kind, Piece};
use crate::chess::square::Square;

/// An unchecked position, legal or not.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Piece on each square, by index.
    pub pieces: [Option<Piece>; 64],
    /// Side to move.
    pub turn: Color,
    /// Rooks that may castle according to the input.
    pub castling_rooks: Bitboard,
    /// En-passant square according to the input.
    pub en_passant: Option<Square>,
    /// Plies since the last capture or pawn move.
    pub halfmove_clock: u16,
    /// Full-move number, from 1.
    pub fullmove_number: u16,
}

/// A reason why a set-up is not a legal position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The side has no king or several kings.
    KingCount(Color),
    /// The side has more pieces than promotions can produce.
    TooMuchMaterial(Color),
    /// A pawn stands on the first or last rank.
    PawnOnBackRank(Square),
    /// The side not to move is in check.
    OpponentInCheck,
    /// The square contains no rook that could castle. Castling needs a king and a rook of one
    /// colour on the back rank of this colour.
    CastlingRook(Square),
    /// Two castling rooks of the colour are on the same side of the king.
    AmbiguousCastling(Color),
    /// The last move cannot have been a double push over the square.
    EnPassant(Square),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::KingCount(color) => write!(f, "{color:?} must have exactly one king"),
            Fault::TooMuchMaterial(color) => {
                write!(f, "{color:?} has more pieces than promotions allow")
            }
            Fault::PawnOnBackRank(square) => write!(f, "a pawn stands on {square}"),
            Fault::OpponentInCheck => write!(f, "the side not to move is in check"),
            Fault::CastlingRook(square) => write!(f, "no castling is possible with {square}"),
            Fault::AmbiguousCastling(color) => {
                write!(f, "{color:?} claims two castling rooks on one side of the king")
            }
            Fault::EnPassant(square) => write!(f, "no pawn can have passed {square}"),
        }
    }
}

impl Setup {
    /// Converts the set-up to a position.
    ///
    /// # Errors
    ///
    /// Returns all faults. An en-passant square without a legal capture is dropped, and is not a
    /// fault.
    pub fn into_position(self) -> Result<Position, Vec<Fault>> {
        let mut position = Position::bare(self.turn, self.halfmove_clock, self.fullmove_number);
        for square in Square::all() {
            if let Some(piece) = self.pieces[square.index()] {
                position.put(piece.color, piece.kind, square);
            }
        }
        let mut faults = material_faults(&position);
        if faults.iter().any(|fault| matches!(fault, Fault::KingCount(_))) {
            // The following checks need one king per side.
            return Err(faults);
        }
        position.refresh_check_info();
        if opponent_in_check(&position) {
            faults.push(Fault::OpponentInCheck);
        }
        faults.extend(castling_faults(&position, self.castling_rooks));
        for rook in self.castling_rooks {
            position.grant_castling(rook);
        }
        if let Some(square) = self.en_passant {
            if en_passant_is_plausible(&position, square) {
                position.offer_en_passant(square);
            } else {
                faults.push(Fault::EnPassant(square));
            }
        }
        if faults.is_empty() { Ok(position) } else { Err(faults) }
    }
}

fn material_faults(position: &Position) -> Vec<Fault> {
    let board = position.board();
    let mut faults = Vec::new();
    for color in Color::ALL {
        let count = |kind| board.pieces(color, kind).len();
        if count(Kind::King) != 1 {
            faults.push(Fault::KingCount(color));
        }
        let promoted = count(Kind::Knight).saturating_sub(2)
            + count(Kind::Bishop).saturating_sub(2)
            + count(Kind::Rook).saturating_sub(2)
            + count(Kind::Queen).saturating_sub(1);
        // No game exceeds this bound, and the fixed capacity of the move list depends on the bound.
        if count(Kind::Pawn) + promoted > 8 {
            faults.push(Fault::TooMuchMaterial(color));
        }
    }
    let back_ranks = Bitboard::rank(0) | Bitboard::rank(7);
    faults.extend((board.kind(Kind::Pawn) & back_ranks).map(Fault::PawnOnBackRank));
    faults
}

fn opponent_in_check(position: &Position) -> bool {
    let board = position.board();
    let us = position.turn();
    let attackers = position.attackers_to(board.king(!us), board.occupied());
    (attackers & board.color(us)).any()
}

fn castling_faults(position: &Position, rooks: Bitboard) -> Vec<Fault> {
    let board = position.board();
    let mut faults = Vec::new();
    let mut plausible = Bitboard::EMPTY;
    for color in Color::ALL {
        let king = board.king(color);
        let back_rank = Bitboard::rank(color.relative_rank(0));
        if !back_rank.contains(king) {
            continue;
        }
        let candidates = rooks & back_rank & board.pieces(color, Kind::Rook);
        plausible |= candidates;
        let above = candidates.filter(|rook| rook.file() > king.file()).count();
        if above > 1 || candidates.len() as usize - above > 1 {
            faults.push(Fault::AmbiguousCastling(color));
        }
    }
    faults.extend((rooks - plausible).map(Fault::CastlingRook));
    faults
}

/// Returns whether the opponent's last move can have been a double push over `square`.
fn en_passant_is_plausible(position: &Position, square: Square) -> bool {
    let them = !position.turn();
    let (forward, backward) = if them == Color::White { (8, -8) } else { (-8, 8) };
    let board = position.board();
    square.rank() == them.relative_rank(2)
        && board.pieces(them, Kind::Pawn).contains(square.offset(forward))
        && !board.occupied().contains(square)
        && !board.occupied().contains(square.offset(backward))
}
