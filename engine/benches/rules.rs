//! Speed of move generation, making moves and perft: `cargo bench -p palimpsest`.

#![expect(clippy::disallowed_types, reason = "the macros of divan register benches in one")]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use palimpsest::chess::attacks::{Level, Machine};
use palimpsest::chess::perft::{perft_at, perft_by_lists};
use palimpsest::chess::{Position, fen};

/// Name, FEN, and depth in plies. A count at this depth takes a few milliseconds.
const POSITIONS: [(&str, &str, u32); 6] = [
    ("startpos", fen::STARTPOS, 5),
    ("kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 4),
    ("endgame", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 6),
    ("promotions", "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 5),
    ("checks", "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 4),
    ("middlegame", "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 4),
];

const NAMES: [&str; 6] = ["startpos", "kiwipete", "endgame", "promotions", "checks", "middlegame"];

fn main() {
    divan::main();
}

fn position(name: &str) -> (Position, u32) {
    let (_, text, depth) =
        POSITIONS.into_iter().find(|entry| entry.0 == name).expect("one of the names");
    (fen::parse(text).expect("a legal position"), depth)
}

/// Lists all legal moves.
#[divan::bench(args = NAMES)]
fn generate(bencher: Bencher, name: &str) {
    let (position, _) = position(name);
    let count = ItemsCount::new(position.legal_moves().len());
    bencher.counter(count).bench(|| black_box(&position).legal_moves());
}

/// Lists captures and promotions only, as the quiescence search does.
#[divan::bench(args = NAMES)]
fn generate_noisy(bencher: Bencher, name: &str) {
    let (position, _) = position(name);
    bencher.bench(|| black_box(&position).noisy_moves());
}

/// Makes every legal move in a copy of the position.
#[divan::bench(args = NAMES)]
fn make_and_unmake(bencher: Bencher, name: &str) {
    let (position, _) = position(name);
    let moves = position.legal_moves();
    bencher.counter(ItemsCount::new(moves.len())).bench(|| {
        for &mv in moves.iter() {
            black_box(black_box(&position).play(mv));
        }
    });
}

/// Counts leaves with the fastest instructions of the machine.
#[divan::bench(args = NAMES, sample_count = 20)]
fn perft(bencher: Bencher, name: &str) {
    bench_perft(bencher, name, Machine::best());
}

/// Counts leaves with the instructions that every machine has.
#[divan::bench(args = NAMES, sample_count = 20)]
fn perft_plain(bencher: Bencher, name: &str) {
    let machine = Machine::at(Level::Plain).expect("every machine is a plain one");
    bench_perft(bencher, name, machine);
}

/// Counts leaves with the move lists and positions of the search.
#[divan::bench(args = NAMES, sample_count = 20)]
fn perft_lists(bencher: Bencher, name: &str) {
    let (position, depth) = position(name);
    let count = ItemsCount::new(perft_by_lists(&position, depth));
    bencher.counter(count).bench(|| perft_by_lists(black_box(&position), depth));
}

fn bench_perft(bencher: Bencher, name: &str, machine: Machine) {
    let (position, depth) = position(name);
    let count = ItemsCount::new(perft_at(machine, &position, depth));
    bencher.counter(count).bench(|| perft_at(machine, black_box(&position), depth));
}
