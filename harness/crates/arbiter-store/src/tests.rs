use std::io::Read;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use shakmaty::{ByColor, Color};

use super::*;
use arbiter_game::lint::{LintFinding, LintRule};
use arbiter_game::outcome::{Outcome, Termination};
use arbiter_game::record::{GameRecord, LateMove, MoveRecord, SearchDetails, SearchInfo};
use arbiter_plan::{GateKind, GateOutcome, GateVerdict, Plan, Provenance, Request, RunKind};
use arbiter_run::{FilePrefix, Games, LatencyKind, PlayedPair, Remark};
use arbiter_schedule::Pairing;
use arbiter_spsa::Iteration;

fn game() -> GameRecord {
    let search = SearchInfo {
        elapsed: Duration::from_micros(1_250),
        reported: Some(Duration::from_millis(1)),
        ..SearchInfo::default()
    };
    GameRecord {
        engines: ByColor { white: 0, black: 1 },
        fen: "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1".into(),
        chess960: false,
        moves: vec![MoveRecord { uci: "e8e7".parse().unwrap(), search: Some(search) }],
        outcome: Outcome::lost(Color::White, Termination::TimeForfeit, "White was late"),
        duration: Duration::from_secs(1),
        ready: ByColor { white: None, black: Some(Duration::from_micros(70)) },
        movetime: ByColor::default(),
        late: Some(LateMove { over: Duration::from_millis(30), waited: None }),
        waited: ByColor::default(),
        begun_ms: Some(1_700_000_000_000),
        transcript: Some("5 W< go\n6 W> bestmove e2e4\n".parse().unwrap()),
    }
}

/// Returns a store with a run and the first pair of the run; the pair was committed twice.
fn filled(folder: &Path) -> (Store, PlayedPair) {
    let mut store = Store::create(folder).unwrap();
    let plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
    let prints = Fingerprints { engines: vec![EngineHashes::default(); 2], ..Default::default() };
    store.begin_run("run", 0, &plan, &prints, Offsets { pgn: 3, epd: 4 }, Some("why")).unwrap();
    let pairing = Pairing { pair: 0, engines: [0, 1], opening: 0 };
    let played = PlayedPair { pairing, games: Games { first: game(), second: Some(game()) } };
    assert!(store.append("run", &played, None, Some("w")).unwrap());
    assert!(!store.append("run", &played, None, Some("w")).unwrap());
    (store, played)
}

/// Returns the number of response times in the store, by engine and kind.
fn answers(store: &Store) -> Vec<(usize, LatencyKind, u64)> {
    let latencies = store.latencies("run").unwrap();
    latencies.iter().map(|(engine, kind, times)| (engine, kind, times.count())).collect()
}

/// Returns the expected numbers of response times for `games` games.
fn expected_latencies(games: u64) -> Vec<(usize, LatencyKind, u64)> {
    let kinds = [(0, LatencyKind::Overrun), (1, LatencyKind::Ready), (1, LatencyKind::Move)];
    kinds.map(|(engine, kind)| (engine, kind, games)).into()
}

#[test]
fn duplicate_commits_count_once() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = filled(dir.path());
    assert_eq!(answers(&store), expected_latencies(2));
    let latencies = store.latencies("run").unwrap();
    let median = latencies.iter().find(|(_, kind, _)| *kind == LatencyKind::Move).unwrap().2;
    assert!((249..=251).contains(&median.quantile_us(0.5)));
    assert_eq!(store.run("run").unwrap().offsets, Offsets { pgn: 3, epd: 4 });
}

#[test]
fn findings_count_once_and_are_removed_with_their_pair() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, mut played) = filled(dir.path());
    assert!(store.lint("run").unwrap().is_empty());
    let finding = LintFinding { rule: LintRule::Time, what: "x".into(), line: String::new() };
    let search = played.games.first.moves[0].search.as_mut().unwrap();
    // A finding that a worker reports twice counts once.
    let findings = vec![finding.clone(), finding];
    search.details = SearchDetails { findings, ..SearchDetails::default() }.boxed();
    for pair in [7, 5] {
        played.pairing.pair = pair;
        assert!(store.append("run", &played, None, Some("w")).unwrap());
        assert!(!store.append("run", &played, None, Some("w")).unwrap());
    }
    let found = store.lint("run").unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|found| (found.engine, found.rule, found.moves, found.games, found.pair, found.ply))
        .collect();
    assert_eq!(found, [(1, LintRule::Time, 2, 2, 5, 0)]);
    let remark = Remark { worker: "w".into(), pair: None, text: "lies".into() };
    store.exclude_worker("run", 1, &remark, true).unwrap();
    assert!(store.lint("run").unwrap().is_empty());
}

#[test]
fn a_group_is_stored_completely_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, played) = filled(dir.path());
    let numbered = |pair| {
        let pairing = Pairing { pair, ..played.pairing };
        PlayedPair { pairing, ..played.clone() }
    };
    let other = Store::open(dir.path()).unwrap();
    let stored_pairs = || (0..5).filter(|pair| other.pair("run", *pair).unwrap().is_some()).count();
    store.begin_group().unwrap();
    assert!(store.append("run", &numbered(1), None, None).unwrap());
    assert!(store.append("run", &numbered(2), Some("noise"), None).unwrap());
    assert!(!store.append("run", &numbered(0), None, None).unwrap());
    assert_eq!(stored_pairs(), 1);
    assert_eq!(answers(&other), expected_latencies(2));
    store.commit_group().unwrap();
    assert_eq!(answers(&other), expected_latencies(6));
    assert_eq!(stored_pairs(), 3);
    store.begin_group().unwrap();
    assert!(store.append("run", &numbered(3), None, None).unwrap());
    drop(store);
    assert_eq!(stored_pairs(), 3, "what was in hand is played again");
}

#[test]
fn pairs_of_an_excluded_worker_are_stored_separately() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, played) = filled(dir.path());
    let numbered = |pair| {
        let pairing = Pairing { pair, ..played.pairing };
        PlayedPair { pairing, ..played.clone() }
    };
    store.append("run", &numbered(1), None, Some("other")).unwrap();
    store.append("run", &numbered(2), Some("noise"), Some("w")).unwrap();
    let before = store.played_by_workers("run").unwrap();
    let names: Vec<&str> = before.iter().map(|(worker, _)| worker.as_str()).collect();
    assert_eq!(names, ["w", "other", "w"]);
    let remark = Remark { worker: "w".into(), pair: None, text: "crashes".into() };
    // The pairs of a worker may be withdrawn after the exclusion of the worker.
    store.exclude_worker("run", 4, &remark, false).unwrap();
    let epoch = store.epoch().unwrap();
    let excluded = store.exclude_worker("run", 5, &remark, true).unwrap();
    assert_eq!(
        (excluded.worker.as_str(), excluded.reason.as_str(), excluded.pairs),
        ("w", "crashes", 2)
    );
    assert_eq!(store.excluded_workers("run").unwrap(), [excluded]);
    assert_ne!(store.epoch().unwrap(), epoch);
    let left: Vec<u64> = store.tallies("run").unwrap().iter().map(|tally| tally.pair).collect();
    assert_eq!(left, [1]);
    assert_eq!(store.pair("run", 0).unwrap(), None);
    // The withdrawn pairs are stored separately.
    let kept: Vec<(u64, String)> = store
        .connection
        .prepare("SELECT pair, played FROM discarded WHERE worker = 'w' ORDER BY pair")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(kept.iter().map(|(pair, _)| *pair).collect::<Vec<_>>(), [0, 2]);
    for part in ["time_forfeit", "White was late", "e8e7", "bestmove e2e4"] {
        assert!(kept[0].1.contains(part), "{part} in {}", kept[0].1);
    }
    // Another worker plays one of the pairs again.
    assert!(store.append("run", &numbered(0), None, Some("other")).unwrap());
    let again = store.exclude_worker("run", 6, &remark, true).unwrap();
    assert_eq!(again.pairs, 0);
    assert_eq!(
        store.pairs_by_worker("run").unwrap().into_iter().collect::<Vec<_>>(),
        [("other".to_owned(), 2)]
    );
}

#[test]
fn transcripts_are_read_back_with_their_games() {
    let dir = tempfile::tempdir().unwrap();
    let (store, played) = filled(dir.path());
    assert_eq!(store.transcribed("run").unwrap(), [(0, 0), (0, 1)]);
    assert_eq!(store.transcript("run", (0, 1)).unwrap(), played.games.first.transcript);
    assert_eq!(store.transcript("run", (1, 0)).unwrap(), None);
    let recorded = store.recorded("run", 0, 1).unwrap().unwrap();
    assert_eq!((recorded.run.as_str(), recorded.round.as_str()), ("run", "1.2"));
    let again = RecordedGame::read(recorded.text.clone()).unwrap();
    assert_eq!(format!("{again:?}"), format!("{recorded:?}"));
    let newer = recorded.text.replace("{\"transcript\":1", "{\"transcript\":2");
    assert!(RecordedGame::read(newer).unwrap_err().contains("update arbiter"));
    for name in ["run\\nrecorded: 1-0", &"a".repeat(70_000)] {
        let text = recorded.text.replace("\"run\":\"run\"", &format!("\"run\":\"{name}\""));
        assert!(RecordedGame::read(text).unwrap_err().contains("invalid name \""), "{name}");
    }
}

#[test]
fn workers_and_exclusions_are_stored() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = filled(dir.path());
    assert_eq!(store.pairs_by_worker("run").unwrap(), [("w".to_owned(), 1)].into());
    assert_eq!(store.remarks("run").unwrap(), []);
    let remark = |pair, text: &str| Remark { worker: "w".into(), pair, text: text.into() };
    let remarks = [remark(Some(3), "late"), remark(None, "garbage")];
    remarks.iter().for_each(|remark| store.note_remark("run", 5, remark).unwrap());
    assert_eq!(store.remarks("run").unwrap(), remarks);
    assert_eq!(store.remarks("other").unwrap(), []);
}

#[test]
fn the_description_of_a_run_can_be_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = filled(dir.path());
    let about = || store.run("run").unwrap().head.about;
    assert_eq!(about().as_deref(), Some("why"));
    store.set_about("run", Some("because")).unwrap();
    assert_eq!(store.runs().unwrap()[0].about, about());
    assert_eq!(about().as_deref(), Some("because"));
    store.set_about("run", None).unwrap();
    assert_eq!(about(), None);
    assert!(matches!(store.set_about("other", None), Err(StoreError::NoRun { .. })));
}

#[test]
fn iterations_are_read_back_and_a_second_delivery_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = filled(dir.path());
    let iteration = |number, score| Iteration {
        number,
        sides: [vec![5.0, 0.1 + 0.2], vec![3.0, -1.0]],
        score,
        theta: vec![4.125, -0.5],
    };
    store.append_iteration("run", &iteration(1, -7)).unwrap();
    store.append_iteration("run", &iteration(0, 3)).unwrap();
    store.append_iteration("run", &iteration(0, 4)).unwrap();
    assert_eq!(store.iterations("run").unwrap(), [iteration(0, 3), iteration(1, -7)]);
    assert_eq!(store.iterations("other").unwrap(), []);
}

#[test]
fn a_reader_sees_new_pairs_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Store::observe(dir.path()), Err(StoreError::Missing(_))));
    let (mut store, played) = filled(dir.path());
    let reader = Store::observe(dir.path()).unwrap();
    let created_ms = reader.run("run").unwrap().head.created_ms;
    let (run, about) = ("run".into(), Some("why".into()));
    let outline = RunHead { run, created_ms, ending: None, pairs: 0, about };
    assert_eq!(reader.outlines().unwrap(), [outline]);
    let (version, mark) = (reader.data_version().unwrap(), reader.mark().unwrap());
    assert_eq!(reader.tallies_after("run", mark).unwrap(), (vec![], mark));
    assert_eq!(reader.data_version().unwrap(), version);
    // A reader with an open transaction does not keep the writer waiting.
    reader.connection.execute_batch("BEGIN; SELECT count(*) FROM games").unwrap();
    for pair in [2, 1] {
        let pairing = Pairing { pair, ..played.pairing };
        assert!(
            store.append("run", &PlayedPair { pairing, ..played.clone() }, None, None).unwrap()
        );
    }
    reader.connection.execute_batch("COMMIT").unwrap();
    assert_ne!(reader.data_version().unwrap(), version);
    let (tallies, next) = reader.tallies_after("run", mark).unwrap();
    assert_eq!(tallies.iter().map(|tally| tally.pair).collect::<Vec<_>>(), [2, 1]);
    assert!(tallies.iter().all(|tally| tally.second.is_some()) && next > mark);
    assert_eq!(reader.tallies_after("other", mark).unwrap(), (vec![], next));
    assert!(reader.set_about("run", None).is_err(), "it must not write");
}

#[test]
fn a_read_only_store_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let (_, pair) = filled(dir.path());
    let second = dir.path().join("a second?name#%41");
    std::fs::create_dir(&second).unwrap();
    std::fs::hard_link(dir.path().join(FILE_NAME), second.join(FILE_NAME)).unwrap();
    for folder in [dir.path(), &second] {
        let mut store = Store::open(folder).unwrap();
        assert_eq!(store.runs().unwrap().len(), 1);
        let error = store.append("run", &pair, None, None).unwrap_err().to_string();
        let expect = format!(
            "results store {} cannot be written: it has a second hard link, through which runs \
             would damage it; replace it by a copy",
            folder.join(FILE_NAME).display()
        );
        assert_eq!(error, expect);
        assert_eq!(Store::create(folder).unwrap_err().to_string(), expect);
    }
    assert_eq!(second.read_dir().unwrap().count(), 1);
}

#[test]
fn pipes_and_foreign_files_beside_a_store_are_rejected() {
    for end in ENDINGS {
        for [kind, remedy] in [
            ["pipe", "remove it"],
            ["link", "is a symbolic link"],
            ["name", "replace it by a copy"],
        ] {
            let dir = tempfile::tempdir().unwrap();
            drop(filled(dir.path()));
            let path = dir.path().join(format!("{FILE_NAME}{end}"));
            let victim = dir.path().join("victim");
            std::fs::write(&victim, "a text").unwrap();
            let _ = std::fs::remove_file(&path);
            assert!(own_files(dir.path()).contains(&path), "no command may create {path:?}");
            if kind == "pipe" {
                let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
                assert!(made.success());
            } else if kind == "link" {
                std::os::unix::fs::symlink(&victim, &path).unwrap();
            } else if end.is_empty() {
                continue;
            } else {
                std::fs::hard_link(&victim, &path).unwrap();
            }
            for open in [Store::create, Store::open, Store::observe] {
                let error = open(dir.path()).unwrap_err().to_string();
                assert!(error.contains(FILE_NAME), "{error}");
                // Commands that only read have a separate message for a store that is not a file.
                assert!(error.contains(remedy) || end.is_empty(), "{path:?}: {error}");
            }
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), "a text");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()));
    let mark = [b"other".as_slice(), &SUPER_JOURNAL].concat();
    std::fs::write(dir.path().join(format!("{FILE_NAME}-journal")), mark).unwrap();
    assert!(Store::observe(dir.path()).unwrap_err().to_string().contains("another journal"));
}

#[test]
fn pairs_are_saved_although_the_store_was_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("results");
    let (store, pair) = filled(&folder);
    let run = store.run("run").unwrap();
    std::fs::remove_file(folder.join(FILE_NAME)).unwrap();
    std::fs::create_dir(folder.join(FILE_NAME)).unwrap();
    let save = || store.save_elsewhere(&run, &[&pair]);
    let place = folder.join("arbiter-saved-1.db");
    assert_eq!(save().as_ref(), Some(&place));
    assert_eq!(Store::connect(place.clone()).unwrap().runs().unwrap().len(), 1);
    // A file that SQLite opens together with the new store must not be a link.
    std::fs::remove_file(&place).unwrap();
    let link = beside(&place, "-wal");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(dir.path().join("victim"), link).unwrap();
    assert_eq!(save(), Some(dir.path().join("arbiter-saved-1.db")));
}

#[test]
fn errors_describe_a_folder_without_a_store() {
    let dir = tempfile::tempdir().unwrap();
    let (file, folder) = (dir.path().join("file"), dir.path().join("folder"));
    std::fs::write(&file, "").unwrap();
    std::fs::create_dir_all(folder.join(FILE_NAME)).unwrap();
    let why = |opened: Result<Store, StoreError>| {
        let error = opened.unwrap_err().to_string();
        error.split_once(": ").unwrap().1.split_once("\nhint: ").unwrap().0.to_owned()
    };
    assert_eq!(why(Store::open(&folder)), "its arbiter.db is not a file");
    assert_eq!(why(Store::create(&file)), "not a directory");
    let error = Store::create(&folder).unwrap_err().to_string();
    assert!(error.ends_with("is not a regular file; remove it"), "{error}");
    assert!(matches!(Store::open(dir.path()), Err(StoreError::Missing(_))));
}

#[test]
fn a_concurrent_migration_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = filled(dir.path());
    store.connection.pragma_update(None, "user_version", 99).unwrap();
    let migrated = store.migrate();
    let number: i64 =
        store.connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(number, 99);
    assert!(migrated.unwrap_err().to_string().contains("has format 99"));
    assert!(store.connection.is_autocommit());
}

/// Returns the unpacked text of a run's export.
fn exported(store: &Store, run: &str) -> String {
    let mut packed = Vec::new();
    store.export_run(run, &mut packed).unwrap();
    let mut text = String::new();
    MultiGzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    text
}

/// Converts an export to an older format, which has no checksums.
fn without_checksums(text: &str) -> String {
    let mut parts = text.split("\"checksum\":");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(',').map_or("", |(_, rest)| rest))
}

#[test]
fn an_exported_run_is_imported_completely() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (mut store, _) = filled(dirs[0].path());
    let remark = Remark { worker: "w".into(), pair: Some(0), text: "slow".into() };
    store.note_remark("run", 5, &remark).unwrap();
    store.exclude_worker("run", 6, &remark, true).unwrap();
    let (stored, played) = (store.run("run").unwrap(), filled(dirs[1].path()).1);
    // An imported run has no PGN file.
    store.set_plan("run", &stored.plan, &stored.fingerprints, 0).unwrap();
    store.append("run", &played, Some("load"), Some("v")).unwrap();
    store.void("run", &played, "worse load").unwrap();
    let steps = Iteration { number: 0, sides: [vec![0.1], vec![0.3]], score: 1, theta: vec![0.2] };
    store.append_iteration("run", &steps).unwrap();
    let text = exported(&store, "run");
    for table in ["transcripts", "set_aside", "discarded", "players", "remarks", "iterations"] {
        assert!(text.contains(&format!("\"table\":\"{table}\"")), "{table}");
    }
    let other = Store::open(dirs[1].path()).unwrap();
    let import = |name| other.import_run(&mut text.as_bytes(), name, &|_| Ok(()), &|_| Ok(()));
    assert!(matches!(import(None), Err(ArchiveError::Content(_))));
    assert_eq!(import(Some("copy")).unwrap(), "copy");
    assert_eq!(exported(&other, "copy"), text.replace("\"run\":\"run\"", "\"run\":\"copy\""));
    // Removing a run removes all its rows, and no rows of other runs.
    let (before, epoch) = (exported(&other, "run"), other.epoch().unwrap());
    other.remove_run("copy").unwrap();
    assert_eq!(exported(&other, "run"), before);
    assert_ne!(other.epoch().unwrap(), epoch);
    assert!(matches!(other.remove_run("copy"), Err(StoreError::NoRun { .. })));
    assert_eq!(import(Some("copy")).unwrap(), "copy");
}

#[test]
fn invalid_imports_are_rejected_and_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = filled(dir.path());
    let complete_export = exported(&store, "run");
    store.remove_run("run").unwrap();
    // A forger can compute checksums, and files of the first format have no checksums.
    let text = without_checksums(&complete_export).replacen("\"format\":14", "\"format\":13", 1);
    let refused = |text: &str, part: &str| {
        let error = store.import_run(&mut text.as_bytes(), None, &|_| Ok(()), &|_| Ok(()));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
        for table in ["runs", "pairs", "games", "transcripts"] {
            assert_eq!(store.number(&format!("SELECT count(*) FROM {table}"), []).unwrap(), 0);
        }
    };
    let swapped = |from: &str, to: &str, part: &str| {
        assert!(text.contains(from), "{from}");
        refused(&text.replacen(from, to, 1), part);
    };
    let without = |part: &str| -> String {
        text.lines().filter(|line| !line.contains(part)).map(|line| format!("{line}\n")).collect()
    };
    let other = complete_export.replacen("e8e7", "e8d7", 1);
    refused(&other, "line 4: pair 1, game 1: changed since the export");
    refused(
        &complete_export.replacen("\"pgn_offset\":3", "\"pgn_offset\":4", 1),
        "changed since it was written",
    );
    refused("", "is not a file of `arbiter results export`");
    refused("[Event \"x\"]\n", "is not a file of `arbiter results export`");
    refused(&text[..text.len() - 9], "truncated");
    refused(&without("\"table\":\"end\""), "truncated");
    refused(&without("\"table\":\"transcripts\""), "not the end");
    refused(&(text.clone() + "{}\n"), "missing field `table`");
    let head = text.lines().next().unwrap().to_owned() + "\n";
    let empty = head.clone() + "{\"table\":\"end\",\"row\":{\"lines\":1}}\n";
    refused(&empty, "contains no run");
    swapped("\"arbiter_run\":2", "\"arbiter_run\":3", "update arbiter");
    swapped("\"arbiter_run\":2", "\"arbiter_run\":1", "before the first version");
    swapped("\"format\":", "\"format\":9", "update arbiter");
    swapped("\"run\":\"run\"}", "\"run\":\"../run\"}", "invalid run name");
    swapped("\"run\":\"run\",", "\"run\":\"other\",", "is not of run 'run'");
    swapped("\"table\":\"pairs\"", "\"table\":\"removed\"", "unknown table 'removed'");
    swapped("\"opening\":", "\"opening) VALUES (1); --\":", "no column 'opening) ");
    swapped("\"opening\":0", "\"opening\":\"0\"", "opening of pairs");
    swapped("\"opening\":0,", "", "opening of pairs");
    swapped("\"created_ms\":0", "\"created_ms\":-1", "line 2: created_ms of runs");
    swapped("\"ending\":null", "\"ending\":\"zzz\"", "line 2: 'zzz' is not an ending");
    swapped("\"second\":1", "\"second\":2", "pair 1, game 1: not a game of this pair");
    swapped("\"white\":0", "\"white\":\"x\"", "white of games");
    swapped("\"half\":1", "\"half\":7", "pair 1, game 8: not a game of this pair");
    swapped("\"plies\":1", "\"plies\":2", "not a game of this pair");
    swapped("\"result\":\"0-1\"", "\"result\":\"9-1\"", "'9-1' is not a result");
    swapped("time_forfeit", "boredom", "'boredom' is not one of");
    swapped("e8e7", "e8e9", "line 4: pair 1, game 1: moves");
    swapped("\"half\":1", "\"half\":0", "line 5: is in games twice");
    swapped("\"blob\":\"", "\"blob\":\"AAAA", "transcript of pair 0");
    refused(&without("\"table\":\"pairs\""), "line 3: is in games before its parent");
    let long = format!("{head}{}", "9".repeat((64 << 20) + 1));
    refused(&long, "too long");
    let import = |judged: Result<(), String>, is_fit: bool| {
        let check = |run: &str| if is_fit { Ok(()) } else { Err(store.schedule_mismatch(run, 3)) };
        store.import_run(&mut text.as_bytes(), None, &|_| judged.clone(), &check)
    };
    let never = import(Err("dull".into()), true).unwrap_err().to_string();
    assert_eq!(never, "line 4: pair 1, game 1: dull");
    let never = import(Ok(()), false).unwrap_err().to_string();
    assert!(never.contains("pair 3"), "{never}");
    assert_eq!(store.runs().unwrap(), []);
    import(Ok(()), true).unwrap();
}

#[test]
fn imports_with_hidden_characters_or_too_many_games_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = filled(dir.path());
    let text = without_checksums(&exported(&store, "run"));
    let text = text.replacen("\"format\":14", "\"format\":13", 1);
    let (host, pairs) = ("\\\"host\\\":\\\"", "\\\"pairs\\\":500");
    let (end, remark) =
        ("{\"table\":\"end", "{\"table\":\"remarks\",\"row\":{\"run\":\"run\",\"what\":\"");
    let remark = format!("{remark}{}\"}}}}\n{end}", "x".repeat(16 << 20));
    let many = text.replacen(end, &remark, 1);
    let (name, long) = ("\\\"name\\\":\\\"", "a".repeat(201));
    let swiss = text.replacen("round-robin", "swiss", 1);
    for (text, from, to, part) in [
        (&text, "\"about\":\"", "\\u001b[2J", "line 2: about of runs contains hidden"),
        (&text, "no-mobility", "\u{202e}", "line 2: plan of runs contains hidden"),
        (&text, host, "\\\\n", "line 2: plan of runs contains hidden"),
        (&text, name, &*long, "contains the invalid name"),
        (&text, "\"detail\":\"", "\\n", "line 4: detail of games contains hidden"),
        (&many, "\"what\":\"", "x", "remarks, set_aside, gates have more than 16 MiB"),
        (&swiss, pairs, "0000000", "a swiss can have at most 10000000 pairs"),
    ] {
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, &format!("{from}{to}"), 1);
        let imported =
            store.import_run(&mut text.as_bytes(), Some("copy"), &|_| Ok(()), &|_| Ok(()));
        let error = imported.unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn an_imported_run_names_no_files() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [store, other] = dirs.each_ref().map(|dir| Store::create(dir.path()).unwrap());
    let mut plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
    (plan.pgn, plan.epd) = (Some("/a.pgn".into()), Some("/a.epd".into()));
    plan.engines[1].launch.stderr = Some("/a.log".into());
    let mut prints =
        Fingerprints { engines: vec![EngineHashes::default(); 2], ..Default::default() };
    prints.quarantine.faults.push("line 1: a\tb".into());
    store.begin_run("run", 0, &plan, &prints, Offsets { pgn: 3, epd: 4 }, None).unwrap();
    let (file, hash) = ("/a.pgn".into(), "z".to_owned());
    store.note_written("run", &FilePrefix { file, pairs: 1, end: 9, hash }).unwrap();
    let text = exported(&store, "run");
    assert!(text.contains("\"table\":\"written\"") && text.contains("/a.log"));
    other.import_run(&mut text.as_bytes(), None, &|_| Ok(()), &|_| Ok(())).unwrap();
    let stored = other.run("run").unwrap();
    assert_eq!((stored.plan.pgn, stored.plan.epd, stored.offsets.pgn), (None, None, 0));
    assert!(stored.plan.engines.iter().all(|engine| engine.launch.stderr.is_none()));
    assert_eq!(stored.fingerprints.quarantine.faults, ["line 1: a\\u{9}b"]);
    assert_eq!(other.number("SELECT count(*) FROM written", []).unwrap(), 0);
}

#[test]
fn imported_gates_are_shown_only_for_their_run_and_never_replace_own_gates() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [store, other] = dirs.each_ref().map(|dir| Store::create(dir.path()).unwrap());
    let mut plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
    let (repo, revision, commit) = ("/r".into(), "HEAD".to_owned(), "abc".to_owned());
    let built = Provenance { repo, revision, commit, is_dirty: false, bench: None };
    plan.engines[0].provenance = Some(built);
    let prints = Fingerprints { engines: vec![EngineHashes::default(); 2], ..Default::default() };
    let add = |store: &Store, run: &str, created_ms, text: &str| {
        store.begin_run(run, 0, &plan, &prints, Offsets::default(), None).unwrap();
        let outcome = GateOutcome {
            gate: "quick".into(),
            kind: GateKind::Perft,
            verdict: GateVerdict::Passed,
            text: text.to_owned(),
            code: 0,
            seconds: 1.0,
            figures: serde_json::json!({ "faults": { "a": text } }),
            from_before: None,
        };
        let gate = StoredGate { created_ms, test: "abc".into(), base: None, outcome };
        store.add_gate("k", &gate).unwrap();
    };
    add(&store, "foreign", 9, "for\n\u{1b}ged");
    add(&other, "own", 1, "measured");
    // The file is of the first format, without checksums.
    let text = without_checksums(&exported(&store, "foreign"));
    let text = text.replacen("\"format\":14", "\"format\":13", 1);
    other.import_run(&mut text.as_bytes(), None, &|_| Ok(()), &|_| Ok(())).unwrap();
    let texts = |run: &str| {
        let gates = other.gates_for_run(run).unwrap();
        gates.into_iter().map(|gate| gate.outcome.text).collect::<Vec<_>>()
    };
    assert_eq!(
        (texts("own"), texts("foreign")),
        (vec!["measured".into()], vec!["for \\u{1b}ged".into(), "measured".into()])
    );
    let figures = &other.gates_for_run("foreign").unwrap()[0].outcome.figures;
    assert_eq!(figures["faults"]["a"], "for\\u{a}\\u{1b}ged");
    assert!(!exported(&other, "own").contains("ged"));
    assert_eq!(other.gates(None).unwrap().len(), 1);
    let nameless = text.replacen("\"step\":\"quick\"", "\"step\":\"\u{2800}\"", 1);
    let error = other.import_run(&mut nameless.as_bytes(), Some("copy"), &|_| Ok(()), &|_| Ok(()));
    assert!(error.unwrap_err().to_string().contains("step of gates is not a name"));
    other.remove_run("foreign").unwrap();
    assert_eq!(other.number("SELECT count(*) FROM gates", []).unwrap(), 1);
    // Earlier builds imported all gates under this key.
    other.execute("UPDATE gates SET key = 'imported'", []).unwrap();
    assert_eq!((texts("own"), other.gates(None).unwrap()), (vec![], vec![]));
}

/// Returns a game of `plies` plies in which Black reports these evaluations, in centipawns.
fn judged(plies: usize, scores: &[i32]) -> GameRecord {
    let uci: shakmaty::uci::UciMove = "e8e7".parse().unwrap();
    let scores = scores.iter().map(|score| Some(arbiter_protocol::Score::Centipawns(*score)));
    let searches = scores.map(|score| Some(SearchInfo { score, ..SearchInfo::default() }));
    let book = MoveRecord { uci, search: None };
    let moves = searches.flat_map(|search| [MoveRecord { uci, search }, book.clone()]);
    let mut moves: Vec<_> = moves.collect();
    moves.resize(plies, book.clone());
    GameRecord { moves, transcript: None, ..game() }
}

#[test]
fn games_are_listed_by_query() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = filled(dir.path());
    // Evaluations are limited to ten pawns.
    let games = [judged(9, &[20, -130, -110]), judged(30, &[0, 900, 5_000]), judged(4, &[7])];
    for (pair, first) in (1..).zip(games) {
        let pairing = Pairing { pair, engines: [0, 1], opening: 10 * pair };
        let played = PlayedPair { pairing, games: Games { first, second: Some(game()) } };
        store.append("run", &played, None, None).unwrap();
    }
    let found = |query: GameQuery, first, count| {
        let games = store.games("run", &query, GamePart::Page { first, count }).unwrap();
        games.iter().map(|game| (game.place(), game.number, game.total)).collect::<Vec<_>>()
    };
    let all = GameQuery::default();
    assert_eq!(found(all.clone(), 3, 2), [("2.1".into(), 3, 8), ("2.2".into(), 4, 8)]);
    assert_eq!(found(all.clone(), 9, 100), []);
    let only = |query: GameQuery| {
        found(query, 1, 100).into_iter().map(|(place, ..)| place).collect::<Vec<_>>()
    };
    assert_eq!(only(GameQuery { min_swing: Some(151), ..all.clone() }), ["3.1"]);
    assert_eq!(only(GameQuery { min_swing: Some(150), ..all.clone() }), ["2.1", "3.1"]);
    let few = GameQuery { min_plies: Some(4), max_plies: Some(9), ..all.clone() };
    assert_eq!(only(few), ["2.1", "4.1"]);
    assert_eq!(only(GameQuery { openings: Some(vec![30, 7]), ..all.clone() }), ["4.1", "4.2"]);
    assert_eq!(only(GameQuery { engine: Some(2), ..all.clone() }), [""; 0]);
    assert_eq!(only(GameQuery { ending: Some(Termination::Crash), ..all.clone() }), [""; 0]);
    let late = GameQuery { ending: Some(Termination::TimeForfeit), engine: Some(1), ..all.clone() };
    assert_eq!(only(late).len(), 8);
    let swing = GameQuery { order: GameOrder::Swing, ..all.clone() };
    assert_eq!(only(swing.clone())[..2], ["3.1", "2.1"]);
    assert_eq!(only(GameQuery { order: GameOrder::Length, ..all.clone() })[..2], ["3.1", "2.1"]);
    let around = |query: &GameQuery, (pair, half)| {
        let games = store.games("run", query, GamePart::Around(pair, half)).unwrap();
        games.iter().map(ListedGame::place).collect::<Vec<_>>()
    };
    assert_eq!(around(&all, (1, 1)), ["2.1", "2.2", "3.1"]);
    assert_eq!(around(&swing, (2, 0)), ["3.1", "2.1"]);
    assert_eq!(around(&GameQuery { min_swing: Some(151), ..all.clone() }, (1, 0)), [""; 0]);
    let games = store.games("run", &all, GamePart::Page { first: 5, count: 1 }).unwrap();
    assert_eq!((games[0].opening, games[0].plies, games[0].swing), (20, 30, Some(900)));
    assert_eq!(store.openings("run").unwrap(), [(0, 0), (10, 1), (20, 2), (30, 3)]);
}

/// Returns a store that another program has changed with an SQL statement.
fn changed(sql: &str) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()));
    Connection::open(dir.path().join(FILE_NAME)).unwrap().execute_batch(sql).unwrap();
    let store = Store::open(dir.path()).unwrap();
    (dir, store)
}

#[test]
fn endless_queries_of_a_foreign_store_are_ended() {
    let (_dir, store) = changed("");
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let many = store.rows(&format!("{endless} SELECT i FROM n"), [], |row| row.get::<_, i64>(0));
    let long = store.number(&format!("{endless} SELECT count(*) FROM n"), []);
    for error in [many.map(drop).unwrap_err(), long.map(drop).unwrap_err()] {
        assert!(
            matches!(&error, StoreError::Damaged { found, .. } if found.contains("no end")),
            "{error}"
        );
    }
    assert_eq!(store.runs().unwrap().len(), 1, "the next one has a limit of its own");
}

#[test]
fn views_and_triggers_of_a_foreign_store_do_nothing() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT hidden.* FROM hidden, n";
    for select in ["SELECT * FROM hidden", endless] {
        let view = format!("ALTER TABLE runs RENAME TO hidden; CREATE VIEW runs AS {select}");
        let (dir, store) = changed(&view);
        assert!(store.runs().is_err(), "{select}");
        assert!(Store::observe(dir.path()).unwrap().outlines().is_err(), "{select}");
    }
    let trigger = "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM games; END";
    let (_dir, store) = changed(trigger);
    store.execute("UPDATE runs SET about = 'x'", []).unwrap();
    assert_eq!(store.number("SELECT count(*) FROM games", []).unwrap(), 2);
}

#[test]
fn values_of_a_foreign_store_are_limited_in_length() {
    let (_dir, store) = changed("UPDATE runs SET about = CAST(zeroblob(70000000) AS TEXT)");
    let error = store.outlines().unwrap_err().to_string();
    assert!(error.contains("too big"), "{error}");
}
