//! State of a run, updated from a store to which other processes write.

use arbiter_report::{Summary, apply_tallies, replayed_state, shown_run, summary_of};
use arbiter_run::{Effect, RunState};
use arbiter_store::{Store, StoreError, StoredRun};

/// State of a run after the pairs read so far.
#[derive(Debug)]
pub(crate) struct Fold {
    /// Stored data of the run, except the pairs.
    pub(crate) stored: StoredRun,
    /// State of the run after the pairs read so far.
    pub(crate) state: RunState,
    mark: u64,
    epoch: [u64; 2],
}

impl Fold {
    /// Reads all stored pairs of a run; calls `observe` with every effect of each pair. Returns the
    /// state and the summary of the run.
    pub(crate) fn begin(
        store: &Store,
        run: &str,
        observe: impl FnMut(Effect),
    ) -> Result<(Fold, Summary), StoreError> {
        // The mark is read before the pairs, so that no pair is missed. A pair that is read twice
        // is counted once.
        let (epoch, mark) = (store.epoch()?, store.mark()?);
        let stored = shown_run(store, run)?;
        let state = replayed_state(store, run, &stored.plan, observe)?;
        let summary = summary_of(store, &stored, &state)?;
        Ok((Fold { stored, state, mark, epoch }, summary))
    }

    /// Returns `true` if [`advance`](Self::advance) can be called. Returns `false` after pairs of
    /// any run were withdrawn or a run was removed, because other pairs may have reused the row
    /// numbers in the store.
    pub(crate) fn can_advance(&self, store: &Store) -> Result<bool, StoreError> {
        Ok(store.epoch()? == self.epoch)
    }

    /// Reads the pairs stored since the last read; calls `observe` with every effect of each pair.
    /// Returns the summary of the run after these pairs.
    pub(crate) fn advance(
        &mut self,
        store: &Store,
        observe: impl FnMut(Effect),
    ) -> Result<Summary, StoreError> {
        let run = self.stored.head.run.clone();
        let (tallies, mark) = store.tallies_after(&run, self.mark)?;
        self.mark = mark;
        self.stored = shown_run(store, &run)?;
        apply_tallies(store, &run, &mut self.state, &tallies, observe)?;
        summary_of(store, &self.stored, &self.state)
    }
}
