//! Live page of a run: counts are updated immediately, games are read in small batches, and boards
//! come from the process that plays the run.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use super::fold::Fold;
use super::http_error::HttpError;
use crate::web::{Fragment, LivePage, fragments, run as page};
use arbiter_report::{Block, GameStatistics, Running, Summary, gates_of_run};
use arbiter_report::{html_page, outlook, run_document};
use arbiter_run::{ControlCommand, Effect};
use arbiter_runner::{ControlError, send_command};
use arbiter_store::{RunHead, Store, StoreError};

/// Minimum and maximum number of ticks from one version of the report to the next. A single pair
/// hardly changes the report of a long run, but the report is large and is sent to all viewers.
const REPORT_TICKS: RangeInclusive<usize> = 4..=20;

/// Number of counted pairs that lengthen the time between two versions of the report by one tick.
const TICK_PAIRS: usize = 25;

/// Maximum number of pairs whose games are read per tick: enough to read a long run quickly, and
/// few enough to keep the page responsive.
const READ_PAIRS: usize = 500;

/// Timeout for the reply of the process that plays a run. The page does not change before the reply
/// or the timeout.
const TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct Reading {
    store: Store,
    version: i64,
    fold: Fold,
    summary: Summary,
    statistics: GameStatistics,
    /// Numbers of counted pairs whose games are not in the statistics yet.
    unread: VecDeque<u64>,
    /// Last computed report.
    report: Vec<Fragment>,
    /// Number of pairs (or games, in a run without pairs) in the report; the counts above the
    /// report must agree with this number.
    reported: u64,
    is_stale: bool,
    /// Number of ticks until the report may be computed again.
    remaining_ticks: usize,
}

/// Returns the live page of a run.
pub(crate) fn run_page<'a>(results: &'a Path, run: &'a str) -> LivePage<'a> {
    // There is no last reading before the first tick and after an error.
    let mut last = None;
    Box::new(move || {
        let read = Reading::next(last.take(), results, run).and_then(|mut reading| {
            let found = reading.fragments(results)?;
            last = Some(reading);
            Ok(found)
        });
        Some(read.unwrap_or_else(|error| vec![page::error_notice(&error.to_string())]))
    })
}

/// Returns the reply of the process that plays a run, with boards; `None` if no process plays the
/// run. Returns an error if the process does not send a readable reply.
pub(crate) fn running(results: &Path, head: &RunHead) -> Result<Option<Running>, String> {
    if head.ending.is_some() {
        return Ok(None);
    }
    match send_command(results, &head.run, ControlCommand::Boards, true, TIMEOUT) {
        Ok(answer) => serde_json::from_str(answer.trim_end())
            .map(Some)
            .map_err(|error| format!("run '{}' is of another version: {error}", head.run)),
        Err(ControlError::Idle(..)) => Ok(None),
        Err(ControlError::Refused(message)) => Err(message),
    }
}

/// Returns the report of a run as an HTML file.
pub(crate) fn report(results: &Path, run: &str) -> Result<String, HttpError> {
    let mut reading = Reading::begin(Store::observe(results)?, run)?;
    while !reading.unread.is_empty() {
        reading.read_games()?;
    }
    let Reading { store, fold, summary, statistics, .. } = &reading;
    let gates = gates_of_run(store, &fold.stored)?;
    Ok(html_page(&run_document(&fold.stored, summary, Some(statistics), &gates)))
}

impl Reading {
    /// Reads the pairs stored since the last reading, or all pairs if there is no last reading.
    fn next(last: Option<Reading>, results: &Path, run: &str) -> Result<Reading, StoreError> {
        match last {
            Some(mut reading) if reading.fold.can_advance(&reading.store)? => {
                reading.advance()?;
                Ok(reading)
            }
            _ => Reading::begin(Store::observe(results)?, run),
        }
    }

    fn begin(store: Store, run: &str) -> Result<Reading, StoreError> {
        let version = store.data_version()?;
        let mut statistics = GameStatistics::new(store.run(run)?.plan.engines.len());
        let mut unread = VecDeque::new();
        let observe = |effect: Effect| count(&effect, &mut statistics, &mut unread);
        let (fold, summary) = Fold::begin(&store, run, observe)?;
        let mut reading = Reading {
            store,
            version,
            fold,
            summary,
            statistics,
            unread,
            report: Vec::new(),
            reported: 0,
            is_stale: true,
            remaining_ticks: 0,
        };
        reading.read_games()?;
        Ok(reading)
    }

    /// Reads the pairs stored since the last read.
    fn advance(&mut self) -> Result<(), StoreError> {
        let version = self.store.data_version()?;
        // The version is cheap to read, and changes with each commit of another process.
        if version != self.version {
            self.version = version;
            let Reading { store, fold, statistics, unread, .. } = self;
            let observe = |effect: Effect| count(&effect, statistics, unread);
            self.summary = fold.advance(store, observe)?;
            self.is_stale = true;
        }
        self.read_games()
    }

    fn read_games(&mut self) -> Result<(), StoreError> {
        let run = self.fold.stored.head.run.clone();
        for pair in self.unread.drain(..self.unread.len().min(READ_PAIRS)) {
            let played = self.store.pair(&run, pair)?;
            let missing = || self.store.schedule_mismatch(&run, pair);
            self.statistics.add(&played.ok_or_else(missing)?);
            self.is_stale = true;
        }
        Ok(())
    }

    fn fragments(&mut self, results: &Path) -> Result<Vec<Fragment>, StoreError> {
        let answer = running(results, &self.fold.stored.head);
        // The last pair is stored shortly before the run ends. In the meantime, the process reports
        // the state "draining", which would be wrong for a finished run.
        let running = answer.as_ref().ok().and_then(Option::as_ref);
        let running = running.filter(|_| !self.summary.is_over());
        // The verdict of an undecided run changes when the process of the run starts or ends, so
        // the report must be computed again.
        let is_played = running.is_some();
        self.is_stale |= self.summary.is_played != is_played;
        self.summary.is_played = is_played;
        let summary = &self.summary;
        let expected = self.fold.state.schedule().expected_pairs();
        let recent = running.and_then(|running| running.recent.clone()).unwrap_or_default();
        let outlook = outlook(&self.fold.stored.plan, &self.fold.state, &recent);
        self.remaining_ticks = self.remaining_ticks.saturating_sub(1);
        // The pause between two reports does not delay the final report.
        let is_final = running.is_none() && summary.ending.is_some();
        if self.is_stale && (self.remaining_ticks == 0 || is_final) {
            // As long as some games are unread, the statistics would contradict the counts.
            let has_all = self.unread.is_empty() && summary.counts.games() > 0;
            let statistics = has_all.then_some(&self.statistics);
            let gates = gates_of_run(&self.store, &self.fold.stored)?;
            let mut document = run_document(&self.fold.stored, summary, statistics, &gates);
            for block in &mut document.blocks {
                let Block::Games(games) = block else { continue };
                for game in games {
                    // Graphs are shown only on the page of a game. On this page, the graphs would
                    // be drawn and sent with each version.
                    game.graphs.clear();
                    game.link = Some(format!("/runs/{}/games/{}", summary.run, game.place));
                }
            }
            self.report = fragments(&document);
            self.reported = if summary.plan.design.is_single {
                summary.counts.games()
            } else {
                summary.counts.encounters.values().map(|met| met.pairs.pairs()).sum()
            };
            self.is_stale = !self.unread.is_empty();
            let ticks = self.fold.state.counted_pairs().count() / TICK_PAIRS;
            self.remaining_ticks = ticks.clamp(*REPORT_TICKS.start(), *REPORT_TICKS.end());
        }
        // The order is: verdict, counts, games in progress, events, rest of the report.
        let (conclusion, rest) = self.report.split_at(self.report.len().min(1));
        let mut found = conclusion.to_vec();
        found.push(page::counts(&self.summary, running, [self.reported, expected], &outlook));
        found.extend(answer.as_ref().err().map(|message| page::error_notice(message)));
        if !self.unread.is_empty() {
            let all = self.fold.state.counted_pairs().count() as u64;
            found.push(page::loading(all - self.unread.len() as u64, all));
        }
        if let Some(Running { boards: Some(boards), .. }) = running {
            found.push(page::boards(boards, &self.summary.engines));
        }
        found.extend(page::events(&recent));
        found.extend_from_slice(rest);
        Ok(found)
    }
}

/// Adds a counted pair to the LLR history and to the unread pairs.
fn count(effect: &Effect, statistics: &mut GameStatistics, unread: &mut VecDeque<u64>) {
    statistics.observe(effect);
    if let Effect::Count { tally, .. } = effect {
        unread.extend((!tally.is_repeat).then_some(tally.pair));
    }
}
