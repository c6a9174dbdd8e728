//! Syzygy endgame tables on disk.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
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
            let hint = match shown.to_string().contains(';') {
                true => "; several folders have ':' between them",
                false => "",
            };
            let unread = |error| TablesError(format!("cannot read folder {shown}: {error}{hint}"));
            for entry in std::fs::read_dir(folder).map_err(unread)?.flatten() {
                check(&entry.path()).map_err(TablesError)?;
            }
            let found = tables.add_directory(folder).map_err(unread)?;
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

/// Refuses a file with the name of a table that is none, or not whole: it would be asked in vain, in the
/// middle of a run. What is behind its header comes in blocks of 64 bytes.
fn check(path: &Path) -> Result<(), String> {
    let magic = match path.extension().and_then(OsStr::to_str) {
        Some("rtbw") => [0x71, 0xe8, 0x23, 0x5d],
        Some("rtbz") => [0xd7, 0x66, 0x0c, 0xa5],
        _ => return Ok(()),
    };
    let mut first = [0; 4];
    let read = File::open(path).and_then(|mut file| {
        file.read_exact(&mut first)?;
        Ok(file.metadata()?.len())
    });
    let broken = |why: &str| format!("{} {why}; fetch it again", path.display());
    match read {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(broken("is too short")),
        Err(error) => Err(format!("{}: {error}", path.display())),
        Ok(_) if first != magic => Err(broken("is no table")),
        Ok(length) if length % 64 != 16 => Err(broken("is not whole")),
        Ok(_) => Ok(()),
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
        let several = dir.path().join("a;b");
        let error = Syzygy::open([several.as_path()]).unwrap_err().to_string();
        assert!(error.ends_with("; several folders have ':' between them"), "{error}");
        let nowhere = dir.path().join("nowhere");
        let error = Syzygy::open([nowhere.as_path()]).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains("nowhere"), "{error}");
    }

    #[test]
    fn broken_tables_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("KQvK.rtbz");
        let magic = [0xd7, 0x66, 0x0c, 0xa5];
        let with = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Syzygy::open([dir.path()])
                .map(drop)
                .map_err(|error| error.to_string().replace(dir.path().to_str().unwrap(), ""))
        };
        let refused = |why: &str| Err(format!("syzygy: /KQvK.rtbz {why}; fetch it again"));
        let whole = [&magic[..], &[0; 12 + 64]].concat();
        assert_eq!(with(&whole), Ok(()));
        assert_eq!(with(&whole[..79]), refused("is not whole"));
        assert_eq!(with(&[0; 80]), refused("is no table"));
        assert_eq!(with(b"version https://git-lfs"), refused("is no table"));
        assert_eq!(with(&magic[..2]), refused("is too short"));
        assert_eq!(with(b""), refused("is too short"));
    }
}
