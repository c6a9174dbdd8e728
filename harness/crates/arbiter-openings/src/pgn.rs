//! Lists of games: the opening is the game's starting position with its first moves.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::rc::Rc;

use pgn_reader::{Outcome, RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position};

use super::epd::{Start, ending, over, parse_position, variant};
use super::error::OpeningError;
use super::movetext::unknown_word;
use super::{Collector, Opening, ReadOptions};
use arbiter_position::excerpt;

/// Longest tag line accepted, in bytes.
const MAX_TAG_LINE: usize = 1 << 13;

/// Longest game accepted, in bytes.
const MAX_GAME: usize = 1 << 26;

/// Reads every game of `source` into `book`; what is none is left out.
pub(super) fn read(
    file: &str,
    source: &mut dyn Read,
    book: &mut Collector,
) -> Result<(), OpeningError> {
    let text = Rc::new(RefCell::new(Text { line: 1, unused: Vec::new() }));
    let source = Tap { source, text: Rc::clone(&text) };
    let mut reader = Reader::build(source).set_supported_tag_line_length(MAX_TAG_LINE).finish();
    let mut is_last_added = false;
    for game in 1.. {
        let more = reader.has_more();
        let line = text.borrow_mut().forget_until(reader.buffer());
        match more {
            Ok(true) => {}
            Ok(false) => break,
            Err(reason) => return book.break_off(file, line, reason),
        }
        let at = |line, fault: String| {
            OpeningError::new(format_args!("{file}:{line}: game {game}"), fault)
        };
        let first_line = reader.buffer().split(|&byte| byte == b'\n').next();
        let first_line = excerpt(first_line.unwrap_or_default());
        if !begins_a_game(reader.buffer()) {
            // What stands before the gap was not the whole of its game either.
            if std::mem::take(&mut is_last_added) {
                book.openings.pop();
            }
            book.leave_out(at(line, not_a_game(&first_line)))?;
            if let Err(reason) = reader.skip_game() {
                return book.break_off(file, line, reason);
            }
            continue;
        }
        let mut mainline = Mainline { options: book.options };
        let item = match reader.read_game(&mut mainline) {
            Ok(item) => item,
            Err(reason) if reason.kind() == io::ErrorKind::UnexpectedEof => {
                return book.break_off(file, line, reason);
            }
            Err(reason) => {
                let line = line + text.borrow().lines_to_open_comment();
                return book.break_off(file, line, reason);
            }
        };
        let text = text.borrow();
        let read = text.until(reader.buffer());
        let fault = match item {
            Some(Item::Nothing) => Some((line, not_a_game(&first_line))),
            Some(Item::BadGame(fault)) => Some((line, fault)),
            // A word that means nothing comes before the move that fails for want of it.
            item => match (unknown_word(read), item) {
                (Some(unknown), _) => {
                    let got = excerpt(unknown.word);
                    let fault = format!("expected a move, a comment or a result, got `{got}`");
                    Some((line + newlines(&read[..unknown.offset]), fault))
                }
                (None, Some(Item::BadMove(fault))) => Some((line + newlines(read), fault)),
                (None, Some(Item::Opening(opening, correction))) => {
                    book.corrected.extend(correction.map(|what| at(line, what)));
                    book.add(file, *opening)?;
                    is_last_added = true;
                    continue;
                }
                (None, _) => None,
            },
        };
        is_last_added = false;
        if let Some((line, fault)) = fault {
            book.leave_out(at(line, fault))?;
        }
    }
    Ok(())
}

/// What the text up to the next game turned out to be.
enum Item {
    /// An opening, and what was left out of its start.
    Opening(Box<Opening>, Option<String>),
    /// A comment or a result that belongs to no game.
    Remark,
    /// Nothing that PGN knows.
    Nothing,
    /// A fault of a tag or of the game as a whole.
    BadGame(String),
    /// A fault of the move last read.
    BadMove(String),
}

/// Follows the main line of a game for as many half-moves as are wanted.
struct Mainline {
    options: ReadOptions,
}

#[derive(Default)]
struct Tags {
    any: bool,
    fen: Option<Vec<u8>>,
    is_chess960: bool,
}

struct Movetext {
    /// Whether there were tags.
    tags: bool,
    /// Whether there was a move, wanted or not.
    moved: bool,
    /// Whether there was a comment or a result.
    remark: bool,
    /// The opening so far, and the position after its moves.
    start: Start,
    /// The positions before the moves.
    history: Vec<Zobrist64>,
}

impl Movetext {
    fn conclude(&self) -> Item {
        match (self.tags, self.moved, self.remark) {
            (false, false, false) => return Item::Nothing,
            (false, false, true) => return Item::Remark,
            (true, false, false) => {
                let fault = "expected moves or a result after the tags, got neither";
                return Item::BadGame(fault.to_owned());
            }
            _ => {}
        }
        if let Some(ending) = ending(&self.start.position).or_else(|| self.repetition()) {
            return Item::BadGame(over(ending));
        }
        Item::Opening(Box::new(self.start.opening.clone()), self.start.correction.clone())
    }

    fn repetition(&self) -> Option<&'static str> {
        let key = key(&self.start.position);
        let before = self.history.iter().filter(|&&earlier| earlier == key).count();
        (before >= 2).then_some("threefold repetition")
    }

    fn play(&mut self, san: SanPlus) -> Result<(), String> {
        let m = san.san.to_move(&self.start.position).map_err(|reason| {
            let ply = self.start.opening.moves.len() + 1;
            format!("expected a legal move at ply {ply}, got {san}: {reason}")
        })?;
        self.history.push(key(&self.start.position));
        self.start.position.play_unchecked(m);
        self.start.opening.moves.push(UciMove::from_move(m, self.start.opening.castling_mode));
        Ok(())
    }
}

fn key(position: &Chess) -> Zobrist64 {
    position.zobrist_hash(EnPassantMode::Legal)
}

impl Visitor for Mainline {
    type Tags = Tags;
    type Movetext = Movetext;
    type Output = Item;

    fn begin_tags(&mut self) -> ControlFlow<Item, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Item> {
        tags.any = true;
        if name.eq_ignore_ascii_case(b"FEN") {
            tags.fen = Some(value.decode().into_owned());
        } else if name.eq_ignore_ascii_case(b"Variant") {
            match castling_mode_of_variant(&value.decode()) {
                Ok(mode) => tags.is_chess960 = mode == Some(CastlingMode::Chess960),
                Err(fault) => return ControlFlow::Break(Item::BadGame(fault)),
            }
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Item, Movetext> {
        let start = match tags.fen {
            Some(fen) => parse_position(&String::from_utf8_lossy(&fen), tags.is_chess960),
            None => Ok(Start::initial(tags.is_chess960)),
        };
        let (tags, moved, remark, history) = (tags.any, false, false, Vec::new());
        match start {
            Ok(start) => ControlFlow::Continue(Movetext { tags, moved, remark, start, history }),
            Err(fault) => ControlFlow::Break(Item::BadGame(fault)),
        }
    }

    fn san(&mut self, movetext: &mut Movetext, san: SanPlus) -> ControlFlow<Item> {
        movetext.moved = true;
        if self
            .options
            .plies
            .is_some_and(|plies| movetext.start.opening.moves.len() >= plies as usize)
        {
            return ControlFlow::Break(movetext.conclude());
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

/// Castling rules that the value of a `Variant` tag announces; `None` if it leaves them open. An
/// error if it is a variant other than chess and Chess960.
pub fn castling_mode_of_variant(value: &[u8]) -> Result<Option<CastlingMode>, String> {
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
        _ => Err(variant(value)),
    }
}

/// Whether a game may begin so: not with a later move. A blank line within a game would otherwise
/// make its second half a game of its own.
fn begins_a_game(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits == 0 || &text[..digits] == b"1" || text.get(digits) != Some(&b'.')
}

/// The fault of a text that is none of a game.
fn not_a_game(first_line: &str) -> String {
    format!("expected a game that begins with a tag or with move 1, got `{first_line}`")
}

/// Text that went to the reader. What the reader holds in its buffer is the end of it and has not
/// been used yet, which tells how far the reader has got.
struct Text {
    /// Line on which `unused` begins, from 1.
    line: u64,
    unused: Vec<u8>,
}

impl Text {
    /// The text up to what the reader still holds.
    fn until(&self, held: &[u8]) -> &[u8] {
        &self.unused[..self.unused.len() - held.len()]
    }

    /// Lines before that of a comment that has no end; 0 if there is none.
    fn lines_to_open_comment(&self) -> u64 {
        let closed = self.unused.iter().rposition(|&byte| byte == b'}').unwrap_or(0);
        let open = self.unused[closed..].iter().position(|&byte| byte == b'{');
        open.map_or(0, |offset| newlines(&self.unused[..closed + offset]))
    }

    /// Drops the text up to what the reader still holds and returns the line reached.
    fn forget_until(&mut self, held: &[u8]) -> u64 {
        self.line += newlines(self.until(held));
        self.unused.drain(..self.unused.len() - held.len());
        self.line
    }
}

/// Keeps a copy of what is read.
struct Tap<'a> {
    source: &'a mut dyn Read,
    text: Rc<RefCell<Text>>,
}

impl Read for Tap<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let unused = &mut self.text.borrow_mut().unused;
        if unused.len() > MAX_GAME {
            let message = format!("expected games of at most {MAX_GAME} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let read = self.source.read(buffer)?;
        unused.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}
