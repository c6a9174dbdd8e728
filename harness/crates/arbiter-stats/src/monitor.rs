//! SPRT that is updated during a run, with the correction for overshoot. Runs and simulations take
//! their decisions from [`SprtMonitor`].

use super::gsprt::steps;
use super::overshoot::Overshoot;
use super::pentanomial::{Pentanomial, Trinomial};
use super::sprt::{Correction, Decision, LlrBounds, Sprt};

/// Status of a test after the pairs so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SprtStatus {
    /// Log-likelihood ratio of H1 against H0.
    pub llr: f64,
    /// LLR at which H0 is accepted, after any correction.
    pub lower: f64,
    /// LLR at which H1 is accepted, after any correction.
    pub upper: f64,
    /// Decision: the accepted hypothesis, if any.
    pub decision: Decision,
}

/// Number of sampled random orders of the pairs. The mean bounds over these orders are within 0.06
/// of the mean over all orders (docs/statistics.md).
const ORDERS: usize = 16;

/// Number of pairs, at the start of an order, for which the LLR is computed exactly. For each later
/// pair, a step computed from the complete sample is added to the LLR; this shortcut takes a
/// thousandth of the time. The first pairs need the exact LLR: if the LLR drifts towards one bound,
/// new extreme values on the side of the other bound occur only in the first pairs.
const EXACT: u64 = 40;

/// Maximum number of simulated pairs in an order, so that the simulation takes only milliseconds
/// even for large counts. Later pairs hardly change the measured overshoot.
const FOLLOWED: u64 = 5_000;

impl Sprt {
    /// Returns the status of a test from the counts alone, without the order of the pairs. The
    /// overshoot correction depends on the order of the pairs, so the bounds are means over random
    /// orders. `uniform` returns random numbers in [0, 1) that determine the orders. If the test
    /// has ended in at least one order, the status contains the decision.
    pub fn status_of_counts(
        &self,
        pairs: &Pentanomial,
        mut uniform: impl FnMut() -> f64,
    ) -> SprtStatus {
        let llr = self.llr(pairs);
        let start = SprtMonitor::new(*self, 1).start();
        if self.correction == Correction::None || pairs.pairs() == 0 {
            return SprtStatus { llr, decision: self.decide(llr), ..start };
        }
        let mut bounds = [0.0, 0.0];
        let mut decision = Decision::Continue;
        for _ in 0..ORDERS {
            let overshoot = self.overshoot_of_order(pairs, &mut uniform);
            let LlrBounds { lower, upper } = overshoot.corrected(self.bounds);
            bounds = [bounds[0] + lower, bounds[1] + upper];
            match overshoot.decide(self.bounds, llr) {
                Decision::Continue => {}
                ended => decision = ended,
            }
        }
        let [lower, upper] = bounds.map(|sum| sum / ORDERS as f64);
        SprtStatus { llr, lower, upper, decision }
    }

    /// Returns the overshoot measured for the pairs in a random order.
    fn overshoot_of_order(
        &self,
        pairs: &Pentanomial,
        uniform: &mut impl FnMut() -> f64,
    ) -> Overshoot {
        let test = self.for_pairs(pairs);
        let all = pairs.pairs();
        // A cell that was raised from 0 also has a step, but is never drawn.
        let sample = pairs.distribution().positive_probabilities();
        let steps = steps(&sample, test.elo0, test.elo1, test.model);
        let mut remaining = *pairs;
        let mut drawn_pairs = Pentanomial::default();
        let mut overshoot = Overshoot::new(1);
        let mut llr = 0.0;
        for drawn in 1..=all.min(FOLLOWED) {
            let mut place = (uniform() * (all - drawn + 1) as f64) as u64;
            let is_here = |cell: &u64| {
                let is_here = place < *cell;
                place = place.saturating_sub(*cell);
                is_here
            };
            let cell = remaining.0.iter().position(is_here).unwrap_or(0);
            remaining.0[cell] = remaining.0[cell].saturating_sub(1);
            drawn_pairs.0[cell] += 1;
            llr = if drawn <= EXACT { self.llr(&drawn_pairs) } else { llr + steps[cell] };
            overshoot.update(drawn, llr);
        }
        overshoot
    }
}

/// SPRT with the overshoot of the LLR measured so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SprtMonitor {
    test: Sprt,
    overshoot: Option<Overshoot>,
}

impl SprtMonitor {
    /// Creates a monitor for a test that is updated after every `batch` pairs; `batch` is at least
    /// 1.
    pub fn new(test: Sprt, batch: u64) -> SprtMonitor {
        let overshoot = (test.correction == Correction::Dynamic).then(|| Overshoot::new(batch));
        SprtMonitor { test, overshoot }
    }

    /// Returns the status before the first pair.
    pub fn start(&self) -> SprtStatus {
        self.status(0.0, Decision::Continue)
    }

    /// Updates the test with the counts of all pairs so far, and returns the status. With a
    /// correction, the status also depends on the counts in every earlier update. Equal sequences
    /// of updates lead to equal decisions.
    pub fn update(&mut self, pairs: &Pentanomial) -> SprtStatus {
        self.update_by(pairs, self.test.llr(pairs))
    }

    /// Updates the test with the counts of all pairs and games so far, and returns the status. The
    /// test uses either `pairs` or `games`, according to its evidence.
    pub fn update_counts(&mut self, pairs: &Pentanomial, games: &Trinomial) -> SprtStatus {
        self.update_by(pairs, self.test.llr_of_counts(pairs, games))
    }

    fn update_by(&mut self, pairs: &Pentanomial, llr: f64) -> SprtStatus {
        let decision = match &mut self.overshoot {
            // Without a correction, earlier updates do not matter, so any sequence of updates is
            // allowed.
            None => self.test.decide(llr),
            Some(overshoot) => {
                overshoot.update(pairs.pairs(), llr);
                overshoot.decide(self.test.bounds, llr)
            }
        };
        self.status(llr, decision)
    }

    /// Updates the test as [`SprtMonitor::update`] does, and returns the decision. The exact LLR is
    /// computed only if there is no estimate of the LLR, or if the estimate is within `margin` of a
    /// bound or of an extreme value so far.
    pub(super) fn update_if_near(
        &mut self,
        pairs: &Pentanomial,
        estimate: Option<f64>,
        margin: f64,
    ) -> Decision {
        let bounds = self.test.bounds;
        let LlrBounds { lower, upper } =
            self.overshoot.map_or(bounds, |overshoot| overshoot.quiet(bounds));
        // The error of the estimate is less than the margin, so there is no new extreme value and
        // no decision.
        if estimate.is_some_and(|llr| llr > lower + margin && llr < upper - margin) {
            if let Some(overshoot) = &mut self.overshoot {
                overshoot.update_quietly(pairs.pairs());
            }
            return Decision::Continue;
        }
        self.update(pairs).decision
    }

    fn status(&self, llr: f64, decision: Decision) -> SprtStatus {
        let bounds = self.test.bounds;
        let LlrBounds { lower, upper } =
            self.overshoot.map_or(bounds, |overshoot| overshoot.corrected(bounds));
        SprtStatus { llr, lower, upper, decision }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scale::Model;
    use super::*;

    /// Updates the test until there is a decision. One pair in `period` is lost, and all other
    /// pairs are won. Returns the number of pairs and the last status.
    fn end(correction: Correction, period: u64) -> (u64, SprtStatus) {
        let test = Sprt::new(0.0, 20.0, 0.05, 0.05, Model::Normalized).expect("a sound test");
        let mut monitor = SprtMonitor::new(test.with_correction(correction), 1);
        let mut pairs = Pentanomial::default();
        loop {
            let is_lost = pairs.pairs() % period == 1;
            pairs.0[if is_lost { 0 } else { 4 }] += 1;
            let status = monitor.update(&pairs);
            if status.decision != Decision::Continue {
                return (pairs.pairs(), status);
            }
        }
    }

    #[test]
    fn a_corrected_test_ends_earlier_and_reports_its_bounds() {
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
    fn the_bounds_are_uncorrected_before_the_first_pair() {
        let test = Sprt::new(0.0, 20.0, 0.05, 0.1, Model::Normalized).expect("a sound test");
        let start = SprtMonitor::new(test.with_correction(Correction::Dynamic), 1).start();
        assert_eq!((start.lower, start.upper), (test.bounds.lower, test.bounds.upper));
        assert_eq!((start.llr, start.decision), (0.0, Decision::Continue));
    }
}
