//! Tests of command lines of fastchess and cutechess-cli, as in scripts of their users.

mod behaviour;
mod config;
mod failures;
mod files;
mod output;
mod rules;
mod tuners;

use rustix::process::Signal;

use crate::support::bench::{Bench, Finished};
use crate::support::snapshot::expect_next;
use crate::support::{pgn, plan, wait_for};

/// Returns an engine that plays random moves, as an argument list of the other programs.
fn engine(bench: &Bench, name: &str, args: &str) -> Vec<String> {
    let puppet = crate::support::programs::puppet().display();
    let marker = bench.marker();
    ["-engine".to_owned(), format!("cmd={puppet}"), format!("name={name}")]
        .into_iter()
        .chain([format!("args={args} --marker {marker}")])
        .collect()
}

/// Runs `arbiter compat` with two puppets; `more` are further options.
fn compat(bench: &Bench, program: &str, more: &str) -> Finished {
    duel(bench, program, ["--seed 1", "--seed 2"], more)
}

fn duel(bench: &Bench, program: &str, args: [&str; 2], more: &str) -> Finished {
    bench.write("book.epd", plan::openings(20));
    let subcommand = ["compat", program].into_iter().map(str::to_owned);
    let engines = engine(bench, "A", args[0]).into_iter().chain(engine(bench, "B", args[1]));
    let more = more.split_whitespace().map(str::to_owned);
    bench.arbiter(subcommand.chain(engines).chain(more)).finish()
}

/// Returns the lines that start with `start`.
fn lines<'a>(finished: &'a Finished, start: &str) -> Vec<&'a str> {
    finished.stdout.lines().filter(|line| line.starts_with(start)).collect()
}

#[test]
fn a_fastchess_match_is_reported_in_the_format_of_its_scripts() {
    let bench = Bench::new();
    let finished = compat(
        &bench,
        "fastchess",
        "-each nodes=1 proto=uci option.Hash=16 -openings file=book.epd format=epd \
         order=sequential start=3 -rounds 3 -games 2 -repeat -concurrency 2 -recover -srand 7 \
         -pgnout file=games.pgn nodes=true pv=false -epdout file=end.epd -ratinginterval 2 -report penta=true -autosaveinterval 0 \
         -event Spring Cup -site home \
         -draw movenumber=34 movecount=8 score=20 -resign movecount=3 score=600 -maxmoves 150 \
         -output format=fastchess -log file=x.log engine=true -variant standard",
    );
    let finished = finished.expect_code(0);
    let mut started = lines(&finished, "Started game ");
    started.sort_unstable();
    assert_eq!(started[..2], ["Started game 1 of 6 (A vs B)", "Started game 2 of 6 (B vs A)"]);
    assert_eq!(started.len(), 6);
    // These lines are in the order in which the games ended.
    let mut ended = lines(&finished, "Finished game ");
    ended.sort_unstable();
    assert_eq!(ended.len(), 6, "{finished:#?}");
    for (number, line) in (1..).zip(&ended) {
        let players = if number % 2 == 1 { "A vs B" } else { "B vs A" };
        let start = format!("Finished game {number} ({players}): ");
        assert!(line.starts_with(&start) && line.ends_with('}'), "{line}");
    }
    assert_eq!(lines(&finished, "Results of A vs B (1 nodes, 1t, 16MB, book.epd):").len(), 2);
    let games = lines(&finished, "Games: ");
    assert!(games[0].starts_with("Games: 4, Wins: ") && games[1].starts_with("Games: 6, "));
    assert_eq!(lines(&finished, "Ptnml(0-2): [").len(), 2);
    assert!(finished.stdout.contains("--\nFinished match\nTotal Time: 00:0"), "{finished:#?}");
    // The log contains the output only on request, but always the messages.
    let log = bench.read("x.log");
    assert!(!log.contains("fastchess --- "), "{log}");
    for (part, count) in [(" B ---> uciok\n", 1), (" B <--- ucinewgame\n", 6), ("[Engine] [", 500)]
    {
        assert!(log.matches(part).count() >= count, "{part} {log}");
    }
    assert!(
        log.matches(" B ---> uciok\n").count() <= 2,
        "an engine starts once in each place: {log}"
    );
    // The engines' output is still stored, as requested.
    let store = rusqlite::Connection::open(bench.path("results/arbiter.db")).unwrap();
    let kept = store.query_row("SELECT count(*) FROM transcripts", [], |row| row.get::<_, i64>(0));
    assert_eq!(kept, Ok(6));
    // The PGN contains the games of these lines, starting with the third opening.
    let text = bench.read("games.pgn");
    let played = pgn::parse(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    assert!(played.iter().all(|game| game.tag("Event") == "SpringCup"));
    assert!(played.iter().all(|game| game.tag("Site") == "home"));
    assert_eq!(bench.read("end.epd").lines().count(), 6);
    let results: Vec<&str> = ended.iter().filter_map(|line| line.split(' ').nth(6)).collect();
    assert_eq!(played.iter().map(|game| game.result.as_str()).collect::<Vec<_>>(), results);
    assert_eq!(
        bench.arbiter(["results"]).finish().expect_code(0).stdout.matches("match-").count(),
        1
    );
}

#[test]
fn a_cutechess_match_is_reported_in_the_format_of_its_scripts() {
    let bench = Bench::new();
    let more = "-each tc=inf nodes=1 restart=off -openings file=book.epd format=epd plies=4 \
                policy=default -rounds 2 -games 2 -repeat -pgnout games.pgn fi -ratinginterval 2 \
                -wait 1 -srand 3 -concurrency 1";
    let finished = compat(&bench, "cutechess", more).expect_code(0);
    let scores = lines(&finished, "Score of A vs B: ");
    assert_eq!(scores.len(), 4, "{finished:#?}");
    assert!(scores[0].ends_with("] 1") && scores[3].ends_with("] 4"), "{scores:?}");
    assert_eq!(lines(&finished, "Elo difference: ").len(), 2);
    assert!(finished.stdout.ends_with("Finished match\n"), "{finished:#?}");
    // Each game is reported as soon as it ends.
    let is_game_line = |line: &&str| line.contains("ed game ");
    let game_lines = finished.stdout.lines().filter(is_game_line).map(|line| {
        let parts: Vec<&str> = line.split(' ').collect();
        format!("{} {}", parts[0], parts[2])
    });
    let order = ["Started 1", "Finished 1", "Started 2", "Finished 2", "Started 3", "Finished 3"];
    assert_eq!(game_lines.take(6).collect::<Vec<_>>(), order);
    assert_eq!(pgn::parse(&bench.read("games.pgn")).map(|games| games.len()).ok(), Some(4));
    // The output format of the other program has the same effect.
    let bench = Bench::new();
    let more = "-each nodes=1 -openings file=book.epd -rounds 1 -output format=cutechess";
    let finished = compat(&bench, "fastchess", more).expect_code(0);
    assert_eq!(lines(&finished, "Score of A vs B: ").len(), 2, "{finished:#?}");
}

#[test]
fn compat_tests_end_with_exit_code_0_for_every_verdict() {
    let more = "-each nodes=1 -openings file=book.epd format=epd -rounds 500 -repeat \
                -sprt elo0=0 elo1=100 alpha=0.05 beta=0.05 model=normalized";
    for (program, args, expected) in [
        (
            "fastchess",
            ["--seed 1", "--mode illegal-move"],
            "SPRT ([0.00, 100.00]) completed - H1 was",
        ),
        (
            "fastchess",
            ["--mode illegal-move", "--seed 1"],
            "SPRT ([0.00, 100.00]) completed - H0 was",
        ),
        ("cutechess", ["--seed 1", "--mode illegal-move"], " - H1 was accepted"),
    ] {
        let bench = Bench::new();
        let more = if program == "cutechess" {
            more.replace(" model=normalized", "")
        } else {
            more.to_owned()
        };
        let finished = duel(&bench, program, args, &more).expect_code(0);
        assert!(finished.stdout.contains(expected), "{finished:#?}");
        // cutechess-cli prints the move.
        let end = if program == "cutechess" {
            " makes an illegal move: "
        } else {
            " makes an illegal move}"
        };
        assert!(finished.stdout.contains(end), "{finished:#?}");
    }
}

#[test]
fn compat_tournaments_have_the_pairings_of_the_original() {
    let bench = Bench::new();
    bench.write("book.epd", plan::openings(20));
    let subcommand = ["compat", "cutechess"].into_iter().map(str::to_owned);
    let engines = ["A", "B", "C"].map(|name| engine(&bench, name, "--seed 1"));
    let more = "-each nodes=1 -openings file=book.epd -tournament gauntlet -games 2 -rounds 2";
    let more = more.split_whitespace().map(str::to_owned);
    let all = subcommand.chain(engines.into_iter().flatten()).chain(more);
    let finished = bench.arbiter(all).finish().expect_code(0);
    assert_eq!(lines(&finished, "Finished game ").len(), 8, "{finished:#?}");
    assert!(lines(&finished, "Finished game ").iter().all(|line| line.contains('A')));
    assert_eq!(lines(&finished, "Rank Name").len(), 1, "{finished:#?}");
    // In fastchess, seeded engines also meet each other: there are three encounters, but two in
    // cutechess-cli.
    for (program, count) in [("fastchess", 12), ("cutechess", 4)] {
        let subcommand = ["compat", program].into_iter().map(str::to_owned);
        let engines = ["A", "B", "C"].map(|name| engine(&bench, name, "--seed 1"));
        let more = "-each nodes=1 -maxmoves 1 -tournament gauntlet -seeds 2 -rounds 2";
        let more = more.split_whitespace().map(str::to_owned);
        let all = subcommand.chain(engines.into_iter().flatten()).chain(more);
        let finished = bench.arbiter(all).finish().expect_code(0);
        assert_eq!(lines(&finished, "Finished game ").len(), count, "{finished:#?}");
    }
    // A knockout is always played in pairs, so three engines play at least two pairs.
    let subcommand = ["compat", "cutechess"].into_iter().map(str::to_owned);
    let engines = ["A", "B", "C"].map(|name| engine(&bench, name, "--seed 1"));
    let more = "-each nodes=1 -openings file=book.epd -tournament knockout -games 1";
    let more = more.split_whitespace().map(str::to_owned);
    let all = subcommand.chain(engines.into_iter().flatten()).chain(more);
    let finished = bench.arbiter(all).finish().expect_code(0);
    let games = lines(&finished, "Finished game ").len();
    assert!(games >= 4 && games.is_multiple_of(2), "{finished:#?}");
}

#[test]
fn engines_come_from_the_list_of_cutechess() {
    let bench = Bench::new();
    let puppet = crate::support::programs::puppet().display().to_string();
    let engine = |name: &str, seed: u32| {
        format!(
            r#"{{"name": "{name}", "command": "{puppet}", "protocol": "uci",
                "workingDirectory": "", "initStrings": ["debug off"],
                "options": [{{"name": "Hash", "value": {seed}}}, {{"name": "Ponder"}}]}}"#
        )
    };
    bench.write("engines.json", format!("[{}, {}]", engine("one", 1), engine("two", 2)));
    let compat = |more: &str| {
        let command_line = format!("compat cutechess -each nodes=1 -games 2 {more}");
        bench.arbiter(command_line.split_whitespace()).finish()
    };
    let finished = compat("-engine conf=one -engine conf=two").expect_code(0);
    assert_eq!(lines(&finished, "Finished game 2 (two vs one): ").len(), 1, "{finished:#?}");
    let refused = compat("-engine conf=one -engine conf=three");
    refused.expect_error(1);
}

#[test]
fn unsupported_compat_options_are_rejected_with_a_reason() {
    let bench = Bench::new();
    for more in [
        "-concurency 2",
        "-concurrency many",
        "-config file=none.json",
        "-engine cmd=x colour=red",
        "-each tc=abc",
        "-rounds 3 -games 3",
        "-variant atomic",
        "-openings file=book.epd policy=often",
        "-openings file=none.epd",
        "-sprt elo0=0 elo1=5 model=best",
        "-tournament swiss",
        "-use-affinity 1-",
        "-pgnout file=x.pgn notation=long",
        "-pgnout file=x.pgn match_line=(",
        "-each tc=inf",
        "-arbiter contention=much",
        "-recover yes",
        // fastchess also rejects the following options.
        "-each tc=10 st=1",
        "-variant fischerandom",
        "-pgnout games.pgn",
        "-epdout end.epd",
        "-concurrency 5000",
        "-sprt elo0=0 elo1=5 alpha=0.05",
        "-quick cmd=x book=book.epd",
        "-each proto=xboard",
    ] {
        let more =
            if more.contains("tc=") { more.to_owned() } else { format!("{more} -each nodes=1") };
        compat(&bench, "fastchess", &more).expect_error(1);
    }
    let refused = compat(&bench, "cutechess", "-games 2");
    refused.expect_error(1);
    let refused = compat(&bench, "cutechess", "-each nodes=1 -variant fischerandom");
    refused.expect_error(1);
    let alone = ["compat", "cutechess", "-engine", "cmd=x"];
    bench.arbiter(alone).finish().expect_error(1);
}

#[test]
fn a_saved_run_resumes_as_in_fastchess() {
    let bench = Bench::new();
    let game = "-each nodes=1 -openings file=book.epd format=epd -rounds 60 -repeat \
                -concurrency 2 -ratinginterval 0 -pgnout file=games.pgn -config outname=saved.json";
    bench.write("book.epd", plan::openings(20));
    let subcommand = ["compat", "fastchess"].into_iter().map(str::to_owned);
    let engines =
        engine(&bench, "A", "--seed 1").into_iter().chain(engine(&bench, "B", "--seed 2"));
    let line: Vec<String> =
        subcommand.chain(engines).chain(game.split_whitespace().map(str::to_owned)).collect();
    let running = bench.arbiter(&line);
    let games = || std::fs::read_to_string(bench.path("games.pgn")).ok();
    wait_for("two pairs", || games().filter(|text| text.matches("[Event ").count() >= 4));
    running.signal(Signal::KILL);
    running.finish();
    let go_on = [
        "compat",
        "fastchess",
        "-config",
        "file=saved.json",
        "-concurrency",
        "1",
        "-ratinginterval",
        "0",
    ];
    let second = bench.arbiter(go_on).finish().expect_code(0);
    // The resumed run starts where the first run stopped, and ends with the counts of all games.
    let ended = lines(&second, "Finished game ");
    assert!((2..117).contains(&ended.len()), "{} games", ended.len());
    assert!(ended.last().unwrap().starts_with("Finished game 120 (B vs A): "), "{ended:?}");
    let counts = lines(&second, "Games: ").last().map(|line| (*line).to_owned()).unwrap();
    assert!(counts.starts_with("Games: 120, Wins: "), "{second:#?}");
    // The result of a finished match is printed again, and options before `-config` have no effect.
    let again = bench.arbiter(line.iter().map(String::as_str).chain(go_on[2..].iter().copied()));
    let again = again.finish().expect_code(0);
    assert_eq!(lines(&again, "Games: "), [counts]);
    assert!(again.stderr.contains("-each, -openings"), "{again:#?}");
    assert!(again.stdout.contains("Finished match\nTotal Time: "), "{again:#?}");
    // A file of another program is neither read nor overwritten.
    bench.write("config.json", "{}");
    let foreign = bench.arbiter(["compat", "fastchess", "-config", "file=config.json"]).finish();
    foreign.expect_error(1);
    let beside = compat(&bench, "fastchess", "-each nodes=1 -rounds 1 -repeat").expect_code(0);
    expect_next(&beside.stderr);
    assert_eq!(bench.read("config.json"), "{}");
}
