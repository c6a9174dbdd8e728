//! Tests of behaviour copied from the other programs.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{compat, duel, engine, lines};
use crate::support::bench::{Bench, Finished};
use crate::support::{pgn, plan, programs, wait_for};

/// Returns the games of `games.pgn`: White, Black, and the starting position.
fn games(bench: &Bench) -> Vec<(String, String, String)> {
    let games = pgn::parse(&bench.read("games.pgn")).unwrap_or_else(|fault| panic!("{fault}"));
    let tags = |game: &pgn::Game| ["White", "Black", "FEN"].map(|tag| game.tag(tag).to_owned());
    games.iter().map(tags).map(|[white, black, fen]| (white, black, fen)).collect()
}

/// Runs a match of two puppets without names.
fn nameless(bench: &Bench, program: &str, more: &str) -> Finished {
    let mut command_line = vec!["compat".to_owned(), program.to_owned()];
    for seed in ["1", "2"] {
        let [.., cmd, _, args] = &engine(bench, "-", &format!("--seed {seed}"))[..] else {
            panic!("an engine has a program, a name and arguments");
        };
        command_line.extend(["-engine".to_owned(), cmd.clone(), args.clone()]);
    }
    command_line.extend(more.split_whitespace().map(str::to_owned));
    bench.arbiter(command_line).finish()
}

#[test]
fn a_link_or_a_copy_is_the_program_whose_name_it_has() {
    let bench = Bench::new();
    // The folder is created, and an existing link is replaced.
    for _ in 0..2 {
        bench.arbiter(["compat", "install", "bin"]).finish().expect_code(0);
    }
    let output_of = |name: &str, flag: &str| {
        bench.start(&bench.path(name), [flag]).finish().expect_code(0).stdout
    };
    // fishtest and OpenBench query the version like this, and expect a commit at the end of a line.
    for name in ["bin/fastchess", "bin/fastchess-ob"] {
        for flag in ["-version", "--version"] {
            let version = output_of(name, flag);
            let pattern = r"(?m)^fastchess alpha \d+\.\d+\.\d+ \d+-[0-9a-f]{7,}$";
            assert!(regex_lite::Regex::new(pattern).unwrap().is_match(&version), "{version}");
            assert!(version.contains("\narbiter "), "{version}");
        }
    }
    assert!(output_of("bin/cutechess-cli", "--version").starts_with("cutechess-cli 1."));
    assert!(output_of("bin/fastchess", "-help").contains("\n  -ratinginterval N\n"));
    // A copy also plays, with itself as the bundled engine.
    std::fs::hard_link(programs::arbiter(), bench.path("fastchess"))
        .or_else(|_| std::fs::copy(programs::arbiter(), bench.path("fastchess")).map(drop))
        .unwrap();
    let line = "-engine cmd=bundled name=A -engine cmd=bundled name=B -each nodes=1 -rounds 1";
    let played = bench.start(&bench.path("fastchess"), line.split(' ')).finish().expect_code(0);
    assert_eq!(lines(&played, "Finished game 2 (B vs A): ").len(), 1, "{played:#?}");
    let unknown = bench.start(&bench.path("fastchess"), ["-engne"]).finish();
    unknown.expect_error(1);
}

#[test]
fn without_a_seed_each_run_is_different() {
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd order=random -rounds 1 -arbiter verbose=true";
    let seed = |more: &str| {
        let finished = compat(&bench, "fastchess", more).expect_code(0);
        let (_, seed) = finished.stderr.split_once(", seed ").expect("it is shown");
        seed.split(',').next().expect("there is a first part").to_owned()
    };
    let (first, second) = (seed(more), seed(more));
    assert_ne!(first, second);
    let largest = u64::MAX.to_string();
    assert_eq!(seed(&format!("{more} -srand {largest}")), largest);
}

#[test]
fn engines_without_a_name_get_one() {
    let bench = Bench::new();
    let finished = nameless(&bench, "fastchess", "-each nodes=1 -rounds 1").expect_code(0);
    assert_eq!(lines(&finished, "Started game 1 of 2 (puppet vs puppet_2)").len(), 1);
    let finished = nameless(&bench, "cutechess", "-each nodes=1 -games 2").expect_code(0);
    assert_eq!(lines(&finished, "Started game 2 of 2 (Puppet_2 vs Puppet)").len(), 1);
}

#[test]
fn unknown_options_are_skipped_with_a_warning() {
    let bench = Bench::new();
    let logs = bench.logs();
    let more = "-each nodes=1 option.Nonsense=3 option.Hash=-16 option.Threads=1 -rounds 1 \
                -openings file=book.epd";
    let finished = duel(&bench, "fastchess", [&logs, &logs], more).expect_code(0);
    assert_eq!(
        lines(&finished, "Warning; "),
        [
            "Warning; A doesn't have option Nonsense",
            "Warning; Invalid value for option Hash; -16",
            "Warning; B doesn't have option Nonsense",
            "Warning; Invalid value for option Hash; -16",
        ]
    );
    for input in bench.conversations() {
        let options: Vec<&String> =
            input.iter().filter(|line| line.contains("setoption")).collect();
        assert_eq!(options, ["setoption name Threads value 1"]);
    }
    let gone = duel(&bench, "fastchess", ["--mode exit-at-start", ""], "-each nodes=1");
    assert_eq!(lines(&gone, "Fatal; A engine startup failure: ").len(), 1, "{gone:#?}");
    assert_ne!(gone.code, Some(0));
}

#[test]
fn a_signal_ends_the_run_in_time_and_it_can_be_resumed() {
    for signal in [Signal::INT, Signal::TERM] {
        let bench = Bench::new();
        bench.write("book.epd", plan::openings(20));
        let slow = "--mode slow --delay-ms 20000 --in-game 3";
        let subcommand = ["compat", "fastchess"].map(str::to_owned).into_iter();
        let engines = engine(&bench, "A", slow).into_iter().chain(engine(&bench, "B", "--seed 2"));
        let more = "-each tc=60+1 -openings file=book.epd -rounds 3 -pgnout file=games.pgn \
                    -maxmoves 5";
        let more = more.split_whitespace().map(str::to_owned);
        // A program that a script starts in the background inherits ignored signals, but must obey
        // them nevertheless.
        let script = r#"trap '' INT TERM; exec "$0" "$@""#;
        let shell = ["-c".to_owned(), script.to_owned(), programs::arbiter().display().to_string()];
        let line = shell.into_iter().chain(subcommand).chain(engines).chain(more);
        let running = bench.start(Path::new("/bin/sh"), line);
        let counted = || std::fs::read_to_string(bench.path("games.pgn")).ok();
        wait_for("a pair", || counted().filter(|text| text.matches("[Event ").count() == 2));
        let signalled = Instant::now();
        running.signal(signal);
        let finished = running.finish().expect_code(1);
        assert!(signalled.elapsed() < Duration::from_secs(2), "{:?}", signalled.elapsed());
        let called = format!("{} compat fastchess", programs::arbiter().display());
        let end = format!(
            "Tournament was interrupted. To resume the tournament, run: {called} -config \
             file=config.json\nFinished match\n"
        );
        assert!(finished.stdout.contains(&end), "{finished:#?}");
        assert_eq!(lines(&finished, "Results of "), [""; 0], "{finished:#?}");
        bench.wait_until_quiet();
        assert_eq!(games(&bench).len(), 2);
    }
}

#[test]
fn single_games_have_the_openings_and_colours_of_the_other_programs() {
    let openings = plan::openings(20);
    let fens: Vec<String> = openings.lines().map(|line| line[..20].to_owned()).collect();
    // `expected` contains, for each game, the index of its opening, from 0, and `true` if A is
    // White.
    let check = |program: &str, more: &str, expected: &[(usize, bool)]| {
        let bench = Bench::new();
        let more = format!("{more} -each nodes=1 -openings file=book.epd -pgnout file=games.pgn");
        compat(&bench, program, &more).expect_code(0);
        let order = |(white, _, fen): &(String, String, String)| {
            (
                fens.iter().position(|opening_fen| fen.starts_with(opening_fen.as_str())),
                white == "A",
            )
        };
        let played: Vec<_> = games(&bench).iter().map(order).collect();
        let expected: Vec<_> = expected.iter().map(|(place, is)| (Some(*place), *is)).collect();
        assert_eq!(played, expected, "{program} {more}");
    };
    check("fastchess", "-games 1 -rounds 3", &[(0, true), (1, false), (2, true)]);
    check("fastchess", "-games 2 -rounds 1 -noswap", &[(0, true), (0, true)]);
    check(
        "fastchess",
        "-games 4 -rounds 2 -reverse",
        &[
            (0, false),
            (0, true),
            (1, false),
            (1, true),
            (2, false),
            (2, true),
            (3, false),
            (3, true),
        ],
    );
    check("cutechess", "-games 2 -rounds 2", &[(0, true), (1, false), (2, true), (3, false)]);
    check("cutechess", "-rounds 3 -repeat", &[(0, true), (0, false), (1, true)]);
    check("cutechess", "-games 4 -repeat 4", &[(0, true), (0, false), (0, true), (0, false)]);
    check("cutechess", "-rounds 3 -repeat 3", &[(0, true), (0, false), (0, true)]);
}

#[test]
fn books_begin_again_and_may_be_those_of_the_engines() {
    let bench = Bench::new();
    let more = "-each nodes=1 -rounds 1 -pgnout file=games.pgn append=false";
    let wrapped = format!("{more} -openings file=book.epd start=21");
    // The old content of the file is overwritten.
    for _ in 0..2 {
        compat(&bench, "fastchess", &wrapped).expect_code(0);
    }
    let played = games(&bench);
    assert_eq!(played.len(), 2);
    let first = plan::openings(1);
    assert!(played.iter().all(|(.., fen)| fen[..20] == first[..20]), "{played:?}");
    // A book of both engines is the book of the run; a book of one engine is ignored.
    let both = "-each nodes=1 book=book.epd bookdepth=3 -rounds 2 -repeat -pgnout file=games.pgn";
    compat(&bench, "cutechess", both).expect_code(0);
    assert_eq!(games(&bench)[2..], played);
    let one = "-each nodes=1 -engine cmd=x name=C nodes=1 book=book.epd -games 2";
    compat(&bench, "cutechess", one).expect_error(1);
}

#[test]
fn command_lines_of_chess_tuning_tools_get_the_expected_output() {
    let bench = Bench::new();
    let puppet = format!("{} --seed 1 --marker {}", programs::puppet().display(), bench.marker());
    bench.write("book.epd", plan::openings(20));
    let engine = |name: &str| {
        let lines = ["uci", "setoption name Threads value 1", "setoption name Hash value 8"];
        serde_json::json!({"command": puppet, "name": name, "initStrings": lines, "protocol": "uci"})
    };
    let list = serde_json::json!([engine("engine1"), engine("engine2")]);
    bench.write("engines.json", list.to_string());
    let line = "compat cutechess -concurrency 1 -engine conf=engine1 nodes=1 -engine conf=engine2 nodes=1 \
                -openings file=book.epd format=epd order=random -draw movenumber=30 movecount=5 \
                score=10 -resign movecount=3 score=550 twosided=false -rounds 4 -games 2 -repeat \
                -recover -debug -pgnout out.pgn";
    let finished = bench.arbiter(line.split_whitespace()).finish().expect_code(0);
    // After each game, one more line with the score is printed, and games are numbered.
    let scores = lines(&finished, "Score of engine1 vs engine2: ");
    let totals = scores.iter().map(|line| {
        let counts = line.split(':').nth(1).unwrap().split('[').next().unwrap();
        counts.split(" - ").map(|count| count.trim().parse::<u64>().unwrap()).sum::<u64>()
    });
    assert!(totals.eq(1..=8), "{scores:?}");
    let ended = lines(&finished, "Finished game ");
    let numbers = ended.iter().map(|line| line.split(' ').nth(2).unwrap().parse::<u64>().unwrap());
    assert!(numbers.eq(1..=8), "{ended:?}");
    // Each two successive games have the same opening.
    let openings: Vec<String> = {
        let text = bench.read("out.pgn");
        let played = pgn::parse(&text).unwrap_or_else(|fault| panic!("{fault}"));
        played.iter().map(|game| game.tag("FEN").to_owned()).collect()
    };
    assert!(openings.chunks(2).all(|two| two[0] == two[1]), "{openings:?}");
}

#[test]
fn compat_time_controls_match_the_originals() {
    let bench = Bench::new();
    for (control, shown) in [
        ("inf/5+0.5", "5+0.5"),
        ("0/60+0", "60"),
        ("4/0:50s", "4/50"),
        ("infinite nodes=3", "3 nodes"),
        ("0+0 nodes=3", "3 nodes"),
    ] {
        let more = format!("-each tc={control} -rounds 1 -openings file=book.epd -maxmoves 3");
        let finished = compat(&bench, "fastchess", &more).expect_code(0);
        let block = format!("Results of A vs B ({shown}, 1t, 16MB, book.epd):");
        assert_eq!(lines(&finished, &block).len(), 1, "{finished:#?}");
    }
}

#[test]
fn program_names_are_looked_up_as_in_the_originals() {
    let bench = Bench::new();
    for name in ["true", "e1"] {
        let puppet = programs::puppet();
        std::os::unix::fs::symlink(puppet, bench.path(name)).expect("a link can be made");
    }
    let run = |program: &str| {
        let line = format!(
            "compat {program} -engine cmd=true name=A -engine cmd=e1 name=B -each nodes=1 \
             -rounds 1 -games 2 -maxmoves 3"
        );
        bench.arbiter(line.split_whitespace()).finish()
    };
    // cutechess-cli prefers the file in the current folder, fastchess the program in `PATH`.
    run("cutechess").expect_code(0);
    run("fastchess").expect_code(1);
}
