//! Snapshots of a game in progress, for live views.
//!
//! The game must not wait for its viewers, nor spend time on snapshots that nobody reads. The game
//! takes a snapshot only if the last snapshot has been read, or after a move so slow that the cost
//! of a snapshot is negligible. The game does not replace a snapshot that is being read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, Chess};

use arbiter_process::lock;
use arbiter_protocol::Score;

/// Minimum duration of a move that makes the cost of a snapshot (less than 1 µs) negligible.
const SLOW: Duration = Duration::from_millis(5);

/// State of a game after its last move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameSnapshot {
    /// Index of each side's engine in the plan.
    pub engines: ByColor<usize>,
    /// Position on the board.
    pub position: Chess,
    /// Move that led to the position; `None` at the start.
    pub last: Option<UciMove>,
    /// Search results of each side's last move; `None` for a book move.
    pub searches: ByColor<Option<MoveSummary>>,
    /// Time left on each side's clock after the last move of this side; `None` without a clock.
    pub left: ByColor<Option<Duration>>,
}

/// Search results of an engine for one move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveSummary {
    /// Score from the point of view of the side that moved.
    pub score: Option<Score>,
    /// Search depth in plies.
    pub depth: Option<u32>,
    /// Time that the move took.
    pub elapsed: Duration,
}

/// Last snapshot of one game, shared by the game and its viewers.
#[derive(Debug, Default)]
pub struct LiveGame {
    is_wanted: AtomicBool,
    snapshot: Mutex<Option<GameSnapshot>>,
}

impl LiveGame {
    /// Returns whether a snapshot is due after a move that took `elapsed`.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        // Relaxed ordering suffices, because the snapshot has a lock. A request that is seen late
        // is served after the next move.
        elapsed >= SLOW || self.is_wanted.load(Ordering::Relaxed)
    }

    /// Replaces the snapshot, unless a viewer is reading it.
    pub fn update(&self, snapshot: GameSnapshot) {
        let mut last = match self.snapshot.try_lock() {
            Ok(last) => last,
            Err(TryLockError::Poisoned(last)) => last.into_inner(),
            // The game must not wait for its viewers. The flag stays set, so a snapshot is due
            // after the next move.
            Err(TryLockError::WouldBlock) => return,
        };
        *last = Some(snapshot);
        self.is_wanted.store(false, Ordering::Relaxed);
    }

    /// Returns the last snapshot, if any, and requests a new snapshot after the next move.
    pub fn snapshot(&self) -> Option<GameSnapshot> {
        self.is_wanted.store(true, Ordering::Relaxed);
        // A snapshot is replaced in one assignment, so the value is complete even if the lock is
        // poisoned.
        lock(&self.snapshot).clone()
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
            searches: ByColor::default(),
            left: ByColor::default(),
        }
    }

    #[test]
    fn each_request_makes_one_snapshot_of_a_fast_game_due() {
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
