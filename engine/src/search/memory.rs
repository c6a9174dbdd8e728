//! State that is kept between searches: transposition table and histories.

use super::history::Histories;
use super::personality::Personality;
use super::{micromax, rdchess};
use crate::tt::{OutOfMemory, TranspositionTable};

/// Search memory of one personality. When another personality searches, this memory is replaced by
/// an empty memory of the same size.
pub struct Memory {
    megabytes: usize,
    threads: usize,
    pub(super) state: SearchState,
}

/// State that a personality keeps between searches.
pub(super) enum SearchState {
    /// A transposition table, and histories for each thread.
    Palimpsest { table: TranspositionTable, histories: Vec<Histories> },
    /// A transposition table.
    Micromax(micromax::Table),
    /// A transposition table.
    Rdchess(rdchess::Table),
}

impl SearchState {
    fn new(
        personality: Personality,
        megabytes: usize,
        threads: usize,
    ) -> Result<SearchState, OutOfMemory> {
        Ok(match personality {
            Personality::Palimpsest => SearchState::Palimpsest {
                table: TranspositionTable::new(megabytes)?,
                histories: (0..threads).map(|_| Histories::new()).collect(),
            },
            Personality::Micromax => SearchState::Micromax(micromax::Table::new(megabytes)?),
            Personality::Rdchess => SearchState::Rdchess(rdchess::Table::new(megabytes)?),
        })
    }

    fn personality(&self) -> Personality {
        match self {
            SearchState::Palimpsest { .. } => Personality::Palimpsest,
            SearchState::Micromax(_) => Personality::Micromax,
            SearchState::Rdchess(_) => Personality::Rdchess,
        }
    }
}

impl Memory {
    /// Returns an empty memory for the default personality, with a transposition table of
    /// `hash_megabytes` MiB.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the table cannot be allocated.
    pub fn new(hash_megabytes: usize) -> Result<Memory, OutOfMemory> {
        Memory::for_personality(Personality::default(), hash_megabytes)
    }

    /// Returns an empty memory for a personality, with a transposition table of `hash_megabytes`
    /// MiB.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the table cannot be allocated.
    pub fn for_personality(
        personality: Personality,
        hash_megabytes: usize,
    ) -> Result<Memory, OutOfMemory> {
        let state = SearchState::new(personality, hash_megabytes, 1)?;
        Ok(Memory { megabytes: hash_megabytes, threads: 1, state })
    }

    /// Replaces the memory with an empty memory for `personality`, with a transposition table of
    /// `hash_megabytes` MiB.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the table cannot be allocated; in this case, the memory does not
    /// change.
    pub fn replace(
        &mut self,
        personality: Personality,
        hash_megabytes: usize,
    ) -> Result<(), OutOfMemory> {
        // The new state is allocated before the old state is dropped, so that the old state remains
        // if the allocation fails.
        self.state = SearchState::new(personality, hash_megabytes, self.threads)?;
        self.megabytes = hash_megabytes;
        Ok(())
    }

    /// Returns the size of the transposition table, in MiB.
    pub fn megabytes(&self) -> usize {
        self.megabytes
    }

    /// Sets the number of threads; 0 counts as 1. Only the default personality uses more than one
    /// thread. The histories of the remaining threads are kept.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
        if let SearchState::Palimpsest { histories, .. } = &mut self.state {
            histories.resize_with(self.threads, Histories::new);
        }
    }

    /// Returns the number of threads that a search uses.
    pub fn threads(&self) -> usize {
        if self.state.personality().is_single_threaded() { 1 } else { self.threads }
    }

    /// Clears the transposition table and the histories.
    pub fn clear(&mut self) {
        match &mut self.state {
            SearchState::Palimpsest { table, histories } => {
                table.clear(self.threads);
                histories.iter_mut().for_each(Histories::clear);
            }
            SearchState::Micromax(table) => table.clear(),
            SearchState::Rdchess(table) => table.clear(),
        }
    }

    /// If the memory belongs to another personality, replaces it with an empty memory for
    /// `personality`.
    pub(super) fn ensure_personality(
        &mut self,
        personality: Personality,
    ) -> Result<(), OutOfMemory> {
        if self.state.personality() != personality {
            self.state = SearchState::new(personality, self.megabytes, self.threads)?;
        }
        Ok(())
    }
}
