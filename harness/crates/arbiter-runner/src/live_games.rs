//! Games in progress on this machine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arbiter_game::live_game::{GameSnapshot, LiveGame};
use arbiter_process::lock;

/// Number of a pair, and index of a game in the pair, counted from 0.
pub type GameId = (u64, usize);

/// List of the games in progress, ordered by ID; clones share the list.
#[derive(Debug, Clone, Default)]
pub struct LiveGames(Arc<Mutex<BTreeMap<GameId, Arc<LiveGame>>>>);

/// Entry of a game in the list; dropping the entry removes the game from the list.
#[derive(Debug)]
pub struct LiveGameGuard {
    live_games: LiveGames,
    id: GameId,
    /// Object through which the game shares its snapshots.
    pub live_game: Arc<LiveGame>,
}

impl LiveGames {
    /// Adds a game to the list.
    pub fn add(&self, id: GameId) -> LiveGameGuard {
        let live_game = Arc::new(LiveGame::default());
        lock(&self.0).insert(id, live_game.clone());
        LiveGameGuard { live_games: self.clone(), id, live_game }
    }

    /// Returns snapshots of the first `limit` games, and the total number of games. Games without a
    /// snapshot are counted but not returned.
    pub fn snapshots(&self, limit: usize) -> (Vec<(GameId, GameSnapshot)>, usize) {
        let games = lock(&self.0);
        let count = games.len();
        let first: Vec<_> =
            games.iter().take(limit).map(|(id, game)| (*id, game.clone())).collect();
        // The lock is released before snapshots are copied, so that games can start and end during
        // the copy.
        drop(games);
        let snapshots = first.into_iter().filter_map(|(id, game)| Some((id, game.snapshot()?)));
        (snapshots.collect(), count)
    }
}

impl Drop for LiveGameGuard {
    fn drop(&mut self) {
        lock(&self.live_games.0).remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{ByColor, Chess};

    use super::*;

    #[test]
    fn games_are_listed_while_they_are_in_progress() {
        let live_games = LiveGames::default();
        let snapshot = GameSnapshot {
            engines: ByColor { white: 0, black: 1 },
            position: Chess::default(),
            last: None,
            searches: ByColor::default(),
            left: ByColor::default(),
        };
        let listed: Vec<_> = (0..3).map(|pair| live_games.add((pair, 0))).collect();
        assert_eq!(live_games.snapshots(9), (vec![], 3));
        listed.iter().skip(1).for_each(|listed| listed.live_game.update(snapshot.clone()));
        let (seen, count) = live_games.clone().snapshots(2);
        assert_eq!((seen.len(), seen[0].0, count), (1, (1, 0), 3));
        drop(listed);
        assert_eq!(live_games.snapshots(9), (vec![], 0));
    }
}
