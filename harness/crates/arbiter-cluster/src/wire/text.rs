//! Texts as strangers send them.

use std::convert::Infallible;

use serde_with::serde_conv;

use super::{WireError, invalid};
use crate::subject;

/// Longest name of a worker, in bytes.
const MAX_NAME: usize = 64;

/// Longest text that is shown, in characters.
const MAX_TEXT: usize = 300;

serde_conv!(
    /// A text, of which the beginning is kept, fit to be shown and stored.
    pub(super) Text,
    String,
    String::as_str,
    |text: String| Ok::<_, Infallible>(printable(&text))
);

serde_conv!(
    /// What stands for a run.
    pub(super) Token,
    String,
    String::as_str,
    |text: String| if subject::is_token(&text) { Ok(text) } else { Err("no token of a run") }
);

serde_conv!(
    /// A blake3 hash: 64 hexadecimal digits.
    pub(super) Hash,
    String,
    String::as_str,
    |text: String| if is_hash(&text) { Ok(text) } else { Err("no hash of a program") }
);

pub(super) fn printable(text: &str) -> String {
    arbiter_game::outcome::printable(text, MAX_TEXT)
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Whether a text can be the name of a worker. It is part of subjects, in which dots stand between
/// words.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(plain);
    name.len() <= MAX_NAME && name.split('.').all(is_word)
}

/// The name of a worker, which is part of the subject of its messages.
pub(super) fn checked_name(name: &str) -> Result<String, WireError> {
    if is_name(name) {
        Ok(name.to_owned())
    } else {
        Err(invalid("a name of a worker that is none"))
    }
}
