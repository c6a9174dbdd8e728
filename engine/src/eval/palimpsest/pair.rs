//! A middle-game and an endgame score that travel together.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// Two scores in centipawns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pair {
    /// Counts while there are pieces to attack the king with.
    pub(super) middle: i32,
    /// Counts when they are gone.
    pub(super) end: i32,
}

impl Pair {
    /// The blend for a game phase between 0 (end) and `phase_max` (middle).
    pub(super) fn blend(self, phase: i32, phase_max: i32) -> i32 {
        (self.middle * phase + self.end * (phase_max - phase)) / phase_max
    }
}

impl Add for Pair {
    type Output = Pair;

    #[inline]
    fn add(self, other: Pair) -> Pair {
        Pair { middle: self.middle + other.middle, end: self.end + other.end }
    }
}

impl Sub for Pair {
    type Output = Pair;

    #[inline]
    fn sub(self, other: Pair) -> Pair {
        self + -other
    }
}

impl Neg for Pair {
    type Output = Pair;

    #[inline]
    fn neg(self) -> Pair {
        Pair { middle: -self.middle, end: -self.end }
    }
}

impl Mul<i32> for Pair {
    type Output = Pair;

    #[inline]
    fn mul(self, factor: i32) -> Pair {
        Pair { middle: self.middle * factor, end: self.end * factor }
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
