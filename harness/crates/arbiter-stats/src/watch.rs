//! A test followed look by look, with the rule by which it stops.
//!
//! What a run decides by, and what simulations play.

use super::overshoot::Overshoot;
use super::pentanomial::Pentanomial;
use super::sprt::{Correction, Decision, Sprt};

/// What a test says at one look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Log-likelihood ratio of H1 against H0.
    pub llr: f64,
    /// The ratio at which H0 is accepted, corrected if the test is.
    pub lower: f64,
    /// The ratio at which H1 is accepted, likewise.
    pub upper: f64,
    /// What follows.
    pub decision: Decision,
}

/// A test and what its correction remembers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Watch {
    test: Sprt,
    overshoot: Option<Overshoot>,
}

impl Watch {
    /// A test that will be looked at after every `batch` pairs, at least 1.
    pub fn new(test: Sprt, batch: u64) -> Watch {
        let overshoot = (test.correction() == Correction::Dynamic).then(|| Overshoot::new(batch));
        Watch { test, overshoot }
    }

    /// The look before the first pair.
    pub fn start(&self) -> Look {
        let (lower, upper) = self.bounds();
        Look { llr: 0.0, lower, upper, decision: Decision::Continue }
    }

    /// Looks at all pairs so far. The order of looks is part of the rule: the same looks give the
    /// same decisions.
    pub fn look(&mut self, pairs: &Pentanomial) -> Look {
        let llr = self.test.llr(pairs);
        let decision = match &mut self.overshoot {
            None => self.test.decide(llr),
            Some(overshoot) => {
                overshoot.update(pairs.pairs(), llr);
                overshoot.decide(self.test.bounds(), llr)
            }
        };
        let (lower, upper) = self.bounds();
        Look { llr, lower, upper, decision }
    }

    /// As [`Watch::look`], for a caller that only wants the decision and has a good guess of the
    /// ratio: as long as the guess is further than `margin` from everything that matters, the
    /// ratio itself is not computed.
    pub(super) fn glance(
        &mut self,
        pairs: &Pentanomial,
        guess: Option<f64>,
        margin: f64,
    ) -> Decision {
        let (low, high) = match &self.overshoot {
            None => self.bounds(),
            Some(overshoot) => overshoot.quiet(self.test.bounds()),
        };
        if guess.is_some_and(|llr| llr > low + margin && llr < high - margin) {
            if let Some(overshoot) = &mut self.overshoot {
                overshoot.update_quietly(pairs.pairs());
            }
            return Decision::Continue;
        }
        self.look(pairs).decision
    }

    fn bounds(&self) -> (f64, f64) {
        let bounds = self.test.bounds();
        match &self.overshoot {
            None => (bounds.lower(), bounds.upper()),
            Some(overshoot) => overshoot.corrected(bounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sprt::Model;
    use super::*;

    /// Looks until there is a decision, while every pair but each `period`-th is won: pairs, and
    /// the last look.
    fn end(correction: Correction, period: u64) -> (u64, Look) {
        let test = Sprt::new(0.0, 20.0, 0.05, 0.05, Model::Normalized).expect("a sound test");
        let mut watch = Watch::new(test.with_correction(correction), 1);
        let mut pairs = Pentanomial::default();
        loop {
            let is_lost = pairs.pairs() % period == 1;
            pairs.0[if is_lost { 0 } else { 4 }] += 1;
            let look = watch.look(&pairs);
            if look.decision != Decision::Continue {
                return (pairs.pairs(), look);
            }
        }
    }

    #[test]
    fn a_corrected_test_ends_earlier_and_says_where() {
        let mut earlier = 0;
        for period in 3..30 {
            let (plain, at_wald) = end(Correction::None, period);
            let (corrected, inside) = end(Correction::Dynamic, period);
            assert!((at_wald.upper - 19f64.ln()).abs() < 1e-12 && at_wald.llr >= at_wald.upper);
            assert!(inside.upper < at_wald.upper && inside.llr > inside.upper, "{inside:?}");
            assert_eq!(inside.decision, Decision::AcceptH1);
            assert!(corrected <= plain, "{corrected} and {plain}");
            earlier += u64::from(corrected < plain && inside.llr < at_wald.upper);
        }
        assert!(earlier > 0);
    }

    #[test]
    fn nothing_is_corrected_before_the_first_pair() {
        let test = Sprt::new(0.0, 20.0, 0.05, 0.1, Model::Normalized).expect("a sound test");
        let start = Watch::new(test.with_correction(Correction::Dynamic), 1).start();
        assert_eq!((start.lower, start.upper), (test.bounds().lower(), test.bounds().upper()));
        assert_eq!((start.llr, start.decision), (0.0, Decision::Continue));
    }
}
