//! Lists of games: the opening is the game's starting position with its first moves.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Read;
use std::ops::ControlFlow;

use arbiter_pgn::{Blocks, GameVisitor, Games, Outcome, San, Tags, Text, UNCLOSED, legal_move};
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position};

use super::epd::{ending, over, playable};
use super::error::OpeningError;
use super::{Collector, Opening, ReadOptions};
use arbiter_position::{Start, excerpt};

/// Reads every game of `source` into `book`; what is none is left out.
pub(super) fn read(
    file: &str,
    source: &mut dyn Read,
    book: &mut Collector,
) -> Result<(), OpeningError> {
    let (mut lines_before, mut number) = (1, 0u64);
    for block in Blocks::new(source) {
        let block = match block {
            Ok(block) => block,
            Err(reason) => return book.break_off(file, lines_before, reason),
        };
        let text = Text::new(&block);
        let mut games = Games::new(&text);
        let mut mainline = Mainline::new(book.options);
        while games.read(&mut mainline) {
            number += 1;
            let lines = games.lines();
            let (line, fault) = match mainline.conclude() {
                Ok((opening, correction)) => {
                    let place =
                        format_args!("{file}:{}: game {number}", lines_before + lines.first);
                    book.corrected.extend(correction.map(|what| OpeningError::new(place, what)));
                    book.add(file, opening)?;
                    continue;
                }
                Err(Fault::Game(fault)) => (lines.first, fault),
                Err(Fault::Move(fault)) => (lines.last, fault),
            };
            let place = format_args!("{file}:{}: game {number}", lines_before + line);
            book.leave_out(OpeningError::new(place, fault))?;
        }
        lines_before += games.lines().last;
    }
    Ok(())
}

/// A fault of a game.
enum Fault {
    /// A tag, or the game as a whole.
    Game(String),
    /// The move read last.
    Move(String),
}

/// Follows the main line of a game for as many half-moves as are wanted.
struct Mainline {
    options: ReadOptions,
    fault: Option<Fault>,
    start: Option<Start>,
    moves: Vec<UciMove>,
    /// The position after the moves, and those before them.
    position: Chess,
    history: Vec<Zobrist64>,
    /// True if there was a move, a comment or a result.
    has_text: bool,
}

impl Mainline {
    fn new(options: ReadOptions) -> Mainline {
        Mainline {
            options,
            fault: None,
            start: None,
            moves: Vec::new(),
            position: Chess::default(),
            history: Vec::new(),
            has_text: false,
        }
    }

    /// The opening of the game that was read, and what was left out of its start.
    fn conclude(&mut self) -> Result<(Opening, Option<String>), Fault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let Some(start) = self.start.take().filter(|_| self.has_text) else {
            let fault = "expected moves or a result after the tags, got neither";
            return Err(Fault::Game(fault.to_owned()));
        };
        let key = key(&self.position);
        let is_third = self.history.iter().filter(|&&earlier| earlier == key).count() >= 2;
        let repetition = is_third.then_some("threefold repetition");
        match ending(&self.position).or(repetition) {
            Some(ending) => Err(Fault::Game(over(ending))),
            None => {
                let opening = Opening::new(&start, std::mem::take(&mut self.moves));
                Ok((opening, start.correction))
            }
        }
    }
}

fn key(position: &Chess) -> Zobrist64 {
    position.zobrist_hash(EnPassantMode::Legal)
}

impl GameVisitor for Mainline {
    fn begin(&mut self, tags: &Tags) -> ControlFlow<()> {
        *self = Mainline::new(self.options);
        match tags.start().and_then(playable) {
            Ok(start) => {
                self.position = start.position.clone();
                self.start = Some(start);
                ControlFlow::Continue(())
            }
            Err(fault) => {
                self.fault = Some(Fault::Game(fault));
                ControlFlow::Break(())
            }
        }
    }

    fn san(&mut self, san: San) -> ControlFlow<()> {
        self.has_text = true;
        let Some(Start { mode, .. }) = self.start else { return ControlFlow::Break(()) };
        let ply = self.moves.len() + 1;
        if self.options.plies.is_some_and(|plies| ply > plies as usize) {
            return ControlFlow::Break(());
        }
        match legal_move(&self.position, san) {
            Ok(played) => {
                self.history.push(key(&self.position));
                self.position.play_unchecked(played);
                self.moves.push(UciMove::from_move(played, mode));
                ControlFlow::Continue(())
            }
            Err(reason) => {
                self.fault = Some(Fault::Move(format!("{san} at ply {ply} {reason}")));
                ControlFlow::Break(())
            }
        }
    }

    fn unknown(&mut self, word: &[u8]) -> ControlFlow<()> {
        self.fault = Some(match word {
            UNCLOSED => Fault::Game("expected the end of a comment, got none".to_owned()),
            word => {
                let got = excerpt(word);
                Fault::Move(format!("expected a move, a comment or a result, got `{got}`"))
            }
        });
        ControlFlow::Break(())
    }

    fn comment(&mut self, _: &[u8]) {
        self.has_text = true;
    }

    fn outcome(&mut self, _: Outcome) {
        self.has_text = true;
    }
}
