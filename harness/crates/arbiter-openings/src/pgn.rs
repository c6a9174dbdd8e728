//! PGN files as books: each opening is the starting position and the first moves of a game.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Read;
use std::ops::ControlFlow;

use arbiter_pgn::{Blocks, GameVisitor, Games, Mainline, Outcome, San, Tags, Text, UNCLOSED};
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use super::epd::{ending, finished_game_fault, playable};
use super::{Collector, Opening, ReadOptions};

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
        let text = Text::new(&block);
        let mut games = Games::new(&text);
        let mut opened = OpeningVisitor { options: book.options, ..OpeningVisitor::default() };
        while games.read(&mut opened) {
            number += 1;
            let lines = games.lines();
            let line = lines_before + if opened.is_of_move { lines.last } else { lines.first };
            let at_game = |what: String| format!("{file}:{line}: game {number}: {what}");
            match opened.conclude() {
                Ok((opening, correction)) => {
                    book.corrected.extend(correction.map(at_game));
                    book.add(file, opening)?;
                }
                Err(fault) => book.skip_entry(at_game(fault))?,
            }
        }
        lines_before += games.lines().last;
    }
    Ok(())
}

/// Visitor that follows the main line of a game for the requested number of plies.
#[derive(Default)]
struct OpeningVisitor {
    options: ReadOptions,
    fault: Option<String>,
    /// `true` if `fault` concerns the last move that was read.
    is_of_move: bool,
    line: Option<Mainline>,
    /// Hash of the position before each move.
    history: Vec<Zobrist64>,
    /// `true` if the game has a move, a comment or a result.
    has_text: bool,
}

impl OpeningVisitor {
    /// Returns the opening of the game, and the correction of the starting position, if any.
    fn conclude(&mut self) -> Result<(Opening, Option<String>), String> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let Some(line) = self.line.take().filter(|_| self.has_text) else {
            return Err("expected moves or a result after the tags, got neither".to_owned());
        };
        let Mainline { start, position, moves } = line;
        let key = key(&position);
        // A third occurrence of the position would end the game before the first move after the
        // opening.
        let is_third = self.history.iter().filter(|&&earlier| earlier == key).count() >= 2;
        let repetition = is_third.then_some("threefold repetition");
        if let Some(ending) = ending(&position).or(repetition) {
            return Err(finished_game_fault(ending));
        }
        let moves = moves.into_iter().map(|m| UciMove::from_move(m, start.mode)).collect();
        Ok((Opening::new(&start, moves), start.correction))
    }

    fn end_with(&mut self, fault: String, is_of_move: bool) -> ControlFlow<()> {
        self.fault = Some(fault);
        self.is_of_move = is_of_move;
        ControlFlow::Break(())
    }
}

fn key(position: &Chess) -> Zobrist64 {
    position.zobrist_hash(EnPassantMode::Legal)
}

impl GameVisitor for OpeningVisitor {
    fn begin(&mut self, tags: &Tags) -> ControlFlow<()> {
        *self = OpeningVisitor { options: self.options, ..OpeningVisitor::default() };
        match tags.start().and_then(playable) {
            Ok(start) => self.line = Some(Mainline::new(start)),
            Err(fault) => return self.end_with(fault, false),
        }
        ControlFlow::Continue(())
    }

    fn san(&mut self, san: San) -> ControlFlow<()> {
        self.has_text = true;
        let Some(line) = &mut self.line else { return ControlFlow::Break(()) };
        // Moves after the opening are ignored and need not be legal.
        if self.options.plies.is_some_and(|plies| line.moves.len() >= plies as usize) {
            return ControlFlow::Break(());
        }
        let before = key(&line.position);
        if let Err(reason) = line.play(san) {
            let fault = format!("{} {reason}", line.numbered(&san.to_string()));
            return self.end_with(fault, true);
        }
        self.history.push(before);
        ControlFlow::Continue(())
    }

    fn unknown(&mut self, word: &[u8]) -> ControlFlow<()> {
        let Some(line) = &self.line else { return ControlFlow::Break(()) };
        let fault = line.fault(word);
        // The reader detects a missing end only at the end of the text, so the message shows the
        // first line of the game.
        self.end_with(fault, word != UNCLOSED)
    }

    fn comment(&mut self, _: &[u8]) {
        self.has_text = true;
    }

    fn outcome(&mut self, _: Outcome) {
        self.has_text = true;
    }
}
