//! Colours of text in a terminal. Formatted text always contains colour codes; if colours are
//! unwanted, the function that prints the text removes the codes.

use anstyle::{AnsiColor, Color, Style};

use super::terminal::shown_output;

/// Style of the name of a value.
pub(crate) const LABEL_STYLE: Style = Style::new().bold();

/// Style of a good verdict.
pub(crate) const GOOD_STYLE: Style = coloured(AnsiColor::Green);

/// Style of a bad verdict or an error.
pub const BAD_STYLE: Style = coloured(AnsiColor::Red);

/// Style of an open verdict.
pub(crate) const OPEN_STYLE: Style = coloured(AnsiColor::Yellow);

const fn coloured(color: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(Color::Ansi(color)))
}

/// Formats text with a style, and escapes hidden characters in the text.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{}{style:#}", shown_output(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_ends_with_its_text() {
        assert_eq!(styled(GOOD_STYLE, "H1"), "\u{1b}[1m\u{1b}[32mH1\u{1b}[0m");
    }
}
