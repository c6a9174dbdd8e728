//! Messages on standard error.

use indicatif::ProgressBar;

/// A message as a terminal may show it: what commits, engines and files say in it may hold characters that a
/// terminal obeys, of which it shows the codes.
pub fn shown_message(text: &str) -> String {
    let lines = text.split('\n').map(|line| arbiter_names::shown(line.replace('\t', " ")));
    lines.collect::<Vec<_>>().join("\n")
}

/// A line on standard error, unless the user wants to hear nothing but results and errors.
pub fn note(line: &str) {
    log::info!("{line}");
}

/// The same of what a run shown as another program's has, too: a warning.
pub fn warn(line: &str) {
    log::warn!("{line}");
}

/// Whether the user wants to hear nothing but results and errors.
pub(crate) fn is_quiet() -> bool {
    !log::log_enabled!(log::Level::Info)
}

/// A bar of progress on standard error, which nobody sees who wants to hear nothing.
pub fn progress_bar(length: u64) -> ProgressBar {
    if is_quiet() { ProgressBar::hidden() } else { ProgressBar::new(length) }
}

/// An error on standard error.
pub fn complain(error: impl std::fmt::Display) {
    log::error!("{error}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hold_nothing_that_a_terminal_obeys() {
        let text = "building \u{1b}[2K\r\u{9b}1A\u{202e}it\tby\n`make`";
        let expected = "building \\u{1b}[2K\\u{d}\\u{9b}1A\\u{202e}it by\n`make`";
        assert_eq!(shown_message(text), expected);
    }
}
