//! Texts that come from other machines, as conversions for `#[serde(with)]`.

use std::convert::Infallible;

use serde_with::serde_conv;

use crate::outcome::printable;

/// Longest text of another machine that is shown or stored, in characters.
pub const MAX_TEXT: usize = 300;

/// Longest description of the end of a game, in characters.
const MAX_DETAIL: usize = 1_000;

serde_conv!(
    /// A text that is shown or stored: its beginning, without control characters.
    pub Text,
    String,
    String::as_str,
    |text: String| Ok::<_, Infallible>(printable(&text, MAX_TEXT))
);

serde_conv!(
    /// How a game ended, as a sentence.
    pub(crate) Detail,
    String,
    String::as_str,
    |text: String| Ok::<_, Infallible>(printable(&text, MAX_DETAIL))
);
