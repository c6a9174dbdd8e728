//! The PGN tags that ratings need.

use std::ops::ControlFlow;

use pgn_reader::{RawTag, Visitor};

/// Longest name kept, in bytes.
pub(crate) const MAX_NAME: usize = 200;

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
    fn clear(&mut self) {
        self.any = false;
        self.is_variant = false;
        for text in [
            &mut self.white,
            &mut self.black,
            &mut self.result,
            &mut self.fen,
            &mut self.termination,
        ] {
            text.clear();
        }
    }

    /// Players and result in a few words.
    pub(crate) fn title(&self) -> String {
        let part =
            |text: &[u8]| String::from_utf8_lossy(&text[..text.len().min(MAX_NAME)]).into_owned();
        format!("{} - {} {}", part(&self.white), part(&self.black), part(&self.result))
    }
}

/// Stops where the moves begin.
pub(crate) struct TagReader<'a> {
    /// Where to put the tags.
    pub tags: &'a mut Tags,
}

impl Visitor for TagReader<'_> {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<()> {
        self.tags.clear();
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        self.tags.any = true;
        let target = match name {
            b"White" => &mut self.tags.white,
            b"Black" => &mut self.tags.black,
            b"Result" => &mut self.tags.result,
            b"FEN" => &mut self.tags.fen,
            b"Termination" => &mut self.tags.termination,
            b"Variant" => {
                self.tags.is_variant = !is_chess(&value.decode());
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

fn is_chess(variant: &[u8]) -> bool {
    let letters: Vec<u8> = variant
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    matches!(
        letters.as_slice(),
        b"" | b"standard"
            | b"chess"
            | b"normal"
            | b"fromposition"
            | b"chess960"
            | b"960"
            | b"fischerandom"
            | b"fischerrandom"
            | b"frc"
            | b"dfrc"
    )
}
