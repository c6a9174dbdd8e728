//! State shared by the threads of one search, in addition to the transposition table.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counter that shares no cache line with other data, to avoid false sharing.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

/// State shared by the threads of one search. The number of reserved nodes is always exact, whereas
/// node counts may be out of date.
pub(super) struct SharedState {
    /// Number of nodes visited by each thread, as last reported by the thread.
    counters: Box<[Counter]>,
    /// Number of nodes that the threads have requested, including nodes beyond the node limit.
    reserved: AtomicU64,
    /// `true` if all threads must stop.
    stopped: AtomicBool,
}

impl SharedState {
    /// Returns the state of a new search with `threads` threads.
    pub(super) fn new(threads: usize) -> SharedState {
        SharedState {
            counters: (0..threads).map(|_| Counter::default()).collect(),
            reserved: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Returns one thread's access to the shared state. Thread 0 is the main thread.
    pub(super) fn thread(&self, index: usize) -> ThreadState<'_> {
        ThreadState { shared: self, index }
    }

    /// Returns the number of nodes visited by all threads, as last reported by each thread.
    pub(super) fn nodes(&self) -> u64 {
        // The counters are read one after another while the threads continue to count. The sum is
        // therefore approximate, and a stricter memory ordering would not help.
        self.counters.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
    }

    /// Stops all threads.
    pub(super) fn stop_all(&self) {
        self.stopped.store(true, Ordering::Release);
    }
}

/// Access of one thread to the shared state.
#[derive(Clone, Copy)]
pub(super) struct ThreadState<'a> {
    shared: &'a SharedState,
    index: usize,
}

impl ThreadState<'_> {
    /// Returns the index of the thread, from 0.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Returns whether this is the main thread, which watches the clock and reports.
    pub(super) fn is_main(&self) -> bool {
        self.index == 0
    }

    /// Sets the number of nodes that this thread has visited.
    pub(super) fn set_nodes(&self, nodes: u64) {
        self.shared.counters[self.index].0.store(nodes, Ordering::Relaxed);
    }

    /// Returns the number of nodes visited by all threads, as last reported by each thread.
    pub(super) fn total_nodes(&self) -> u64 {
        self.shared.nodes()
    }

    /// Reserves up to `wanted` nodes for this thread. Returns the number of reserved nodes, which
    /// is 0 after all threads together have reserved `limit` nodes.
    pub(super) fn reserve_nodes(&self, limit: u64, wanted: u64) -> u64 {
        // The single atomic operation ensures that no node is reserved by two threads. No other
        // memory depends on the counter, so relaxed ordering suffices.
        let before = self.shared.reserved.fetch_add(wanted, Ordering::Relaxed);
        limit.saturating_sub(before).min(wanted)
    }

    /// Stops all threads.
    pub(super) fn stop_all(&self) {
        self.shared.stop_all();
    }

    /// Returns whether all threads must stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_nodes_are_reserved_than_the_limit() {
        let shared = SharedState::new(2);
        let grants = [(0, 512), (1, 512), (0, 512), (1, 512)]
            .map(|(index, wanted)| shared.thread(index).reserve_nodes(1_200, wanted));
        assert_eq!(grants, [512, 512, 176, 0]);
    }

    #[test]
    fn nodes_of_all_threads_are_added_and_a_stop_reaches_all() {
        let shared = SharedState::new(3);
        shared.thread(0).set_nodes(5);
        shared.thread(2).set_nodes(70);
        shared.thread(2).set_nodes(80);
        assert_eq!(shared.nodes(), 85);
        assert!(!shared.thread(1).is_stopped());
        shared.thread(2).stop_all();
        assert!(shared.thread(0).is_stopped());
    }
}
