//! State that is kept between searches: transposition table and histories.

use super::history::Histories;
use super::personality::Personality;
use super::{micromax, rdchess};
use crate::tt::{OutOfMemory, TranspositionTable};

/// Memory of one personality. It is replaced by an empty memory of the same size when another
/// personality searches.
pub struct Memory {
    megabytes: usize,
    threads: usize,
    pub(super) state: SearchState,
}

/// State of each personality.
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
    /// Returns an empty memory for the default personality, with a table of `hash_megabytes` MiB.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table.
    pub fn new(hash_megabytes: usize) -> Result<Memory, OutOfMemory> {
        Memory::for_personality(Personality::default(), hash_megabytes)
    }

    /// Returns an empty memory for a personality, with a table of `hash_megabytes` MiB.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table.
    pub fn for_personality(
        personality: Personality,
        hash_megabytes: usize,
    ) -> Result<Memory, OutOfMemory> {
        let state = SearchState::new(personality, hash_megabytes, 1)?;
        Ok(Memory { megabytes: hash_megabytes, threads: 1, state })
    }

    /// Replaces the memory with an empty memory for a personality, with a table of `hash_megabytes`
    /// MiB.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table; in this case nothing changes.
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

    /// Returns the size of the table, in MiB.
    pub fn megabytes(&self) -> usize {
        self.megabytes
    }

    /// Sets the number of threads, at least one. Only the default personality uses more than one
    /// thread. Histories of threads that remain are kept.
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

    /// Clears the table and the histories.
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

    /// Replaces the memory with an empty memory if it belongs to another personality.
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
