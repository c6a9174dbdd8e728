//! The unit of work and of evidence: a pair of games.

use crate::game::driver::GameSetup;
use crate::game::record::GameRecord;
use crate::schedule::Pairing;

/// A pair to be played.
#[derive(Debug, Clone)]
pub struct PairJob {
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// The two games, in the order of play.
    pub games: [GameSetup; 2],
}

/// A pair that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedPair {
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// The two games, in the order of play.
    pub games: [GameRecord; 2],
}
