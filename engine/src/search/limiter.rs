//! Limiter of one thread's search, which applies the limits of `go` and the time limits.

use super::thread_state::ThreadState;
use super::{Request, params};
use crate::eval::Score;
use crate::eval::score::mate_distance_moves;

/// Node counter and stop condition of one thread.
pub(super) struct Limiter<'a> {
    request: Request<'a>,
    thread: ThreadState<'a>,
    /// Node count at which the clock, the signals and the node limit are next checked.
    next_poll: u64,
    /// `true` if the soft time limit has passed or there is only one root move, so that a ponder
    /// search stops at `ponderhit`.
    stop_on_ponderhit: bool,
    /// Number of nodes visited by this thread.
    pub(super) nodes: u64,
    /// `true` if the search has been stopped. Scores returned after the stop are meaningless.
    pub(super) stopped: bool,
    /// `true` if the search was stopped because the node limit was reached.
    out_of_nodes: bool,
}

impl<'a> Limiter<'a> {
    /// Returns a limiter for a new search.
    pub(super) fn new(request: Request<'a>, thread: ThreadState<'a>) -> Limiter<'a> {
        // If there is a node limit, nodes must be reserved from the start, so the limiter polls at
        // the first node. Otherwise, the first poll can wait.
        let next_poll = if request.limits.nodes.is_some() { 0 } else { params::POLL_INTERVAL };
        Limiter {
            request,
            thread,
            next_poll,
            stop_on_ponderhit: false,
            nodes: 0,
            stopped: false,
            out_of_nodes: false,
        }
    }

    /// Returns whether the search must stop. The search calls this function at every node.
    #[inline]
    pub(super) fn should_stop(&mut self) -> bool {
        while self.nodes >= self.next_poll && !self.stopped {
            self.poll();
        }
        self.stopped
    }

    /// Checks the signals and, on the main thread, the clock. Reserves the nodes until the next
    /// poll.
    #[cold]
    fn poll(&mut self) {
        let Request { limits, timer, signals, .. } = self.request;
        self.thread.set_nodes(self.nodes);
        let late = self.thread.is_main()
            && (self.stop_on_ponderhit || timer.hard_limit_reached(self.thread.total_nodes()))
            && !signals.is_pondering();
        // At least one node is searched even if the time limit has passed, so that there is a move
        // to play.
        if self.nodes > 0 && (late || signals.is_stopped() || self.thread.is_stopped()) {
            self.stopped = true;
            return;
        }
        let wanted = params::POLL_INTERVAL;
        let granted = limits.nodes.map_or(wanted, |limit| self.thread.reserve_nodes(limit, wanted));
        self.next_poll += granted;
        self.out_of_nodes = granted == 0;
        self.stopped = self.out_of_nodes;
    }

    /// Ends this thread's search. The main thread also stops the other threads, unless the node
    /// limit was reached. At the node limit, each thread stops when it has used up its reserved
    /// nodes.
    pub(super) fn finish(&self) {
        self.thread.set_nodes(self.nodes);
        if self.thread.is_main() && !self.out_of_nodes {
            self.thread.stop_all();
        }
    }

    /// Returns the number of nodes visited by all threads. Only the count of this thread is up to
    /// date.
    pub(super) fn total_nodes(&self) -> u64 {
        self.thread.set_nodes(self.nodes);
        self.thread.total_nodes()
    }

    /// Returns whether the search should end after an iteration that returned `score`. `choices` is
    /// the number of root moves. The soft time limit is multiplied by `percent` / 100.
    pub(super) fn should_stop_deepening(
        &mut self,
        score: Score,
        choices: usize,
        percent: u32,
    ) -> bool {
        let Request { limits, timer, signals, .. } = self.request;
        if signals.is_stopped() || self.thread.is_stopped() {
            return true;
        }
        let mate = mate_distance_moves(score);
        if let (Some(wanted), Some(found)) = (limits.mate, mate)
            && 0 < found
            && found <= wanted as i32
        {
            self.thread.stop_all();
            return true;
        }
        if limits.soft_nodes.is_some_and(|soft| self.total_nodes() >= soft) {
            return true;
        }
        if !self.thread.is_main() || !timer.has_soft_limit() {
            return false;
        }
        self.stop_on_ponderhit =
            choices == 1 || timer.soft_limit_reached(self.total_nodes(), percent);
        self.stop_on_ponderhit && !signals.is_pondering()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::chess::{Game, Position};
    use crate::search::thread_state::SharedState;
    use crate::search::{Limits, Signals};
    use crate::time::{Budget, Timer};

    /// Calls `check` with the limiter of one of two threads.
    fn with(
        index: usize,
        limits: &Limits,
        budget: Option<Budget>,
        signals: &Signals,
        check: impl FnOnce(&mut Limiter<'_>, &SharedState),
    ) {
        let game = Game::new(Position::startpos());
        let timer = Timer::start(budget);
        let request = Request { game: &game, limits, timer: &timer, signals };
        let shared = SharedState::new(2);
        check(&mut Limiter::new(request, shared.thread(index)), &shared);
    }

    const SOFT_LIMIT_PASSED: Option<Budget> =
        Some(Budget { soft: Some(Duration::ZERO), hard: Duration::from_secs(3_600) });
    const HARD_LIMIT_PASSED: Option<Budget> = Some(Budget { soft: None, hard: Duration::ZERO });

    #[test]
    fn after_the_soft_limit_a_ponder_search_stops_at_ponderhit() {
        let signals = Signals::new(true);
        with(0, &Limits::default(), SOFT_LIMIT_PASSED, &signals, |limiter, _| {
            assert!(!limiter.should_stop_deepening(0, 20, 100));
            limiter.nodes = 100_000;
            assert!(!limiter.should_stop());
            signals.ponder_hit();
            limiter.nodes += params::POLL_INTERVAL;
            assert!(limiter.should_stop());
        });
    }

    #[test]
    fn only_the_main_thread_watches_the_clock() {
        let signals = Signals::default();
        with(0, &Limits::default(), HARD_LIMIT_PASSED, &signals, |limiter, shared| {
            assert!(!limiter.should_stop(), "at least one node is searched");
            limiter.nodes = params::POLL_INTERVAL;
            assert!(limiter.should_stop());
            assert!(!shared.thread(1).is_stopped());
            limiter.finish();
            assert!(shared.thread(1).is_stopped());
        });
        with(1, &Limits::default(), HARD_LIMIT_PASSED, &signals, |limiter, shared| {
            limiter.nodes = params::POLL_INTERVAL;
            assert!(!limiter.should_stop());
            shared.stop_all();
            limiter.nodes += params::POLL_INTERVAL;
            assert!(limiter.should_stop());
            assert_eq!(shared.nodes(), 2 * params::POLL_INTERVAL);
        });
    }

    #[test]
    fn the_node_limit_is_exact_and_does_not_stop_other_threads() {
        let limits = Limits { nodes: Some(params::POLL_INTERVAL + 7), ..Limits::default() };
        with(0, &limits, None, &Signals::default(), |limiter, shared| {
            while !limiter.should_stop() {
                limiter.nodes += 1;
            }
            assert_eq!(Some(limiter.nodes), limits.nodes);
            limiter.finish();
            assert!(!shared.thread(1).is_stopped());
        });
    }

    #[test]
    fn a_mate_found_by_any_thread_stops_all() {
        let limits = Limits { mate: Some(2), ..Limits::default() };
        with(1, &limits, None, &Signals::default(), |limiter, shared| {
            assert!(!limiter.should_stop_deepening(crate::eval::score::mate_in(5), 20, 100));
            assert!(limiter.should_stop_deepening(crate::eval::score::mate_in(3), 20, 100));
            assert!(shared.thread(0).is_stopped());
        });
    }
}
