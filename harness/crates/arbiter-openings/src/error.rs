//! Errors of opening books, with file and line.

use std::fmt::Display;

use thiserror::Error;

/// Reason why a book or one of its entries cannot be used: the location, the expected text, and the
/// text found. Files inside an archive are named `archive.zip/member.epd`; lines and games count
/// from 1.
#[derive(Debug, Error)]
#[error("{place}: {what}")]
pub struct OpeningError {
    place: String,
    what: String,
}

pub(crate) type Result<T, E = OpeningError> = std::result::Result<T, E>;

impl OpeningError {
    /// Creates an error; `place` is a file, optionally with a line.
    pub(super) fn new(place: impl Display, what: impl Display) -> OpeningError {
        OpeningError { place: place.to_string(), what: what.to_string() }
    }

    /// Creates the error for an unreadable or truncated line, or for the game that begins on the
    /// line.
    pub(super) fn unreadable(file: &str, line: u64, reason: impl Display) -> OpeningError {
        let what = format_args!("cannot read the opening book further: {reason}");
        OpeningError::new(format_args!("{file}:{line}"), what)
    }
}
