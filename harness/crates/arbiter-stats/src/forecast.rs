//! Forecast of a running test: the probability that the test passes, and the number of remaining
//! pairs.
//!
//! After only a few pairs, the estimated strength is uncertain, so the forecast is a mean over
//! strengths. The prior is a normal distribution that is centred midway between the two hypotheses.
//! The standard deviation of the prior is the distance between the hypotheses. The sample updates
//! the prior by Bayes' rule.
//!
//! The log-likelihood ratio (LLR) is modelled as Brownian motion with variance w² per unit. The
//! drift is w²/2 under H1 and −w²/2 under H0. The prior of the drift is N(0, w⁴). After N units
//! with mean drift m, the posterior is N(m·k, w²·k/N) with k = N·w²/(N·w² + 1).
//!
//! The forecast is calibrated if strengths follow the prior. A sample that is significantly outside
//! the prior widens the prior, so that the forecast is also useful for engines of very different
//! strength.

use super::brownian::{BrownianMotion, Exit};
use super::pentanomial::Pentanomial;
use super::sprt::{Decision, Sprt};

/// Number of drifts on each side of the central drift. The outermost drifts are `STEPS` · `SPACING`
/// = 6 standard deviations away, where the weight is below 2·10⁻⁸.
const STEPS: i32 = 24;
/// Distance between neighbouring drifts, in standard deviations.
const SPACING: f64 = 0.25;

/// Maximum deviation, in standard errors, that counts as chance in the observed drift. The prior is
/// widened only if the square of the drift exceeds the variance of the prior by more than the
/// square of this deviation. Without the widening, the forecast for engines of very different
/// strength would still be "no verdict" shortly before the test passes.
const BEYOND_CHANCE: f64 = 3.0;

impl Sprt {
    /// Returns the probability that the test passes, and the mean number of remaining pairs. If the
    /// LLR has reached one of Wald's bounds, no pairs remain. Returns `None` if the sample has no
    /// variance.
    ///
    /// Use the forecast only for display. Wald's bounds are used even if the test corrects its
    /// bounds, because the forecast is for a continuous LLR. On average, a real LLR that crosses a
    /// corrected bound ends at Wald's bound, which is the bound for a continuous LLR.
    pub fn forecast(&self, pairs: &Pentanomial) -> Option<Exit> {
        let exit = |walk: BrownianMotion, below, above| {
            let exit = walk.exit(below, above);
            [exit.upper_probability, exit.mean_units]
        };
        let [upper_probability, mean_units] = self.mean_outcome(pairs, exit, 0.0)?;
        Some(Exit { upper_probability, mean_units })
    }

    /// Returns the probabilities of accepting H1 and of accepting H0 within `limit` more pairs. The
    /// remaining probability is that neither hypothesis is accepted. Returns `None` if the sample
    /// has no variance. Use the probabilities only for display, like [`Sprt::forecast`].
    pub fn chances(&self, pairs: &Pentanomial, limit: u64) -> Option<[f64; 2]> {
        let within = |walk: BrownianMotion, below: f64, above: f64| match limit {
            0 => [0.0, 0.0],
            _ => {
                let worse = |level| walk.outcome_probability(-below, above, limit as f64, level);
                [1.0 - worse(above), worse(-below)]
            }
        };
        self.mean_outcome(pairs, within, 1.0)
    }

    /// Returns the means of two quantities of the remaining random walk of the LLR. `figures`
    /// computes both quantities from the walk and the distances of the LLR to the lower and upper
    /// bounds. If H1 is already accepted, the means are 1 and 0; if H0 is already accepted, the
    /// means are 0 and `if_h0`.
    fn mean_outcome(
        &self,
        pairs: &Pentanomial,
        figures: impl Fn(BrownianMotion, f64, f64) -> [f64; 2],
        if_h0: f64,
    ) -> Option<[f64; 2]> {
        let sample = pairs.distribution().moments().filter(|sample| sample.variance > 0.0)?;
        let llr = self.llr(pairs);
        match self.decide(llr) {
            Decision::AcceptH1 => Some([1.0, 0.0]),
            Decision::AcceptH0 => Some([0.0, if_h0]),
            Decision::Continue => {
                // The exact LLR is proportional to the counts, so the LLR divided by the number of
                // units is the drift per unit. A drift computed from the moments is valid only for
                // small strength differences.
                let drift = llr / sample.units;
                let walk = BrownianMotion { drift, ..self.for_pairs(pairs).walk(&sample) };
                let below = llr - self.bounds.lower;
                let above = self.bounds.upper - llr;
                Some(posterior_mean(&walk, sample.units, |walk| figures(walk, below, above)))
            }
        }
    }
}

/// Returns the means of two quantities over the posterior of the drift after `units` units.
fn posterior_mean(
    observed: &BrownianMotion,
    units: f64,
    figures: impl Fn(BrownianMotion) -> [f64; 2],
) -> [f64; 2] {
    let error = observed.variance / units;
    // A sample far outside the hypotheses must dominate the prior, so the variance of the prior is
    // at least m² − 9·w²/N.
    let excess = observed.drift.powi(2) - BEYOND_CHANCE.powi(2) * error;
    let prior = excess.max(observed.variance.powi(2));
    // Bayes' rule for a normal mean with normal errors.
    let shrinkage = prior / (prior + error);
    let centre = observed.drift * shrinkage;
    let deviation = (error * shrinkage).sqrt();
    let mut sums = [0.0; 2];
    let mut weights = 0.0;
    for step in -STEPS..=STEPS {
        let z = f64::from(step) * SPACING;
        let weight = (-0.5 * z * z).exp();
        let values = figures(BrownianMotion { drift: centre + z * deviation, ..*observed });
        sums = [sums[0] + weight * values[0], sums[1] + weight * values[1]];
        weights += weight;
    }
    sums.map(|sum| sum / weights)
}

#[cfg(test)]
mod tests {
    use super::super::scale::Model;
    use super::*;

    fn test() -> Sprt {
        Sprt::new(0.0, 5.0, 0.05, 0.05, Model::Normalized).expect("a sound test")
    }

    #[test]
    fn remaining_pairs_shrink_to_none() {
        let remaining = |counts| test().forecast(&Pentanomial(counts)).map(|exit| exit.mean_units);
        assert_eq!(remaining([0, 0, 0, 0, 0]), None);
        assert_eq!(remaining([0, 0, 50, 0, 0]), None);
        assert_eq!(remaining([0, 0, 0, 1, 0]), None);
        let early = remaining([12, 143, 287, 161, 21]).expect("some spread");
        let later = remaining([24, 286, 574, 322, 42]).expect("some spread");
        assert!(later < early && later > 0.0, "{early} then {later}");
        assert_eq!(remaining([240, 2860, 5740, 3220, 420]), Some(0.0));
    }

    #[test]
    fn forecasts_from_few_pairs_are_near_one_half() {
        let pass =
            |counts| test().forecast(&Pentanomial(counts)).expect("some spread").upper_probability;
        assert!((pass([0, 0, 1, 1, 0]) - 0.5).abs() < 0.02);
        assert!((pass([1, 2, 1, 2, 1]) - 0.5).abs() < 0.01);
        let (some, more) = (pass([12, 143, 287, 161, 21]), pass([120, 1430, 2870, 1610, 210]));
        assert!(0.5 < some && some < more, "{some} then {more}");
    }

    #[test]
    fn forecasts_from_many_pairs_use_the_observed_drift() {
        let walk = BrownianMotion { drift: 0.002, variance: 0.001 };
        let [upper_probability, mean_units] = posterior_mean(&walk, 1e9, |walk| {
            let exit = walk.exit(3.0, 2.0);
            [exit.upper_probability, exit.mean_units]
        });
        let plain = walk.exit(3.0, 2.0);
        assert!((upper_probability - plain.upper_probability).abs() < 1e-4);
        assert!((mean_units / plain.mean_units - 1.0).abs() < 1e-4);
    }
    #[test]
    fn a_limit_on_pairs_may_end_the_test_without_a_decision() {
        let pairs = Pentanomial([12, 143, 287, 161, 21]);
        let chances = |limit| test().chances(&pairs, limit).expect("some spread");
        let pass = test().forecast(&pairs).expect("some spread").upper_probability;
        let [h1, h0] = chances(10_000_000);
        assert!((h1 - pass).abs() < 1e-3 && (h1 + h0 - 1.0).abs() < 1e-3, "{h1} {h0} {pass}");
        let [early, late] = [chances(2_000), chances(20_000)];
        assert!(
            early[0] < late[0] && late[0] < h1 && early[0] + early[1] < 0.9,
            "{early:?} {late:?}"
        );
        assert_eq!(chances(0), [0.0, 0.0]);
        assert_eq!(test().chances(&Pentanomial([240, 2860, 5740, 3220, 420]), 9), Some([1.0, 0.0]));
        assert_eq!(test().chances(&Pentanomial([0, 0, 9, 0, 0]), 9), None);
    }
}
