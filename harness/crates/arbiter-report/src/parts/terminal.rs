//! Output for terminals: messages, and formatted reports with their colours. Formatted text always
//! contains colour codes; if colours are unwanted, the function that prints the text removes the
//! codes.

use std::io::{ErrorKind, Write};

use anstyle::{AnsiColor, Color, Style};
use arbiter_names::is_hidden;
use indicatif::ProgressBar;

/// Control codes that are allowed in all results: line endings and tabs.
const HARMLESS: [&str; 3] = ["\n", "\t", "\r\n"];

/// Codes of Arbiter's styles, which are allowed only in reports.
const STYLES: [&str; 5] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

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

/// Escapes a message for a terminal, because text from commits, engines and files may contain
/// characters that a terminal would interpret. Indents lines that look like an error of Arbiter.
pub fn shown_message(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let indent = if line.starts_with("error:") { "  " } else { "" };
        arbiter_names::shown(format!("{indent}{}", line.replace('\t', " ")))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Escapes a result in any format. Hidden characters become escapes such as `\u001b`, except line
/// endings and tabs. JSON parsers decode the escapes.
pub(crate) fn shown_output(text: &str) -> String {
    shown_except(text, &[])
}

/// Escapes a result except for the codes in `allowed`.
fn shown_except(text: &str, allowed: &[&str]) -> String {
    let is_allowed = |rest: &str| HARMLESS.iter().chain(allowed).any(|code| rest.starts_with(code));
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if is_hidden(c) && !is_allowed(&text[at..]) {
            // JSON has a pair of escapes for a character beyond 16 bits.
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            units.iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Prints a result on standard output, with hidden characters escaped. It is not an error if the
/// reader of a pipe, such as `head`, closes the pipe early.
///
/// # Errors
///
/// Returns a message if the result cannot be written.
pub fn print_result(text: &str) -> Result<(), String> {
    write_result(&shown_output(text))
}

/// Prints a report as [`print_result`] does, but keeps the codes of Arbiter's styles. The functions
/// that format documents, tables and rows have escaped all other codes.
///
/// # Errors
///
/// Returns a message if the report cannot be written.
pub fn print_report(text: &str) -> Result<(), String> {
    write_result(&shown_except(text, &STYLES))
}

fn write_result(text: &str) -> Result<(), String> {
    // anstream removes unwanted colour codes, for example if standard output is a file.
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(format!("cannot write the result: {error}"))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error, unless the user requested only results and errors.
pub fn note(line: &str) {
    log::info!("{line}");
}

/// Writes a warning to standard error, even if the run imitates the output of another program.
pub fn log_warn(line: &str) {
    log::warn!("{line}");
}

/// Returns `true` if the user requested only results and errors.
pub(crate) fn is_quiet() -> bool {
    !log::log_enabled!(log::Level::Info)
}

/// Returns a progress bar on standard error. The bar is hidden if the user requested only results
/// and errors.
pub fn progress_bar(length: u64) -> ProgressBar {
    if is_quiet() { ProgressBar::hidden() } else { ProgressBar::new(length) }
}

/// Writes an error to standard error.
pub fn log_error(error: impl std::fmt::Display) {
    log::error!("{error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_ends_with_its_text() {
        assert_eq!(styled(GOOD_STYLE, "H1"), "\u{1b}[1m\u{1b}[32mH1\u{1b}[0m");
    }

    #[test]
    fn messages_contain_no_control_codes() {
        let text = "building \u{1b}[2K\r\u{9b}1A\u{202e}it\tby\n`make`\nerror: forged";
        let expected = "building \\u{1b}[2K\\u{d}\\u{9b}1A\\u{202e}it by\n`make`\n  error: forged";
        assert_eq!(shown_message(text), expected);
    }

    #[test]
    fn results_contain_no_control_codes() {
        let text = "\u{1b}[32m\ta\r\nb\rc \u{1b}[8m\u{9b}1A\u{202e}\u{7f}\u{fffe}ü\n";
        let expected = "\\u001b[32m\ta\r\nb\\u000dc \\u001b[8m\\u009b1A\\u202e\\u007f\\ufffeü\n";
        assert_eq!(shown_output(text), expected);
        let json = serde_json::json!({ "a": "\u{202e}\u{85}\u{1b}\u{e0041}" });
        let read: serde_json::Value =
            serde_json::from_str(&shown_output(&json.to_string())).unwrap();
        assert_eq!(read, json);
    }
}
