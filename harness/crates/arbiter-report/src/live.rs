//! The view of a running match on standard error: a bar on a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::lint::place;
use crate::standings::leaders_line;
use crate::status::{Progress, one_line};
use crate::terminal::{is_quiet, note};
use crate::tuned;
use arbiter_game::lint::LintFinding;
use arbiter_game::record::GameRecord;
use arbiter_plan::{Observer, ObserverError, Pace, Plan, RunCounts, RunEvent, RunState};
use arbiter_spsa::Tuning;
use arbiter_stats::SprtStatus;

/// Time between two plain lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Watches a run and shows how it stands.
#[derive(Debug)]
pub struct Live {
    bar: Option<ProgressBar>,
    engines: Vec<String>,
    progress: Progress,
    /// When the last plain line was written.
    shown: Option<Duration>,
    pace: Pace,
    /// Games at once, once the user has changed their number.
    slots: Option<usize>,
    /// Times that CPU contention can have decided a pair.
    suspect: u64,
    /// Whether keys are listened to.
    has_keys: bool,
    /// What is tuned, iterations with a result, and the values after them.
    tuning: Option<(Arc<Tuning>, u64, Vec<f64>)>,
}

/// The keys, as the live view names them.
const KEYS: &str = "p pause · r resume · d drain · + - games at once · q stop";

impl Live {
    /// A view of a run that has come so far; draws a bar if standard error is a terminal. `has_keys` says
    /// whether the keys are to be named.
    pub fn new(plan: &Plan, state: &RunState, has_keys: bool) -> Live {
        let schedule = state.schedule().clone();
        let bar = (std::io::stderr().is_terminal() && !is_quiet()).then(|| {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(schedule.expected()), target);
            let style = ProgressStyle::with_template("[{elapsed}] {bar:50}\n{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Live {
            bar,
            engines: plan.engines.iter().map(|engine| engine.name.clone()).collect(),
            progress: Progress {
                sprt: plan.sprt,
                sprt_statuses: BTreeMap::new(),
                schedule,
                counts: RunCounts::default(),
                counted: 0,
                counted_before: 0,
            },
            shown: None,
            pace: Pace::Running,
            slots: None,
            suspect: 0,
            has_keys,
            tuning: state.spsa().map(|s| (s.tuning().clone(), s.finished(), s.theta().to_vec())),
        }
    }

    fn show(&mut self, elapsed: Duration) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(self.progress.schedule.expected());
                bar.set_position(self.progress.counted);
                let keys = self.has_keys.then(|| format!("\n{KEYS}"));
                bar.set_message(self.lines(elapsed).join("\n") + &keys.unwrap_or_default());
            }
            None => {
                let due = self.shown.is_none_or(|shown| elapsed >= shown + PLAIN_INTERVAL);
                if due && self.progress.counted > self.progress.counted_before {
                    self.shown = Some(elapsed);
                    note(&self.line(elapsed));
                }
            }
        }
    }

    /// The evidence, which in a tournament is who leads, and the pace.
    fn lines(&self, elapsed: Duration) -> [String; 2] {
        let [evidence, mut pace] = self.progress.lines(elapsed);
        if let Some(slots) = self.slots {
            pace.push_str(&format!(" · {slots} at once"));
        }
        if self.suspect > 0 {
            pace.push_str(&format!(" · CPU contention in {}", self.suspect));
        }
        if self.pace != Pace::Running {
            pace.push_str(&format!(" · {}", self.pace));
        }
        if let Some((tuning, finished, theta)) = &self.tuning {
            return [tuned::line(tuning, *finished, theta), pace];
        }
        match leaders_line(&self.progress.schedule, &self.engines) {
            Some(leaders) => [leaders, pace],
            None => [evidence, pace],
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        one_line(self.lines(elapsed))
    }

    /// So much counts, whatever was counted before.
    fn count_anew(
        &mut self,
        counts: &RunCounts,
        counted: u64,
        sprt_statuses: &BTreeMap<[usize; 2], SprtStatus>,
    ) {
        self.progress.counts = counts.clone();
        self.progress.sprt_statuses = sprt_statuses.clone();
        self.progress.counted = counted;
        self.progress.counted_before = self.progress.counted_before.min(counted);
    }

    /// A game that has ended, in one line.
    fn game_line(&self, pair: u64, half: usize, game: &GameRecord) -> String {
        let name = |engine: usize| self.engines[engine].as_str();
        format!(
            "game {}.{}: {} – {} {}, {}, {} plies, {:.1} s",
            pair + 1,
            half + 1,
            name(game.engines.white),
            name(game.engines.black),
            game.outcome.result.as_str(),
            game.outcome.termination,
            game.moves.len(),
            game.duration.as_secs_f64()
        )
    }

    /// Says what is to be said of a game that has ended.
    fn tell_game(&self, pair: u64, half: usize, game: &GameRecord) {
        if log::log_enabled!(log::Level::Debug) {
            self.debug(self.game_line(pair, half, game));
            for (ply, color, LintFinding { rule, what }) in game.findings() {
                let engine = &self.engines[*game.engines.get(color)];
                let place = place(pair, half, game, ply);
                self.debug(format!("lint: {engine} in {place}: {}: {what}", rule.words()));
            }
        }
        if game.outcome.termination.is_fault() {
            let [white, black] =
                [game.engines.white, game.engines.black].map(|engine| &self.engines[engine]);
            self.say(&format!(
                "fault in game {}.{} ({white} v {black}): {}",
                pair + 1,
                half + 1,
                game.outcome.detail
            ));
        }
    }

    fn debug(&self, line: String) {
        match &self.bar {
            Some(bar) if log::log_enabled!(log::Level::Debug) => bar.println(line),
            _ => log::debug!("{line}"),
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => note(text),
        }
    }
}

impl Observer for Live {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        match event {
            RunEvent::Started { counts, counted, sprt_statuses } => {
                self.progress.counted_before = *counted;
                self.count_anew(counts, *counted, sprt_statuses);
            }
            RunEvent::Counted { played, tally, sprt_status, elapsed } => {
                let progress = &mut self.progress;
                progress.counts.count(tally);
                progress.schedule.count(tally.pair, tally.halves(), tally.games().count() as u64);
                progress.counted += 1;
                let twosome = tally.twosome();
                progress.sprt_statuses.extend(sprt_status.map(|status| (twosome, status)));
                for (half, game) in played.games.iter().enumerate() {
                    self.tell_game(tally.pair, half, game);
                }
                self.show(*elapsed);
            }
            RunEvent::Iterated { iteration } => {
                if let Some((_, finished, theta)) = &mut self.tuning {
                    (*finished, *theta) = (iteration.number + 1, iteration.theta.clone());
                }
            }
            RunEvent::Disturbed { pair, reason, is_void } => {
                self.suspect += 1;
                let fate = if *is_void { "is played again" } else { "counts" };
                self.debug(format!("pair {} {fate}: {reason}", pair + 1));
            }
            RunEvent::Noted { remark } => self.say(&remark.to_string()),
            RunEvent::WorkerExcluded { excluded, counts, counted, sprt_statuses, schedule } => {
                self.say(&excluded.to_string());
                self.progress.schedule = (*schedule).clone();
                self.count_anew(counts, *counted, sprt_statuses);
            }
            RunEvent::GameStarted { .. } | RunEvent::GameEnded { .. } => {}
            RunEvent::Tick { elapsed } => self.show(*elapsed),
            RunEvent::Steered { pace, slots, elapsed } => {
                if self.bar.is_none() && (*pace, Some(*slots)) != (self.pace, self.slots) {
                    note(&format!("{pace}, {slots} games at once"));
                }
                (self.pace, self.slots) = (*pace, Some(*slots));
                if self.bar.is_some() {
                    self.show(*elapsed);
                }
            }
            RunEvent::Draining { in_flight } => {
                self.pace = Pace::Draining;
                self.say(&format!(
                    "no more pairs start; {in_flight} in flight are played to their end; interrupt \
                     again to stop now"
                ));
            }
            RunEvent::Ended { elapsed, .. } => match &self.bar {
                Some(bar) => bar.finish_and_clear(),
                None => note(&self.line(*elapsed)),
            },
        }
        Ok(())
    }
}
