//! Forecast of a running test: its probability to pass and its remaining pairs.
//!
//! After few pairs the estimated strength is uncertain, so the forecast is a mean over strengths. The
//! prior is normal around the middle of the hypotheses with their distance as standard deviation,
//! and the sample updates it by Bayes' rule. In terms of the ratio as
//! Brownian motion with variance w² for each unit, whose drift is w²/2 under H1 and −w²/2 under H0:
//! the drift is N(0, w⁴) at first, and after N units with drift m it is N(m·k, w²·k/N) with
//! k = N·w²/(N·w² + 1). The forecast is calibrated if strengths follow the prior; for engines much
//! stronger or weaker it is too cautious at first.

use super::brownian::{BrownianMotion, Exit};
use super::pentanomial::Pentanomial;
use super::sprt::{Decision, Sprt};

/// Half the number of drifts in the mean, and their spacing in standard deviations.
const STEPS: i32 = 24;
const SPACING: f64 = 0.25;

impl Sprt {
    /// The probability that the test passes and the mean number of pairs still to play; 0 pairs if
    /// it is decided at Wald's bounds. `None` while the sample has no variance.
    ///
    /// For display only. Wald's bounds stand for corrected ones too: a ratio that jumps reaches
    /// corrected bounds when one that creeps reaches Wald's.
    pub fn forecast(&self, pairs: &Pentanomial) -> Option<Exit> {
        let sample = pairs.distribution().moments().filter(|sample| sample.variance > 0.0)?;
        let llr = self.llr(pairs);
        match self.decide(llr) {
            Decision::AcceptH1 => Some(Exit { upper_probability: 1.0, mean_units: 0.0 }),
            Decision::AcceptH0 => Some(Exit { upper_probability: 0.0, mean_units: 0.0 }),
            Decision::Continue => {
                let walk = self.for_pairs(pairs).walk(&sample);
                let (below, above) = (llr - self.bounds.lower, self.bounds.upper - llr);
                Some(forecast(&walk, sample.units, below, above))
            }
        }
    }
}

/// The mean exit over the posterior of the drift, observed for `units` units.
fn forecast(observed: &BrownianMotion, units: f64, below: f64, above: f64) -> Exit {
    let evidence = units * observed.variance;
    let shrinkage = evidence / (evidence + 1.0);
    let centre = observed.drift * shrinkage;
    let deviation = (observed.variance * shrinkage / units).sqrt();
    let mut sum = Exit { upper_probability: 0.0, mean_units: 0.0 };
    let mut weights = 0.0;
    for step in -STEPS..=STEPS {
        let z = f64::from(step) * SPACING;
        let weight = (-0.5 * z * z).exp();
        let exit = BrownianMotion { drift: centre + z * deviation, ..*observed }.exit(below, above);
        sum.upper_probability += weight * exit.upper_probability;
        sum.mean_units += weight * exit.mean_units;
        weights += weight;
    }
    Exit {
        upper_probability: sum.upper_probability / weights,
        mean_units: sum.mean_units / weights,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sprt::Model;
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
    fn a_few_pairs_say_little() {
        let pass =
            |counts| test().forecast(&Pentanomial(counts)).expect("some spread").upper_probability;
        assert!((pass([0, 0, 1, 1, 0]) - 0.5).abs() < 0.02);
        assert!((pass([1, 2, 1, 2, 1]) - 0.5).abs() < 0.01);
        let (some, more) = (pass([12, 143, 287, 161, 21]), pass([120, 1430, 2870, 1610, 210]));
        assert!(0.5 < some && some < more, "{some} then {more}");
    }

    #[test]
    fn a_long_observation_leaves_no_doubt() {
        let walk = BrownianMotion { drift: 0.002, variance: 0.001 };
        let (sure, plain) = (forecast(&walk, 1e9, 3.0, 2.0), walk.exit(3.0, 2.0));
        assert!((sure.upper_probability - plain.upper_probability).abs() < 1e-4);
        assert!((sure.mean_units / plain.mean_units - 1.0).abs() < 1e-4);
    }
}
