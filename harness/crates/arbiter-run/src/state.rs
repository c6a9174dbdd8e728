//! State and decisions of a run, without I/O, clock or async code.
//!
//! Pairs finish in any order, but are counted in schedule order: a finished pair waits until all
//! earlier pairs are counted. Pairs that were put off to the end count after all other pairs, in
//! schedule order. After each pair of an encounter, the SPRT tests the counts of the encounter, and
//! stops the encounter at the deciding pair; the run ends when all encounters have stopped. A
//! verdict therefore depends neither on the length of games nor on the concurrency, and pairs after
//! the deciding pair are never counted.

use std::collections::{BTreeMap, BTreeSet};

use crate::counts::sorted;
use crate::repeats::Repeats;
use crate::{Encounter, Pace, PairTally, RunCounts, RunEnd};
use arbiter_plan::Plan;
use arbiter_schedule::{Pairing, Schedule};
use arbiter_spsa::{Iteration, SpsaState};
use arbiter_stats::{Decision, Sprt, SprtMonitor, SprtStatus};

/// Input to the state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunInput {
    /// The executor has room for another pair.
    Idle,
    /// A pair is on disk.
    Committed(PairTally),
    /// A pair was played but does not count; the pair has to be played again.
    Voided(u64),
    /// A pair was played but does not count; the pair has to be played again after all other pairs.
    PutOff(u64),
    /// The user interrupts the run.
    Interrupt,
    /// The user requests that the run end when the pairs in progress have been completed.
    Drain,
    /// The user ends the run immediately.
    Stop,
    /// The user pauses the run, so that no new pairs start.
    Pause,
    /// The user unpauses the run, so that new pairs start again.
    Unpause,
}

/// Effect of an input. The caller performs effects in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Start this pair.
    Start(Pairing),
    /// Reduce the concurrency, because only pairs that were put off remain.
    Ease,
    /// Count this pair.
    Count {
        /// Contribution of the pair to the counts.
        tally: PairTally,
        /// SPRT status after the pair, if the run is an SPRT.
        sprt_status: Option<SprtStatus>,
    },
    /// Store this iteration of a tuning run, because all pairs of the iteration are counted.
    Iterated(Iteration),
    /// Notify the observers that no more pairs will start.
    Drain,
    /// Abandon all pairs in flight.
    CancelAll,
    /// End the run.
    End(RunEnd),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Draining,
    Over(RunEnd),
}

/// State of one run.
#[derive(Debug, Clone)]
pub struct RunState {
    /// Schedule after the counted pairs.
    schedule: Schedule,
    /// Schedule before the first pair.
    origin: Schedule,
    sprt: Option<Sprt>,
    /// State of the tuning run, if the run is a tuning run.
    spsa: Option<SpsaState>,
    /// SPRT monitor of each encounter with a counted pair.
    monitors: BTreeMap<[usize; 2], SprtMonitor>,
    /// Last SPRT status of each encounter with a counted pair.
    sprt_statuses: BTreeMap<[usize; 2], SprtStatus>,
    /// Next pair to start.
    next: u64,
    in_flight: BTreeSet<u64>,
    /// Void pairs that have not been started again yet.
    again: BTreeSet<u64>,
    /// Pairs that were put off to the end; `true` if the pair is counted.
    put_off: BTreeMap<u64, bool>,
    /// `true` if the concurrency has been reduced for the pairs that were put off.
    is_eased: bool,
    /// Pairs on disk that wait until an earlier pair is counted.
    waiting: BTreeMap<u64, PairTally>,
    /// Next pair to count. All earlier pairs are counted, except pairs of decided encounters and
    /// pairs that were put off.
    next_to_count: u64,
    /// Ending and deciding pair of each ended encounter. The key contains the indices of the two
    /// engines, lower index first.
    stopped: BTreeMap<[usize; 2], (RunEnd, u64)>,
    counts: RunCounts,
    repeats: Repeats,
    /// Counted pairs that are excluded as repeats.
    left_out: BTreeSet<u64>,
    /// `true` if repeats count like other pairs.
    counts_repeats: bool,
    phase: Phase,
    is_paused: bool,
}

impl RunState {
    /// Creates the state of a run from a schedule, with an optional SPRT for each encounter.
    pub fn new(schedule: Schedule, sprt: Option<Sprt>) -> RunState {
        RunState {
            origin: schedule.clone(),
            schedule,
            sprt,
            spsa: None,
            monitors: BTreeMap::new(),
            sprt_statuses: BTreeMap::new(),
            next: 0,
            in_flight: BTreeSet::new(),
            again: BTreeSet::new(),
            put_off: BTreeMap::new(),
            is_eased: false,
            waiting: BTreeMap::new(),
            next_to_count: 0,
            stopped: BTreeMap::new(),
            counts: RunCounts::default(),
            repeats: Repeats::default(),
            left_out: BTreeSet::new(),
            counts_repeats: false,
            phase: Phase::Running,
            is_paused: false,
        }
    }

    /// Creates the state of a plan's run before the first pair.
    pub fn of(plan: &Plan) -> RunState {
        let mut state = RunState::new(plan.schedule(), plan.sprt);
        let prior = plan.prior.map(|prior| ([0, 1], Encounter::from(prior)));
        state.counts.encounters.extend(prior);
        let repeats = Repeats::new(plan.book_length, plan.opening_start);
        RunState { spsa: plan.spsa(), repeats, counts_repeats: plan.is_lenient, ..state }
    }

    /// Applies an input and returns the effects. The same inputs always have the same effects, so a
    /// run can be resumed by applying the stored pairs.
    pub fn apply(&mut self, event: RunInput) -> Vec<Effect> {
        match event {
            RunInput::Idle => self.start_next().into_iter().collect(),
            RunInput::Committed(tally) => self.commit(tally),
            RunInput::Voided(pair) => self.void(pair, false),
            RunInput::PutOff(pair) => self.void(pair, true),
            RunInput::Interrupt => self.interrupt(),
            RunInput::Drain if self.phase == Phase::Running => self.interrupt(),
            RunInput::Stop if self.ending().is_none() => self.end(RunEnd::Interrupted),
            RunInput::Pause | RunInput::Unpause => {
                self.is_paused = event == RunInput::Pause;
                Vec::new()
            }
            RunInput::Drain | RunInput::Stop => Vec::new(),
        }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> &RunCounts {
        &self.counts
    }

    /// Returns the schedule, including the results of the counted pairs.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Returns the state of the tuning run, if the run is a tuning run.
    pub fn spsa(&self) -> Option<&SpsaState> {
        self.spsa.as_ref()
    }

    /// Returns the options of the two engines for a pair; `None` unless the run is a tuning run.
    pub fn settings(&self, pair: u64) -> Option<[Vec<(String, String)>; 2]> {
        self.spsa.as_ref()?.settings(pair)
    }

    /// Returns the counted pairs in the order of counting: first the pairs that were counted in
    /// schedule order, then the pairs that were put off.
    pub fn counted_pairs(&self) -> impl Iterator<Item = u64> {
        let is_in_turn = |pair: &u64| !self.is_beyond(*pair) && !self.put_off.contains_key(pair);
        let late = self.put_off.iter().filter(|(_, is_counted)| **is_counted);
        (0..self.next_to_count).filter(is_in_turn).chain(late.map(|(pair, _)| *pair))
    }

    /// Returns the counted pairs without repeats, which add no evidence.
    pub fn evidence(&self) -> impl Iterator<Item = u64> {
        self.counted_pairs().filter(|pair| !self.left_out.contains(pair))
    }

    /// Returns the SPRT status of each encounter with counted pairs.
    pub fn sprt_statuses(&self) -> &BTreeMap<[usize; 2], SprtStatus> {
        &self.sprt_statuses
    }

    /// Returns the number of pairs that were started but are not on disk yet.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Returns the pace at which pairs are started.
    pub fn pace(&self) -> Pace {
        match self.phase {
            Phase::Running if self.is_paused => Pace::Paused,
            Phase::Running => Pace::Running,
            Phase::Draining | Phase::Over(_) => Pace::Draining,
        }
    }

    /// Returns whether all pairs have been started; void pairs may still be played again.
    pub fn has_started_all(&self) -> bool {
        let is_draining = self.pace() == Pace::Draining;
        is_draining || (self.schedule.is_complete() && self.next >= self.schedule.known_pairs())
    }

    /// Returns the way in which the run ended; `None` if the run has not ended.
    pub fn ending(&self) -> Option<RunEnd> {
        if let Phase::Over(ending) = self.phase { Some(ending) } else { None }
    }

    /// Returns whether no pair depends on the results of other pairs, so that pairs may be put off.
    pub fn is_fixed(&self) -> bool {
        self.spsa.is_none() && self.schedule.design().format.is_fixed()
    }

    /// Returns whether counted pairs can be taken back. Counted pairs cannot be taken back if the
    /// run has ended, or if later pairs, which may be on disk, depend on the results of earlier
    /// pairs.
    pub fn can_take_back(&self) -> bool {
        self.is_fixed() && self.ending().is_none()
    }

    /// Takes back all pairs except `kept`, because the other pairs are no longer on disk. The
    /// missing pairs are played again, and pairs that follow a missing pair in schedule order are
    /// then counted again.
    pub fn take_back(&mut self, kept: &[PairTally]) {
        debug_assert!(self.can_take_back());
        let blank = RunState::new(self.origin.clone(), self.sprt);
        let before = std::mem::replace(self, blank);
        self.repeats = before.repeats.blank();
        self.counts_repeats = before.counts_repeats;
        self.put_off = before.put_off.into_keys().map(|pair| (pair, false)).collect();
        for tally in kept {
            // The run did not end with all counted pairs, so the run does not end with a part of
            // these pairs.
            self.commit(*tally);
        }
        let on_disk: BTreeSet<u64> = kept.iter().map(|tally| tally.pair).collect();
        let is_missing = |pair: &u64| {
            let is_present = on_disk.contains(pair) || before.in_flight.contains(pair);
            !is_present && !self.put_off.contains_key(pair)
        };
        self.again = (0..before.next).filter(is_missing).collect();
        self.next = before.next;
        self.in_flight = before.in_flight;
        self.phase = before.phase;
        self.is_paused = before.is_paused;
        self.is_eased = before.is_eased;
    }

    fn start_next(&mut self) -> Option<Effect> {
        if self.pace() != Pace::Running {
            return None;
        }
        // Pairs that have to be played again come first, because all later pairs wait to be
        // counted.
        while let Some(pair) = self.again.pop_first() {
            if !self.is_beyond(pair)
                && let Some(pairing) = self.schedule.pairing(pair)
            {
                self.in_flight.insert(pair);
                return Some(Effect::Start(pairing));
            }
        }
        // After resumption, some later pairs may already be on disk.
        while self.waiting.contains_key(&self.next)
            || self.put_off.contains_key(&self.next)
            || self.is_beyond(self.next)
        {
            self.next += 1;
        }
        let pairing = match self.schedule.pairing(self.next) {
            Some(pairing) => {
                self.next += 1;
                pairing
            }
            // All other known pairs have been started, so there is room for pairs that were put
            // off.
            None => {
                let is_under_way =
                    |pair: &u64| self.in_flight.contains(pair) || self.waiting.contains_key(pair);
                let late = self.remaining_late().find(|pair| !is_under_way(pair))?;
                // The concurrency is reduced first, because the same load could disturb these pairs
                // a third time.
                if !std::mem::replace(&mut self.is_eased, true) {
                    return Some(Effect::Ease);
                }
                self.schedule.pairing(late)?
            }
        };
        self.in_flight.insert(pairing.pair);
        Some(Effect::Start(pairing))
    }

    /// Returns whether a pair was put off and is not counted yet.
    fn is_late(&self, pair: u64) -> bool {
        self.put_off.get(&pair) == Some(&false)
    }

    /// Returns the pairs that were put off and remain to be counted.
    fn remaining_late(&self) -> impl Iterator<Item = u64> {
        let late = self.put_off.iter().filter(|(_, is_counted)| !**is_counted);
        late.map(|(pair, _)| *pair).filter(|pair| !self.is_beyond(*pair))
    }

    fn commit(&mut self, tally: PairTally) -> Vec<Effect> {
        self.in_flight.remove(&tally.pair);
        // A pair that arrives twice, or after the decision of the encounter, has no effect.
        let is_new = tally.pair >= self.next_to_count || self.is_late(tally.pair);
        if is_new && !self.is_beyond(tally.pair) {
            self.waiting.entry(tally.pair).or_insert(tally);
        }
        let mut effects = Vec::new();
        self.count_in_turn(&mut effects);
        self.end_if_drained(&mut effects);
        effects
    }

    /// Counts pairs on disk in schedule order, then the pairs that were put off.
    fn count_in_turn(&mut self, effects: &mut Vec<Effect>) {
        while self.ending().is_none() {
            let is_end =
                self.schedule.is_complete() && self.next_to_count >= self.schedule.known_pairs();
            let late = if is_end { self.remaining_late().next() } else { None };
            let pair = late.unwrap_or(self.next_to_count);
            let is_skipped = late.is_none() && (self.is_late(pair) || self.is_beyond(pair));
            let waiting = if is_skipped { None } else { self.waiting.remove(&pair) };
            match waiting {
                Some(tally) => {
                    self.put_off.extend(late.map(|pair| (pair, true)));
                    let (tally, is_exhausted) = self.marked(tally);
                    effects.push(self.count(tally));
                    effects.extend(self.move_values(&tally));
                    if is_exhausted {
                        self.counts.is_exhausted = true;
                        self.stop(&tally, RunEnd::Complete);
                    }
                }
                None if is_skipped => {}
                None => break,
            }
            if late.is_none() {
                self.next_to_count += 1;
            }
            self.next = self.next.max(self.next_to_count);
            if let Some(ending) = self.verdict() {
                effects.extend(self.end(ending));
            }
        }
    }

    /// Schedules a void pair to be played again: immediately, or after all other pairs.
    fn void(&mut self, pair: u64, is_late: bool) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.in_flight.remove(&pair) && !is_late {
            self.again.insert(pair);
        }
        if is_late && pair >= self.next_to_count {
            self.put_off.insert(pair, false);
            self.count_in_turn(&mut effects);
        }
        self.end_if_drained(&mut effects);
        effects
    }

    fn end_if_drained(&mut self, effects: &mut Vec<Effect>) {
        if self.phase == Phase::Draining && self.in_flight.is_empty() {
            effects.extend(self.end(RunEnd::Interrupted));
        }
    }

    /// Marks the next pair to count if the pair is a repeat. The returned flag is `true` if the
    /// pair ends the encounter because a pass through the book had only repeats.
    fn marked(&mut self, tally: PairTally) -> (PairTally, bool) {
        let is_repeat = match self.settings(tally.pair) {
            Some(settings) => self.repeats.add(&tally, tally.engines.map(|side| &settings[side])),
            None => self.repeats.add(&tally, tally.engines),
        };
        self.counts.distinct_games = self.repeats.distinct_games();
        if self.counts_repeats {
            self.counts.repeated_pairs += u64::from(is_repeat);
            return (tally, false);
        }
        let may_end = self.is_fixed();
        let opening = self.schedule.pairing(tally.pair).map(|pairing| pairing.opening);
        let is_exhausted = opening.is_some_and(|opening| {
            may_end && self.repeats.exhausts(tally.engine_pair(), opening, is_repeat)
        });
        self.left_out.extend(is_repeat.then_some(tally.pair));
        (PairTally { is_repeat, ..tally }, is_exhausted)
    }

    /// Ends the encounter of a pair; no later pair of this encounter counts. If the pair was put
    /// off, all other pairs of the encounter have already been counted.
    fn stop(&mut self, tally: &PairTally, ending: RunEnd) {
        let engine_pair = tally.engine_pair();
        self.stopped.entry(engine_pair).or_insert((ending, self.next_to_count));
        // Waiting pairs of the encounter no longer count.
        self.waiting.retain(|_, waiting| waiting.engine_pair() != engine_pair);
    }

    fn count(&mut self, tally: PairTally) -> Effect {
        self.counts.count(&tally);
        tally.count_in(&mut self.schedule);
        let before = self.sprt_statuses.get(&tally.engine_pair()).copied();
        // A repeat adds no evidence.
        let sprt_status = if tally.is_repeat { before } else { self.update_sprt(&tally) };
        self.sprt_statuses
            .extend(sprt_status.map(|sprt_status| (tally.engine_pair(), sprt_status)));
        match sprt_status.map(|sprt_status| sprt_status.decision) {
            Some(Decision::AcceptH1) => self.stop(&tally, RunEnd::AcceptedH1),
            Some(Decision::AcceptH0) => self.stop(&tally, RunEnd::AcceptedH0),
            Some(Decision::Continue) | None => {}
        }
        Effect::Count { tally, sprt_status }
    }

    /// Returns the SPRT status after a pair.
    fn update_sprt(&mut self, tally: &PairTally) -> Option<SprtStatus> {
        let sprt = self.sprt?;
        let monitor =
            self.monitors.entry(tally.engine_pair()).or_insert_with(|| SprtMonitor::new(sprt, 1));
        let encounter = self.counts.encounter(tally.engines);
        Some(monitor.update_counts(&encounter.pairs, &encounter.games))
    }

    /// Applies a counted pair to a tuning run. The score of the pair is the number of wins minus
    /// the number of losses of engine 0.
    fn move_values(&mut self, tally: &PairTally) -> Option<Effect> {
        let spsa = self.spsa.as_mut()?;
        if tally.is_repeat {
            // The iteration needs a result for each pair, and a repeat is evidence for neither
            // side.
            return spsa.count(0).map(Effect::Iterated);
        }
        let [first, second] = tally.half_points().map(u64::cast_signed);
        let score = if tally.engines[0] == 0 { first - second } else { second - first };
        // Each game contributes -2, 0 or 2 half points to the difference, so the division is exact.
        spsa.count(score / 2).map(Effect::Iterated)
    }

    /// Returns whether a pair does not count because the encounter of the pair ended earlier.
    fn is_beyond(&self, pair: u64) -> bool {
        if self.schedule.is_void(pair) {
            return true;
        }
        if self.stopped.is_empty() {
            return false;
        }
        let pairing = self.schedule.pairing(pair);
        let stop = pairing.and_then(|pairing| self.stopped.get(&sorted(pairing.engines)));
        stop.is_some_and(|(_, last)| pair > *last || self.is_late(pair))
    }

    /// Returns the ending of the run: the ending of the only encounter, or completion; `None` if
    /// the run continues.
    fn verdict(&self) -> Option<RunEnd> {
        let decided = self.stopped.values().next().map(|(ending, _)| *ending);
        let is_all = self.schedule.is_complete()
            && self.next_to_count >= self.schedule.known_pairs()
            && self.remaining_late().next().is_none();
        match decided {
            Some(ending) if self.schedule.matchups() == 1 => Some(ending),
            _ if self.stopped.len() == self.schedule.matchups() => Some(RunEnd::Complete),
            _ => is_all.then_some(RunEnd::Complete),
        }
    }

    fn interrupt(&mut self) -> Vec<Effect> {
        match self.phase {
            Phase::Running if !self.in_flight.is_empty() => {
                self.phase = Phase::Draining;
                vec![Effect::Drain]
            }
            Phase::Running | Phase::Draining => self.end(RunEnd::Interrupted),
            Phase::Over(_) => Vec::new(),
        }
    }

    fn end(&mut self, ending: RunEnd) -> Vec<Effect> {
        self.phase = Phase::Over(ending);
        let is_cancelled = !std::mem::take(&mut self.in_flight).is_empty();
        let cancel = is_cancelled.then_some(Effect::CancelAll);
        cancel.into_iter().chain([Effect::End(ending)]).collect()
    }
}

#[cfg(test)]
mod tests;
