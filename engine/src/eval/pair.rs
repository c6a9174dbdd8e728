//! A middlegame and an endgame score, packed into one machine word.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A middlegame and an endgame score of 32 bits each, in the unit of the evaluation.
///
/// The low half is the middlegame score (also called opening score), and the high half is the
/// endgame score. A negative low half borrows 1 from the high half; [`Pair::endgame`] compensates
/// for the borrow.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Pair(i64);

impl Pair {
    /// Zero.
    pub const ZERO: Pair = Pair(0);

    /// Packs two scores.
    #[inline]
    pub const fn new(opening: i32, endgame: i32) -> Pair {
        Pair(((endgame as i64) << 32) + opening as i64)
    }

    /// Returns the middlegame (opening) score.
    #[inline]
    pub const fn opening(self) -> i32 {
        self.0 as i32
    }

    /// Returns the endgame score.
    #[inline]
    pub const fn endgame(self) -> i32 {
        ((self.0 - self.0 as i32 as i64) >> 32) as i32
    }

    /// Returns a pair with this middlegame (opening) score and the endgame score 0.
    #[inline]
    pub const fn of_opening(opening: i32) -> Pair {
        Pair(opening as i64)
    }

    /// Returns a pair with this endgame score and the middlegame score 0.
    #[inline]
    pub const fn of_endgame(endgame: i32) -> Pair {
        Pair((endgame as i64) << 32)
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.opening(), self.endgame())
    }
}

impl Add for Pair {
    type Output = Pair;

    #[inline]
    fn add(self, other: Pair) -> Pair {
        Pair(self.0 + other.0)
    }
}

impl Sub for Pair {
    type Output = Pair;

    #[inline]
    fn sub(self, other: Pair) -> Pair {
        Pair(self.0 - other.0)
    }
}

impl Neg for Pair {
    type Output = Pair;

    #[inline]
    fn neg(self) -> Pair {
        Pair(-self.0)
    }
}

impl Mul<i32> for Pair {
    type Output = Pair;

    #[inline]
    fn mul(self, factor: i32) -> Pair {
        Pair(self.0 * i64::from(factor))
    }
}

impl AddAssign for Pair {
    #[inline]
    fn add_assign(&mut self, other: Pair) {
        *self = *self + other;
    }
}

impl SubAssign for Pair {
    #[inline]
    fn sub_assign(&mut self, other: Pair) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_independent() {
        let values = [0, 1, -1, 7, -3399, 33_990, -1_000_000, 1_000_000];
        for a in values {
            for b in values {
                let pair = Pair::new(a, b);
                assert_eq!((pair.opening(), pair.endgame()), (a, b));
                assert_eq!(-pair, Pair::new(-a, -b));
                assert_eq!(pair * -13, Pair::new(a * -13, b * -13));
                assert_eq!(pair + Pair::new(-5, 9), Pair::new(a - 5, b + 9));
                assert_eq!(pair - Pair::new(-5, 9), Pair::new(a + 5, b - 9));
                assert_eq!(Pair::of_opening(a) + Pair::of_endgame(b), pair);
            }
        }
    }
}
