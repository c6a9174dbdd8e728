//! Forms in which the positions of a suite are sent to workers and engines.

use serde_with::serde_conv;

use arbiter_position::Start;
use arbiter_protocol::{Game, Limits};

serde_conv!(
    /// FEN of a position, and `true` if the position has the castling mode of Chess960.
    pub(crate) FenAndRules,
    Start,
    |start: &Start| (start.fen(), start.is_chess960()),
    |(fen, is_chess960): (String, bool)| Start::read(&fen, is_chess960)
);

/// Returns a game that starts from the position and has no time control or other limits.
pub(crate) fn game(start: &Start) -> Game<'_> {
    Game { start: &start.position, mode: start.mode, limits: Limits::default(), settings: &[] }
}
