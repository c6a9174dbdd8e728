//! Records for training and validation.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::datagen::record::Record;
use crate::datagen::{HEADER_BYTES, records};
use crate::random::mix;

/// Average number of games per validation game.
const ONE_IN: u64 = 20;

/// Records, split into training and validation.
#[derive(Default)]
pub struct Data {
    pub(super) records: Vec<Record>,
    /// Indices of the training records.
    pub(super) training: Vec<u32>,
    /// Indices of the validation records. No game has both training and validation records.
    pub(super) validation: Vec<u32>,
    games: u64,
    /// Hash of the headers of all files.
    pub(super) hash: u64,
}

impl Data {
    /// Adds a file that `datagen` has written.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, was not written by `datagen`, contains an
    /// invalid record, or ends within a record.
    pub fn read(&mut self, path: &Path) -> io::Result<()> {
        let mut source = BufReader::with_capacity(1 << 20, File::open(path)?);
        let mut header = [0; HEADER_BYTES];
        source.read_exact(&mut header)?;
        if !header.starts_with(b"palimpsest positions 1\n") {
            return Err(io::Error::other("it was not written by palimpsest datagen"));
        }
        self.hash = header.iter().fold(self.hash, |hash, &byte| mix(hash ^ u64::from(byte)));
        for record in records(&mut source) {
            let record = record.map_err(io::Error::other)?;
            self.games += u64::from(record.is_first());
            let is_validation = mix(self.games).is_multiple_of(ONE_IN);
            let set = if is_validation { &mut self.validation } else { &mut self.training };
            set.push(u32::try_from(self.records.len()).map_err(io::Error::other)?);
            self.records.push(record);
        }
        Ok(())
    }

    /// Returns the numbers of training records, validation records and games.
    pub fn counts(&self) -> [u64; 3] {
        [self.training.len() as u64, self.validation.len() as u64, self.games]
    }
}
