//! Main loop of a run: waits for an event, applies the event to the state, and carries out the
//! effects.
//!
//! A finished pair is stored first, then counted, then reported to the observers. Therefore every
//! counted pair is on disk.

#![expect(clippy::disallowed_methods, reason = "the dispatcher stamps events")]

mod control;

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use thiserror::Error;
use tokio::sync::mpsc;

pub use control::{Answer, ControlRequest, ControlSender};

use crate::executor::{Executor, JobEvent};
use crate::signal::{Signals, StopSignal};
use arbiter_plan::Plan;
use arbiter_run::{
    Effect, JobMaker, Observer, ObserverError, Pace, PairTally, PlayedPair, Remark, RunEnd,
    RunEvent, RunInput, RunState, overload, suspicion, voided_again,
};
use arbiter_store::{Store, StoreError, StoredRun};

/// Interval of [`RunEvent::Tick`], at which observers can update times and games in progress.
const TICK: Duration = Duration::from_millis(200);

/// Interval, in written pairs, at which the store records the number of the last pair that the PGN
/// and EPD files contain in full. Each record costs a write to the store. Without records, a
/// resumed run would have to compare all stored games with these files.
const NOTED_PAIRS: u64 = 256;

/// Minimum value of two limits that grow with the concurrency: the number of uncounted pairs in
/// memory, and the number of events per commit.
const HELD_PAIRS: usize = 16;

/// Maximum value of the limits described at [`HELD_PAIRS`]. Pairs beyond the limit are not kept in
/// memory, but read from the store when they are counted.
const MAX_HELD_PAIRS: usize = 1024;

/// Inputs of [`dispatch()`] other than the state, the executor and the signals.
pub struct Run<'a> {
    /// Name of the run in the store.
    pub name: &'a str,
    /// Store in which pairs are committed.
    pub store: &'a mut Store,
    /// Creator of the jobs.
    pub jobs: JobMaker<'a>,
    /// `true` if the first signal ends the run immediately and abandons the pairs in flight.
    pub stops_at_once: bool,
    /// Plan of the run.
    pub plan: &'a Plan,
    /// Observers of the run's events.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Channel of user commands.
    pub control_requests: mpsc::Receiver<ControlRequest>,
}

/// Error that stops a run. All committed pairs stay in the store, and the run can be resumed.
#[derive(Debug, Error)]
pub enum RunError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store refuses played pairs. The text contains the reason, followed either by the path at
    /// which the pairs were saved and a hint, or by a message that saving failed.
    #[error("{0}")]
    Unsaved(String),
    /// An observer failed.
    #[error(transparent)]
    Observer(#[from] ObserverError),
    /// A pair could not be played, for a reason other than an engine fault, or the engines behave
    /// differently on different machines.
    #[error("{0}")]
    Environment(String),
    /// More games ended with an engine fault than the plan allows; the text contains the number of
    /// these games and the cause.
    #[error("{0}")]
    TooManyFaults(String),
    /// Workers can no longer be reached.
    #[error("{0}")]
    Lost(String),
}

/// Reason why a run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// A signal, or the key `q`, which acts like Ctrl-C.
    Signal(StopSignal),
    /// The command to drain or to stop the run.
    Drain,
}

/// Ending of a run, with the cause if the run was stopped.
#[derive(Debug)]
pub struct Finished {
    /// Kind of the ending.
    pub ending: RunEnd,
    /// Cause of the stop; `None` if the run ended on its own.
    pub stop_cause: Option<StopCause>,
    /// Error that prevented storing the ending; all pairs are stored.
    pub unnoted: Option<StoreError>,
}

/// Returns the current Unix time, in milliseconds.
pub fn unix_time_ms() -> i64 {
    // A clock before 1970 is wrong, but a run does not need a correct date.
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

/// Plays a run to its end. Even after an error, all engines are terminated, and the committed pairs
/// stay in the store, so the run can be resumed.
pub async fn dispatch<E: Executor>(
    run: Run<'_>,
    state: &mut RunState,
    executor: E,
    signals: &mut Signals,
) -> Result<Finished, RunError> {
    let (clock, held) = (Instant::now(), BTreeMap::new());
    let stored = run.store.run(run.name)?;
    let (stop_cause, unnoted, is_local) = (None, None, true);
    let mut dispatcher =
        Dispatcher { run, stored, state, executor, clock, held, is_local, stop_cause, unnoted };
    let result = dispatcher.until_over(signals).await;
    dispatcher.executor.finish().await;
    result
}

/// State of the main loop of a run.
struct Dispatcher<'a, 'r, E> {
    run: Run<'r>,
    /// Row of the run in the store.
    stored: StoredRun,
    state: &'a mut RunState,
    executor: E,
    /// Start time of the loop.
    clock: Instant,
    /// Committed pairs that are kept in memory until they are counted.
    held: BTreeMap<u64, PlayedPair>,
    /// `true` if no worker has played a pair. The fault limit applies only to local runs: faulty
    /// workers are excluded instead.
    is_local: bool,
    /// Cause of the stop. A signal replaces an earlier cause, because scripts expect the exit code
    /// of the signal.
    stop_cause: Option<StopCause>,
    unnoted: Option<StoreError>,
}

impl<E: Executor> Dispatcher<'_, '_, E> {
    async fn until_over(&mut self, signals: &mut Signals) -> Result<Finished, RunError> {
        notify(&mut self.run.observers, &RunEvent::Started(self.state))?;
        let mut tick = tokio::time::interval(TICK);
        loop {
            // Commands are handled before new pairs start, so that a pause or drain by an observer
            // takes effect immediately.
            while let Ok(control) = self.run.control_requests.try_recv() {
                self.control(control).await?;
            }
            self.fill()?;
            if let Some(ending) = self.state.ending() {
                let unnoted = self.unnoted.take();
                return Ok(Finished { ending, stop_cause: self.stop_cause, unnoted });
            }
            tokio::select! {
                event = self.executor.next() => {
                    let (events, excluded) = self.commit_all(event)?;
                    for event in events {
                        self.apply(event).await?;
                    }
                    if let Some(remark) = excluded {
                        self.exclude_worker(&remark)?;
                    }
                }
                signal = signals.next() => {
                    self.stop_cause = Some(StopCause::Signal(signal));
                    let is_final = self.run.stops_at_once;
                    self.apply(if is_final { RunInput::Stop } else { RunInput::Interrupt }).await?;
                }
                Some(control) = self.run.control_requests.recv() => self.control(control).await?,
                _ = tick.tick() => {
                    self.notify(&RunEvent::Tick(self.clock.elapsed()))?;
                    // Without this interrupt, the run would not end until the leases of the pairs
                    // of vanished workers expire.
                    if self.state.pace() == Pace::Draining && !self.executor.has_players() {
                        self.apply(RunInput::Interrupt).await?;
                    }
                }
            }
        }
    }

    /// Applies an input to the state, and carries out the effects.
    async fn apply(&mut self, event: RunInput) -> Result<(), RunError> {
        for effect in self.state.apply(event) {
            self.apply_effect(effect).await?;
        }
        self.check_faults()
    }

    /// Returns an error if too many games ended with an engine fault.
    fn check_faults(&self) -> Result<(), RunError> {
        let counts = self.state.counts();
        let limit = self.run.plan.fault_limit;
        // In distributed runs, faulty workers are excluded instead. A lenient plan imitates other
        // programs, which continue after faults.
        let may_end = self.is_local && !self.run.plan.is_lenient;
        let is_open = self.state.ending().is_none() && may_end;
        if !is_open || !counts.has_too_many_faults(limit) {
            return Ok(());
        }
        let mut each: BTreeMap<usize, u64> = BTreeMap::new();
        for ((engine, _), count) in &counts.faults {
            *each.entry(*engine).or_default() += count;
        }
        let engines = &self.run.plan.engines;
        let by_engine = each.iter().map(|(i, count)| format!("{} {count}", engines[*i].name));
        let by_engine = by_engine.collect::<Vec<_>>().join(", ");
        let overload = overload(self.run.plan, counts, &self.run.store.latencies(self.run.name)?);
        let cause = overload.map(|overload| format!("{overload}; ")).unwrap_or_default();
        Err(RunError::TooManyFaults(format!(
            "{cause}{} of {} games ended by an engine fault ({by_engine}), far more than \
             --fault-limit {limit}",
            each.values().sum::<u64>(),
            counts.games()
        )))
    }

    /// Excludes a worker. If the state can take back counted pairs, the worker's pairs no longer
    /// count.
    fn exclude_worker(&mut self, remark: &Remark) -> Result<(), RunError> {
        let takes_back = self.state.can_take_back();
        let store = &mut self.run.store;
        let name = self.run.name;
        let now = unix_time_ms();
        let excluded = &store.exclude_worker(name, now, remark, takes_back)?;
        let text = format!("excluded: {}", remark.text);
        store.note_remark(name, now, &Remark { text, ..remark.clone() })?;
        if excluded.pairs > 0 {
            self.state.take_back(&store.tallies(name)?);
            // Pairs in memory may belong to the worker. The other pairs are read from the store
            // again.
            self.held.clear();
        }
        let event = RunEvent::WorkerExcluded { excluded, state: self.state };
        Ok(notify(&mut self.run.observers, &event)?)
    }

    /// Starts pairs while a slot is free and a pair remains to be played.
    fn fill(&mut self) -> Result<(), RunError> {
        while self.executor.has_room() {
            match self.state.apply(RunInput::Idle)[..] {
                [Effect::Start(pairing)] => {
                    let settings = self.state.settings(pairing.pair);
                    self.executor.start(self.run.jobs.job(pairing, settings));
                }
                [Effect::Ease] => {
                    let slots = (self.executor.slots() / 2).max(1);
                    self.executor.set_slots(slots).expect("no limit is below half of the slots");
                    let (pace, elapsed) = (self.state.pace(), self.clock.elapsed());
                    self.notify(&RunEvent::Steered { pace, slots, elapsed })?;
                }
                _ => {
                    if self.state.has_started_all() {
                        self.executor.release_idle();
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Commits `first` and other ready events as one group, because a commit takes 3 to 5 ms, and
    /// pairs of short games can end at shorter intervals. Returns the inputs for the state, and the
    /// remark on the worker to exclude afterwards, if any.
    fn commit_all(&mut self, first: JobEvent) -> Result<(Vec<RunInput>, Option<Remark>), RunError> {
        let mut happened = Vec::new();
        let mut next = Some(first);
        let mut excluded = None;
        let most = self.executor.slots().clamp(HELD_PAIRS, MAX_HELD_PAIRS);
        while let Some(event) = next.take() {
            if let JobEvent::WorkerExcluded(remark) = event {
                excluded = Some(remark);
                break;
            }
            happened.push(event);
            next = if happened.len() < most { self.executor.ready() } else { None };
        }
        let committed = match &mut happened[..] {
            [one] => self.commit(one).map(|event| event.into_iter().collect()),
            several => self.commit_group(several),
        };
        let events: Vec<RunInput> = match committed {
            Err(RunError::Store(error)) => return Err(self.save_elsewhere(error, &happened)),
            committed => committed?,
        };
        for event in happened {
            // Pairs beyond the limit are read from the store when they are counted.
            if let JobEvent::Played { pair, mut played, .. } = event
                && self.held.len() < most
                && events.contains(&RunInput::Committed(PairTally::of(&played)))
            {
                // Transcripts are already on disk, so they are dropped from memory.
                played.drop_transcripts();
                self.held.insert(pair, played);
            }
        }
        for event in &events {
            match event {
                RunInput::Committed(tally) => self.executor.note_stored(tally.pair),
                RunInput::Voided(pair) | RunInput::PutOff(pair) => self.executor.note_stored(*pair),
                _ => {}
            }
        }
        Ok((events, excluded))
    }

    fn commit_group(&mut self, happened: &mut [JobEvent]) -> Result<Vec<RunInput>, RunError> {
        if happened.is_empty() {
            return Ok(Vec::new());
        }
        self.run.store.begin_group()?;
        let events: Result<Vec<_>, _> =
            happened.iter_mut().map(|event| self.commit(event)).collect();
        // The group is committed even after a failure, so that the earlier pairs are kept.
        let kept = self.run.store.commit_group();
        let events = events?.into_iter().flatten().collect();
        // If both the event and the commit failed, the error of the event is reported, because the
        // event is the cause.
        kept?;
        Ok(events)
    }

    /// Saves played pairs to another file, because the store refuses these pairs. The returned
    /// error contains the path of this file, or a message that saving failed.
    fn save_elsewhere(&self, source: StoreError, happened: &[JobEvent]) -> RunError {
        let played = happened.iter().filter_map(|event| match event {
            JobEvent::Played { played, .. } => Some(played),
            _ => None,
        });
        let pairs: Vec<&PlayedPair> = self.held.values().chain(played).collect();
        let place = self.run.store.save_elsewhere(&self.stored, &pairs);
        let saved = match place {
            Some(place) => format!(
                "the complete store is saved as {}: replace the store with it",
                place.display()
            ),
            None => "the missing pairs could not be saved".to_owned(),
        };
        RunError::Unsaved(format!("{source}; {saved}"))
    }

    /// Writes a played pair to the store, or handles another event. Returns the input for the
    /// state, if any.
    fn commit(&mut self, event: &mut JobEvent) -> Result<Option<RunInput>, RunError> {
        let run = self.run.name;
        match event {
            JobEvent::Played { pair, played, worker } => {
                let pair = *pair;
                let suspicion = suspicion(self.run.plan, played);
                if let Some(reason) = &suspicion
                    && let Some(voided) = self.voided(pair)?
                {
                    self.run.store.void(run, played, reason)?;
                    self.notify(&RunEvent::Disturbed { pair, reason, is_void: true })?;
                    return Ok(Some(voided));
                }
                // If the store already contains the pair, the stored games count, because a resumed
                // run would count the stored games.
                self.is_local &= worker.is_none();
                let store = &mut self.run.store;
                if !store.append(run, played, suspicion.as_deref(), worker.as_deref())?
                    && let Some(stored) = store.pair(run, pair)?
                {
                    *played = stored;
                }
                if let Some(reason) = &suspicion {
                    self.notify(&RunEvent::Disturbed { pair, reason, is_void: false })?;
                }
                return Ok(Some(RunInput::Committed(PairTally::of(played))));
            }
            JobEvent::Started { pairing, game_index } => {
                self.notify(&RunEvent::GameStarted { pairing, game_index: *game_index })?;
            }
            JobEvent::Ended { pairing, game_index, game } => {
                self.notify(&RunEvent::GameEnded { pairing, game_index: *game_index, game })?;
            }
            JobEvent::Paused(length) => self.notify(&RunEvent::Paused(*length))?,
            JobEvent::Failed { pair, reason } => {
                return Err(unplayed(*pair, reason));
            }
            JobEvent::Noted(remark) => {
                self.run.store.note_remark(run, unix_time_ms(), remark)?;
                self.notify(&RunEvent::Noted(remark))?;
            }
            // These events are not stored: `commit_all` handles exclusions outside the group, and
            // presence is only shown.
            JobEvent::WorkerExcluded(remark) | JobEvent::Presence(remark) => {
                self.notify(&RunEvent::Noted(remark))?;
            }
            JobEvent::Unfit(reason) => return Err(RunError::Environment(std::mem::take(reason))),
            JobEvent::Lost(reason) => return Err(RunError::Lost(std::mem::take(reason))),
        }
        Ok(None)
    }

    /// Returns the input for the state if a suspect pair is to be played again; `None` if the pair
    /// counts.
    fn voided(&self, pair: u64) -> Result<Option<RunInput>, StoreError> {
        let Run { store, name, plan, .. } = &self.run;
        let times = store.times_voided(name, pair)?;
        let voided = voided_again(pair, times, self.state.is_fixed());
        Ok(voided.filter(|_| !plan.counts_disturbed))
    }

    async fn apply_effect(&mut self, effect: Effect) -> Result<(), RunError> {
        let run = self.run.name;
        let elapsed = self.clock.elapsed();
        match effect {
            // These effects follow only from `RunInput::Idle`, which `fill` applies.
            Effect::Start(_) | Effect::Ease => {}
            Effect::Count { tally, sprt_status } => {
                let played = match self.held.remove(&tally.pair) {
                    Some(played) => Some(played),
                    // The pair was committed before an interruption, or exceeded the limit of pairs
                    // in memory.
                    None => self.run.store.pair(run, tally.pair)?,
                };
                if let Some(played) = &played {
                    self.notify(&RunEvent::Counted {
                        played,
                        tally: &tally,
                        sprt_status,
                        elapsed,
                    })?;
                }
                self.note_written(NOTED_PAIRS);
            }
            Effect::Iterated(iteration) => {
                self.run.store.append_iteration(run, &iteration)?;
                self.notify(&RunEvent::Iterated(&iteration))?;
            }
            Effect::Drain => {
                self.notify(&RunEvent::Draining(self.state.in_flight()))?;
            }
            Effect::CancelAll => self.executor.cancel_all().await,
            Effect::End(ending) => {
                self.note_written(1);
                self.unnoted = match self.run.store.set_ending(run, Some(ending)) {
                    // Another program has replaced the store; the pairs are lost unless the pairs
                    // are saved now.
                    Err(error @ StoreError::Changed { .. }) => {
                        return Err(self.save_elsewhere(error, &[]));
                    }
                    noted => noted.err(),
                };
                self.notify(&RunEvent::Ended { ending, elapsed })?;
            }
        }
        Ok(())
    }

    /// Stores the `FilePrefix` of each games file whose number of written pairs is a multiple of
    /// `pairs`. A resumed run then compares only later games with the file.
    fn note_written(&self, pairs: u64) {
        let Run { store, name, observers, .. } = &self.run;
        for written in observers.iter().filter_map(|observer| observer.written_prefix()) {
            if written.pairs.is_multiple_of(pairs) {
                // An error is ignored: without the record, a resumed run only takes longer to
                // start, because it compares all games.
                let _ = store.note_written(name, &written);
            }
        }
    }

    fn notify(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        notify(&mut self.run.observers, event)
    }
}

/// Returns the error for a pair that could not be played.
fn unplayed(pair: u64, reason: &str) -> RunError {
    RunError::Environment(format!("pair {}: {reason}", pair + 1))
}

fn notify(observers: &mut [&mut dyn Observer], event: &RunEvent<'_>) -> Result<(), ObserverError> {
    observers.iter_mut().try_for_each(|observer| observer.observe(event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_count_pairs_from_1() {
        let error = unplayed(0, "no");
        assert_eq!(error.to_string(), "pair 1: no");
    }
}
