//! Reader of the games in a text.

use std::cell::Cell;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::rc::Rc;

use pgn_reader::{Outcome, RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::san::San;

use super::tags::Tags;
use super::text::{Text, UNKNOWN, newlines};

/// Maximum accepted length of a tag line, in bytes; no line of the normal form is longer. A value
/// has at most 2 KiB, or twice as many bytes with its escapes; a name has at most 255 bytes. The
/// default of `pgn-reader`, 255 bytes per line, would truncate common values.
const MAX_TAG_LINE: usize = 1 << 13;

/// Maximum length, in bytes, of a comment that is passed on; the rest is dropped.
const MAX_COMMENT: usize = 1 << 14;

/// Unknown token that marks a missing end of a comment. A brace cannot be part of a token, so no
/// token in a file equals this text.
pub const UNCLOSED: &[u8] = b"{";

/// Visitor of the parts of a game, without its variations. If a method returns `Break`, the rest of
/// the game is skipped.
pub trait GameVisitor {
    /// Begins a game after its tags have been read.
    fn begin(&mut self, tags: &Tags) -> ControlFlow<()>;
    /// Handles a move as written.
    fn san(&mut self, san: San) -> ControlFlow<()>;
    /// Handles a token that is not PGN, or [`UNCLOSED`].
    fn unknown(&mut self, word: &[u8]) -> ControlFlow<()>;
    /// Handles a comment in braces.
    fn comment(&mut self, comment: &[u8]);
    /// Handles the result at the end of the moves.
    fn outcome(&mut self, outcome: Outcome);
}

/// Lines of a game, counted from 0 in its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// First line of the game.
    pub first: u64,
    /// Line at which the visitor stopped or the game ended.
    pub last: u64,
}

/// Reader of the games in a text.
pub struct Games<'t> {
    text: &'t Text<'t>,
    reader: Reader<Source<'t>>,
    /// Number of bytes that the reader has consumed; the last of them are in its buffer.
    taken: Rc<Cell<usize>>,
    tags: Tags,
    long_comment: Vec<u8>,
    /// Offset of the current game; `lines_before` is the number of lines before this offset.
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

    /// Reads the next game. Returns `false` if there is none. A comment or a result outside a game
    /// does not count as a game.
    pub fn read(&mut self, visitor: &mut impl GameVisitor) -> bool {
        // Reading from memory cannot fail, and in normal form every tag and comment has an end.
        while let Ok(true) = self.reader.has_more() {
            self.lines_before = self.lines_until(self.place());
            self.begin = self.place();
            let tags = &mut self.tags;
            let long_comment = &mut self.long_comment;
            let mut parts = Parts { visitor, tags, long_comment, has_moves: false };
            let read = self.reader.read_game(&mut parts);
            // A visitor stops only within a game, so `Err` also stands for a game.
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

    /// Returns the lines of the last game read.
    pub fn lines(&self) -> Lines {
        Lines { first: self.lines_before, last: self.lines_until(self.place()) }
    }

    fn place(&self) -> usize {
        // The reader reports no offsets: a game ends at the number of bytes consumed, minus the
        // bytes in the buffer.
        self.taken.get() - self.reader.buffer().len()
    }

    /// Returns the number of lines of the original text before the offset `place`, which must not
    /// precede the last game read.
    fn lines_until(&self, place: usize) -> u64 {
        let added = |place: usize| self.text.added.partition_point(|added| *added < place);
        // The original text does not contain the line endings that the normal form adds.
        let added = added(place) - added(self.begin);
        self.lines_before + (newlines(&self.text.bytes[self.begin..place]) - added) as u64
    }
}

/// Text with a count of the bytes consumed.
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
    /// Earlier parts of a comment that exceeds the reader's buffer.
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
        // Check marks are redundant, and programs write them differently.
        self.visitor.san(played.san)
    }

    fn partial_comment(&mut self, (): &mut (), part: RawComment<'_>) -> ControlFlow<()> {
        // The rest of a longer comment is dropped; a comment without an end must not fill the
        // memory.
        let room = MAX_COMMENT.saturating_sub(self.long_comment.len());
        self.long_comment.extend(part.as_bytes().iter().take(room));
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        if !self.long_comment.is_empty() {
            // This method of the adapter never returns `Break`.
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
        self.visitor.outcome(outcome);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (): ()) {}
}
