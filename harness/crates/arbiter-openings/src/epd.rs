//! Lists of positions, one on each line: EPD and FEN.
//!
//! Both begin with the four fields that make a position. Two numbers may follow (FEN's counters),
//! then operations ended by semicolons (EPD's), of which `hmvc` and `fmvn` give the counters and
//! the rest is not ours. Blank lines and lines that begin with `#` are skipped.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read};
use std::num::NonZeroU32;

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, FromSetup, Position, PositionErrorKinds, Setup};

use super::error::{OpeningError, excerpt};
use super::{Collector, Opening};

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
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| line == 1).unwrap_or(&bytes);
        let text = text.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        let read = parse_position(text, book.options.castling_mode);
        let playable = read.and_then(|start| match ending(&start.position) {
            Some(ending) => Err(over(ending)),
            None => Ok(start.opening),
        });
        match playable {
            Ok(opening) => book.add(file, opening)?,
            Err(fault) => book.leave_out(at_line(fault))?,
        }
    }
    Ok(())
}

/// A starting position.
pub(super) struct Start {
    /// An opening without moves from that position.
    pub(super) opening: Opening,
    pub(super) position: Chess,
}

impl Start {
    /// The initial position of standard chess.
    pub(super) fn initial(castling_mode: Option<CastlingMode>) -> Result<Start, String> {
        const FEN: &[u8] = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        parse_position(FEN, castling_mode)
    }
}

/// Parses and validates a FEN or EPD; `castling_mode` is detected if not given.
pub(super) fn parse_position(
    text: &[u8],
    castling_mode: Option<CastlingMode>,
) -> Result<Start, String> {
    let setup = parse_setup(text)?;
    let mode = castling_mode.unwrap_or(CastlingMode::Standard);
    let position = Chess::from_setup(setup.clone(), mode).or_else(|reason| {
        // Rights that make no sense for a king on e1 and rooks on a1 and h1 may do in Chess960.
        let may_be_chess960 = castling_mode.is_none()
            && reason.kinds() == PositionErrorKinds::INVALID_CASTLING_RIGHTS;
        let as_chess960 = || Chess::from_setup(setup.clone(), CastlingMode::Chess960).ok();
        may_be_chess960
            .then(as_chess960)
            .flatten()
            .ok_or_else(|| format!("expected a legal position, got `{}`: {reason}", excerpt(text)))
    })?;
    let fen = Fen::try_from_setup(setup).map_err(|_| variant(text))?;
    let opening = Opening { fen, castling_mode: position.castles().mode(), moves: Vec::new() };
    Ok(Start { opening, position })
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

/// The fault of a text that announces rules other than those of chess.
pub(super) fn variant(text: &[u8]) -> String {
    format!("expected chess or Chess960, got `{}`", excerpt(text))
}

fn parse_setup(text: &[u8]) -> Result<Setup, String> {
    let (fields, rest) = split_fields(text)?;
    let fen = Fen::from_ascii(&fields.join(&b' '))
        .map_err(|reason| format!("expected a position, got `{}`: {reason}", excerpt(text)))?;
    let mut setup = fen.into_setup();
    if setup.pockets.is_some() || setup.promoted.any() || setup.remaining_checks.is_some() {
        return Err(variant(fields[0]));
    }
    let (halfmoves, rest) = leading_number(rest);
    let (fullmoves, rest) = leading_number(rest);
    let (halfmoves, fullmoves) = match halfmoves {
        Some(_) => (halfmoves, fullmoves),
        None => (operand(rest, "hmvc")?, operand(rest, "fmvn")?),
    };
    setup.halfmoves = halfmoves.unwrap_or(0);
    setup.fullmoves = fullmoves.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
    Ok(setup)
}

/// The first four fields and what follows them.
fn split_fields(text: &[u8]) -> Result<([&[u8]; 4], &[u8]), String> {
    let mut fields: [&[u8]; 4] = [b""; 4];
    let mut rest = text;
    for (got, field) in fields.iter_mut().enumerate() {
        (*field, rest) = split_word(rest);
        if field.is_empty() {
            return Err(format!(
                "expected a position of at least 4 fields (pieces, side to move, castling rights, \
                 en passant square), got {got} in `{}`",
                excerpt(text)
            ));
        }
    }
    Ok((fields, rest))
}

/// The first word of `text`, empty if there is none, and what follows it.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    text.split_at(end)
}

/// The number `text` begins with, if its first word is one, and what follows it.
fn leading_number(text: &[u8]) -> (Option<u32>, &[u8]) {
    let (word, rest) = split_word(text);
    // A semicolon may cling to the last counter, as in `0 1;`.
    let (digits, rest) = match word.iter().position(|&byte| byte == b';') {
        Some(end) => (&word[..end], &text[text.len() - rest.len() - (word.len() - end)..]),
        None => (word, rest),
    };
    match number(digits) {
        Some(value) => (Some(value), rest),
        None => (None, text),
    }
}

/// The operand of the first operation `opcode` in `operations`, if there is one.
fn operand(operations: &[u8], opcode: &str) -> Result<Option<u32>, String> {
    let mut quoted = false;
    let operations = operations.split(|&byte| {
        quoted ^= byte == b'"';
        byte == b';' && !quoted
    });
    for operation in operations {
        let (name, value) = split_word(operation);
        if name == opcode.as_bytes() {
            let value = value.trim_ascii();
            let refused =
                || format!("expected a number after `{opcode}`, got `{}`", excerpt(value));
            return number(value).map(Some).ok_or_else(refused);
        }
    }
    Ok(None)
}

/// A counter: digits only, and not absurdly many.
fn number(digits: &[u8]) -> Option<u32> {
    let is_number = digits.len() <= 9 && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}
