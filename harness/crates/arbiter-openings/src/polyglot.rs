//! Polyglot books: weighted moves, each stored under the hash of the position before the move.
//!
//! The file is a list of 16-byte entries in big-endian order: key, move, weight, and four bytes of
//! learning data. The keys are [`Zobrist64`](shakmaty::zobrist::Zobrist64) hashes. An opening is a
//! line of book moves from the initial position; [`Lines`] selects the lines.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::io::Read;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position, Role, Square};

use super::epd::ending;
use super::{Collector, Opening};
use arbiter_position::Start;
use arbiter_schedule::seed::{below, seed_for};

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
    let table = Table::new(&bytes).ok_or_else(|| {
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
    let mut lines = Lines::new(table, depth, seed_for(options.seed, PURPOSE, 0));
    let mut reached = HashSet::new();
    let mut openings = Vec::new();
    while let Some((moves, position)) = lines.draw() {
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
    for (entry, uci) in lines.table.faults {
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
    /// Invalid entries: for each entry, the number in the file (counted from 1) and the move.
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
        let entry = |(number, bytes): (u32, &[u8; ENTRY])| {
            let [k0, k1, k2, k3, k4, k5, k6, k7, m0, m1, w0, w1, ..] = *bytes;
            let key = u64::from_be_bytes([k0, k1, k2, k3, k4, k5, k6, k7]);
            let [m, weight] = [[m0, m1], [w0, w1]].map(u16::from_be_bytes);
            Entry { key, number, m, weight }
        };
        let mut entries: Vec<Entry> = (1..).zip(entries).map(entry).collect();
        // The format requires entries in the order of keys, but some programs do not sort the
        // entries.
        entries.sort_by_key(|entry| entry.key);
        Some(Table { entries, faults: Vec::new(), wrong: HashSet::new() })
    }

    /// Returns the moves that are legal in a position and have a weight above zero. Adds illegal
    /// moves to `faults`.
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

/// Maximum number of nodes in the tree of lines. The limit suffices for all requested lines, and
/// bounds the work for books in which all lines lead to the same few positions.
const MAX_NODES: usize = 4_000_000;

/// Move with a weight relative to the other moves in the position.
#[derive(Debug, Clone, Copy)]
struct WeightedMove {
    m: Move,
    /// Weight, at least 1.
    weight: u16,
}

struct Node {
    parent: Option<u32>,
    m: Option<Move>,
    probability: f64,
}

/// Lines of weighted moves that have not been drawn yet, to be sampled without replacement.
///
/// Each line is drawn with a probability proportional to the product of the line's move
/// probabilities. The algorithm is a race: a line with probability p arrives after a time that is
/// exponentially distributed with rate p, and lines are taken in order of arrival. The time of the
/// first arrival below a position is exponentially distributed, with the position's probability as
/// the rate. After this arrival, the remaining times of the other lines have the same distribution
/// as at the start. The tree is therefore expanded only on the path to the next arrival.
struct Lines {
    table: Table,
    depth: usize,
    rng: ChaCha8Rng,
    nodes: Vec<Node>,
    /// Arrival time of the first line below each node. A time is stored as the bits of a
    /// non-negative floating-point number, because these bits, compared as integers, have the same
    /// order as the numbers.
    arrivals: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Lines {
    /// Creates the lines of at most `depth` plies from the initial position. A line ends early in a
    /// position without moves, and never repeats a position.
    fn new(table: Table, depth: usize, rng: ChaCha8Rng) -> Lines {
        let nodes = vec![Node { parent: None, m: None, probability: 1.0 }];
        let arrivals = BinaryHeap::from([Reverse((0, 0))]);
        Lines { table, depth, rng, nodes, arrivals }
    }

    fn moves_to(&self, node: u32) -> Vec<Move> {
        let mut line = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at {
            let Node { parent, m, .. } = self.nodes[node as usize];
            line.extend(m);
            at = parent;
        }
        line.reverse();
        line
    }

    /// Continues the lines through `node`. The first of these lines arrives at `time`.
    fn continue_lines(&mut self, node: u32, time: f64, ways: &[WeightedMove]) {
        let sum: u64 = ways.iter().map(|way| u64::from(way.weight)).sum();
        // The move of the first line is drawn by weight, because the probability that a move's line
        // arrives first is proportional to the move's weight.
        let mut until_first = below(&mut self.rng, sum);
        let mut is_decided = false;
        for way in ways {
            let weight = u64::from(way.weight);
            let is_first = !is_decided && until_first < weight;
            is_decided |= is_first;
            until_first = until_first.saturating_sub(weight);
            let share = weight as f64 / sum as f64;
            let probability = self.nodes[node as usize].probability * share;
            // The first line below a position arrives together with the position. For the lines of
            // all other moves, the time starts again at this point, because the exponential
            // distribution is memoryless.
            let delay = if is_first { 0.0 } else { exponential(&mut self.rng) / probability };
            self.arrivals.push(Reverse(((time + delay).to_bits(), self.nodes.len() as u32)));
            self.nodes.push(Node { parent: Some(node), m: Some(way.m), probability });
        }
    }

    /// Draws a line. Returns the moves and the final position of the line. More probable lines tend
    /// to be drawn first.
    fn draw(&mut self) -> Option<(Vec<Move>, Chess)> {
        loop {
            let Reverse((time, node)) = self.arrivals.pop()?;
            let line = self.moves_to(node);
            let mut position = Chess::default();
            let mut before = vec![key(&position)];
            for &m in &line {
                position.play_unchecked(m);
                before.push(key(&position));
            }
            if line.len() >= self.depth {
                return Some((line, position));
            }
            // At the limit, no more positions are expanded. A line that ends at this position would
            // be incomplete.
            if self.nodes.len() >= MAX_NODES {
                return None;
            }
            let mut ways = self.table.moves(&position);
            ways.retain(|way| {
                let mut next = position.clone();
                next.play_unchecked(way.m);
                // A line that returns to an earlier position would never end.
                !before.contains(&key(&next))
            });
            if ways.is_empty() {
                return Some((line, position));
            }
            self.continue_lines(node, f64::from_bits(time), &ways);
        }
    }
}

/// Returns the key of a position in a Polyglot book.
fn key(position: &Chess) -> u64 {
    // The format includes the en passant square only if a pseudo-legal en passant capture exists.
    position.zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0
}

/// Returns an exponentially distributed random number with mean 1.
fn exponential(rng: &mut ChaCha8Rng) -> f64 {
    // The range is (0, 1], because the logarithm of 0 is infinite.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
    -uniform.ln()
}

#[cfg(test)]
mod tests;
