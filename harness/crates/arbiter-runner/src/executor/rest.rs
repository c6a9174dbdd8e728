//! Engines between their games. Where many engines take turns, as in a gauntlet, to start one for
//! each pair would cost more than short games do, so those that behave wait here for their next.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory that resting engines may hold together.
const MAX_BYTES: u64 = 1 << 30;

/// Resting engines at most; each holds pipes and two threads.
const MAX_GUESTS: usize = 64;

/// Where engines wait, shared by all slots; `T` is an engine.
///
/// When it is full, the newcomer has to go and not the one that has waited longest: engines of a
/// schedule come round in turn, so whoever left last is the one whose turn is farthest.
#[derive(Debug)]
pub(super) struct Rest<T>(Mutex<Guests<T>>);

#[derive(Debug)]
struct Guests<T> {
    /// By index of the seat; each with the memory it held when it came.
    waiting: BTreeMap<usize, Vec<(T, u64)>>,
    bytes: u64,
    count: usize,
}

impl<T> Rest<T> {
    /// Nobody rests.
    pub(super) fn new() -> Rest<T> {
        Rest(Mutex::new(Guests { waiting: BTreeMap::new(), bytes: 0, count: 0 }))
    }

    /// Lets an engine of a seat rest, which holds so much memory; hands it back if there is no
    /// room.
    pub(super) fn enter(&self, seat: usize, engine: T, bytes: u64) -> Result<(), T> {
        let mut guests = self.guests();
        if guests.count >= MAX_GUESTS || guests.bytes.saturating_add(bytes) > MAX_BYTES {
            return Err(engine);
        }
        guests.count += 1;
        guests.bytes += bytes;
        guests.waiting.entry(seat).or_default().push((engine, bytes));
        Ok(())
    }

    /// An engine of a seat, if one rests.
    pub(super) fn call(&self, seat: usize) -> Option<T> {
        let mut guests = self.guests();
        let (engine, bytes) = guests.waiting.get_mut(&seat)?.pop()?;
        guests.count -= 1;
        guests.bytes -= bytes;
        Some(engine)
    }

    /// Everybody.
    pub(super) fn leave_all(&self) -> Vec<T> {
        let mut guests = self.guests();
        guests.count = 0;
        guests.bytes = 0;
        let waiting = std::mem::take(&mut guests.waiting);
        waiting.into_values().flatten().map(|(engine, _)| engine).collect()
    }

    fn guests(&self) -> MutexGuard<'_, Guests<T>> {
        // Nothing in here can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_rest_until_they_are_called() {
        let rest = Rest::new();
        assert_eq!(rest.call(3), None);
        assert_eq!(rest.enter(3, "a", 10), Ok(()));
        assert_eq!(rest.enter(3, "b", 10), Ok(()));
        assert_eq!(rest.call(4), None);
        assert_eq!(rest.call(3), Some("b"));
        assert_eq!(rest.leave_all(), ["a"]);
        assert_eq!(rest.call(3), None);
    }

    #[test]
    fn room_is_bounded_and_comes_free_again() {
        let rest = Rest::new();
        assert_eq!(rest.enter(0, 0, MAX_BYTES - 5), Ok(()));
        assert_eq!(rest.enter(1, 1, 6), Err(1));
        assert_eq!(rest.enter(1, 1, 5), Ok(()));
        assert_eq!(rest.call(0), Some(0));
        assert_eq!(rest.enter(2, 2, 6), Ok(()));
        let rest = Rest::new();
        (0..MAX_GUESTS).for_each(|seat| assert_eq!(rest.enter(seat, seat, 0), Ok(())));
        assert_eq!(rest.enter(0, 99, 0), Err(99));
        assert_eq!(rest.leave_all().len(), MAX_GUESTS);
        assert_eq!(rest.enter(0, 99, 0), Ok(()));
    }
}
