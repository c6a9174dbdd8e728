//! PGN files as books: each opening is the starting position and the first moves of a game.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Read;

use arbiter_pgn::{Blocks, Games, Mainline, Part};
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use super::epd::{ending, finished_game_fault, playable};
use super::{Collector, Opening};

/// Reads every game in `source` into `book`. Parts that are not games are skipped.
pub(super) fn read(file: &str, source: &mut dyn Read, book: &mut Collector) -> Result<(), String> {
    let mut lines_before = 1;
    let mut number = 0u64;
    for block in Blocks::new(source) {
        let block = match block {
            Ok(block) => block,
            // The games before the unreadable part are valid and are used.
            Err(reason) => return book.break_off(file, lines_before, &reason),
        };
        let mut games = Games::new(&block);
        while games.next_game() {
            let read = read_opening(&mut games, book.options.plies);
            if !games.is_game() {
                continue;
            }
            number += 1;
            let at = |line: u64| format!("{file}:{}: game {number}", lines_before + line);
            match read {
                Ok((opening, correction)) => {
                    let at_game = |what: String| format!("{}: {what}", at(games.first_line()));
                    book.corrected.extend(correction.map(at_game));
                    book.add(file, opening)?;
                }
                Err((fault, line)) => book.skip_entry(format!("{}: {fault}", at(line)))?,
            }
        }
        lines_before += games.last_line();
    }
    Ok(())
}

/// Follows the main line of a game for at most `plies` plies. Returns the opening, and the
/// correction of the starting position, if any. The error is a fault, with its line in the block.
fn read_opening(
    games: &mut Games<'_>,
    plies: Option<u32>,
) -> Result<(Opening, Option<String>), (String, u64)> {
    let first_line = games.first_line();
    let at_start = |fault: String| (fault, first_line);
    let start = games.tags().start().and_then(playable).map_err(at_start)?;
    let mut line = Mainline::new(start);
    // Hash of the position before each move.
    let mut history = Vec::new();
    let mut has_text = false;
    while let Some(part) = games.next_part() {
        has_text = true;
        if matches!(part, Part::San(_)) {
            // Moves after the opening are ignored and need not be legal.
            if plies.is_some_and(|plies| line.moves.len() >= plies as usize) {
                break;
            }
            history.push(key(&line.position));
        }
        line.take(&part).map_err(|fault| match part {
            // The reader detects a missing end only at the end of the text, so the message shows
            // the first line of the game.
            Part::Unclosed => at_start(fault),
            _ => (fault, games.last_line()),
        })?;
    }
    if !has_text {
        return Err(at_start("expected moves or a result after the tags, got neither".to_owned()));
    }
    let Mainline { start, position, moves } = line;
    let key = key(&position);
    // A third occurrence of the position would end the game before the first move after the
    // opening.
    let is_third = history.iter().filter(|earlier| **earlier == key).count() >= 2;
    let repetition = is_third.then_some("threefold repetition");
    if let Some(ending) = ending(&position).or(repetition) {
        return Err(at_start(finished_game_fault(ending)));
    }
    let moves = moves.into_iter().map(|m| UciMove::from_move(m, start.mode)).collect();
    Ok((Opening::new(&start, moves), start.correction))
}

fn key(position: &Chess) -> Zobrist64 {
    position.zobrist_hash(EnPassantMode::Legal)
}
