//! Speed of reading the results of the games in a PGN file, compared with two uses of `pgn-reader`:
//! skipping all moves, and visiting all moves without further work.
//!
//! The benchmark generates 64 MiB of games in the format of `arbiter match`, unless the environment
//! variable `RATE_PGN` names a PGN file to read instead. The rows to compare are `arbiter` (the
//! work of `arbiter rate`, by number of threads), `pgn_reader_skip` (tags only) and
//! `pgn_reader_visit` (a visitor that ignores every move and comment). The last lines of the output
//! show the ratios of the times in these rows. Each ratio uses the fastest of several alternating
//! runs, so that occasional load on the machine favours no row.

#![expect(clippy::disallowed_types, reason = "the macros of divan register benches in one")]
#![expect(clippy::disallowed_methods, reason = "a benchmark")]
#![allow(
    unreachable_pub,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

use std::ops::ControlFlow;
use std::time::Instant;

use arbiter_rate::ScanOptions;
use arbiter_rate::Tally;
use arbiter_rate::scan_all;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use pgn_reader::{Reader, Visitor};
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position};

fn main() {
    divan::main();
    // `cargo bench` passes only `--bench`; any other arguments mean a test or a list of rows.
    if std::env::args().skip(1).eq(["--bench".to_owned()]) {
        print_ratios();
    }
}

/// Number of times that each measurement is repeated; the measurements alternate.
const ROUNDS: usize = 7;

fn print_ratios() {
    let text = text();
    let mut best = [f64::INFINITY; 4];
    for _ in 0..ROUNDS {
        let runs: [&dyn Fn() -> u64; 4] = [
            &|| skim(&text, &mut Skim { visits: false }),
            &|| skim(&text, &mut Skim { visits: true }),
            &|| rate(&text, 1, false),
            &|| rate(&text, 2, false),
        ];
        for (best, run) in best.iter_mut().zip(runs) {
            let started = Instant::now();
            black_box(run());
            *best = best.min(started.elapsed().as_secs_f64());
        }
    }
    let [skip, visit, one, two] = best;
    let speed = |seconds: f64| text.len() as f64 / seconds / 1e6;
    println!("pgn-reader: tags only {:.0} MB/s, all moves {:.0} MB/s", speed(skip), speed(visit));
    for (threads, seconds) in [(1, one), (2, two)] {
        println!(
            "arbiter, {threads} threads: {:.0} MB/s, {:.2} times as long as tags only, {:.2} times \
             as long as all moves",
            speed(seconds),
            seconds / skip,
            seconds / visit
        );
    }
}

fn text() -> Vec<u8> {
    match std::env::var_os("RATE_PGN") {
        Some(path) => std::fs::read(path).expect("RATE_PGN names a file that can be read"),
        None => games(64 << 20),
    }
}

/// Returns at least `size` bytes of games with pseudo-random moves and a comment for each move.
fn games(size: usize) -> Vec<u8> {
    let mut text = String::with_capacity(size + (1 << 16));
    let mut game = 0usize;
    while text.len() < size {
        let (white, black) = if game.is_multiple_of(2) { ("A", "B") } else { ("B", "A") };
        let result = ["1-0", "0-1", "1/2-1/2"][game / 2 % 3];
        text += &format!(
            "[Event \"bench\"]\n[Site \"?\"]\n[Date \"2030.01.02\"]\n[Round \"{}.{}\"]\n\
             [White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\
             [TimeControl \"8+0.08\"]\n[Termination \"normal\"]\n\n",
            game / 2 + 1,
            game % 2 + 1
        );
        moves(game / 2, &mut text);
        text += result;
        text += "\n\n";
        game += 1;
    }
    text.into_bytes()
}

/// Appends the moves of a game, in lines of about 80 characters.
fn moves(seed: usize, text: &mut String) {
    let mut position = Chess::default();
    let mut line = 0;
    for ply in 0..120 {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        let chosen = legal[(seed * 31 + ply * 7 + 3) % legal.len()];
        let number = if ply % 2 == 0 { format!("{}. ", ply / 2 + 1) } else { String::new() };
        let san = SanPlus::from_move_and_play_unchecked(&mut position, chosen);
        let word = match ply {
            0..8 => format!("{number}{san} {{book}}"),
            _ => format!("{number}{san} {{+0.{:02}/{} 0.{:03}s}}", ply % 100, ply % 9 + 9, ply),
        };
        line += word.len() + 1;
        *text += &word;
        *text += if line > 80 { "\n" } else { " " };
        line = if line > 80 { 0 } else { line };
    }
}

fn rate(text: &[u8], threads: usize, replay: bool) -> u64 {
    let mut tally = Tally::default();
    let options = ScanOptions { opening_plies: 16, replay, evaluations: false };
    scan_all(text, threads, options, |block| tally.add(&block)).expect("memory can be read");
    tally.games
}

#[divan::bench(args = [1, 2], sample_count = 5)]
fn arbiter(bencher: Bencher<'_, '_>, threads: usize) {
    let text = text();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| rate(&text, black_box(threads), false));
}

#[divan::bench(args = [2], sample_count = 3)]
fn arbiter_verify(bencher: Bencher<'_, '_>, threads: usize) {
    let text = text();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| rate(&text, black_box(threads), true));
}

#[divan::bench(sample_count = 5)]
fn pgn_reader_skip(bencher: Bencher<'_, '_>) {
    let text = text();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| skim(&text, &mut Skim { visits: false }));
}

#[divan::bench(sample_count = 5)]
fn pgn_reader_visit(bencher: Bencher<'_, '_>) {
    let text = text();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench_local(|| skim(&text, &mut Skim { visits: true }));
}

fn skim(text: &[u8], visitor: &mut Skim) -> u64 {
    let mut reader = Reader::new(text);
    let mut games = 0;
    while reader.read_game(visitor).expect("memory can be read").is_some() {
        games += 1;
    }
    games
}

/// Visitor that ignores everything.
struct Skim {
    visits: bool,
}

impl Visitor for Skim {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<()> {
        if self.visits { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn end_game(&mut self, (): ()) {}
}
