//! Forsyth–Edwards Notation with the castling letters of X-FEN and Shredder-FEN.

use std::fmt;
use std::str::SplitAsciiWhitespace;

use super::bitboard::Bitboard;
use super::color::Color;
use super::piece::{Kind, Piece};
use super::position::{Fault, Position, Setup};
use super::square::Square;

/// The starting position of standard chess.
pub const STARTPOS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// All faults in a FEN, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenError(pub Vec<FenFault>);

/// A fault in a FEN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenFault {
    /// A field is missing.
    Missing(Field),
    /// A field cannot be read.
    Malformed {
        /// Field with the fault.
        field: Field,
        /// Text of the field.
        found: String,
    },
    /// The FEN has more than six fields. The string is the seventh field.
    Trailing(String),
    /// The FEN describes a position that cannot be played.
    Unplayable(Fault),
}

/// A field of a FEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Piece placement.
    Placement,
    /// Side to move.
    Turn,
    /// Castling rights.
    Castling,
    /// En-passant square.
    EnPassant,
    /// Plies since the last capture or pawn move.
    HalfmoveClock,
    /// Full-move number.
    FullmoveNumber,
}

impl Field {
    const fn name(self) -> &'static str {
        match self {
            Field::Placement => "piece placement",
            Field::Turn => "side to move",
            Field::Castling => "castling field",
            Field::EnPassant => "en-passant field",
            Field::HalfmoveClock => "half-move clock",
            Field::FullmoveNumber => "full-move number",
        }
    }

    const fn expected_text(self) -> &'static str {
        match self {
            Field::Placement => "eight ranks of eight squares, in the letters PNBRQKpnbrqk and 1-8",
            Field::Turn => "w or b",
            Field::Castling => "- or letters of KQkq, or the files of rooks beside their king",
            Field::EnPassant => "- or a square",
            Field::HalfmoveClock | Field::FullmoveNumber => "a number from 0 to 65535",
        }
    }
}

impl fmt::Display for FenFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FenFault::Missing(field) => {
                write!(f, "the {} is missing: expected {}", field.name(), field.expected_text())
            }
            FenFault::Malformed { field, found } => {
                write!(f, "{} \"{found}\": expected {}", field.name(), field.expected_text())
            }
            FenFault::Trailing(text) => {
                write!(f, "\"{text}\" after the full-move number: expected the end")
            }
            FenFault::Unplayable(fault) => write!(f, "{fault}"),
        }
    }
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<String> = self.0.iter().map(FenFault::to_string).collect();
        f.write_str(&faults.join("; "))
    }
}

impl std::error::Error for FenError {}

/// Reads a FEN. The two counters may be missing, as in EPD.
///
/// # Errors
///
/// Returns the faults of all fields. A field that cannot be read counts as empty in the checks of
/// the other fields.
pub fn parse(text: &str) -> Result<Position, FenError> {
    let mut reader = Reader { fields: text.split_ascii_whitespace(), faults: Vec::new() };
    let pieces = reader.field(Field::Placement, None, parse_placement);
    let turn = reader.field(Field::Turn, None, |text| match text {
        "w" => Some(Color::White),
        "b" => Some(Color::Black),
        _ => None,
    });
    // The castling field has no meaning without kings and rooks, so an empty board replaces a
    // placement that could not be read.
    let no_pieces = [None; 64];
    let board = pieces.as_ref().unwrap_or(&no_pieces);
    let castling_rooks =
        reader.field(Field::Castling, None, |text| match parse_castling(text, board) {
            None if pieces.is_none() && is_castling_text(text) => Some(Bitboard::EMPTY),
            rooks => rooks,
        });
    let en_passant = reader.field(Field::EnPassant, None, |text| match text {
        "-" => Some(None),
        square => Square::parse(square).map(Some),
    });
    let number = |digits: &str| digits.parse::<u16>().ok();
    let halfmove_clock = reader.field(Field::HalfmoveClock, Some(0), number);
    let fullmove_number = reader.field(Field::FullmoveNumber, Some(1), number);
    let Reader { mut fields, mut faults } = reader;
    faults.extend(fields.next().map(|rest| FenFault::Trailing(rest.to_owned())));
    let Some(pieces) = pieces else {
        return Err(FenError(faults));
    };
    let setup = Setup {
        pieces,
        turn: turn.unwrap_or(Color::White),
        castling_rooks: castling_rooks.unwrap_or(Bitboard::EMPTY),
        en_passant: en_passant.flatten(),
        halfmove_clock: halfmove_clock.unwrap_or(0),
        // Some programs count moves from 0, so 0 is taken as the first move.
        fullmove_number: fullmove_number.unwrap_or(1).max(1),
    };
    match setup.into_position() {
        Ok(position) if faults.is_empty() => Ok(position),
        Ok(_) => Err(FenError(faults)),
        Err(unplayable) => {
            // The side to move is unknown, so faults that depend on the side to move may not be
            // real.
            let guessed = |fault: &Fault| {
                turn.is_none() && matches!(fault, Fault::OpponentInCheck | Fault::EnPassant(_))
            };
            let unplayable = unplayable.into_iter().filter(|fault| !guessed(fault));
            faults.extend(unplayable.map(FenFault::Unplayable));
            Err(FenError(faults))
        }
    }
}

/// Reader that parses fields one by one and collects faults.
struct Reader<'a> {
    fields: SplitAsciiWhitespace<'a>,
    faults: Vec<FenFault>,
}

impl Reader<'_> {
    /// Parses the next field with `read`; returns `absent` if the FEN has no further field. Records
    /// a fault and returns `None` if the field is malformed, or if the field is missing and
    /// `absent` is `None`.
    fn field<T>(
        &mut self,
        field: Field,
        absent: Option<T>,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let Some(text) = self.fields.next() else {
            if absent.is_none() {
                self.faults.push(FenFault::Missing(field));
            }
            return absent;
        };
        let value = read(text);
        if value.is_none() {
            self.faults.push(FenFault::Malformed { field, found: text.to_owned() });
        }
        value
    }
}

fn parse_placement(text: &str) -> Option<[Option<Piece>; 64]> {
    let mut pieces = [None; 64];
    let mut ranks = 0;
    for row in text.split('/') {
        if ranks == 8 {
            return None;
        }
        let mut file = 0;
        for letter in row.chars() {
            match letter {
                '1'..='8' => file += letter as u8 - b'0',
                _ => {
                    let piece = Piece::from_letter(letter)?;
                    if file < 8 {
                        pieces[Square::at(file, 7 - ranks).index()] = Some(piece);
                    }
                    file += 1;
                }
            }
            if file > 8 {
                return None;
            }
        }
        if file != 8 {
            return None;
        }
        ranks += 1;
    }
    (ranks == 8).then_some(pieces)
}

fn is_castling_text(text: &str) -> bool {
    text == "-" || text.bytes().all(|letter| b"KQABCDEFGH".contains(&letter.to_ascii_uppercase()))
}

fn parse_castling(text: &str, pieces: &[Option<Piece>; 64]) -> Option<Bitboard> {
    let mut rooks = Bitboard::EMPTY;
    if text == "-" {
        return Some(rooks);
    }
    for letter in text.chars() {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let rook = match letter.to_ascii_lowercase() {
            'k' => outermost_rook(color, pieces, true),
            'q' => outermost_rook(color, pieces, false),
            file @ 'a'..='h' => Some(Square::at(file as u8 - b'a', color.relative_rank(0))),
            _ => None,
        };
        rooks |= Bitboard::of(rook?);
    }
    Some(rooks)
}

/// Returns the rook that K or Q denotes in X-FEN: the outermost rook on the king's side or the
/// queen's side of the back rank.
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

/// Notation of castling rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastlingLetters {
    /// K or Q for an outermost rook, otherwise the file letter.
    XFen,
    /// Always the file letter.
    Shredder,
}

/// Writes a position as FEN. The en-passant square appears only if a legal en-passant capture
/// exists.
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
        let castling_rooks = position.castling_rooks() & back_rank;
        // The FEN standard writes the king's side first.
        for rook in (0..8).rev().map(|file| Square::at(file, king.rank())) {
            if !castling_rooks.contains(rook) {
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

impl Position {
    /// Returns the starting position of standard chess.
    pub fn startpos() -> Position {
        parse(STARTPOS).expect("the starting position is legal")
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
        // The capture would expose the king along the fourth rank.
        let pinned = "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1";
        assert_eq!(parse(pinned).unwrap().en_passant(), None);
    }

    #[test]
    fn faults_are_all_reported() {
        let error = parse("P6k/8/8/8/8/8/8/P7 w - - 0 1").unwrap_err();
        let unplayable = [
            Fault::KingCount(Color::White),
            Fault::PawnOnBackRank(Square::new(0)),
            Fault::PawnOnBackRank(Square::new(56)),
        ];
        assert_eq!(error.0, unplayable.map(FenFault::Unplayable));
        let error = parse("P6k/8/8/8/8/8/8/7K x Z e9 one 1 2").unwrap_err();
        let text = error.to_string();
        for expected in [
            "side to move \"x\": expected w or b",
            "castling field \"Z\": expected",
            "en-passant field \"e9\": expected - or a square",
            "half-move clock \"one\": expected a number",
            "\"2\" after the full-move number",
            "a pawn stands on a8",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        let missing = [Field::Placement, Field::Turn, Field::Castling, Field::EnPassant];
        assert_eq!(parse("").unwrap_err().0, missing.map(FenFault::Missing));
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
