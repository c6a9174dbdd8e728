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
fn many_positions_give_one_object_per_line() {
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
fn a_closed_pipe_is_not_an_error() {
    let program = env!("CARGO_BIN_EXE_palimpsest");
    let (reader, writer) = std::io::pipe().expect("there is a pipe");
    drop(reader);
    let status = Command::new(program).args(["eval", "--nonsense"]).stderr(writer).status();
    assert_eq!(status.expect("the engine was built for this test").code(), Some(2));
}

#[test]
fn every_tool_has_help() {
    for tool in ["bench", "perft", "divide", "eval", "compare", "tune", "datagen", "train"] {
        let help = answer(&[tool, "--help"]);
        let name = if tool == "divide" { "perft" } else { tool };
        assert!(help.contains(&format!("\nUsage: palimpsest {name} ")), "{tool}: {help}");
        assert_eq!(answer(&["help", tool]), help, "{tool}");
    }
    assert_eq!(answer(&["help"]), answer(&["--help"]));
    assert_eq!(answer(&["--version"]), concat!("palimpsest ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn invalid_names_list_the_valid_ones() {
    for (args, code, expected) in [
        (&["eval", "--variant", "psychic"][..], 3, "rybka-2.3.2a, blunder"),
        (&["compare", "palimpsest", "psychic"], 3, "rybka-2.3.2a, blunder"),
        (&["eval", "--variant", "blunder", "--disable", "moon"], 3, "knight_outpost, king_safety"),
        (&["eval", "--positions", "no such file"], 3, "cannot read no such file"),
        (&["eval", "not", "a", "position"], 3, "palimpsest: "),
        (&["eval", "--personality", "psychic"], 3, "palimpsest, micromax, rdchess"),
        (&["eval", "--moon"], 2, "Usage: "),
        (&["compare", "palimpsest"], 2, "<SECOND>"),
        (&["eval", "--variant", "blunder", "--enable", "moon"], 3, "linear_danger, "),
        (&["datagen"], 2, "<FILE>"),
        (&["datagen", "x", "--nodes", "0"], 2, "expected a number from 1 to 1099511627776"),
        (&["datagen", "x", "--variant", "psychic"], 2, "rybka-2.3.2a, blunder"),
        (&["moon"], 2, "unrecognized subcommand 'moon'"),
        (&["bench", "moon"], 2, "'moon'"),
        (&["bench", "3", "--eval"], 2, "cannot be used with"),
        (&["perft", "1", "not", "a", "position"], 3, "palimpsest: "),
        (&["perft", "--suite", "no such file"], 3, "cannot read no such file"),
        (&["genfens 1 seed 1 book x"], 2, "book None"),
        (
            &["datagen", "x", "--walks", "2", "--variant", "micromax"],
            2,
            "--walks cannot use micromax",
        ),
        (&["datagen", "no/such/folder/x"], 7, "no/such/folder/x: "),
        (&["train", "x"], 2, "--out <FILE>"),
        (&["train", "x", "--out", "x"], 2, "two of the files"),
        (&["train", "no such file", "--out", "x"], 3, "no such file: "),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(reason.contains(expected) && output.stdout.is_empty(), "{args:?}: {reason}");
    }
}
