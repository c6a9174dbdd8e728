//! The commands `eval` and `compare` of the real program.

use std::io::Write;
use std::process::{Command, Output};

use serde_json::Value;

fn run(args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_palimpsest");
    Command::new(program).args(args).output().expect("the engine was built for this test")
}

fn answer(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&answer(args)).expect("the output is JSON")
}

const FEN: &str = "r1bQkbnr/pp2pppp/2n5/2P5/2p5/4P3/PP3PPP/RNB1KBNR b KQkq - 0 5";

#[test]
fn one_position_is_explained() {
    let found = json(&["eval", "--variant", "rybka-1.0-beta", "--json", FEN]);
    assert_eq!(found["fen"], FEN);
    assert_eq!(found["variant"], "rybka-1.0-beta");
    assert_eq!(found["value"], -849);
    assert_eq!(found["phase"], 20);
    assert_eq!(found["terms"]["shelter"], serde_json::json!([957, 0]));
    assert_eq!(found["steps"]["tempo"], -3);
    assert_eq!(found["black"]["imbalance"], serde_json::json!([5275, 5275]));
    let text = answer(&["eval", "--variant", "rybka-1.0-beta", FEN]);
    assert!(text.ends_with("Evaluation: 849 cp from White's side (rybka-1.0-beta)\n"), "{text}");
    let row = text.lines().find(|line| line.starts_with("shelter ")).expect("there is a shelter");
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["shelter", "957", "0", "0", "0", "957", "0", "24.9"]
    );
    let without =
        json(&["eval", "--variant", "rybka-1.0-beta", "--disable", "shelter", "--json", FEN]);
    assert!(without["terms"]["shelter"].is_null());
    assert_eq!(without["terms"]["mob_queen"], found["terms"]["mob_queen"]);
}

#[test]
fn many_positions_are_one_object_a_line() {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    write!(file, "# two\n{FEN}\n\n4k3/8/8/8/3N4/8/8/4K3 w - - bm Nc6; id \"2\";\n").unwrap();
    let path = file.path().to_str().expect("temporary paths are text").to_owned();
    let path = path.as_str();
    let text = answer(&["eval", "--variant", "blunder", "--positions", path, "--json"]);
    let rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["value"], -938);
    assert_eq!(rows[1]["terms"]["mobility"], serde_json::json!([12, 16]));
    let compared = json(&["compare", "blunder", "material", "--positions", path, "--json"]);
    assert_eq!(compared["positions"], 2);
    writeln!(file, "8/8/8/8 w - -").unwrap();
    let output = run(&["eval", "--positions", path]);
    assert_eq!(output.status.code(), Some(3));
    let reason = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(reason.contains("line 5"), "{reason}");
}

#[test]
fn the_two_rybkas_are_compared() {
    let found = json(&["compare", "rybka-1.0-beta", "rybka-2.3.2a", "--json"]);
    let rows = found["features"].as_array().expect("features are a list");
    let numbers: Vec<u64> = rows.iter().filter_map(|row| row["number"].as_u64()).collect();
    assert_eq!(numbers, (1..=32).collect::<Vec<_>>());
    let row = |number: u64| rows.iter().find(|row| row["number"] == number).expect("numbered");
    for (number, name, verdict) in [
        (3, "mob_knight", "only in rybka-1.0-beta"),
        (6, "blocked_bishop", "only in rybka-1.0-beta"),
        (9, "mob_rook", "weight changed"),
        (14, "king_attack", "same"),
        (23, "shelter", "condition and weight changed"),
        (29, "opposite_bishops", "condition changed"),
        (30, "pawn_antimob", "only in rybka-2.3.2a"),
        (31, "drawishness", "only in rybka-2.3.2a"),
        (32, "pawn_endings", "only in rybka-2.3.2a"),
    ] {
        assert_eq!(
            (&row(number)["name"], &row(number)["verdict"]),
            (&name.into(), &verdict.into())
        );
        assert_eq!(row(number)["is_new"], number > 29);
    }
    assert_eq!(row(16)["first"]["weights"]["value"], serde_json::json!([54, 37]));
    assert_eq!(row(25)["first"]["weights"]["by rank"][5], 157);
    assert_eq!(row(15)["second"]["weights"]["value"], serde_json::json!([-1567, 0]));
    let text = answer(&["compare", "rybka-1.0-beta", "rybka-2.3.2a"]);
    assert!(text.contains("\n new 3  pawn_endings "), "{text}");
    let markdown = answer(&["compare", "rybka-2.3.2a", "blunder", "--markdown"]);
    assert!(markdown.contains("\n| 22 | king_danger |"), "{markdown}");
}

#[test]
fn every_switch_of_a_comparison_is_a_feature() {
    for name in [
        "palimpsest",
        "rybka-1.0-beta",
        "rybka-2.3.2a",
        "blunder",
        "rdchess",
        "micromax",
        "material",
    ] {
        let features = json(&["eval", "--variant", name, "--features", "--json"]);
        let mut features: Vec<&str> = features["features"]
            .as_array()
            .expect("features are a list")
            .iter()
            .filter_map(|feature| feature["name"].as_str())
            .collect();
        let compared = json(&["compare", name, name, "--json"]);
        let rows = compared["features"].as_array().expect("features are a list");
        assert!(rows.iter().all(|row| row["verdict"] == "same"), "{name}");
        let mut switches: Vec<&str> = rows
            .iter()
            .flat_map(|row| row["first"]["disable"].as_array().expect("switches are a list"))
            .filter_map(Value::as_str)
            .collect();
        features.sort_unstable();
        switches.sort_unstable();
        switches.dedup();
        assert_eq!(switches, features, "{name}");
    }
}

#[test]
fn a_search_is_traced() {
    let args = ["trace", "--personality", "micromax", "--moves", "e2e4  e7e5", "--nodes", "2000"];
    let found = json(&[&args[..], &["--hash", "1", "--json"]].concat());
    assert_eq!(
        (&found["startpos_moves"], &found["game_score_q"]),
        (&"e2e4 e7e5".into(), &0.into())
    );
    let iterations = found["iterations"].as_array().expect("iterations are a list");
    let nodes = |index: usize| iterations[index]["nodes"].as_u64().expect("nodes are counted");
    let last = iterations.len() - 1;
    assert!(nodes(last) >= 2_000 && nodes(last - 1) < 2_000, "{found}");
    assert_eq!(iterations[0], serde_json::json!({"ply": 0, "nodes": 1, "score": 0, "move": null}));
    assert!(iterations[1]["move"].is_string());
    for personality in ["palimpsest", "rdchess"] {
        let text =
            answer(&["trace", "--personality", personality, "--nodes", "500", "--hash", "1"]);
        assert!(text.starts_with("Position: rnbqkbnr/") && text.lines().count() > 3, "{text}");
    }
}

#[test]
fn features_of_searches_are_listed() {
    let names = |args: &[&str]| {
        let text = answer(args);
        text.lines()
            .map(|line| line.split(' ').next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let evaluation = names(&["eval", "--variant", "rdchess", "--features"]);
    let both = names(&["eval", "--personality", "rdchess", "--features"]);
    assert_eq!(both[..evaluation.len()], evaluation);
    assert!(both[evaluation.len()..].contains(&"extended_futility".to_owned()), "{both:?}");
}

#[test]
fn experiments_are_listed_and_tried() {
    let list = answer(&["eval", "--variant", "blunder", "--experiments"]);
    assert!(list.contains("\none_attacker "), "{list}");
    assert_eq!(answer(&["eval", "--variant", "material", "--experiments"]), "material has none.\n");
    let value = |more: &[&str]| {
        // A rook alone looks at a king that has left home.
        let fen = "3q4/5ppp/7k/8/8/8/8/K2Q2R1 w - - 0 1";
        let words = [&["eval", "--variant", "blunder", "--json"], more, &[fen]].concat();
        json(&words)["value"].as_i64().expect("a score is a number")
    };
    assert!(value(&["--enable", "no_king_points"]) < value(&[]));
}

#[test]
fn all_evaluations_are_side_by_side() {
    let table = answer(&["compare", "--all", "--markdown"]);
    let row = table.lines().find(|line| line.starts_with("| isolated pawns |")).expect("a row");
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    let pawns = ["isolated", "pawn_isolated", "pawn_isolated", "isolated", "pawn_isolated", ""];
    assert_eq!(cells[1..], pawns);
    let text = answer(&["compare", "--all"]);
    assert!(text.contains("pins\n  rdchess         pinned\n"), "{text}");
}

#[test]
fn stages_of_the_game_are_benched_apart() {
    let args = ["bench", "--stages", "--personality", "rdchess", "--nodes", "500"];
    let text = answer(&args);
    let names: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["opening", "middlegame", "endgame"]);
    let found = json(&[&args[..], &["--only", "endgame", "--json"]].concat());
    let [asked, known] =
        ["looked_up", "found"].map(|key| found["pawn_table"][key].as_u64().expect("a count"));
    assert!(known > 0 && known < asked, "{found}");
}

#[test]
fn whoever_reads_no_further_meets_no_bug() {
    let program = env!("CARGO_BIN_EXE_palimpsest");
    let (reader, writer) = std::io::pipe().expect("there is a pipe");
    drop(reader);
    let status = Command::new(program).args(["eval", "--nonsense"]).stderr(writer).status();
    assert_eq!(status.expect("the engine was built for this test").code(), Some(2));
}

#[test]
fn every_tool_has_help() {
    for tool in ["bench", "perft", "eval", "compare", "board", "trace", "tune", "datagen", "train"]
    {
        let output = run(&[tool, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{tool}");
        let told = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(told.starts_with(&format!("Usage: palimpsest {tool} ")), "{tool}: {told}");
        let others = told.lines().any(|line| {
            let entry = line.trim_start().strip_prefix("palimpsest ");
            entry.is_some_and(|entry| !entry.starts_with(tool))
        });
        assert!(!others, "{told}");
        assert_eq!(run(&["help", tool]).stdout, told.as_bytes(), "{tool}");
    }
    let all = run(&["--help"]).stdout;
    assert!(all.starts_with(b"Usage: palimpsest   "));
}

#[test]
fn wrong_names_list_the_right_ones() {
    for (args, code, expected) in [
        (&["eval", "--variant", "psychic"][..], 3, "rybka-2.3.2a, blunder"),
        (&["compare", "palimpsest", "psychic"], 3, "rybka-2.3.2a, blunder"),
        (&["eval", "--variant", "blunder", "--disable", "moon"], 3, "knight_outpost, king_safety"),
        (&["eval", "--positions", "no such file"], 3, "cannot read no such file"),
        (&["eval", "not", "a", "position"], 3, "palimpsest: "),
        (&["eval", "--personality", "psychic"], 3, "palimpsest, micromax, rdchess"),
        (&["trace", "--personality", "psychic"], 3, "palimpsest, micromax, rdchess"),
        (&["trace", "--moves", "e2e4 e2e4"], 3, "move 2"),
        (&["trace", "--fen", "moon"], 3, "palimpsest: "),
        (&["trace", "--nodes", "many"], 2, "Usage: palimpsest trace "),
        (&["eval", "--moon"], 2, "Usage: "),
        (&["compare", "palimpsest"], 2, "takes the names of two evaluations, or --all"),
        (&["eval", "--variant", "blunder", "--enable", "moon"], 3, "linear_danger, "),
        (&["bench", "--stages", "--moon", "1"], 2, "--moon"),
        (&["bench", "--stages", "--only", "moon"], 3, "opening, middlegame, endgame"),
        (&["datagen"], 2, "needs a file to write"),
        (&["datagen", "x", "--nodes", "0"], 2, "--nodes needs a number from 1"),
        (
            &["datagen", "x", "--walks", "2", "--variant", "micromax"],
            2,
            "--walks cannot use micromax",
        ),
        (&["datagen", "no/such/folder/x"], 7, "no/such/folder/x: "),
        (&["train", "x"], 2, "needs --out FILE"),
        (&["train", "no such file", "--out", "x"], 3, "no such file: "),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(reason.contains(expected) && output.stdout.is_empty(), "{args:?}: {reason}");
    }
}
