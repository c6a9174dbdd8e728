//! Strings from other machines.

use serde_with::serde_conv;

use super::{WireError, invalid};

/// Maximum length of the name of a worker, in bytes.
const MAX_NAME: usize = 64;

serde_conv!(
    /// The name of a worker.
    pub(super) WorkerName,
    String,
    String::as_str,
    |name: String| checked_name(&name)
);

/// Returns whether a string is a valid name of a worker. A name consists of words of ASCII letters,
/// digits, `_` and `-`, separated by dots, so that the name can be part of a subject.
pub fn is_worker_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(plain);
    name.len() <= MAX_NAME && name.split('.').all(is_word)
}

pub(super) fn checked_name(name: &str) -> Result<String, WireError> {
    let invalid = || invalid("an invalid worker name");
    is_worker_name(name).then(|| name.to_owned()).ok_or_else(invalid)
}
