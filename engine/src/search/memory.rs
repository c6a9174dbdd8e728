//! What is remembered from one search to the next.

use super::history::Histories;
use super::personality::Personality;
use super::{micromax, rdchess};
use crate::tt::{OutOfMemory, TranspositionTable};

/// The memory of one personality; another one starts with an empty memory of the same size.
pub struct Memory {
    megabytes: usize,
    pub(super) kept: Kept,
}

/// What the personality keeps.
pub(super) enum Kept {
    /// A table of positions and the histories of moves.
    Palimpsest { table: TranspositionTable, histories: Histories },
    /// A table of positions.
    Micromax(micromax::Table),
    /// A table of positions.
    Rdchess(rdchess::Table),
}

impl Kept {
    fn new(personality: Personality, megabytes: usize) -> Result<Kept, OutOfMemory> {
        Ok(match personality {
            Personality::Palimpsest => Kept::Palimpsest {
                table: TranspositionTable::new(megabytes)?,
                histories: Histories::new(),
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
        let kept = Kept::new(personality, hash_megabytes)?;
        Ok(Memory { megabytes: hash_megabytes, kept })
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        match &mut self.kept {
            Kept::Palimpsest { table, histories } => {
                table.clear();
                histories.clear();
            }
            Kept::Micromax(table) => table.clear(),
            Kept::Rdchess(table) => table.clear(),
        }
    }

    /// Makes sure that the memory is this personality's.
    pub(super) fn hand_to(&mut self, personality: Personality) -> Result<(), OutOfMemory> {
        if self.kept.owner() != personality {
            self.kept = Kept::new(personality, self.megabytes)?;
        }
        Ok(())
    }
}
