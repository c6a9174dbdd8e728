//! Lines of weighted moves, sampled without replacement.
//!
//! Each line that has not been drawn yet is drawn with a probability proportional to the product of
//! the line's move probabilities. The algorithm is a race: a line with probability p arrives after
//! a time that is exponentially distributed with rate p, and lines are taken in order of arrival.
//! The time of the first arrival below a position is exponentially distributed, with the position's
//! probability as the rate. After this arrival, the remaining times of the other lines have the
//! same distribution as at the start. The tree is therefore expanded only on the path to the next
//! arrival.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Move, Position};

use arbiter_schedule::seed::below;

/// Maximum number of nodes of the tree. The limit suffices for all requested lines, and bounds the
/// work for books in which all lines lead to the same few positions.
const MAX_NODES: usize = 4_000_000;

/// Move with a weight relative to the other moves in the position.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeightedMove {
    pub(super) m: Move,
    /// Weight, at least 1.
    pub(super) weight: u16,
}

struct Node {
    parent: Option<u32>,
    m: Option<Move>,
    probability: f64,
}

/// Iterator over lines with their final positions; more probable lines tend to come first.
pub(super) struct Lines<'a, F> {
    start: &'a Chess,
    depth: usize,
    rng: &'a mut ChaCha8Rng,
    moves: F,
    nodes: Vec<Node>,
    /// Arrival time of the first line below each node. A time is stored as the bits of a
    /// non-negative floating-point number, because these bits, compared as integers, have the same
    /// order as the numbers.
    arrivals: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<'a, F: FnMut(&Chess) -> Vec<WeightedMove>> Lines<'a, F> {
    /// Creates the lines of at most `depth` plies from `start`. `moves` returns the moves in a
    /// position. A line ends early in a position without moves, and never repeats a position.
    pub(super) fn new(
        start: &'a Chess,
        depth: usize,
        rng: &'a mut ChaCha8Rng,
        moves: F,
    ) -> Lines<'a, F> {
        let nodes = vec![Node { parent: None, m: None, probability: 1.0 }];
        let arrivals = BinaryHeap::from([Reverse((0, 0))]);
        Lines { start, depth, rng, moves, nodes, arrivals }
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

    /// Continues the lines through `node`, the first of which arrives at `time`.
    fn continue_lines(&mut self, node: u32, time: f64, ways: &[WeightedMove]) {
        let sum: u64 = ways.iter().map(|way| u64::from(way.weight)).sum();
        // The move of the first line is drawn by weight, because the probability that a move's line
        // arrives first is proportional to the move's weight.
        let mut until_first = below(self.rng, sum);
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
            let delay = if is_first { 0.0 } else { exponential(self.rng) / probability };
            self.arrivals.push(Reverse(((time + delay).to_bits(), self.nodes.len() as u32)));
            self.nodes.push(Node { parent: Some(node), m: Some(way.m), probability });
        }
    }
}

impl<F: FnMut(&Chess) -> Vec<WeightedMove>> Iterator for Lines<'_, F> {
    type Item = (Vec<Move>, Chess);

    fn next(&mut self) -> Option<(Vec<Move>, Chess)> {
        loop {
            let Reverse((time, node)) = self.arrivals.pop()?;
            let line = self.moves_to(node);
            let mut position = self.start.clone();
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
            let mut ways = (self.moves)(&position);
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
pub(super) fn key(position: &Chess) -> u64 {
    // The format includes the en passant square only if a pseudo-legal en passant capture exists.
    position.zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0
}

/// Returns an exponentially distributed random number with mean 1.
fn exponential(rng: &mut ChaCha8Rng) -> f64 {
    // The range is (0, 1], because the logarithm of 0 is infinite.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
    -uniform.ln()
}
