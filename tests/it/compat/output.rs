//! Tests of output and files of the other programs, in their wording.

use super::{compat, duel, lines};
use crate::support::bench::{Bench, Finished};
use crate::support::pgn;
use crate::support::snapshot::expect_next;

#[test]
fn faults_are_reported_like_the_originals() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -rounds 2 -repeat -pgnout file=games.pgn";
    let crash = ["--mode crash", "--seed 2"];
    let finished = duel(&bench, "fastchess", crash, &format!("{more} -recover")).expect_code(0);
    assert_eq!(lines(&finished, "Finished game ").len(), 4, "{finished:#?}");
    assert!(finished.stdout.contains(" disconnects}\n"), "{finished:#?}");
    let block = "\n\nPlayer: A\n  Timeouts: 0\n  Crashed: 4\n\nFinished match\n";
    assert!(finished.stdout.contains(block), "{finished:#?}");
    // Without -recover, the first crash ends the run.
    let finished = duel(&bench, "fastchess", crash, more).expect_code(1);
    assert!(finished.stdout.contains("no recover option set"), "{finished:#?}");
    assert_eq!(lines(&finished, "Finished game 4 "), [""; 0], "{finished:#?}");
    let bench = Bench::new();
    let illegal = ["--mode illegal-move", "--seed 2"];
    let finished = duel(&bench, "fastchess", illegal, more).expect_code(0);
    assert_eq!(lines(&finished, "Warning; Illegal move ").len(), 4, "{finished:#?}");
    assert!(lines(&finished, "Warning; Illegal move ")[0].ends_with(" played by A"));
    let text = bench.read("games.pgn");
    assert_eq!(text.matches("[Termination \"illegal move\"]").count(), 4, "{text}");
    assert!(text.contains(" makes an illegal move: "), "{text}");
    // A strict run ends with its first warning.
    let finished = duel(&bench, "fastchess", illegal, &format!("{more} -strict"));
    assert_eq!(lines(&finished.expect_code(1), "Finished game 4 "), [""; 0]);
}

#[test]
fn pv_warnings_match_the_originals() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -rounds 1 -repeat -strict";
    let odd = ["--mode illegal-pv", "--seed 2"];
    let finished = duel(&bench, "fastchess", odd, more).expect_code(0);
    let warnings = lines(&finished, "Warning; Illegal PV move - move ");
    assert!(warnings.len() > 10, "{finished:#?}");
    assert!(warnings.iter().all(|line| line.ends_with(" from A")), "{finished:#?}");
    // PV warnings do not end a strict run, and cutechess-cli has none.
    assert_eq!(lines(&finished, "Finished game ").len(), 2);
    let more = "-each nodes=1 -openings file=book.epd -rounds 1 -repeat";
    let finished = duel(&bench, "cutechess", odd, more).expect_code(0);
    assert_eq!(lines(&finished, "Warning; "), [""; 0], "{finished:#?}");
}

#[test]
fn pv_checks_match_the_originals() {
    let bench = Bench::new();
    let more =
        "-each nodes=1 -openings file=book.epd -rounds 1 -repeat -maxmoves 1 -check-mate-pvs";
    let odd = [
        "--seed 1 --info 'depth 1 score cp 5 pv {illegal}|depth 2 score mate 3 pv {move}|depth 3 score \
         cp 5 lowerbound pv {move} {illegal}|depth 4 score cp 5 pv {move}'",
        "--seed 2",
    ];
    let finished = duel(&bench, "fastchess", odd, more).expect_code(0);
    let is_about_lines = |line: &&str| {
        ["Warning; ", "Info; ", "Position; ", "Moves; "].iter().any(|start| line.starts_with(start))
    };
    let found: Vec<&str> = finished.stdout.lines().filter(is_about_lines).collect();
    expect_next(&found.join("\n"));
}

#[test]
fn sides_outcomes_and_intervals_are_printed_like_cutechess() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -games 2 -rounds 2 -outcomeinterval 2 -debug all \
                -each option.Nope=1";
    let illegal = ["--seed 1", "--mode illegal-move"];
    let finished = duel(&bench, "cutechess", illegal, more).expect_code(0);
    let text = &finished.stdout;
    for (line, count) in [
        ("...      A playing White: 2 - 0 - 0  [1.000] 2", 1),
        ("...      A playing Black: 2 - 0 - 0  [1.000] 2", 1),
        ("...      White vs Black: 2 - 2 - 0  [0.500] 4", 1),
        // After 4 wins in 4 games, the LOS is the normal distribution function at 2 standard
        // deviations.
        ("Elo difference: inf +/- nan, LOS: 97.7 %, DrawRatio: 0.0 %", 1),
        ("SPRT: llr 0 (0.0%), lbound -inf, ubound inf", 1),
        ("Player: A", 2),
        ("Player: B", 2),
    ] {
        assert_eq!(text.lines().filter(|found| *found == line).count(), count, "{line} {text}");
    }
    // Each illegal move is a separate outcome.
    let outcomes = lines(&finished, "   \"Loss: ").len();
    assert!(outcomes >= 2 && lines(&finished, "   \"Win: ").len() == outcomes, "{text}");
    // The log contains the engines' lines with the time since the start.
    let go_line = regex_lite::Regex::new(r"(?m)^-?\d+ >A\(0\): go nodes 1$").unwrap();
    assert!(go_line.is_match(text) && text.contains(" <B(1): bestmove "), "{text}");
    assert!(finished.stderr.contains("Warning: A doesn't have option Nope\n"), "{finished:#?}");
    // The ranks in a gauntlet start with 0, the rank of the engine that plays against all others.
    let bench = Bench::new();
    let subcommand = ["compat", "cutechess"].into_iter().map(str::to_owned);
    let engines = [("A", "--mode illegal-move"), ("B", "--seed 1"), ("C", "--seed 1")];
    let engines = engines.map(|(name, args)| super::engine(&bench, name, args));
    let more = "-each nodes=1 -tournament gauntlet -games 2";
    let more = more.split_whitespace().map(str::to_owned);
    let all = subcommand.chain(engines.into_iter().flatten()).chain(more);
    let finished = bench.arbiter(all).finish().expect_code(0);
    let rows = finished.stdout.lines().skip_while(|line| !line.starts_with("Rank Name"));
    let names: Vec<String> =
        rows.take(4).map(|row| row.split_whitespace().take(2).collect()).collect();
    assert_eq!(names, ["RankName", "0A", "1C", "2B"], "{finished:#?}");
}

#[test]
fn mate_scores_are_checked_on_request() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -rounds 1 -repeat -maxmoves 3";
    let odd =
        ["--seed 1 --info 'score mate 3 pv {move}'", "--seed 2 --info 'score mate 1 pv {move}'"];
    let finished =
        duel(&bench, "fastchess", odd, &format!("{more} -check-mate-pvs")).expect_code(0);
    let count = |finished: &Finished, start: &str| lines(finished, start).len();
    assert_eq!(count(&finished, "Warning; Incomplete mating PV - from A"), 6, "{finished:#?}");
    assert_eq!(count(&finished, "Warning; Mating PV does not end with checkmate - from B"), 6);
    // A warning about two engines that both report a win is printed even without the option.
    let both = "Warning; Sign mismatch in mate scores ";
    assert_eq!(count(&finished, both), 10, "{finished:#?}");
    let finished = duel(&bench, "fastchess", odd, more).expect_code(0);
    assert_eq!((count(&finished, "Warning; Incomplete"), count(&finished, both)), (0, 10));
}

#[test]
fn white_relative_scores_are_converted() {
    // The first engine always reports that White loses, so it resigns only as White.
    for (more, results) in [("", ["0-1", "1-0"]), (" whitepov", ["0-1", "1/2-1/2"])] {
        let bench = Bench::new();
        let odd =
            ["--seed 1 --info 'depth 3 score cp -900'", "--seed 2 --info 'depth 3 score cp 0'"];
        let more = format!(
            "-each nodes=1{more} -openings file=book.epd -games 2 -resign movecount=2 score=500 \
             -maxmoves 6 -repeat"
        );
        let finished = duel(&bench, "cutechess", odd, &more).expect_code(0);
        let ended = lines(&finished, "Finished game ");
        let found: Vec<&str> = ended.iter().filter_map(|line| line.split(' ').nth(6)).collect();
        assert_eq!(found, results, "{finished:#?}");
    }
}

#[test]
fn comments_have_all_requested_fields_under_every_limit() {
    for (bound, control) in [("nodes=1", "-"), ("depth=1", "-"), ("st=1", "1/move")] {
        let bench = Bench::new();
        let more = format!(
            "-each {bound} -openings file=book.epd -rounds 1 -repeat -pgnout file=games.pgn \
             nodes=true seldepth=true nps=true timeleft=true"
        );
        duel(&bench, "fastchess", ["--seed 1", "--mode no-score"], &more).expect_code(0);
        let text = bench.read("games.pgn");
        let games = pgn::parse(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
        let rounds: Vec<&str> = games.iter().map(|game| game.tag("Round")).collect();
        assert_eq!(rounds, ["1", "1"]);
        assert!(games.iter().all(|game| game.tag("TimeControl") == control), "{text}");
        let time = regex_lite::Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d \+0000$").unwrap();
        for game in &games {
            let [started, ended] = ["GameStartTime", "GameEndTime"].map(|name| game.tag(name));
            assert!(time.is_match(started) && time.is_match(ended) && started <= ended, "{text}");
        }
        // Format that OpenBench parses: score and depth, seconds, nodes, seldepth.
        let comment = r"\{([+-]?M?\d+(\.\d+)?)/\d+\s\d+\.\d{3}s,\stl=\d+\.\d+s,\sn=\d+,\ssd=\d+,\snps=\d+[,}]";
        let comments = regex_lite::Regex::new(comment).unwrap().find_iter(&text).count();
        let moves: usize = games.iter().map(|game| game.moves.len()).sum();
        assert_eq!(comments, moves, "{text}");
    }
}

#[test]
fn interval_reports_follow_each_due_game() {
    let more = "-each nodes=1 -openings file=book.epd -rounds 3 -repeat -ratinginterval 1";
    for (more, games) in [
        (format!("{more} -report penta=false"), vec![1, 2, 3, 4, 5, 6]),
        (format!("{more} -report penta=true"), vec![2, 4, 6]),
        (more.replace("interval 1", "interval 4 -report penta=false"), vec![4, 6]),
    ] {
        let bench = Bench::new();
        let finished = compat(&bench, "fastchess", &more).expect_code(0);
        let counts = lines(&finished, "Games: ").into_iter().map(|line| {
            let numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
            numbers.take(4).map(|word| word.parse::<u64>().unwrap()).collect::<Vec<_>>()
        });
        let counts: Vec<Vec<u64>> = counts.collect();
        assert!(counts.iter().map(|row| row[0]).eq(games), "{finished:#?}");
        assert!(counts.iter().all(|row| row[0] == row[1..].iter().sum::<u64>()), "{counts:?}");
    }
}

#[test]
fn the_checksum_is_that_of_the_file() {
    let bench = Bench::new();
    bench.write("games.pgn", "; something before\n\n");
    let more = "-each nodes=1 -rounds 1 -pgnout file=games.pgn -crc32 pgn=true";
    let finished = compat(&bench, "fastchess", more).expect_code(0);
    let mut crc = !0u32;
    for byte in bench.read("games.pgn").bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
        }
    }
    let path = bench.path("games.pgn");
    let name = path.file_name().unwrap().to_string_lossy();
    let line = finished.stdout.lines().find(|line| line.contains("has CRC32: "));
    let line = line.unwrap_or_else(|| panic!("{finished:#?}"));
    assert!(line.starts_with("File ") && line.contains(&*name), "{line}");
    assert!(line.ends_with(&format!(" {:#x}", !crc)), "{line} {:#x}", !crc);
}

#[test]
fn sprt_figures_use_the_formulas_of_the_original() {
    // The expected log-likelihood ratio follows from the formulas of cutechess-cli 1.5, with bounds
    // of 0 and 100 BayesElo.
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -rounds 400 -repeat -sprt elo0=0 elo1=100 \
                alpha=0.05 beta=0.05 -ratinginterval 0";
    let illegal = ["--seed 1", "--mode illegal-move"];
    let finished = duel(&bench, "cutechess", illegal, more).expect_code(0);
    let score = lines(&finished, "Score of A vs B: ");
    let wins: f64 = score.last().unwrap().split(' ').nth(5).unwrap().parse().unwrap();
    // Definition of BayesElo, with half a game added to each result.
    let [won, other, all] = [wins + 0.5, 0.5, wins + 1.5];
    let draw_elo = 200.0 * ((all - other) / other * (all - won) / won).log10();
    let x = 10f64.powf(-draw_elo / 400.0);
    let elo = 100.0 * (1.0 + x) * (1.0 + x) / (4.0 * x);
    let at = |elo: f64| {
        let win = 1.0 / (1.0 + 10f64.powf((draw_elo - elo) / 400.0));
        let loss = 1.0 / (1.0 + 10f64.powf((draw_elo + elo) / 400.0));
        [win, loss, 1.0 - win - loss]
    };
    let terms = at(elo).into_iter().zip(at(0.0)).zip([won, other, other]);
    let llr: f64 = terms.map(|((one, null), count)| count * (one / null).ln()).sum();
    // The ratio has three digits, without trailing zeros.
    let llr = format!("{llr:.2}");
    let line = format!("SPRT: llr {} (", llr.trim_end_matches('0').trim_end_matches('.'));
    assert_eq!(lines(&finished, &line).len(), 1, "{line} {finished:#?}");
    assert!(lines(&finished, &line)[0].ends_with(", lbound -2.94, ubound 2.94 - H1 was accepted"));
    // In the format of cutechess, fastchess prints the ratio of single games and, on request, also
    // Arbiter's ratio.
    let more = format!("{more} -output format=cutechess -arbiter llr=true");
    let finished = duel(&bench, "fastchess", illegal, &more).expect_code(0);
    let ratio = |start: &str| {
        let line = lines(&finished, start);
        let word = line.last().and_then(|line| line.split(' ').nth(2)).map(str::to_owned);
        let word = word.unwrap_or_else(|| panic!("{finished:#?}"));
        word.trim_end_matches(',').parse::<f64>().unwrap()
    };
    assert!((ratio("SPRT: llr ") - ratio("Pairs: llr ")).abs() > 0.05, "{finished:#?}");
}
