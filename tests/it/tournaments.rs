//! Tests of tournaments of many engines, and of signals at any time, which must not lose a game.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::bench::{Bench, Finished, Running};
use crate::support::plan::{Plan, openings};
use crate::support::{pgn, programs, store};

/// Tournament format, with the numbers that make it interesting.
#[derive(Debug, Clone, Copy)]
struct Format {
    name: &'static str,
    flags: &'static [(&'static str, &'static str)],
    engines: usize,
}

const KNOCKOUT: Format = Format {
    name: "knockout",
    flags: &[("schedule tie-breaks", "2"), ("schedule seeds", "3")],
    engines: 6,
};

const FORMATS: [Format; 6] = [
    Format { name: "round-robin", flags: &[("rounds", "2"), ("pairs", "1")], engines: 4 },
    Format { name: "gauntlet", flags: &[("schedule seeds", "2")], engines: 5 },
    Format { name: "pyramid", flags: &[], engines: 4 },
    KNOCKOUT,
    Format { name: "swiss", flags: &[("rounds", "3")], engines: 5 },
    Format { name: "ladder", flags: &[("rounds", "2")], engines: 4 },
];

/// Returns a tournament of puppets with different moves; every other puppet is stronger.
fn tournament(bench: &Bench, format: Format) -> Plan<'_> {
    let plan = Plan::new(bench, "tournament", 2).set("schedule", format.name).set("concurrency", 3);
    let plan = (1..=format.engines).fold(plan, |plan, seed| {
        let skill = if seed % 2 == 0 { "greedy" } else { "random" };
        plan.puppet(&format!("E{seed}"), &format!("--skill {skill} --seed {seed}"))
    });
    format.flags.iter().fold(plan, |plan, (flag, value)| plan.set(flag, value))
}

/// Outcome of a tournament: its report and its games.
#[derive(Debug, PartialEq)]
struct Outcome {
    json: Value,
    pgn: String,
}

impl Outcome {
    #[track_caller]
    fn read(bench: &Bench, finished: Finished) -> Outcome {
        let finished = finished.expect_code(0);
        Outcome { json: finished.json(), pgn: bench.read("games.pgn") }
    }

    fn of(format: Format) -> Outcome {
        let bench = Bench::new();
        Outcome::read(&bench, tournament(&bench, format).run())
    }
}

fn resume(bench: &Bench) -> Running {
    let results = bench.path("results").display().to_string();
    bench.arbiter(["tournament", "--resume", "run", "--results", &results, "--format", "json"])
}

/// Random numbers for choosing times (xorshift of G. Marsaglia).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Statistics of interrupted tournaments.
#[derive(Debug, Default)]
struct InterruptionCounts {
    /// Signals that reached a run before its end, by signal.
    cuts: BTreeMap<&'static str, u32>,
    /// Number of these signals after which the run was in the store and had to be resumed.
    resumed: u32,
    /// Number of tournaments played to their end.
    finished: u32,
    /// Number of games missing in the store or in the PGN.
    missing: usize,
    /// Number of games that occurred more than once.
    doubled: usize,
}

impl InterruptionCounts {
    fn cuts(&self) -> u32 {
        self.cuts.values().sum()
    }

    /// Compares the games of a finished tournament with the expected ones.
    fn audit(&mut self, bench: &Bench, expected: &Outcome) {
        let rounds = |pgn: &str| -> BTreeMap<String, usize> {
            let tags = pgn.lines().filter(|line| line.starts_with("[Round "));
            tags.fold(BTreeMap::new(), |mut counts, tag| {
                *counts.entry(tag.to_owned()).or_default() += 1;
                counts
            })
        };
        let written = rounds(&bench.read("games.pgn"));
        let scheduled = rounds(&expected.pgn);
        let stored: usize = store::pairs(&bench.path("results")).values().map(Vec::len).sum();
        self.missing += scheduled.keys().filter(|round| !written.contains_key(*round)).count();
        self.missing += scheduled.len().saturating_sub(stored);
        self.doubled += written.values().map(|times| times - 1).sum::<usize>();
        self.doubled += stored.saturating_sub(scheduled.len());
        self.finished += 1;
    }
}

/// Interrupts tournaments of one format until there were `cuts` signals, and plays the last
/// tournament to its end. The times are random, so the function sleeps for a guessed time on
/// purpose.
fn cut_short(format: Format, cuts: u32, dice: &mut Dice, toll: &mut InterruptionCounts) {
    // The programs are built at their first use, which must not be part of a tournament.
    let _ = (programs::arbiter(), programs::puppet());
    let start = Instant::now();
    let expected = Outcome::of(format);
    let mut longest_ms = start.elapsed().as_millis() as u64;
    let before = toll.cuts();
    while toll.cuts() < before + cuts {
        let bench = Bench::new();
        let mut running = tournament(&bench, format).start();
        loop {
            std::thread::sleep(Duration::from_millis(dice.below(longest_ms)));
            let is_enough = toll.cuts() == before + cuts;
            if is_enough {
                break;
            }
            if running.has_ended() {
                // The machine may have been busier when the first tournament was timed.
                longest_ms = longest_ms / 2 + 1;
                break;
            }
            let (name, signal, codes) = match dice.below(4) {
                0 => ("KILL", Signal::KILL, [None, None]),
                1 => ("TERM", Signal::TERM, [Some(143), None]),
                2 => ("HUP", Signal::HUP, [Some(143), None]),
                _ => ("INT", Signal::INT, [Some(130), None]),
            };
            running.signal(signal);
            let finished = running.finish();
            // The run may end by itself before it handles the signal; before it installs signal
            // handlers, any signal ends it.
            let is_complete = finished.code == Some(0);
            assert!(is_complete || codes.contains(&finished.code), "{name}: {finished:#?}");
            bench.wait_until_quiet();
            if !is_complete {
                *toll.cuts.entry(name).or_default() += 1;
            }
            let is_begun = store::has_run(&bench.path("results"), "run");
            toll.resumed += u32::from(is_begun && !is_complete);
            running = if is_begun {
                resume(&bench)
            } else {
                // The store contains no game, so there is nothing to resume.
                tournament(&bench, format).start()
            };
        }
        let outcome = Outcome::read(&bench, running.finish());
        store::assert_consistent(&bench.path("results"));
        toll.audit(&bench, &expected);
        assert_eq!(outcome.pgn, expected.pgn, "{format:?}: games differ");
        assert_eq!(outcome.json, expected.json, "{format:?}");
    }
}

#[test]
fn interrupted_tournaments_lose_no_game() {
    let mut toll = InterruptionCounts::default();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for format in FORMATS {
        cut_short(format, 2, &mut dice, &mut toll);
    }
    assert_eq!((toll.missing, toll.doubled), (0, 0), "{toll:?}");
}

/// Long version of the test above. `cargo test -p tests --test it -- --ignored a_hundred
/// --nocapture` prints its statistics.
#[test]
#[ignore = "takes minutes"]
fn a_hundred_signals_at_random_instants_lose_no_game() {
    let mut toll = InterruptionCounts::default();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut dice = Dice(now.expect("it is after 1970").as_nanos() as u64 | 1);
    for (number, format) in (0..).zip(FORMATS) {
        // 17 signals for each of four formats and 16 for each of two make 100.
        cut_short(format, if number < 4 { 17 } else { 16 }, &mut dice, &mut toll);
        eprintln!("{}: {toll:?}", format.name);
    }
    assert_eq!(toll.cuts(), 100);
    assert_eq!((toll.missing, toll.doubled), (0, 0), "{toll:?}");
}

#[test]
fn results_and_pairings_do_not_depend_on_concurrency() {
    for format in FORMATS {
        let outcome = |games: usize| {
            let bench = Bench::new();
            Outcome::read(&bench, tournament(&bench, format).set("concurrency", games).run())
        };
        assert_eq!(outcome(1), outcome(4), "{format:?}");
    }
}

/// Returns the points of each engine from the written games, in half points.
fn half_points(text: &str) -> BTreeMap<String, usize> {
    let mut points = BTreeMap::new();
    for game in pgn::parse(text).expect("the games are legal") {
        for side in ["White", "Black"] {
            let name = game.tag(side);
            *points.entry(name.to_owned()).or_default() += game.half_points(name);
        }
    }
    points
}

#[test]
fn standings_agree_with_the_games() {
    for format in FORMATS {
        let bench = Bench::new();
        let finished = tournament(&bench, format).run().expect_code(0);
        let json = finished.json();
        let points = half_points(&bench.read("games.pgn"));
        let tournament = &json["tournament"];
        assert_eq!(tournament["format"], format.name);
        let byes = tournament["byes"].as_array().expect("a list");
        let rows = tournament["standings"].as_array().expect("a list");
        assert_eq!(rows.len(), format.engines);
        for row in rows {
            let name = row["engine"].as_str().expect("a name");
            // A bye of two pairs counts two points.
            let sat_out = byes.iter().filter(|bye| bye["engine"] == name).count();
            let halves = points.get(name).copied().unwrap_or(0) + 4 * sat_out;
            assert_eq!(row["points"].as_f64(), Some(halves as f64 / 2.0), "{format:?}: {row}");
        }
        // The result that is printed later equals the result at the end of the run.
        let results = bench.path("results").display().to_string();
        let args = ["results", "--results", &results, "--format", "json", "show", "run"];
        assert_eq!(bench.arbiter(args).finish().expect_code(0).json(), json);
    }
}

#[test]
fn the_winner_of_a_knockout_has_won_all_its_encounters() {
    let bench = Bench::new();
    let json = tournament(&bench, KNOCKOUT).run().expect_code(0).json();
    let tournament = &json["tournament"];
    let winner = tournament["winner"].as_str().expect("somebody wins");
    let encounters = tournament["schedule"].as_array().expect("a list");
    assert_eq!(encounters.len(), 5);
    for encounter in encounters {
        let points = |key: &str| encounter[key].as_f64().expect("points");
        let margin = points("first_points") - points("second_points");
        // The first engine is the higher seed, which advances if the encounter is drawn.
        assert!(encounter["first"] != winner || margin >= 0.0, "{encounter}");
        assert!(encounter["second"] != winner || margin < 0.0 + f64::EPSILON, "{encounter}");
        let pairs = encounter["pairs"].as_u64().expect("a count");
        assert!(pairs == 2 || (3..=4).contains(&pairs), "{encounter}");
    }
    assert_eq!(tournament["standings"][0]["engine"], winner);
}

#[test]
fn tournament_settings_of_file_and_flags_agree() {
    let keys = "schedule = \"swiss,seeds=2\"\nrounds = 2\ngames = 2\nwait = 1\nreverse = true\n\
                pgn = \"games.pgn\"\n[openings]\nfile = \"book.epd\"\npolicy = \"per-pair\"\n\
                start = 3\norder = \"sequential\"\n";
    let flags = ["--rounds=2", "--games=2", "--schedule", "seeds=2", "--wait", "1", "--reverse"];
    let more = ["--openings", "policy=per-pair,start=3,order=sequential"];
    let play = |toml: &str, args: &[&str]| {
        let bench = Bench::new();
        bench.write("book.epd", openings(10));
        bench.write("arbiter.toml", toml);
        let mut line: Vec<String> = vec!["tournament".to_owned()];
        line.extend(args.iter().map(|arg| (*arg).to_owned()));
        line.extend(["--each", "nodes=1", "--format", "json", "--name", "x"].map(str::to_owned));
        for seed in 1..=4 {
            let spec = bench.puppet(&format!("E{seed}"), &format!("--seed {seed}"), "");
            line.extend(["--engine".to_owned(), spec]);
        }
        Outcome::read(&bench, bench.arbiter(line).finish())
    };
    let by_flags: Vec<&str> = ["swiss"]
        .into_iter()
        .chain(flags)
        .chain(more)
        .chain(["--openings", "book.epd", "--pgn", "games.pgn"])
        .collect();
    let outcome = play("", &by_flags);
    assert_eq!(play(keys, &[]), outcome);
    // Four pairs, each from a different opening, starting with the third opening of the book.
    let fens: Vec<&str> =
        outcome.pgn.lines().filter_map(|line| line.strip_prefix("[FEN \"")).collect();
    let book = openings(10);
    let expected = book.lines().skip(2).take(4).flat_map(|opening| [opening; 2]);
    let is_same = |(fen, opening): (&&str, &str)| fen.starts_with(opening);
    assert_eq!(fens.len(), 8);
    assert!(fens.iter().zip(expected).all(is_same), "{fens:?}");
    // With seeds first and reversed colours, the second engine is White in the first game.
    let first = outcome.json["tournament"]["schedule"][0].clone();
    let white = outcome.pgn.lines().find_map(|line| line.strip_prefix("[White \""));
    let second = first["second"].as_str().expect("a name");
    assert_eq!(white.map(|rest| rest.trim_end_matches("\"]")), Some(second));
}

#[test]
fn without_swap_every_game_counts_by_itself() {
    let bench = Bench::new();
    let plan =
        |command| Plan::new(&bench, command, 1).puppet("A", "--seed 1").puppet("B", "--seed 2");
    let args = ["--noswap", "--games", "6"];
    let specs = [bench.puppet("A", "--seed 1", ""), bench.puppet("B", "--seed 2", "")];
    let line = ["match", "--each", "nodes=1", "--format", "json", "--pgn", "games.pgn"];
    let engines = specs.iter().flat_map(|spec| ["--engine", spec]);
    let finished = bench.arbiter(line.into_iter().chain(args).chain(engines)).finish();
    let json = finished.expect_code(0).json();
    assert_eq!(json["games"], 6);
    assert_eq!(json["pairs"], 0);
    assert_eq!(json["evidence_unit"], "game");
    assert!(json["elo"].is_f64() || json["wins"] == 6 || json["losses"] == 6, "{json:#}");
    let pgn = bench.read("games.pgn");
    assert_eq!(pgn.matches("[White \"A\"]").count(), 6);
    // An SPRT would mistake the advantage of a colour for strength.
    let specs = specs.iter().flat_map(|spec| ["--engine", spec]);
    let line = ["sprt", "--noswap", "--each", "nodes=1"].into_iter().chain(specs);
    bench.arbiter(line).finish().expect_error(3);
    plan("tournament").set("schedule", "swiss").set("schedule seeds", 3).run().expect_error(3);
}
