//! Record of a position, its score and the result of its game, in 32 bytes.
//!
//! | bytes | contents, lowest byte first |
//! |---|---|
//! | 0–7 | occupied squares, bit 0 is a1 and bit 63 is h8 |
//! | 8–23 | pieces on these squares, in the same order, 4 bits each, low nibble first: 0–5 for pawn, knight, bishop, rook, queen, king, 6 for a rook that may castle; plus 8 for Black |
//! | 24 | bits 0–5: en-passant square, 0 if there is none; bit 6: first record of its game; bit 7: Black to move |
//! | 25 | plies since the last capture or pawn move, at most 255 |
//! | 26–27 | full-move number |
//! | 28–29 | score in centipawns from White's point of view, signed |
//! | 30 | result: 0 Black won, 1 draw, 2 White won |
//! | 31 | 0 |

use crate::chess::position::Setup;
use crate::chess::{Bitboard, Color, Kind, Piece, Position, Square};
use crate::eval::Score;

/// Size of a record, in bytes.
pub const RECORD_BYTES: usize = 32;

const FIRST: u8 = 0x40;
const BLACK: u8 = 0x80;
const CASTLING_ROOK: u8 = 6;
const BLACK_PIECE: u8 = 8;

/// Result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// Black won.
    BlackWon,
    /// Neither side won.
    Draw,
    /// White won.
    WhiteWon,
}

impl GameResult {
    /// Returns the result of a win by `color`.
    pub(crate) fn won_by(color: Color) -> GameResult {
        match color {
            Color::White => GameResult::WhiteWon,
            Color::Black => GameResult::BlackWon,
        }
    }
}

/// Record of a position, its score and the result of its game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record([u8; RECORD_BYTES]);

impl Record {
    /// Returns a record of `position`. `white_score` is in centipawns, from White's point of view.
    /// The result in the new record is a draw.
    pub(crate) fn new(position: &Position, white_score: Score) -> Record {
        let mut bytes = [0; RECORD_BYTES];
        let occupied = position.board().occupied();
        bytes[..8].copy_from_slice(&occupied.0.to_le_bytes());
        for (place, square) in occupied.enumerate() {
            let piece = position.piece_at(square).expect("an occupied square has a piece");
            let castles = position.castling_rooks().contains(square);
            let kind = if castles { CASTLING_ROOK } else { piece.kind as u8 };
            let color = if piece.color == Color::Black { BLACK_PIECE } else { 0 };
            bytes[8 + place / 2] |= (kind | color) << (place % 2 * 4);
        }
        bytes[24] = position.en_passant().map_or(0, |square| square.index() as u8);
        if position.turn() == Color::Black {
            bytes[24] |= BLACK;
        }
        bytes[25] = position.halfmove_clock().min(255) as u8;
        bytes[26..28].copy_from_slice(&position.fullmove_number().to_le_bytes());
        bytes[28..30].copy_from_slice(&(white_score as i16).to_le_bytes());
        bytes[30] = GameResult::Draw as u8;
        Record(bytes)
    }

    /// Returns the record stored in `bytes`.
    ///
    /// # Errors
    ///
    /// Returns the reason if the bytes are not a record. The legality of the position is not
    /// checked.
    pub fn from_bytes(bytes: [u8; RECORD_BYTES]) -> Result<Record, &'static str> {
        let record = Record(bytes);
        let kings = |color| {
            let king = Piece { color, kind: Kind::King };
            record.pieces().filter(|&(_, piece)| piece == king).count()
        };
        if record.occupied().len() > 32 {
            return Err("more than 32 pieces");
        }
        let codes = (0..record.occupied().len() as usize).map(|place| record.code(place));
        if codes.into_iter().any(|code| code & 7 > CASTLING_ROOK) {
            return Err("an unknown kind of piece");
        }
        if Color::ALL.map(kings) != [1, 1] {
            return Err("each side must have one king");
        }
        if bytes[30] > 2 || bytes[31] != 0 {
            return Err("an unknown result");
        }
        Ok(record)
    }

    /// Returns the stored bytes.
    pub fn bytes(&self) -> &[u8; RECORD_BYTES] {
        &self.0
    }

    fn word<const N: usize>(&self, start: usize) -> [u8; N] {
        self.0[start..start + N].try_into().expect("the slice has N bytes")
    }

    fn occupied(&self) -> Bitboard {
        Bitboard(u64::from_le_bytes(self.word(0)))
    }

    fn code(&self, place: usize) -> u8 {
        self.0[8 + place / 2] >> (place % 2 * 4) & 15
    }

    /// Returns the pieces and their squares.
    #[inline]
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> + '_ {
        self.occupied().take(32).enumerate().map(|(place, square)| {
            let code = self.code(place);
            let kind = match code & 7 {
                CASTLING_ROOK => Kind::Rook,
                index => Kind::ALL[usize::from(index).min(5)],
            };
            let color = if code & BLACK_PIECE == 0 { Color::White } else { Color::Black };
            (square, Piece { color, kind })
        })
    }

    /// Returns the side to move.
    pub fn turn(&self) -> Color {
        if self.0[24] & BLACK == 0 { Color::White } else { Color::Black }
    }

    /// Returns the score in centipawns from White's point of view.
    pub fn white_score(&self) -> Score {
        i16::from_le_bytes(self.word(28)).into()
    }

    /// Returns the result of the game.
    pub fn result(&self) -> GameResult {
        match self.0[30] {
            0 => GameResult::BlackWon,
            1 => GameResult::Draw,
            _ => GameResult::WhiteWon,
        }
    }

    /// Sets the result of the game.
    pub(crate) fn set_result(&mut self, result: GameResult) {
        self.0[30] = result as u8;
    }

    /// Returns whether this is the first record of its game.
    pub fn is_first(&self) -> bool {
        self.0[24] & FIRST != 0
    }

    /// Marks the record as the first record of its game.
    pub(crate) fn set_first(&mut self) {
        self.0[24] |= FIRST;
    }

    /// Returns the position; `None` if the position is not legal.
    pub fn position(&self) -> Option<Position> {
        let mut pieces = [None; 64];
        let mut castling_rooks = Bitboard::EMPTY;
        for (place, (square, piece)) in self.pieces().enumerate() {
            pieces[square.index()] = Some(piece);
            if self.code(place) & 7 == CASTLING_ROOK {
                castling_rooks |= Bitboard::of(square);
            }
        }
        let en_passant = Some(self.0[24] & 63).filter(|&index| index != 0).map(Square::new);
        let setup = Setup {
            pieces,
            turn: self.turn(),
            castling_rooks,
            en_passant,
            halfmove_clock: self.0[25].into(),
            fullmove_number: u16::from_le_bytes(self.word(26)),
        };
        setup.into_position().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;

    #[test]
    fn positions_round_trip_and_bad_records_are_errors() {
        for text in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/8/8/8/3pP3/8/8/R3K2R b Kq e3 0 300",
            "8/8/8/3k4/8/8/1K4q1/8 w - - 99 120",
        ] {
            let position = fen::parse(text).unwrap();
            let mut record = Record::new(&position, -1234);
            assert!(!record.is_first());
            record.set_first();
            record.set_result(GameResult::BlackWon);
            let read = Record::from_bytes(*record.bytes()).unwrap();
            assert_eq!(read.position(), Some(position), "{text}");
            assert_eq!((read.white_score(), read.result()), (-1234, GameResult::BlackWon));
            assert!(read.is_first() && read.turn() == position.turn());
        }
        let good = *Record::new(&Position::startpos(), 0).bytes();
        let with = |at: usize, byte: u8| {
            Record::from_bytes({
                let mut bytes = good;
                bytes[at] = byte;
                bytes
            })
        };
        assert!(with(30, 2).is_ok());
        for (at, byte, reason) in [
            (3, 1, "more than 32"),
            (8, 0x17, "unknown kind"),
            (10, 0x33, "king"),
            (30, 3, "result"),
            (31, 1, "result"),
        ] {
            assert!(with(at, byte).is_err_and(|error| error.contains(reason)), "{at}");
        }
    }
}
