//! Piece types and coloured pieces.

use super::color::Color;

/// Type of a piece, regardless of its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A pawn.
    Pawn,
    /// A knight.
    Knight,
    /// A bishop.
    Bishop,
    /// A rook.
    Rook,
    /// A queen.
    Queen,
    /// A king.
    King,
}

impl Kind {
    /// All piece types, from pawn to king.
    pub const ALL: [Kind; 6] =
        [Kind::Pawn, Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King];

    /// Returns the index, from 0 (pawn) to 5 (king).
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the lowercase letter used by FEN and UCI.
    pub const fn letter(self) -> char {
        match self {
            Kind::Pawn => 'p',
            Kind::Knight => 'n',
            Kind::Bishop => 'b',
            Kind::Rook => 'r',
            Kind::Queen => 'q',
            Kind::King => 'k',
        }
    }

    /// Returns the piece type for an uppercase or lowercase letter.
    pub fn from_letter(letter: char) -> Option<Kind> {
        let lower = letter.to_ascii_lowercase();
        Kind::ALL.into_iter().find(|kind| kind.letter() == lower)
    }
}

/// A piece with its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Colour of the piece.
    pub color: Color,
    /// Type of the piece.
    pub kind: Kind,
}

impl Piece {
    /// Returns the FEN letter: uppercase for White.
    pub const fn letter(self) -> char {
        match self.color {
            Color::White => self.kind.letter().to_ascii_uppercase(),
            Color::Black => self.kind.letter(),
        }
    }

    /// Returns the piece for a FEN letter.
    pub fn from_letter(letter: char) -> Option<Piece> {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        Kind::from_letter(letter).map(|kind| Piece { color, kind })
    }
}
