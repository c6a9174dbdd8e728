//! Tests of reports as documents: their content, their independence of other files, and invalid
//! requests.

use std::fs;

use crate::support::bench::{Bench, Finished};
use crate::support::phrases;
use crate::support::plan::Plan;
use crate::support::site::outline;
use crate::support::snapshot::{expect_next, line_with};
use crate::support::store;

const PAIRS: usize = 6;

/// Plays a run of puppets with random moves.
fn play_random(bench: &Bench, command: &'static str, engines: usize) -> Finished {
    // Without a move limit, some games are won.
    let mut plan = Plan::new(bench, command, PAIRS).unset("max-moves");
    for engine in 0..engines {
        plan = plan.puppet(&format!("P&{engine}"), &format!("--seed {}", engine + 11));
    }
    plan.run()
}

fn report(bench: &Bench, args: &[&str]) -> Finished {
    let results = bench.path("results").display().to_string();
    let args = [&["report", "--results", &results], args].concat();
    bench.arbiter(args).finish()
}

#[test]
fn estimates_without_an_interval_have_no_chart() {
    let bench = Bench::new();
    let bad = "--mode illegal-move --after 3";
    Plan::new(&bench, "match", 2).puppet("good", "--seed 1").puppet("bad", bad).run();
    let out = bench.path("run.html").display().to_string();
    report(&bench, &["run", "--out", &out]).expect_code(0);
    let page = bench.read("run.html");
    expect_next(&outline(&page));
    // Besides the charts, the page has a head with a picture of each figure, and the boards of
    // openings. Games of three moves have no charts of clocks and depths.
    let charts = page.matches("class=\"wide\"").count() + page.matches("class=\"small\"").count();
    assert_eq!(charts, page.matches(phrases::FIGURES).count());
    assert!(charts > 4 && charts < page.matches("<figure>").count() - 1, "{charts} charts");
}

#[test]
fn a_page_holds_all_and_needs_nothing() {
    let bench = Bench::new();
    play_random(&bench, "sprt", 2);
    let out = bench.path("run.html").display().to_string();
    report(&bench, &["run", "--out", &out]).expect_code(0);
    let page = bench.read("run.html");
    expect_next(&outline(&page));
    // Each chart is drawn, and its figures are also in a table.
    let figures = page.matches("<figure").count();
    assert!(figures >= 4, "{figures} figures");
    // Each chart has a drawing for wide and another for narrow screens, or one small drawing.
    let drawn = |class: &str| page.matches(&format!("<svg class=\"{class}\"")).count();
    assert_eq!(drawn("wide"), drawn("narrow"));
    // All figures are charts, except the boards of openings.
    assert_eq!(drawn("wide") + drawn("small"), figures - 1);
    assert_eq!(page.matches(phrases::FIGURES).count(), figures - 1);
    for reference in ["src=", "<link", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    // The same run gives the same page.
    report(&bench, &["run", "--out", &out]).expect_code(0);
    assert_eq!(bench.read("run.html"), page);
    bench.wait_until_quiet();
}

#[test]
fn the_llr_chart_matches_the_test() {
    let bench = Bench::new();
    let verdict = play_random(&bench, "sprt", 2).json();
    let text = report(&bench, &["run"]).expect_code(0).stdout;
    let table = text.split(phrases::LLR_COURSE).nth(1).expect("the figures of it");
    let rows: Vec<&str> = table.lines().skip_while(|line| !line.starts_with('|')).collect();
    let last = rows.iter().take_while(|line| line.starts_with('|')).last().expect("a last row");
    let cells: Vec<&str> = last.split('|').map(str::trim).collect();
    assert_eq!(cells[1], verdict["games"].to_string(), "{last}");
    let llr = verdict["llr"].as_f64().expect("an SPRT has a ratio");
    let shown: f64 = cells[2].parse().expect("a ratio");
    assert!((shown - llr).abs() <= 0.005, "{last}");
}

#[test]
fn a_tournament_has_ratings_and_all_engines() {
    let bench = Bench::new();
    play_random(&bench, "match", 3);
    let folder = bench.path("pages").display().to_string();
    report(&bench, &["run", "--out", &format!("{folder}/")]).expect_code(0);
    let page = bench.read("pages/run.html");
    expect_next(&outline(&page));
}

#[test]
fn only_counted_games_are_reported() {
    let bench = Bench::new();
    play_random(&bench, "match", 2);
    let results = bench.path("results");
    let text = report(&bench, &["run"]).expect_code(0).stdout;
    let games = 2 * store::pairs(&results).len();
    assert_eq!(games, 2 * PAIRS);
    expect_next(line_with(&text, &format!("{PAIRS} openings")));
}

#[test]
fn json_report_matches_the_run() {
    let bench = Bench::new();
    let run = play_random(&bench, "match", 2).json();
    let again = report(&bench, &["run", "--format", "json"]).expect_code(0).json();
    assert_eq!(again, run);
}

#[test]
fn impossible_reports_are_rejected() {
    let bench = Bench::new();
    report(&bench, &[]).expect_error(3);
    play_random(&bench, "match", 2);
    report(&bench, &["walk"]).expect_error(3);
    let notes = bench.write("notes.txt", "no games").display().to_string();
    report(&bench, &[&notes]).expect_error(3);
    report(&bench, &["run", "--out", "report.pdf"]).expect_error(2);
    report(&bench, &["run", "run"]).expect_error(2);
    let file = bench.path("one.html").display().to_string();
    report(&bench, &["run", "run", "--out", &file]).expect_error(2);
    let lost = bench.path("nowhere/run.html").display().to_string();
    report(&bench, &["run", "--out", &lost]).expect_error(7);
    // The old file is unchanged.
    let kept = bench.write("kept.html", "kept");
    let kept = kept.display().to_string();
    report(&bench, &["walk", "--out", &kept]).expect_error(3);
    assert_eq!(fs::read_to_string(&kept).expect("it is there"), "kept");
    bench.arbiter(["results", "rm", "run", "--yes"]).finish().expect_code(0);
    report(&bench, &["latest"]).expect_error(3);
    let listed = bench.arbiter(["results", "list"]).finish().expect_code(0);
    expect_next(&listed.stdout);
}

#[test]
fn games_of_a_file_have_a_report_too() {
    let bench = Bench::new();
    let run = play_random(&bench, "match", 3).json();
    let pgn = bench.path("games.pgn").display().to_string();
    let folder = format!("{}/", bench.path("pages").display());
    report(&bench, &[&pgn, "--out", &folder]).expect_code(0);
    let page = bench.read("pages/games.html");
    assert!(page.contains("<td>games.pgn</td>"), "{page}");
    expect_next(&outline(&page));
    let figures = page.matches("<figure").count();
    // Each chart has a drawing for wide and another for narrow screens, or one small drawing.
    let drawn = |class: &str| page.matches(&format!("<svg class=\"{class}\"")).count();
    assert_eq!(drawn("wide"), drawn("narrow"));
    assert_eq!(drawn("wide") + drawn("small"), figures);
    // Ratings and intervals equal those of the run.
    let text = report(&bench, &[&pgn, "--format", "json"]).expect_code(0).json();
    let standings = run["tournament"]["standings"].as_array().expect("a table");
    for player in text["players"].as_array().expect("players") {
        let standing = standings.iter().find(|row| row["engine"] == player["name"]);
        let standing = standing.expect("the same engines");
        for (key, other) in [("rating", "elo"), ("rating_low", "elo_low")] {
            let (Some(one), Some(two)) = (player[key].as_f64(), standing[other].as_f64()) else {
                continue;
            };
            assert!((one - two).abs() < 1e-3, "{key}: {player} {standing}");
        }
    }
    let csv = report(&bench, &[&pgn, "--format", "csv"]).expect_code(0).stdout;
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.starts_with("name,rating,rating_low,rating_high,games,score,"), "{csv}");
    report(&bench, &["lost.pgn"]).expect_error(3);
    std::fs::create_dir(bench.path("folder.pgn")).expect("a folder can be made");
    let folder = bench.path("folder.pgn").display().to_string();
    report(&bench, &[&folder]).expect_error(3);
    report(&bench, &[&pgn, "run"]).expect_error(2);
    let empty = bench.write("empty.pgn", "\n").display().to_string();
    report(&bench, &[&empty]).expect_error(4);
}

#[test]
fn a_file_of_games_gives_the_evaluations_of_the_store() {
    let bench = Bench::new();
    let engine = |name: &str, eval: &str| format!("name={name},cmd=bundled,eval={eval}");
    Plan::new(&bench, "match", 12)
        .engine(engine("palimpsest", "palimpsest"))
        .engine(engine("material", "material"))
        .set("each", "nodes=200")
        .run()
        .expect_code(0);
    let pgn = bench.path("games.pgn").display().to_string();
    let rows = |name: &str| -> Vec<String> {
        let text = report(&bench, &[name]).expect_code(0).stdout;
        let after = text.split(phrases::EVALUATIONS).nth(1).expect("a table");
        let rows = after.lines().skip_while(|line| !line.starts_with('|'));
        let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
        let mut rows: Vec<String> = rows.map(str::to_owned).collect();
        rows.sort();
        rows
    };
    let (of_store, of_file) = (rows("run"), rows(&pgn));
    assert!(of_store.len() > 6, "{of_store:#?}");
    assert_eq!(of_store, of_file);
}

#[test]
fn tables_of_one_tournament_agree() {
    let bench = Bench::new();
    play_random(&bench, "match", 3);
    let text = report(&bench, &["run"]).expect_code(0).stdout;
    let rows = |table: &str| -> Vec<Vec<String>> {
        let after = text.split(table).nth(1).unwrap_or_else(|| panic!("no {table} in {text}"));
        let rows = after.lines().skip_while(|line| !line.starts_with('|'));
        let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
        rows.map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
    };
    let standings = rows(phrases::RESULT);
    let cross = rows(phrases::CROSS_TABLE);
    assert_eq!((standings.len(), cross.len()), (3, 3), "{text}");
    for row in &cross {
        let standing =
            standings.iter().find(|standing| standing[2] == row[1]).expect("the same engine");
        let points = row[2..].iter().filter_map(|cell| cell.split(' ').next()?.parse::<f64>().ok());
        assert_eq!(standing[3], format!("{:.1}", points.sum::<f64>()), "{standing:?} {row:?}");
    }
    let results = bench.path("results").display().to_string();
    let list_args = ["results", "list", "--results", &results, "--format", "md"];
    let list = bench.arbiter(list_args).finish().expect_code(0).stdout;
    let is_named =
        |standing: &Vec<String>| list.contains(&format!("| {} {} ", standing[2], standing[4]));
    assert_eq!(
        standings.iter().filter(|standing| is_named(standing)).count(),
        1,
        "{standings:?} {list}"
    );
}

#[test]
fn reports_of_single_won_games_have_no_empty_section() {
    let bench = Bench::new();
    Plan::new(&bench, "match", 4)
        .engine("name=palimpsest,cmd=bundled,eval=palimpsest".to_owned())
        .engine("name=material,cmd=bundled,eval=material".to_owned())
        .set("each", "nodes=1000")
        .unset("max-moves")
        .switch("noswap")
        .run()
        .expect_code(0);
    let text = report(&bench, &["run"]).expect_code(0).stdout;
    assert!(text.contains("| 4     | 4   | 0     | 0 "), "all are to be won: {text}");
    let mut lines = text.lines().filter(|line| !line.is_empty()).peekable();
    while let Some(line) = lines.next() {
        let is_next_heading = lines.peek().is_none_or(|next| next.starts_with("## "));
        assert!(!(line.starts_with("## ") && is_next_heading), "{line}: {text}");
    }
}
