//! Messages on standard error.

use std::borrow::Cow;

use indicatif::ProgressBar;

/// What stands for signs that a terminal without UTF-8 cannot show.
const ASCII: [(&str, &str); 25] = [
    ("─", "-"),
    ("│", "|"),
    ("┌", "+"),
    ("┬", "+"),
    ("┐", "+"),
    ("├", "+"),
    ("┼", "+"),
    ("┤", "+"),
    ("└", "+"),
    ("┴", "+"),
    ("┘", "+"),
    ("█", "#"),
    ("░", "."),
    ("·", "-"),
    ("–", "-"),
    ("−", "-"),
    ("…", "~"),
    ("±", "+-"),
    ("×", "x"),
    ("µ", "u"),
    ("½", "1/2"),
    ("≥", ">="),
    ("≤", "<="),
    ("✅", "ok:"),
    ("❌", "not ok:"),
];

/// A text as it can be shown in the locale of the user.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    match is_utf8() || text.is_ascii() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(in_ascii(text)),
    }
}

/// A message as a terminal may show it: what commits, engines and files say in it may hold characters that a
/// terminal obeys, of which it shows the codes.
pub fn shown_message(text: &str) -> String {
    let lines = text.split('\n').map(|line| arbiter_names::shown(line.replace('\t', " ")));
    let text = lines.collect::<Vec<_>>().join("\n");
    shown(&text).into_owned()
}

/// Whether the locale has UTF-8, as it most likely has where nothing is said.
fn is_utf8() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let locale = set.into_iter().find(|locale| !locale.is_empty());
    locale.is_none_or(|locale| {
        locale.to_string_lossy().to_lowercase().replace('-', "").contains("utf8")
    })
}

fn in_ascii(text: &str) -> String {
    ASCII.iter().fold(text.to_owned(), |text, (sign, ascii)| text.replace(sign, ascii))
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

    #[test]
    fn what_is_drawn_has_a_form_in_ascii() {
        assert_eq!(in_ascii("│ +4.1 ± 5.3 ░█ é"), "| +4.1 +- 5.3 .# é");
    }
}
