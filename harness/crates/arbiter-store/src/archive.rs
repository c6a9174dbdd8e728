//! Export and import of a run as one file, and removal of runs. The file is compressed with gzip.
//! The file contains a header, one line of JSON for each row of the run and for each gate outcome
//! of the run's commits, and an end mark.

mod import;

use std::collections::BTreeMap;
use std::io::{BufWriter, IntoInnerError, Write};

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use rusqlite::Params;
use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Result, Store, StoreError, StoredRun, schema};
use crate::compact::Compact;
use crate::gates::{FOR_RUN, imported_key};
use arbiter_plan::Provenance;

/// Version of the file format.
const VERSION: u32 = 2;

/// Tables with the rows of runs, ordered so that rows refer only to rows of earlier tables.
const TABLES: [&str; 13] = [
    "runs",
    "pairs",
    "games",
    "transcripts",
    "latencies",
    "disturbances",
    "iterations",
    "players",
    "remarks",
    "set_aside",
    "discarded",
    "findings",
    "written",
];

/// Table of gate outcomes. Its rows belong to commits, not to runs.
const GATES: &str = "gates";

/// Names in the last line, where other lines have the names of a table and of a column. The last
/// line contains the number of preceding lines.
const END: [&str; 2] = ["end", "lines"];

/// Reason why a run cannot be exported or imported.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be written or read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A line of the file is invalid, or the rows of the file do not form a valid run.
    #[error("{0}")]
    Content(String),
}

/// First line of an exported file.
#[derive(Serialize, Deserialize)]
struct Header {
    arbiter_run: u32,
    /// Format of the store.
    format: i64,
    run: String,
}

/// Any line of an exported file after the first line.
#[derive(Serialize, Deserialize)]
struct Line {
    table: String,
    row: BTreeMap<String, Cell>,
}

/// A column of a table.
struct Column {
    name: String,
    /// Type of the column, as declared to SQLite.
    kind: String,
    is_nullable: bool,
    has_default: bool,
}

/// A value of a row.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a value is invalid")]
enum Cell {
    // The long moves of a game are text. For each earlier variant, serde would format an error that
    // contains the complete text.
    Text(String),
    Integer(i64),
    Null(()),
    /// Floating-point number as a string, which preserves every bit.
    Real {
        real: String,
    },
    /// Bytes, encoded in Base64.
    Blob {
        blob: String,
    },
}

impl Line {
    /// Reads a line in exactly the form in which [`Store::export_run`] writes it; returns `None`
    /// for other forms, which the caller reads with serde.
    fn compact(text: &str) -> Option<Line> {
        Compact::read(text, |json| {
            json.expect("{\"table\":")?;
            let table = json.text()?.to_owned();
            json.expect(",\"row\":")?;
            let mut row = BTreeMap::new();
            json.fields(|json, name| {
                row.insert(name.to_owned(), Cell::compact(json)?);
                Some(())
            })?;
            json.expect("}\n")?;
            Some(Line { table, row })
        })
    }
}

impl Cell {
    fn compact(json: &mut Compact<'_>) -> Option<Cell> {
        // Almost all values are text and integers, which serde reads more slowly.
        if json.starts_with(['{', 'n']) {
            return json.value();
        }
        json.string().map(Cell::Text).or_else(|| json.integer().map(Cell::Integer))
    }
}

impl Store {
    /// Permanently removes a run with all games of the run from the store. The file does not become
    /// smaller; other runs reuse the space. Fails if the store does not contain the run.
    pub fn remove_run(&self, run: &str) -> Result<()> {
        self.atomically(|| {
            let mut changed = 0;
            // Rows that refer to other rows are deleted first.
            for table in TABLES.iter().rev() {
                changed = self.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
            }
            if changed == 0 {
                return Err(self.no_run(run));
            }
            self.execute("DELETE FROM gates WHERE key = ?1", [imported_key(run)])?;
            // Readers that follow the store detect the removal from the number of rows in
            // `removed`.
            self.execute("INSERT INTO removed (run) VALUES (?1)", [run]).map(drop)
        })
    }

    /// Writes all rows of a run to `out`, compressed with gzip. Fails if the run is damaged, so
    /// that the damage does not spread.
    pub fn export_run(&self, run: &str, out: &mut dyn Write) -> Result<(), ArchiveError> {
        // The JSON writer writes single tokens, and each write to the encoder has a cost. Buffering
        // in chunks of 64 KiB makes this cost small.
        let mut out = BufWriter::with_capacity(1 << 16, GzEncoder::new(out, Compression::fast()));
        self.atomically(|| {
            if let Some(found) = self.check_run(run)?.damaged.into_iter().next() {
                return Err(StoreError::Damaged { file: self.file.clone(), found }.into());
            }
            let stored = self.run(run)?;
            let header =
                Header { arbiter_run: VERSION, format: schema::FORMAT, run: run.to_owned() };
            write_line(&mut out, &header)?;
            let mut lines = 1;
            for table in TABLES {
                let order = if table == "games" { "pair, half" } else { "1, 2, 3" };
                let select = format!("SELECT * FROM {table} WHERE run = ?1 ORDER BY {order}");
                lines += self.write_rows(&mut out, table, &select, [run])?;
            }
            for commit in commits(&stored) {
                let select = format!(
                    "SELECT * FROM gates WHERE test = ?2 AND {FOR_RUN} ORDER BY created_ms, id"
                );
                lines += self.write_rows(&mut out, GATES, &select, [imported_key(run), commit])?;
            }
            let row = BTreeMap::from([(END[1].to_owned(), Cell::Integer(lines))]);
            write_line(&mut out, &Line { table: END[0].to_owned(), row })
        })?;
        out.into_inner().map_err(IntoInnerError::into_error)?.finish()?.flush()?;
        Ok(())
    }

    /// Writes the rows of a table and returns the number of rows.
    fn write_rows(
        &self,
        out: &mut impl Write,
        table: &str,
        select: &str,
        keys: impl Params,
    ) -> Result<i64, ArchiveError> {
        let fail = |error| ArchiveError::Store(self.sqlite(error));
        // The column names are read by a query, because the column names of a prepared statement
        // are not checked for damage.
        let columns = self.columns_of(table)?;
        let mut statement = self.connection.prepare(select).map_err(fail)?;
        let mut rows = statement.query(keys).map_err(fail)?;
        let mut written = 0;
        while let Some(row) = rows.next().map_err(fail)? {
            let mut cells = BTreeMap::new();
            for (place, column) in columns.iter().enumerate() {
                let cell = match row.get_ref(place).map_err(fail)? {
                    ValueRef::Null => Cell::Null(()),
                    ValueRef::Integer(number) => Cell::Integer(number),
                    ValueRef::Real(real) => Cell::Real { real: real.to_string() },
                    ValueRef::Blob(blob) => Cell::Blob { blob: BASE64.encode(blob) },
                    ValueRef::Text(_) => Cell::Text(row.get(place).map_err(fail)?),
                };
                cells.insert(column.name.clone(), cell);
            }
            write_line(out, &Line { table: table.to_owned(), row: cells })?;
            written += 1;
        }
        Ok(written)
    }

    fn columns_of(&self, table: &str) -> Result<Vec<Column>> {
        let select = "SELECT name, type, NOT \"notnull\", dflt_value NOTNULL OR pk AND name = 'id'
                      FROM pragma_table_info(?1)";
        self.rows(select, [table], |row| {
            let (name, kind, is_nullable, has_default) = row.try_into()?;
            Ok(Column { name, kind, is_nullable, has_default })
        })
    }
}

/// Returns the commits from which the engines of a run were built.
fn commits(stored: &StoredRun) -> Vec<String> {
    let built = stored.plan.engines.iter().filter_map(|engine| engine.provenance.as_ref());
    let mut commits: Vec<String> = built.map(Provenance::identity).collect();
    commits.sort();
    commits.dedup();
    commits
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> Result<(), ArchiveError> {
    serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_by_serde_or_left_to_serde() {
        let text = "{\"table\":\"t\",\"row\":{\"a\":-12,\"b\":\"[{\\\"m\\\":1}]\",\"c\":null,\
                    \"d\":{\"real\":\"0.5\"},\"e\":{\"blob\":\"AA==\"}}}\n";
        let again = |line: Line| serde_json::to_string(&line).unwrap() + "\n";
        assert_eq!(Line::compact(text).map(again).as_deref(), Some(text));
        for at in 0..text.len() {
            for other in "0019\"\\{}[],:-.eqx \n".split_inclusive(|_| true) {
                let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                let added = format!("{}{other}{}", &text[..at], &text[at..]);
                for text in [changed, added] {
                    let found = Line::compact(&text).map(again);
                    let by_serde = serde_json::from_str(&text).ok().map(again);
                    assert!(found.is_none() || found == by_serde, "{text}");
                }
            }
        }
    }
}
