//! Tests that run commands of the compiled program, mainly `eval`.

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_palimpsest");
    Command::new(program).args(args).output().expect("the engine was built for this test")
}

fn answer(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

const FEN: &str = "r1bQkbnr/pp2pppp/2n5/2P5/2p5/4P3/PP3PPP/RNB1KBNR b KQkq - 0 5";

/// Returns the cells in the row of a term; `None` if the table has no such row.
fn term<'a>(text: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.into_iter().find(|cells| cells.first() == Some(&name))
}

#[test]
fn one_position_is_explained() {
    let text = answer(&["eval", "--variant", "rybka-1.0-beta", FEN]);
    assert!(text.starts_with(&format!("Position: {FEN}\n")), "{text}");
    assert!(text.contains("phase 20 of 24\n"), "{text}");
    assert!(text.ends_with("Evaluation: 849 cp from White's side (rybka-1.0-beta)\n"), "{text}");
    let shelter = ["shelter", "957", "0", "0", "0", "957", "0", "24.9"];
    assert_eq!(term(&text, "shelter"), Some(shelter.to_vec()));
    let imbalance = term(&text, "imbalance").expect("the pieces are uneven");
    assert_eq!(imbalance[3..5], ["5275", "5275"]);
    let tempo = ["tempo", "0", "0", "0", "0", "0", "0", "-3.0"];
    assert_eq!(term(&text, "tempo"), Some(tempo.to_vec()));
    let without = answer(&["eval", "--variant", "rybka-1.0-beta", "--disable", "shelter", FEN]);
    assert_eq!(term(&without, "shelter"), None);
    assert_eq!(term(&without, "mob_queen"), term(&text, "mob_queen"));
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
    let value = |more: &[&str]| -> i32 {
        // A single rook attacks squares near the black king on h6.
        let fen = "3q4/5ppp/7k/8/8/8/8/K2Q2R1 w - - 0 1";
        let text = answer(&[&["eval", "--variant", "blunder"], more, &[fen]].concat());
        let (_, score) = text.split_once("\nEvaluation: ").expect("the score is the last line");
        let score = score.split(' ').next().unwrap_or_default();
        score.parse().expect("a score is a number")
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
    for tool in ["bench", "perft", "divide", "eval", "tune", "datagen", "train"] {
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
        (&["eval", "--variant", "blunder", "--disable", "moon"], 3, "knight_outpost, king_safety"),
        (&["eval", "not", "a", "position"], 3, "palimpsest: "),
        (&["eval", "--personality", "psychic"], 3, "palimpsest, micromax, rdchess"),
        (&["eval", "--moon"], 2, "Usage: "),
        (&["eval", "--variant", "blunder", "--enable", "moon"], 3, "linear_danger, "),
        (&["datagen"], 2, "<FILE>"),
        (&["datagen", "x", "--nodes", "0"], 2, "expected a number from 1 to 1099511627776"),
        (&["datagen", "x", "--variant", "psychic"], 2, "rybka-2.3.2a, blunder"),
        (&["moon"], 2, "unrecognized subcommand 'moon'"),
        (&["bench", "moon"], 2, "'moon'"),
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
