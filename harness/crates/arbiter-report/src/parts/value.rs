//! JSON values that several reports share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use arbiter_stats::Trinomial;
use arbiter_stats::elo::Estimate;

/// Serializes a report as a JSON value.
pub fn to_value(report: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(report).expect("a report is numbers and text")
}

/// Returns the value, the lower end and the upper end of an estimate for JSON. The ends of an
/// interval without width are omitted, because an interval without width means only that all pairs
/// had the same result.
pub fn ends(estimate: Option<Estimate>) -> [Option<f64>; 3] {
    let Some(Estimate { value, low, high }) = estimate else { return [None; 3] };
    // Adding 0 converts −0 to 0. An infinity becomes null, because JSON has no infinities.
    let end = |end| (low != high).then_some(end + 0.0);
    [Some(value + 0.0), end(low), end(high)]
}

/// Games by result, from the point of view of one side.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GamesByResult {
    /// Number of games.
    pub(crate) games: u64,
    /// Number of games won.
    wins: u64,
    /// Number of games drawn.
    draws: u64,
    /// Number of games lost.
    losses: u64,
}

impl From<Trinomial> for GamesByResult {
    fn from(games: Trinomial) -> GamesByResult {
        let Trinomial { wins, draws, losses } = games;
        GamesByResult { games: games.games(), wins, draws, losses }
    }
}
