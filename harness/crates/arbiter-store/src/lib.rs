//! The results store: one SQLite file with every run, pair and game.
//!
//! The games of a pair are committed together, keyed by run and pair: a pair is stored completely
//! or not at all, and storing a pair again changes nothing. All other results (PGN, reports,
//! counts) are derived from the store and can be recreated.

mod append;
mod archive;
mod checksum;
mod compact;
mod follow;
mod games;
mod gates;
mod parts;
mod query;
mod recorded;
mod rows;
mod run_lock;
mod schema;
mod watch;
mod workers;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{CachedStatement, Connection, ErrorCode, OptionalExtension, Params, Row, ffi};
use thiserror::Error;

use arbiter_names::did_you_mean;
use arbiter_process::{FilesInUse, folder_of, has_other_names, may_write};
use arbiter_run::Latencies;

pub use archive::ArchiveError;
pub use checksum::CheckedRun;
pub use games::{GameOrder, GamePart, GameQuery, ListedGame, parse_place};
pub use gates::StoredGate;
pub use parts::LintCount;
pub use query::{LATEST, RunHead, StoredRun};
pub use recorded::RecordedGame;
pub use rows::{EngineHashes, Fingerprints};
pub use run_lock::{LockError, RunLock};

/// Offsets, in bytes, at which the games of a run start in the output files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offsets {
    /// Offset in the PGN file.
    pub pgn: u64,
    /// Offset in the EPD file.
    pub epd: u64,
}

/// Maximum number of rows that a query may return. All rows are held in memory, and a store from an
/// untrusted source could return an unlimited number of rows. Tests use a lower maximum.
const MAX_ROWS: usize = if cfg!(test) { 100_000 } else { 20_000_000 };

/// File name of the store in a results folder.
pub const FILE_NAME: &str = "arbiter.db";

/// Endings of the names of the files that SQLite uses for a store.
const ENDINGS: [&str; 4] = ["", "-journal", "-wal", "-shm"];

/// Returns the files of the store in a results folder, existing or not: the store, SQLite's
/// additional files, copies in older formats, and locks.
pub fn own_files(folder: &Path) -> Vec<PathBuf> {
    let is_own = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(FILE_NAME) || name.ends_with(".lock")
    };
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let existing = entries.map(|entry| entry.path()).filter(is_own);
    let always = ENDINGS.map(|end| folder.join(format!("{FILE_NAME}{end}")));
    always.into_iter().chain(existing).collect()
}

/// Returns the path of the file whose name is the name of the store `file` followed by `end`.
fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Last bytes of an SQLite journal that contains the name of a super-journal.
const SUPER_JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Reason why the user cannot write to a store.
const ONLY_READ: &str = "read-only; give a writable folder with --results";

/// Returns the reason why a store is read-only; `None` if the store is writable.
fn kept_from_writing(file: &Path) -> Option<&'static str> {
    if has_other_names(file) {
        // SQLite keeps a log for each name, so writers that use different names of the file do not
        // notice each other.
        return Some(
            "it has a second hard link, through which runs would damage it; replace it by a copy",
        );
    }
    (!may_write(file) || !may_write(folder_of(file))).then_some(ONLY_READ)
}

/// Returns an error unless the store, and every existing file that SQLite opens together with the
/// store, is a regular file: SQLite could block forever on a special file, and would follow a
/// symbolic link out of the folder. Also returns an error if a file that SQLite opens together with
/// the store has a second hard link, because SQLite would overwrite a file that is also in use
/// under another name. A journal that names a super-journal is an error, too. These errors occur
/// only in results folders from untrusted sources.
fn check_files(file: &Path) -> Result<()> {
    for end in ENDINGS {
        let path = beside(file, end);
        let Ok(about) = path.symlink_metadata() else { continue };
        let what = if about.is_symlink() && end.is_empty() {
            "is a symbolic link; give the folder of its target with --results"
        } else if about.is_symlink() {
            "is a symbolic link; remove it"
        } else if !about.is_file() {
            "is not a regular file; remove it"
        } else if !end.is_empty() && has_other_names(&path) {
            "has a second hard link; replace it by a copy"
        } else if end == "-journal" && names_other_journal(&path) {
            "names another journal; remove it"
        } else {
            continue;
        };
        let (file, path) = (file.display(), path.display());
        return Err(StoreError::Unusable(format!(
            "results store {file} cannot be used: {path} {what}"
        )));
    }
    Ok(())
}

/// Returns whether a journal ends with the mark that follows the name of a super-journal. SQLite
/// opens all files that a super-journal names, but writes a super-journal only for transactions
/// that change several database files.
fn names_other_journal(journal: &Path) -> bool {
    let mut end = [0; SUPER_JOURNAL.len()];
    File::open(journal)
        .and_then(|mut file| {
            file.seek(SeekFrom::End(-(end.len() as i64)))?;
            file.read_exact(&mut end)
        })
        .is_ok_and(|()| end == SUPER_JOURNAL)
}

/// Error of the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The results folder cannot be created or used.
    #[error("cannot use results folder {}: {source}\nhint: give a writable folder with --results", .folder.display())]
    Folder {
        /// Path of the folder.
        folder: PathBuf,
        /// Error from the operating system.
        source: std::io::Error,
    },
    /// The store is read-only, has an unsupported format, or cannot be copied before the migration.
    #[error("{0}")]
    Unusable(String),
    /// An output file of this command is the store.
    #[error("{0}")]
    IsOutput(String),
    /// Another program has changed the store.
    #[error("results store {} was {what} by another program", .file.display())]
    Changed {
        /// Path of the store.
        file: PathBuf,
        /// The change, as a participle.
        what: &'static str,
    },
    /// The results folder contains no store.
    #[error("no results in {}\nhint: play a run first, or give another --results", .0.display())]
    Missing(PathBuf),
    /// SQLite reported an error.
    #[error("results store {}: {source}", .file.display())]
    Sqlite {
        /// Path of the store.
        file: PathBuf,
        /// Error from SQLite.
        source: rusqlite::Error,
    },
    /// The file is damaged: it differs from the data that SQLite wrote.
    #[error(
        "results store {} is damaged: {found}\nhint: restore a copy, or save the readable part \
         with `sqlite3 {} .recover | sqlite3 saved.db`; `arbiter results verify` lists the damage",
        .file.display(), .file.display()
    )]
    Damaged {
        /// Path of the store.
        file: PathBuf,
        /// First damage that was found.
        found: String,
    },
    /// A run of this name already exists.
    #[error(
        "a run named '{0}' already exists\nhint: --resume {0} continues the run; --name names another"
    )]
    Exists(String),
    /// There is no run of this name.
    #[error("no run named '{run}' in {place}{hint}\nhint: list runs with `arbiter results list --results {place}`", place = .folder.display())]
    NoRun {
        /// Name of the run.
        run: String,
        /// Path of the results folder.
        folder: PathBuf,
        /// Suggestion of a similar name; empty if no name is similar.
        hint: String,
    },
    /// The store contains no runs.
    #[error("no run in {}\nhint: play a run first, or give another --results", .0.display())]
    Empty(PathBuf),
    /// A row is invalid.
    #[error("results store {}: run '{run}': {what}", .file.display())]
    Corrupt {
        /// Path of the store.
        file: PathBuf,
        /// Name of the run.
        run: String,
        /// Description of the error.
        what: String,
    },
}

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

impl StoreError {
    fn read_only(file: &Path, why: &str) -> StoreError {
        let file = file.display();
        StoreError::Unusable(format!("results store {file} cannot be written: {why}"))
    }
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    file: PathBuf,
    /// Response times in the pairs of an unfinished group, by run.
    group_latencies: BTreeMap<String, Latencies>,
    /// Identities of the store's file and of the write-ahead log at the last check.
    last_identities: RefCell<[watch::FileIdentity; 2]>,
    /// Number of progress checks of the current query.
    ticks: Arc<AtomicU64>,
}

impl Store {
    /// Opens the store of a results folder, and creates the folder and the store if necessary.
    /// Fails if the folder or the store cannot be written, or if the store has an unsupported
    /// format.
    pub fn create(folder: &Path) -> Result<Store> {
        let unusable = |source| StoreError::Folder { folder: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(|source| match source.kind() {
            // The system reports `AlreadyExists` if a file has the name of the folder.
            io::ErrorKind::AlreadyExists => unusable(io::ErrorKind::NotADirectory.into()),
            _ => unusable(source),
        })?;
        let file = folder.join(FILE_NAME);
        if let Some(why) = kept_from_writing(&file) {
            return Err(StoreError::read_only(&file, why));
        }
        Store::connect(file)
    }

    /// Creates a store without a write-ahead log. The store must not be open in another process. A
    /// caller that does not complete the store must remove the folder, because an interrupted write
    /// may damage the store.
    pub fn create_unshared(folder: &Path) -> Result<Store> {
        let store = Store::create(folder)?;
        let set = store.connection.pragma_update(None, "journal_mode", "MEMORY");
        set.map_err(|e| store.sqlite(e))?;
        Ok(store)
    }

    /// Opens the existing store of a results folder. A store that is not writable is opened
    /// read-only.
    pub fn open(folder: &Path) -> Result<Store> {
        let file = Store::in_folder(folder)?;
        let Some(why) = kept_from_writing(&file) else { return Store::connect(file) };
        let store = Store::read_only(file)?;
        if store.format()? < schema::FORMAT {
            return Err(StoreError::read_only(&store.file, why));
        }
        Ok(store)
    }

    /// Returns the path of the existing store of a results folder.
    fn in_folder(folder: &Path) -> Result<PathBuf> {
        let unusable = |source| StoreError::Folder { folder: folder.to_owned(), source };
        let file = folder.join(FILE_NAME);
        match file.metadata() {
            Ok(about) if about.is_file() => Ok(file),
            Ok(_) => Err(unusable(io::Error::other(format!("its {FILE_NAME} is not a file")))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::Missing(folder.to_owned()))
            }
            Err(error) => Err(unusable(error)),
        }
    }

    fn connect(file: PathBuf) -> Result<Store> {
        let mut store = Store::open_file(file, |file| Connection::open(file))?;
        store.prepare()?;
        store.check_in_place()?;
        Ok(store)
    }

    /// Opens the file with `open`. Fails if the shell has redirected the output of this command to
    /// the store, or if SQLite must not open the file; see [`check_files`].
    fn open_file(
        file: PathBuf,
        open: impl FnOnce(&Path) -> rusqlite::Result<Connection>,
    ) -> Result<Store> {
        FilesInUse::default().reads("the results store", &file).map_err(StoreError::IsOutput)?;
        check_files(&file)?;
        match open(&file) {
            Ok(connection) => Ok(Store {
                connection,
                file,
                group_latencies: BTreeMap::new(),
                last_identities: RefCell::default(),
                ticks: Arc::default(),
            }),
            Err(source) => Err(StoreError::Sqlite { file, source }),
        }
    }

    /// Returns the path of the store.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the error for a pair that differs from the run's schedule.
    pub fn schedule_mismatch(&self, run: &str, pair: u64) -> StoreError {
        let what = "differs from the schedule of this version of arbiter";
        self.corrupt(run, format!("pair {pair} {what}"))
    }

    /// Returns the error for a stored ending that does not follow from the pairs of the run.
    pub fn ending_mismatch(&self, run: &str) -> StoreError {
        self.corrupt(run, "the stored ending does not follow from the stored pairs")
    }

    /// Prepares a statement and resets the count of progress checks.
    fn statement(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        // The handler that counts runs on the thread of the query, so relaxed memory ordering
        // suffices.
        self.ticks.store(0, Ordering::Relaxed);
        self.connection.prepare_cached(sql)
    }

    /// Executes a statement and returns the number of changed rows.
    fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        let statement = self.statement(sql);
        statement.and_then(|mut statement| statement.execute(params)).map_err(|e| self.sqlite(e))
    }

    /// Returns all rows of a query. Fails if the query returns [`MAX_ROWS`] rows or more.
    fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        // A loop compiles in a fraction of the time of a chain of iterators, for each query.
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.statement(sql)?;
            let mut unread = statement.query(params)?;
            let mut rows = Vec::new();
            while let Some(row) = unread.next()? {
                rows.push(read(row)?);
                if rows.len() == MAX_ROWS {
                    // The error is the same as for a query with too many steps, because both errors
                    // are expected only for stores from untrusted sources.
                    let error = ffi::Error::new(ffi::SQLITE_INTERRUPT);
                    return Err(rusqlite::Error::SqliteFailure(error, None));
                }
            }
            Ok(rows)
        };
        rows().map_err(|e| self.sqlite(e))
    }

    /// Returns the first row of a query; `None` if the query returns no rows.
    fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let row = || self.statement(sql)?.query_row(params, read).optional();
        row().map_err(|e| self.sqlite(e))
    }

    /// Returns the result of a query that computes a single number.
    fn number(&self, sql: &str, params: impl Params) -> Result<u64> {
        let row = self.row(sql, params, |row| row.get(0))?;
        Ok(row.expect("a query of an aggregate has one row"))
    }

    /// Runs `work` atomically: as a transaction, or as a part of the current transaction. All
    /// queries in one transaction see the same state of the store. One transaction for many queries
    /// also takes less time than many transactions, because each transaction locks the file.
    pub fn atomically<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let batch = |sql| self.connection.execute_batch(sql).map_err(|e| self.sqlite(e));
        batch("SAVEPOINT work")?;
        let done = work().and_then(|done| Ok(batch("RELEASE work").map(|()| done)?));
        if done.is_err() {
            // The first failure is the cause, so a failed rollback is not reported.
            let _ = batch("ROLLBACK TO work; RELEASE work");
        }
        done
    }

    fn sqlite(&self, source: rusqlite::Error) -> StoreError {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        let file = self.file.clone();
        match (source.sqlite_error_code(), &source) {
            (Some(ErrorCode::ReadOnly), _) => {
                let why = kept_from_writing(&file).unwrap_or(ONLY_READ);
                return StoreError::read_only(&file, why);
            }
            (Some(ErrorCode::OperationInterrupted), _) => {
                let found = "a query has no end, or more rows than any store of arbiter".to_owned();
                return StoreError::Damaged { file, found };
            }
            (Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase), _) => {}
            // Arbiter never writes values of these types, so another program has changed the file.
            (
                None,
                FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..),
            ) => {}
            _ => return StoreError::Sqlite { file, source },
        }
        // The check reports damaged pages and rows; the first finding suffices.
        let check = "PRAGMA quick_check(1)";
        let found = self.connection.query_row(check, [], |row| row.get::<_, String>(0)).ok();
        let found = found.filter(|found| found != "ok").unwrap_or_else(|| source.to_string());
        StoreError::Damaged { file, found: found.replace('\n', " ") }
    }

    fn folder(&self) -> PathBuf {
        self.file.parent().unwrap_or(&self.file).to_owned()
    }

    /// Returns the error for a store without runs.
    pub fn empty(&self) -> StoreError {
        StoreError::Empty(self.folder())
    }

    fn no_run(&self, run: &str) -> StoreError {
        let folder = self.folder();
        // The names are needed only for the hint, so a failure to read them must not replace the
        // error.
        let heads = self.runs().unwrap_or_default();
        let hint = did_you_mean(run, heads.iter().map(|head| head.run.as_str()).chain([LATEST]));
        StoreError::NoRun { run: run.to_owned(), folder, hint }
    }

    fn corrupt(&self, run: &str, what: impl ToString) -> StoreError {
        StoreError::Corrupt { file: self.file.clone(), run: run.into(), what: what.to_string() }
    }
}

#[cfg(test)]
mod tests;
