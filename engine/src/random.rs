//! Pseudo-random numbers that depend only on the seed.

/// Pseudo-random number generator SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    /// Returns the generator for this seed.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns the next 64-bit number.
    pub(crate) fn next(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        number
    }

    /// Returns a random number below `end`, which must not be 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // The high half of the product is below `end` and almost uniformly distributed. Unlike a
        // remainder, this half needs no division.
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// Returns the numbers below `len` in random order (Fisher–Yates shuffle).
    pub(crate) fn shuffled_indices(&mut self, len: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..len as u32).collect();
        for last in (1..len).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// Increment of the state for each number: 2^64 divided by the golden ratio, as in SplitMix64. The
/// increment is odd, so all 2^64 states occur.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the number that SplitMix64 generates from this state. This number is also a hash of the
/// argument.
pub(crate) fn mix(number: u64) -> u64 {
    let mut word = number.wrapping_add(STEP);
    word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        // These are the first numbers of the reference implementation with the seed 1234567.
        let mut random = Random::new(1_234_567);
        let numbers = [random.next(), random.next()];
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        let mut order = Random::new(1).shuffled_indices(1000);
        assert_ne!(order, Random::new(2).shuffled_indices(1000));
        order.sort_unstable();
        assert!((0..1000).eq(order));
    }
}
