//! The loop of a run: select an event, apply it to the state, carry out the effects.
//!
//! Order of the effects of a finished pair: first the store, then the counts, then the observers.
//! Every counted pair is on disk.

#![expect(clippy::disallowed_methods, reason = "the dispatcher stamps events")]

mod control;

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use thiserror::Error;
use tokio::sync::mpsc;

pub use control::{Answer, ControlRequest};

use crate::executor::{Executor, JobEvent};
use crate::signal::{Signals, StopSignal};
use arbiter_plan::{
    Effect, JobMaker, Observer, ObserverError, Overload, Pace, PairTally, Plan, PlayedPair, Remark,
    RunEnd, RunEvent, RunInput, RunState, voided_again,
};
use arbiter_store::{Store, StoreError, StoredRun};

/// Interval at which observers may look at the time, and at the games in progress.
const TICK: Duration = Duration::from_millis(200);

/// Counted pairs between two notes in the store of the written games files. Each note is a write;
/// after a run without notes, the resumed run compares all games.
const NOTED_PAIRS: u64 = 256;

/// Minimum limit of pairs that are kept in memory until they are counted, and of events in one
/// commit.
const HELD_PAIRS: usize = 16;

/// Maximum limit of such pairs and events, whatever the concurrency. Other pairs are read from the
/// store again when their turn comes.
const MAX_HELD_PAIRS: usize = 1024;

/// Inputs of a run besides its state and executor.
pub struct Run<'a> {
    /// Name of the run in the store.
    pub name: &'a str,
    /// Store in which pairs are committed.
    pub store: &'a mut Store,
    /// Maker of the jobs of pairings.
    pub jobs: JobMaker<'a>,
    /// `true` if a signal ends the run without the pairs in flight.
    pub stops_at_once: bool,
    /// Plan of the run.
    pub plan: &'a Plan,
    /// Observers of the run's events.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Channel of the user's commands.
    pub control_requests: mpsc::Receiver<ControlRequest>,
}

/// Reason that a run had to stop. Everything committed stays, and the run can be resumed.
#[derive(Debug, Error)]
pub enum RunError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store refuses played pairs.
    #[error("{source}; {saved}")]
    Unsaved {
        /// Reason of the store.
        source: StoreError,
        /// Place where the pairs were saved, and advice.
        saved: String,
    },
    /// An observer failed.
    #[error(transparent)]
    Observer(#[from] ObserverError),
    /// A pair could not be played for a reason that is no engine's fault.
    #[error("pair {pair}: {reason}")]
    Environment {
        /// Number of the pair.
        pair: u64,
        /// The reason.
        reason: String,
    },
    /// The engines do not behave the same on all machines.
    #[error("{0}")]
    Unfit(String),
    /// More games end by faults of engines than the plan allows.
    #[error(
        "{cause}{faults} of {games} games ended by an engine fault ({by_engine}), far more than --fault-limit {limit}"
    )]
    TooManyFaults {
        /// Overload of the machine, as a sentence; empty if the machine is not to blame.
        cause: String,
        /// Number of such games.
        faults: u64,
        /// Number of all counted games.
        games: u64,
        /// Number of such games of each engine, as text.
        by_engine: String,
        /// Share of faults that the plan allows, 0 to 1.
        limit: f64,
    },
    /// No worker can be reached any more.
    #[error("{0}")]
    Lost(String),
}

/// Cause of a run's stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// A signal, or the key that stands for Ctrl-C.
    Signal(StopSignal),
    /// The command to drain it, or to stop it.
    Drain,
}

/// Ending of a run, and the cause of a stop, if there was one.
#[derive(Debug)]
pub struct Finished {
    /// Way in which the run ended.
    pub ending: RunEnd,
    /// Cause of the stop.
    pub stop_cause: Option<StopCause>,
    /// Reason that the store lacks the ending, though it has all pairs.
    pub unnoted: Option<StoreError>,
}

/// Returns the time of day, in milliseconds of Unix time.
pub fn unix_time_ms() -> i64 {
    // A clock before 1970 is wrong, but a run can do without the date.
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

/// Returns any moment, for computations that only need a point to count from.
pub fn any_moment() -> Instant {
    Instant::now()
}

/// Plays until the state is over. In any case, no engine is left. An error leaves the committed
/// pairs in the store, so that the run can be resumed.
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

/// A run in progress.
struct Dispatcher<'a, 'r, E> {
    run: Run<'r>,
    /// Row of the run in the store.
    stored: StoredRun,
    state: &'a mut RunState,
    executor: E,
    /// Clock since the start.
    clock: Instant,
    /// Pairs that are on disk and not counted yet, as many as are kept in memory.
    held: BTreeMap<u64, PlayedPair>,
    /// `true` if no worker has played a pair: a bad worker is excluded, and its games do not count.
    is_local: bool,
    /// Cause of the stop: the last signal, as scripts expect its exit code, or else a command.
    stop_cause: Option<StopCause>,
    unnoted: Option<StoreError>,
}

impl<E: Executor> Dispatcher<'_, '_, E> {
    async fn until_over(&mut self, signals: &mut Signals) -> Result<Finished, RunError> {
        let started = RunEvent::Started {
            counts: self.state.counts(),
            counted: self.state.counted_pairs().count() as u64,
            sprt_statuses: self.state.sprt_statuses(),
        };
        notify(&mut self.run.observers, &started)?;
        let mut tick = tokio::time::interval(TICK);
        loop {
            // Commands come before new pairs, so that a pause or a drain by an observer takes
            // effect now.
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
                    self.notify(&RunEvent::Tick { elapsed: self.clock.elapsed() })?;
                    // Pairs of workers that are gone would otherwise delay the end until their
                    // leases expire.
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

    /// Returns an error if the run cannot end well any more.
    fn check_faults(&self) -> Result<(), RunError> {
        let (counts, limit) = (self.state.counts(), self.run.plan.fault_limit);
        // A bad worker is excluded with its faults instead, and a lenient plan follows other
        // programs, which play on.
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
        let overload =
            Overload::of(self.run.plan, counts, &self.run.store.latencies(self.run.name)?);
        let cause = overload.map(|overload| format!("{overload}; ")).unwrap_or_default();
        let (faults, games) = (each.values().sum(), counts.games());
        Err(RunError::TooManyFaults { cause, faults, games, by_engine, limit })
    }

    /// Excludes a worker, whose pairs no longer count.
    fn exclude_worker(&mut self, remark: &Remark) -> Result<(), RunError> {
        let takes_back = self.state.can_take_back();
        let (store, name, now) = (&mut self.run.store, self.run.name, unix_time_ms());
        let excluded = &store.exclude_worker(name, now, remark, takes_back)?;
        let text = format!("excluded: {}", remark.text);
        store.note_remark(name, now, &Remark { text, ..remark.clone() })?;
        if excluded.pairs > 0 {
            self.state.take_back(&store.tallies(name)?);
            // Pairs in memory may be those of the worker. The others are read from the store again.
            self.held.clear();
        }
        let event = RunEvent::WorkerExcluded {
            excluded,
            counts: self.state.counts(),
            counted: self.state.counted_pairs().count() as u64,
            sprt_statuses: self.state.sprt_statuses(),
            schedule: self.state.schedule(),
        };
        Ok(notify(&mut self.run.observers, &event)?)
    }

    /// Starts pairs while there is room and work.
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

    /// Commits the first event, and all others that are ready, as one group: short games end faster
    /// than a disk writes them one by one. Returns the inputs for the state, and the worker to
    /// exclude after them, if any.
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
            // A pair for which there is no room here is read from the store when its turn comes.
            if let JobEvent::Played { pair, mut played, .. } = event
                && self.held.len() < most
                && events.contains(&RunInput::Committed(PairTally::of(&played)))
            {
                // Transcripts are on disk by now, and need not wait in memory for earlier pairs.
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
        // The group is committed even after a failure, so that the pairs before it are kept.
        let kept = self.run.store.commit_group();
        let events = events?.into_iter().flatten().collect();
        // The failure of an event is reported first, because it is the cause.
        kept?;
        Ok(events)
    }

    /// Saves the pairs that the store refuses; the error names the place.
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
        RunError::Unsaved { source, saved }
    }

    /// Writes a played pair to disk. Returns no input for events that are for observers only.
    fn commit(&mut self, event: &mut JobEvent) -> Result<Option<RunInput>, RunError> {
        let run = self.run.name;
        match event {
            JobEvent::Played { pair, played, worker } => {
                let pair = *pair;
                let suspicion = self.run.plan.suspicion(played);
                if let Some(reason) = &suspicion
                    && let Some(voided) = self.voided(pair)?
                {
                    self.run.store.void(run, played, reason)?;
                    self.notify(&RunEvent::Disturbed { pair, reason, is_void: true })?;
                    return Ok(Some(voided));
                }
                // If the store has the pair already, the stored games count, because a resumed run
                // would count them.
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
            JobEvent::Paused(length) => self.notify(&RunEvent::Paused { length: *length })?,
            JobEvent::Failed { pair, reason } => {
                return Err(RunError::Environment { pair: *pair, reason: std::mem::take(reason) });
            }
            JobEvent::Noted(remark) => {
                self.run.store.note_remark(run, unix_time_ms(), remark)?;
                self.notify(&RunEvent::Noted { remark })?;
            }
            // Nothing of these is written here: `commit_all` takes exclusions out of its group, and
            // presence is not stored.
            JobEvent::WorkerExcluded(remark) | JobEvent::Presence(remark) => {
                self.notify(&RunEvent::Noted { remark })?;
            }
            JobEvent::Unfit(reason) => return Err(RunError::Unfit(std::mem::take(reason))),
            JobEvent::Lost(reason) => return Err(RunError::Lost(std::mem::take(reason))),
        }
        Ok(None)
    }

    /// Returns the input by which a suspect pair is played again, if it is.
    fn voided(&self, pair: u64) -> Result<Option<RunInput>, StoreError> {
        let Run { store, name, plan, .. } = &self.run;
        let times = store.times_voided(name, pair)?;
        let voided = voided_again(pair, times, self.state.is_fixed());
        Ok(voided.filter(|_| !plan.counts_disturbed))
    }

    async fn apply_effect(&mut self, effect: Effect) -> Result<(), RunError> {
        let (run, elapsed) = (self.run.name, self.clock.elapsed());
        match effect {
            // These answer `RunInput::Idle` only, which `fill` applies.
            Effect::Start(_) | Effect::Ease => {}
            Effect::Count { tally, sprt_status } => {
                let played = match self.held.remove(&tally.pair) {
                    Some(played) => Some(played),
                    // The pair was committed before an interruption, or there was no room for it in
                    // memory.
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
                self.notify(&RunEvent::Iterated { iteration: &iteration })?;
            }
            Effect::Drain => {
                self.notify(&RunEvent::Draining { in_flight: self.state.in_flight() })?;
            }
            Effect::CancelAll => self.executor.cancel_all().await,
            Effect::End(ending) => {
                self.note_written(1);
                self.unnoted = match self.run.store.set_ending(run, Some(ending)) {
                    // Another program has replaced the store, so that the pairs in it are lost
                    // unless they are saved now.
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

    /// Notes the written part of the games files if its number of pairs is a multiple of `pairs`,
    /// so that a resumption only compares what came later.
    fn note_written(&self, pairs: u64) {
        let Run { store, name, observers, .. } = &self.run;
        for written in observers.iter().filter_map(|observer| observer.written_prefix()) {
            if written.pairs.is_multiple_of(pairs) {
                // Without the note, a resumed run compares all games, which only takes longer.
                let _ = store.note_written(name, &written);
            }
        }
    }

    fn notify(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        notify(&mut self.run.observers, event)
    }
}

fn notify(observers: &mut [&mut dyn Observer], event: &RunEvent<'_>) -> Result<(), ObserverError> {
    observers.iter_mut().try_for_each(|observer| observer.observe(event))
}
