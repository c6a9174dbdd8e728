//! Forsyth–Edwards Notation with the castling letters of X-FEN and Shredder-FEN.

use std::fmt;

use super::bitboard::Bitboard;
use super::color::Color;
use super::piece::{Kind, Piece};
use super::position::{Fault, Position, Setup};
use super::square::Square;

/// The starting position of standard chess.
pub const STARTPOS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// What is wrong with a FEN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenError {
    /// The named field is missing.
    Missing(&'static str),
    /// The named field cannot be read.
    Malformed {
        /// Which field.
        field: &'static str,
        /// What was found there.
        found: String,
    },
    /// More than six fields.
    Trailing(String),
    /// The text is well formed but the position cannot be played.
    Faulty(Vec<Fault>),
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FenError::Missing(field) => write!(f, "the FEN has no {field}"),
            FenError::Malformed { field, found } => write!(f, "\"{found}\" is not a {field}"),
            FenError::Trailing(text) => write!(f, "\"{text}\" follows the end of the FEN"),
            FenError::Faulty(faults) => {
                let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
                write!(f, "{}", faults.join("; "))
            }
        }
    }
}

impl std::error::Error for FenError {}

/// Reads a FEN. The two counters may be missing, as in EPD.
///
/// # Errors
///
/// The first malformed field, or every fault of a well-formed position.
pub fn parse(text: &str) -> Result<Position, FenError> {
    let mut fields = text.split_ascii_whitespace();
    let mut field = |name| fields.next().ok_or(FenError::Missing(name));
    let pieces = parse_placement(field("piece placement")?)?;
    let turn = match field("side to move")? {
        "w" => Color::White,
        "b" => Color::Black,
        other => return Err(malformed("side to move", other)),
    };
    let castling_rooks = parse_castling(field("castling field")?, &pieces)?;
    let en_passant = match field("en-passant field")? {
        "-" => None,
        square => {
            Some(Square::parse(square).ok_or_else(|| malformed("en-passant square", square))?)
        }
    };
    let halfmove_clock = parse_counter(fields.next(), "half-move clock", 0)?;
    // Some programs count from 0; both mean the first move.
    let fullmove_number = parse_counter(fields.next(), "full-move number", 1)?.max(1);
    if let Some(rest) = fields.next() {
        return Err(FenError::Trailing(rest.to_owned()));
    }
    Setup { pieces, turn, castling_rooks, en_passant, halfmove_clock, fullmove_number }
        .into_position()
        .map_err(FenError::Faulty)
}

fn malformed(field: &'static str, found: &str) -> FenError {
    FenError::Malformed { field, found: found.to_owned() }
}

fn parse_counter(text: Option<&str>, field: &'static str, absent: u16) -> Result<u16, FenError> {
    text.map_or(Ok(absent), |digits| digits.parse().map_err(|_| malformed(field, digits)))
}

fn parse_placement(text: &str) -> Result<[Option<Piece>; 64], FenError> {
    let bad = || malformed("piece placement", text);
    let mut pieces = [None; 64];
    let mut ranks = 0;
    for row in text.split('/') {
        if ranks == 8 {
            return Err(bad());
        }
        let mut file = 0;
        for letter in row.chars() {
            match letter {
                '1'..='8' => file += letter as u8 - b'0',
                _ => {
                    let piece = Piece::from_letter(letter).ok_or_else(bad)?;
                    if file < 8 {
                        pieces[Square::at(file, 7 - ranks).index()] = Some(piece);
                    }
                    file += 1;
                }
            }
            if file > 8 {
                return Err(bad());
            }
        }
        if file != 8 {
            return Err(bad());
        }
        ranks += 1;
    }
    if ranks == 8 { Ok(pieces) } else { Err(bad()) }
}

fn parse_castling(text: &str, pieces: &[Option<Piece>; 64]) -> Result<Bitboard, FenError> {
    let mut rooks = Bitboard::EMPTY;
    if text == "-" {
        return Ok(rooks);
    }
    for letter in text.chars() {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let rook = match letter.to_ascii_lowercase() {
            'k' => outermost_rook(color, pieces, true),
            'q' => outermost_rook(color, pieces, false),
            file @ 'a'..='h' => Some(Square::at(file as u8 - b'a', color.relative_rank(0))),
            _ => None,
        };
        rooks |= Bitboard::of(rook.ok_or_else(|| malformed("castling field", text))?);
    }
    Ok(rooks)
}

/// The rook furthest from the king towards h (or a) on the back rank: what K and Q mean in X-FEN.
fn outermost_rook(color: Color, pieces: &[Option<Piece>; 64], king_side: bool) -> Option<Square> {
    let rank = color.relative_rank(0);
    let on = |kind| move |&square: &Square| pieces[square.index()] == Some(Piece { color, kind });
    let mut row = (0..8).map(|file| Square::at(file, rank));
    let king = row.clone().find(on(Kind::King))?;
    if king_side {
        row.rfind(on(Kind::Rook)).filter(|rook| rook.file() > king.file())
    } else {
        row.find(on(Kind::Rook)).filter(|rook| rook.file() < king.file())
    }
}

/// How castling rights are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastlingLetters {
    /// K and Q where they are unambiguous, the file letter otherwise.
    XFen,
    /// Always the file letter.
    Shredder,
}

/// Writes a position as FEN. The en-passant square appears only if a legal capture exists.
pub fn format(position: &Position, letters: CastlingLetters) -> String {
    let mut text = String::with_capacity(80);
    for rank in (0..8).rev() {
        let mut gap = 0u8;
        for file in 0..8 {
            match position.piece_at(Square::at(file, rank)) {
                None => gap += 1,
                Some(piece) => {
                    push_gap(&mut text, gap);
                    gap = 0;
                    text.push(piece.letter());
                }
            }
        }
        push_gap(&mut text, gap);
        if rank > 0 {
            text.push('/');
        }
    }
    text.push_str(if position.turn() == Color::White { " w " } else { " b " });
    push_castling(&mut text, position, letters);
    let en_passant = position.en_passant().map_or("-".to_owned(), |square| square.to_string());
    let (clock, number) = (position.halfmove_clock(), position.fullmove_number());
    format!("{text} {en_passant} {clock} {number}")
}

fn push_gap(text: &mut String, gap: u8) {
    if gap > 0 {
        text.push((b'0' + gap) as char);
    }
}

fn push_castling(text: &mut String, position: &Position, letters: CastlingLetters) {
    let start = text.len();
    for color in Color::ALL {
        let board = position.board();
        let king = board.king(color);
        let back_rank = Bitboard::rank(color.relative_rank(0));
        let own = position.castling_rooks() & back_rank;
        // The king's side is written first.
        for rook in (0..8).rev().map(|file| Square::at(file, king.rank())) {
            if !own.contains(rook) {
                continue;
            }
            let rooks = board.pieces(color, Kind::Rook) & back_rank;
            let (outermost, letter) =
                if rook > king { (rooks.last(), 'k') } else { (rooks.first(), 'q') };
            let plain = letters == CastlingLetters::XFen && rook == outermost;
            let letter = if plain { letter } else { (b'a' + rook.file()) as char };
            text.push(match color {
                Color::White => letter.to_ascii_uppercase(),
                Color::Black => letter,
            });
        }
    }
    if text.len() == start {
        text.push('-');
    }
}

/// Writes the FEN with X-FEN castling letters.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format(self, CastlingLetters::XFen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_round_trips() {
        for text in [
            STARTPOS,
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "8/8/8/8/k7/8/8/K6R b - - 99 120",
            "rr6/2kpp3/1ppn2p1/p2b1q1p/P4P1P/1PNN2P1/2PP4/1K2R2R b E - 1 20",
        ] {
            let position = parse(text).unwrap();
            assert_eq!(position.to_string(), text);
            let shredder = format(&position, CastlingLetters::Shredder);
            assert_eq!(parse(&shredder), Ok(position));
        }
    }

    #[test]
    fn shredder_letters_are_files() {
        let position = parse(STARTPOS).unwrap();
        let text = format(&position, CastlingLetters::Shredder);
        assert_eq!(text.split(' ').nth(2), Some("HAha"));
    }

    #[test]
    fn impossible_en_passant_is_dropped() {
        let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
        assert_eq!(parse(after_e4).unwrap().en_passant(), None);
        // The capture would uncover the king along the fourth rank.
        let pinned = "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1";
        assert_eq!(parse(pinned).unwrap().en_passant(), None);
    }

    #[test]
    fn faults_are_all_reported() {
        let error = parse("P6k/8/8/8/8/8/8/P7 w - - 0 1").unwrap_err();
        let FenError::Faulty(faults) = error else { panic!("well formed: {error:?}") };
        assert_eq!(
            faults,
            [
                Fault::KingCount(Color::White),
                Fault::PawnOnBackRank(Square::new(0)),
                Fault::PawnOnBackRank(Square::new(56)),
            ]
        );
    }

    #[test]
    fn nonsense_is_an_error() {
        for text in [
            "",
            "8/8/8/8/8/8/8/8 w - - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq - 0 1",
            "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQxq - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e9 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e3 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - -1 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 x",
            "4k3/8/8/8/8/8/8/4K3 w K - 0 1",
            "4k3/8/8/8/8/8/8/4K2R w KGH - 0 1",
            "k7/8/8/8/8/8/8/KQQQQQQQ w - - 0 1 9",
            "k6R/8/8/8/8/8/8/K7 w - - 0 1",
            "QQQQQQQQ/QQQQQQQQ/8/8/8/8/7k/K7 w - - 0 1",
            "ééééé w - - 0 1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
