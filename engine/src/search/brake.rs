//! When a search must end, and when it may.

use super::{Finding, Request, params};
use crate::chess::Move;
use crate::eval::Score;
use crate::eval::score::mate_distance_moves;

/// Counts positions and says when to stop.
pub(super) struct Brake<'a> {
    request: Request<'a>,
    next_poll: u64,
    /// Positions visited.
    pub(super) nodes: u64,
    /// Is the search being broken off?
    pub(super) stopped: bool,
}

impl<'a> Brake<'a> {
    /// The brake of a search that begins.
    pub(super) fn new(request: Request<'a>) -> Brake<'a> {
        Brake { request, next_poll: params::POLL_INTERVAL, nodes: 0, stopped: false }
    }

    /// Must the search break off? To be asked at every node.
    #[inline]
    pub(super) fn out_of_budget(&mut self) -> bool {
        if self.request.limits.nodes.is_some_and(|limit| self.nodes >= limit) {
            self.stopped = true;
        } else if self.nodes >= self.next_poll {
            self.next_poll = self.nodes + params::POLL_INTERVAL;
            let Request { timer, signals, .. } = self.request;
            if signals.is_stopped() || timer.is_over() && !signals.is_pondering() {
                self.stopped = true;
            }
        }
        self.stopped
    }

    /// Is the search to end after an iteration with this score? `percent` is the part of the soft
    /// limit of time to use; `choices` is the number of moves at the root.
    pub(super) fn is_enough(&self, score: Score, choices: usize, percent: u32) -> bool {
        let Request { limits, timer, signals, .. } = self.request;
        if signals.is_stopped() {
            return true;
        }
        let mate = mate_distance_moves(score);
        if let (Some(wanted), Some(found)) = (limits.mate, mate)
            && 0 < found
            && found <= wanted as i32
        {
            return true;
        }
        if signals.is_pondering() || !timer.is_thrifty() {
            return false;
        }
        choices == 1 || timer.is_enough(percent)
    }
}

/// Decides how much of the soft limit of time to use, from how the iterations went.
#[derive(Default)]
pub(super) struct Pace {
    best: Option<Move>,
    steady: u32,
    score: Score,
}

impl Pace {
    /// Percent of the soft limit to use, given the result of one more iteration.
    pub(super) fn percent(&mut self, found: &Finding) -> u32 {
        let best = found.line.first().copied();
        self.steady = if best == self.best { (self.steady + 1).min(6) } else { 0 };
        let drop = if self.best.is_some() { (self.score - found.score).clamp(0, 60) } else { 0 };
        self.best = best;
        self.score = found.score;
        150 - 14 * self.steady + drop as u32
    }
}
