//! Locking of mutexes regardless of panics in other threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if it is poisoned. Use this function only for data that a panic cannot leave
/// partly changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
