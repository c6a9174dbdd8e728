//! Live lists of runs: the state that all lists share, and the pages that clients request.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;

use super::fold::Fold;
use super::run::running;
use super::url_query::UrlQuery;
use crate::web::list::{MAX_ENGINES, PAGE, notice, row, standing};
use crate::web::{Fragment, LivePage};
use arbiter_game::outcome::Termination;
use arbiter_names::names;
use arbiter_process::lock;
use arbiter_report::{ListedRun, RunFilter, RunPhase, Running, Summary, read_one, run_pattern};
use arbiter_store::{RunHead, Store, StoreError};

/// Number of ticks (2 s in total) between two reads of the store.
const LIST_TICKS: u32 = 4;

/// Maximum number of pairs per read. Reads are large enough to complete a long list quickly, and
/// small enough to keep the page responsive.
const READ_PAIRS: u64 = 10_000;
/// Fixed cost of reading a run, as an equivalent number of pairs.
const RUN_PAIRS: u64 = 50;

/// Sentence shown while the folder has no store.
const NO_STORE: &str = "No store yet; the first run in this folder creates it.";

/// Runs of a store as last read; clones share the runs. A poisoned lock is harmless, because the
/// contents are valid even after a panic.
#[derive(Debug, Clone)]
pub(crate) struct RunList(Arc<Mutex<Runs>>);

#[derive(Debug, Default)]
struct Runs {
    results: PathBuf,
    store: Option<Store>,
    version: Option<i64>,
    epoch: [u64; 2],
    /// Names of all runs, newest first.
    order: Vec<String>,
    cached: BTreeMap<String, CachedRun>,
}

/// Run as last read.
#[derive(Debug)]
struct CachedRun {
    listed: ListedRun,
    /// Reply of the process that plays the run; `None` if no process replies.
    running: Option<Running>,
    /// State to which new pairs are added; `None` after the end of the run and after an error.
    fold: Option<Fold>,
}

/// Fields that apply to a list of runs.
const FIELDS: [&str; 5] = ["q", "state", "kind", "engine", "page"];

impl UrlQuery {
    /// Removes all fields that are empty or do not apply to a list of runs.
    pub(crate) fn for_runs(self) -> UrlQuery {
        self.keep_fields(&FIELDS)
    }

    /// Returns the filter that the query describes; an error names the invalid value.
    fn runs(&self) -> Result<RunFilter, String> {
        Ok(RunFilter {
            pattern: self.non_empty("q").map(run_pattern).transpose()?,
            phase: self.non_empty("state").map(str::parse).transpose()?,
            kind: self.non_empty("kind").map(str::parse).transpose()?,
            engine: self.non_empty("engine").map(str::to_owned),
        })
    }
}

impl RunList {
    /// Creates a list that has not been read yet.
    pub(crate) fn new(results: PathBuf) -> RunList {
        RunList(Arc::new(Mutex::new(Runs { results, ..Runs::default() })))
    }

    /// Returns the live page of the runs that the query selects.
    pub(crate) fn page<'a>(&'a self, url_query: &'a UrlQuery) -> LivePage<'a> {
        // Number of ticks until the fragments are computed again.
        let mut remaining_ticks: u32 = 0;
        Box::new(move || {
            remaining_ticks = remaining_ticks.saturating_sub(1);
            if remaining_ticks > 0 {
                return None;
            }
            let (found, unread) = lock(&self.0).fragments(url_query).unwrap_or_else(|error| {
                let message = match error {
                    StoreError::Missing(_) => NO_STORE,
                    error => &error.to_string(),
                };
                (vec![notice(message)], 0)
            });
            remaining_ticks = if unread > 0 { 0 } else { LIST_TICKS };
            Some(found)
        })
    }
}

impl Collector for RunList {
    /// Reads new pairs and encodes counts over all runs read so far; all counts are 0 if the store
    /// cannot be read.
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut runs = lock(&self.0);
        let unread = runs.refresh().unwrap_or_default() as u64;
        let phases = names::<RunPhase>().iter().map(|phase| ((*phase).to_owned(), 0));
        let mut states: BTreeMap<String, u64> = phases.collect();
        states.insert("unread".to_owned(), unread);
        let faults = Termination::ALL.into_iter().filter(|kind| kind.is_fault());
        let mut faults: BTreeMap<String, u64> = faults.map(|kind| (kind.to_string(), 0)).collect();
        let mut pairs = 0;
        for ListedRun { head, summary } in runs.cached_runs().map(|run| &run.listed) {
            pairs += head.pairs;
            let phase = summary.as_ref().map_or("unread".to_owned(), |run| run.phase().to_string());
            *states.entry(phase).or_default() += 1;
            for ((_, kind), count) in summary.iter().flat_map(|run| &run.counts.faults) {
                *faults.entry(kind.to_string()).or_default() += count;
            }
        }
        drop(runs);
        let mut gauges = |name, help, label, values: BTreeMap<String, u64>| {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (value, count) in values {
                metric.encode_family(&[(label, value)])?.encode_gauge(&count.cast_signed())?;
            }
            fmt::Result::Ok(())
        };
        gauges("arbiter_store_runs", "Runs in the store", "state", states)?;
        let help = "Games in the store that ended by an engine fault";
        gauges("arbiter_store_faults", help, "kind", faults)?;
        let help = "Counted pairs in the store";
        let mut metric =
            encoder.encode_descriptor("arbiter_store_pairs", help, None, MetricType::Gauge)?;
        metric.encode_gauge(&pairs.cast_signed())
    }
}

impl Runs {
    /// Reads new runs and pairs, within the limit of one read; returns the number of unread runs.
    fn refresh(&mut self) -> Result<usize, StoreError> {
        // The store is taken out of the state, so that the next call after an error opens the store
        // again.
        let store = self.store.take().map_or_else(|| Store::observe(&self.results), Ok)?;
        let version = Some(store.data_version()?);
        let epoch = store.epoch()?;
        let has_changed = self.version != version;
        if epoch != self.epoch {
            // The epoch changes when pairs are withdrawn or a run is removed. Other pairs may have
            // reused the row numbers in the store, so all runs are read again.
            self.cached.clear();
        }
        let outlines = store.outlines()?;
        let (mut unread, mut room) = (0, READ_PAIRS);
        // The newest runs are read first, so that the first page of a long list is complete soon.
        for outline in outlines.iter().rev() {
            match self.cached.get_mut(&outline.run) {
                Some(cached) => cached.advance(&store, &self.results, outline, has_changed),
                None if room == 0 => unread += 1,
                None => {
                    let cached = CachedRun::read(&store, &self.results, outline);
                    room = room.saturating_sub(RUN_PAIRS + cached.listed.head.pairs);
                    self.cached.insert(outline.run.clone(), cached);
                }
            }
        }
        self.order = outlines.into_iter().rev().map(|outline| outline.run).collect();
        (self.store, self.version, self.epoch) = (Some(store), version, epoch);
        Ok(unread)
    }

    /// Reads new runs and pairs. Returns the fragments of the list that the query selects, and the
    /// number of unread runs.
    fn fragments(&mut self, url_query: &UrlQuery) -> Result<(Vec<Fragment>, usize), StoreError> {
        let unread = self.refresh()?;
        let wanted = url_query.runs().and_then(|filter| Ok((filter, url_query.part()?)));
        let (filter, part) = match wanted {
            Ok(wanted) => wanted,
            Err(message) => return Ok((vec![notice(&message)], unread)),
        };
        let chosen: Vec<&CachedRun> =
            self.cached_runs().filter(|run| filter.holds(&run.listed)).collect();
        let summaries = self.cached_runs().filter_map(|run| run.listed.summary.as_ref().ok());
        let engines: BTreeSet<&String> =
            summaries.flat_map(|summary| &summary.engines).take(MAX_ENGINES).collect();
        let from = part.saturating_mul(PAGE) as usize;
        let rows = chosen.iter().skip(from).take(PAGE as usize);
        let counts = (chosen.len(), self.order.len());
        let mut found = vec![standing(url_query, part, counts, unread, &engines)];
        found.extend(rows.map(|run| row(&run.listed, run.running.as_ref())));
        Ok((found, unread))
    }

    /// Returns the runs that have been read so far, newest first.
    fn cached_runs(&self) -> impl Iterator<Item = &CachedRun> {
        self.order.iter().filter_map(|run| self.cached.get(run))
    }
}

impl CachedRun {
    /// Reads a run. If the run cannot be read, the result contains only the outline and the error.
    fn read(store: &Store, results: &Path, outline: &RunHead) -> CachedRun {
        let (head, summary, fold) = match read_one(|| Fold::begin(store, &outline.run, |_| ())) {
            Ok((fold, summary)) => (fold.stored.head.clone(), Ok(summary), Some(fold)),
            Err(why) => (outline.clone(), Err(why), None),
        };
        // If the process of a run does not reply, for whatever reason, the run is not shown as
        // running.
        let running = running(results, &head).unwrap_or_default();
        let is_played = running.is_some();
        let summary = summary.map(|summary| Summary { is_played, ..summary });
        // A run that has ended gets no more pairs, so its state would only occupy memory.
        let fold = fold.filter(|_| head.ending.is_none());
        CachedRun { listed: ListedRun { head, summary }, running, fold }
    }

    /// Updates the run. Only a run that has not ended gets new pairs. For a run that has ended,
    /// comparing the outline is sufficient.
    fn advance(&mut self, store: &Store, results: &Path, outline: &RunHead, has_changed: bool) {
        let ListedRun { head, summary } = &mut self.listed;
        let is_other = outline.ending != head.ending
            || outline.about != head.about
            || outline.created_ms != head.created_ms;
        let Some(fold) = self.fold.as_mut().filter(|_| !is_other) else {
            if is_other || (has_changed && summary.is_err()) {
                *self = CachedRun::read(store, results, outline);
            }
            return;
        };
        self.running = running(results, head).unwrap_or_default();
        if has_changed {
            *summary = read_one(|| fold.advance(store, |_| ()));
            *head = fold.stored.head.clone();
        }
        match summary {
            Ok(summary) => summary.is_played = self.running.is_some(),
            // After an error, the counts may be incomplete, so the next update reads the whole run
            // again.
            Err(_) => self.fold = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_queries_keep_filters_and_explain_errors() {
        let ask = |query: &str| {
            let fields = query.split('&').filter_map(|field| field.split_once('='));
            let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
            UrlQuery::new(query, fields.collect()).unwrap().for_runs()
        };
        let url_query = ask("q=a|b&since=1-2&state=&kind=sprt&page=3&other=x");
        assert_eq!(url_query.address("/", None), "/?q=a|b&kind=sprt");
        assert_eq!(url_query.address("/", Some(2)), "/?q=a|b&kind=sprt&page=3");
        assert_eq!(url_query, ask("q=a|b&state=&kind=sprt&page=3"));
        assert!(url_query.runs().is_ok_and(|runs| runs.pattern.is_some() && runs.phase.is_none()));
        for wrong in ["q=(", "state=over", "kind=x"] {
            assert!(ask(wrong).runs().is_err_and(|message| !message.is_empty()), "{wrong}");
        }
    }
}
