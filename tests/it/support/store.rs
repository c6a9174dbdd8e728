//! Content of a run's store, read without the harness.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// Returns the pairs in the store of a results folder, each with the indices (0 and 1) of its
/// stored games in order. Without a store or its tables, there are no pairs.
pub fn pairs(results: &Path) -> BTreeMap<i64, Vec<i64>> {
    let Ok(connection) = open(results) else { return BTreeMap::new() };
    let Ok(mut statement) = connection.prepare("SELECT pair, half FROM games ORDER BY pair, half")
    else {
        return BTreeMap::new();
    };
    let mut found: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    for row in rows.expect("the query has no parameters") {
        // The writer may lock the store for a moment; the caller tries again.
        let Ok((pair, index)) = row else { return BTreeMap::new() };
        found.entry(pair).or_default().push(index);
    }
    found
}

/// Returns the records of pairs that the machine disturbed, in order: pair, attempt, reason, and
/// whether the pair counts.
pub fn disturbances(results: &Path) -> Vec<(i64, i64, String, bool)> {
    let Ok(connection) = open(results) else { return Vec::new() };
    let query = "SELECT pair, attempt, reason, counted FROM disturbances ORDER BY pair, attempt";
    let Ok(mut statement) = connection.prepare(query) else { return Vec::new() };
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let rows = statement.query_map([], read).expect("the query has no parameters");
    // The writer may lock the store for a moment; the caller tries again.
    rows.collect::<Result<_, _>>().unwrap_or_default()
}

/// Returns the remarks on workers, in order.
pub fn remarks(results: &Path) -> Vec<String> {
    let Ok(connection) = open(results) else { return Vec::new() };
    let query = "SELECT worker || ': ' || what FROM remarks ORDER BY number";
    let Ok(mut statement) = connection.prepare(query) else { return Vec::new() };
    let rows = statement.query_map([], |row| row.get(0)).expect("the query has no parameters");
    // The writer may lock the store for a moment; the caller tries again.
    rows.collect::<Result<_, _>>().unwrap_or_default()
}

/// Returns the pairs that do not count because their worker was excluded, each with its worker.
pub fn discarded(results: &Path) -> Vec<(i64, String)> {
    let Ok(connection) = open(results) else { return Vec::new() };
    let query = "SELECT pair, worker FROM discarded ORDER BY pair";
    let Ok(mut statement) = connection.prepare(query) else { return Vec::new() };
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows = rows.expect("the query has no parameters");
    rows.collect::<Result<_, _>>().unwrap_or_default()
}

/// Returns the number of pairs that each worker has played, without pairs played on the machine
/// with the store.
pub fn players(results: &Path) -> BTreeMap<String, i64> {
    let Ok(connection) = open(results) else { return BTreeMap::new() };
    let query = "SELECT worker, count(*) FROM players GROUP BY worker";
    let Ok(mut statement) = connection.prepare(query) else { return BTreeMap::new() };
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows = rows.expect("the query has no parameters");
    rows.collect::<Result<_, _>>().unwrap_or_default()
}

/// Changes the store as Arbiter never does, but with valid checksums.
pub fn change(results: &Path, statement: &str) {
    let connection = Connection::open(results.join("arbiter.db")).expect("there is a store");
    assert!(connection.execute(statement, []).expect("the statement is right") > 0);
    // Format 13 has no checksums. When a store of format 13 is opened, it gets checksums of its
    // present content.
    let without = "UPDATE runs SET checksum = NULL; UPDATE pairs SET checksum = NULL;
        UPDATE games SET checksum = NULL; PRAGMA user_version = 13";
    connection.execute_batch(without).expect("there are these columns");
}

/// Returns whether a run with this name has started.
pub fn has_run(results: &Path, run: &str) -> bool {
    let Ok(connection) = open(results) else { return false };
    let found = connection
        .prepare("SELECT 1 FROM runs WHERE run = ?1")
        .and_then(|mut statement| statement.exists([run]));
    found.unwrap_or(false)
}

/// Asserts that the store is sound and contains no incomplete pair.
#[track_caller]
pub fn assert_consistent(results: &Path) {
    let connection = open(results).expect("there is a store");
    let verdict: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("the store can be checked");
    assert_eq!(verdict, "ok");
    let orphans = connection
        .prepare("PRAGMA foreign_key_check")
        .and_then(|mut statement| statement.exists([]))
        .expect("the store can be checked");
    assert!(!orphans, "rows refer to rows that are not there");
    for (pair, halves) in pairs(results) {
        assert_eq!(halves, [0, 1], "halves of pair {pair}");
    }
}

fn open(results: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(
        results.join("arbiter.db"),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(super::PATIENCE)?;
    Ok(connection)
}
