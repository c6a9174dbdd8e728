//! What a run knows and decides. Pure: no I/O, no clock, no async.
//!
//! Pairs finish in any order, but are counted in schedule order: a finished pair waits until all
//! before it are counted. The SPRT looks at the counts of two engines after each of their pairs and
//! stops their encounter there; the run ends when no encounter is left. So a verdict does not
//! depend on which games happened to be short, nor on how many ran at once; pairs beyond the
//! stopping point are never counted.

use std::collections::{BTreeMap, BTreeSet};

use crate::run::event::Ending;
use crate::run::standing::{PairTally, Standing};
use crate::schedule::{Pairing, Schedule};
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
    Start(Pairing),
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
    /// Who meets whom, as far as the counted pairs say.
    schedule: Schedule,
    sprt: Option<Sprt>,
    /// One for each two engines that have a counted pair, and what it said last.
    watches: BTreeMap<[usize; 2], Watch>,
    looks: BTreeMap<[usize; 2], Look>,
    /// The next pair to start.
    next: u64,
    in_flight: BTreeSet<u64>,
    /// On disk, but an earlier pair is not.
    waiting: BTreeMap<u64, PairTally>,
    /// All pairs below this number are counted, but for those of encounters that had stopped.
    next_to_count: u64,
    /// Encounters that the SPRT has decided: how, and by which pair.
    stopped: BTreeMap<[usize; 2], (Ending, u64)>,
    standing: Standing,
    phase: Phase,
}

impl RunState {
    /// A run by its schedule, under a stopping rule for each encounter if there is one.
    pub fn new(schedule: Schedule, sprt: Option<Sprt>) -> RunState {
        RunState {
            schedule,
            sprt,
            watches: BTreeMap::new(),
            looks: BTreeMap::new(),
            next: 0,
            in_flight: BTreeSet::new(),
            waiting: BTreeMap::new(),
            next_to_count: 0,
            stopped: BTreeMap::new(),
            standing: Standing::default(),
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

    /// The schedule, which knows the results of the counted pairs.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The pairs counted so far, in the order of the schedule.
    pub fn counted(&self) -> impl Iterator<Item = u64> {
        (0..self.next_to_count).filter(|pair| !self.is_beyond(*pair))
    }

    /// What the test says of the counted pairs of each two engines that have any.
    pub fn looks(&self) -> &BTreeMap<[usize; 2], Look> {
        &self.looks
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
        while self.waiting.contains_key(&self.next) || self.is_beyond(self.next) {
            self.next += 1;
        }
        // Without one, the run waits for results, or for its end.
        let pairing = self.schedule.pairing(self.next)?;
        self.next += 1;
        self.in_flight.insert(pairing.pair);
        Some(Effect::Start(pairing))
    }

    fn commit(&mut self, tally: PairTally) -> Vec<Effect> {
        self.in_flight.remove(&tally.pair);
        // A pair that comes twice, or after its encounter was decided, changes nothing.
        if tally.pair >= self.next_to_count && !self.stopped.contains_key(&tally.engines) {
            self.waiting.entry(tally.pair).or_insert(tally);
        }
        let mut effects = Vec::new();
        while self.ending().is_none() {
            if let Some(tally) = self.waiting.remove(&self.next_to_count) {
                effects.push(self.count(tally));
            } else if !self.is_beyond(self.next_to_count) {
                break;
            }
            self.next_to_count += 1;
            self.next = self.next.max(self.next_to_count);
            if let Some(ending) = self.verdict() {
                self.end(ending, &mut effects);
            }
        }
        if self.phase == Phase::Draining && self.in_flight.is_empty() {
            self.end(Ending::Interrupted, &mut effects);
        }
        effects
    }

    fn count(&mut self, tally: PairTally) -> Effect {
        self.standing.count(&tally);
        self.schedule.count(tally.pair, tally.halves(), tally.games().count() as u64);
        let look = self.sprt.map(|sprt| {
            let watch = self.watches.entry(tally.twosome()).or_insert_with(|| Watch::new(sprt, 1));
            watch.look(&self.standing.encounter(tally.engines).pairs)
        });
        self.looks.extend(look.map(|look| (tally.twosome(), look)));
        let ending = match look.map(|look| look.decision) {
            Some(Decision::AcceptH1) => Some(Ending::AcceptedH1),
            Some(Decision::AcceptH0) => Some(Ending::AcceptedH0),
            Some(Decision::Continue) | None => None,
        };
        if let Some(ending) = ending {
            self.stopped.insert(tally.engines, (ending, tally.pair));
            self.waiting.retain(|_, waiting| waiting.engines != tally.engines);
        }
        Effect::Count { tally, look }
    }

    /// Whether a pair would come after the end of its encounter.
    fn is_beyond(&self, pair: u64) -> bool {
        if self.stopped.is_empty() {
            return false;
        }
        let engines = self.schedule.pairing(pair).map(|pairing| pairing.engines);
        let stop = engines.and_then(|engines| self.stopped.get(&engines));
        stop.is_some_and(|(_, last)| pair > *last)
    }

    /// What ends the run: the decision on its only encounter, or that nothing is left to count.
    fn verdict(&self) -> Option<Ending> {
        let decided = self.stopped.values().next().map(|(ending, _)| *ending);
        let is_all = self.schedule.is_complete() && self.next_to_count >= self.schedule.known();
        match decided {
            Some(ending) if self.schedule.matchups() == 1 => Some(ending),
            _ if self.stopped.len() == self.schedule.matchups() => Some(Ending::Complete),
            _ => is_all.then_some(Ending::Complete),
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
    use crate::run::standing::GameTally;
    use crate::schedule::{Design, Format};
    use crate::stats::pentanomial::GameResult;
    use crate::stats::sprt::{Correction, Model};

    /// A run of two engines.
    fn run(pairs: u64, sprt: Option<Sprt>) -> RunState {
        RunState::new(Schedule::new(Design::round_robin(pairs), 2, 1), sprt)
    }

    fn tally(pair: u64, results: [GameResult; 2]) -> PairTally {
        let game = |result| GameTally { result, termination: Termination::Checkmate, fault: None };
        let [first, second] = results.map(game);
        PairTally { pair, engines: [0, 1], first, second: Some(second) }
    }

    fn gauntlet() -> Schedule {
        let design = Design { format: Format::Gauntlet, ..Design::round_robin(60) };
        Schedule::new(design, 3, 1)
    }

    fn started_pair(effects: Vec<Effect>) -> Option<u64> {
        match effects[..] {
            [Effect::Start(pairing)] => Some(pairing.pair),
            _ => None,
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
            assert_eq!(started_pair(state.apply(Event::Idle)), Some(pair));
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
        let mut state = run(3, None);
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
        let mut state = run(9, None);
        started(&mut state, 2);
        state.apply(Event::Committed(won(0)));
        assert_eq!(state.apply(Event::Committed(won(0))), []);
        assert_eq!(state.standing().games(), 2);
    }

    #[test]
    fn the_verdict_stops_at_its_pair_whatever_finished_before() {
        // In order, and with the first pair last: the counts must be the same.
        let play = |order: &[u64]| {
            let mut state = run(500, Some(sprt()));
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
        let encounter = play(&in_order);
        assert!(encounter.pairs.pairs() < 100);
        assert_eq!(play(&first_last), encounter);
    }

    #[test]
    fn an_sprt_can_be_lost_or_stay_open() {
        let mut state = run(200, Some(sprt()));
        let lost = |pair| tally(pair, [GameResult::Loss; 2]);
        (0..200).for_each(|pair| drop(state.apply(Event::Committed(lost(pair)))));
        assert_eq!(state.ending(), Some(Ending::AcceptedH0));
        let mut state = run(2, Some(sprt()));
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
            let mut state = run(5000, Some(test.with_correction(correction)));
            let mut looks: Vec<Look> = Vec::new();
            for pair in 0.. {
                state.apply(Event::Committed(mixed(pair, period)));
                looks.extend(state.looks().get(&[0, 1]).copied());
                if state.ending().is_some() {
                    break;
                }
            }
            assert_eq!(state.ending(), Some(Ending::AcceptedH1));
            (state, looks)
        };
        let is_earlier = |period: &u64| {
            play(Correction::Dynamic, *period).1.len() < play(Correction::None, *period).1.len()
        };
        let period = (3..20).find(is_earlier).expect("a correction that matters");
        let mixed = |pair| mixed(pair, period);
        let (corrected, looks) = play(Correction::Dynamic, period);
        let last = looks.last().unwrap();
        assert!(last.upper < last.llr && last.llr < test.bounds().upper(), "{last:?}");
        // Resumed after each of the pairs, with later ones on disk already.
        let test = test.with_correction(Correction::Dynamic);
        for cut in 1..looks.len() as u64 - 2 {
            let mut state = run(5000, Some(test));
            (0..cut).for_each(|pair| drop(state.apply(Event::Committed(mixed(pair)))));
            assert_eq!(state.looks()[&[0, 1]], looks[cut as usize - 1]);
            let mut resumed = run(5000, Some(test));
            let on_disk = (0..cut).chain([cut + 1]);
            on_disk.for_each(|pair| drop(resumed.apply(Event::Committed(mixed(pair)))));
            assert_eq!(resumed.looks(), state.looks());
            let missing = (cut..looks.len() as u64).filter(|pair| *pair != cut + 1);
            missing.for_each(|pair| drop(resumed.apply(Event::Committed(mixed(pair)))));
            assert_eq!(resumed.looks(), corrected.looks());
            assert_eq!(resumed.ending(), Some(Ending::AcceptedH1));
        }
    }

    #[test]
    fn the_first_interrupt_drains_and_the_second_stops() {
        let mut state = run(9, None);
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
        let mut state = run(4, None);
        for pair in [0, 2] {
            state.apply(Event::Committed(won(pair)));
        }
        assert_eq!(state.counted().collect::<Vec<_>>(), [0]);
        assert_eq!(started_pair(state.apply(Event::Idle)), Some(1));
        assert_eq!(started_pair(state.apply(Event::Idle)), Some(3));
        assert_eq!(state.apply(Event::Idle), []);
        assert_eq!(counted(&state.apply(Event::Committed(won(1)))), [1, 2]);
    }

    /// The first engine meets engine 1, which it beats, and engine 2, which it does not.
    fn met(pair: u64) -> PairTally {
        let result = [[GameResult::Win; 2], [GameResult::Win, GameResult::Loss]];
        let engines = [0, 1 + pair as usize % 2];
        PairTally { engines, ..tally(pair, result[pair as usize % 2]) }
    }

    #[test]
    fn each_encounter_of_a_gauntlet_stops_by_itself() {
        let play = |order: &[u64]| {
            let mut state = RunState::new(gauntlet(), Some(sprt()));
            order.iter().for_each(|pair| drop(state.apply(Event::Committed(met(*pair)))));
            state
        };
        // All of a gauntlet whose decided pairs were in flight or stored already.
        let state = play(&(0..120).collect::<Vec<_>>());
        assert_eq!(state.ending(), Some(Ending::Complete));
        let (first, last) = state.stopped.get(&[0, 1]).copied().unwrap();
        assert_eq!(first, Ending::AcceptedH1);
        let beaten = state.standing().encounter([0, 1]);
        assert_eq!(beaten.pairs.pairs(), last / 2 + 1);
        assert!(last < 60, "{last}");
        let counted: Vec<u64> = state.counted().collect();
        assert_eq!(counted.len() as u64, state.standing().games() / 2);
        assert!(counted.iter().all(|pair| pair % 2 == 1 || *pair <= last));
        // The order of arrival decides nothing.
        let reversed = play(&(0..120).rev().collect::<Vec<_>>());
        assert_eq!(reversed.standing(), state.standing());
        assert_eq!(reversed.stopped, state.stopped);
    }

    #[test]
    fn pairs_of_a_decided_encounter_are_not_played() {
        let mut state = RunState::new(gauntlet(), Some(sprt()));
        let mut played = Vec::new();
        while state.ending().is_none() {
            let pair = started_pair(state.apply(Event::Idle)).expect("there is work");
            played.push(pair);
            state.apply(Event::Committed(met(pair)));
        }
        assert_eq!(played, state.counted().collect::<Vec<_>>());
        // What was resumed goes on in the same way.
        let mut resumed = RunState::new(gauntlet(), Some(sprt()));
        let (before, after) = played.split_at(played.len() / 2);
        before.iter().for_each(|pair| drop(resumed.apply(Event::Committed(met(*pair)))));
        assert_eq!(started_pair(resumed.apply(Event::Idle)), Some(after[0]));
    }

    /// Pairs of later rounds wait for results, whatever room there is.
    #[test]
    fn a_knockout_starts_what_is_known_and_waits_for_the_rest() {
        let design = Design { format: Format::Knockout, seeds: 4, ..Design::round_robin(1) };
        let mut state = RunState::new(Schedule::new(design, 4, 1), None);
        started(&mut state, 2);
        assert_eq!(state.apply(Event::Idle), []);
        let tally = |pair, engines| PairTally { engines, ..won(pair) };
        assert_eq!(counted(&state.apply(Event::Committed(tally(1, [1, 2])))), [0; 0]);
        assert_eq!(state.apply(Event::Idle), []);
        state.apply(Event::Committed(tally(0, [0, 3])));
        assert_eq!(started_pair(state.apply(Event::Idle)), Some(2));
        let effects = state.apply(Event::Committed(tally(2, [0, 1])));
        assert_eq!(effects.last(), Some(&Effect::End(Ending::Complete)));
    }
}
