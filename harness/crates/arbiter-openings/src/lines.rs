//! Lines of weighted moves, sampled without replacement.
//!
//! A line is drawn with the probability that following the weights at each move gives it, among the
//! lines not drawn before. This is a race: each line of probability p arrives after a time that is
//! exponentially distributed with rate p, and lines are taken as they arrive. The first arrival
//! below a position has the position's probability as its rate, and after it the others take as
//! long as from the start, so the tree is opened only where the next arrival is.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use shakmaty::{Chess, Move, Position};

use super::polyglot::key;
use arbiter_schedule::seed::below;

/// Maximum number of positions that are searched; enough for every line that is asked for, and an
/// end to books in which all lines lead to the same few positions.
const MAX_NODES: usize = 4_000_000;

/// Move with its weight relative to its alternatives.
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

/// Iterator over the lines, the likely ones sooner, each with the position it leads to.
pub(super) struct Lines<'a, F> {
    start: &'a Chess,
    depth: usize,
    rng: &'a mut ChaCha8Rng,
    moves: F,
    nodes: Vec<Node>,
    /// Time at which the first line below a node arrives, as the bits of a number that is not
    /// negative, which are ordered as the number is.
    arrivals: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<'a, F: FnMut(&Chess) -> Vec<WeightedMove>> Lines<'a, F> {
    /// Creates the lines of at most `depth` moves from `start`, where `moves` gives those of a
    /// position. Lines end early where there are none, and never repeat a position.
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

    /// Returns the moves that continue a line from its end.
    fn continuations(
        &mut self,
        line: &[Move],
        before: &[u64],
        position: &Chess,
    ) -> Vec<WeightedMove> {
        if line.len() >= self.depth || self.nodes.len() >= MAX_NODES {
            return Vec::new();
        }
        let mut ways = (self.moves)(position);
        ways.retain(|way| {
            let mut next = position.clone();
            next.play_unchecked(way.m);
            // A line that comes back to a position repeats itself without an end.
            !before.contains(&key(&next))
        });
        ways
    }

    /// Continues the lines below a node, the first of which arrives at `time`.
    fn continue_lines(&mut self, node: u32, time: f64, ways: &[WeightedMove]) {
        let sum: u64 = ways.iter().map(|way| u64::from(way.weight)).sum();
        // The first way is drawn by its weight, which is its probability to arrive first.
        let mut until_first = below(self.rng, sum);
        let mut is_decided = false;
        for way in ways {
            let weight = u64::from(way.weight);
            let is_first = !is_decided && until_first < weight;
            is_decided |= is_first;
            until_first = until_first.saturating_sub(weight);
            let share = weight as f64 / sum as f64;
            let probability = self.nodes[node as usize].probability * share;
            // The first line below a position arrives with the position itself. The lines of its
            // other moves start anew there, because an exponential distribution has no memory.
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
            let ways = self.continuations(&line, &before, &position);
            if ways.is_empty() {
                // At the limit of positions nothing more is opened, and a line that ends here would
                // be a part of one.
                let is_cut = line.len() < self.depth && self.nodes.len() >= MAX_NODES;
                return (!is_cut).then_some((line, position));
            }
            self.continue_lines(node, f64::from_bits(time), &ways);
        }
    }
}

/// Draws a number that is exponentially distributed with mean 1.
fn exponential(rng: &mut ChaCha8Rng) -> f64 {
    // The draw is from (0, 1], because the logarithm of 0 is infinite.
    let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
    -uniform.ln()
}
