//! Order in which the openings of a book are used.
//!
//! The order depends only on the pair number, the number of openings and the seed. A resumed run or
//! a remote worker therefore uses the same openings as the original run.

use serde::{Deserialize, Serialize};

use arbiter_schedule::seed::{seed_for, shuffle};

/// Label of the random stream for shuffles.
const PURPOSE: &str = "openings.order";

/// Number of shuffled indices that are cached. Shuffling a large book again takes milliseconds,
/// whereas caching all indices would take a megabyte.
const PART: usize = 4096;

/// Order of the openings of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Order in the file; the first opening follows the last opening.
    Sequential,
    /// All openings in a random order, then all openings in a new random order, and so on.
    #[default]
    Random,
}

arbiter_names::named!(Order);

/// Assignment of openings to the pairs of a run.
#[derive(Debug, Clone)]
pub struct OpeningOrder {
    order: Order,
    seed: u64,
    start: u64,
    len: usize,
    /// Last shuffled part, with the number of the pass through the book and the number of the part.
    /// One cached part is enough, because pairs are requested roughly in order.
    shuffled: Option<([u64; 2], Vec<u32>)>,
}

impl OpeningOrder {
    /// Creates the order for a book with `len` openings (1 to 2³² − 1). The first pair gets opening
    /// number `start` (counted from 0) of the order, so that a run can continue where an earlier
    /// run stopped.
    pub fn new(order: Order, seed: u64, start: u64, len: usize) -> OpeningOrder {
        // Indices have 32 bits, because 64 bits would take twice the memory.
        assert!((1..=u32::MAX as usize).contains(&len), "a book cannot have {len} openings");
        OpeningOrder { order, seed, start, len, shuffled: None }
    }

    /// Returns the opening for the pair with the index `pair_index`, as an index in the book. Both
    /// indices count from 0. The result depends only on the pair; `self` changes only because the
    /// last shuffle is cached.
    pub fn opening_for(&mut self, pair_index: u64) -> usize {
        let len = self.len as u64;
        // The start is an offset in an endless sequence of passes through the book. The sequential
        // order needs only the position within the pass, but each pass in random order is
        // different.
        let place = self.start.saturating_add(pair_index);
        let pass = place / len;
        let within = (place % len) as usize;
        match self.order {
            Order::Sequential => within,
            Order::Random => self.part(pass, within / PART)[within % PART] as usize,
        }
    }

    fn part(&mut self, pass: u64, number: usize) -> &[u32] {
        let len = self.len as u32;
        let wanted = [pass, number as u64];
        let shuffled = self.shuffled.take().filter(|(of, _)| *of == wanted).unwrap_or_else(|| {
            // The whole book is shuffled for each part, because a part cannot be shuffled
            // separately.
            let mut openings: Vec<u32> = (0..len).collect();
            shuffle(&mut seed_for(self.seed, PURPOSE, pass), &mut openings);
            (wanted, openings.chunks(PART).nth(number).unwrap_or_default().to_vec())
        });
        &self.shuffled.insert(shuffled).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(order: Order, seed: u64, start: u64, len: usize) -> OpeningOrder {
        OpeningOrder::new(order, seed, start, len)
    }

    fn first(mut order: OpeningOrder, pairs: u64) -> Vec<usize> {
        (0..pairs).map(|pair| order.opening_for(pair)).collect()
    }

    #[test]
    fn sequential_wraps_around() {
        assert_eq!(first(order(Order::Sequential, 1, 0, 3), 7), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(first(order(Order::Sequential, 1, 5, 3), 4), [2, 0, 1, 2]);
    }

    #[test]
    fn each_random_pass_is_a_different_permutation() {
        let drawn = first(order(Order::Random, 7, 0, 50), 150);
        let passes: Vec<&[usize]> = drawn.chunks(50).collect();
        for pass in &passes {
            let mut sorted = pass.to_vec();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..50));
        }
        assert_ne!(passes[0], passes[1]);
        assert_ne!(passes[1], passes[2]);
    }

    #[test]
    fn openings_do_not_depend_on_earlier_queries() {
        let expected = first(order(Order::Random, 7, 0, 11), 60);
        let mut backwards = order(Order::Random, 7, 0, 11);
        for pair in (0..60).rev() {
            assert_eq!(backwards.opening_for(pair), expected[pair as usize]);
        }
        assert_eq!(order(Order::Random, 7, 0, 11).opening_for(37), expected[37]);
    }

    #[test]
    fn each_pass_uses_every_opening_of_a_large_book_once() {
        let len = 2 * PART + 7;
        let mut order = order(Order::Random, 7, 0, len);
        let mut drawn: Vec<usize> = (0..len as u64).map(|pair| order.opening_for(pair)).collect();
        let again: Vec<usize> = [0, PART, 2 * PART, len - 1]
            .into_iter()
            .rev()
            .map(|pair| order.opening_for(pair as u64))
            .collect();
        assert_eq!(again, [drawn[len - 1], drawn[2 * PART], drawn[PART], drawn[0]]);
        drawn.sort_unstable();
        assert!(drawn.into_iter().eq(0..len));
    }

    #[test]
    fn a_start_continues_the_same_sequence() {
        let whole = first(order(Order::Random, 3, 0, 8), 30);
        assert_eq!(first(order(Order::Random, 3, 13, 8), 17), whole[13..]);
    }

    #[test]
    fn seeds_differ() {
        assert_eq!(
            first(order(Order::Random, 3, 0, 40), 40),
            first(order(Order::Random, 3, 0, 40), 40)
        );
        assert_ne!(
            first(order(Order::Random, 3, 0, 40), 40),
            first(order(Order::Random, 4, 0, 40), 40)
        );
    }

    #[test]
    fn extreme_numbers_are_harmless() {
        assert_eq!(order(Order::Random, u64::MAX, u64::MAX, 1).opening_for(u64::MAX), 0);
        assert!(order(Order::Sequential, 0, u64::MAX, 7).opening_for(9) < 7);
    }
}
