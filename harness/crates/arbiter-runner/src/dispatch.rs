//! The loop of a run: select an event, apply it to the state, carry out the effects.
//!
//! Order of the effects of a finished pair: first the store, then the counts, then the observers.
//! What is counted is on disk.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::executor::{Executor, JobEvent};
use crate::signal::{Request, Signals};
use arbiter_plan::run::control::{Command, MAX_SLOTS, Pace, Status};
use arbiter_plan::run::event::{Ending, Observer, ObserverError, Remark, RunEvent};
use arbiter_plan::run::job::{JobMaker, PlayedPair};
use arbiter_plan::run::noise;
use arbiter_plan::run::standing::PairTally;
use arbiter_plan::run::state::{Effect, Event, RunState};
use arbiter_store::{Store, StoreError};

/// How often observers may look at the time while nothing happens.
const TICK: Duration = Duration::from_millis(500);

/// Pairs kept in memory until they are counted, and events that go to the disk together, at least.
const HELD_PAIRS: usize = 16;

/// The same at most, however many games are played at once.
const MAX_HELD_PAIRS: usize = 1024;

/// What a run needs besides its state and executor.
pub struct Run<'a> {
    /// Its name in the store.
    pub name: &'a str,
    /// Where pairs are committed.
    pub store: &'a mut Store,
    /// Makes the job of a pairing.
    pub jobs: JobMaker<'a>,
    /// Who looks on.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Commands of the user while it runs.
    pub control_requests: mpsc::Receiver<ControlRequest>,
}

/// A command to a running run, and where its answer is waited for.
#[derive(Debug)]
pub struct ControlRequest {
    /// The command.
    pub command: Command,
    /// Takes the answer; nobody need wait for it.
    pub reply: oneshot::Sender<Answer>,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// In a sentence without its end; an error if nothing changed.
    pub words: Result<String, String>,
    /// How the run stands after it.
    pub status: Status,
}

/// Why a run had to stop. Everything committed stays, and the run can be resumed.
#[derive(Debug, Error)]
pub enum RunError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An observer failed.
    #[error(transparent)]
    Observer(#[from] ObserverError),
    /// A pair could not be played for a reason that is no engine's fault.
    #[error("pair {pair}: {reason}")]
    Environment {
        /// The pair.
        pair: u64,
        /// The reason.
        reason: String,
    },
    /// The engines are not the same wherever they are played.
    #[error("{0}")]
    Unfit(String),
    /// Nobody plays for us any more.
    #[error("{0}")]
    Lost(String),
}

/// Who asked for the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A signal, or the key that stands for Ctrl-C.
    Signal(Request),
    /// The command to drain it, or to stop it.
    Drain,
}

/// How a run ended, and who ended it if somebody did.
#[derive(Debug)]
pub struct Finished {
    /// The ending.
    pub ending: Ending,
    /// Who asked for it.
    pub request: Option<Caller>,
}

/// The time of day, in milliseconds of Unix time.
pub fn unix_time_ms() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

/// Any moment, for computations that need one to count from and do not care which it is.
pub fn any_moment() -> Instant {
    Instant::now()
}

/// Plays until the state says that the run is over. Whatever happens, no engine is left.
pub async fn dispatch<E: Executor>(
    mut run: Run<'_>,
    state: &mut RunState,
    mut executor: E,
    signals: &mut Signals,
) -> Result<Finished, RunError> {
    let result = run.until_over(state, &mut executor, signals).await;
    executor.finish().await;
    result
}

impl Run<'_> {
    async fn until_over<E: Executor>(
        &mut self,
        state: &mut RunState,
        executor: &mut E,
        signals: &mut Signals,
    ) -> Result<Finished, RunError> {
        let clock = Instant::now();
        let mut held = BTreeMap::new();
        let mut request = None;
        let started = RunEvent::Started {
            standing: state.standing(),
            counted: state.counted().count() as u64,
            sprt_statuses: state.sprt_statuses(),
        };
        self.tell(&started)?;
        let mut tick = tokio::time::interval(TICK);
        loop {
            self.fill(state, executor);
            if let Some(ending) = state.ending() {
                return Ok(Finished { ending, request });
            }
            let mut excluded = None;
            let events = tokio::select! {
                event = executor.next() => {
                    let (events, last) = self.commit_all(event, executor, &mut held)?;
                    excluded = last;
                    events
                }
                signal = signals.next() => {
                    request = Some(Caller::Signal(signal));
                    vec![Event::Interrupt]
                }
                Some(control) = self.control_requests.recv() => {
                    let (event, words) = apply_control(control.command, state, executor, &mut request);
                    for effect in event.map(|event| state.apply(event)).unwrap_or_default() {
                        self.carry_out(effect, state, executor, &mut held, clock).await?;
                    }
                    let status = status(state, executor);
                    if !control.command.only_asks() {
                        let (pace, slots, elapsed) = (status.pace, status.slots, clock.elapsed());
                        self.tell(&RunEvent::Steered { pace, slots, elapsed })?;
                    }
                    // Whoever asked may be gone.
                    let _ = control.reply.send(Answer { words, status });
                    continue;
                }
                _ = tick.tick() => {
                    self.tell(&RunEvent::Tick { elapsed: clock.elapsed() })?;
                    continue;
                }
            };
            for event in events {
                for effect in state.apply(event) {
                    self.carry_out(effect, state, executor, &mut held, clock).await?;
                }
            }
            if let Some(remark) = excluded {
                self.exclude_worker(&remark, state, &mut held)?;
            }
        }
    }

    /// Lets what somebody has played count no more, who plays no more.
    fn exclude_worker(
        &mut self,
        remark: &Remark,
        state: &mut RunState,
        held: &mut BTreeMap<u64, PlayedPair>,
    ) -> Result<(), RunError> {
        let takes_back = state.can_take_back();
        let now = unix_time_ms();
        let excluded = self.store.exclude_worker(self.name, now, remark, takes_back)?;
        let what = format!("excluded: {}", remark.what);
        self.store.note_remark(self.name, now, &Remark { what, ..remark.clone() })?;
        if excluded.pairs > 0 {
            let kept = self.store.tallies(self.name)?;
            state.take_back(&kept);
            // Their games are in the store, or do not count.
            held.clear();
        }
        let (standing, sprt_statuses, schedule) =
            (state.standing(), state.sprt_statuses(), state.schedule());
        let counted = state.counted().count() as u64;
        let excluded = &excluded;
        Ok(self.tell(&RunEvent::WorkerExcluded {
            excluded,
            standing,
            counted,
            sprt_statuses,
            schedule,
        })?)
    }

    /// Starts pairs while there is room and work.
    fn fill<E: Executor>(&mut self, state: &mut RunState, executor: &mut E) {
        while executor.has_room() {
            let effects = state.apply(Event::Idle);
            let [Effect::Start(pairing)] = effects[..] else {
                if state.has_started_all() {
                    executor.release_idle();
                }
                return;
            };
            executor.start(self.jobs.job(pairing, state.settings(pairing.pair)));
        }
    }

    /// Puts on disk, together, what has happened, as far as it need not be waited for: where many
    /// games are short, pairs end faster than a disk writes one after another. Somebody who is to be
    /// set excluded after that comes back.
    fn commit_all<E: Executor>(
        &mut self,
        first: JobEvent,
        executor: &mut E,
        held: &mut BTreeMap<u64, PlayedPair>,
    ) -> Result<(Vec<Event>, Option<Remark>), RunError> {
        let mut happened = Vec::new();
        let mut next = Some(first);
        let mut excluded = None;
        let most = executor.slots().clamp(HELD_PAIRS, MAX_HELD_PAIRS);
        while let Some(event) = next.take() {
            if let JobEvent::WorkerExcluded(remark) = event {
                excluded = Some(remark);
                break;
            }
            happened.push(event);
            next = if happened.len() < most { executor.ready() } else { None };
        }
        let events = match happened.len() {
            0 => Vec::new(),
            1 => self.commit(happened.remove(0), held, most)?.into_iter().collect(),
            _ => self.commit_group(happened, held, most)?,
        };
        for event in &events {
            match event {
                Event::Committed(tally) => executor.stored(tally.pair),
                Event::Voided(pair) => executor.stored(*pair),
                _ => {}
            }
        }
        Ok((events, excluded))
    }

    fn commit_group(
        &mut self,
        happened: Vec<JobEvent>,
        held: &mut BTreeMap<u64, PlayedPair>,
        most: usize,
    ) -> Result<Vec<Event>, RunError> {
        self.store.begin_group()?;
        let events: Result<Vec<_>, _> =
            happened.into_iter().map(|event| self.commit(event, held, most)).collect();
        // What came before a failure is kept.
        let kept = self.store.commit_group();
        let events = events?.into_iter().flatten().collect();
        kept?;
        Ok(events)
    }

    /// Puts a played pair on disk and keeps its games, with those of `most` pairs, until they are
    /// counted. The state need not know of what is only for observers.
    fn commit(
        &mut self,
        event: JobEvent,
        held: &mut BTreeMap<u64, PlayedPair>,
        most: usize,
    ) -> Result<Option<Event>, RunError> {
        match event {
            JobEvent::Played { played, noise: Some(reason), .. } if self.is_void(&played)? => {
                let pair = played.pairing.pair;
                self.store.void(self.name, &played, &reason)?;
                self.tell(&RunEvent::Disturbed { pair, reason: &reason, is_void: true })?;
                Ok(Some(Event::Voided(pair)))
            }
            JobEvent::Played { mut played, noise, worker } => {
                // What counts is what is on disk, even if it is not what was played just now.
                if !self.store.append(self.name, &played, noise.as_deref(), worker.as_deref())?
                    && let Some(stored) = self.store.pair(self.name, played.pairing.pair)?
                {
                    played = stored;
                }
                if let Some(reason) = &noise {
                    let pair = played.pairing.pair;
                    self.tell(&RunEvent::Disturbed { pair, reason, is_void: false })?;
                }
                played.drop_transcripts();
                let tally = PairTally::of(&played);
                // One that has to wait long for earlier pairs is read from the store again.
                if held.len() < most {
                    held.insert(tally.pair, played);
                }
                Ok(Some(Event::Committed(tally)))
            }
            JobEvent::Started { pairing, half } => {
                self.tell(&RunEvent::GameStarted { pairing: &pairing, half })?;
                Ok(None)
            }
            JobEvent::Failed { pair, reason } => Err(RunError::Environment { pair, reason }),
            JobEvent::Noted(remark) => {
                self.store.note_remark(self.name, unix_time_ms(), &remark)?;
                self.tell(&RunEvent::Noted { remark: &remark })?;
                Ok(None)
            }
            // Whoever puts events on disk does it beside them.
            JobEvent::WorkerExcluded(remark) => {
                self.tell(&RunEvent::Noted { remark: &remark })?;
                Ok(None)
            }
            JobEvent::Unfit(reason) => Err(RunError::Unfit(reason)),
            JobEvent::Lost(reason) => Err(RunError::Lost(reason)),
        }
    }

    /// Whether a disturbed pair may still be played again.
    fn is_void(&self, played: &PlayedPair) -> Result<bool, StoreError> {
        Ok(noise::is_void(self.store.times_voided(self.name, played.pairing.pair)?))
    }

    async fn carry_out<E: Executor>(
        &mut self,
        effect: Effect,
        state: &RunState,
        executor: &mut E,
        held: &mut BTreeMap<u64, PlayedPair>,
        clock: Instant,
    ) -> Result<(), RunError> {
        match effect {
            // Only an idle executor starts pairs, in `fill`.
            Effect::Start(_) => {}
            Effect::Count { tally, sprt_status } => {
                let played = match held.remove(&tally.pair) {
                    Some(played) => Some(played),
                    // Committed before an interruption.
                    None => self.store.pair(self.name, tally.pair)?,
                };
                let elapsed = clock.elapsed();
                if let Some(played) = &played {
                    self.tell(&RunEvent::Counted { played, tally: &tally, sprt_status, elapsed })?;
                }
            }
            Effect::Iterated(iteration) => {
                self.store.append_iteration(self.name, &iteration)?;
                self.tell(&RunEvent::Iterated { iteration: &iteration })?;
            }
            Effect::Drain => {
                self.tell(&RunEvent::Draining { in_flight: state.in_flight() })?;
            }
            Effect::CancelAll => executor.cancel_all().await,
            Effect::End(ending) => {
                self.store.set_ending(self.name, Some(ending))?;
                self.tell(&RunEvent::Ended { ending, elapsed: clock.elapsed() })?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        self.observers.iter_mut().try_for_each(|observer| observer.observe(event))
    }
}

/// Applies a command to the executor; returns its event for the state, if any, and the answer.
fn apply_control<E: Executor>(
    command: Command,
    state: &RunState,
    executor: &mut E,
    request: &mut Option<Caller>,
) -> (Option<Event>, Result<String, String>) {
    let in_flight = match state.in_flight() {
        1 => "1 pair in flight is played to its end".to_owned(),
        count => format!("{count} pairs in flight are played to their end"),
    };
    let is_draining = state.pace() == Pace::Draining;
    match command {
        Command::Status | Command::Boards => (None, Ok(status(state, executor).to_string())),
        Command::Pause | Command::Resume if is_draining => {
            (None, Err("the run is being drained and starts no more pairs".to_owned()))
        }
        Command::Pause => (Some(Event::Pause), Ok(format!("paused; {in_flight}"))),
        Command::Resume => (Some(Event::Unpause), Ok("running".to_owned())),
        Command::Drain => {
            // Who asked for the end first decides how it is told.
            request.get_or_insert(Caller::Drain);
            (Some(Event::Drain), Ok(format!("draining; {in_flight}")))
        }
        Command::Stop => {
            request.get_or_insert(Caller::Drain);
            (Some(Event::Stop), Ok(format!("stopped; given up: {} pairs", state.in_flight())))
        }
        Command::Interrupt => {
            *request = Some(Caller::Signal(Request::Interrupt));
            (Some(Event::Interrupt), Ok("interrupted".to_owned()))
        }
        Command::Concurrency(slots) => (None, set_slots(slots, executor)),
        Command::MoreSlots(more) => {
            let slots = executor.slots().saturating_add_signed(more as isize);
            (None, set_slots(slots.clamp(1, MAX_SLOTS), executor))
        }
    }
}

fn set_slots<E: Executor>(slots: usize, executor: &mut E) -> Result<String, String> {
    executor.set_slots(slots)?;
    Ok(if slots == 1 { "1 game at once".to_owned() } else { format!("{slots} games at once") })
}

fn status<E: Executor>(state: &RunState, executor: &E) -> Status {
    Status {
        pace: state.pace(),
        slots: executor.slots(),
        in_flight: state.in_flight(),
        counted: state.counted().count() as u64,
        expected: state.schedule().expected(),
        games: state.standing().games(),
        faults: state.standing().faults.values().sum(),
    }
}
