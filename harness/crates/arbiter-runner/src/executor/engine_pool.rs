//! Pool of engines that are idle between games. If many engines take turns, as in a gauntlet,
//! starting the engines for each pair would take longer than playing a pair of short games.

use std::sync::Mutex;

use arbiter_process::lock;

/// Maximum total memory of idle engines, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Maximum number of idle engines; each engine needs pipes and a thread.
const MAX_ENGINES: usize = 64;

/// Idle engines, shared by all slots; `T` is an engine.
///
/// A full pool refuses a new engine and keeps the engines that it contains. Engines in a schedule
/// take turns, so an engine that has just played is the last to play again.
#[derive(Debug)]
pub(super) struct EnginePool<T>(Mutex<Vec<IdleEngine<T>>>);

#[derive(Debug)]
struct IdleEngine<T> {
    /// Index of the setup.
    setup: usize,
    engine: T,
    /// Number of bytes of memory that the engine used when the engine was added.
    bytes: u64,
}

impl<T> EnginePool<T> {
    /// Creates an empty pool.
    pub(super) fn new() -> EnginePool<T> {
        EnginePool(Mutex::new(Vec::new()))
    }

    /// Adds an engine that uses `bytes` of memory; returns the engine if the pool is full.
    pub(super) fn put(&self, setup: usize, engine: T, bytes: u64) -> Result<(), T> {
        let mut idle = lock(&self.0);
        let used: u64 = idle.iter().map(|idle| idle.bytes).sum();
        if idle.len() >= MAX_ENGINES || used.saturating_add(bytes) > MAX_BYTES {
            return Err(engine);
        }
        idle.push(IdleEngine { setup, engine, bytes });
        Ok(())
    }

    /// Removes and returns the most recently added engine with this setup, if any.
    pub(super) fn take(&self, setup: usize) -> Option<T> {
        let mut idle = lock(&self.0);
        let place = idle.iter().rposition(|idle| idle.setup == setup)?;
        Some(idle.remove(place).engine)
    }

    /// Removes and returns all engines.
    pub(super) fn drain(&self) -> Vec<T> {
        lock(&self.0).drain(..).map(|idle| idle.engine).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_stay_until_they_are_taken() {
        let pool = EnginePool::new();
        assert_eq!(pool.take(3), None);
        assert_eq!(pool.put(3, "a", 10), Ok(()));
        assert_eq!(pool.put(3, "b", 10), Ok(()));
        assert_eq!(pool.take(4), None);
        assert_eq!(pool.take(3), Some("b"));
        assert_eq!(pool.drain(), ["a"]);
        assert_eq!(pool.take(3), None);
    }

    #[test]
    fn memory_and_number_of_engines_are_limited() {
        let pool = EnginePool::new();
        assert_eq!(pool.put(0, 0, MAX_BYTES - 5), Ok(()));
        assert_eq!(pool.put(1, 1, 6), Err(1));
        assert_eq!(pool.put(1, 1, 5), Ok(()));
        assert_eq!(pool.take(0), Some(0));
        assert_eq!(pool.put(2, 2, 6), Ok(()));
        let pool = EnginePool::new();
        (0..MAX_ENGINES).for_each(|setup| assert_eq!(pool.put(setup, setup, 0), Ok(())));
        assert_eq!(pool.put(0, 99, 0), Err(99));
        assert_eq!(pool.drain().len(), MAX_ENGINES);
        assert_eq!(pool.put(0, 99, 0), Ok(()));
    }
}
