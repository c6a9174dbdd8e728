//! Texts as programs write them, with what must be read of them.

use std::fmt::Write as _;

use super::*;
use std::ops::ControlFlow;

/// All that is read of a game, in a line.
#[derive(Default)]
struct Told(String);

impl GameVisitor for Told {
    fn begin(&mut self, tags: &Tags) -> ControlFlow<()> {
        self.0.clear();
        let tags = [&tags.white, &tags.black, &tags.result, &tags.fen].map(|tag| text_of(tag));
        for tag in tags.iter().filter(|tag| !tag.is_empty()) {
            let _ = write!(self.0, "[{tag}] ");
        }
        ControlFlow::Continue(())
    }

    fn san(&mut self, san: San) -> ControlFlow<()> {
        let _ = write!(self.0, "{san} ");
        ControlFlow::Continue(())
    }

    fn unknown(&mut self, word: &[u8]) -> ControlFlow<()> {
        let _ = write!(self.0, "?{} ", String::from_utf8_lossy(word));
        ControlFlow::Continue(())
    }

    fn comment(&mut self, comment: &[u8]) {
        let _ = match comment.len() {
            0..60 => write!(self.0, "{{{}}} ", text_of(comment)),
            length => write!(self.0, "{{{length}}} "),
        };
    }

    fn outcome(&mut self, outcome: Outcome) {
        let _ = write!(self.0, "{outcome} ");
    }
}

/// All games of a text, a line each, with the lines that they take.
fn told(text: impl AsRef<[u8]>) -> String {
    let mut games = String::new();
    let mut lines_before = 0;
    for block in Blocks::new(text.as_ref()) {
        let block = block.expect("memory can be read");
        let text = Text::new(&block);
        let mut reader = Games::new(&text);
        let mut told = Told::default();
        while reader.read(&mut told) {
            let Lines { first, last } = reader.lines();
            let lines = (first + lines_before + 1, last + lines_before + 1);
            let _ = writeln!(games, "{}-{}: {}", lines.0, lines.1, told.0.trim_end());
        }
        lines_before += reader.lines().last;
    }
    games
}

#[test]
fn smoke() {
    for t in ["1. e4 {Best by test} e5 (1... c5 (1... d5) 2. Nc3) 2. Nf3$1 Nc6!? $12 *", "1. e4 e5\n\n2. Nf3 Nc6 1-0\n\n1. d4 *"] {
        println!("{}", told(t));
    }
}
