//! Reader of the games in a text.

use std::cell::Cell;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::rc::Rc;

use pgn_reader::{Outcome, RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::san::San;

use super::tags::Tags;
use super::text::{Text, UNKNOWN, newlines};

/// Maximum length of a tag line, in bytes. No line in normal form is longer: a name has at most 255
/// bytes, and a value has at most 2 KiB (4 KiB with escapes). The default limit of `pgn-reader`,
/// 255 bytes per line, would truncate common values.
const MAX_TAG_LINE: usize = 1 << 13;

/// Maximum length, in bytes, of a comment that is passed to the visitor; further bytes are dropped.
const MAX_COMMENT: usize = 1 << 14;

/// Visitor of the parts of a game, except variations. If a method returns `Break`, the rest of the
/// game is skipped.
pub trait GameVisitor {
    /// Starts a game; the tags of the game have already been read.
    fn begin(&mut self, tags: &Tags) -> ControlFlow<()>;
    /// Handles a move, as written in the game.
    fn san(&mut self, san: San) -> ControlFlow<()>;
    /// Handles a token that is not PGN, or [`UNCLOSED`](super::UNCLOSED).
    fn unknown(&mut self, word: &[u8]) -> ControlFlow<()>;
    /// Handles a comment in braces.
    fn comment(&mut self, comment: &[u8]);
    /// Handles the result at the end of the moves, which [`Tags::outcome`] includes.
    fn outcome(&mut self, _: Outcome) {}
}

/// Numbers of the first and the last line of a game. Lines are counted from 0 at the start of the
/// text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// Number of the first line of the game.
    pub first: u64,
    /// Number of the line at which the visitor returned `Break`, or at which the game ended.
    pub last: u64,
}

/// Reader of the games in a text.
pub struct Games<'t> {
    text: &'t Text<'t>,
    reader: Reader<Source<'t>>,
    /// Number of bytes that the reader has taken from the text; the most recent of these bytes are
    /// in the reader's buffer.
    taken: Rc<Cell<usize>>,
    tags: Tags,
    long_comment: Vec<u8>,
    /// Offset of the current game, in bytes; `lines_before` is the number of lines before this
    /// offset.
    begin: usize,
    lines_before: u64,
}

impl<'t> Games<'t> {
    /// Creates a reader that starts at the first game.
    pub fn new(text: &'t Text<'t>) -> Games<'t> {
        let taken = Rc::new(Cell::new(0));
        let source = Source { text: &text.bytes, taken: Rc::clone(&taken) };
        let reader = Reader::build(source).set_supported_tag_line_length(MAX_TAG_LINE).finish();
        let tags = Tags::default();
        let long_comment = Vec::new();
        Games { text, reader, taken, tags, long_comment, begin: 0, lines_before: 0 }
    }

    /// Reads the next game. Returns `false` if the text contains no further game. A comment or a
    /// result outside a game does not count as a game.
    pub fn read(&mut self, visitor: &mut impl GameVisitor) -> bool {
        // Reading from memory cannot fail, and in normal form, every tag and comment has an end.
        while let Ok(true) = self.reader.has_more() {
            self.lines_before = self.lines_until(self.place());
            self.begin = self.place();
            let tags = &mut self.tags;
            let long_comment = &mut self.long_comment;
            let mut parts = Parts { visitor, tags, long_comment, has_moves: false };
            let read = self.reader.read_game(&mut parts);
            // A visitor returns `Break` only within a game, so `Err` also means that a game was
            // read.
            if parts.has_moves || parts.tags.any || read.is_err() {
                return true;
            }
        }
        false
    }

    /// Returns the tags of the last game read.
    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    /// Returns the number of the line, counted from 0, on which the last game read starts.
    pub fn first_line(&self) -> u64 {
        self.lines_before
    }

    /// Returns the numbers of the first and the last line of the last game read.
    pub fn lines(&self) -> Lines {
        Lines { first: self.lines_before, last: self.lines_until(self.place()) }
    }

    fn place(&self) -> usize {
        // The reader does not report offsets. The offset is the number of bytes that the reader has
        // taken, minus the number of bytes in the reader's buffer.
        self.taken.get() - self.reader.buffer().len()
    }

    /// Returns the number of lines in the original text before the offset `place`, which must not
    /// be before the start of the last game read.
    fn lines_until(&self, place: usize) -> u64 {
        let added = |place: usize| self.text.added.partition_point(|added| *added < place);
        // The original text does not contain the line endings that the normal form adds.
        let added = added(place) - added(self.begin);
        self.lines_before + (newlines(&self.text.bytes[self.begin..place]) - added) as u64
    }
}

/// Text, with the number of bytes that the reader has taken.
struct Source<'t> {
    text: &'t [u8],
    taken: Rc<Cell<usize>>,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = (&self.text[self.taken.get()..]).read(buffer)?;
        self.taken.set(self.taken.get() + read);
        Ok(read)
    }
}

/// Adapter that passes the parts of a game to a visitor.
struct Parts<'a, V> {
    visitor: &'a mut V,
    tags: &'a mut Tags,
    /// Earlier parts of a comment that is longer than the reader's buffer.
    long_comment: &'a mut Vec<u8>,
    has_moves: bool,
}

impl<V: GameVisitor> Visitor for Parts<'_, V> {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<()> {
        self.tags.clear();
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        self.tags.set(name, &value.decode());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<()> {
        self.visitor.begin(self.tags)
    }

    fn san(&mut self, (): &mut (), played: SanPlus) -> ControlFlow<()> {
        self.has_moves = true;
        // Check marks are redundant, and programs write check marks in different ways.
        self.visitor.san(played.san)
    }

    fn partial_comment(&mut self, (): &mut (), part: RawComment<'_>) -> ControlFlow<()> {
        // The length is limited, because a comment without an end must not fill the memory.
        let room = MAX_COMMENT.saturating_sub(self.long_comment.len());
        self.long_comment.extend(part.as_bytes().iter().take(room));
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        if !self.long_comment.is_empty() {
            // `partial_comment` never returns `Break`.
            let _ = self.partial_comment(&mut (), comment);
            self.visitor.comment(self.long_comment);
            self.long_comment.clear();
            return ControlFlow::Continue(());
        }
        match comment.as_bytes() {
            [UNKNOWN, word @ ..] => {
                self.has_moves = true;
                self.visitor.unknown(word)
            }
            comment => {
                self.visitor.comment(comment);
                ControlFlow::Continue(())
            }
        }
    }

    fn outcome(&mut self, (): &mut (), outcome: Outcome) -> ControlFlow<()> {
        let earlier = self.tags.written.replace(outcome);
        self.tags.has_two_results |= earlier.is_some_and(|earlier| earlier != outcome);
        self.visitor.outcome(outcome);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (): ()) {}
}
