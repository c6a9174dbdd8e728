//! The results store: one SQLite file that holds every run, pair and game.
//!
//! A pair's games are committed together, keyed by run and pair, so that a pair is there as a
//! whole or not at all, and a second delivery changes nothing. Everything else (PGN, reports,
//! counts) is derived from it and can be made again.

mod append;
mod archive;
mod checksum;
mod disturbance;
mod excluded;
mod follow;
mod games;
mod gates;
mod iterations;
mod latencies;
mod lint;
mod query;
mod recorded;
mod remarks;
mod rows;
mod run_lock;
mod schema;
mod transcripts;
mod watch;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{CachedStatement, Connection, ErrorCode, OptionalExtension, Params, Row, ffi};
use thiserror::Error;

use arbiter_names::did_you_mean;
use arbiter_plan::Latencies;
use arbiter_process::{FilesInUse, folder_of, may_write};

pub use archive::ArchiveError;
pub use checksum::CheckedRun;
pub use follow::{Mark, Outline};
pub use games::{GameOrder, GameQuery, ListedGame};
pub use gates::StoredGate;
pub use lint::LintCount;
pub use query::{LATEST, RunHead, StoredRun};
pub use recorded::Recorded;
pub use rows::Fingerprints;
pub use run_lock::{LockError, RunLock};

/// Where a run's games begin in the files that are written besides the store, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offsets {
    /// In the PGN file.
    pub pgn: u64,
    /// In the EPD file.
    pub epd: u64,
}

/// Most rows of a query, which are all in memory. Tests wait for less.
const MAX_ROWS: usize = if cfg!(test) { 100_000 } else { 20_000_000 };

/// Name of the store inside a results folder.
pub const FILE_NAME: &str = "arbiter.db";

/// The files of the store in a results folder, some of which may be still to be made: the store, what
/// SQLite has beside it, copies of older formats, and locks.
pub fn own_files(folder: &Path) -> Vec<PathBuf> {
    let is_own = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(FILE_NAME) || name.ends_with(".lock")
    };
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let there = entries.map(|entry| entry.path()).filter(is_own);
    let always = ["", "-wal", "-shm"].map(|end| folder.join(format!("{FILE_NAME}{end}")));
    always.into_iter().chain(there).collect()
}

/// The reason of a store that its user may only read.
const ONLY_READ: &str = "you may only read it; give a folder that you may write to with --results";

/// The reason why a store may only be read, if there is one.
fn kept_from_writing(file: &Path) -> Option<&'static str> {
    if file.metadata().is_ok_and(|about| about.nlink() > 1) {
        // SQLite keeps a log beside each name, and who writes by one does not know of the other.
        return Some(
            "it has a second name (a hard link), and runs by both would damage it; put a copy in its place",
        );
    }
    (!may_write(file) || !may_write(folder_of(file))).then_some(ONLY_READ)
}

/// Why the store cannot do its work.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The results folder cannot be made or used.
    #[error("cannot use results folder {}: {source}; give a folder that can be written with --results", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The store may only be read.
    #[error("results store {} cannot be written: {why}", .file.display())]
    ReadOnly {
        /// The store.
        file: PathBuf,
        /// The reason, and what to do.
        why: &'static str,
    },
    /// What this command prints would go into it.
    #[error("{0}")]
    IsOutput(String),
    /// Another program has done something to it.
    #[error("results store {} was {what} by another program", .file.display())]
    Changed {
        /// The store.
        file: PathBuf,
        /// What was done, as a participle.
        what: &'static str,
    },
    /// The results folder holds no store.
    #[error("no results in {}; play a run first, or give another --results", .0.display())]
    Missing(PathBuf),
    /// SQLite refused.
    #[error("results store {}: {source}", .file.display())]
    Sqlite {
        /// The store.
        file: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// The file is not what SQLite has written.
    #[error(
        "results store {} is damaged: {found}; put a copy of it back, or save what can be read \
         with `sqlite3 {} .recover | sqlite3 saved.db`; `arbiter results verify` lists what is damaged",
        .file.display(), .file.display()
    )]
    Damaged {
        /// The store.
        file: PathBuf,
        /// The first thing that is wrong with it.
        found: String,
    },
    /// The store could not be copied before it is brought up to date.
    #[error(
        "cannot keep a copy of the store of an older arbiter in {}: {source}; the store is as it was",
        .copy.display()
    )]
    Copy {
        /// The copy.
        copy: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The store was written by a newer Arbiter.
    #[error(
        "results store {} has format {found}, this arbiter knows up to {known}; it needs arbiter {needed} or newer",
        .file.display()
    )]
    Newer {
        /// The store.
        file: PathBuf,
        /// Its format.
        found: i64,
        /// Ours.
        known: i64,
        /// The first version of arbiter that reads it.
        needed: String,
    },
    /// The store was written by a build before the first version of Arbiter.
    #[error(
        "results store {} has format {found}, of a build before the first version of arbiter, and cannot be \
         read; move it away or give another --results, and play its runs again",
        .file.display()
    )]
    Older {
        /// The store.
        file: PathBuf,
        /// Its format.
        found: i64,
    },
    /// A run of this name is there already.
    #[error("a run named '{0}' exists already; continue it with --resume, or give another --name")]
    Exists(String),
    /// There is no run of this name.
    #[error("no run named '{run}' in {place}{hint}; `arbiter results list --results {place}` shows what there is", place = .folder.display())]
    NoRun {
        /// The name.
        run: String,
        /// The results folder.
        folder: PathBuf,
        /// The name that may be meant, in words.
        hint: String,
    },
    /// There is no run at all.
    #[error("there is no run in {} yet; play one first, or give another --results", .0.display())]
    Empty(PathBuf),
    /// A row does not mean anything to us.
    #[error("results store {}: run '{run}': {what}", .file.display())]
    Corrupt {
        /// The store.
        file: PathBuf,
        /// The run.
        run: String,
        /// What is wrong.
        what: String,
    },
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    file: PathBuf,
    /// What the pairs of an unfinished group add, by run.
    group_latencies: BTreeMap<String, Latencies>,
    /// The file and its log, as they were when something was last written.
    seen: RefCell<[watch::Seen; 2]>,
    /// Looks at the present query so far.
    ticks: Arc<AtomicU64>,
}

impl Store {
    /// Opens the store of a results folder, and makes both if they are not there.
    pub fn create(folder: &Path) -> Result<Store, StoreError> {
        let unusable = |source| StoreError::Folder { folder: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => unusable(io::ErrorKind::NotADirectory.into()),
            _ => unusable(source),
        })?;
        let file = folder.join(FILE_NAME);
        if let Some(why) = kept_from_writing(&file) {
            return Err(StoreError::ReadOnly { file, why });
        }
        Store::connect(file)
    }

    /// Makes a store that nobody else opens yet, in a folder that goes if it is not completed: what comes
    /// into it is written once, and not into a log first.
    pub fn create_unshared(folder: &Path) -> Result<Store, StoreError> {
        let store = Store::create(folder)?;
        let set = store.connection.pragma_update(None, "journal_mode", "MEMORY");
        set.map_err(|e| store.sqlite(e))?;
        Ok(store)
    }

    /// Opens the store of a results folder, which must be there. One that may not be written can be read.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        let file = Store::in_folder(folder)?;
        let Some(why) = kept_from_writing(&file) else { return Store::connect(file) };
        let store = Store::read_only(file)?;
        if store.format()? < schema::FORMAT {
            return Err(StoreError::ReadOnly { file: store.file, why });
        }
        Ok(store)
    }

    /// The store of a results folder, which must be there.
    fn in_folder(folder: &Path) -> Result<PathBuf, StoreError> {
        let unusable = |source| StoreError::Folder { folder: folder.to_owned(), source };
        let file = folder.join(FILE_NAME);
        match file.metadata() {
            Ok(about) if about.is_file() => Ok(file),
            Ok(_) => Err(unusable(io::Error::other(format!("its {FILE_NAME} is no file")))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::Missing(folder.to_owned()))
            }
            Err(error) => Err(unusable(error)),
        }
    }

    fn connect(file: PathBuf) -> Result<Store, StoreError> {
        Store::check_output(&file)?;
        let connection = Connection::open(&file)
            .map_err(|source| StoreError::Sqlite { file: file.clone(), source })?;
        let mut store = Store::over(connection, file);
        store.prepare()?;
        store.check_in_place()?;
        Ok(store)
    }

    /// An error if the store is where the shell has redirected what this command prints.
    fn check_output(file: &Path) -> Result<(), StoreError> {
        FilesInUse::default().reads("the results store", file).map_err(StoreError::IsOutput)
    }

    fn over(connection: Connection, file: PathBuf) -> Store {
        Store {
            connection,
            file,
            group_latencies: BTreeMap::new(),
            seen: RefCell::default(),
            ticks: Arc::default(),
        }
    }

    /// Where the store is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The error for a pair that is not the one the run's schedule has at its place.
    pub fn misfit(&self, run: &str, pair: u64) -> StoreError {
        let what = "is not the one that the schedule of this version of arbiter has there";
        self.corrupt(run, format!("pair {pair} {what}"))
    }

    /// A statement that begins.
    fn statement(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        self.ticks.store(0, Ordering::Relaxed);
        self.connection.prepare_cached(sql)
    }

    /// Carries out a statement; the answer is how many rows it changed.
    fn execute(&self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        let statement = self.statement(sql);
        statement.and_then(|mut statement| statement.execute(params)).map_err(|e| self.sqlite(e))
    }

    /// All rows of a query, which are an error if they are too many.
    fn rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.statement(sql)?;
            let rows = statement.query_map(params, read)?.take(MAX_ROWS);
            let rows = rows.collect::<rusqlite::Result<Vec<T>>>()?;
            if rows.len() == MAX_ROWS {
                let error = ffi::Error::new(ffi::SQLITE_INTERRUPT);
                return Err(rusqlite::Error::SqliteFailure(error, None));
            }
            Ok(rows)
        };
        rows().map_err(|e| self.sqlite(e))
    }

    /// The first row of a query.
    fn row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let row = || self.statement(sql)?.query_row(params, read).optional();
        row().map_err(|e| self.sqlite(e))
    }

    /// A number that a query always gives.
    fn number(&self, sql: &str, params: impl Params) -> Result<u64, StoreError> {
        let row = self.row(sql, params, |row| row.get(0))?;
        Ok(row.expect("a query of an aggregate has one row"))
    }

    /// Does all of `work` or nothing: alone as a transaction, in one as a part of it.
    fn atomically<T>(&self, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let batch = |sql| self.connection.execute_batch(sql).map_err(|e| self.sqlite(e));
        batch("SAVEPOINT work")?;
        let done = work().and_then(|done| batch("RELEASE work").map(|()| done));
        if done.is_err() {
            // What has failed first is the reason.
            let _ = batch("ROLLBACK TO work; RELEASE work");
        }
        done
    }

    fn sqlite(&self, source: rusqlite::Error) -> StoreError {
        if source.sqlite_error_code() == Some(ErrorCode::ReadOnly) {
            let why = kept_from_writing(&self.file).unwrap_or(ONLY_READ);
            return StoreError::ReadOnly { file: self.file.clone(), why };
        }
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        let file = self.file.clone();
        let is_damage = match &source {
            // No program has written values of such types.
            FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..) => true,
            error => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
            ),
        };
        if source.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
            let found = "a query has no end, or more rows than any store of arbiter".to_owned();
            return StoreError::Damaged { file, found };
        }
        if !is_damage {
            return StoreError::Sqlite { file, source };
        }
        let check = "PRAGMA quick_check(1)";
        let found = self.connection.query_row(check, [], |row| row.get::<_, String>(0)).ok();
        let found = found.filter(|found| found != "ok").unwrap_or_else(|| source.to_string());
        StoreError::Damaged { file, found: found.replace('\n', " ") }
    }

    fn folder(&self) -> PathBuf {
        self.file.parent().unwrap_or(&self.file).to_owned()
    }

    /// What is to be said where there is no run.
    pub fn empty(&self) -> StoreError {
        StoreError::Empty(self.folder())
    }

    fn no_run(&self, run: &str) -> StoreError {
        let folder = self.folder();
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
