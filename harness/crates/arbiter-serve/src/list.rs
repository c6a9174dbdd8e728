//! The list of runs, kept up to date.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::fold::Fold;
use super::hub::LivePage;
use super::run::state;
use crate::web::Fragment;
use crate::web::list::{MAX_ROWS, notice, row};
use crate::web::run::State;
use arbiter_report::utc_time;
use arbiter_store::{Outline, Store, StoreError};

/// Ticks from one look at the store to the next.
const LIST_TICKS: u32 = 4;

/// Runs that are read for the first time in a look: so many that a long list is there soon, and so
/// few that the page stays alive.
const NEW_RUNS: usize = 20;

/// The list.
#[derive(Debug, Default)]
pub(crate) struct RunListPage {
    results: PathBuf,
    store: Option<Store>,
    version: Option<i64>,
    runs: BTreeMap<String, Known>,
    /// The rows as they were made last.
    rows: Vec<Fragment>,
    /// Ticks until they may be made again.
    rest: u32,
}

/// A run that was read before.
#[derive(Debug)]
struct Known {
    fold: Fold,
    row: Fragment,
    state: State,
}

impl RunListPage {
    /// A list that was not read yet.
    pub(crate) fn new(results: PathBuf) -> RunListPage {
        RunListPage { results, ..RunListPage::default() }
    }

    /// Makes the rows again.
    fn update(&mut self) -> Result<(), StoreError> {
        let RunListPage { results, runs, .. } = self;
        let store = match &mut self.store {
            Some(store) => store,
            none => none.insert(Store::observe(results)?),
        };
        let version = Some(store.data_version()?);
        let has_changed = self.version != version;
        let outlines = store.outlines()?;
        let first = outlines.len().saturating_sub(MAX_ROWS);
        let mut unread = 0;
        let mut rows = Vec::new();
        for outline in outlines[first..].iter().rev() {
            let name = &outline.run;
            match runs.get_mut(name) {
                Some(known) => known.go_on(store, results, outline, has_changed)?,
                None if unread >= NEW_RUNS => {
                    unread += 1;
                    continue;
                }
                None => {
                    unread += 1;
                    drop(runs.insert(name.clone(), Known::read(store, results, name)?));
                }
            }
            rows.extend(runs.get(name).map(|known| known.row.clone()));
        }
        if unread > NEW_RUNS {
            rows.push(notice(&format!("Reading {} more runs.", unread - NEW_RUNS)));
            self.rest = 0;
        }
        if outlines.is_empty() {
            rows.push(notice("There is no run yet; arbiter sprt or arbiter match starts one."));
        }
        (self.version, self.rows) = (version, rows);
        Ok(())
    }
}

impl Known {
    fn read(store: &Store, results: &Path, run: &str) -> Result<Known, StoreError> {
        let fold = Fold::begin(store, run, |_| ())?;
        // Whatever keeps it from answering, it is not known to be played.
        let (state, _) = state(results, &fold.stored.head);
        let row = made(store, &fold, &state)?;
        Ok(Known { fold, row, state })
    }

    /// Only runs that are not over get pairs; of the others it is enough to compare the outline.
    fn go_on(
        &mut self,
        store: &Store,
        results: &Path,
        outline: &Outline,
        has_changed: bool,
    ) -> Result<(), StoreError> {
        if has_changed && !self.fold.can_go_on(store)? {
            *self = Known::read(store, results, &outline.run)?;
            return Ok(());
        }
        let head = &self.fold.stored.head;
        let is_other = outline.ending != head.ending || outline.about != head.about;
        let is_due = is_other || (has_changed && head.ending.is_none());
        if is_due {
            self.fold.go_on(store, |_| ())?;
        }
        let (state, _) = state(results, &self.fold.stored.head);
        if is_due || state != self.state {
            self.row = made(store, &self.fold, &state)?;
            self.state = state;
        }
        Ok(())
    }
}

fn made(store: &Store, fold: &Fold, state: &State) -> Result<Fragment, StoreError> {
    Ok(row(&fold.summary(store)?, &utc_time(fold.stored.head.created_ms), state))
}

impl LivePage for RunListPage {
    fn fragments(&mut self) -> Vec<Fragment> {
        self.rest = self.rest.saturating_sub(1);
        if self.rest > 0 {
            return self.rows.clone();
        }
        self.rest = LIST_TICKS;
        match self.update() {
            Ok(()) => self.rows.clone(),
            Err(StoreError::Missing(_)) => {
                vec![notice("There is no store yet; the first run in this folder makes it.")]
            }
            Err(error) => vec![notice(&error.to_string())],
        }
    }
}
