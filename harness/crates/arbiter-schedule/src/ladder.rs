//! Ladder format: from the bottom up, the winner of each encounter plays the engine on the next
//! higher rung.
//!
//! Each engine has a rung; the highest seed starts on the highest rung. A round is one climb. The
//! engine on the lowest rung challenges the engine above it. The winner takes the higher rung and
//! challenges the next engine, up to the highest rung. A challenger has to win: if an encounter is
//! drawn, both engines keep their rungs, and the engine on the higher rung continues the climb. The
//! next climb starts at the bottom when the previous climb can no longer change the rungs that the
//! next climb needs.

use super::ledger::Ledger;

/// State of a ladder: rungs and climbs.
#[derive(Debug, Clone)]
pub(super) struct Ladder {
    /// Engines in the order of their rungs, from the highest rung to the lowest.
    pub(super) rungs: Vec<usize>,
    climbs: Vec<Climb>,
    /// Index of the climb to which each encounter in the ledger belongs.
    climb_of: Vec<usize>,
    rounds: usize,
}

#[derive(Debug, Clone, Copy)]
struct Climb {
    /// Index of the rung that the climb has reached: the lowest rung at the start, rung 0 at the
    /// end.
    reached: usize,
    is_playing: bool,
}

impl Ladder {
    pub(super) fn new(order: Vec<usize>, ledger: &mut Ledger) -> Ladder {
        // The user may set a huge number for an endless run.
        let rounds = usize::try_from(ledger.design.rounds).unwrap_or(usize::MAX);
        let mut ladder = Ladder { rungs: order, climbs: Vec::new(), climb_of: Vec::new(), rounds };
        ladder.open_ready(ledger);
        ladder
    }

    /// Updates the rungs after an encounter whose pairs are all counted, and schedules new
    /// encounters.
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

    /// Schedules every encounter whose two rungs can no longer be changed by an earlier climb.
    fn open_ready(&mut self, ledger: &mut Ledger) {
        let bottom = self.rungs.len() - 1;
        // An earlier climb that has reached rung r no longer changes the rungs below r.
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
