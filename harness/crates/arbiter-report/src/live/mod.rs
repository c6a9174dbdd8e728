//! Live view of a run on standard error: redrawn lines on a terminal, plain lines elsewhere.

mod boards;
mod recent;
mod screen;
mod status;

pub use boards::{Board, Boards, Running, Side};
pub use recent::{Recent, RecentEvent, RecentEvents, event_texts};
pub use status::outlook;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use indicatif::FormattedDuration;

use self::recent::{ActiveTime, fault_text};
use self::screen::Screen;
use self::status::Progress;
use crate::figures::leaders_line;
use crate::parts::{is_quiet, note, ratio, signed};
use crate::topics::lint::place;
use crate::topics::tuning;
use arbiter_game::lint::LintFinding;
use arbiter_game::record::GameRecord;
use arbiter_names::quantity;
use arbiter_plan::Plan;
use arbiter_run::{Observer, ObserverError, Pace, RunEvent, RunState};
use arbiter_spsa::Tuning;
use arbiter_stats::SprtStatus;

/// Minimum time between two plain lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Minimum width of a terminal, in columns, for a view with more than three lines.
const NARROW: usize = 70;

/// Maximum number of games in the view.
const MAX_GAMES: usize = 8;
/// Width, in columns, of a game's line without the engine names.
const GAME_COLUMNS: usize = 58;

/// Minimum and maximum width of the bar, in columns.
const BAR: std::ops::RangeInclusive<usize> = 8..=60;

/// Live view of a run.
pub struct Live<'a> {
    screen: Option<Screen>,
    /// Function that returns the games in progress; the argument is the maximum number of games to
    /// return.
    games: Box<dyn Fn(usize) -> Boards + 'a>,
    engines: Vec<String>,
    progress: Progress,
    /// Time from the start of the run to the last plain line, and the number of pairs counted when
    /// the line was printed.
    last_line: Option<(Duration, u64)>,
    /// Faults that were printed when a game ended, each as the number of the pair and a text. These
    /// faults are not printed again when the pair is counted.
    printed_faults: BTreeSet<(u64, String)>,
    pace: Pace,
    active_time: ActiveTime,
    /// Concurrency, if the user has changed the concurrency during the run.
    slots: Option<usize>,
    /// Number of played pairs whose results may have been decided by CPU contention. A pair that is
    /// played again can count several times.
    suspect: u64,
    /// `true` if the view contains the line that explains the keys.
    has_keys: bool,
    /// Configuration of the tuning run, number of finished iterations, and current parameter
    /// values.
    tuning: Option<(Arc<Tuning>, u64, Vec<f64>)>,
}

/// Line of the live view that explains the keys.
const KEYS: &str = "p pause · r resume · d drain · + - concurrency · q stop";

impl<'a> Live<'a> {
    /// Returns a live view of a run in the state `state`. If `has_keys` is `true`, the view
    /// explains the keys. `games` returns the first games in progress; the argument of `games` is
    /// the maximum number of games.
    pub fn new(
        plan: &Plan,
        state: &RunState,
        has_keys: bool,
        games: impl Fn(usize) -> Boards + 'a,
    ) -> Live<'a> {
        Live {
            screen: (std::io::stderr().is_terminal() && !is_quiet()).then(Screen::default),
            games: Box::new(games),
            engines: plan.engines.iter().map(|engine| engine.name.clone()).collect(),
            progress: Progress::of(plan.sprt, state),
            last_line: None,
            printed_faults: BTreeSet::new(),
            pace: Pace::Running,
            active_time: ActiveTime::default(),
            slots: None,
            suspect: 0,
            has_keys,
            tuning: state.spsa().map(|s| (s.tuning().clone(), s.finished(), s.theta().to_vec())),
        }
    }

    fn show(&mut self, elapsed: Duration) {
        if let Some(screen) = &self.screen {
            let (columns, rows) = screen::size();
            return screen.draw(self.display(elapsed, columns, rows));
        }
        let due = self.last_line.is_none_or(|(at, _)| elapsed >= at + PLAIN_INTERVAL);
        if due && self.progress.counted > self.progress.counted_before {
            self.last_line = Some((elapsed, self.progress.counted));
            note(&self.line(elapsed));
        }
    }

    /// Returns the lines of the view for a terminal with `columns` columns and `rows` rows.
    fn display(&self, elapsed: Duration, columns: usize, rows: usize) -> Vec<String> {
        let mut lines = if columns < NARROW {
            self.narrow_lines(elapsed, columns)
        } else {
            self.wide_lines(elapsed, columns, rows)
        };
        // The last row is left for the cursor. Otherwise the first line would scroll off the screen
        // and could not be erased.
        lines.truncate(rows.saturating_sub(1).max(1));
        lines.iter().map(|line| cut(line, columns)).collect()
    }

    fn narrow_lines(&self, elapsed: Duration, columns: usize) -> Vec<String> {
        let mut evidence = self.progress.chances();
        // The probabilities of H1 and H0 determine the probability of no verdict, which is
        // therefore omitted.
        evidence.truncate(2);
        evidence.extend(self.evidence().into_iter().take(1));
        evidence.extend(self.progress.test().map(|_| self.progress.pairs()));
        let mut pace = self.pace(elapsed);
        pace.extend((self.games)(1).shown.first().map(|board| self.short_game(board)));
        vec![self.bar_line(columns, ""), joined(evidence), joined(pace)]
    }

    fn wide_lines(&self, elapsed: Duration, columns: usize, rows: usize) -> Vec<String> {
        let mut pace = Vec::from_iter(self.progress.test().map(|_| self.progress.count()));
        pace.push(FormattedDuration(elapsed).to_string());
        pace.extend(self.pace(elapsed));
        let bar = self.bar_line(columns, &joined(self.progress.chances()));
        let mut lines = vec![bar, joined(self.evidence()), joined(pace)];
        // The keys are above the games, so that the line of the keys does not move when the number
        // of games changes.
        lines.extend(self.has_keys.then(|| KEYS.to_owned()));
        // If all games but one fit, the last game takes the place of the line "and 1 more game".
        let room = rows.saturating_sub(lines.len() + 1).min(MAX_GAMES + 1);
        let games = (self.games)(room);
        let drawn = if games.count > room { room.saturating_sub(1) } else { room };
        let name = (columns - GAME_COLUMNS) / 2;
        lines.extend(games.shown.iter().take(drawn).map(|board| self.game(board, name)));
        let hidden = games.count.saturating_sub(drawn);
        lines.extend((hidden > 0).then(|| format!("and {}", quantity(hidden, "more game"))));
        lines
    }

    /// Returns a bar that shows the LLR between its bounds. For a run with no test or with several
    /// tests, the bar shows the share of counted pairs.
    fn bar_line(&self, columns: usize, chances: &str) -> String {
        let progress = &self.progress;
        let (before, after, [low, value, high]) = match progress.test() {
            Some((_, SprtStatus { llr, lower, upper, .. })) => (
                format!("LLR {}  {lower:.2} ", signed(llr, 2)),
                format!(" {upper:+.2}  {chances}"),
                [lower, llr, upper],
            ),
            None => {
                let expected = progress.schedule.expected_pairs().max(1) as f64;
                let counted = progress.counted as f64;
                (format!("{} ", progress.count()), String::new(), [0.0, counted, expected])
            }
        };
        let room = columns.saturating_sub(length(&before) + length(after.trim_end()));
        let cells = room.clamp(*BAR.start(), *BAR.end());
        let cell = |value: f64| {
            let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
            (share * cells as f64).round() as usize
        };
        let (zero, end) = (cell(0.0), cell(value));
        let filled = zero.min(end)..zero.max(end);
        let bar = (0..cells).map(|cell| match cell {
            // A mark shows zero, the initial LLR.
            _ if cell == zero && low < 0.0 => '│',
            _ if filled.contains(&cell) => '█',
            _ => '░',
        });
        format!("{before}{}{}", bar.collect::<String>(), after.trim_end())
    }

    /// Formats a game in progress as one line, with engine names of at most `columns` characters.
    fn game(&self, board: &Board, columns: usize) -> String {
        let columns = self.engines.iter().map(|name| length(name)).max().unwrap_or(0).min(columns);
        let side = |side: &Side| {
            let name = cut(&self.engines[side.engine], columns);
            let score = side.score.as_deref().unwrap_or_default();
            let clock = side.clock().map_or(String::new(), |clock| format!(" {clock:>5}"));
            format!("{name:columns$} {score:>7}{clock}")
        };
        let place = board.place();
        let last = board.last_move.as_deref().unwrap_or_default();
        let white = side(&board.white);
        let black = side(&board.black);
        let ply = board.ply();
        format!("{place:>6}  {white}  –  {black}  ply {ply:>3} {last}")
    }

    /// Formats a game in progress in a few words, with the score and the clock of the side that
    /// moved last.
    fn short_game(&self, board: &Board) -> String {
        let mover = if board.is_white_to_move { &board.black } else { &board.white };
        let parts =
            [Some(board.place()), Some(format!("ply {}", board.ply())), board.last_move.clone()];
        let parts = parts.into_iter().chain([mover.score.clone(), mover.clock()]);
        parts.flatten().collect::<Vec<_>>().join(" ")
    }

    /// Returns the parameter values of a tuning run, the leaders of a tournament, or the strength
    /// of the first engine.
    fn evidence(&self) -> Vec<String> {
        if let Some((tuning, finished, theta)) = &self.tuning {
            return vec![tuning::line(tuning, *finished, theta)];
        }
        match leaders_line(&self.progress.schedule, &self.engines) {
            Some(leaders) => vec![leaders],
            None => self.progress.evidence(),
        }
    }

    /// Returns the faults, the speed and the remaining time, followed by the concurrency, the
    /// effect of CPU contention, and any pace other than [`Pace::Running`].
    fn pace(&self, elapsed: Duration) -> Vec<String> {
        let mut parts = self.progress.pace(self.active_time.of(elapsed));
        parts.extend(self.slots.map(|slots| format!("{slots} in parallel")));
        if self.suspect > 0 {
            parts.push(format!("contention in {}", quantity(self.suspect, "pair")));
        }
        parts.extend((self.pace != Pace::Running).then(|| self.pace.to_string()));
        parts
    }

    /// Formats the state of the run as one plain line.
    fn line(&self, elapsed: Duration) -> String {
        let mut parts = self.evidence();
        if let Some((_, sprt_status)) = self.progress.test() {
            parts.insert(0, format!("LLR {}", ratio(sprt_status)));
        }
        parts.push(self.progress.count());
        parts.extend(self.progress.chances());
        parts.extend(self.pace(elapsed));
        joined(parts)
    }

    fn disturbed(&mut self, pair: u64, is_void: bool, texts: Vec<String>) {
        self.suspect += 1;
        let faults_before = self.printed_faults.len();
        self.printed_faults.retain(|(of, _)| !is_void || *of != pair);
        if self.printed_faults.len() < faults_before {
            // A fault in this pair has already been printed, so the user must learn that the pair
            // does not count.
            self.print_lines(&texts);
        } else {
            texts.into_iter().for_each(|text| self.debug(text));
        }
    }

    /// Logs a finished game and its lint findings at the level `debug`.
    fn log_game(&self, pair: u64, game_index: usize, game: &GameRecord) {
        if log::log_enabled!(log::Level::Debug) {
            let [white, black] =
                [game.engines.white, game.engines.black].map(|engine| &self.engines[engine]);
            self.debug(format!(
                "game {}.{}: {white} – {black} {}, {}, {} plies, {:.1} s",
                pair + 1,
                game_index + 1,
                game.outcome.result.as_str(),
                game.outcome.termination.describe(),
                game.moves.len(),
                game.duration.as_secs_f64()
            ));
            for (ply, color, LintFinding { rule, what, .. }) in game.findings() {
                let engine = &self.engines[*game.engines.get(color)];
                let place = place(pair, game_index, game, ply);
                self.debug(format!("lint: {engine} in {place}: {}: {what}", rule.describe()));
            }
        }
    }

    fn debug(&self, line: String) {
        match &self.screen {
            Some(screen) if log::log_enabled!(log::Level::Debug) => screen.print(&line),
            _ => log::debug!("{line}"),
        }
    }

    fn print_lines(&self, lines: &[String]) {
        for line in lines {
            match &self.screen {
                Some(screen) => screen.print(line),
                None => note(line),
            }
        }
    }
}

impl Observer for Live<'_> {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        let texts = event_texts(event, &self.engines);
        match event {
            RunEvent::WorkerExcluded { state, .. } => {
                self.print_lines(&texts);
                let counted_before = self.progress.counted_before;
                self.progress = Progress::of(self.progress.sprt, state);
                self.progress.counted_before = counted_before.min(self.progress.counted);
            }
            RunEvent::Counted { played, tally, sprt_status, elapsed } => {
                self.progress.add(tally, *sprt_status);
                for (game_index, game) in played.games.iter().enumerate() {
                    self.log_game(tally.pair, game_index, game);
                }
                for text in texts {
                    if !self.printed_faults.remove(&(tally.pair, text.clone())) {
                        self.print_lines(&[text]);
                    }
                }
                self.active_time.note_counted_pair(*elapsed);
                if self.screen.is_none() {
                    self.show(*elapsed);
                }
            }
            RunEvent::Iterated(iteration) => {
                if let Some((_, finished, theta)) = &mut self.tuning {
                    (*finished, *theta) = (iteration.number + 1, iteration.theta.clone());
                }
            }
            RunEvent::Disturbed { pair, is_void, .. } => self.disturbed(*pair, *is_void, texts),
            RunEvent::Noted(_) | RunEvent::Paused(_) => self.print_lines(&texts),
            // The view was created from the initial state, and `games` returns the games in
            // progress.
            RunEvent::Started(_) | RunEvent::GameStarted { .. } => {}
            RunEvent::GameEnded { pairing, game_index, game } => {
                if let Some(text) = fault_text(pairing.pair, *game_index, game, &self.engines) {
                    self.printed_faults.insert((pairing.pair, text.clone()));
                    self.print_lines(&[text]);
                }
            }
            RunEvent::Tick(elapsed) => self.show(*elapsed),
            RunEvent::Steered { pace, slots, elapsed } => {
                if self.screen.is_none() && (*pace, Some(*slots)) != (self.pace, self.slots) {
                    texts.iter().for_each(|text| note(text));
                }
                self.active_time.steered(*pace, *elapsed);
                (self.pace, self.slots) = (*pace, Some(*slots));
                if self.screen.is_some() {
                    self.show(*elapsed);
                }
            }
            RunEvent::Draining(_) => {
                self.pace = Pace::Draining;
                self.print_lines(&texts);
            }
            RunEvent::Ended { elapsed, .. } => match &self.screen {
                Some(screen) => screen.draw(Vec::new()),
                // A line that was printed after the last pair already shows the final counts.
                None if self.last_line.is_some_and(|(_, at)| at == self.progress.counted) => {}
                None => note(&self.line(*elapsed)),
            },
        }
        Ok(())
    }
}

fn joined(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(" · ")
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Truncates a string to `columns` characters, including a final `…` if characters were removed.
fn cut(text: &str, columns: usize) -> String {
    if length(text) > columns {
        text.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
