//! Tests of files and lines as each of the two programs writes them.

use super::{compat, duel, engine, lines};
use crate::support::bench::{Bench, Finished};
use crate::support::plan;

/// Runs a tournament of three puppets.
fn three(bench: &Bench, program: &str, more: &str) -> Finished {
    bench.write("book.epd", plan::openings(20));
    let subcommand = ["compat", program].into_iter().map(str::to_owned);
    let engines = ["A", "B", "C"].map(|name| engine(bench, name, "--seed 1"));
    let more = more.split_whitespace().map(str::to_owned);
    bench.arbiter(subcommand.chain(engines.into_iter().flatten()).chain(more)).finish()
}

/// Returns the values of a tag in `games.pgn`.
fn tags(bench: &Bench, name: &str) -> Vec<String> {
    let text = bench.read("games.pgn");
    let start = format!("[{name} \"");
    let values = text.lines().filter_map(|line| line.strip_prefix(&start)?.strip_suffix("\"]"));
    values.map(str::to_owned).collect()
}

#[test]
fn games_have_the_tags_and_ends_of_cutechess() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -rounds 2 -games 2 -maxmoves 3 \
                -pgnout games.pgn -epdout end.epd";
    let finished = compat(&bench, "cutechess", more).expect_code(0);
    let text = bench.read("games.pgn");
    let game = text.split("\n\n").next().unwrap();
    let names: Vec<&str> = game.lines().filter_map(|line| line[1..].split(' ').next()).collect();
    let (roster, rest) = names.split_at(7);
    assert_eq!(roster, ["Event", "Site", "Date", "Round", "White", "Black", "Result"]);
    assert!(rest.is_sorted() && rest.contains(&"GameEndTime"), "{rest:?}");
    assert!(!text.contains("Hash") && !text.contains("[Seed "), "{text}");
    assert_eq!(tags(&bench, "Event"), ["?"; 4]);
    // Rounds consist of two games, even if the games have different openings.
    assert_eq!(tags(&bench, "Round"), ["1", "1", "2", "2"]);
    assert_eq!(tags(&bench, "TimeControl"), ["inf"; 4]);
    let ended = "Draw by adjudication: maximal game length";
    assert_eq!(finished.stdout.matches(&format!("1/2-1/2 {{{ended}}}")).count(), 4);
    let flat = text.replace('\n', " ");
    assert_eq!(flat.matches(&format!(", {ended}}} 1/2-1/2")).count(), 4);
    // Moves are counted from the first move of the game, and times have the same number of decimals
    // as in cutechess.
    assert!(flat.contains("  1. ") && flat.contains(" 3. "), "{text}");
    let comment = regex_lite::Regex::new(r"\{[+-]?\d+\.\d\d/1\s(0|0\.0\d\d|0\.\d\d)s\}").unwrap();
    assert!(comment.is_match(&text), "{text}");
    // Positions are complete FENs.
    for line in bench.read("end.epd").lines() {
        assert_eq!(line.split(' ').count(), 6, "{line}");
    }
    // Without an opening, the engines decide how a game ends.
    let bench = Bench::new();
    let more = "-each nodes=1 -rounds 2 -pgnout games.pgn min";
    duel(&bench, "cutechess", ["--seed 1", "--mode illegal-move"], more).expect_code(0);
    assert_eq!(bench.read("games.pgn").matches('[').count(), 14);
}

#[test]
fn games_have_the_tags_and_ends_of_fastchess() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -rounds 1 -maxmoves 3 -pgnout file=games.pgn \
                -epdout file=end.epd";
    let finished = compat(&bench, "fastchess", more).expect_code(0);
    assert_eq!(
        lines(&finished, "Finished game 1 (A vs B): 1/2-1/2 {Draw by adjudication}").len(),
        1
    );
    assert_eq!(tags(&bench, "Event"), ["Fastchess Tournament"; 2]);
    let text = bench.read("games.pgn");
    let order = ["SetUp", "FEN", "GameDuration", "GameStartTime", "GameEndTime", "PlyCount"];
    let places = order.map(|tag| text.find(&format!("[{tag} ")).expect("it is there"));
    assert!(places.is_sorted() && !text.contains("[Seed "), "{text}");
    for line in bench.read("end.epd").lines() {
        assert!(line.contains(" hmvc ") && !line.contains("c9"), "{line}");
    }
}

#[test]
fn the_delay_of_a_late_engine_is_reported() {
    let bench = Bench::new();
    let more = "-each st=0.05 timemargin=0 -openings file=book.epd -rounds 1 -games 1 -maxmoves 30";
    let finished = duel(&bench, "fastchess", ["--seed 1", "--mode slow"], more).expect_code(0);
    let late = regex_lite::Regex::new(r"1-0 \{Black loses on time \(\d+ms overrun\)\}").unwrap();
    assert!(late.is_match(&finished.stdout), "{finished:#?}");
}

#[test]
fn figures_without_spread_match_a_division_by_zero() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -rounds 2 -repeat -sprt elo0=0 elo1=5 \
                alpha=0.05 beta=0.05";
    let args = ["--seed 1", "--mode illegal-move"];
    let finished = duel(&bench, "fastchess", args, more).expect_code(0);
    for line in [
        "Elo: inf +/- -nan, nElo: inf +/- -nan",
        "LOS: 100.00 %, DrawRatio: 0.00 %, PairsRatio: inf",
        "Ptnml(0-2): [0, 0, 0, 0, 2], WL/DD Ratio: -nan",
    ] {
        assert_eq!(lines(&finished, line).len(), 1, "{finished:#?}");
    }
    // Two draws are an even result.
    let more = "-each nodes=1 -openings file=book.epd -rounds 1 -maxmoves 2";
    let finished = compat(&bench, "fastchess", more).expect_code(0);
    assert_eq!(lines(&finished, "Elo: -0.00 +/- 0.00, nElo: -nan +/- -nan").len(), 1);
}

#[test]
fn only_fastchess_prints_scores_of_many_engines() {
    let more = "-each nodes=1 -openings file=book.epd -rounds 1 -maxmoves 3";
    let bench = Bench::new();
    let finished = three(&bench, "fastchess", &format!("{more} -output format=cutechess"));
    let finished = finished.expect_code(0);
    let scores = lines(&finished, "Score of ");
    assert_eq!(scores.len(), 6, "{finished:#?}");
    assert!(scores.contains(&"Score of B vs C: 0 - 0 - 2  [0.500] 2"), "{scores:?}");
    let finished = three(&bench, "cutechess", more).expect_code(0);
    assert_eq!(lines(&finished, "Score of "), [""; 0]);
}

#[test]
fn tournament_openings_cycle_by_the_number_of_rounds() {
    let more = "-each nodes=1 -openings file=book.epd order=sequential -rounds 2 -maxmoves 1";
    for (program, file, used) in [
        ("fastchess", "file=games.pgn", [0, 1, 0, 1, 0, 1]),
        // In cutechess-cli, each pair has a different opening.
        ("cutechess", "games.pgn -games 2 -repeat", [0, 1, 2, 3, 4, 5]),
    ] {
        let bench = Bench::new();
        three(&bench, program, &format!("{more} -pgnout {file}")).expect_code(0);
        let starts = tags(&bench, "FEN");
        let book = plan::openings(6);
        let book: Vec<&str> = book.lines().collect();
        let expected = used.iter().flat_map(|place| [&book[*place][..20]; 2]);
        assert!(starts.iter().map(|fen| &fen[..20]).eq(expected), "{program} {starts:?}");
    }
}

#[test]
fn a_quick_match_has_the_names_of_its_programs() {
    let bench = Bench::new();
    bench.write("book.epd", plan::openings(2));
    let line = "compat fastchess -quick cmd=bundled cmd=bundled book=book.epd -rounds 1 -each nodes=1 \
                tc=inf -maxmoves 1 -concurrency 0";
    let finished = bench.arbiter(line.split_whitespace()).finish().expect_code(0);
    let begins =
        r"^Info: Adjusted concurrency to \d+ based on .*\nIndexing opening suite\.\.\.\nStarted ";
    assert!(regex_lite::Regex::new(begins).unwrap().is_match(&finished.stdout), "{finished:#?}");
    let line = "Finished game 1 (bundled1 vs bundled2): ";
    assert_eq!(lines(&finished, line).len(), 1, "{finished:#?}");
    // An engine that rejects a value continues with its own value.
    let more = "-each nodes=1 option.Hash=99999999 -rounds 1 -maxmoves 1 -event help";
    let finished = compat(&bench, "fastchess", more).expect_code(0);
    assert!(finished.stdout.starts_with("Warning: No opening book specified!"), "{finished:#?}");
    assert!(lines(&finished, "Warning; Invalid value for option Hash; 99999999").len() > 1);
    assert_eq!(
        lines(&finished, "Results of A vs B (1 nodes, 1t, 16MB):").len(),
        1,
        "{finished:#?}"
    );
}
