//! When a search must end, and when it may.

use super::team::Seat;
use super::{Request, params};
use crate::eval::Score;
use crate::eval::score::mate_distance_moves;

/// Counts the positions one thread visits and says when to stop.
pub(super) struct Brake<'a> {
    request: Request<'a>,
    seat: Seat<'a>,
    /// At this number of nodes there is something to look at.
    next_poll: u64,
    /// Is the search going on only because the opponent is still thinking?
    content: bool,
    /// Positions visited by this thread.
    pub(super) nodes: u64,
    /// Is the search being broken off?
    pub(super) stopped: bool,
    /// Was it broken off because no nodes were left?
    starved: bool,
}

impl<'a> Brake<'a> {
    /// The brake of a search that begins.
    pub(super) fn new(request: Request<'a>, seat: Seat<'a>) -> Brake<'a> {
        // Where nodes are counted out, even the first ones have to be granted.
        let next_poll = if request.limits.nodes.is_some() { 0 } else { params::POLL_INTERVAL };
        Brake { request, seat, next_poll, content: false, nodes: 0, stopped: false, starved: false }
    }

    /// Must the search break off? To be asked at every node.
    #[inline]
    pub(super) fn out_of_budget(&mut self) -> bool {
        while self.nodes >= self.next_poll && !self.stopped {
            self.poll();
        }
        self.stopped
    }

    /// Looks at the signals and, if this thread leads, at the clock; takes the next share of the
    /// nodes.
    #[cold]
    fn poll(&mut self) {
        let Request { limits, timer, signals, .. } = self.request;
        self.seat.tell(self.nodes);
        let late =
            self.seat.leads() && (self.content || timer.is_over()) && !signals.is_pondering();
        // Something must be searched, however late it is.
        if self.nodes > 0 && (late || signals.is_stopped() || self.seat.is_over()) {
            self.stopped = true;
            return;
        }
        let wanted = params::POLL_INTERVAL;
        let granted = limits.nodes.map_or(wanted, |limit| self.seat.grant(limit, wanted));
        self.next_poll += granted;
        self.starved = granted == 0;
        self.stopped = self.starved;
    }

    /// This thread has ended its search; if it leads, the others are to follow. Where nodes ran out
    /// they do so by themselves, each when it has used up its share.
    pub(super) fn finish(&self) {
        self.seat.tell(self.nodes);
        if self.seat.leads() && !self.starved {
            self.seat.end();
        }
    }

    /// Positions visited by all threads, those of this one exactly.
    pub(super) fn team_nodes(&self) -> u64 {
        self.seat.tell(self.nodes);
        self.seat.team_nodes()
    }

    /// Is the search to end after an iteration with this score? `percent` is the part of the soft
    /// limit of time to use; `choices` is the number of moves at the root.
    pub(super) fn is_enough(&mut self, score: Score, choices: usize, percent: u32) -> bool {
        let Request { limits, timer, signals, .. } = self.request;
        if signals.is_stopped() || self.seat.is_over() {
            return true;
        }
        let mate = mate_distance_moves(score);
        if let (Some(wanted), Some(found)) = (limits.mate, mate)
            && 0 < found
            && found <= wanted as i32
        {
            self.seat.end();
            return true;
        }
        if !self.seat.leads() || !timer.is_thrifty() {
            return false;
        }
        self.content = choices == 1 || timer.is_enough(percent);
        self.content && !signals.is_pondering()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::chess::{Game, Position};
    use crate::search::team::Team;
    use crate::search::{Limits, Signals};
    use crate::time::{Budget, Timer};

    /// Lets `check` have the brake of a member of a team of two.
    fn with(
        member: usize,
        limits: &Limits,
        budget: Option<Budget>,
        signals: &Signals,
        check: impl FnOnce(&mut Brake<'_>, &Team),
    ) {
        let game = Game::new(Position::startpos());
        let timer = Timer::start(budget);
        let request = Request { game: &game, limits, timer: &timer, signals };
        let team = Team::new(2);
        check(&mut Brake::new(request, team.seat(member)), &team);
    }

    const SPENT: Option<Budget> =
        Some(Budget { soft: Some(Duration::ZERO), hard: Duration::from_secs(3_600) });
    const LATE: Option<Budget> = Some(Budget { soft: None, hard: Duration::ZERO });

    #[test]
    fn who_has_thought_enough_while_pondering_answers_at_the_hit() {
        let signals = Signals::new(true);
        with(0, &Limits::default(), SPENT, &signals, |brake, _| {
            assert!(!brake.is_enough(0, 20, 100));
            brake.nodes = 100_000;
            assert!(!brake.out_of_budget());
            signals.ponder_hit();
            brake.nodes += params::POLL_INTERVAL;
            assert!(brake.out_of_budget());
        });
    }

    #[test]
    fn the_clock_is_the_leaders_business() {
        let signals = Signals::default();
        with(0, &Limits::default(), LATE, &signals, |brake, team| {
            assert!(!brake.out_of_budget(), "something must be searched");
            brake.nodes = params::POLL_INTERVAL;
            assert!(brake.out_of_budget());
            assert!(!team.seat(1).is_over());
            brake.finish();
            assert!(team.seat(1).is_over());
        });
        with(1, &Limits::default(), LATE, &signals, |brake, team| {
            brake.nodes = params::POLL_INTERVAL;
            assert!(!brake.out_of_budget());
            team.end();
            brake.nodes += params::POLL_INTERVAL;
            assert!(brake.out_of_budget());
            assert_eq!(team.nodes(), 2 * params::POLL_INTERVAL);
        });
    }

    #[test]
    fn nodes_end_exactly_and_leave_the_others_theirs() {
        let limits = Limits { nodes: Some(params::POLL_INTERVAL + 7), ..Limits::default() };
        with(0, &limits, None, &Signals::default(), |brake, team| {
            while !brake.out_of_budget() {
                brake.nodes += 1;
            }
            assert_eq!(Some(brake.nodes), limits.nodes);
            brake.finish();
            assert!(!team.seat(1).is_over());
        });
    }

    #[test]
    fn a_mate_found_by_anyone_ends_the_search_of_all() {
        let limits = Limits { mate: Some(2), ..Limits::default() };
        with(1, &limits, None, &Signals::default(), |brake, team| {
            assert!(!brake.is_enough(crate::eval::score::mate_in(5), 20, 100));
            assert!(brake.is_enough(crate::eval::score::mate_in(3), 20, 100));
            assert!(team.seat(0).is_over());
        });
    }
}
