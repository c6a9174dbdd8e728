//! Time to generate the report page of a long run, and size of the page.
//!
//! The benchmark generates a run of 10,000 games of realistic length, with search information for
//! each move. To use other runs, set the environment variable `REPORT_STORE` to the folder of a
//! store, and `REPORT_RUNS` to the names of runs in this store, separated by commas. The budget is
//! 2 s and 3 MB.

#![expect(clippy::disallowed_methods, reason = "a benchmark")]
#![allow(
    unreachable_pub,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arbiter::{Cli, ExitCode};
use arbiter_game::outcome::{Outcome, Termination};
use arbiter_game::record::{GameRecord, MoveRecord, SearchInfo};
use arbiter_plan::{Plan, Request, RunKind};
use arbiter_protocol::Score;
use arbiter_run::{Games, PlayedPair};
use arbiter_store::{EngineHashes, Fingerprints, Offsets, Store};
use clap::Parser;
use shakmaty::{ByColor, CastlingMode, Chess, Color, EnPassantMode, Position, fen::Fen};

const PAIRS: u64 = 5_000;

/// Number of plies of a game, including the opening.
const PLIES: usize = 110;
const BOOK: usize = 8;

/// Number of times that each page is generated; the shortest time is reported.
const ROUNDS: usize = 5;

fn main() {
    // `cargo bench` passes only `--bench`; any other arguments mean a test or a list of rows.
    if !std::env::args().skip(1).eq(["--bench".to_owned()]) {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder can be made");
    let (results, runs) = match std::env::var_os("REPORT_STORE") {
        Some(folder) => {
            let runs = std::env::var("REPORT_RUNS").expect("REPORT_RUNS names runs");
            (PathBuf::from(folder), runs.split(',').map(str::to_owned).collect())
        }
        None => {
            fill(dir.path());
            (dir.path().to_owned(), vec!["long".to_owned()])
        }
    };
    let out = dir.path().join("pages/");
    std::fs::create_dir_all(&out).expect("a folder can be made");
    for form in ["html", "md"] {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            let command_line =
                ["arbiter", "-q", "report", "--format", form, "--results"].map(str::to_owned);
            let paths = [&results, &out].map(|path| path.display().to_string());
            let [results, out] = paths;
            let command_line = command_line
                .into_iter()
                .chain([results, "--out".to_owned(), out])
                .chain(runs.clone());
            let cli = Cli::try_parse_from(command_line).expect("the command line is sound");
            assert_eq!(cli.run(), ExitCode::Passed);
            best = best.min(started.elapsed().as_secs_f64());
        }
        let size = |run: &String| {
            let file = out.join(format!("{run}.{form}"));
            std::fs::metadata(file).expect("the page is there").len()
        };
        let bytes: u64 = runs.iter().map(size).sum();
        println!("{form}: {best:.2} s, {:.2} MB for {}", bytes as f64 / 1e6, runs.join(", "));
    }
}

/// Creates a store with a long run.
fn fill(folder: &Path) {
    let mut store = Store::create(folder).expect("an empty folder takes a store");
    let plan =
        Plan::resolve(RunKind::Sprt, Request::default()).expect("a demonstration needs nothing");
    let hashes = |digit: &str| EngineHashes { program: digit.repeat(64), option_files: vec![] };
    let prints = Fingerprints {
        engines: vec![hashes("e"), hashes("f")],
        book: "b".repeat(64),
        ..Fingerprints::default()
    };
    // The SPRT of the demonstration would have ended earlier; a match plays all pairs.
    let mut plan = Plan { kind: RunKind::Match, sprt: None, ..plan };
    plan.design.pairs = PAIRS;
    store.begin_run("long", 0, &plan, &prints, Offsets::default(), None).expect("it is new");
    let schedule = plan.schedule();
    let mut random = 1;
    for pair in 0..PAIRS {
        let pairing = schedule.pairing(pair).expect("the run has so many pairs");
        let [first, second] = pairing.engines;
        let mut game = |white, black| game(ByColor { white, black }, pair, &mut random);
        let games = Games { first: game(first, second), second: Some(game(second, first)) };
        store.append("long", &PlayedPair { pairing, games }, None, None).expect("it is committed");
    }
}

/// Returns a game of random moves with search information like that of a real engine.
fn game(engines: ByColor<usize>, pair: u64, random: &mut u64) -> GameRecord {
    // Both games of a pair have the same opening moves.
    let mut opening = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut position = Chess::default();
    let mut moves = Vec::new();
    for ply in 0..PLIES {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        let number = next(if ply < BOOK { &mut opening } else { random });
        let played = legal[number as usize % legal.len()];
        let search = (ply >= BOOK).then(|| SearchInfo {
            score: Some(Score::Centipawns((number >> 8) as i32 % 700)),
            depth: Some(8 + (number >> 20) as u32 % 12),
            seldepth: Some(30),
            nodes: Some(200_000 + (number >> 30) % 400_000),
            elapsed: Duration::from_micros(50_000 + (number >> 40) % 90_000),
            reported: Some(Duration::from_millis(50 + (number >> 44) % 90)),
            ..SearchInfo::default()
        });
        moves.push(MoveRecord { uci: played.to_uci(CastlingMode::Standard), search });
        position.play_unchecked(played);
    }
    let outcome = match next(random) % 3 {
        0 => Outcome::drawn(Termination::Threefold, "drawn by repetition"),
        1 => Outcome::lost(Color::White, Termination::Checkmate, "Black mates"),
        _ => Outcome::lost(Color::Black, Termination::Checkmate, "White mates"),
    };
    GameRecord {
        engines,
        fen: Fen::from_position(&Chess::default(), EnPassantMode::Legal).to_string(),
        chess960: false,
        moves,
        outcome,
        duration: Duration::from_secs(9),
        ready: ByColor::default(),
        movetime: ByColor::default(),
        late: None,
        waited: ByColor::default(),
        begun_ms: None,
        transcript: None,
    }
}

/// Returns the next random number of a xorshift generator (G. Marsaglia, 2003).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 1
}
