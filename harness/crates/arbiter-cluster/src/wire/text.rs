//! Texts of other machines.

use serde_with::serde_conv;

use super::{WireError, invalid};

/// Length of the longest name of a worker, in bytes.
const MAX_NAME: usize = 64;

serde_conv!(
    /// The name of a worker.
    pub(super) WorkerName,
    String,
    String::as_str,
    |name: String| checked_name(&name)
);

/// Returns whether a text can be the name of a worker: words of letters, digits, `_` and `-` with
/// dots between them, so that it can be part of a subject.
pub fn is_worker_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(plain);
    name.len() <= MAX_NAME && name.split('.').all(is_word)
}

pub(super) fn checked_name(name: &str) -> Result<String, WireError> {
    let invalid = || invalid("an invalid worker name");
    is_worker_name(name).then(|| name.to_owned()).ok_or_else(invalid)
}
