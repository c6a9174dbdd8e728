//! Import of a run from a file. The file may come from an untrusted source. Therefore the size of
//! the file is limited, the file must have an end mark, and the columns and values in the file must
//! match the store. The caller validates each game. Before the import is committed, all imported
//! rows are read in the same way as for a report.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::mem::take;

use data_encoding::BASE64;
use rusqlite::types::Value;
use rusqlite::{ErrorCode, ffi, params, params_from_iter};
use serde::Deserialize;
use serde_json::Value as Json;

use super::{ArchiveError, Cell, Column, END, GATES, Header, Line, TABLES, VERSION, commits};
use crate::checksum::{fill_in, game_checksum};
use crate::gates::imported_key;
use crate::query::{GAME, game_row};
use crate::{Result, RunLock, Store, StoreError, schema};
use arbiter_game::record::GameRecord;
use arbiter_names::{MAX_NAME, is_hidden, is_name, shown};
use arbiter_run::RunEnd;

/// Maximum length of a line, in bytes: enough for a game of thousands of moves and the transcript
/// of the game.
const MAX_LINE: u64 = 64 << 20;

/// Maximum total length of the lines, in bytes. Without this limit, a small compressed file could
/// expand to an unbounded size.
const MAX_BYTES: u64 = 64 << 30;

/// Tables whose rows contain texts and are all in memory when the run is read.
const IN_MEMORY: [&str; 4] = [TABLES[0], "remarks", "set_aside", GATES];
/// Maximum total length, in bytes, of the lines of the tables [`IN_MEMORY`].
const MAX_IN_MEMORY: usize = 16 << 20;

/// Columns that contain names of gates and workers.
const NAMES: [&str; 2] = ["step", "worker"];

/// Columns that contain engine indices, by table.
const ENGINES: [(&str, &[&str]); 4] = [
    ("pairs", &["first", "second"]),
    ("games", &["white", "black"]),
    ("latencies", &["engine"]),
    ("findings", &["engine"]),
];

/// Function that returns an error for an invalid game.
type Judge<'a> = &'a dyn Fn(&GameRecord) -> Result<(), String>;

impl Store {
    /// Imports the run from an unpacked file and returns the name of the run. If `name` is given,
    /// the run gets this name instead of the name in the file. Adds either the complete run or
    /// nothing. `judge` returns an error for an invalid game. After all rows have been checked,
    /// `check` may still reject the run.
    pub fn import_run(
        &self,
        file: &mut dyn Read,
        name: Option<&str>,
        judge: Judge<'_>,
        check: &dyn Fn(&str) -> Result<()>,
    ) -> Result<String, ArchiveError> {
        let input = BufReader::with_capacity(1 << 16, file);
        let mut lines = Lines { input, line: 0, read: 0, in_memory: 0, text: Vec::new() };
        let Ok(Some(header)) = lines.next::<Header>(|_| None) else {
            return Err(lines.wrong("is not a file of `arbiter results export`"));
        };
        if header.arbiter_run > VERSION || header.format > schema::FORMAT {
            return Err(lines.wrong("was written by a newer arbiter; update arbiter"));
        }
        if header.arbiter_run < VERSION || header.format < schema::FIRST_FORMAT {
            return Err(lines.wrong("was written by a build before the first version of arbiter"));
        }
        let run = name.unwrap_or(&header.run);
        // The name comes from an untrusted file and becomes part of file names.
        RunLock::check_new_name(run).map_err(|error| ArchiveError::Content(error.to_string()))?;
        let is_older = header.format < schema::FORMAT;
        self.atomically(|| {
            let taken = "SELECT count(*) FROM runs WHERE run = ?1";
            if self.number(taken, [run])? > 0 {
                return Err(ArchiveError::Content(format!(
                    "a run named '{run}' already exists; give another --name, or use `results rm {run}`"
                )));
            }
            let tables = TABLES.into_iter().chain([GATES]);
            let columns = tables.map(|table| Ok((table, self.columns_of(table)?)));
            let columns = columns.collect::<Result<_>>()?;
            loop {
                let cut = "is missing: the file is truncated";
                let mut line = lines.next(Line::compact)?.ok_or_else(|| lines.wrong(cut))?;
                if line.table == END[0] {
                    let line_count = Cell::Integer(lines.line as i64 - 1);
                    if line.row.remove(END[1]) != Some(line_count) || lines.next(Line::compact)?.is_some() {
                        return Err(lines.wrong("is not the end of an export"));
                    }
                    if is_older {
                        fill_in(&self.connection).map_err(|error| self.sqlite(error))?;
                    }
                    return self.check(run, check);
                }
                lines.limit(&line.table)?;
                let wrong = |what| lines.wrong(what);
                let from = line.row.insert("run".to_owned(), Cell::Text(run.to_owned()));
                if line.table == GATES {
                    line.row.remove("run");
                } else if from != Some(Cell::Text(header.run.clone())) {
                    return Err(wrong(format!("is not of run '{}'", header.run)));
                }
                let table = line.table.clone();
                self.insert_line(&columns, line, run, wrong)?;
                if table == "games" {
                    self.judge_last(judge, is_older)?.map_err(wrong)?;
                } else if table == TABLES[0] && is_older {
                    // The lines of gates require the plan, which is read only with a checksum;
                    // `change_run` computes the checksum.
                    self.change_run(run, "checksum = NULL", [run])?;
                }
            }
        })?;
        Ok(run.to_owned())
    }

    fn insert_line(
        &self,
        columns: &BTreeMap<&'static str, Vec<Column>>,
        line: Line,
        run: &str,
        wrong: impl Fn(String) -> ArchiveError,
    ) -> Result<(), ArchiveError> {
        let Line { table, mut row } = line;
        let known = columns.get(table.as_str());
        let known = known.ok_or_else(|| wrong(format!("unknown table '{table}'")))?;
        if table == GATES {
            let stored = self.run(run).map_err(|error| match of_content(error) {
                ArchiveError::Content(what) => wrong(what),
                other => other,
            })?;
            let commits = commits(&stored);
            if !matches!(row.get("test"), Some(Cell::Text(test)) if commits.contains(test)) {
                return Err(wrong("belongs to a commit that the run does not play".to_owned()));
            }
            // Row numbers are assigned by this store, and an imported key could make `arbiter ci`
            // skip a gate.
            row.remove("id");
            // The text may be an error of several lines, which would look like several results.
            if let Some(Cell::Text(text)) = row.get_mut("words") {
                *text = shown(text.replace('\n', " "));
            }
            if let Some(Cell::Text(text)) = row.get_mut("figures")
                && let Ok(mut figures) = serde_json::from_str(text)
                && reveal(&mut figures)
            {
                *text = figures.to_string();
            }
            row.insert("key".to_owned(), Cell::Text(imported_key(run)));
        }
        if let Some(column) = row.keys().find(|name| !known.iter().any(|one| one.name == **name)) {
            return Err(wrong(format!("table {table} has no column '{column}'")));
        }
        if let Some(column) = known.iter().find(|column| !column.takes(row.get(&column.name))) {
            return Err(wrong(format!("{} of {table} is missing or invalid", column.name)));
        }
        let hides = |(name, cell): &(&String, &Cell)| matches!(cell, Cell::Text(text) if hides_characters(name, text));
        if let Some((column, _)) = row.iter().find(hides) {
            return Err(wrong(format!("{column} of {table} contains hidden characters")));
        }
        let is_no_name =
            |column: &&&str| matches!(row.get(**column), Some(Cell::Text(name)) if !is_name(name));
        if let Some(column) = NAMES.iter().find(is_no_name) {
            return Err(wrong(format!("{column} of {table} is not a name")));
        }
        if let Some(Cell::Text(ending)) = row.get("ending").filter(|_| table == TABLES[0])
            && ending.parse::<RunEnd>().is_err()
        {
            return Err(wrong(format!("'{ending}' is not an ending of a run")));
        }
        let names: Vec<&str> = row.keys().map(String::as_str).collect();
        let places = vec!["?"; names.len()].join(", ");
        let insert = format!("INSERT INTO {table} ({}) VALUES ({places})", names.join(", "));
        let values: Result<Vec<Value>, String> = row.into_values().map(Cell::into_value).collect();
        let inserted = self.execute(&insert, params_from_iter(values.map_err(&wrong)?));
        match inserted {
            // A row that violates a constraint is an error in the file, not in the store.
            Err(StoreError::Sqlite { source, .. })
                if source.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) =>
            {
                let code = source.sqlite_error().map(|error| error.extended_code);
                let is_lost = code == Some(ffi::SQLITE_CONSTRAINT_FOREIGNKEY);
                let why = if is_lost { "before its parent" } else { "twice" };
                Err(wrong(format!("is in {table} {why}")))
            }
            inserted => Ok(inserted.map(drop)?),
        }
    }

    /// Validates the last inserted game; the inner error is the reason why the game is invalid. A
    /// missing checksum is accepted only if `is_older` is `true`, because files of older formats
    /// have no checksums.
    fn judge_last(&self, judge: Judge<'_>, is_older: bool) -> Result<Result<(), String>> {
        let select = format!(
            "SELECT {GAME}, pair, half, plies,
                 ((white, black) = (first, second) OR (black, white) = (first, second)) AND half = (SELECT count(*) FROM games o
                             WHERE o.run = g.run AND o.pair = g.pair AND o.half < g.half),
                 coalesce(g.checksum = {}, ?1)
             FROM games g JOIN pairs p USING (run, pair) WHERE g.rowid = last_insert_rowid()",
            game_checksum()
        );
        let judged = self.row(&select, [is_older], |row| {
            let (pair, half, plies): (u64, u64, usize) = (row.get(10)?, row.get(11)?, row.get(12)?);
            let fits: bool = row.get(13)?;
            let is_sound: bool = row.get(14)?;
            let check_record = |record: GameRecord| {
                if !fits || record.moves.len() != plies {
                    return Err("not a game of this pair".to_owned());
                }
                judge(&record)?;
                if is_sound { Ok(()) } else { Err("changed since the export".to_owned()) }
            };
            let judged = game_row(row)?.into_record().and_then(check_record);
            Ok(judged.map_err(|what| format!("pair {}, game {}: {what}", pair + 1, half + 1)))
        })?;
        Ok(judged.unwrap_or(Ok(())))
    }

    /// Checks an imported run by reading all rows of the run, as a report does.
    fn check(&self, run: &str, more: &dyn Fn(&str) -> Result<()>) -> Result<(), ArchiveError> {
        let read = || -> Result<()> {
            let mut stored = self.run(run)?;
            // A resumed run must not write to files that the imported file names.
            (stored.plan.pgn, stored.plan.epd) = (None, None);
            stored.plan.engines.iter_mut().for_each(|engine| engine.launch.stderr = None);
            let prints = &mut stored.fingerprints;
            for quarantine in [&mut prints.quarantine, &mut prints.corrected] {
                quarantine.faults.iter_mut().for_each(|fault| *fault = shown(take(fault)));
            }
            self.set_plan(run, &stored.plan, &stored.fingerprints, 0)?;
            let engines = stored.plan.engines.len();
            if engines < 2 {
                return Err(self.corrupt(run, "does not have two engines"));
            }
            if let Some(engine) = stored.plan.engines.iter().find(|engine| !is_name(&engine.name)) {
                let name: String = engine.name.chars().take(MAX_NAME).collect();
                return Err(self.corrupt(run, format!("contains the invalid name {name:?}")));
            }
            for (table, columns) in ENGINES {
                for column in columns {
                    let beyond = format!(
                        "SELECT count(*) FROM {table} WHERE run = ?1 AND NOT
                             (typeof({column}) = 'integer' AND {column} BETWEEN 0 AND ?2)"
                    );
                    if self.number(&beyond, params![run, engines - 1])? > 0 {
                        return Err(self.corrupt(run, format!("{table} of unknown engines")));
                    }
                }
            }
            // The tallies suffice here, because each game was validated when it was inserted.
            self.tallies(run)?;
            self.read_parts(run).into_iter().collect::<Result<()>>()?;
            self.gates_for_run(run)?;
            more(run)
        };
        read().map_err(of_content)
    }
}

/// Converts an error about an imported run into an error about the file.
fn of_content(error: StoreError) -> ArchiveError {
    match error {
        StoreError::Corrupt { what, .. } => ArchiveError::Content(what),
        StoreError::Damaged { found, .. } => ArchiveError::Content(found),
        StoreError::NoRun { .. } => ArchiveError::Content("contains no run".to_owned()),
        other => ArchiveError::Store(other),
    }
}

impl Column {
    /// Returns whether the column accepts a value. Among the numbers, only the score of an
    /// iteration and the hashes of games may be negative.
    fn takes(&self, cell: Option<&Cell>) -> bool {
        match (cell, self.kind.as_str()) {
            (None, _) => self.is_nullable || self.has_default,
            (Some(Cell::Null(())), _) => self.is_nullable,
            (Some(Cell::Integer(number)), "INTEGER") => {
                *number >= 0 || self.name == "score" || self.name.ends_with("_hash")
            }
            (Some(Cell::Real { real }), "REAL") => {
                real.parse().is_ok_and(|real: f64| real.is_finite() && real >= 0.0)
            }
            (Some(Cell::Text(_)), kind) => kind == "TEXT",
            (Some(Cell::Blob { .. }), kind) => kind == "BLOB",
            _ => false,
        }
    }
}

impl Cell {
    fn into_value(self) -> Result<Value, String> {
        Ok(match self {
            Cell::Null(()) => Value::Null,
            Cell::Integer(number) => Value::Integer(number),
            Cell::Text(text) => Value::Text(text),
            Cell::Real { real } => {
                Value::Real(real.parse().map_err(|_| format!("'{real}' is not a number"))?)
            }
            Cell::Blob { blob } => Value::Blob(
                BASE64.decode(blob.as_bytes()).map_err(|error| format!("base 64: {error}"))?,
            ),
        })
    }
}

/// Returns whether the text in a column contains hidden characters that are not allowed in the
/// column. Hidden characters are allowed in games (which may quote engines) and in descriptions of
/// errors in a book (which quote the book).
fn hides_characters(column: &str, text: &str) -> bool {
    match column {
        "moves" | "games" | "played" => false,
        "plan" => serde_json::from_str(text).is_ok_and(|mut plan: Json| {
            for faults in ["/quarantine/faults", "/corrected/faults"] {
                plan.pointer_mut(faults).map(take);
            }
            reveal(&mut plan)
        }),
        _ => text.contains(is_hidden),
    }
}

/// Replaces hidden characters in all strings and keys. Returns whether any character was hidden.
fn reveal(value: &mut Json) -> bool {
    fn replace(text: &mut String) -> bool {
        let is_hiding = text.contains(is_hidden);
        *text = shown(take(text));
        is_hiding
    }
    match value {
        Json::String(text) => replace(text),
        Json::Array(values) => values.iter_mut().fold(false, |found, value| reveal(value) | found),
        Json::Object(values) => {
            let mut found = false;
            for (mut key, mut value) in take(values) {
                found |= replace(&mut key) | reveal(&mut value);
                values.insert(key, value);
            }
            found
        }
        _ => false,
    }
}

/// Reader of the lines of an unpacked file.
struct Lines<R> {
    input: R,
    line: u64,
    read: u64,
    /// Total length, in bytes, of the lines of the tables [`IN_MEMORY`] read so far.
    in_memory: usize,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Reads the next line, with `compact` if possible and otherwise with serde. Returns `None` at
    /// the end of the file.
    fn next<T: for<'a> Deserialize<'a>>(
        &mut self,
        compact: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ArchiveError> {
        self.text.clear();
        self.line += 1;
        let read = (&mut self.input).take(MAX_LINE).read_until(b'\n', &mut self.text);
        let read = read.map_err(|error| self.wrong(format!("cannot be unpacked: {error}")))?;
        self.read += read as u64;
        let text = &self.text;
        if text.last() != Some(&b'\n') && !text.is_empty() || self.read > MAX_BYTES {
            return Err(self.wrong("is too long or truncated"));
        }
        let value = || {
            serde_json::from_slice(text).map_err(|error| {
                // The parser sees only one line, so the line number in the parser's message is
                // always 1 and is removed.
                let what = error.to_string();
                self.wrong(what.split(" at line ").next().unwrap_or(&what))
            })
        };
        match std::str::from_utf8(text).ok().and_then(compact) {
            None if !text.is_empty() => value().map(Some),
            found => Ok(found),
        }
    }

    /// Counts the current line, which belongs to `table`. Returns an error if the total length of
    /// the lines of the tables [`IN_MEMORY`] exceeds [`MAX_IN_MEMORY`].
    fn limit(&mut self, table: &str) -> Result<(), ArchiveError> {
        if IN_MEMORY.contains(&table) {
            self.in_memory += self.text.len();
        }
        if self.in_memory <= MAX_IN_MEMORY {
            return Ok(());
        }
        let limit = MAX_IN_MEMORY >> 20;
        let tables = IN_MEMORY.join(", ");
        Err(self.wrong(format!("the lines of {tables} have more than {limit} MiB")))
    }

    fn wrong(&self, what: impl ToString) -> ArchiveError {
        ArchiveError::Content(format!("line {}: {}", self.line, what.to_string()))
    }
}
