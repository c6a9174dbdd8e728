//! Prints a run as the other programs do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::Style;
use crate::{Failure, emit};
use arbiter_game::outcome::Termination;
use arbiter_game::record::{GameRecord, Thought};
use arbiter_plan::{
    ControlCommand, Ending, Observer, ObserverError, PairTally, Plan, PlayedPair, RunCounts,
    RunEvent, RunState,
};
use arbiter_report::{Dialect, DialectWriter, note};
use arbiter_runner::{ControlRequest, OptionsFound};
use arbiter_schedule::Schedule;
use arbiter_stats::{LlrBounds, Sprt, SprtMonitor, SprtStatus, Trinomial};

/// Watches a run and prints its lines on standard output.
#[derive(Debug)]
pub(crate) struct Printer {
    style: Style,
    writer: DialectWriter,
    plan: Plan,
    /// The name of the run, and the folder of its store.
    place: Option<(String, PathBuf)>,
    /// Where the end of the run is asked for.
    control: Option<mpsc::Sender<ControlRequest>>,
    /// Times that CPU contention can have decided a pair.
    disturbed: u64,
    /// Engines of which it was said that they tell no score.
    without_score: BTreeSet<usize>,
    /// Follows the counted pairs, as the number of games may depend on them.
    schedule: Schedule,
    counts: RunCounts,
    /// Counts after each game, where [`RunCounts`] has them after each pair.
    scores: BTreeMap<[usize; 2], Trinomial>,
    sprt: Option<Sprt>,
    sprt_status: Option<SprtStatus>,
    games: u64,
    /// Games that another program counted before.
    before: u64,
    /// Whether only two engines meet.
    is_duel: bool,
    /// Whether nothing was counted since the last figures.
    is_up_to_date: bool,
}

impl Printer {
    /// A printer of a run that has not started; `options` are those that the engines have, as far as
    /// that is known.
    pub(crate) fn new(
        style: &Style,
        plan: &Plan,
        options: &[OptionsFound],
        schedule: Schedule,
    ) -> Printer {
        let defaults: Vec<_> = options.iter().map(|found| found.defaults.clone()).collect();
        Printer {
            style: style.clone(),
            writer: DialectWriter::new(style.dialect, style.penta, plan, &defaults),
            plan: plan.clone(),
            place: None,
            before: plan.prior.map_or(0, |prior| prior.encounter().games.games()),
            control: None,
            disturbed: 0,
            without_score: BTreeSet::new(),
            schedule,
            counts: RunCounts::default(),
            scores: BTreeMap::new(),
            sprt: plan.sprt,
            sprt_status: plan.sprt.map(|sprt| SprtMonitor::new(sprt, 1).start()),
            games: 0,
            is_duel: plan.engines.len() == 2,
            is_up_to_date: false,
        }
    }

    /// Prints the figures of a run that is over.
    pub(crate) fn print_again(
        style: &Style,
        plan: &Plan,
        state: &RunState,
        ending: Ending,
    ) -> Result<(), Failure> {
        let mut printer = Printer::new(style, plan, &[], state.schedule().clone());
        printer.go_on(state.counts(), state.sprt_statuses());
        let text = printer.figures() + &printer.ended(ending, Duration::ZERO)?;
        emit(&text)
    }

    /// The same, which saves how far the run is, and may end it.
    pub(crate) fn with_run(
        self,
        run: &str,
        results: &Path,
        control: mpsc::Sender<ControlRequest>,
    ) -> Printer {
        let place = Some((run.to_owned(), results.to_owned()));
        Printer { control: Some(control), place, ..self }
    }

    fn save(&self) -> Result<(), Failure> {
        match &self.place {
            Some((run, results)) => self.style.save(run, results, &self.plan, &self.counts),
            None => Ok(()),
        }
    }

    fn total(&self) -> u64 {
        self.before + self.schedule.expected() * self.schedule.design().games_per_pair()
    }

    /// Takes over what was counted before.
    fn go_on(&mut self, counts: &RunCounts, sprt_statuses: &BTreeMap<[usize; 2], SprtStatus>) {
        self.counts = counts.clone();
        self.scores =
            counts.encounters.iter().map(|(twosome, met)| (*twosome, met.games)).collect();
        self.games = self.scores.values().map(Trinomial::games).sum();
        self.sprt_status = sprt_statuses.values().next().copied().or(self.sprt_status);
    }

    fn counted(
        &mut self,
        played: &PlayedPair,
        tally: &PairTally,
        sprt_status: Option<SprtStatus>,
    ) -> String {
        let mut text = String::new();
        self.counts.count(tally);
        self.schedule.count(tally.pair, tally.halves(), tally.games().count() as u64);
        self.sprt_status = sprt_status.or(self.sprt_status);
        let per_pair = self.schedule.design().games_per_pair();
        let [first, second] = tally.engines;
        let by_pairs = self.style.penta && self.style.dialect == Dialect::Fastchess;
        let numbers = (self.before + tally.pair * per_pair + 1)..;
        for ((number, game), tally) in numbers.zip(played.games.iter()).zip(tally.games()) {
            let players = (game.engines.white, game.engines.black);
            if self.style.program == Dialect::Fastchess {
                text += &self.writer.lint(game);
            }
            text += &self.warnings(game);
            text += &self.writer.finished(number, players.0, players.1, &game.outcome);
            self.games += 1;
            self.is_up_to_date = false;
            let twosome = [first.min(second), first.max(second)];
            let score = self.scores.entry(twosome).or_default();
            score.record(if first < second { tally.result } else { tally.result.reversed() });
            if self.is_duel && is_due(self.games, self.style.score_interval) {
                text += &self.writer.score(twosome[0], twosome[1], score);
            }
            if !by_pairs && is_due(self.games, self.style.rating_interval) {
                text += &self.figures();
            }
            let is_gone = matches!(
                game.outcome.termination,
                Termination::Crash | Termination::Disconnect | Termination::Stall
            );
            if is_gone && !self.style.recovers && self.stop() {
                text += &format!(
                    "Game {number} stalled / disconnected and no recover option set for engine, \
                     stopping tournament.\n"
                );
            }
        }
        if by_pairs && is_due(self.games / per_pair, self.style.rating_interval) {
            text += &self.figures();
        }
        text
    }

    fn figures(&mut self) -> String {
        self.is_up_to_date = true;
        let mut counts = self.counts.clone();
        for (twosome, games) in &self.scores {
            counts.encounters.entry(*twosome).or_default().games = *games;
        }
        let mut text = self.writer.interval(&counts, self.sprt_status);
        if let Some(test) = self.sprt.filter(|_| self.style.shows_pairs_llr) {
            let encounter = self.counts.main_encounter();
            let LlrBounds { lower, upper } = test.bounds;
            let llr = test.llr(&encounter.pairs);
            text += &format!("Pairs: llr {llr:.2}, lbound {lower:.2}, ubound {upper:.2}\n");
        }
        text
    }

    /// Warnings about a game. One of them ends a strict run.
    fn warnings(&mut self, game: &GameRecord) -> String {
        let mut text = self.writer.warnings(game);
        let movers = [game.first_to_move(), !game.first_to_move()].into_iter().cycle();
        for (played, mover) in game.moves.iter().zip(movers) {
            let engine = *game.engines.get(mover);
            let has_info = |thought: &&Thought| thought.depth.is_some() || thought.nodes.is_some();
            let thought = played.thought.as_ref().filter(has_info);
            if thought.is_some_and(|thought| thought.score.is_none())
                && self.without_score.insert(engine)
            {
                text += &self.writer.no_score(engine);
            }
        }
        if self.style.is_strict && !text.is_empty() {
            self.stop();
        }
        text
    }

    /// Asks for the end of the run, once; whether it was not asked for before.
    fn stop(&mut self) -> bool {
        let Some(control) = self.control.take() else { return false };
        let (reply, _) = oneshot::channel();
        // One that is over takes no commands, and needs none.
        let _ = control.try_send(ControlRequest { command: ControlCommand::Stop, reply });
        true
    }

    /// What follows the last figures.
    fn ended(&self, ending: Ending, elapsed: Duration) -> Result<String, Failure> {
        let mut text = self.writer.verdict(ending) + &self.writer.faults(&self.counts);
        self.save()?;
        if let Some(path) = self.plan.pgn.as_deref().filter(|_| self.style.shows_crc) {
            text += &checksum(path)?;
        }
        if ending == Ending::Interrupted {
            text += "Tournament was interrupted.";
            if let Some(config) = &self.style.saved_in {
                text += &format!(
                    " To resume the tournament, run: fastchess -config file={}",
                    config.display()
                );
            }
            text += "\n";
        }
        if self.disturbed > 0 {
            note(&format!("pairs that CPU contention can have decided: {}", self.disturbed));
        }
        text += "Finished match\n";
        if self.style.program == Dialect::Fastchess {
            let seconds = elapsed.as_secs();
            let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
            text += &format!(
                "Total Time: {hours:02}:{minutes:02}:{seconds:02} (hours:minutes:seconds)\n\n"
            );
        }
        Ok(text)
    }
}

/// The line of the checksum of a file.
fn checksum(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::environment(format!("{}: {error}", path.display()));
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
        let text = match event {
            RunEvent::Started { counts, sprt_statuses, .. } => {
                self.go_on(counts, sprt_statuses);
                String::new()
            }
            RunEvent::GameStarted { pairing, half } => {
                let per_pair = self.schedule.design().games_per_pair();
                let number = self.before + pairing.pair * per_pair + *half as u64 + 1;
                let [first, second] = pairing.engines;
                let (white, black) = if *half == 0 { (first, second) } else { (second, first) };
                self.writer.started(number, self.total(), white, black)
            }
            RunEvent::Counted { played, tally, sprt_status, .. } => {
                let text = self.counted(played, tally, *sprt_status);
                if is_due(self.games, self.style.save_interval) {
                    self.save().map_err(|failure| ObserverError(failure.message))?;
                }
                text
            }
            RunEvent::Ended { ending, elapsed } => {
                let figures = if self.is_up_to_date { String::new() } else { self.figures() };
                let ended = self.ended(*ending, *elapsed);
                figures + &ended.map_err(|failure| ObserverError(failure.message))?
            }
            RunEvent::Disturbed { .. } => {
                self.disturbed += 1;
                String::new()
            }
            _ => String::new(),
        };
        // A script that has seen enough and closed the pipe does not end the run.
        emit(&text).map_err(|failure| ObserverError(failure.message))
    }
}
