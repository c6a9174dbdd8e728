//! Syzygy endgame tables on disk.

use std::path::{Path, PathBuf};

use shakmaty::Chess;
use shakmaty_syzygy::{AmbiguousWdl, Tablebase, Wdl};
use thiserror::Error;

use crate::adjudicate::Tables;

/// Why tables cannot be used.
#[derive(Debug, Error)]
pub enum TablesError {
    /// The folder cannot be read.
    #[error("syzygy: cannot read folder {}: {source}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The folder holds something else.
    #[error(
        "syzygy: no tables (files such as KQvK.rtbw) in {}; folders below it are not searched",
        .0.display()
    )]
    Empty(PathBuf),
}

/// Tables from one or several folders.
#[derive(Debug)]
pub struct Syzygy(Tablebase<Chess>);

impl Syzygy {
    /// Opens the tables of all folders, each of which must have some.
    pub fn open<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Result<Syzygy, TablesError> {
        let mut tables = Tablebase::new();
        for folder in folders {
            let found = tables
                .add_directory(folder)
                .map_err(|source| TablesError::Folder { folder: folder.to_owned(), source })?;
            if found == 0 {
                return Err(TablesError::Empty(folder.to_owned()));
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
