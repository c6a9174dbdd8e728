//! Tables, and the migration of older files.

use std::fs::{File, rename};
use std::io;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::checksum::{add_functions, fill_in};
use super::{Result, Store, StoreError};
use arbiter_process::remove_if_there;

/// Format that this code writes, stored in SQLite's `user_version`. Increase this number with every
/// change to [`TABLES`] or [`COLUMNS`].
pub(super) const FORMAT: i64 = 14;

/// First format of a released version of Arbiter; earlier builds wrote lower numbers.
pub(super) const FIRST_FORMAT: i64 = 13;

/// First version of Arbiter that reads this format; older versions of Arbiter show this version in
/// their messages.
const READABLE_SINCE: &str = "0.2.0";

/// Maximum time for which a process waits while another process is writing.
const BUSY: Duration = Duration::from_secs(30);

/// Pause before a retry where SQLite does not wait by itself.
const RETRY: Duration = Duration::from_millis(5);

/// Maximum length of text and blobs that are read or written, in bytes. The limit bounds the memory
/// that a store from an untrusted source can take.
const MAX_VALUE: i32 = 64 << 20;

/// Number of steps of SQLite's virtual machine between two progress checks of a query.
const TICK: i32 = 1_000_000;

/// Maximum number of progress checks of a query; a query that exceeds the maximum has run for
/// several minutes and is interrupted. Tests use a lower maximum.
const MAX_TICKS: u64 = if cfg!(test) { 20 } else { 10_000 };

/// Size of SQLite's page cache, in KiB. A small cache suffices because a run appends to the file
/// and reads little.
const CACHE_KIB: i64 = 512;

/// Maximum length of the write-ahead log, in pages, before a checkpoint. The limit is small because
/// the end of a run waits for the last checkpoint.
const WAL_PAGES: i64 = 256;

/// Tables of the first format; [`COLUMNS`] lists the columns that later formats added.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS runs (
        run        TEXT PRIMARY KEY,
        created_ms INTEGER NOT NULL,           -- Unix time
        version    TEXT NOT NULL,              -- of the arbiter that made the run
        plan       TEXT NOT NULL,              -- JSON
        pgn_offset INTEGER NOT NULL,           -- length of the PGN file before the run
        ending     TEXT,                       -- H1, H0, complete, interrupted; NULL while it runs
        epd_offset INTEGER NOT NULL DEFAULT 0, -- as pgn_offset, of the EPD file
        about      TEXT                        -- what its user says that it tries, in one line
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS pairs (
        run     TEXT NOT NULL REFERENCES runs(run),
        pair    INTEGER NOT NULL,              -- place in the schedule, from 0
        first   INTEGER NOT NULL,              -- index of the engine that is White in game 0
        second  INTEGER NOT NULL,
        opening INTEGER NOT NULL,              -- ordinal in the order of the book
        PRIMARY KEY (run, pair)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS games (
        run         TEXT NOT NULL,
        pair        INTEGER NOT NULL,
        half        INTEGER NOT NULL,          -- 0, 1
        white       INTEGER NOT NULL,          -- index of the engine
        black       INTEGER NOT NULL,
        result      TEXT NOT NULL,             -- 1-0, 0-1, 1/2-1/2
        termination TEXT NOT NULL,
        detail      TEXT NOT NULL,
        fen         TEXT NOT NULL,
        chess960    INTEGER NOT NULL,
        plies       INTEGER NOT NULL,
        duration_ms REAL NOT NULL,
        moves       TEXT NOT NULL,             -- JSON, format in rows/game.rs, game.rs
        begun_ms    INTEGER,                   -- Unix time; NULL if it is not known
        swing       INTEGER,                   -- centipawns; NULL without evaluations
        PRIMARY KEY (run, pair, half),
        FOREIGN KEY (run, pair) REFERENCES pairs(run, pair)
    );
    CREATE TABLE IF NOT EXISTS transcripts (
        run        TEXT NOT NULL,
        pair       INTEGER NOT NULL,
        half       INTEGER NOT NULL,
        transcript BLOB NOT NULL,              -- zlib; the text is that of game/transcript.rs
        PRIMARY KEY (run, pair, half),
        FOREIGN KEY (run, pair, half) REFERENCES games(run, pair, half)
    );
    CREATE TABLE IF NOT EXISTS latencies (                   -- sums over all games of a run that are on disk
        run    TEXT NOT NULL REFERENCES runs(run),
        engine INTEGER NOT NULL,
        kind   TEXT NOT NULL,                  -- ready, move, overrun
        us     INTEGER NOT NULL,               -- microseconds, the middle of the bucket
        count  INTEGER NOT NULL,
        PRIMARY KEY (run, engine, kind, us)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS disturbances (
        run     TEXT NOT NULL REFERENCES runs(run),
        pair    INTEGER NOT NULL,
        attempt INTEGER NOT NULL,              -- from 0
        reason  TEXT NOT NULL,
        counted INTEGER NOT NULL,              -- 0: void, the pair was played again
        games   TEXT NOT NULL,                 -- JSON, of void pairs; others are in games
        PRIMARY KEY (run, pair, attempt)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS gates (
        id         INTEGER PRIMARY KEY,
        key        TEXT NOT NULL,              -- follows from all that decides the outcome
        created_ms INTEGER NOT NULL,           -- Unix time
        test       TEXT NOT NULL,              -- commit, or what stands for it
        base       TEXT,
        step       TEXT NOT NULL,
        kind       TEXT NOT NULL,
        verdict    TEXT NOT NULL,
        words      TEXT NOT NULL,
        code       INTEGER NOT NULL,           -- exit code
        seconds    REAL NOT NULL,
        figures    TEXT NOT NULL               -- JSON of the subcommand
    );
    CREATE INDEX IF NOT EXISTS gates_by_key ON gates (key);
    CREATE TABLE IF NOT EXISTS iterations (                  -- of tunings; follows from plan and pairs
        run       TEXT NOT NULL REFERENCES runs(run),
        iteration INTEGER NOT NULL,            -- from 0
        plus      TEXT NOT NULL,               -- JSON, values that engine 0 was told
        minus     TEXT NOT NULL,               -- JSON, values that engine 1 was told
        score     INTEGER NOT NULL,            -- games that engine 0 won less those that it lost
        theta     TEXT NOT NULL,               -- JSON, values after it, not rounded
        PRIMARY KEY (run, iteration)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS players (                     -- which machine played a pair, if not the store's
        run    TEXT NOT NULL,
        pair   INTEGER NOT NULL,
        worker TEXT NOT NULL,
        PRIMARY KEY (run, pair),
        FOREIGN KEY (run, pair) REFERENCES pairs(run, pair)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS remarks (                     -- what those machines did that changed nothing
        run    TEXT NOT NULL REFERENCES runs(run),
        number INTEGER NOT NULL,               -- from 0
        at_ms  INTEGER NOT NULL,               -- Unix time
        worker TEXT NOT NULL,
        pair   INTEGER,                        -- NULL if it is about none
        what   TEXT NOT NULL,
        PRIMARY KEY (run, number)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS set_aside (                   -- machines that were out of line and play no more
        run    TEXT NOT NULL REFERENCES runs(run),
        worker TEXT NOT NULL,
        at_ms  INTEGER NOT NULL,               -- Unix time
        reason TEXT NOT NULL,
        PRIMARY KEY (run, worker)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS discarded (                   -- what they had played; none of it counts
        run    TEXT NOT NULL,
        pair   INTEGER NOT NULL,
        worker TEXT NOT NULL,
        played TEXT NOT NULL,                  -- JSON: engines, opening, games, transcripts
        PRIMARY KEY (run, pair, worker),
        FOREIGN KEY (run, worker) REFERENCES set_aside(run, worker)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS removed (                     -- runs that are gone
        id  INTEGER PRIMARY KEY,
        run TEXT NOT NULL
    );
    CREATE TABLE IF NOT EXISTS findings (                    -- of the lint
        run    TEXT NOT NULL,
        pair   INTEGER NOT NULL,
        half   INTEGER NOT NULL,
        ply    INTEGER NOT NULL,               -- place of the move in the game, from 0
        engine INTEGER NOT NULL,               -- index of the engine whose move it is
        rule   TEXT NOT NULL,
        what   TEXT NOT NULL,
        PRIMARY KEY (run, pair, half, ply, rule),
        FOREIGN KEY (run, pair, half) REFERENCES games(run, pair, half)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS written (                     -- what a file of games has of a run
        run      TEXT NOT NULL REFERENCES runs(run),
        file     TEXT NOT NULL,
        pairs    INTEGER NOT NULL,             -- the first so many that counted
        length   INTEGER NOT NULL,             -- of the file up to their end, in bytes
        hash     TEXT NOT NULL,                -- BLAKE3 of what the file has of the run up to there
        checksum INTEGER NOT NULL,
        PRIMARY KEY (run, file)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS readable_since (              -- one row; every later format has it
        arbiter TEXT NOT NULL                  -- the first version that reads this store
    );
";

/// Table, name and definition of each column that was added after the first format.
const COLUMNS: [(&str, &str, &str); 5] = [
    // Hash of the starting position and moves of each game; NULL if the moves are invalid.
    ("pairs", "first_hash", "INTEGER"),
    ("pairs", "second_hash", "INTEGER"),
    // See checksum.rs.
    ("runs", "checksum", "INTEGER"),
    ("pairs", "checksum", "INTEGER"),
    ("games", "checksum", "INTEGER"),
];

/// Covering index with all columns that lists of games need. Reading `swing` from the rows of the
/// table would be slow, because the long column `moves` precedes `swing`.
const INDEXES: &str = "
    CREATE INDEX IF NOT EXISTS games_listed
        ON games (run, pair, half, white, black, result, termination, plies, swing);
";

impl Store {
    /// Configures the connection and migrates the file. Fails if the file has an unsupported
    /// format; the file then remains unchanged.
    pub(super) fn prepare(&mut self) -> Result<()> {
        self.adapt(BUSY).map_err(|e| self.sqlite(e))?;
        // The format is checked first, because the settings below change the file, and a file of a
        // newer version must remain unchanged.
        let found = self.format()?;
        let setup = || -> rusqlite::Result<()> {
            // WAL lets other processes read during a write. FULL makes each commit wait until its
            // data is on disk, so that a counted pair survives a power failure.
            self.write_ahead()?;
            self.connection.pragma_update(None, "synchronous", "FULL")?;
            self.connection.pragma_update(None, "wal_autocheckpoint", WAL_PAGES)?;
            self.connection.pragma_update(None, "foreign_keys", true)?;
            self.connection.pragma_update(None, "cache_size", -CACHE_KIB)
        };
        setup().map_err(|e| self.sqlite(e))?;
        if found < FORMAT { self.migrate() } else { Ok(()) }
    }

    /// Configures the connection: makes query plans independent of bound values, and adds the SQL
    /// functions of this crate. Disables views and triggers, and limits the length of values and
    /// the number of steps of a query, because files may come from untrusted sources. `busy` is the
    /// maximum time for which the connection waits for another process.
    pub(super) fn adapt(&mut self, busy: Duration) -> rusqlite::Result<()> {
        self.connection.busy_timeout(busy)?;
        let settings = [
            (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        ];
        for (setting, is_on) in settings {
            self.connection.set_db_config(setting, is_on)?;
        }
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE)?;
        let ticks = self.ticks.clone();
        // The handler runs on the thread of the query, so relaxed memory ordering suffices.
        let is_endless = move || ticks.fetch_add(1, Ordering::Relaxed) > MAX_TICKS;
        self.connection.progress_handler(TICK, Some(is_endless))?;
        add_functions(&self.connection)
    }

    /// Enables the write-ahead log of the file. While another process enables the log, SQLite fails
    /// immediately regardless of the busy timeout, so this function retries for up to [`BUSY`].
    fn write_ahead(&self) -> rusqlite::Result<()> {
        let mut remaining = BUSY;
        loop {
            match self.connection.pragma_update(None, "journal_mode", "WAL") {
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                        && !remaining.is_zero() =>
                {
                    sleep(RETRY);
                    remaining = remaining.saturating_sub(RETRY);
                }
                done => return done,
            }
        }
    }

    /// Returns the format of the file, 0 for a new file. Fails if the format is newer than
    /// [`FORMAT`] or older than [`FIRST_FORMAT`], or if the file belongs to another program.
    pub(super) fn format(&self) -> Result<i64> {
        // A single query, because another process may create the tables at any time.
        let select =
            "SELECT user_version, EXISTS (SELECT 1 FROM sqlite_schema) FROM pragma_user_version";
        let found = self.connection.query_row(select, [], |row| row.try_into());
        let (found, is_used): (i64, bool) = found.map_err(|e| self.sqlite(e))?;
        let file = self.file.display();
        match found {
            0 if is_used => Err(StoreError::Unusable(format!(
                "results store {file} is a database of another program\nhint: move the database \
                 away, or give another --results"
            ))),
            found if found > FORMAT => {
                let select = "SELECT arbiter FROM readable_since";
                let since = self.connection.query_row(select, [], |row| row.get(0)).ok();
                let needed: String = since.unwrap_or_else(|| "a newer one".to_owned());
                Err(StoreError::Unusable(format!(
                    "results store {file} has format {found}, but this arbiter reads only formats \
                     up to {FORMAT}\n\
                     hint: use arbiter {needed} or newer"
                )))
            }
            found @ 1..FIRST_FORMAT => Err(StoreError::Unusable(format!(
                "results store {file} has the unsupported format {found} of a build before the \
                 first version of arbiter\nhint: move the store away, or give another --results"
            ))),
            found => Ok(found),
        }
    }

    /// Migrates the file to [`FORMAT`] in one transaction, and keeps a copy of the old file.
    pub(super) fn migrate(&self) -> Result<()> {
        let opened = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = opened.map_err(|e| self.sqlite(e))?;
        // Another process may have migrated the file, perhaps to a newer format, before this
        // process acquired the lock.
        let found = self.format()?;
        if found < FORMAT {
            self.keep_copy(found)?;
            add_missing(&transaction).map_err(|e| self.sqlite(e))?;
        }
        transaction.commit().map_err(|e| self.sqlite(e))
    }

    /// Copies the store to a file in the folder of the store, unless the store is new. The name of
    /// the copy contains `format`. The caller must hold the write lock.
    fn keep_copy(&self, format: i64) -> Result<()> {
        if format == 0 {
            return Ok(());
        }
        // The copy needs another connection, because SQLite refuses to copy within a transaction.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let source = Connection::open_with_flags(&self.file, flags).map_err(|e| self.sqlite(e))?;
        let copy = self.file.with_added_extension(format!("format-{format}"));
        let part = copy.with_added_extension("part");
        let failed = |reason: io::Error| {
            StoreError::Unusable(format!(
                "cannot copy the store of an older arbiter to {}: {reason}; the store is unchanged",
                copy.display()
            ))
        };
        // A killed migration may have left an incomplete copy, and SQLite refuses to write into an
        // existing file.
        remove_if_there(&part).map_err(failed)?;
        source
            .execute("VACUUM INTO ?1", [part.to_string_lossy()])
            .map_err(|error| failed(io::Error::other(error)))?;
        // SQLite does not sync the copy. The copy has to be on disk before it gets its final name,
        // and before the store changes.
        let synced = File::open(&part).and_then(|part| part.sync_all());
        synced.and_then(|()| rename(&part, &copy)).map_err(failed)
    }
}

fn add_missing(connection: &Connection) -> rusqlite::Result<()> {
    // Missing tables and columns are added regardless of the format number, because development
    // branches have used the same number for different tables.
    connection.execute_batch(TABLES)?;
    for (table, column, definition) in COLUMNS {
        let present = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)";
        if !connection.query_row(present, [table, column], |row| row.get::<_, bool>(0))? {
            let add = format!("ALTER TABLE {table} ADD COLUMN {column} {definition}");
            connection.execute_batch(&add)?;
        }
    }
    connection.execute_batch(INDEXES)?;
    fill_in(connection)?;
    connection.execute("DELETE FROM readable_since", [])?;
    connection.execute("INSERT INTO readable_since VALUES (?1)", [READABLE_SINCE])?;
    // The format number is written last, after all tables and columns of the format exist.
    connection.pragma_update(None, "user_version", FORMAT)
}
