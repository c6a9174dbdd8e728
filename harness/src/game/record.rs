//! What is kept of a game.

use std::time::Duration;

use shakmaty::ByColor;

use crate::game::outcome::Outcome;
use crate::uci::score::Score;

/// One move with what its engine said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveRecord {
    /// The move in UCI notation.
    pub uci: String,
    /// Who chose it: `None` for the opening book.
    pub thought: Option<Thought>,
}

/// An engine's last word before a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Thought {
    /// Score for the side that moved.
    pub score: Option<Score>,
    /// Plies searched.
    pub depth: Option<u32>,
    /// Deepest line, in plies.
    pub seldepth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Time from the flush of `go` to the stamp of `bestmove`.
    pub elapsed: Duration,
}

/// A finished game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameRecord {
    /// Indices into the plan's engines.
    pub engines: ByColor<usize>,
    /// FEN of the start, counters included.
    pub fen: String,
    /// Whether castling is by the rules and notation of Chess960.
    pub chess960: bool,
    /// All moves from `fen`, book moves first.
    pub moves: Vec<MoveRecord>,
    /// How it ended.
    pub outcome: Outcome,
    /// Length in real time.
    pub duration: Duration,
}
