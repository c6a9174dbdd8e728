//! Polyglot books: weighted moves, each stored under the hash of the position before the move.
//!
//! The file is a list of 16-byte entries in big-endian order: key, move, weight, and four bytes of
//! learning data. The keys are [`Zobrist64`](shakmaty::zobrist::Zobrist64) hashes. An opening is a
//! line of book moves from the initial position; [`super::lines`] selects the lines.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::collections::HashSet;
use std::io::Read;

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Role, Square};

use super::epd::ending;
use super::lines::{Lines, WeightedMove, key};
use super::{Collector, Opening};
use arbiter_position::Start;
use arbiter_schedule::seed::seed_for;

/// Default length of a line, in plies.
pub(crate) const DEFAULT_DEPTH: u32 = 8;

/// Maximum number of lines. A large book has more lines than a run has games.
pub(crate) const MAX_LINES: usize = 50_000;

/// Maximum size of a file, in bytes; larger than the largest known book.
const MAX_BYTES: u64 = 1 << 30;

/// Length of an entry, in bytes.
const ENTRY: usize = 16;

/// Label of the random stream that selects the lines.
const PURPOSE: &str = "openings.polyglot";

/// Reads lines from the Polyglot book `source` into `book`.
pub(super) fn read(file: &str, source: &mut dyn Read, book: &mut Collector) -> Result<(), String> {
    let mut bytes = Vec::new();
    // One byte more than the limit shows that the file is too large.
    let read = source.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|reason| format!("{file}: cannot open the opening book: {reason}"))?;
    let mut table = Table::new(&bytes).ok_or_else(|| {
        let expected = "a Polyglot book, at most 2^26 entries of 16 bytes";
        format!("{file}: expected {expected}, got {} bytes", bytes.len())
    })?;
    // The contents of the file are not needed for the search. Keeping both the contents and the
    // table would double the memory.
    drop(bytes);
    let options = book.options;
    let start = Start::new(Chess::default(), CastlingMode::Standard);
    if find(&table.entries, &start.position).is_empty() {
        let expected = "a Polyglot book with moves from the initial position";
        return Err(format!("{file}: expected {expected}, got none"));
    }
    let depth = options.depth.unwrap_or(DEFAULT_DEPTH) as usize;
    // The seed is the seed of the run, so that a resumed run gets the same openings.
    let mut rng = seed_for(options.seed, PURPOSE, 0);
    let moves_of = |position: &Chess| table.moves(position);
    let lines = Lines::new(&start.position, depth, &mut rng, moves_of);
    let mut reached = HashSet::new();
    let mut openings = Vec::new();
    for (moves, position) in lines {
        // If all first moves of a book are invalid, the search returns one empty line, which is not
        // an opening in the book.
        let is_book = !moves.is_empty() || depth == 0;
        // Lines that transpose to the same position count as one opening.
        if is_book && ending(&position).is_none() && reached.insert(key(&position)) {
            openings.push(moves);
        }
        if openings.len() == MAX_LINES {
            break;
        }
    }
    // Only entries for positions that lines reach are checked, because the move of an entry can be
    // checked only in the position of the entry.
    for (entry, uci) in std::mem::take(&mut table.faults) {
        let expected = "a move that is legal in its position";
        book.skip_entry(format!("{file}: entry {entry}: expected {expected}, got {uci}"))?;
    }
    for moves in openings {
        let moves = moves.into_iter().map(|m| UciMove::from_move(m, start.mode)).collect();
        book.add(file, Opening::new(&start, moves))?;
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u64,
    /// Number of the entry in the file, counted from 1.
    number: u32,
    m: u16,
    weight: u16,
}

/// Entries of a book, sorted by key.
struct Table {
    entries: Vec<Entry>,
    /// Invalid entries: the number of each entry in the file, counted from 1, and the move of the
    /// entry.
    faults: Vec<(u32, String)>,
    wrong: HashSet<u32>,
}

impl Table {
    /// Reads the entries in `bytes`; `None` if the last entry is incomplete or if `bytes` contains
    /// too many entries.
    fn new(bytes: &[u8]) -> Option<Table> {
        let (entries, rest) = bytes.as_chunks::<ENTRY>();
        if !rest.is_empty() || bytes.len() as u64 > MAX_BYTES {
            return None;
        }
        let mut entries: Vec<Entry> = (1..)
            .zip(entries)
            .map(|(number, bytes)| {
                let [k0, k1, k2, k3, k4, k5, k6, k7, m0, m1, w0, w1, ..] = *bytes;
                let key = u64::from_be_bytes([k0, k1, k2, k3, k4, k5, k6, k7]);
                let [m, weight] = [[m0, m1], [w0, w1]].map(u16::from_be_bytes);
                Entry { key, number, m, weight }
            })
            .collect();
        // The format requires entries in the order of keys, but some programs do not sort the
        // entries.
        entries.sort_by_key(|entry| entry.key);
        Some(Table { entries, faults: Vec::new(), wrong: HashSet::new() })
    }

    /// Returns the legal moves with a weight above zero in a position, and records illegal moves as
    /// faults.
    fn moves(&mut self, position: &Chess) -> Vec<WeightedMove> {
        let mut moves: Vec<WeightedMove> = Vec::new();
        for entry in find(&self.entries, position).iter().filter(|entry| entry.weight > 0) {
            let uci = uci(entry.m);
            match uci.as_ref().and_then(|uci| uci.to_move(position).ok()) {
                Some(m) if moves.iter().all(|previous| previous.m != m) => {
                    moves.push(WeightedMove { m, weight: entry.weight });
                }
                // A repeated move keeps the weight of the first entry.
                Some(_) => {}
                // Several lines may reach the entry, but the fault is reported only once.
                None if self.wrong.insert(entry.number) => {
                    let uci = uci.map_or("none".to_owned(), |m| m.to_string());
                    self.faults.push((entry.number, uci));
                }
                None => {}
            }
        }
        moves
    }
}

/// Returns the entries for a position.
fn find<'a>(entries: &'a [Entry], position: &Chess) -> &'a [Entry] {
    let key = key(position);
    let found = &entries[entries.partition_point(|entry| entry.key < key)..];
    &found[..found.partition_point(|entry| entry.key == key)]
}

/// Decodes the move of an entry: three bits each for target file, target rank, source file, source
/// rank, and promotion piece. Castling is stored as the king capturing its own rook.
fn uci(m: u16) -> Option<UciMove> {
    let promotion = match m >> 12 {
        0 => None,
        1 => Some(Role::Knight),
        2 => Some(Role::Bishop),
        3 => Some(Role::Rook),
        4 => Some(Role::Queen),
        // No piece has a number above 4.
        _ => return None,
    };
    let square = |bits: u16| Square::new(u32::from(bits & 0o77));
    Some(UciMove::Normal { from: square(m >> 6), to: square(m), promotion })
}

#[cfg(test)]
mod tests;
