//! Syzygy endgame tables on disk.

use std::path::Path;

use shakmaty::Chess;
use shakmaty_syzygy::{AmbiguousWdl, Tablebase, Wdl};
use thiserror::Error;

use crate::adjudicate::Tables;

/// Tables in a folder cannot be used; the text says why.
#[derive(Debug, Error)]
#[error("syzygy: {0}")]
pub struct TablesError(String);

/// Tables from one or several folders.
#[derive(Debug)]
pub struct Syzygy(Tablebase<Chess>);

impl Syzygy {
    /// Opens the tables of all folders, each of which must have some.
    pub fn open<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Result<Syzygy, TablesError> {
        let mut tables = Tablebase::new();
        for folder in folders {
            let shown = folder.display();
            let found = tables
                .add_directory(folder)
                .map_err(|error| TablesError(format!("cannot read folder {shown}: {error}")))?;
            if found == 0 {
                return Err(TablesError(format!(
                    "no tables (files such as KQvK.rtbw) in {shown}; folders below it are not \
                     searched"
                )));
            }
        }
        Ok(Syzygy(tables))
    }

    /// Pieces of the largest table.
    pub fn max_pieces(&self) -> usize {
        self.0.max_pieces()
    }
}

impl Tables for Syzygy {
    fn fresh(&self, position: &Chess) -> Option<Wdl> {
        self.0.probe_wdl_after_zeroing(position).ok()
    }

    fn exact(&self, position: &Chess) -> Option<AmbiguousWdl> {
        self.0.probe_wdl(position).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_without_tables_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = Syzygy::open([dir.path()]).unwrap_err().to_string();
        assert!(error.contains("no tables") && error.contains(".rtbw"), "{error}");
        let nowhere = dir.path().join("nowhere");
        let error = Syzygy::open([nowhere.as_path()]).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains("nowhere"), "{error}");
    }
}
