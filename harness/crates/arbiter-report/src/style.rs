//! Colours of text for a terminal. Text has them always; whoever prints it takes them out where they
//! are not wanted.

use anstyle::{AnsiColor, Color, Style};

/// What a value is called.
pub(crate) const LABEL_STYLE: Style = Style::new().bold();

/// A verdict that is good news.
pub(crate) const GOOD_STYLE: Style = coloured(AnsiColor::Green);

/// A verdict that is bad news, or an error.
pub const BAD_STYLE: Style = coloured(AnsiColor::Red);

/// A verdict that is none.
pub(crate) const OPEN_STYLE: Style = coloured(AnsiColor::Yellow);

const fn coloured(color: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(Color::Ansi(color)))
}

/// Text in a style.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_ends_with_its_text() {
        assert_eq!(styled(GOOD_STYLE, "H1"), "\u{1b}[1m\u{1b}[32mH1\u{1b}[0m");
    }
}
