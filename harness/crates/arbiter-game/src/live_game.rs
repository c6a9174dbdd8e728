//! Snapshots of a game in progress, for live views.
//!
//! The game must not wait for its viewers, nor spend time on snapshots that nobody reads. It takes
//! a snapshot only if the last one was read, or after a move so slow that the cost makes no
//! difference; and it skips one while the last is being read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, Chess};

use arbiter_protocol::Score;

/// Duration of a move after which the fraction of a microsecond for a snapshot is negligible.
const SLOW: Duration = Duration::from_millis(5);

/// State of a game after its last move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameSnapshot {
    /// Indices into the plan's engines.
    pub engines: ByColor<usize>,
    /// The position.
    pub position: Chess,
    /// Move that led to the position.
    pub last: Option<UciMove>,
    /// Search results of each engine for its last move; `None` for the book.
    pub thoughts: ByColor<Option<MoveSummary>>,
    /// Time left on each clock after its last move.
    pub left: ByColor<Option<Duration>>,
}

/// Search results of an engine for its last move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveSummary {
    /// Score for the side that moved.
    pub score: Option<Score>,
    /// Plies searched.
    pub depth: Option<u32>,
    /// Time that the move took.
    pub elapsed: Duration,
}

/// Holder of the last snapshot of one game.
#[derive(Debug, Default)]
pub struct LiveGame {
    is_wanted: AtomicBool,
    snapshot: Mutex<Option<GameSnapshot>>,
}

impl LiveGame {
    /// Returns whether to take a snapshot after a move that took `elapsed`.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        // The flag orders no other memory, as the snapshot has a lock. A request that is seen late
        // is served after the next move.
        elapsed >= SLOW || self.is_wanted.load(Ordering::Relaxed)
    }

    /// Replaces the snapshot, unless somebody is reading it right now.
    pub fn update(&self, snapshot: GameSnapshot) {
        let mut last = match self.snapshot.try_lock() {
            Ok(last) => last,
            Err(TryLockError::Poisoned(last)) => last.into_inner(),
            // The game must not wait for its viewers. The flag stays set, so that the next move is
            // due.
            Err(TryLockError::WouldBlock) => return,
        };
        *last = Some(snapshot);
        self.is_wanted.store(false, Ordering::Relaxed);
    }

    /// Returns the last snapshot, if there is one. Makes the next one due.
    pub fn snapshot(&self) -> Option<GameSnapshot> {
        self.is_wanted.store(true, Ordering::Relaxed);
        // A snapshot is replaced as a whole, so that a panic elsewhere leaves nothing half done.
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(last: &str) -> GameSnapshot {
        GameSnapshot {
            engines: ByColor { white: 0, black: 1 },
            position: Chess::default(),
            last: last.parse().ok(),
            thoughts: ByColor::default(),
            left: ByColor::default(),
        }
    }

    #[test]
    fn each_look_at_a_fast_game_gets_one_snapshot() {
        let live_game = LiveGame::default();
        let quick = Duration::from_micros(30);
        assert!(!live_game.is_due(quick) && live_game.is_due(SLOW));
        assert_eq!(live_game.snapshot(), None);
        assert!(live_game.is_due(quick));
        live_game.update(snapshot("e2e4"));
        assert!(!live_game.is_due(quick));
        assert_eq!(live_game.snapshot(), Some(snapshot("e2e4")));
        assert!(live_game.is_due(quick));
    }

    #[test]
    fn a_game_does_not_wait_for_viewers() {
        let live_game = LiveGame::default();
        live_game.update(snapshot("e2e4"));
        let looking = live_game.snapshot.lock().unwrap();
        live_game.update(snapshot("e7e5"));
        drop(looking);
        assert_eq!(live_game.snapshot(), Some(snapshot("e2e4")));
    }
}
