//! What is remembered from one search to the next.

use super::history::Histories;
use super::personality::Personality;
use super::{micromax, rdchess};
use crate::tt::{OutOfMemory, TranspositionTable};

/// The memory of one personality; another one starts with an empty memory of the same size.
pub struct Memory {
    megabytes: usize,
    threads: usize,
    pub(super) kept: Kept,
}

/// What the personality keeps.
pub(super) enum Kept {
    /// A table of positions and the histories of moves, for each thread its own.
    Palimpsest { table: TranspositionTable, histories: Vec<Histories> },
    /// A table of positions.
    Micromax(micromax::Table),
    /// A table of positions.
    Rdchess(rdchess::Table),
}

impl Kept {
    fn new(
        personality: Personality,
        megabytes: usize,
        threads: usize,
    ) -> Result<Kept, OutOfMemory> {
        Ok(match personality {
            Personality::Palimpsest => Kept::Palimpsest {
                table: TranspositionTable::new(megabytes)?,
                histories: (0..threads).map(|_| Histories::new()).collect(),
            },
            Personality::Micromax => Kept::Micromax(micromax::Table::new(megabytes)?),
            Personality::Rdchess => Kept::Rdchess(rdchess::Table::new(megabytes)?),
        })
    }

    fn owner(&self) -> Personality {
        match self {
            Kept::Palimpsest { .. } => Personality::Palimpsest,
            Kept::Micromax(_) => Personality::Micromax,
            Kept::Rdchess(_) => Personality::Rdchess,
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
        Memory::of(Personality::default(), hash_megabytes)
    }

    /// An empty memory for a personality, with a table of `hash_megabytes` MiB.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table.
    pub fn of(personality: Personality, hash_megabytes: usize) -> Result<Memory, OutOfMemory> {
        let kept = Kept::new(personality, hash_megabytes, 1)?;
        Ok(Memory { megabytes: hash_megabytes, threads: 1, kept })
    }

    /// Makes it the empty memory of a personality, with a table of `hash_megabytes` MiB.
    ///
    /// # Errors
    ///
    /// If there is not enough memory for the table; nothing has changed then.
    pub fn renew(
        &mut self,
        personality: Personality,
        hash_megabytes: usize,
    ) -> Result<(), OutOfMemory> {
        self.kept = Kept::new(personality, hash_megabytes, self.threads)?;
        self.megabytes = hash_megabytes;
        Ok(())
    }

    /// Size of the table, in MiB.
    pub fn megabytes(&self) -> usize {
        self.megabytes
    }

    /// Lets the engine's own search use so many threads, at least one; other personalities have
    /// only one. Those there are keep their histories.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
        if let Kept::Palimpsest { histories, .. } = &mut self.kept {
            histories.resize_with(self.threads, Histories::new);
        }
    }

    /// The number of threads a search uses.
    pub fn threads(&self) -> usize {
        if self.kept.owner().is_single_threaded() { 1 } else { self.threads }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        match &mut self.kept {
            Kept::Palimpsest { table, histories } => {
                table.clear(self.threads);
                histories.iter_mut().for_each(Histories::clear);
            }
            Kept::Micromax(table) => table.clear(),
            Kept::Rdchess(table) => table.clear(),
        }
    }

    /// Makes sure that the memory is this personality's.
    pub(super) fn hand_to(&mut self, personality: Personality) -> Result<(), OutOfMemory> {
        if self.kept.owner() != personality {
            self.kept = Kept::new(personality, self.megabytes, self.threads)?;
        }
        Ok(())
    }
}
