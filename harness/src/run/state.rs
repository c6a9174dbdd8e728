//! What a run knows and decides. Pure: no I/O, no clock, no async.
//!
//! Pairs finish in any order, but are counted in schedule order: a finished pair waits until all
//! before it are counted. The SPRT looks at the counts after each pair and stops the run there.
//! So the verdict does not depend on which games happened to be short, nor on how many ran at
//! once; pairs beyond the stopping point are never counted.

use std::collections::{BTreeMap, BTreeSet};

use crate::run::event::Ending;
use crate::run::standing::{PairTally, Standing};
use crate::stats::sprt::{Decision, Sprt};
use crate::stats::watch::{Look, Watch};

/// What can happen to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The executor can take another pair.
    Idle,
    /// A pair is on disk.
    Committed(PairTally),
    /// The user asks for an end.
    Interrupt,
}

/// What is to be done about it, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// Start this pair.
    Start(u64),
    /// This pair counts now.
    Count {
        /// The pair.
        tally: PairTally,
        /// What the test says after it, if the run is an SPRT.
        look: Option<Look>,
    },
    /// Tell the observers that no more pairs will start.
    Drain,
    /// Give up everything in flight.
    CancelAll,
    /// The run is over.
    End(Ending),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Draining,
    Over(Ending),
}

/// The state of one run.
#[derive(Debug, Clone)]
pub struct RunState {
    total: u64,
    watch: Option<Watch>,
    /// The next pair to start.
    next: u64,
    in_flight: BTreeSet<u64>,
    /// On disk, but an earlier pair is not.
    waiting: BTreeMap<u64, PairTally>,
    /// All pairs below this number are counted.
    counted: u64,
    standing: Standing,
    look: Option<Look>,
    phase: Phase,
}

impl RunState {
    /// A run of `total` pairs at most, under a stopping rule if there is one.
    pub fn new(total: u64, sprt: Option<Sprt>) -> RunState {
        let watch = sprt.map(|sprt| Watch::new(sprt, 1));
        RunState {
            total,
            watch,
            next: 0,
            in_flight: BTreeSet::new(),
            waiting: BTreeMap::new(),
            counted: 0,
            standing: Standing::default(),
            look: watch.map(|watch| watch.start()),
            phase: Phase::Running,
        }
    }

    /// Applies an event. The same events give the same effects: a run is resumed by applying what
    /// is in the store.
    pub fn apply(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Idle => self.start_next().into_iter().collect(),
            Event::Committed(tally) => self.commit(tally),
            Event::Interrupt => self.interrupt(),
        }
    }

    /// Counts so far.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Pairs counted so far.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// What the test says of the counted pairs.
    pub fn look(&self) -> Option<Look> {
        self.look
    }

    /// Pairs that were started and are not on disk.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// How the run ended, if it did.
    pub fn ending(&self) -> Option<Ending> {
        match self.phase {
            Phase::Over(ending) => Some(ending),
            Phase::Running | Phase::Draining => None,
        }
    }

    fn start_next(&mut self) -> Option<Effect> {
        if self.phase != Phase::Running {
            return None;
        }
        // After a resume some pairs ahead are on disk already.
        while self.waiting.contains_key(&self.next) {
            self.next += 1;
        }
        if self.next >= self.total {
            return None;
        }
        let pair = self.next;
        self.next += 1;
        self.in_flight.insert(pair);
        Some(Effect::Start(pair))
    }

    fn commit(&mut self, tally: PairTally) -> Vec<Effect> {
        self.in_flight.remove(&tally.pair);
        // A pair that comes twice changes nothing.
        if tally.pair >= self.counted {
            self.waiting.entry(tally.pair).or_insert(tally);
        }
        let mut effects = Vec::new();
        while self.ending().is_none() {
            let Some(tally) = self.waiting.remove(&self.counted) else { break };
            self.counted += 1;
            self.next = self.next.max(self.counted);
            self.standing.count(&tally);
            let pairs = self.standing.main_encounter().pairs;
            self.look = self.watch.as_mut().map(|watch| watch.look(&pairs));
            effects.push(Effect::Count { tally, look: self.look });
            if let Some(ending) = self.verdict() {
                self.end(ending, &mut effects);
            }
        }
        if self.phase == Phase::Draining && self.in_flight.is_empty() {
            self.end(Ending::Interrupted, &mut effects);
        }
        effects
    }

    fn verdict(&self) -> Option<Ending> {
        match self.look.map(|look| look.decision) {
            Some(Decision::AcceptH1) => Some(Ending::AcceptedH1),
            Some(Decision::AcceptH0) => Some(Ending::AcceptedH0),
            Some(Decision::Continue) | None => {
                (self.counted >= self.total).then_some(Ending::Complete)
            }
        }
    }

    fn interrupt(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        match self.phase {
            Phase::Running if !self.in_flight.is_empty() => {
                self.phase = Phase::Draining;
                effects.push(Effect::Drain);
            }
            Phase::Running | Phase::Draining => self.end(Ending::Interrupted, &mut effects),
            Phase::Over(_) => {}
        }
        effects
    }

    fn end(&mut self, ending: Ending, effects: &mut Vec<Effect>) {
        self.phase = Phase::Over(ending);
        if !std::mem::take(&mut self.in_flight).is_empty() {
            effects.push(Effect::CancelAll);
        }
        effects.push(Effect::End(ending));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::outcome::Termination;
    use crate::stats::pentanomial::GameResult;
    use crate::stats::sprt::{Correction, Model};

    fn tally(pair: u64, results: [GameResult; 2]) -> PairTally {
        PairTally {
            pair,
            engines: [0, 1],
            results,
            terminations: [Termination::Checkmate; 2],
            faults: [None; 2],
        }
    }

    fn won(pair: u64) -> PairTally {
        tally(pair, [GameResult::Win; 2])
    }

    fn sprt() -> Sprt {
        Sprt::new(0.0, 100.0, 0.05, 0.05, Model::Normalized).unwrap()
    }

    fn started(state: &mut RunState, pairs: u64) {
        for pair in 0..pairs {
            assert_eq!(state.apply(Event::Idle), [Effect::Start(pair)]);
        }
    }

    fn counted(effects: &[Effect]) -> Vec<u64> {
        let count = |effect: &Effect| match effect {
            Effect::Count { tally, .. } => Some(tally.pair),
            _ => None,
        };
        effects.iter().filter_map(count).collect()
    }

    #[test]
    fn pairs_are_counted_in_schedule_order() {
        let mut state = RunState::new(3, None);
        started(&mut state, 3);
        assert_eq!(state.apply(Event::Idle), []);
        assert_eq!(counted(&state.apply(Event::Committed(won(2)))), [0; 0]);
        assert_eq!(counted(&state.apply(Event::Committed(won(0)))), [0]);
        let effects = state.apply(Event::Committed(won(1)));
        assert_eq!(counted(&effects), [1, 2]);
        assert_eq!(effects.last(), Some(&Effect::End(Ending::Complete)));
    }

    #[test]
    fn a_pair_that_comes_twice_counts_once() {
        let mut state = RunState::new(9, None);
        started(&mut state, 2);
        state.apply(Event::Committed(won(0)));
        assert_eq!(state.apply(Event::Committed(won(0))), []);
        assert_eq!(state.standing().games(), 2);
    }

    #[test]
    fn the_verdict_stops_at_its_pair_whatever_finished_before() {
        // In order, and with the first pair last: the counts must be the same.
        let run = |order: &[u64]| {
            let mut state = RunState::new(500, Some(sprt()));
            started(&mut state, 200);
            let mut last = Vec::new();
            for &pair in order {
                last = state.apply(Event::Committed(won(pair)));
                if state.ending().is_some() {
                    break;
                }
            }
            assert_eq!(last.last(), Some(&Effect::End(Ending::AcceptedH1)));
            assert!(last.contains(&Effect::CancelAll) || order[0] != 0);
            state.standing().main_encounter()
        };
        let in_order: Vec<u64> = (0..200).collect();
        let first_last: Vec<u64> = (1..200).chain([0]).collect();
        let encounter = run(&in_order);
        assert!(encounter.pairs.pairs() < 100);
        assert_eq!(run(&first_last), encounter);
    }

    #[test]
    fn an_sprt_can_be_lost_or_stay_open() {
        let mut state = RunState::new(200, Some(sprt()));
        let lost = |pair| tally(pair, [GameResult::Loss; 2]);
        (0..200).for_each(|pair| drop(state.apply(Event::Committed(lost(pair)))));
        assert_eq!(state.ending(), Some(Ending::AcceptedH0));
        let mut state = RunState::new(2, Some(sprt()));
        (0..2).for_each(|pair| drop(state.apply(Event::Committed(won(pair)))));
        assert_eq!(state.ending(), Some(Ending::Complete));
    }

    #[test]
    fn corrected_bounds_decide_and_a_resumed_run_remembers_them() {
        // Pairs won, but every so often one lost.
        let mixed = |pair: u64, period: u64| {
            let lost = tally(pair, [GameResult::Loss, GameResult::Draw]);
            if pair % period == 1 { lost } else { won(pair) }
        };
        let test = Sprt::new(0.0, 15.0, 0.05, 0.05, Model::Normalized).unwrap();
        let play = |correction, period| {
            let mut state = RunState::new(5000, Some(test.with_correction(correction)));
            let mut looks = Vec::new();
            for pair in 0.. {
                state.apply(Event::Committed(mixed(pair, period)));
                looks.extend(state.look());
                if state.ending().is_some() {
                    break;
                }
            }
            assert_eq!(state.ending(), Some(Ending::AcceptedH1));
            (state, looks)
        };
        let is_earlier = |period: &u64| {
            play(Correction::Dynamic, *period).0.counted()
                < play(Correction::None, *period).0.counted()
        };
        let period = (3..20).find(is_earlier).expect("a correction that matters");
        let mixed = |pair| mixed(pair, period);
        let (corrected, looks) = play(Correction::Dynamic, period);
        let last = looks.last().unwrap();
        assert!(last.upper < last.llr && last.llr < test.bounds().upper(), "{last:?}");
        // Resumed after each of the pairs, with later ones on disk already.
        let test = test.with_correction(Correction::Dynamic);
        for cut in 1..corrected.counted() - 2 {
            let mut state = RunState::new(5000, Some(test));
            (0..cut).for_each(|pair| drop(state.apply(Event::Committed(mixed(pair)))));
            assert_eq!(state.look(), Some(looks[cut as usize - 1]));
            let mut resumed = RunState::new(5000, Some(test));
            let on_disk = (0..cut).chain([cut + 1]);
            on_disk.for_each(|pair| drop(resumed.apply(Event::Committed(mixed(pair)))));
            assert_eq!(resumed.look(), state.look());
            let missing = (cut..corrected.counted()).filter(|pair| *pair != cut + 1);
            missing.for_each(|pair| drop(resumed.apply(Event::Committed(mixed(pair)))));
            assert_eq!(resumed.look(), corrected.look());
            assert_eq!(resumed.ending(), Some(Ending::AcceptedH1));
        }
    }

    #[test]
    fn the_first_interrupt_drains_and_the_second_stops() {
        let mut state = RunState::new(9, None);
        started(&mut state, 2);
        assert_eq!(state.apply(Event::Interrupt), [Effect::Drain]);
        assert_eq!(state.apply(Event::Idle), []);
        state.apply(Event::Committed(won(1)));
        let end = Effect::End(Ending::Interrupted);
        let effects = state.clone().apply(Event::Committed(won(0)));
        assert_eq!((counted(&effects), effects.last()), (vec![0, 1], Some(&end)));
        assert_eq!(state.apply(Event::Interrupt), [Effect::CancelAll, end]);
    }

    #[test]
    fn a_resumed_run_plays_what_is_missing() {
        let mut state = RunState::new(4, None);
        for pair in [0, 2] {
            state.apply(Event::Committed(won(pair)));
        }
        assert_eq!(state.counted(), 1);
        assert_eq!(state.apply(Event::Idle), [Effect::Start(1)]);
        assert_eq!(state.apply(Event::Idle), [Effect::Start(3)]);
        assert_eq!(state.apply(Event::Idle), []);
        assert_eq!(counted(&state.apply(Event::Committed(won(1)))), [1, 2]);
    }
}
