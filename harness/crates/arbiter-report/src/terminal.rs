//! Messages on standard error.

use indicatif::ProgressBar;

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
