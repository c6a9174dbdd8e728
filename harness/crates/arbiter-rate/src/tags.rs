//! The PGN tags that ratings need.

use std::borrow::Cow;
use std::ops::ControlFlow;

use arbiter_names::shown;
use arbiter_openings::castling_mode_of_variant;
use pgn_reader::{RawTag, Visitor};

/// Longest name kept, in bytes.
pub(crate) const MAX_NAME: usize = 200;

/// What a tag says, with single blanks: UTF-8, or else Latin-1, as PGN once had it. As
/// [`shown`] has it.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let text = match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // The end of a long name is cut off, maybe within a letter.
        Err(error) if error.error_len().is_none() && bytes.len() == MAX_NAME => {
            String::from_utf8_lossy(bytes)
        }
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shown(text)
}

/// The tags that matter.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    /// Whether there are any at all.
    pub any: bool,
    /// White's name.
    pub white: Vec<u8>,
    /// Black's name.
    pub black: Vec<u8>,
    /// The result.
    pub result: Vec<u8>,
    /// The position at the start, if it is told.
    pub fen: Vec<u8>,
    /// How the game ended.
    pub termination: Vec<u8>,
    /// Whether it is not chess, nor Chess960.
    pub is_variant: bool,
}

impl Tags {
    /// Empties all of them and keeps their memory.
    fn clear(&mut self) {
        let Tags { any, white, black, result, fen, termination, is_variant } = self;
        (*any, *is_variant) = (false, false);
        [white, black, result, fen, termination].into_iter().for_each(Vec::clear);
    }

    /// Players and result in a few words.
    pub(crate) fn title(&self) -> String {
        let part = |text: &[u8]| text_of(&text[..text.len().min(MAX_NAME)]);
        format!("{} - {} {}", part(&self.white), part(&self.black), part(&self.result))
    }
}

/// Reads the tags of a game and stops where the moves begin.
impl Visitor for Tags {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<()> {
        self.clear();
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        self.any = true;
        let target = match name {
            b"White" => &mut self.white,
            b"Black" => &mut self.black,
            b"Result" => &mut self.result,
            b"FEN" => &mut self.fen,
            b"Termination" => &mut self.termination,
            b"Variant" => {
                self.is_variant = castling_mode_of_variant(&value.decode()).is_err();
                return ControlFlow::Continue(());
            }
            _ => return ControlFlow::Continue(()),
        };
        target.clear();
        target.extend_from_slice(&value.decode());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn end_game(&mut self, (): ()) {}
}
