//! Lines that are redrawn at the bottom of a terminal, below permanent output.
//!
//! Each line ends with a line feed. Padding to the width of the terminal, as in indicatif, would be
//! wrong: in a wider window, the drawn lines would be joined with earlier output.

use std::cell::RefCell;
use std::io::Write;

use super::length;
use crate::parts::shown_output;

/// Lines that are currently drawn on standard error.
#[derive(Default)]
pub(super) struct Screen {
    lines: RefCell<Vec<String>>,
}

impl Screen {
    /// Replaces the drawn lines with `lines`.
    pub(super) fn draw(&self, lines: Vec<String>) {
        let before = rows(&self.lines.replace(lines), size().0);
        write(&frame(before, "", &self.lines.borrow()));
    }

    /// Prints permanent text above the drawn lines.
    pub(super) fn print(&self, text: &str) {
        let lines = self.lines.borrow();
        write(&frame(rows(&lines, size().0), text, &lines));
    }
}

/// Returns the current numbers of columns and rows of the terminal; 80 and 24 if the size is
/// unknown.
pub(super) fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map_or((80, 24), |(width, height)| (width.0.into(), height.0.into()))
}

/// Returns the number of terminal rows that the lines occupy. A terminal that becomes narrower
/// wraps long lines.
fn rows(lines: &[String], columns: usize) -> usize {
    lines.iter().map(|line| length(line).div_ceil(columns.max(1)).max(1)).sum()
}

fn write(text: &str) {
    // Writing fails if the terminal has been closed. A closed terminal must not end the run, so the
    // error is ignored.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Returns the output that replaces the last `before` rows with the text `above`, followed by
/// `lines`.
fn frame(before: usize, above: &str, lines: &[String]) -> String {
    let erase = match before {
        // Terminals move the cursor by one row even if the number of rows in the control sequence
        // is 0.
        0 => "\u{1b}[J".to_owned(),
        // tmux saves erased rows to its history if the erasure begins at the top of the screen.
        // Therefore the first row is erased separately, and the erasure of the remaining rows
        // begins at the second row.
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
    fn lines_replace_earlier_lines_and_end_with_a_line_feed() {
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
