//! Random numbers derived from the seed of a run.
//!
//! Every random choice depends only on the seed, and on the purpose and the index of the choice. A
//! choice depends neither on the number of other choices nor on the order in which parallel work
//! finishes. The same seed therefore gives the same run.
//!
//! The mapping from seed to choices must never change, because stored runs depend on this mapping.
//! Hashing and shuffling are implemented in this module, because a library may change its
//! algorithms.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Returns the random number generator for choice number `index` of a purpose, for example
/// `("openings.order", pass)`.
pub fn seed_for(seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&index.to_le_bytes());
    key[16..24].copy_from_slice(&fnv1a(FNV_START, purpose.as_bytes()).to_le_bytes());
    // The length distinguishes purposes whose hashes are equal.
    key[24..].copy_from_slice(&(purpose.len() as u64).to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// Returns a uniform random number less than `bound`, without bias (D. Lemire, "Fast random integer
/// generation in an interval", 2019). `bound` must be at least 1.
pub fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    assert!(bound > 0, "there is no number below 0");
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        // The low half of the product is the offset of the random number in the interval of its
        // result. The first 2^64 mod `bound` offsets would make some results more likely, so a new
        // number is drawn for these offsets.
        if product as u64 >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

/// Shuffles `items` into a uniformly random order (Fisher–Yates, from the end; D. Knuth, "The Art
/// of Computer Programming", section 3.4.2, algorithm P).
pub fn shuffle<T>(rng: &mut impl Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last as u64 + 1) as usize);
    }
}

/// Returns a uniform random number in [0, 1).
pub fn uniform(rng: &mut impl Rng) -> f64 {
    // An `f64` below 1 has 53 bits of precision. More bits would be rounded, possibly to 1.
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// 64-bit FNV-1a hash of an empty string: the offset basis of G. Fowler, L. C. Noll and K.-P. Vo.
pub const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Returns the 64-bit FNV-1a hash of `bytes` after earlier bytes with the hash `hash`.
pub fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    // The factor is the 64-bit FNV prime.
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(hash, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_depend_on_seed_purpose_and_index() {
        let first = |seed, purpose, index| seed_for(seed, purpose, index).next_u64();
        let base = first(1, "order", 0);
        assert_eq!(base, first(1, "order", 0));
        for other in [first(2, "order", 0), first(1, "orders", 0), first(1, "order", 1)] {
            assert_ne!(base, other);
        }
    }

    /// Stored runs depend on these values: a change would change every run with a seed. The values
    /// are from an independent implementation of the cipher and of the rules in the module
    /// documentation.
    #[test]
    fn the_mapping_from_seed_to_choices_is_fixed() {
        assert_eq!(fnv1a(FNV_START, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(FNV_START, b"foobar"), 0x8594_4171_f739_67e8);
        let mut rng = seed_for(42, "example", 7);
        let draws: Vec<u64> = (0..8).map(|_| below(&mut rng, 100)).collect();
        assert_eq!(draws, FROZEN_DRAWS);
        let mut items = [0, 1, 2, 3, 4, 5, 6, 7];
        shuffle(&mut rng, &mut items);
        assert_eq!(items, FROZEN_SHUFFLE);
    }

    const FROZEN_DRAWS: [u64; 8] = [42, 38, 62, 68, 48, 86, 40, 18];
    const FROZEN_SHUFFLE: [u8; 8] = [7, 5, 1, 4, 0, 6, 3, 2];

    #[test]
    fn bounded_numbers_are_uniform() {
        let mut rng = seed_for(3, "even", 0);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[below(&mut rng, 6) as usize] += 1;
        }
        // The limit is five standard deviations of a count with a mean of 10,000 in 60,000 draws.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 457), "{counts:?}");
        assert_eq!(below(&mut rng, 1), 0);
        // With a bound of three quarters of the range, draws without rejection would give every
        // third number twice as often.
        let thirds = (0..6000).filter(|_| below(&mut rng, 3 << 62).is_multiple_of(3)).count();
        assert!(thirds.abs_diff(2000) < 183, "{thirds}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..1000).collect();
        shuffle(&mut seed_for(9, "shuffle", 0), &mut items);
        assert_ne!(items[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        items.sort_unstable();
        assert!(items.iter().copied().eq(0..1000));
        shuffle::<u32>(&mut seed_for(9, "shuffle", 1), &mut []);
    }
}
