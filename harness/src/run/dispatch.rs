//! The loop of a run: select an event, apply it to the state, carry out the effects.
//!
//! Order of the effects of a finished pair: first the store, then the counts, then the observers.
//! What is counted is on disk.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use thiserror::Error;

use crate::run::event::{Ending, Observer, ObserverError, RunEvent};
use crate::run::executor::{Executor, JobEvent};
use crate::run::job::{JobMaker, PlayedPair};
use crate::run::signal::{Request, Signals};
use crate::run::standing::PairTally;
use crate::run::state::{Effect, Event, RunState};
use crate::store::{Store, StoreError};

/// How often observers may look at the time while nothing happens.
const TICK: Duration = Duration::from_millis(500);

/// Pairs kept in memory until they are counted.
const HELD_PAIRS: usize = 16;

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
}

/// How a run ended, and which signal ended it if one did.
#[derive(Debug)]
pub struct Finished {
    /// The ending.
    pub ending: Ending,
    /// The signal that asked for it.
    pub request: Option<Request>,
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
            looks: state.looks(),
        };
        self.tell(&started)?;
        let mut tick = tokio::time::interval(TICK);
        loop {
            self.fill(state, executor);
            if let Some(ending) = state.ending() {
                return Ok(Finished { ending, request });
            }
            let event = tokio::select! {
                event = executor.next() => self.commit(event, &mut held)?,
                signal = signals.next() => {
                    request = Some(signal);
                    Event::Interrupt
                }
                _ = tick.tick() => {
                    self.tell(&RunEvent::Tick { elapsed: clock.elapsed() })?;
                    continue;
                }
            };
            for effect in state.apply(event) {
                self.carry_out(effect, state, executor, &mut held, clock).await?;
            }
        }
    }

    /// Starts pairs while there is room and work.
    fn fill<E: Executor>(&mut self, state: &mut RunState, executor: &mut E) {
        while executor.has_room() {
            let effects = state.apply(Event::Idle);
            let [Effect::Start(pairing)] = effects[..] else { return };
            executor.start(self.jobs.job(pairing));
        }
    }

    /// Puts a played pair on disk and keeps its games until they are counted.
    fn commit(
        &mut self,
        event: JobEvent,
        held: &mut BTreeMap<u64, PlayedPair>,
    ) -> Result<Event, RunError> {
        match event {
            JobEvent::Played(mut played) => {
                // What counts is what is on disk, even if it is not what was played just now.
                if !self.store.append(self.name, &played)?
                    && let Some(stored) = self.store.pair(self.name, played.pairing.pair)?
                {
                    played = stored;
                }
                played.drop_transcripts();
                let tally = PairTally::of(&played);
                // One that has to wait long for earlier pairs is read from the store again.
                if held.len() < HELD_PAIRS {
                    held.insert(tally.pair, played);
                }
                Ok(Event::Committed(tally))
            }
            JobEvent::Failed { pair, reason } => Err(RunError::Environment { pair, reason }),
        }
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
            Effect::Count { tally, look } => {
                let played = match held.remove(&tally.pair) {
                    Some(played) => Some(played),
                    // Committed before an interruption.
                    None => self.store.pair(self.name, tally.pair)?,
                };
                let elapsed = clock.elapsed();
                if let Some(played) = &played {
                    self.tell(&RunEvent::Counted { played, tally: &tally, look, elapsed })?;
                }
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
