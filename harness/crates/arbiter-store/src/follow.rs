//! Reading from a store without blocking the processes that write to the store.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};

use super::checksum::PAIRS;
use super::{Result, Store, StoreError, beside, kept_from_writing, schema};
use arbiter_run::PairTally;

/// Maximum time for which a reader waits while another process sets up the file.
const BUSY: Duration = Duration::from_secs(5);

impl Store {
    /// Opens the existing store of a results folder for reading only. Readers and the writer do not
    /// block each other. A store of an older format is migrated first.
    pub fn observe(folder: &Path) -> Result<Store> {
        let file = Store::in_folder(folder)?;
        let store = Store::read_only(file.clone())?;
        if store.format()? == schema::FORMAT {
            return Ok(store);
        }
        drop(store);
        Store::open(folder)?;
        Store::read_only(file)
    }

    pub(super) fn read_only(file: PathBuf) -> Result<Store> {
        // Only one thread at a time uses a connection, so SQLite does not need to lock the
        // connection.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = |file: &Path| {
            let log = beside(file, "-wal");
            if log.exists() || kept_from_writing(file).is_none() {
                return Connection::open_with_flags(file, flags);
            }
            // In a read-only folder, SQLite cannot create the files that readers share with a
            // writer, and opens only files that are declared immutable. If the store has no log, no
            // process has the store open.
            let name = file.to_string_lossy().replace('%', "%25");
            let name = name.replace('?', "%3f").replace('#', "%23");
            let address = format!("file:{name}?immutable=1");
            Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
        };
        let mut store = Store::open_file(file, open)?;
        let adapted = store.adapt(BUSY);
        adapted.map_err(|source| StoreError::Sqlite { file: store.file.clone(), source })?;
        Ok(store)
    }

    /// Returns a number that changes whenever another process has written to the store.
    pub fn data_version(&self) -> Result<i64> {
        let read = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        read.map_err(|e| self.sqlite(e))
    }

    /// Returns the largest row number of a game in the store. Games that are added later have
    /// larger row numbers.
    pub fn mark(&self) -> Result<u64> {
        self.number("SELECT coalesce(max(rowid), 0) FROM games", [])
    }

    /// Returns the tallies of the pairs that were added to a run after `mark`, in the order of
    /// addition. Also returns the mark for the next call.
    pub fn tallies_after(&self, run: &str, mark: u64) -> Result<(Vec<PairTally>, u64)> {
        let next = self.mark()?;
        // Few rows follow the mark, so these rows are found by row number. The plus sign keeps
        // SQLite from searching by run instead.
        let from = format!(
            "games g JOIN {PAIRS}
             WHERE g.rowid > ?1 AND g.rowid <= ?2 AND +g.run = ?3 AND g.half = 0
                 AND p.run = g.run AND p.pair = g.pair ORDER BY g.rowid"
        );
        Ok((self.select_tallies(run, &from, params![mark, next, run])?, next))
    }
}
