//! Tests of rules, faults and messages of the other programs.

use super::{compat, duel, lines};
use crate::support::bench::Bench;
use crate::support::snapshot::expect_next;
use crate::support::{pgn, plan};

/// Arguments of two engines, the first of which always reports that it is lost.
const ONE_SIDED: [&str; 2] =
    ["--seed 1 --info 'depth 3 score cp -900'", "--seed 2 --info 'depth 3 score cp 900'"];

/// Returns the games of `games.pgn`.
fn games(bench: &Bench) -> Vec<pgn::Game> {
    let text = bench.read("games.pgn");
    pgn::parse(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

/// Returns the `-pgnout` option of a program.
fn pgnout(program: &str) -> &'static str {
    if program == "fastchess" { "-pgnout file=games.pgn" } else { "-pgnout games.pgn" }
}

#[test]
fn a_pawn_move_or_capture_is_the_first_move_that_counts_for_a_draw() {
    let even = ["--seed 5 --info 'depth 3 score cp 0'", "--seed 9 --info 'depth 3 score cp 0'"];
    for program in ["fastchess", "cutechess"] {
        let bench = Bench::new();
        let book: String = plan::openings(20).lines().map(|line| format!("{line} 0 3\n")).collect();
        bench.write("late.fen", book);
        let more = format!(
            "-each nodes=1 -openings file=late.fen -games 2 -rounds 6 -repeat {} \
             -draw movenumber=5 movecount=3 score=10",
            pgnout(program)
        );
        duel(&bench, program, even, &more).expect_code(0);
        let played = games(&bench);
        assert_eq!(played.len(), 12);
        for game in played {
            let (fen, moves) = (game.tag("FEN"), &game.moves);
            let fields: Vec<&str> = fen.split(' ').collect();
            // fastchess counts by the move number of the position, cutechess-cli from the opening.
            let number = 2 * fields[5].parse::<usize>().unwrap() - 2;
            let number = number + usize::from(fields[1] == "b");
            let before = if program == "fastchess" { number } else { 0 };
            let mut agreed = 0;
            let ended = moves.iter().zip(1..).find_map(|(san, ply)| {
                let is_zeroing = san.contains('x') || san.starts_with(char::is_lowercase);
                agreed = if is_zeroing { 1 } else { agreed + 1 };
                (agreed >= 6 && (before + ply) / 2 >= 5).then_some(ply)
            });
            assert_eq!(ended, Some(moves.len()), "{program} {fen} {moves:?}");
        }
    }
}

#[test]
fn cutechess_treats_a_bound_as_a_score() {
    let odd = ONE_SIDED.map(|args| args.replace("00'", "00 upperbound'"));
    let more = "-each nodes=1 -openings file=book.epd -games 2 -rounds 1 -repeat -maxmoves 4 \
                -resign movecount=2 score=500";
    for (program, results) in [("cutechess", ["0-1", "1-0"]), ("fastchess", ["1/2-1/2"; 2])] {
        let bench = Bench::new();
        let finished = duel(&bench, program, [&odd[0], &odd[1]], more).expect_code(0);
        let ended = lines(&finished, "Finished game ");
        let found: Vec<&str> = ended.iter().filter_map(|line| line.split(' ').nth(6)).collect();
        assert_eq!(found, results, "{program} {finished:#?}");
    }
}

#[test]
fn only_the_loser_resigns() {
    for program in ["fastchess", "cutechess"] {
        let bench = Bench::new();
        let more = format!(
            "-each nodes=1 -openings file=book.epd -games 2 -rounds 1 -repeat {} \
             -resign movecount=2 score=500 twosided=true",
            pgnout(program)
        );
        duel(&bench, program, ONE_SIDED, &more).expect_code(0);
        // The first engine reports a lost position as White, then as Black.
        let lengths = games(&bench).into_iter().map(|game| game.moves.len());
        assert!(lengths.eq([5, 4]), "{program}");
    }
}

#[test]
fn only_cutechess_counts_book_moves_for_the_move_limit() {
    for (program, plies) in [("fastchess", 9), ("cutechess", 6)] {
        let bench = Bench::new();
        bench.write("book.pgn", "[Event \"?\"]\n\n1. e4 e5 2. Nf3 *\n");
        let more = format!(
            "-each nodes=1 -openings file=book.pgn format=pgn -games 2 -rounds 1 -repeat \
             -maxmoves 3 {}",
            pgnout(program)
        );
        compat(&bench, program, &more).expect_code(0);
        let lengths: Vec<usize> = games(&bench).iter().map(|game| game.moves.len()).collect();
        assert_eq!(lengths, [plies; 2], "{program}");
    }
}

#[test]
fn nothing_but_warnings_and_errors_goes_to_standard_error() {
    for program in ["fastchess", "cutechess"] {
        let bench = Bench::new();
        let more = "-each nodes=1 -openings file=book.epd -rounds 1 -maxmoves 2 -draw movenumber=9";
        let finished = compat(&bench, program, more).expect_code(0);
        assert_eq!(finished.stderr, "", "{program}");
        expect_next(&compat(&bench, program, &format!("{more} -arbiter verbose=true")).stderr);
    }
}

#[test]
fn illegal_moves_are_reported_like_the_originals() {
    let more = "-each nodes=1 -rounds 1";
    let bench = Bench::new();
    let garbage = ["--seed 1", "--mode garbage-bestmove"];
    let finished = duel(&bench, "cutechess", garbage, more).expect_code(0);
    let end = "{Black makes an illegal move: knight-takes-every";
    assert!(finished.stdout.contains(end), "{finished:#?}");
    for mode in ["garbage-bestmove", "illegal-move", "null-move"] {
        let odd = ["--seed 1", &format!("--mode {mode}")];
        let more = format!("{more} -pgnout file=games.pgn append=false");
        let finished = duel(&bench, "fastchess", odd, &more).expect_code(0);
        let form = lines(&finished, "Warning; Move does not match uci move format").len();
        assert_eq!(form, if mode == "illegal-move" { 0 } else { 2 }, "{finished:#?}");
        let text = bench.read("games.pgn");
        // One game has a legal move before the illegal move; the other has only the illegal move.
        for count in [2, 1] {
            assert_eq!(text.matches(&format!("[PlyCount \"{count}\"]")).count(), 1, "{text}");
        }
    }
}

#[test]
fn engines_with_equal_clocks_share_one_tag_in_fastchess() {
    for (program, tag, count) in
        [("fastchess", "[TimeControl \"60\"]", 2), ("cutechess", "[WhiteT", 2)]
    {
        let bench = Bench::new();
        let more = format!(
            "nodes=2 -each tc=60 -games 2 -rounds 1 -openings file=book.epd -maxmoves 2 {}",
            pgnout(program)
        );
        compat(&bench, program, &more).expect_code(0);
        assert_eq!(bench.read("games.pgn").matches(tag).count(), count, "{program}");
    }
}

#[test]
fn pv_warnings_quote_the_illegal_first_move() {
    let bench = Bench::new();
    let odd = ["--seed 1 --info 'depth 3 score cp 5 pv {illegal}'", "--seed 2"];
    let more = "-each nodes=1 -openings file=book.epd -rounds 1 -maxmoves 2";
    let finished = duel(&bench, "fastchess", odd, more).expect_code(0);
    for start in ["Warning; Illegal PV move - ", "Warning; Bestmove does not match "] {
        assert_eq!(lines(&finished, start).len(), 4, "{finished:#?}");
    }
}

#[test]
fn fastchess_repeats_the_final_figures() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -rounds 3 -scoreinterval 0 \
                -output format=cutechess";
    let finished = compat(&bench, "fastchess", more).expect_code(0);
    let scores = lines(&finished, "Score of A vs B: ");
    assert!(scores.len() == 1 && scores[0].ends_with("] 6"), "{finished:#?}");
    let more = "-each nodes=1 -openings file=book.epd -rounds 500 -ratinginterval 1 \
                -sprt elo0=0 elo1=100 alpha=0.05 beta=0.05";
    let odd = ["--seed 1", "--mode illegal-move"];
    let finished = duel(&bench, "fastchess", odd, more).expect_code(0);
    let games = lines(&finished, "Games: ");
    assert_eq!(games[games.len() - 2], games[games.len() - 1], "{finished:#?}");
    // A test that uses single games has no figures for pairs, and prints a warning.
    let finished = duel(&bench, "fastchess", odd, &format!("{more} model=bayesian"));
    let warning = "Warning; Bayesian SPRT model not available with pentanomial statistics. ";
    assert_eq!(lines(&finished.expect_code(0), warning).len(), 1);
}
