//! Recent events and playing time of a run in progress, for the live view and live pages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shakmaty::ByColor;

use arbiter_game::record::GameRecord;
use arbiter_names::quantity;
use arbiter_plan::Plan;
use arbiter_run::{Observer, ObserverError, Pace, RunEvent};

/// Maximum number of events that are stored.
const MAX_EVENTS: usize = 50;

/// Playing time and recent events of a run since its start or resumption.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Recent {
    /// Playing time in milliseconds, without pauses.
    pub active_ms: u64,
    /// Number of pairs counted before the start or resumption.
    pub pairs_before: u64,
    /// Events, newest first: faults, disturbed pairs, commands, events of workers.
    pub events: Vec<RecentEvent>,
}

/// Event of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecentEvent {
    /// Unix time in milliseconds.
    pub at_ms: i64,
    /// Description of the event.
    pub text: String,
}

/// Playing time of a run, without pauses.
#[derive(Debug, Default)]
pub(crate) struct ActiveTime {
    /// Total time of finished pauses.
    paused: Duration,
    /// Time from the start of the run to the start of the current pause, if any.
    paused_since: Option<Duration>,
}

impl ActiveTime {
    /// Returns the playing time when `elapsed` has passed since the start of the run.
    pub(crate) fn of(&self, elapsed: Duration) -> Duration {
        let now = self.paused_since.map_or(Duration::ZERO, |since| elapsed.saturating_sub(since));
        elapsed.saturating_sub(self.paused + now)
    }

    /// Records a counted pair. In a paused run, the time up to the end of this pair counts as
    /// playing time, because the pair was still in progress after the pause command.
    pub(crate) fn note_counted_pair(&mut self, elapsed: Duration) {
        self.paused_since = self.paused_since.map(|_| elapsed);
    }

    /// Records a pace that the user chose.
    pub(crate) fn steered(&mut self, pace: Pace, elapsed: Duration) {
        self.paused = elapsed - self.of(elapsed);
        self.paused_since = (pace == Pace::Paused).then_some(elapsed);
    }
}

/// Describes the fault that ended a game; `None` if the game ended without a fault.
pub(crate) fn fault_text(
    pair: u64,
    game_index: usize,
    game: &GameRecord,
    engines: &[String],
) -> Option<String> {
    let names = game.engines.map(|engine| engines[engine].as_str());
    let (ByColor { white, black }, detail) = (names, game.outcome.naming(names));
    let (pair, number) = (pair + 1, game_index + 1);
    let text = || format!("fault in game {pair}.{number} ({white} v {black}): {detail}");
    game.outcome.termination.is_fault().then(text)
}

/// Returns descriptions of an event: one string per fault for a counted pair, and no string for an
/// unimportant event. `engines` contains the names of the engines.
pub fn event_texts(event: &RunEvent<'_>, engines: &[String]) -> Vec<String> {
    match event {
        RunEvent::Counted { played, tally, .. } => {
            let text = |(index, game)| fault_text(tally.pair, index, game, engines);
            played.games.iter().enumerate().filter_map(text).collect()
        }
        RunEvent::Disturbed { pair, reason, is_void } => {
            let fate = if *is_void { "is played again" } else { "counts" };
            vec![format!("pair {} {fate}: {reason}", pair + 1)]
        }
        RunEvent::Paused(length) => vec![format!(
            "arbiter did not run for {:.1} s (stopped or suspended): timed pairs in progress \
             are played again",
            length.as_secs_f64()
        )],
        RunEvent::Noted(remark) => vec![remark.to_string()],
        RunEvent::WorkerExcluded { excluded, .. } => vec![excluded.to_string()],
        RunEvent::Steered { pace, slots, .. } => {
            vec![format!("{pace}, {} in parallel", quantity(slots, "game"))]
        }
        RunEvent::Draining(in_flight) => {
            let pairs = quantity(in_flight, "pair");
            vec![format!("finishing {pairs} in progress; press Ctrl-C again to stop immediately")]
        }
        _ => Vec::new(),
    }
}

/// Observer of a run that stores recent events for live pages; all clones share the events.
#[derive(Debug, Clone)]
pub struct RecentEvents(Arc<Mutex<RecentState>>);

#[derive(Debug, Default)]
struct RecentState {
    /// Unix time in milliseconds at which the run started or resumed.
    started_ms: i64,
    engines: Vec<String>,
    /// Time from the start to the last event that has a time.
    elapsed: Duration,
    active_time: ActiveTime,
    /// Last pace and concurrency that the user chose.
    steered: Option<(Pace, usize)>,
    recent: Recent,
}

impl RecentEvents {
    /// Returns an observer for a run that starts or resumes at `started_ms` (Unix time in
    /// milliseconds).
    pub fn new(plan: &Plan, started_ms: i64) -> RecentEvents {
        let engines = plan.engines.iter().map(|engine| engine.name.clone()).collect();
        RecentEvents(Arc::new(Mutex::new(RecentState {
            started_ms,
            engines,
            ..RecentState::default()
        })))
    }

    /// Returns the playing time and the recent events so far.
    pub fn recent(&self) -> Recent {
        self.lock().recent.clone()
    }

    fn lock(&self) -> MutexGuard<'_, RecentState> {
        // The state is only displayed, so a panic of a thread during a change does no harm.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for RecentEvents {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        let mut state = self.lock();
        let mut is_new = true;
        match event {
            RunEvent::Started(run) => {
                state.recent.pairs_before = run.counted_pairs().count() as u64;
            }
            RunEvent::Counted { elapsed, .. } => {
                state.elapsed = *elapsed;
                state.active_time.note_counted_pair(*elapsed);
            }
            RunEvent::Steered { pace, slots, elapsed } => {
                state.elapsed = *elapsed;
                state.active_time.steered(*pace, *elapsed);
                is_new = state.steered.replace((*pace, *slots)) != Some((*pace, *slots));
            }
            RunEvent::Tick(elapsed) => state.elapsed = *elapsed,
            _ => {}
        }
        let texts = if is_new { event_texts(event, &state.engines) } else { Vec::new() };
        let at_ms = state.started_ms + state.elapsed.as_millis() as i64;
        for text in texts {
            state.recent.events.insert(0, RecentEvent { at_ms, text });
        }
        state.recent.events.truncate(MAX_EVENTS);
        state.recent.active_ms = state.active_time.of(state.elapsed).as_millis() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::{Request, RunKind};

    #[test]
    fn events_are_newest_first_and_pauses_are_not_playing_time() {
        let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        let mut events = RecentEvents::new(&plan, 1_000);
        let at = Duration::from_secs;
        let steered = |pace, seconds| RunEvent::Steered { pace, slots: 2, elapsed: at(seconds) };
        let disturbed = RunEvent::Disturbed { pair: 4, reason: "waited", is_void: true };
        let all = [
            RunEvent::Tick(at(10)),
            steered(Pace::Paused, 20),
            steered(Pace::Paused, 30),
            steered(Pace::Running, 50),
            disturbed,
            RunEvent::Tick(at(60)),
        ];
        all.iter().for_each(|event| events.observe(event).unwrap());
        let Recent { active_ms, events: listed, .. } = events.recent();
        assert_eq!(active_ms, 30_000);
        let listed: Vec<_> =
            listed.iter().map(|event| (event.at_ms, event.text.as_str())).collect();
        let expected = [
            (51_000, "pair 5 is played again: waited"),
            (51_000, "running, 2 games in parallel"),
            (21_000, "paused, 2 games in parallel"),
        ];
        assert_eq!(listed, expected);
        let many = RunEvent::Disturbed { pair: 0, reason: "", is_void: false };
        (0..2 * MAX_EVENTS).for_each(|_| events.observe(&many).unwrap());
        assert_eq!(events.recent().events.len(), MAX_EVENTS);
    }
}
