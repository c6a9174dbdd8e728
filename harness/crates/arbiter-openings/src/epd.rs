//! Lists of positions, one per line: EPD and FEN.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read};

use shakmaty::{Chess, Position};

use super::{Collector, Opening};
use arbiter_position::{PlainText, Start, content, line_parts};
use arbiter_process::decoded;

/// Maximum length of a line, in bytes. A position takes at most about 90 bytes, and comments rarely
/// add more than 1,000 bytes.
const MAX_LINE: usize = 1 << 16;

/// Reads every position in `source` into `book`. Lines that are not positions are skipped.
pub(super) fn read(file: &str, source: &mut dyn Read, book: &mut Collector) -> Result<(), String> {
    let mut source = BufReader::with_capacity(1 << 16, PlainText::new(source));
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        // One byte more than the limit shows that the line is too long.
        let read = (&mut source).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut bytes);
        match read {
            Ok(0) => break,
            Ok(_) => {}
            Err(reason) => return book.break_off(file, line, &reason),
        }
        let at_line = |fault: String| format!("{file}:{line}: {fault}");
        if bytes.len() > MAX_LINE {
            book.skip_entry(at_line(format!("expected a line of at most {MAX_LINE} bytes")))?;
            if !bytes.ends_with(b"\n")
                // The rest of a long line must not be read as the next line.
                && let Err(reason) = source.skip_until(b'\n')
            {
                return book.break_off(file, line, &reason);
            }
            continue;
        }
        // The entry of a plain line can be passed over without decoding the line.
        if is_plain(&bytes) && book.passes_over() {
            continue;
        }
        for text in line_parts(&decoded(&bytes)).filter_map(content) {
            if book.passes_over() {
                continue;
            }
            let start = Start::read(text, false).and_then(playable);
            let ending = start.as_ref().ok().and_then(|start| ending(&start.position));
            match ending.map_or(start, |ending| Err(finished_game_fault(ending))) {
                Ok(start) => {
                    book.add(file, Opening::new(&start, Vec::new()))?;
                    // Only the corrections of openings in the book are counted.
                    book.corrected.extend(start.correction.map(at_line));
                }
                Err(fault) => book.skip_entry(at_line(fault))?,
            }
        }
    }
    Ok(())
}

/// Returns whether a line certainly has exactly one entry.
fn is_plain(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.first().is_some_and(u8::is_ascii_alphanumeric)
        // A fold is several times as fast as `all`, because it is vectorised.
        && line.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'))
}

/// Checks that a game can reach the position, because engines need not handle unreachable
/// positions.
pub(super) fn playable(start: Start) -> Result<Start, String> {
    let fault = |reason| format!("expected a legal position, got `{}`: {reason}", start.fen());
    start.reachable().map_err(fault)?;
    Ok(start)
}

/// Returns the reason why the game is over in `position`; `None` if the game is not over.
pub(super) fn ending(position: &Chess) -> Option<&'static str> {
    if position.legal_moves().is_empty() {
        Some(if position.is_check() { "checkmate" } else { "stalemate" })
    } else if position.is_insufficient_material() {
        Some("insufficient material")
    // 100 plies without a capture or pawn move are fifty moves by each side.
    } else if position.halfmoves() >= 100 {
        Some("the fifty-move rule")
    } else {
        None
    }
}

/// Returns the message for an opening after which the game is already over.
pub(super) fn finished_game_fault(ending: &str) -> String {
    format!("expected a position to play from, got one where the game is over by {ending}")
}
