//! Memory kept from one search to the next: transposition table and histories.

use super::history::Histories;
use super::personality::Personality;
use super::{micromax, rdchess};
use crate::tt::{OutOfMemory, TranspositionTable};

/// The memory of one personality. Another personality starts with an empty one of the same size.
pub struct Memory {
    megabytes: usize,
    threads: usize,
    pub(super) state: SearchState,
}

/// Memory by personality.
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
    /// An empty memory for the default personality, with a table of `hash_megabytes` MiB.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table.
    pub fn new(hash_megabytes: usize) -> Result<Memory, OutOfMemory> {
        Memory::for_personality(Personality::default(), hash_megabytes)
    }

    /// An empty memory for a personality, with a table of `hash_megabytes` MiB.
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

    /// Replaces the memory by an empty one for a personality, with a table of `hash_megabytes` MiB.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table; nothing has changed then.
    pub fn replace(
        &mut self,
        personality: Personality,
        hash_megabytes: usize,
    ) -> Result<(), OutOfMemory> {
        // The new memory comes first, so that the old one stays if there is not enough.
        self.state = SearchState::new(personality, hash_megabytes, self.threads)?;
        self.megabytes = hash_megabytes;
        Ok(())
    }

    /// Size of the table, in MiB.
    pub fn megabytes(&self) -> usize {
        self.megabytes
    }

    /// Sets the number of threads of the engine's own search, at least one; other personalities use
    /// only one. Existing histories are kept.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
        if let SearchState::Palimpsest { histories, .. } = &mut self.state {
            histories.resize_with(self.threads, Histories::new);
        }
    }

    /// The number of threads a search uses.
    pub fn threads(&self) -> usize {
        if self.state.personality().is_single_threaded() { 1 } else { self.threads }
    }

    /// Clears everything.
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

    /// Replaces the memory by an empty one if it is another personality's.
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
