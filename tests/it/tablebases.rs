//! Tests of games that tablebases decide, with real tables if available.

use std::path::{Path, PathBuf};

use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput};
use crate::support::snapshot::expect_next;

/// Returns the folders of tables for four pieces, from `SYZYGY_PATH` or beside the repository.
/// Prints a notice if there are none.
fn tables() -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/syzygy");
    let found = match std::env::var("SYZYGY_PATH") {
        Ok(path) => Some(path),
        Err(_) => folders(&beside),
    };
    if found.is_none() {
        eprintln!(
            "\n*** SKIPPED: no Syzygy tables; set SYZYGY_PATH to folders of 3-4-5 tables ***\n"
        );
    }
    found
}

/// Returns the folders in `place` that contain tables.
fn folders(place: &Path) -> Option<String> {
    let inner = std::fs::read_dir(place).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let with_tables: Vec<PathBuf> =
        inner.filter(|folder| folder.join("KQvK.rtbw").is_file()).collect();
    let joined = std::env::join_paths(with_tables).ok()?.into_string().ok()?;
    Some(joined).filter(|joined| !joined.is_empty())
}

/// Returns a pair from one position. In the positions below, no move of the side to move changes
/// the result.
fn pair<'a>(bench: &'a Bench, position: &str) -> Plan<'a> {
    let book = bench.write("endgame.epd", format!("{position}\n"));
    Plan::new(bench, "match", 1)
        .puppet("A", "--seed 1")
        .puppet("B", "--seed 2")
        .set("openings", book.display())
        .set("max-moves", 90)
}

const WON: &str = "4k3/8/8/8/8/8/8/KQ6 b - - 0 80";
const DRAWN: &str = "k6n/8/8/8/8/8/4B3/K7 w - - 0 80";
/// Won position in which the fifty-move rule applies before the win.
const TOO_LATE: &str = "4k3/8/8/8/8/8/8/KQ6 b - - 97 80";

#[track_caller]
fn check(played: &RunOutput, plies: usize, results: [&str; 2], comment: &str) {
    let games = played.games();
    assert_eq!(games.len(), 2);
    for (game, result) in games.iter().zip(results) {
        assert_eq!(game.result, result);
        assert_eq!(game.moves.len(), plies, "{:?}", game.moves);
        assert_eq!(game.tag("Termination"), "adjudication");
    }
    assert_eq!(played.pgn.matches(comment).count(), 2, "{}", played.pgn);
}

#[test]
fn tablebases_end_won_and_drawn_games() {
    let Some(tables) = tables() else { return };
    let won = "White wins by adjudication: Syzygy tables";
    let bench = Bench::new();
    let played = pair(&bench, WON).set("syzygy", &tables).expect_output(0);
    check(&played, 1, ["1-0", "1-0"], won);
    assert_eq!(played.report.ended_by("tablebase_adjudication"), 2);
    let drawn = "draw by adjudication: Syzygy tables";
    let bench = Bench::new();
    check(&pair(&bench, DRAWN).set("syzygy", &tables).expect_output(0), 1, ["1/2-1/2"; 2], drawn);
    let bench = Bench::new();
    check(
        &pair(&bench, TOO_LATE).set("syzygy", &tables).expect_output(0),
        1,
        ["1/2-1/2"; 2],
        drawn,
    );
    let bench = Bench::new();
    let ignoring = pair(&bench, TOO_LATE).set("syzygy", &tables).set("syzygy ignore-50", true);
    check(&ignoring.expect_output(0), 1, ["1-0", "1-0"], won);
}

#[test]
fn positions_outside_the_tablebase_rule_are_played_on() {
    let Some(tables) = tables() else { return };
    let on = |position: &str, flag: &str, value: &str| {
        let bench = Bench::new();
        let plan = pair(&bench, position).set("syzygy", &tables).set("max-moves", 82);
        let played = plan.set(flag, value).expect_output(0);
        assert!(!played.pgn.contains("Syzygy"), "{}", played.pgn);
        assert!(played.games().iter().all(|game| game.moves.len() > 1));
    };
    on(WON, "syzygy adjudicate", "draws");
    on(WON.replace("8/KQ6", "P7/KQ6").as_str(), "syzygy pieces", "3");
    on(DRAWN, "syzygy adjudicate", "wins");
}

#[test]
fn the_file_names_tables_and_a_resumed_run_finds_them() {
    let Some(tables) = tables() else { return };
    let bench = Bench::new();
    let text = format!(
        "[syzygy]\ndirs = [{}]\npieces = 4\nignore-50 = true\nadjudicate = 'wins'",
        std::env::split_paths(&tables).map(|f| format!("{f:?}")).collect::<Vec<_>>().join(", ")
    );
    let file = bench.write("our.toml", text);
    let plan = pair(&bench, TOO_LATE).set("config", file.display());
    let finished = plan.run().expect_code(0);
    expect_next(&finished.stderr.replace(&tables, "TABLES"));
    check(
        &RunOutput::read(&bench, &finished),
        1,
        ["1-0", "1-0"],
        "White wins by adjudication: Syzy",
    );
    let results = bench.path("results");
    let results = results.to_str().expect("the name is ours");
    let again = bench.arbiter(["match", "--resume", "run", "--results", results]).finish();
    again.expect_code(0);
}

#[test]
fn without_tables_there_is_no_run() {
    let bench = Bench::new();
    let nowhere = bench.path("nowhere").display().to_string();
    pair(&bench, WON).set("syzygy", &nowhere).run().expect_error(3);
    let empty = bench.path("results").display().to_string();
    std::fs::create_dir_all(&empty).expect("the folder can be made");
    pair(&bench, WON).set("syzygy", &empty).run().expect_error(3);
    pair(&bench, WON).set("syzygy pieces", 5).run().expect_error(3);
    let file = bench.write("our.toml", "[syzygy]\ndirs = 'x'\nadjudicate = 'all'");
    let plan = pair(&bench, WON).set("config", file.display());
    plan.run().expect_error(3);
}
