//! What the threads of one search share besides the table.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A counter on cache lines of its own, so that its owner slows no other thread down.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

/// The threads of one search. Nothing in it is exact at once but the nodes granted; what one member
/// writes, the others see when they next look.
pub(super) struct Team {
    /// Nodes visited by each member, as far as it has told.
    counters: Box<[Counter]>,
    /// Nodes members have asked to be granted.
    asked: AtomicU64,
    /// Has a member found that the search is over?
    over: AtomicBool,
}

impl Team {
    /// A team of so many members.
    pub(super) fn new(members: usize) -> Team {
        Team {
            counters: (0..members).map(|_| Counter::default()).collect(),
            asked: AtomicU64::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// The place of one member; the first leads.
    pub(super) fn seat(&self, index: usize) -> Seat<'_> {
        Seat { team: self, index }
    }

    /// Nodes visited by all, as far as they have told.
    pub(super) fn nodes(&self) -> u64 {
        self.counters.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum()
    }

    /// Tells all members that the search is over.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
    }
}

/// A member's place in the team.
#[derive(Clone, Copy)]
pub(super) struct Seat<'a> {
    team: &'a Team,
    index: usize,
}

impl Seat<'_> {
    /// The number of the member, from zero.
    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Is it this member's task to watch the clock and to report?
    pub(super) fn leads(&self) -> bool {
        self.index == 0
    }

    /// Tells how many nodes the member has visited.
    pub(super) fn tell(&self, nodes: u64) {
        self.team.counters[self.index].0.store(nodes, Ordering::Relaxed);
    }

    /// Nodes visited by all, as far as they have told.
    pub(super) fn total_nodes(&self) -> u64 {
        self.team.nodes()
    }

    /// How many of the nodes wanted the member may visit, if all together may visit `limit`.
    pub(super) fn grant(&self, limit: u64, wanted: u64) -> u64 {
        let before = self.team.asked.fetch_add(wanted, Ordering::Relaxed);
        limit.saturating_sub(before).min(wanted)
    }

    /// Tells all members that the search is over.
    pub(super) fn end(&self) {
        self.team.end();
    }

    /// Has some member found that the search is over?
    pub(super) fn is_over(&self) -> bool {
        self.team.over.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_nodes_are_granted_than_there_are() {
        let team = Team::new(2);
        let grants = [(0, 512), (1, 512), (0, 512), (1, 512)]
            .map(|(index, wanted)| team.seat(index).grant(1_200, wanted));
        assert_eq!(grants, [512, 512, 176, 0]);
    }

    #[test]
    fn the_team_counts_what_its_members_tell() {
        let team = Team::new(3);
        team.seat(0).tell(5);
        team.seat(2).tell(70);
        team.seat(2).tell(80);
        assert_eq!(team.nodes(), 85);
        assert!(!team.seat(1).is_over());
        team.seat(2).end();
        assert!(team.seat(0).is_over());
    }
}
