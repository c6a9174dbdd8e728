//! Lists of games: the opening is the game's starting position with its first moves.

use std::cell::Cell;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::rc::Rc;

use pgn_reader::{Outcome, RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};

use super::epd::{Start, ending, parse_position};
use super::error::{Fault, OpeningError, excerpt};
use super::{Collector, Opening, ReadOptions};

/// Longest tag line accepted, in bytes.
const MAX_TAG_LINE: usize = 1 << 13;

/// Reads every game of `source` into `book`.
pub(super) fn read(
    file: &str,
    source: &mut dyn Read,
    book: &mut Collector,
) -> Result<(), OpeningError> {
    let lines = Rc::new(Cell::new(0));
    let source = LineCounter { source, lines: Rc::clone(&lines) };
    let mut reader = Reader::build(source).set_supported_tag_line_length(MAX_TAG_LINE).finish();
    // What was read but not yet used is in the reader's buffer, so the line reached can be told.
    let line_of = |reader: &Reader<LineCounter>| lines.get() - newlines(reader.buffer()) + 1;
    let cannot_read = |line, reason| OpeningError::Read { file: file.into(), line, reason };
    for game in 1.. {
        let more = reader.has_more();
        let line = line_of(&reader);
        if !more.map_err(|reason| cannot_read(line, reason))? {
            break;
        }
        let at = |line, fault| OpeningError::Game { file: file.into(), line, game, fault };
        let head = first_line(reader.buffer());
        if !begins_a_game(reader.buffer()) {
            return Err(at(line, Fault::NotAGame { got: head }));
        }
        let item = reader.read_game(&mut Mainline { options: book.options });
        let reached = line_of(&reader);
        match item.map_err(|reason| cannot_read(reached, reason))? {
            Some(Item::Opening(opening)) => book.add(file, Opening { line, ..*opening })?,
            Some(Item::Remark) | None => {}
            Some(Item::Nothing) => return Err(at(line, Fault::NotAGame { got: head })),
            Some(Item::BadGame(fault)) => return Err(at(line, fault)),
            Some(Item::BadMove(fault)) => return Err(at(reached, fault)),
        }
    }
    Ok(())
}

/// What the text up to the next game turned out to be.
enum Item {
    Opening(Box<Opening>),
    /// A comment or a result that belongs to no game.
    Remark,
    /// Nothing that PGN knows.
    Nothing,
    /// A fault of a tag or of the game as a whole.
    BadGame(Fault),
    /// A fault of the move last read.
    BadMove(Fault),
}

/// Follows the main line of a game for as many half-moves as are wanted.
struct Mainline {
    options: ReadOptions,
}

#[derive(Default)]
struct Tags {
    any: bool,
    fen: Option<Vec<u8>>,
    castling_mode: Option<CastlingMode>,
}

struct Movetext {
    /// Whether there was a tag or a move, so that this is a game.
    game: bool,
    /// Whether there was a comment or a result.
    remark: bool,
    fen: Fen,
    castling_mode: CastlingMode,
    position: Chess,
    moves: Vec<UciMove>,
}

impl Movetext {
    fn conclude(self) -> Item {
        if !self.game {
            return if self.remark { Item::Remark } else { Item::Nothing };
        }
        if let Some(ending) = ending(&self.position) {
            return Item::BadGame(Fault::Over(ending));
        }
        let Movetext { fen, castling_mode, moves, .. } = self;
        Item::Opening(Box::new(Opening { fen, castling_mode, moves, line: 0 }))
    }

    fn play(&mut self, san: SanPlus) -> Result<(), Fault> {
        let m = san.san.to_move(&self.position).map_err(|reason| Fault::Move {
            ply: self.moves.len() + 1,
            san,
            reason,
        })?;
        self.position.play_unchecked(m);
        self.moves.push(UciMove::from_move(m, self.castling_mode));
        Ok(())
    }

    /// Leaves an empty game behind; for use when the reader is told to stop.
    fn take(&mut self) -> Movetext {
        std::mem::replace(self, Movetext::standard())
    }

    fn standard() -> Movetext {
        Movetext {
            game: false,
            remark: false,
            fen: Fen::default(),
            castling_mode: CastlingMode::Standard,
            position: Chess::default(),
            moves: Vec::new(),
        }
    }
}

impl Visitor for Mainline {
    type Tags = Tags;
    type Movetext = Movetext;
    type Output = Item;

    fn begin_tags(&mut self) -> ControlFlow<Item, Tags> {
        ControlFlow::Continue(Tags { castling_mode: self.options.castling_mode, ..Tags::default() })
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Item> {
        tags.any = true;
        if name.eq_ignore_ascii_case(b"FEN") {
            tags.fen = Some(value.decode().into_owned());
        } else if name.eq_ignore_ascii_case(b"Variant") {
            match variant(&value.decode()) {
                Ok(mode) => tags.castling_mode = tags.castling_mode.or(mode),
                Err(fault) => return ControlFlow::Break(Item::BadGame(fault)),
            }
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Item, Movetext> {
        let castling_mode = tags.castling_mode;
        let start = match tags.fen {
            Some(fen) => parse_position(&fen, castling_mode),
            None => Start::initial(castling_mode),
        };
        match start {
            Ok(Start { fen, castling_mode, position }) => ControlFlow::Continue(Movetext {
                game: tags.any,
                remark: false,
                fen,
                castling_mode,
                position,
                moves: Vec::new(),
            }),
            Err(fault) => ControlFlow::Break(Item::BadGame(fault)),
        }
    }

    fn san(&mut self, movetext: &mut Movetext, san: SanPlus) -> ControlFlow<Item> {
        movetext.game = true;
        if self.options.plies.is_some_and(|plies| movetext.moves.len() >= plies as usize) {
            return ControlFlow::Break(movetext.take().conclude());
        }
        match movetext.play(san) {
            Ok(()) => ControlFlow::Continue(()),
            Err(fault) => ControlFlow::Break(Item::BadMove(fault)),
        }
    }

    fn comment(&mut self, movetext: &mut Movetext, _: RawComment<'_>) -> ControlFlow<Item> {
        movetext.remark = true;
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, movetext: &mut Movetext, _: Outcome) -> ControlFlow<Item> {
        movetext.remark = true;
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, movetext: Movetext) -> Item {
        movetext.conclude()
    }
}

/// Castling rules announced by a `Variant` tag; `None` if it leaves them open.
fn variant(value: &[u8]) -> Result<Option<CastlingMode>, Fault> {
    let letters: Vec<u8> = value
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    match letters.as_slice() {
        b"" | b"standard" | b"chess" | b"normal" | b"fromposition" => Ok(None),
        b"chess960" | b"960" | b"fischerandom" | b"fischerrandom" | b"frc" | b"dfrc" => {
            Ok(Some(CastlingMode::Chess960))
        }
        _ => Err(Fault::Variant { got: excerpt(value) }),
    }
}

/// Whether a game may begin so: not with a later move. A blank line within a game would otherwise
/// make its second half a game of its own.
fn begins_a_game(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits == 0 || &text[..digits] == b"1" || text.get(digits) != Some(&b'.')
}

fn first_line(text: &[u8]) -> String {
    let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
    excerpt(&text[..end])
}

/// Counts the lines that pass through.
struct LineCounter<'a> {
    source: &'a mut dyn Read,
    lines: Rc<Cell<u64>>,
}

impl Read for LineCounter<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.lines.set(self.lines.get() + newlines(&buffer[..read]));
        Ok(read)
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}
