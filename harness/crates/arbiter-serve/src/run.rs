//! Page of a run, kept up to date: the counts as they come, the games behind them a few at a time,
//! and the boards from the process that plays.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::fold::Fold;
use super::hub::LivePage;
use crate::web::run::State;
use crate::web::{Fragment, fragments, run as page};
use arbiter_plan::{ControlCommand, Effect};
use arbiter_report::{Block, GameStatistics, Recent, Running, Summary, gates_of_run};
use arbiter_report::{html_page, outlook, run_document};
use arbiter_runner::{ControlError, send_command};
use arbiter_store::{RunHead, Store, StoreError};

/// Ticks from one version of the report to the next: each pair changes the report of a short run,
/// but hardly that of a long one, which is large and is sent to all viewers.
const REPORT_TICKS: RangeInclusive<u32> = 4..=20;

/// Pairs that add one tick.
const TICK_PAIRS: usize = 25;

/// Pairs whose games are read in a tick: so many that a long run is read soon, and so few that the
/// page stays responsive.
const READ_PAIRS: usize = 500;

/// Time limit for the answer of a run's process, during which the page does not change.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Page of one run.
#[derive(Debug)]
pub(crate) struct RunPage {
    results: PathBuf,
    run: String,
    /// State after the last read; `None` before the first tick, and after an error.
    read: Option<Reading>,
}

#[derive(Debug)]
struct Reading {
    store: Store,
    version: i64,
    fold: Fold,
    summary: Summary,
    statistics: GameStatistics,
    /// Counted pairs whose games are not in the statistics yet.
    unread: VecDeque<u64>,
    /// Report as last made; it is stale once more is known.
    report: Vec<Fragment>,
    /// Pairs, or games where they are single, that the report counts: the counts shown beside it
    /// must agree with it.
    reported: u64,
    is_stale: bool,
    /// Ticks until the report may be made again.
    rest: u32,
}

impl RunPage {
    /// Returns the page of a run that was not read yet.
    pub(crate) fn new(results: PathBuf, run: String) -> RunPage {
        RunPage { results, run, read: None }
    }

    fn try_fragments(&mut self) -> Result<Vec<Fragment>, StoreError> {
        let mut reading = match self.read.take() {
            // After an error the reading is not put back, so that the next tick starts again.
            Some(mut reading) if reading.fold.can_advance(&reading.store)? => {
                reading.advance()?;
                reading
            }
            _ => Reading::begin(Store::observe(&self.results)?, &self.run)?,
        };
        let (state, trouble) = state(&self.results, &reading.fold.stored.head);
        let found = reading.fragments(&state, trouble)?;
        self.read = Some(reading);
        Ok(found)
    }
}

/// Returns the state of a run according to the process that plays it, with its boards, and the
/// trouble with that process.
pub(crate) fn state(results: &Path, head: &RunHead) -> (State, Option<String>) {
    if head.ending.is_some() {
        return (State::Over(head.ending), None);
    }
    let told = send_command(results, &head.run, ControlCommand::Boards, true, TIMEOUT);
    match told.map(|told| Running::read(told.trim_end())) {
        Ok(Ok(running)) => (State::Played(running), None),
        Ok(Err(error)) => {
            let words = format!("run '{}' is of another version: {error}", head.run);
            (State::Over(None), Some(words))
        }
        Err(ControlError::Idle(..)) => (State::Over(None), None),
        Err(ControlError::Refused(words)) => (State::Over(None), Some(words)),
    }
}

/// Returns the report of a run as one file.
pub(crate) fn report(results: &Path, run: &str) -> Result<String, StoreError> {
    let mut reading = Reading::begin(Store::observe(results)?, run)?;
    while !reading.unread.is_empty() {
        reading.read_games()?;
    }
    let Reading { store, fold, summary, statistics, .. } = &reading;
    let gates = gates_of_run(store, &fold.stored)?;
    Ok(html_page(&run_document(&fold.stored, summary, Some(statistics), &gates)))
}

impl LivePage for RunPage {
    fn fragments(&mut self) -> Vec<Fragment> {
        self.try_fragments().unwrap_or_else(|error| vec![page::error_notice(&error.to_string())])
    }
}

impl Reading {
    fn begin(store: Store, run: &str) -> Result<Reading, StoreError> {
        let version = store.data_version()?;
        let engines = store.run(run)?.plan.engines.len();
        let mut statistics = GameStatistics::new(engines);
        let mut unread = VecDeque::new();
        let fold = Fold::begin(&store, run, |effect| {
            count(effect, engines, &mut statistics, &mut unread);
        })?;
        let summary = fold.summary(&store)?;
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
            rest: 0,
        };
        reading.read_games()?;
        Ok(reading)
    }

    /// Reads the pairs stored since.
    fn advance(&mut self) -> Result<(), StoreError> {
        let version = self.store.data_version()?;
        // The version is cheap to ask for, and changes with each commit of another process.
        if version != self.version {
            self.version = version;
            let engines = self.fold.stored.plan.engines.len();
            let Reading { store, fold, statistics, unread, .. } = self;
            fold.advance(store, |effect| count(effect, engines, statistics, unread))?;
            self.summary = fold.summary(store)?;
            self.is_stale = true;
        }
        self.read_games()
    }

    fn read_games(&mut self) -> Result<(), StoreError> {
        let run = self.fold.stored.head.run.clone();
        for pair in self.unread.drain(..self.unread.len().min(READ_PAIRS)) {
            let played = self
                .store
                .pair(&run, pair)?
                .ok_or_else(|| self.store.schedule_mismatch(&run, pair))?;
            self.statistics.add(&played);
            self.is_stale = true;
        }
        Ok(())
    }

    fn fragments(
        &mut self,
        state: &State,
        trouble: Option<String>,
    ) -> Result<Vec<Fragment>, StoreError> {
        // The last pair is counted a moment before the process notes the end of the run. In
        // between, a process that has nothing left to start says that it is draining, which would
        // be shown as the state of a finished run.
        let over = State::Over(self.summary.ending);
        let state = if self.summary.is_over() { &over } else { state };
        // Without a process an undecided run has another verdict, so the report has to be made
        // again.
        let is_played = matches!(state, State::Played(_));
        self.is_stale |= self.summary.is_played != is_played;
        self.summary.is_played = is_played;
        let summary = &self.summary;
        let expected = self.fold.state.schedule().expected_pairs();
        let recent = match state {
            State::Played(running) => running.recent.clone().unwrap_or_default(),
            State::Over(_) => Recent::default(),
        };
        let outlook = outlook(&self.fold.stored.plan, &self.fold.state, &recent);
        self.rest = self.rest.saturating_sub(1);
        // The pause between two reports does not delay the final one.
        if self.is_stale && (self.rest == 0 || matches!(state, State::Over(Some(_)))) {
            // While some games are unread, their statistics would contradict the counts.
            let has_all = self.unread.is_empty() && summary.counts.games() > 0;
            let statistics = has_all.then_some(&self.statistics);
            let gates = gates_of_run(&self.store, &self.fold.stored)?;
            let mut document = run_document(&self.fold.stored, summary, statistics, &gates);
            let games = document.blocks.iter_mut().filter_map(|block| match block {
                Block::Games(games) => Some(games),
                _ => None,
            });
            for game in games.flatten() {
                // Graphs are left to the game's own page, because here they would be drawn and sent
                // with each version.
                game.graphs.clear();
                game.link = Some(format!("/runs/{}/games/{}", summary.run, game.place));
            }
            self.report = fragments(&document);
            self.reported = if summary.plan.design.is_single {
                summary.counts.games()
            } else {
                summary.counts.encounters.values().map(|met| met.pairs.pairs()).sum()
            };
            self.is_stale = !self.unread.is_empty();
            let ticks = u32::try_from(self.fold.state.counted_pairs().count() / TICK_PAIRS);
            let (least, most) = REPORT_TICKS.into_inner();
            self.rest = ticks.unwrap_or(most).clamp(least, most);
        }
        // The verdict comes first, then the counts, the games in progress, and all else.
        let (conclusion, rest) = self.report.split_at(self.report.len().min(1));
        let mut found = conclusion.to_vec();
        found.push(page::counts(&self.summary, state, [self.reported, expected], &outlook));
        found.extend(trouble.map(|words| page::error_notice(&words)));
        if !self.unread.is_empty() {
            let all = self.fold.state.counted_pairs().count() as u64;
            found.push(page::loading(all - self.unread.len() as u64, all));
        }
        if let State::Played(Running { boards: Some(boards), .. }) = state {
            found.push(page::boards(boards, &self.summary.engines));
        }
        found.extend(page::events(&recent));
        found.extend_from_slice(rest);
        Ok(found)
    }
}

/// Takes in the effect of a pair.
fn count(
    effect: Effect,
    engines: usize,
    statistics: &mut GameStatistics,
    unread: &mut VecDeque<u64>,
) {
    if let Effect::Count { tally, sprt_status } = effect {
        if engines == 2 {
            statistics.llr_history.count(&tally, sprt_status);
        }
        unread.extend((!tally.is_repeat).then_some(tally.pair));
    }
}
