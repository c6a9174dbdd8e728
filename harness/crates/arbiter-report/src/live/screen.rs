//! Lines at the bottom of a terminal that are redrawn below others that stay.
//!
//! Each ends with a line feed. Lines that are padded and left to the terminal to wrap, as
//! indicatif's are, flow into those above them as soon as the window is made wider.

use std::cell::RefCell;
use std::io::Write;

use super::length;
use crate::parts::shown_output;

/// Lines drawn on standard error.
#[derive(Default)]
pub(super) struct Screen {
    lines: RefCell<Vec<String>>,
}

impl Screen {
    /// Draws these lines in place of those before.
    pub(super) fn draw(&self, lines: Vec<String>) {
        let before = rows(&self.lines.replace(lines), size().0);
        write(&frame(before, "", &self.lines.borrow()));
    }

    /// Prints a text that stays above the lines.
    pub(super) fn print(&self, text: &str) {
        let lines = self.lines.borrow();
        write(&frame(rows(&lines, size().0), text, &lines));
    }
}

/// Returns the current columns and rows of the terminal.
pub(super) fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map_or((80, 24), |(width, height)| (width.0.into(), height.0.into()))
}

/// Returns the current number of rows of some lines: a terminal that was made narrower has wrapped
/// them.
fn rows(lines: &[String], columns: usize) -> usize {
    lines.iter().map(|line| length(line).div_ceil(columns.max(1)).max(1)).sum()
}

fn write(text: &str) {
    // The terminal may be closed. A run must not end for that reason.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Returns the output that replaces `before` rows.
fn frame(before: usize, above: &str, lines: &[String]) -> String {
    let erase = match before {
        // Terminals take a movement by zero rows for one by one row.
        0 => "\u{1b}[J".to_owned(),
        // tmux keeps in its history what is erased from the top of the screen on. Therefore the
        // first row is erased separately, and the rest from the second row on.
        _ => format!("\u{1b}[{before}F\u{1b}[K\u{1b}[E\u{1b}[J\u{1b}[F"),
    };
    let all = above.lines().chain(lines.iter().map(String::as_str));
    let all: String = all.map(|line| shown_output(line) + "\n").collect();
    format!("{erase}{all}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_replace_those_before_and_end_by_themselves() {
        let lines = ["a".to_owned(), "b".to_owned()];
        assert_eq!(frame(0, "", &lines), "\u{1b}[Ja\nb\n");
        assert_eq!(
            frame(2, "stays", &lines[..1]),
            "\u{1b}[2F\u{1b}[K\u{1b}[E\u{1b}[J\u{1b}[Fstays\na\n"
        );
        assert_eq!(frame(1, "", &[]), "\u{1b}[1F\u{1b}[K\u{1b}[E\u{1b}[J\u{1b}[F");
        let drawn = ["█".repeat(120), "a".repeat(60), String::new()];
        assert_eq!([120, 60, 30, 0].map(|columns| rows(&drawn, columns)), [3, 4, 7, 181]);
    }
}
