//! A game in progress as onlookers see it.
//!
//! The game must not wait for them, nor do more than they can take in. So it shows itself only when
//! somebody has looked since it did so last, or when a move took so long that it makes no
//! difference; and what cannot be shown at once is not shown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, Chess};

use arbiter_protocol::uci::score::Score;

/// Beside a move that took so long, the fraction of a microsecond that showing it takes is nothing.
const SLOW: Duration = Duration::from_millis(5);

/// What there is to see of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scene {
    /// Indices into the plan's engines.
    pub engines: ByColor<usize>,
    /// The position.
    pub position: Chess,
    /// The move that led to it.
    pub last: Option<UciMove>,
    /// What each side thought of its last move; `None` for the book.
    pub thoughts: ByColor<Option<Glimpse>>,
    /// Time left on each clock after its last move.
    pub left: ByColor<Option<Duration>>,
}

/// What an engine said of its last move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glimpse {
    /// Score for the side that moved.
    pub score: Option<Score>,
    /// Plies searched.
    pub depth: Option<u32>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Through which one game is seen.
#[derive(Debug, Default)]
pub struct Pane {
    is_wanted: AtomicBool,
    scene: Mutex<Option<Scene>>,
}

impl Pane {
    /// Whether to show how the game stands after a move that took so long.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        elapsed >= SLOW || self.is_wanted.load(Ordering::Relaxed)
    }

    /// Shows it, unless somebody is looking right now.
    pub fn show(&self, scene: Scene) {
        let mut shown = match self.scene.try_lock() {
            Ok(shown) => shown,
            Err(TryLockError::Poisoned(shown)) => shown.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        *shown = Some(scene);
        self.is_wanted.store(false, Ordering::Relaxed);
    }

    /// What was shown last, and asks for what comes next.
    pub fn look(&self) -> Option<Scene> {
        self.is_wanted.store(true, Ordering::Relaxed);
        // A scene is replaced as a whole, so that a panic elsewhere leaves nothing half done.
        self.scene.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(last: &str) -> Scene {
        Scene {
            engines: ByColor { white: 0, black: 1 },
            position: Chess::default(),
            last: last.parse().ok(),
            thoughts: ByColor::default(),
            left: ByColor::default(),
        }
    }

    #[test]
    fn a_quick_game_shows_itself_once_for_each_look() {
        let pane = Pane::default();
        let quick = Duration::from_micros(30);
        assert!(!pane.is_due(quick) && pane.is_due(SLOW));
        assert_eq!(pane.look(), None);
        assert!(pane.is_due(quick));
        pane.show(scene("e2e4"));
        assert!(!pane.is_due(quick));
        assert_eq!(pane.look(), Some(scene("e2e4")));
        assert!(pane.is_due(quick));
    }

    #[test]
    fn a_game_does_not_wait_for_those_who_look() {
        let pane = Pane::default();
        pane.show(scene("e2e4"));
        let looking = pane.scene.lock().unwrap();
        pane.show(scene("e7e5"));
        drop(looking);
        assert_eq!(pane.look(), Some(scene("e2e4")));
    }
}
