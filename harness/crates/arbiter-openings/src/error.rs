//! Errors of opening books, with file and line.

use std::io;

use shakmaty::fen::ParseFenError;
use shakmaty::san::{SanError, SanPlus};
use shakmaty::{Chess, PositionError};
use thiserror::Error;
use zip::result::ZipError;

use super::quarantine::Quarantine;

/// Why a book cannot be used. Files inside an archive are named `archive.zip/member.epd`; lines are
/// counted from 1.
#[derive(Debug, Error)]
pub enum OpeningError {
    /// The file cannot be opened.
    #[error("{file}: cannot open the opening book: {reason}")]
    Open {
        /// The book.
        file: String,
        /// What the operating system said.
        reason: io::Error,
    },
    /// The file cannot be read, or decompressed, to its end.
    #[error("{file}:{line}: cannot read the opening book further: {reason}")]
    Read {
        /// The book.
        file: String,
        /// The line, or the first line of the game, that could not be read.
        line: u64,
        /// What the operating system or the decompressor said.
        reason: io::Error,
    },
    /// A compressed file ends before what it holds does.
    #[error(
        "{file}:{line}: the compressed file is cut off here, and the rest of the book is missing"
    )]
    Cut {
        /// The book.
        file: String,
        /// The line, or the first line of the game, that is not there as a whole.
        line: u64,
    },
    /// The archive is damaged or of an unsupported kind.
    #[error("{file}: expected a readable zip archive: {reason}")]
    Archive {
        /// The archive.
        file: String,
        /// What the archive reader said.
        reason: ZipError,
    },
    /// The file cannot be a Polyglot book.
    #[error("{file}: expected a Polyglot book, at most 2^26 entries of 16 bytes, got {got} bytes")]
    Polyglot {
        /// The book.
        file: String,
        /// Its length.
        got: u64,
    },
    /// The lines of a Polyglot book begin elsewhere.
    #[error("{file}: expected a Polyglot book with moves from the initial position, got none")]
    PolyglotStart {
        /// The book.
        file: String,
    },
    /// An entry of a Polyglot book is wrong.
    #[error("{file}: entry {entry}: {fault}")]
    Entry {
        /// The book.
        file: String,
        /// Number of the entry in its file, from 1.
        entry: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// There is nothing in the book.
    #[error("{file}: expected at least one opening, got none")]
    Empty {
        /// The book.
        file: String,
    },
    /// There is something in the book, but nothing that a game can begin from.
    #[error(
        "{file}: expected at least one opening, got {} bad ones: {}",
        .quarantine.count,
        .quarantine.first(3).join("; ")
    )]
    Unusable {
        /// The book.
        file: String,
        /// The faults.
        quarantine: Quarantine,
    },
    /// The book is larger than this program is willing to hold in memory.
    #[error("{file}: expected at most {limit} openings; split the book")]
    TooMany {
        /// The book.
        file: String,
        /// The limit.
        limit: usize,
    },
    /// A line of a position list is wrong.
    #[error("{file}:{line}: {fault}")]
    Line {
        /// The book.
        file: String,
        /// The line.
        line: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A game of a game list is wrong.
    #[error("{file}:{line}: game {game}: {fault}")]
    Game {
        /// The book.
        file: String,
        /// Line of the move at fault, or else the first of the game.
        line: u64,
        /// Number of the game in its file, from 1.
        game: u64,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// What is wrong with one opening.
#[derive(Debug, Error)]
pub enum Fault {
    /// The line is longer than any position.
    #[error("expected a line of at most {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// Too few fields for a position.
    #[error(
        "expected a position of at least 4 fields (pieces, side to move, castling rights, \
         en passant square), got {got} in `{text}`"
    )]
    Fields {
        /// Number of fields found.
        got: usize,
        /// The text, shortened.
        text: String,
    },
    /// A field does not parse.
    #[error("expected a position, got `{text}`: {reason}")]
    Fen {
        /// The text, shortened.
        text: String,
        /// Which field, in the parser's words.
        reason: ParseFenError,
    },
    /// An operation that sets a counter has no number.
    #[error("expected a number after `{opcode}`, got `{got}`")]
    Operand {
        /// The operation: `hmvc` or `fmvn`.
        opcode: &'static str,
        /// Its operand, shortened.
        got: String,
    },
    /// The pieces stand in a way no game of chess allows.
    #[error("expected a legal position, got `{text}`: {reason}")]
    Position {
        /// The text, shortened.
        text: String,
        /// Every fault of the position.
        reason: Box<PositionError<Chess>>,
    },
    /// Pockets, check counters or a tag announce rules other than those of chess.
    #[error("expected chess or Chess960, got `{got}`")]
    Variant {
        /// What announces the variant, shortened.
        got: String,
    },
    /// Nothing is left to play.
    #[error("expected a position to play from, got one where the game is over by {0}")]
    Over(Ending),
    /// A move does not exist in its position.
    #[error("expected a legal move at ply {ply}, got {san}: {reason}")]
    Move {
        /// Number of the half-move in the game, from 1.
        ply: usize,
        /// The move as written.
        san: SanPlus,
        /// Whether it is illegal or ambiguous.
        reason: SanError,
    },
    /// The move of a Polyglot book does not exist in the position with its key.
    #[error("expected a move that is legal in its position, got {got}")]
    BookMove {
        /// The move.
        got: String,
    },
    /// The text of a game contains something that is neither a move nor a remark.
    #[error("expected a move, a comment or a result, got `{got}`")]
    Word {
        /// The word, shortened.
        got: String,
    },
    /// A game of tags only; usually the rest was lost to a quotation mark inside a tag.
    #[error("expected moves or a result after the tags, got neither")]
    NoMovetext,
    /// Text where a game should begin.
    #[error("expected a game that begins with a tag or with move 1, got `{got}`")]
    NotAGame {
        /// How the text begins.
        got: String,
    },
}

/// How a game is over before it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Ending {
    /// The side to move is mated.
    #[error("checkmate")]
    Checkmate,
    /// The side to move has no move and is not in check.
    #[error("stalemate")]
    Stalemate,
    /// Neither side can ever mate.
    #[error("insufficient material")]
    InsufficientMaterial,
    /// The position has occurred three times in the moves that lead to it.
    #[error("threefold repetition")]
    Repetition,
    /// A hundred half-moves without capture or pawn move.
    #[error("the fifty-move rule")]
    FiftyMoves,
}

/// Longest piece of foreign text quoted in a message, in characters.
const MAX_EXCERPT: usize = 100;

/// Foreign text made fit for a one-line message.
pub(super) fn excerpt(text: &[u8]) -> String {
    let text = &text[..text.len().min(4 * MAX_EXCERPT + 4)];
    let text = String::from_utf8_lossy(text);
    let mut short: String = text
        .trim()
        .chars()
        .take(MAX_EXCERPT + 1)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if let Some((end, _)) = short.char_indices().nth(MAX_EXCERPT) {
        short.truncate(end);
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_of_one_line() {
        assert_eq!(excerpt(b"  8/8 w - -\r\n"), "8/8 w - -");
        assert_eq!(excerpt(b"a\x07b\nc"), "a b c");
        assert_eq!(excerpt(&[b'x'; 5000]).chars().count(), 101);
        assert_eq!(excerpt("ö".repeat(300).as_bytes()).chars().count(), 101);
        assert_eq!(excerpt(&[0xff, b'a']), "\u{fffd}a");
    }
}
