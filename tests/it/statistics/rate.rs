//! Tests of `arbiter rate`: ratings from files of games in any state.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;

use super::assert_sound;
use crate::support::bench::{Bench, Finished};
use crate::support::plan::Plan;
use crate::support::snapshot::expect_next;

const OPENINGS: [&str; 5] = ["e4", "d4", "c4", "Nf3", "g3"];

/// Returns a game with a tag for each pair of words.
fn game_of(tags: &[(&str, &str)], moves: &str) -> String {
    let tags: String = tags.iter().map(|(key, value)| format!("[{key} \"{value}\"]\n")).collect();
    format!("{tags}\n{moves}\n\n")
}

fn game(white: &str, black: &str, opening: &str, result: &str) -> String {
    let tags = [("White", white), ("Black", black), ("Result", result)];
    game_of(&tags, &format!("1. {opening} {{+0.10/9 0.5s}} e5 {{-0.10/9 1.5s}} {result}"))
}

/// Returns a pair with the scores of the first player, with White and with Black.
fn pair(first: &str, second: &str, opening: &str, scores: [f64; 2]) -> String {
    let word = |score: f64| match score {
        0.0 => "0-1",
        1.0 => "1-0",
        _ => "1/2-1/2",
    };
    let with_white = game(first, second, opening, word(scores[0]));
    with_white + &game(second, first, opening, word(1.0 - scores[1]))
}

/// Returns games of three engines, of which each scores 75 % against the next, and the first 90 %
/// against the last: odds of 3, 3 and 9, which ratings fit exactly.
pub fn table() -> String {
    let mut text = String::new();
    for (first, second) in [("Ada", "Bo Lind"), ("Bo Lind", "Cy")] {
        text += &pair(first, second, "e4", [1.0, 1.0]);
        text += &pair(first, second, "d4", [1.0, 0.0]);
    }
    for opening in &OPENINGS[..4] {
        text += &pair("Ada", "Cy", opening, [1.0, 1.0]);
    }
    text + &pair("Ada", "Cy", OPENINGS[4], [0.5, 0.5])
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

fn zstd(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

/// Rates one file with these contents.
fn rate_with(contents: impl AsRef<[u8]>, flags: &[&str]) -> Finished {
    let bench = Bench::new();
    bench.write("games", contents);
    bench.arbiter(["rate", "games"].iter().chain(flags)).finish()
}

#[track_caller]
fn text_of(contents: impl AsRef<[u8]>) -> String {
    let finished = rate_with(contents, &[]).expect_code(0);
    assert_eq!(finished.stderr, "");
    assert_sound(&finished.stdout);
    finished.stdout
}

#[track_caller]
fn json_of(contents: impl AsRef<[u8]>, flags: &[&str]) -> Value {
    let flags: Vec<&str> = flags.iter().copied().chain(["--format", "json"]).collect();
    let finished = rate_with(contents, &flags).expect_code(0);
    assert_sound(&finished.stdout);
    finished.json()
}

/// Asserts the ratings, best first.
#[track_caller]
fn assert_ratings(json: &Value, expected: [(&str, f64); 3]) {
    let players = json["players"].as_array().expect("a list of players");
    assert_eq!(players.len(), 3, "{json:#}");
    for (player, (name, rating)) in players.iter().zip(expected) {
        assert_eq!(player["name"], name, "{json:#}");
        let got = player["rating"].as_f64().expect("a rating");
        assert!((got - rating).abs() < 1e-6, "{name}: {got}, not {rating}");
        let [low, high] = ["rating_low", "rating_high"].map(|key| player[key].as_f64());
        assert!(low < Some(got) && Some(got) < high, "{player:#}");
    }
}

#[test]
fn ratings_reproduce_the_scores() {
    let found = json_of(table(), &["--law", "scores", "--advantage", "0"]);
    assert_eq!(found["schema"], "arbiter.rate/3");
    let step = 400.0 * 3f64.log10();
    assert_ratings(&found, [("Ada", step), ("Bo Lind", 0.0), ("Cy", -step)]);
    for (key, count) in [("games", 18), ("pairs", 9), ("plies", 36), ("rejected_games", 0)] {
        assert_eq!(found[key], count, "{key} in {found:#}");
    }
    let ada = &found["players"][0];
    for (key, count) in [("games", 14), ("wins", 11), ("draws", 2), ("losses", 1)] {
        assert_eq!(ada[key], count, "{key} in {ada:#}");
    }
    let score = ada["white"]["score"].as_f64();
    assert!(score.is_some_and(|score| (score - 6.5 / 7.0).abs() < 1e-12), "{ada:#}");
    assert_eq!(ada["time_per_move_ms"], 1000.0, "half its moves took 0.5 s, half 1.5 s");
    let encounters = found["encounters"].as_array().expect("a list of encounters");
    let pentanomials: Vec<String> =
        encounters.iter().map(|encounter| encounter["pentanomial"].to_string()).collect();
    assert_eq!(pentanomials, ["[0,0,1,0,1]", "[0,0,1,0,4]", "[0,0,1,0,1]"]);
    let anchored = ["--law", "scores", "--advantage", "0", "--anchor", "Bo Lind=2500"];
    let found = json_of(table(), &anchored);
    let ratings: Vec<Option<f64>> =
        (0..3).map(|n| found["players"][n]["rating"].as_f64()).collect();
    let [Some(first), Some(second), Some(third)] = ratings[..] else { panic!("{found:#}") };
    assert!((first - 2500.0 - step).abs() < 1e-6 && second == 2500.0, "{found:#}");
    assert!((third - 2500.0 + step).abs() < 1e-6, "{found:#}");
}

#[test]
fn people_get_tables() {
    expect_next(&text_of(table()));
}

#[test]
fn compression_changes_nothing() {
    let plain = text_of(table());
    let json = json_of(table(), &[]);
    for packed in [gzip(&table()), zstd(&table())] {
        assert_eq!(text_of(&packed), plain);
        assert_eq!(json_of(&packed, &[]), json);
    }
    assert_eq!(text_of(table().replace('\n', "\r\n")), plain);
    let threads = rate_with(table(), &["--threads", "1"]).expect_code(0);
    assert_eq!(threads.stdout, plain);
}

#[test]
fn all_parts_of_a_file_are_read() {
    let text_of = |contents: &[u8]| rate_with(contents, &["--copies", "all"]).expect_code(0).stdout;
    let twice = text_of(table().repeat(2).as_bytes());
    expect_next(&twice);
    let (gz, zst) = (gzip(&table()), zstd(&table()));
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0][..], b"??"].concat();
    for packed in [gz.repeat(2), zst.repeat(2), [skipped, zst.repeat(2)].concat()] {
        assert_eq!(text_of(&packed), twice);
    }
    let bench = Bench::new();
    bench.write("a.pgn", table());
    bench.write("b.pgn.gz", gzip(&table()));
    let both = bench.arbiter(["rate", "a.pgn", "b.pgn.gz", "--copies", "all"]);
    let both = both.finish().expect_code(0);
    let figures = |shown: &str| -> Vec<String> {
        shown.lines().filter(|line| !line.starts_with("│ file ")).map(str::to_owned).collect()
    };
    assert_eq!(figures(&both.stdout), figures(&twice));
}

#[test]
fn copies_count_once_unless_all_are_wanted() {
    let bench = Bench::new();
    bench.write("a.pgn", table());
    bench.write("b.pgn", table());
    let rate = |flags: &[&str]| {
        let finished = bench.arbiter(["rate", "a.pgn", "b.pgn"].iter().chain(flags)).finish();
        finished.expect_code(0)
    };
    expect_next(&rate(&[]).stdout);
    let once = rate(&["--format", "json"]).json();
    assert_eq!((&once["games"], &once["copies"]), (&18.into(), &18.into()));
    assert_eq!(once["players"], json_of(table(), &[])["players"]);
    let all = rate(&["--copies", "all", "--format", "json"]).json();
    assert_eq!((&all["games"], &all["copies"]), (&36.into(), &0.into()));
}

#[test]
fn own_games_are_read_in_each_notation_with_all_fields() {
    for notation in ["san", "lan", "uci"] {
        let bench = Bench::new();
        let plan =
            Plan::new(&bench, "match", 4).set("pgn notation", notation).set("pgn fields", "all");
        plan.puppet("A", "--mode good --seed 1")
            .puppet("B", "--mode good --seed 2")
            .expect_output(0);
        let rate = bench.arbiter(["rate", "games.pgn", "--verify", "--format", "json"]);
        let rated = rate.finish().expect_code(0).json();
        let count = |key: &str| rated[key].as_u64().unwrap_or_default();
        assert_eq!(
            (count("rejected_games"), count("games") + count("copies")),
            (0, 8),
            "{rated:#}"
        );
        let samples = ["samples", "--pgn", "games.pgn", "--out", "samples.txt", "--from-ply", "0"];
        let samples = bench.arbiter(samples).finish().expect_code(0);
        assert!(!samples.stderr.contains("ignored"), "{notation}: {}", samples.stderr);
    }
}

#[test]
fn bad_games_are_counted_and_named() {
    let tags = |result| [("White", "Ada"), ("Black", "Cy"), ("Result", result)];
    let with_variant = [&tags("1-0")[..], &[("Variant", "Atomic")]].concat();
    let bad = [
        (game("Ada", "Cy", "e4", "*"), "no result", "Ada - Cy *"),
        (game("Cy", "Cy", "e4", "1-0"), "one player on both sides", "Cy - Cy 1-0"),
        (game("?", "Cy", "e4", "1-0"), "no player name", "? - Cy 1-0"),
        (game_of(&tags("1-0"), "1. e4 0-1"), "contradicting results", "Ada - Cy 1-0"),
        (game_of(&with_variant, "1. e4 1-0"), "another variant", "Ada - Cy 1-0"),
        (
            game_of(&tags("1-0"), "1. e4 {no end 1-0"),
            "unclosed comment or variation",
            "Ada - Cy 1-0",
        ),
    ];
    let good = json_of(table(), &[]);
    for (game, reason, title) in &bad {
        let found = json_of(table() + game, &[]);
        assert_eq!(found["games"], 18, "{reason}: {found:#}");
        assert_eq!(found["rejected_games"], 1);
        assert_eq!(found["rejected_reasons"][reason], 1, "{found:#}");
        assert_eq!(found["rejected_examples"][0]["game"], 19);
        assert_eq!(found["rejected_examples"][0]["title"], *title);
        assert_eq!(found["players"], good["players"], "{reason}");
    }
    let all: String = bad.iter().map(|(game, ..)| game.as_str()).collect();
    // Bad games come first, because they must not affect later games.
    expect_next(&text_of(all + &table()));
}

#[test]
fn a_perfect_score_is_a_bound() {
    let with = |scores| table() + &pair("Bo Lind", "Dan", "e4", scores);
    let bound = |scores| {
        let found = json_of(with(scores), &[]);
        let players = found["players"].as_array().expect("a list of players");
        let dan = players.iter().find(|player| player["name"] == "Dan").expect("he is listed");
        assert!(dan["rating"].is_f64(), "{dan:#}");
        dan["bound"].clone()
    };
    assert_eq!(bound([1.0, 1.0]), "upper");
    assert_eq!(bound([0.0, 0.0]), "lower");
    assert_eq!(bound([1.0, 0.0]), Value::Null);
    expect_next(&text_of(with([1.0, 1.0])));
    // With two players, the bounds are the bounds of the rating difference, here for a score of √½.
    let only = pair("Ada", "Cy", "e4", [1.0, 1.0]);
    expect_next(&text_of(&only));
    expect_next(&rate_with(&only, &["--elostat"]).stdout);
    // Bo Lind beats one of them and loses to the other.
    let row = only.clone() + &pair("Ada", "Bo Lind", "e4", [1.0, 1.0]);
    expect_next(&text_of(row + &pair("Bo Lind", "Cy", "e4", [1.0, 1.0])));
    expect_next(&text_of(only + &pair("Di", "Eve", "e4", [1.0, 1.0])));
}

#[test]
fn all_drawn_games_have_no_interval() {
    let drawn = pair("Ada", "Cy", "e4", [0.5, 0.5]).repeat(4);
    expect_next(&text_of(&drawn));
    let found = json_of(&drawn, &[]);
    assert!(found["white_advantage_error"].is_null(), "{found:#}");
    let cy = &found["players"][1];
    assert!(cy["rating"] == 0.0 && cy["rating_error"].is_null(), "{cy:#}");
    // Other laws have separate keys and headings.
    let davidson = json_of(&drawn, &["--law", "davidson"]);
    let cy = &davidson["players"][1];
    assert!(cy["rating_davidson"] == 0.0 && cy["rating_davidson_error"].is_null(), "{cy:#}");
    assert!(cy.get("rating").is_none(), "{cy:#}");
    let shown = rate_with(&drawn, &["--law", "rao-kupper"]).stdout;
    assert!(shown.contains("Elo by rao-kupper (95 %)"), "{shown}");
}

#[test]
fn control_characters_and_formulas_in_names_are_escaped() {
    let text =
        pair("A\u{202e}dA", "=1+1", "e4", [1.0, 0.5]) + &game("A\u{1b}[2J", "=1+1", "e4", "*");
    for form in ["text", "md", "json"] {
        let shown = rate_with(&text, &["--format", form]).expect_code(0).stdout;
        let is_bad = |c: char| matches!(c, '\u{202e}' | '\u{1b}');
        assert!(!shown.contains(is_bad) && shown.contains("u{202e}dA"), "{shown:?}");
    }
    let shown = rate_with(&text, &["--format", "csv"]).expect_code(0).stdout;
    assert!(shown.contains("\n'=1+1,-"), "{shown}");
}

#[test]
fn files_without_a_game_that_counts() {
    for contents in [Vec::new(), gzip(""), zstd(""), b"\n\n\n".to_vec()] {
        rate_with(contents, &[]).expect_error(4);
    }
    rate_with(game("Ada", "Cy", "e4", "*").repeat(2), &[]).expect_error(4);
    rate_with("notes, not games\n", &[]).expect_error(4);
    rate_with([0u8; 1000], &[]).expect_error(4);
}

#[test]
fn files_that_cannot_be_read() {
    let bench = Bench::new();
    let refused = |path: &Path| {
        bench.arbiter([Path::new("rate"), path]).finish().expect_error(3);
    };
    refused(Path::new("/no/such/file.pgn"));
    refused(&bench.path(""));
    for (name, packed) in [("cut.gz", gzip(&table())), ("cut.zst", zstd(&table()))] {
        refused(&bench.write(name, &packed[..packed.len() / 2]));
    }
    refused(&bench.write("bad.gz", b"\x1f\x8bno gzip at all"));
    refused(&bench.write("bad.zst", b"\x28\xb5\x2f\xfdno frame at all"));
    bench.write("good.pgn", table());
    let finished = bench.arbiter(["rate", "good.pgn", "missing.pgn"]).finish();
    finished.expect_error(3);
    bench.arbiter(["rate"]).finish().expect_code(2);
}

#[test]
fn a_small_file_cannot_become_a_huge_game() {
    let packed = gzip(&" ".repeat(80 << 20));
    assert!(packed.len() < 1 << 20);
    rate_with(packed, &[]).expect_error(3);
}

#[test]
fn flags_that_make_no_sense() {
    for (code, flags) in [
        (2, &["--anchor", "Ada"][..]),
        (2, &["--prior", "Ada=5:0"]),
        (2, &["--law", "of-the-jungle"]),
        (3, &["--anchor", "Nobody=5"]),
        (3, &["--anchor", "Ada=5", "--anchor", "Ada=6"]),
        (2, &["--draw-ratio", "1"]),
        (2, &["--draw-ratio", "NaN"]),
        (2, &["--prior-draws", "inf"]),
        (2, &["--advantage", "NaN"]),
        (2, &["--average", "inf"]),
        (3, &["--include", "Ad"]),
        (3, &["--exclude", "Bo"]),
        (4, &["--include", "Ada"]),
        (3, &["--alias", "Ada=Cy", "--alias", "Cy=Ada"]),
        (3, &["--alias", "Ada=Cy", "--alias", "Bo Lind=Cy"]),
        (3, &["--threads", "0"]),
    ] {
        rate_with(table(), flags).expect_error(code);
    }
}

#[test]
fn help_says_what_is_not_checked() {
    let help = Bench::new().arbiter(["rate", "--help"]).finish().expect_code(0).stdout;
    expect_next(&help);
}

#[test]
fn games_are_replayed_on_request() {
    let tags = [("White", "Ada"), ("Black", "Cy"), ("Result", "1-0")];
    let with_fen = [&tags[..], &[("FEN", "8/8/8/8/8/8/8/K7 w - - 0 1")]].concat();
    let cases = [
        (game_of(&tags, "1. e4 e5\n2. Ke3 1-0"), "illegal move", 5, Some("2. Ke3")),
        (game_of(&tags, "1. e4 Nf9 1-0"), "illegal move", 4, Some("1... Nf9")),
        (
            game_of(&tags, "1. f3 e5 2. g4 Qh4# 1-0"),
            "result contradicts the last position",
            0,
            None,
        ),
        (game_of(&with_fen, "1. Ka2 1-0"), "impossible position", 0, None),
    ];
    let lines = |text: &str| text.matches('\n').count() as i64;
    for (game, reason, line, culprit) in &cases {
        let text = table() + game;
        assert_eq!(json_of(text.clone(), &[])["rejected_games"], 0, "{game}");
        let found = json_of(text, &["--verify"]);
        assert_eq!(found["rejected_reasons"][reason], 1, "{found:#}");
        let named = &found["rejected_examples"][0];
        assert_eq!(named["game"], 19);
        let first = lines(&table()) + 1;
        assert_eq!(named["line"], first + line, "{found:#}");
        assert_eq!(named["move"].as_str(), *culprit);
        assert!(named["file"].as_str().is_some_and(|file| file.ends_with("games")));
    }
    let all: String = cases.iter().map(|(game, ..)| game.as_str()).collect();
    expect_next(&rate_with(table() + &all, &["--verify"]).expect_code(0).stdout);
    assert_eq!(json_of(table(), &["--verify"]), json_of(table(), &[]));
}

#[test]
fn files_of_other_programs_are_taken() {
    let bench = Bench::new();
    bench.write("games", table() + &pair("Di", "Eve", "e4", [1.0, 0.5]));
    bench.write("relations.csv", "\"Cy\",\"Eve\",30,10\n");
    bench.write("names.txt", "Di\nEve\n");
    let rate = |flags: &[&str]| {
        bench.arbiter(["rate", "games"].iter().chain(flags)).finish().expect_code(0).stdout
    };
    expect_next(&rate(&[]));
    expect_next(&rate(&["--relations", "relations.csv"]));
    let few = rate(&["--exclude", "@names.txt", "--anchor", "Cy=2000", "--min-games", "13"]);
    expect_next(&few);
    let shown = rate(&["--elostat", "--exclude", "@names.txt"]);
    let first: Vec<&str> = shown.lines().nth(4).expect("a row").split_whitespace().collect();
    let [place, name, colon, _, up, down, games, score, _, _, draws, _] = first[..] else {
        panic!("{shown}")
    };
    assert_eq!([place, name, colon, games, score, draws], ["1", "Ada", ":", "14", "85.7", "14.3"]);
    assert!(up == down && up != "0", "{shown}");
    bench.write("none.txt", "");
    let none = bench.arbiter(["rate", "games", "--include", "@none.txt"]).finish();
    none.expect_error(3);
    for lines in [
        "Ada,Cy,100,1e-9",
        "Ada,Cy,30000,1",
        "Cy,Eve,30,10\nCy,Cy,1,1",
        "Cy,Eve,30,10\nEve,Cy,30,10",
        "Di,Eve,30,10",
    ] {
        bench.write("r.csv", lines);
        let flags =
            ["rate", "games", "--relations", "r.csv", "--anchor", "Di=0", "--anchor", "Eve=0"];
        bench.arbiter(flags).finish().expect_error(3);
    }
    bench.write("r.csv", "Ada,Cy,-900,50\nAda,Bo Lind,900,50\nBo Lind,Cy,900,50\n");
    bench.write("some.txt", "Eva\n");
    let flags = ["rate", "games", "--relations", "r.csv", "--exclude", "@some.txt"];
    expect_next(&bench.arbiter(flags).finish().expect_code(0).stderr);
}
