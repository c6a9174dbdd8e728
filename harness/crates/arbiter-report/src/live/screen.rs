//! Lines at the bottom of a terminal that are drawn again and again, below others that stay.
//!
//! Each ends with a line feed. Lines that are padded and left to the terminal to wrap, as indicatif's
//! are, flow into those above them as soon as the window is made wider.

use std::cell::RefCell;
use std::io::Write;

/// Erases the line of the cursor and all below.
const ERASE: &str = "\u{1b}[J";

/// What is drawn on standard error.
#[derive(Default)]
pub(super) struct Screen {
    lines: RefCell<Vec<String>>,
}

impl Screen {
    /// Draws these lines in the place of those before.
    pub(super) fn draw(&self, lines: Vec<String>) {
        let before = self.lines.replace(lines).len();
        write(&frame(before, "", &self.lines.borrow()));
    }

    /// Prints a text that stays above the lines.
    pub(super) fn print(&self, text: &str) {
        let lines = self.lines.borrow();
        write(&frame(lines.len(), text, &lines));
    }
}

fn write(text: &str) {
    // A terminal that went away must not end a run.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// What replaces so many lines.
fn frame(before: usize, above: &str, lines: &[String]) -> String {
    // None would be taken for one.
    let up = if before > 0 { format!("\u{1b}[{before}F") } else { String::new() };
    let all = above.lines().chain(lines.iter().map(String::as_str));
    let all: String = all.map(|line| format!("{line}\n")).collect();
    format!("{up}{ERASE}{all}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_replace_those_before_and_end_by_themselves() {
        let lines = ["a".to_owned(), "b".to_owned()];
        assert_eq!(frame(0, "", &lines), "\u{1b}[Ja\nb\n");
        assert_eq!(frame(2, "stays", &lines[..1]), "\u{1b}[2F\u{1b}[Jstays\na\n");
        assert_eq!(frame(1, "", &[]), "\u{1b}[1F\u{1b}[J");
    }
}
