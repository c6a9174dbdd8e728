//! Tests of stores that have the first format, an older or a newer format, or are damaged or large.

use std::io::Read;
use std::path::{Path, PathBuf};

use arbiter_run::Remark;
use arbiter_store::{FILE_NAME, Store};
use flate2::read::GzDecoder;
use rusqlite::Connection;

/// Store of the first format.
const FIRST: &str = include_str!("formats/13.sql");
/// Store of the current format.
const LATEST: &str = include_str!("formats/14.sql");

/// Creates a store from SQL and executes one more statement.
fn write(folder: &Path, sql: &str, last: &str) -> PathBuf {
    let file = folder.join(FILE_NAME);
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.execute_batch(last).unwrap();
    file
}

fn version(file: &Path) -> i64 {
    let connection = Connection::open(file).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn a_store_of_the_first_format_is_read_and_continued() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), FIRST, "");
    let mut store = Store::open(dir.path()).unwrap();
    let stored = store.run("old").unwrap();
    assert_eq!((stored.plan.engines.len(), stored.fingerprints.engines.len()), (2, 2));
    assert_eq!(stored.plan.sprt.unwrap().elo1, 5.0);
    assert_eq!((stored.offsets.pgn, stored.offsets.epd), (7, 9));
    assert_eq!(stored.head.about.as_deref(), Some("why"));
    let mut played = store.pair("old", 0).unwrap().unwrap();
    // Missing hashes are computed from the moves.
    let tallies = store.tallies("old").unwrap();
    let hashes: Vec<_> = tallies[0].games().map(|game| game.hash).collect();
    let expected: Vec<_> = played.games.iter().map(|game| Some(game.hash())).collect();
    assert_eq!((tallies.len(), hashes), (1, expected));
    assert!(played.games.iter().all(|game| game.moves.len() == 4 && game.begun_ms.is_some()));
    assert_eq!(store.transcribed("old").unwrap().len(), 1);
    assert_eq!(store.latencies("old").unwrap().iter().count(), 1);
    assert_eq!(store.disturbances("old").unwrap().counted, 1);
    assert_eq!(store.gates(None).unwrap().len(), 1);
    assert_eq!(store.iterations("old").unwrap().len(), 1);
    assert_eq!(store.pairs_by_worker("old").unwrap().len(), 1);
    assert_eq!(store.remarks("old").unwrap().len(), 1);
    assert_eq!(store.excluded_workers("old").unwrap().len(), 1);
    assert_eq!(store.lint("old").unwrap().len(), 1);
    played.pairing.pair = 1;
    assert!(store.append("old", &played, Some("noise"), Some("other")).unwrap());
    let again = store.tallies("old").unwrap();
    assert_eq!(again[1].first.hash, again[0].first.hash);
    drop(store);
    assert_eq!(version(&file), 14);
    let copy = Connection::open(dir.path().join(format!("{FILE_NAME}.format-13"))).unwrap();
    let games = copy.query_row("SELECT count(*) FROM games", [], |row| row.get(0));
    assert_eq!(games, Ok(2), "the copy is of what was there before");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "something is left behind");
}

/// Returns the layout of a store: columns, indexes, and the oldest version that can read the store.
fn layout(file: &Path) -> Vec<String> {
    let connection = Connection::open(file).unwrap();
    let query = "
        SELECT concat_ws(' ', 'column', m.name, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk)
            FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'
        UNION ALL SELECT concat_ws(' ', 'index', m.name, m.tbl_name, i.seqno, i.name)
            FROM sqlite_schema m JOIN pragma_index_info(m.name) i WHERE m.type = 'index'
        UNION ALL SELECT 'readable since ' || arbiter FROM readable_since
        ORDER BY 1";
    let mut statement = connection.prepare(query).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_new_store_matches_its_format_file() {
    let [made, written] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    drop(Store::create(made.path()).unwrap());
    let written = layout(&write(written.path(), LATEST, ""));
    assert_eq!(layout(&made.path().join(FILE_NAME)), written, "that is another format");
}

#[test]
fn a_store_can_be_created_concurrently() {
    for _ in 0..100 {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| Store::create(dir.path()).map(drop).unwrap());
            }
        });
    }
}

#[test]
fn a_store_from_before_the_first_format_is_refused_and_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), FIRST, "PRAGMA user_version = 12");
    let before = std::fs::read(&file).unwrap();
    for open in [Store::open, Store::create, Store::observe] {
        let message = open(dir.path()).unwrap_err().to_string();
        assert_eq!(
            message,
            format!(
                "results store {} has the unsupported format 12 of a build before the first \
                 version of arbiter\nhint: move the store away, or give another --results",
                file.display()
            )
        );
    }
    assert!(std::fs::read(&file).unwrap() == before, "it was changed");
}

#[test]
fn a_database_of_another_program_is_refused_and_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), "CREATE TABLE cookies (x)", "");
    let before = std::fs::read(&file).unwrap();
    for open in [Store::open, Store::create, Store::observe] {
        let message = open(dir.path()).unwrap_err().to_string();
        assert!(message.contains("is a database of another program\nhint: move"), "{message}");
    }
    assert!(std::fs::read(&file).unwrap() == before, "it was changed");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "something is left behind");
}

#[test]
fn a_store_of_a_newer_format_is_refused_and_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let last = "PRAGMA user_version = 99; UPDATE readable_since SET arbiter = '7.8.9'";
    let file = write(dir.path(), LATEST, last);
    let before = std::fs::read(&file).unwrap();
    for open in [Store::open, Store::create, Store::observe] {
        let message = open(dir.path()).unwrap_err().to_string();
        assert!(
            message.contains("format 99") && message.contains("arbiter 7.8.9 or newer"),
            "{message}"
        );
    }
    assert!(std::fs::read(&file).unwrap() == before, "it was changed");
}

#[test]
fn a_store_that_cannot_be_copied_is_not_migrated() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), FIRST, "");
    std::fs::create_dir_all(dir.path().join("arbiter.db.format-13/kept")).unwrap();
    let message = Store::open(dir.path()).unwrap_err().to_string();
    assert!(message.contains("format-13") && message.contains("unchanged"), "{message}");
    assert_eq!(version(&file), 13);
}

#[test]
fn a_migration_that_fails_half_way_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    // An index cannot have the name of a table, so creating this index, which is one of the last
    // steps of the migration, fails.
    let file = write(dir.path(), FIRST, "DROP INDEX games_listed; CREATE TABLE games_listed (x)");
    let tables = || -> String {
        let query = "SELECT group_concat(sql) FROM sqlite_schema";
        Connection::open(&file).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
    };
    let before = tables();
    let message = Store::open(dir.path()).unwrap_err().to_string();
    assert!(message.contains("games_listed"), "{message}");
    assert_eq!((tables(), version(&file)), (before, 13));
}

#[test]
fn a_damaged_store_is_reported() {
    for table in ["runs", "pairs", "games"] {
        let dir = tempfile::tempdir().unwrap();
        let file = write(dir.path(), LATEST, "");
        drop(Store::open(dir.path()).unwrap());
        let root = "SELECT rootpage FROM sqlite_master WHERE name = ?1";
        let connection = Connection::open(&file).unwrap();
        let page: usize = connection.query_row(root, [table], |row| row.get(0)).unwrap();
        drop(connection);
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[(page - 1) * 4096] ^= 0xff;
        std::fs::write(&file, bytes).unwrap();
        let store = Store::open(dir.path()).unwrap();
        let read = store.run("old").map(drop).and_then(|()| store.tallies("old").map(drop));
        let read = read.and_then(|()| store.pair("old", 0).map(drop));
        let message = read.unwrap_err().to_string();
        for part in [file.to_str().unwrap(), "damaged", ".recover"] {
            assert!(message.contains(part), "{table}: no '{part}' in {message}");
        }
    }
}

#[test]
fn a_pair_that_has_lost_its_games_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), LATEST, "DELETE FROM findings; DELETE FROM transcripts; DELETE FROM games");
    let message = Store::open(dir.path()).unwrap().tallies("old").unwrap_err().to_string();
    assert!(message.contains("run 'old', pair 1: changed since it was written"), "{message}");
}

/// Returns the unpacked text of the run's export, or the error of the export.
fn exported(folder: &Path) -> Result<String, String> {
    let mut packed = Vec::new();
    let store = Store::open(folder).map_err(|error| error.to_string())?;
    store.export_run("old", &mut packed).map_err(|error| error.to_string())?;
    let mut text = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    Ok(text)
}

#[test]
fn every_damaged_byte_is_detected_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path(), FIRST, "");
    let mut store = Store::open(dir.path()).unwrap();
    let mut played = store.pair("old", 0).unwrap().unwrap();
    for pair in 1..60 {
        played.pairing.pair = pair;
        played.games.first.moves.extend_from_within(..1);
        assert!(store.append("old", &played, None, None).unwrap());
    }
    drop(store);
    let (sound, complete_export) = (std::fs::read(&file).unwrap(), exported(dir.path()).unwrap());
    let mut random = 1_u64;
    let mut draw = |below: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for _ in 0..120 {
        let (place, change) = (draw(sound.len()), 1 + draw(255) as u8);
        let mut bytes = sound.clone();
        bytes[place] ^= change;
        std::fs::write(&file, bytes).unwrap();
        let read = exported(dir.path());
        assert!(
            read.is_err() || read == Ok(complete_export.clone()),
            "byte {place} changed by {change}"
        );
    }
}

#[test]
fn damaged_games_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let last = "UPDATE games SET moves = replace(moves, '5000', '5001') WHERE half = 1";
    let file = write(dir.path(), LATEST, last);
    let store = Store::open(dir.path()).unwrap();
    let message = store.pair("old", 0).unwrap_err().to_string();
    let (file, game) = (file.display(), "run 'old', pair 1, game 2: changed since it was written");
    let expect = format!(
        "results store {file} is damaged: {game}\nhint: restore a copy, or save the readable part \
         with `sqlite3 {file} .recover | sqlite3 saved.db`; `arbiter results verify` lists the \
         damage"
    );
    assert_eq!(message, expect);
    let checked = store.check_run("old").unwrap();
    assert_eq!(
        (checked.pairs, checked.games, &checked.damaged[..]),
        (1, 2, &[game.to_owned()][..])
    );
    assert_eq!(store.check_file().unwrap(), [""; 0]);
    for (change, what) in [
        ("runs SET ending = 'H1'", "run 'old', settings and ending: changed since it was written"),
        (
            "runs SET plan = replace(plan, '5.0', '4.0')",
            "run 'old', settings and ending: changed since it was written",
        ),
        ("pairs SET opening = 7", "run 'old', pair 1: changed since it was written"),
        (
            "games SET result = '1-0' WHERE half = 0",
            "run 'old', pair 1: changed since it was written",
        ),
        ("pairs SET second_hash = 7", "run 'old', pair 1: changed since it was written"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), LATEST, &format!("UPDATE {change}"));
        let checked = Store::open(dir.path()).unwrap().check_run("old").unwrap();
        assert_eq!(checked.damaged[0], what, "{change}");
    }
}

/// Returns the peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn excluding_a_worker_needs_constant_memory() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), LATEST, "");
    let mut store = Store::open(dir.path()).unwrap();
    let mut played = store.pair("old", 0).unwrap().unwrap();
    let text = format!("5 W< go\n{}", "6 W> info string a long line\n".repeat(3_000));
    played.games.first.transcript = Some(text.parse().unwrap());
    store.begin_group().unwrap();
    for pair in 1..=400 {
        played.pairing.pair = pair;
        assert!(store.append("old", &played, None, Some("w")).unwrap());
    }
    store.commit_group().unwrap();
    let before = peak();
    let remark = Remark { worker: "w".into(), pair: None, text: "crashes".into() };
    assert_eq!(store.exclude_worker("old", 5, &remark, true).unwrap().pairs, 401);
    // The kernel adds up the threads' counts only from time to time, so the reported peak can also
    // decrease.
    let grown = peak().saturating_sub(before);
    assert!(grown < 8 * 1024, "{grown} KiB for {} KiB of games", 400 * text.len() / 1024);
}
