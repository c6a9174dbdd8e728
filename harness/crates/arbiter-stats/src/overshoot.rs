//! Correction for the overshoot of a log-likelihood ratio past its bound.
//!
//! With Wald's bounds, a continuous log-likelihood ratio (LLR) has the requested error rates. A
//! real LLR jumps past its bound, so a test with Wald's bounds is slightly longer than necessary,
//! and its error rates are slightly lower than requested. As in a renewal process, the mean excess
//! over the bound is E(δ²)/2E(δ), where δ is the step between successive extreme values of the LLR
//! (D. Siegmund, "Sequential Analysis", corollary 8.33). The correction moves both bounds inwards
//! by the mean excess. This method is fishtest's "dynamic overshoot correction".

use super::sprt::{Decision, LlrBounds};

/// Sums of the steps between successive extreme values of the LLR: new minima or new maxima.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Records {
    /// Latest extreme value of the LLR, from which the next step is measured.
    reference: f64,
    /// Sum of the steps; negative if the extreme values are minima.
    sum: f64,
    /// Sum of the squared steps.
    squares: f64,
}

impl Records {
    fn record(&mut self, llr: f64) {
        let step = llr - self.reference;
        self.sum += step;
        self.squares += step * step;
        self.reference = llr;
    }

    /// Returns the mean distance by which the LLR jumps past a bound on this side, at least 0.
    fn mean_excess(&self) -> f64 {
        if self.sum == 0.0 { 0.0 } else { 0.5 * self.squares / self.sum.abs() }
    }
}

/// Overshoot of a test that is updated after every batch of units (games or pairs).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overshoot {
    batch: u64,
    units: u64,
    low: Records,
    high: Records,
    /// `true` if an unexpected update has ended the correction.
    is_invalid: bool,
}

impl Overshoot {
    /// Creates a correction for a test that computes its LLR after every `batch` units; `batch` is
    /// at least 1.
    pub(crate) fn new(batch: u64) -> Overshoot {
        assert!(batch > 0, "a batch is at least one unit");
        let none = Records::default();
        Overshoot { batch, units: 0, low: none, high: none, is_invalid: false }
    }

    /// Records the LLR after a total of `units` units.
    ///
    /// A repeated total changes nothing. A total that skips batches restarts the measurement of
    /// steps, because the extreme values in the skipped batches are unknown. A total that
    /// decreases, or that is not a multiple of the batch, ends the correction permanently. Wald's
    /// bounds then apply.
    pub(crate) fn update(&mut self, units: u64, llr: f64) {
        if self.is_invalid || units == self.units {
            return;
        }
        // Such updates show that extreme values may be missing, so only Wald's bounds are safe.
        if units < self.units || !units.is_multiple_of(self.batch) {
            *self = Overshoot { is_invalid: true, ..Overshoot::new(self.batch) };
            return;
        } else if units == self.units + self.batch {
            if llr < self.low.reference {
                self.low.record(llr);
            }
            if llr > self.high.reference {
                self.high.record(llr);
            }
        } else {
            self.low.reference = llr;
            self.high.reference = llr;
        }
        self.units = units;
    }

    /// Returns the limits of the range in which an LLR is not a new extreme value and leads to no
    /// decision.
    pub(crate) fn quiet(&self, bounds: LlrBounds) -> LlrBounds {
        let LlrBounds { lower, upper } = self.corrected(bounds);
        if self.is_invalid {
            return bounds;
        }
        LlrBounds { lower: lower.max(self.low.reference), upper: upper.min(self.high.reference) }
    }

    /// Records a total of `units` units with an LLR in the [quiet](Self::quiet) range.
    pub(crate) fn update_quietly(&mut self, units: u64) {
        // An LLR between the two references is not a new extreme value, so the exact LLR is not
        // needed.
        self.update(units, self.low.reference.max(self.high.reference.min(0.0)));
    }

    /// Returns the corrected bounds.
    pub(crate) fn corrected(&self, bounds: LlrBounds) -> LlrBounds {
        LlrBounds {
            // Siegmund's corollary 8.33: a walk with steps δ exceeds its bound by E(δ²)/2E(δ) on
            // average.
            lower: bounds.lower + self.low.mean_excess(),
            upper: bounds.upper - self.high.mean_excess(),
        }
    }

    /// Compares the LLR with the corrected bounds. An LLR equal to a bound does not end the test.
    pub(crate) fn decide(&self, bounds: LlrBounds, llr: f64) -> Decision {
        let LlrBounds { lower, upper } = self.corrected(bounds);
        if llr > upper {
            Decision::AcceptH1
        } else if llr < lower {
            Decision::AcceptH0
        } else {
            Decision::Continue
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds() -> LlrBounds {
        LlrBounds::new(0.05, 0.05).expect("sound rates")
    }

    #[test]
    fn records_give_the_mean_excess() {
        let mut overshoot = Overshoot::new(2);
        for (units, llr) in [(2, 0.5), (4, 0.2), (6, 0.6), (8, -0.3)] {
            overshoot.update(units, llr);
        }
        assert!((overshoot.high.mean_excess() - 0.5 * (0.25 + 0.01) / 0.6).abs() < 1e-12);
        assert!((overshoot.low.mean_excess() - 0.15).abs() < 1e-12);
        let before = overshoot;
        overshoot.update(8, 9.0);
        assert_eq!(overshoot, before);
        assert_eq!(overshoot.quiet(bounds()), LlrBounds { lower: -0.3, upper: 0.6 });
        overshoot.update_quietly(10);
        assert_eq!(
            (overshoot.high.mean_excess(), overshoot.low.mean_excess()),
            (before.high.mean_excess(), before.low.mean_excess())
        );
    }

    #[test]
    fn gaps_restart_the_measurement() {
        let mut overshoot = Overshoot::new(2);
        overshoot.update(2, 0.5);
        overshoot.update(8, 2.0);
        assert_eq!(overshoot.high.mean_excess(), 0.25);
        overshoot.update(10, 2.5);
        assert_eq!(overshoot.high.mean_excess(), 0.25);
    }

    #[test]
    fn unexpected_steps_end_the_correction() {
        for units in [2, 7] {
            let mut overshoot = Overshoot::new(2);
            overshoot.update(2, 0.5);
            overshoot.update(4, 1.0);
            overshoot.update(units, 1.5);
            assert!(overshoot.is_invalid);
            assert_eq!((overshoot.low.mean_excess(), overshoot.high.mean_excess()), (0.0, 0.0));
            assert_eq!(overshoot.decide(bounds(), 2.9), Decision::Continue);
        }
    }

    #[test]
    fn corrected_bounds_are_nearer() {
        let mut overshoot = Overshoot::new(1);
        overshoot.update(1, 0.4);
        overshoot.update(2, -0.2);
        assert_eq!(overshoot.decide(bounds(), 2.75), Decision::AcceptH1);
        assert_eq!(overshoot.decide(bounds(), 2.74), Decision::Continue);
        assert_eq!(overshoot.decide(bounds(), -2.85), Decision::AcceptH0);
        assert_eq!(overshoot.decide(bounds(), -2.84), Decision::Continue);
    }
}
