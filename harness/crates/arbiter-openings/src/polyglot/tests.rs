//! Tests with books that are written entry by entry and then read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use shakmaty::Position;

use super::*;
use crate::tests::after_moves;
use crate::{Book, ReadOptions, archive};

fn packed(key: u64, m: u16, weight: u16) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[..8].copy_from_slice(&key.to_be_bytes());
    entry[8..10].copy_from_slice(&m.to_be_bytes());
    entry[10..12].copy_from_slice(&weight.to_be_bytes());
    entry
}

/// Returns the encoded move; castling is encoded as the king capturing its own rook.
fn bits(uci: &str) -> u16 {
    let square = |at: usize| {
        u16::from(uci.as_bytes()[at] - b'a') | u16::from(uci.as_bytes()[at + 1] - b'1') << 3
    };
    square(2) | square(0) << 6
}

/// Returns a book in which the last move of each line has the given weight.
fn book_of(lines: &[(&str, u16)]) -> Vec<u8> {
    let mut entries: Vec<[u8; ENTRY]> = Vec::new();
    for (line, weight) in lines {
        let moves: Vec<&str> = line.split(' ').collect();
        let (last, before) = moves.split_last().expect("a line has a move");
        let mut position = Chess::default();
        for m in before {
            let uci: UciMove = m.parse().expect("a move");
            position.play_unchecked(uci.to_move(&position).expect("a legal move"));
        }
        entries.push(packed(key(&position), bits(last), *weight));
    }
    entries.sort_unstable();
    entries.concat()
}

fn read_book(bytes: &[u8], depth: u32, seed: u64) -> Result<Book, String> {
    let options = ReadOptions { depth: Some(depth), seed, ..ReadOptions::default() };
    let mut collector = Collector::new(options);
    archive::read_text("a.bin", &mut &bytes[..], &mut collector)?;
    collector.finish("a.bin".into())
}

fn lines_of(book: &Book) -> Vec<String> {
    let line = |opening: Opening| {
        opening.moves.iter().map(UciMove::to_string).collect::<Vec<_>>().join(" ")
    };
    book.openings().map(line).collect()
}

#[test]
fn keys_and_moves_match_the_format() {
    // The keys of these positions are from the description of the format. Each entry has the bits
    // of a move: target file, target rank, source file, source rank.
    let entries = [
        packed(0x463b_9618_1691_fc9c, 0o1434, 1),
        packed(0x823c_9b50_fd11_4196, 0o6343, 1),
        packed(0x0756_b944_61c5_0fb0, 0o3444, 1),
        packed(0x662f_afb9_65db_29d4, 0o6545, 1),
        packed(0x22a4_8b5a_8e47_ff78, 0o4455, 1),
    ];
    let book = read_book(&entries.concat(), 5, 1).expect("a sound book");
    assert_eq!(lines_of(&book), ["e2e4 d7d5 e4e5 f7f5 e5f6"]);
    assert_eq!(book.opening(0).fen, shakmaty::fen::Fen::default());
}

#[test]
fn castling_is_converted_to_standard_notation() {
    let line = "g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1h1 e8h8";
    let moves: Vec<&str> = line.split(' ').collect();
    let lines: Vec<String> = (1..=moves.len()).map(|end| moves[..end].join(" ")).collect();
    let lines: Vec<(&str, u16)> = lines.iter().map(|line| (line.as_str(), 1)).collect();
    let book = read_book(&book_of(&lines), 8, 1).expect("a sound book");
    assert_eq!(lines_of(&book), ["g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1 e8g8"]);
}

/// Returns six lines of two plies. The lines that start with e2e4 have nine tenths of the weight.
fn six_lines() -> Vec<u8> {
    book_of(&[
        ("e2e4", 90),
        ("d2d4", 10),
        ("e2e4 e7e5", 60),
        ("e2e4 c7c5", 30),
        ("e2e4 e7e6", 10),
        ("d2d4 d7d5", 1),
        ("d2d4 g8f6", 1),
        ("d2d4 f7f5", 2),
    ])
}

#[test]
fn every_line_occurs_once_for_any_seed() {
    let all = ["e2e4 e7e5", "e2e4 c7c5", "e2e4 e7e6", "d2d4 d7d5", "d2d4 g8f6", "d2d4 f7f5"];
    let mut orders = BTreeSet::new();
    for seed in 0..20 {
        let lines = lines_of(&read_book(&six_lines(), 2, seed).expect("a sound book"));
        let again = read_book(&six_lines(), 2, seed).expect("a sound book");
        assert_eq!(lines, lines_of(&again));
        assert_eq!(lines.len(), 6);
        assert_eq!(BTreeSet::from_iter(lines.iter().map(String::as_str)), BTreeSet::from(all));
        orders.insert(lines);
    }
    assert!(orders.len() > 10, "{} orders", orders.len());
}

#[test]
fn lines_are_drawn_in_proportion_to_their_weights() {
    const SEEDS: u64 = 4000;
    let bytes = six_lines();
    let mut first: BTreeMap<String, f64> = BTreeMap::new();
    let mut second_after_e5 = 0.0;
    let mut e5_first = 0.0;
    for seed in 0..SEEDS {
        let lines = lines_of(&read_book(&bytes, 2, seed).expect("a sound book"));
        *first.entry(lines[0].clone()).or_default() += 1.0;
        if lines[0] == "e2e4 e7e5" {
            e5_first += 1.0;
            second_after_e5 += f64::from(u8::from(lines[1] == "e2e4 c7c5"));
        }
    }
    // The tolerance is five standard errors, at most 0.04.
    let expected = [("e2e4 e7e5", 0.54), ("e2e4 c7c5", 0.27), ("d2d4 f7f5", 0.05)];
    for (line, share) in expected {
        let got = first[line] / SEEDS as f64;
        assert!((got - share).abs() < 0.04, "{line}: {got}, expected {share}");
    }
    let got: f64 = second_after_e5 / e5_first;
    assert!((got - 0.27 / 0.46).abs() < 0.06, "{got}");
}

#[test]
fn lines_end_where_the_book_does() {
    let bytes = book_of(&[("e2e4", 1), ("d2d4", 1), ("d2d4 d7d5", 1), ("d2d4 d7d5 c2c4", 1)]);
    for (depth, expected) in [
        (0, vec![""]),
        (1, vec!["d2d4", "e2e4"]),
        (2, vec!["d2d4 d7d5", "e2e4"]),
        (9, vec!["d2d4 d7d5 c2c4", "e2e4"]),
    ] {
        let mut lines = lines_of(&read_book(&bytes, depth, 1).expect("a sound book"));
        lines.sort();
        assert_eq!(lines, expected, "{depth}");
    }
}

#[test]
fn transpositions_give_one_opening_and_no_position_repeats() {
    let bytes = book_of(&[
        ("c2c4", 1),
        ("g1f3", 1),
        ("c2c4 c7c5", 1),
        ("g1f3 c7c5", 1),
        ("c2c4 c7c5 g1f3", 1),
        ("g1f3 c7c5 c2c4", 1),
    ]);
    assert_eq!(read_book(&bytes, 3, 1).expect("a sound book").openings().len(), 1);
    let circle = [("g1f3", 1), ("g1f3 g8f6", 1), ("g1f3 g8f6 f3g1", 1), ("g1f3 g8f6 f3g1 f6g8", 1)];
    let book = read_book(&book_of(&circle), 40, 1).expect("a sound book");
    assert_eq!(lines_of(&book), ["g1f3 g8f6 f3g1"]);
}

#[test]
fn zero_weight_moves_are_skipped_and_impossible_ones_reported() {
    let start = key(&Chess::default());
    let mut bytes = [packed(start, bits("e2e5"), 9), packed(start, 0o51434, 9)].concat();
    bytes.extend(packed(start, bits("d2d4"), 0));
    let error = read_book(&bytes, 2, 1).expect_err("no sound entry").to_string();
    let expected = "a.bin: expected at least one opening, got 2 bad ones: a.bin: entry 1: expected a \
                move that is legal in its position, got e2e5; a.bin: entry 2: ";
    assert!(error.starts_with(expected), "{error}");
    bytes.extend(packed(start, bits("g1f3"), 1));
    let book = read_book(&bytes, 2, 1).expect("one sound entry");
    assert_eq!(lines_of(&book), ["g1f3"]);
    assert_eq!(book.quarantine.count, 2);
    let options = ReadOptions { strict: true, ..ReadOptions::default() };
    let mut collector = Collector::new(options);
    assert!(archive::read_text("a.bin", &mut &bytes[..], &mut collector).is_err());
}

#[test]
fn a_book_without_the_initial_position_is_rejected() {
    let error = read_book(&six_lines()[1..], 2, 1).expect_err("cut").to_string();
    assert!(error.ends_with("entries of 16 bytes, got 127 bytes"), "{error}");
    for bytes in [Vec::new(), packed(7, bits("e2e4"), 1).to_vec()] {
        let error = read_book(&bytes, 2, 1).expect_err("no start").to_string();
        assert!(error.ends_with("from the initial position, got none"), "{error}");
    }
}

#[test]
fn books_may_be_compressed() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&six_lines()).expect("memory takes it");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("a.BIN.gz");
    std::fs::write(&path, encoder.finish().expect("memory takes it")).expect("a writable folder");
    let book = crate::load(&path, ReadOptions::default()).expect("a sound book");
    assert_eq!(book.openings().len(), 6);
}

#[test]
fn foreign_bytes_never_panic() {
    for round in 0..500 {
        let mut rng = seed_for(5, "test.foreign", round);
        let mut bytes = six_lines();
        for _ in 0..4 {
            let at = arbiter_schedule::seed::below(&mut rng, bytes.len() as u64) as usize;
            bytes[at] = arbiter_schedule::seed::below(&mut rng, 256) as u8;
        }
        for opening in read_book(&bytes, 4, round).iter().flat_map(Book::openings) {
            assert!(!after_moves(&opening).legal_moves().is_empty());
        }
    }
}
