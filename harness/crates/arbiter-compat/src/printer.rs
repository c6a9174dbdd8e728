//! Output of a run in the format of another program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use shakmaty::{ByColor, Color};

use crate::foreign::to_fastchess;
use crate::log::Log;
use crate::{FASTCHESS, Style, games_before, saved};
use arbiter_game::outcome::Termination;
use arbiter_game::record::{GameRecord, SearchInfo};
use arbiter_plan::Plan;
use arbiter_process::{Links, cannot_write, open_output};
use arbiter_report::{Dialect, DialectWriter, clock_time, event_texts, log_warn, print_result};
use arbiter_run::{
    ControlCommand, GameTally, Observer, ObserverError, PairTally, PlayedPair, RunCounts, RunEnd,
    RunEvent, RunState,
};
use arbiter_runner::{ControlRequest, ControlSender, OptionsFound};
use arbiter_schedule::{Pairing, Schedule};
use arbiter_stats::{LlrBounds, SprtStatus};

/// Observer that prints a run on standard output, in the format of another program.
#[derive(Debug)]
pub struct Printer {
    style: Style,
    writer: DialectWriter,
    plan: Plan,
    /// The run, if it is in progress.
    run: Option<CurrentRun>,
    /// Number of pairs that may have been affected by CPU contention.
    disturbed: u64,
    /// Engines for which a warning about missing scores was printed.
    without_score: BTreeSet<usize>,
    /// Schedule, updated with the counted pairs, because the number of games may depend on results.
    schedule: Schedule,
    /// Counted pairs.
    counts: RunCounts,
    /// Finished pairs that are not counted yet, because pairs are counted in schedule order.
    ahead: BTreeMap<u64, PairTally>,
    /// First games of pairs whose second game has not ended, each with the outcome for both
    /// engines.
    open_pairs: BTreeMap<u64, (PairTally, [(usize, String); 2])>,
    /// Number of games by outcome, for each engine.
    outcomes: Vec<BTreeMap<String, u64>>,
    /// Pair after which the run is stopped; `None` if no stop was requested.
    last: Option<u64>,
    games: u64,
    /// `true` if no game was counted since the figures were last printed.
    is_up_to_date: bool,
}

/// Run in progress.
#[derive(Debug)]
struct CurrentRun {
    name: String,
    results: PathBuf,
    /// Channel of requests to end the run.
    control: ControlSender,
    log: Log,
}

impl Printer {
    /// Returns a printer for a run that has not started; `options` are the options that the
    /// preflight found for each engine.
    pub fn new(
        style: &Style,
        plan: &Plan,
        options: &[OptionsFound],
        schedule: Schedule,
    ) -> Printer {
        let defaults: Vec<_> = options.iter().map(|found| found.defaults.clone()).collect();
        let mut taken = plan.clone();
        for (engine, found) in taken.engines.iter_mut().zip(options) {
            let is_left_out = |(name, value): &(String, String)| {
                found.left_out.iter().any(|(n, v, _)| (n, v) == (name, value))
            };
            engine.options.retain(|option| !is_left_out(option));
        }
        Printer {
            style: style.clone(),
            writer: DialectWriter::new(style.dialect, style.penta, &taken, &defaults),
            plan: plan.clone(),
            run: None,
            disturbed: 0,
            without_score: BTreeSet::new(),
            schedule,
            counts: RunCounts::default(),
            ahead: BTreeMap::new(),
            open_pairs: BTreeMap::new(),
            outcomes: vec![BTreeMap::new(); plan.engines.len()],
            last: None,
            games: 0,
            is_up_to_date: false,
        }
    }

    /// Prints the figures of a run that has ended.
    ///
    /// # Errors
    ///
    /// Returns a message if the text cannot be printed or saved.
    pub fn print_again(
        style: &Style,
        plan: &Plan,
        state: &RunState,
        ending: RunEnd,
    ) -> Result<(), String> {
        let mut printer = Printer::new(style, plan, &[], state.schedule().clone());
        printer.restore_counts(state.counts());
        let text = printer.figures() + &printer.end_text(ending, Duration::ZERO)?;
        print_result(&text)
    }

    /// Prints the output of fastchess for a run whose engine failed to start, and creates the files
    /// of the run. Does nothing for cutechess-cli.
    ///
    /// # Errors
    ///
    /// Returns a message if the text cannot be printed, or a file cannot be written.
    pub fn print_no_start(style: &Style, plan: &Plan, engine: &str) -> Result<(), String> {
        if !style.is_fastchess() {
            return Ok(());
        }
        for path in [&plan.pgn, &plan.epd].into_iter().flatten() {
            open_output(path, File::options().append(true), Links::Followed)
                .map_err(|error| cannot_write(path, &error))?;
        }
        if let Some(path) = &style.saved_in {
            saved::write(path, &to_fastchess(plan, style, &RunCounts::default())?)?;
        }
        let printer = Printer::new(style, plan, &[], plan.schedule());
        let mut log = printer.open_log(&[])?;
        let text = printer.writer.started(games_before(plan.prior) + 1, printer.total(), 0, 1)
            + &format!(
                "Fatal; {engine} engine startup failure: \"Engine didn't respond to uciok after \
                 startup\"\n"
            )
            + &printer.end_text(RunEnd::Interrupted, Duration::ZERO)?;
        log.log_printed(&text)?;
        print_result(&text)
    }

    /// Returns a printer that also writes the log, saves the progress of the run, and may end the
    /// run; `options` are as in [`Printer::new`].
    ///
    /// # Errors
    ///
    /// Returns a message if the log cannot be opened.
    pub fn with_run(
        self,
        options: &[OptionsFound],
        name: &str,
        results: &Path,
        control: ControlSender,
    ) -> Result<Printer, String> {
        let log = self.open_log(options)?;
        let run = CurrentRun { name: name.to_owned(), results: results.to_owned(), control, log };
        Ok(Printer { run: Some(run), ..self })
    }

    /// Opens the log and writes its first lines.
    fn open_log(&self, options: &[OptionsFound]) -> Result<Log, String> {
        let engines = self.plan.engines.iter().map(|engine| engine.name.clone()).collect();
        let mut log = Log::open(&self.style.log, engines)?;
        if self.style.is_fastchess() {
            let head = format!("{FASTCHESS}\nSetting seed to: {}\n", self.plan.seed);
            log.log_printed(&(head + &option_warnings(&self.plan, options)))?;
        }
        Ok(log)
    }

    fn save(&self) -> Result<(), String> {
        let Some(run) = &self.run else { return Ok(()) };
        self.style.save(&run.name, &run.results, &self.plan, &self.finished_pairs())
    }

    fn total(&self) -> u64 {
        let games = self.schedule.expected_pairs() * self.schedule.design().games_per_pair();
        games_before(self.plan.prior) + games
    }

    /// Restores the counts of a resumed run.
    fn restore_counts(&mut self, counts: &RunCounts) {
        self.counts = counts.clone();
        self.games = counts.encounters.values().map(|met| met.games.games()).sum();
    }

    /// Counts a pair, in schedule order. Returns the text to print. The text usually omits the
    /// pair's games, because each game was printed when it ended.
    fn count_pair(&mut self, played: &PlayedPair, tally: &PairTally) -> String {
        tally.count_in(&mut self.schedule);
        let mut text = String::new();
        if !self.ahead.contains_key(&tally.pair) {
            // These games have not been printed: they were played before an interruption, or their
            // output was delayed because their pair could have been void.
            for (game_index, game) in played.games.iter().enumerate() {
                text += &self.ended_game(&played.pairing, game_index, game);
            }
        }
        self.ahead.remove(&tally.pair);
        self.counts.count(tally);
        if self.last.is_some_and(|last| last <= tally.pair) {
            self.send(ControlCommand::Stop);
        }
        text
    }

    /// Returns the number of a game, counted from 1.
    fn number(&self, pairing: &Pairing, game_index: usize) -> u64 {
        let earlier = pairing.pair * self.schedule.design().games_per_pair();
        games_before(self.plan.prior) + earlier + game_index as u64 + 1
    }

    /// Returns the lines to print after the end of a game.
    fn ended_game(&mut self, pairing: &Pairing, game_index: usize, game: &GameRecord) -> String {
        let mut text = String::new();
        let per_pair = self.schedule.design().games_per_pair();
        let number = self.number(pairing, game_index);
        if self.style.is_fastchess() {
            text += &self.writer.lint(game, self.style.checks_mates);
        }
        let warnings = self.warnings(game);
        if self.style.is_strict && !warnings.is_empty() {
            self.end_with(pairing.pair);
        }
        text += &warnings;
        let ByColor { white, black } = game.engines;
        let gone = [Termination::Crash, Termination::Disconnect, Termination::Stall];
        let is_gone = gone.contains(&game.outcome.termination);
        let ends = is_gone && !self.style.recovers && self.end_with(pairing.pair);
        if ends && self.style.is_fastchess() {
            text += &format!(
                "Game {number} stalled / disconnected and no recover option set for engine, \
                 stopping tournament.\n"
            );
        }
        text += &self.writer.finished(number, white, black, &game.outcome);
        let is_pair_complete = self.add(pairing, game_index, game);
        let is_last = self.style.is_fastchess() && self.games == self.total();
        if is_last || is_due(self.games, self.style.score_interval) {
            text += &self.score(white.min(black), white.max(black));
        }
        let unit = if self.is_by_pairs() { per_pair } else { 1 };
        let is_complete = is_pair_complete || unit == 1;
        if is_complete && is_due(self.games / unit, self.style.rating_interval) {
            text += &self.figures();
        }
        if is_due(self.games, self.style.outcome_interval) {
            text += &self.writer.outcomes(&self.outcomes);
        }
        text
    }

    /// Counts a game. Returns whether the pair of the game is now complete. If a pair is played
    /// again, the new first game replaces the old first game.
    fn add(&mut self, pairing: &Pairing, game_index: usize, game: &GameRecord) -> bool {
        let Pairing { pair, engines, .. } = *pairing;
        let mut first = self.open_pairs.remove(&pair);
        if game_index == 0
            && let Some((_, replaced)) = first.take()
        {
            self.games -= 1;
            for (engine, outcome) in replaced {
                let outcomes = &mut self.outcomes[engine];
                outcomes.entry(outcome).and_modify(|count| *count -= 1);
                outcomes.retain(|_, count| *count > 0);
            }
        }
        let outcomes = Color::ALL
            .map(|side| (*game.engines.get(side), DialectWriter::outcome(&game.outcome, side)));
        for (engine, outcome) in &outcomes {
            *self.outcomes[*engine].entry(outcome.clone()).or_default() += 1;
        }
        self.is_up_to_date = false;
        self.games += 1;
        let tally = GameTally::of(game, engines[0]);
        let is_pair_complete = game_index > 0 || self.schedule.design().games_per_pair() == 1;
        let tally = match first {
            Some((first, _)) => PairTally { second: Some(tally), ..first },
            None => PairTally { pair, engines, first: tally, second: None, is_repeat: false },
        };
        if is_pair_complete {
            self.ahead.insert(pair, tally);
        } else {
            self.open_pairs.insert(pair, (tally, outcomes));
        }
        is_pair_complete
    }

    fn is_by_pairs(&self) -> bool {
        self.style.penta && self.style.dialect == Dialect::Fastchess
    }

    /// Returns the counts of all pairs that have ended.
    fn finished_pairs(&self) -> RunCounts {
        let mut counts = self.counts.clone();
        self.ahead.values().for_each(|tally| counts.count(tally));
        counts
    }

    /// Returns the counts of all finished games, or only of complete pairs if figures are computed
    /// from pairs.
    fn counts_now(&self) -> RunCounts {
        let mut counts = self.finished_pairs();
        if !self.is_by_pairs() {
            self.open_pairs.values().for_each(|(tally, _)| counts.count(tally));
        }
        counts
    }

    /// Returns the line with the score of two engines.
    fn score(&self, first: usize, second: usize) -> String {
        let games = self.counts_now().encounter([first, second]).games;
        self.writer.score(first, second, &games)
    }

    fn figures(&mut self) -> String {
        self.is_up_to_date = true;
        let counts = self.counts_now();
        let encounter = counts.main_encounter();
        let sprt_status = self.plan.sprt.map(|sprt| {
            let llr = sprt.llr_of_counts(&encounter.pairs, &encounter.games);
            let LlrBounds { lower, upper } = sprt.bounds;
            SprtStatus { llr, lower, upper, decision: sprt.decide(llr) }
        });
        let mut text = self.writer.interval(&counts, sprt_status);
        if let Some(test) = self.plan.sprt.filter(|_| self.style.shows_pairs_llr) {
            let LlrBounds { lower, upper } = test.bounds;
            let llr = test.llr(&encounter.pairs);
            text += &format!("Pairs: llr {llr:.2}, lbound {lower:.2}, ubound {upper:.2}\n");
        }
        text
    }

    /// Returns the warnings about a game.
    fn warnings(&mut self, game: &GameRecord) -> String {
        let mut text = self.writer.warnings(game, self.style.recovers);
        let movers = [game.first_to_move(), !game.first_to_move()].into_iter().cycle();
        for (played, mover) in game.moves.iter().zip(movers) {
            let engine = *game.engines.get(mover);
            let has_info = |search: &&SearchInfo| search.depth.is_some() || search.nodes.is_some();
            let search = played.search.as_ref().filter(has_info);
            if search.is_some_and(|search| search.score.is_none())
                && self.without_score.insert(engine)
            {
                text += &self.writer.no_score(engine);
            }
        }
        text
    }

    /// Requests that no more pairs start and that the run end after `pair` has been counted.
    /// Returns `false` if the end has already been requested.
    fn end_with(&mut self, pair: u64) -> bool {
        let is_first = self.last.is_none();
        if is_first {
            self.last = Some(pair);
            self.send(ControlCommand::Drain);
        }
        is_first
    }

    fn send(&self, command: ControlCommand) {
        if let Some(run) = &self.run {
            // A failure is harmless: a finished run needs no commands.
            let _ = run.control.try_send(ControlRequest::unanswered(command));
        }
    }

    /// Returns the figures of a run that has ended; empty if the figures have already been printed.
    /// fastchess prints no figures for an interrupted run, and always prints figures after the
    /// decision of an SPRT.
    fn last_figures(&mut self, ending: RunEnd) -> String {
        let is_fastchess = self.style.is_fastchess();
        match ending {
            RunEnd::Interrupted if is_fastchess => String::new(),
            RunEnd::AcceptedH0 | RunEnd::AcceptedH1 if is_fastchess => {
                self.score(0, 1) + &self.figures()
            }
            _ if self.is_up_to_date => String::new(),
            _ => self.figures(),
        }
    }

    /// Returns the lines that follow the last figures, and saves the state of the run.
    fn end_text(&self, ending: RunEnd, elapsed: Duration) -> Result<String, String> {
        let mut text = self.writer.verdict(ending) + &self.writer.faults(&self.finished_pairs());
        self.save()?;
        if let Some(path) = self.plan.pgn.as_deref().filter(|_| self.style.shows_crc) {
            text += &checksum(path)?;
        }
        if !self.style.is_fastchess() && !is_due(self.games, self.style.outcome_interval) {
            text += &self.writer.outcomes(&self.outcomes);
        }
        if ending == RunEnd::Interrupted && self.style.is_fastchess() {
            text += "Tournament was interrupted.";
            if let Some(config) = &self.style.saved_in {
                let command = &self.style.command;
                let config = config.display();
                text += &format!(" To resume the tournament, run: {command} -config file={config}");
            }
            text += "\n";
        }
        if self.disturbed > 0 {
            log_warn(&format!("pairs that CPU contention can have decided: {}", self.disturbed));
        }
        text += "Finished match\n";
        if self.style.is_fastchess() {
            let time = clock_time(elapsed);
            text += &format!("Total Time: {time} (hours:minutes:seconds)\n\n");
        }
        Ok(text)
    }

    /// Prints and logs an event.
    fn print(&mut self, event: &RunEvent<'_>) -> Result<(), String> {
        let mut text = String::new();
        match event {
            RunEvent::Started(state) => self.restore_counts(state.counts()),
            RunEvent::GameStarted { pairing, game_index } => {
                let white = pairing.engines[*game_index];
                let black = pairing.engines[1 - *game_index];
                let number = self.number(pairing, *game_index);
                text = self.writer.started(number, self.total(), white, black);
            }
            RunEvent::GameEnded { pairing, game_index, game } => {
                let number = self.number(pairing, *game_index);
                if let Some(run) = &mut self.run {
                    text = run.log.game(number, game)?;
                }
                // A game that may be played again is printed only after its pair has been counted.
                if self.plan.noise_limit.is_none() || self.plan.counts_disturbed {
                    text += &self.ended_game(pairing, *game_index, game);
                }
            }
            RunEvent::Counted { played, tally, .. } => {
                text = self.count_pair(played, tally);
                if is_due(self.games, self.style.save_interval) {
                    self.save()?;
                }
            }
            RunEvent::Ended { ending, elapsed } => {
                if *ending != RunEnd::Interrupted && !self.ahead.is_empty() {
                    // Games that ended after the decision do not count, so the last printed counts
                    // may be too high.
                    self.ahead.clear();
                    self.is_up_to_date = false;
                }
                self.open_pairs.clear();
                text = self.last_figures(*ending) + &self.end_text(*ending, *elapsed)?;
            }
            RunEvent::Paused(_) => {
                for line in event_texts(event, &[]) {
                    log_warn(&line);
                }
            }
            RunEvent::Disturbed { .. } => self.disturbed += 1,
            _ => {}
        }
        if let Some(run) = &mut self.run {
            run.log.log_printed(&text)?;
        }
        // `print_result` ignores a closed pipe, so a script that has read enough output does not
        // end the run.
        print_result(&text)
    }
}

/// Returns the warnings about options that are not sent to engines, in the wording that scripts
/// expect.
pub fn option_warnings(plan: &Plan, found: &[OptionsFound]) -> String {
    let each = plan.engines.iter().zip(found);
    let lines = each.flat_map(|(engine, found)| {
        found.left_out.iter().map(|(option, value, has_it)| {
            if *has_it {
                format!("Warning; Invalid value for option {option}; {value}\n")
            } else {
                format!("Warning; {} doesn't have option {option}\n", engine.name)
            }
        })
    });
    lines.collect()
}

/// Returns a line with the CRC-32 checksum of a file.
fn checksum(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let mut crc = crc32fast::Hasher::new();
    loop {
        let part = file.fill_buf().map_err(failed)?;
        if part.is_empty() {
            return Ok(format!("File {} has CRC32: {:#x}\n", path.display(), crc.finalize()));
        }
        crc.update(part);
        let length = part.len();
        file.consume(length);
    }
}

fn is_due(games: u64, interval: u64) -> bool {
    interval > 0 && games.is_multiple_of(interval)
}

impl Observer for Printer {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        self.print(event).map_err(ObserverError)
    }
}

#[cfg(test)]
mod tests;
