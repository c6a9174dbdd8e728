//! Ladder: from the bottom up, the winner of each encounter meets the next one above.
//!
//! Engines stand on rungs, the best seed on the highest. A round is one climb: the engine on the
//! lowest rung challenges the one above; the winner stands on the higher rung and challenges the
//! next, up to the top. A challenger has to win: if the encounter is level, the rungs stay as they
//! are. The next climb starts below as soon as nothing that it needs is open above.

use super::ledger::Ledger;

/// The rungs and the climbs.
#[derive(Debug, Clone)]
pub(super) struct Ladder {
    /// Engines from the highest rung to the lowest.
    pub(super) rungs: Vec<usize>,
    climbs: Vec<Climb>,
    /// Climb of each encounter of the ledger.
    climb_of: Vec<usize>,
    rounds: usize,
}

#[derive(Debug, Clone, Copy)]
struct Climb {
    /// Rung that the climb has come up to; the lowest at the start, 0 at the end.
    reached: usize,
    is_playing: bool,
}

impl Ladder {
    pub(super) fn new(order: Vec<usize>, ledger: &mut Ledger) -> Ladder {
        // The user's number may be huge, for a run without an end.
        let rounds = usize::try_from(ledger.design.rounds).unwrap_or(usize::MAX);
        let mut ladder = Ladder { rungs: order, climbs: Vec::new(), climb_of: Vec::new(), rounds };
        ladder.open_ready(ledger);
        ladder
    }

    /// Handles an encounter whose pairs are all counted.
    pub(super) fn settle(&mut self, encounter: usize, ledger: &mut Ledger) {
        let climb = &mut self.climbs[self.climb_of[encounter]];
        let upper = climb.reached - 1;
        climb.reached = upper;
        climb.is_playing = false;
        if ledger.encounters[encounter].leader() == Some(1) {
            self.rungs.swap(upper, upper + 1);
        }
        self.open_ready(ledger);
    }

    /// Schedules every encounter whose two rungs no earlier climb can still change.
    fn open_ready(&mut self, ledger: &mut Ledger) {
        let bottom = self.rungs.len() - 1;
        // An earlier climb that has come to rung r does not change the rungs below r any more.
        let is_above = |climb: &Climb, rung: usize| climb.reached < rung || climb.reached == 0;
        if self.climbs.len() < self.rounds
            && self.climbs.last().is_none_or(|last| is_above(last, bottom - 1))
        {
            self.climbs.push(Climb { reached: bottom, is_playing: false });
        }
        for number in 0..self.climbs.len() {
            let climb = self.climbs[number];
            let earlier = number.checked_sub(1).map(|before| self.climbs[before]);
            if climb.is_playing || climb.reached == 0 {
                continue;
            }
            if earlier.is_none_or(|earlier| is_above(&earlier, climb.reached - 1)) {
                self.climbs[number].is_playing = true;
                self.climb_of.push(number);
                let engines = [self.rungs[climb.reached - 1], self.rungs[climb.reached]];
                ledger.open(number as u64, &[engines]);
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.climbs.len() == self.rounds && self.climbs.iter().all(|climb| climb.reached == 0)
    }
}
