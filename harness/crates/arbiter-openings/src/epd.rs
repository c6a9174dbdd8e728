//! Lists of positions, one on each line: EPD and FEN.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read};

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position};

use super::error::OpeningError;
use super::{Collector, Opening};
use arbiter_position::{content, excerpt, line_parts};

/// Longest line accepted, in bytes. Positions take 90, comments rarely another 1000.
const MAX_LINE: usize = 1 << 16;

/// Reads every position of `source` into `book`; what is none is left out.
pub(super) fn read(
    file: &str,
    source: &mut dyn Read,
    book: &mut Collector,
) -> Result<(), OpeningError> {
    let mut source = BufReader::with_capacity(1 << 16, source);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = (&mut source).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut bytes);
        match read {
            Ok(0) => break,
            Ok(_) => {}
            Err(reason) => return book.break_off(file, line, reason),
        }
        let at_line = |fault: String| OpeningError::new(format_args!("{file}:{line}"), fault);
        if bytes.len() > MAX_LINE {
            book.leave_out(at_line(format!("expected a line of at most {MAX_LINE} bytes")))?;
            if !bytes.ends_with(b"\n")
                && let Err(reason) = source.skip_until(b'\n')
            {
                return book.break_off(file, line, reason);
            }
            continue;
        }
        for text in line_parts(&String::from_utf8_lossy(&bytes)).filter_map(content) {
            let playable = parse_position(text, false).and_then(|start| {
                let ending = ending(&start.position);
                ending.map_or(Ok(start), |ending| Err(over(ending)))
            });
            match playable {
                Ok(start) => {
                    book.corrected.extend(start.correction.map(at_line));
                    book.add(file, start.opening)?;
                }
                Err(fault) => book.leave_out(at_line(fault))?,
            }
        }
    }
    Ok(())
}

/// A starting position.
pub(super) struct Start {
    /// An opening without moves from that position.
    pub(super) opening: Opening,
    pub(super) position: Chess,
    /// Claims left out of the position, as no position can have them.
    pub(super) correction: Option<String>,
}

impl Start {
    /// The initial position of standard chess.
    pub(super) fn initial(is_chess960: bool) -> Start {
        let mode = CastlingMode::from_chess960(is_chess960);
        let start = arbiter_position::Start::new(Chess::new(), mode);
        Start::from(start)
    }
}

impl From<arbiter_position::Start> for Start {
    fn from(read: arbiter_position::Start) -> Start {
        let arbiter_position::Start { position, mode, correction } = read;
        let fen = Fen::from_position(&position, EnPassantMode::Always);
        let opening = Opening { fen, castling_mode: mode, moves: Vec::new() };
        Start { opening, position, correction }
    }
}

/// Reads a FEN or EPD that a game can begin with: engines need not know what no game reaches.
pub(super) fn parse_position(text: &str, is_chess960: bool) -> Result<Start, String> {
    let start = arbiter_position::Start::read(text, is_chess960)?;
    let shown = || excerpt(text.as_bytes());
    start
        .reachable()
        .map_err(|reason| format!("expected a legal position, got `{}`: {reason}", shown()))?;
    Ok(Start::from(start))
}

/// How the game is over in `position`, if it is.
pub(super) fn ending(position: &Chess) -> Option<&'static str> {
    if position.legal_moves().is_empty() {
        Some(if position.is_check() { "checkmate" } else { "stalemate" })
    } else if position.is_insufficient_material() {
        Some("insufficient material")
    } else if position.halfmoves() >= 100 {
        Some("the fifty-move rule")
    } else {
        None
    }
}

/// The fault of an opening after which nothing is left to play.
pub(super) fn over(ending: &str) -> String {
    format!("expected a position to play from, got one where the game is over by {ending}")
}
