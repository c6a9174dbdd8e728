//! Log-likelihood ratio as a random walk with one step per result, without overshoot.
//!
//! For lopsided results, this model is more accurate than [`super::brownian`]. By Wald's identity,
//! the probability and the mean time of the exit follow from the root h ≠ 0 of E(e^(hJ)) = 1, where
//! J is the random step.

use super::brownian::{BrownianMotion, Exit, exit_by_rate};
use super::roots::{falling_crossing, falling_root};

/// Value of |2·mean/variance|·(distance between the barriers) below which the walk is treated as
/// Brownian motion. The root h is then too close to the trivial root 0, and Brownian motion is
/// equally accurate.
const NO_DRIFT: f64 = 1e-4;

/// Returns the exit of a walk that starts at 0 between the barriers `lower` < 0 < `upper`. The walk
/// takes `steps` with `probabilities`, which add up to 1. Returns `None` unless steps in both
/// directions are possible.
///
/// The probability of exit at the upper barrier is P = (1 − e^(hA))/(e^(hB) − e^(hA)), where A is
/// the lower barrier and B is the upper barrier. The mean number of steps is
/// E = (P·B + (1 − P)·A)/E(J). These are the formulas of Brownian motion with −h in place of
/// 2·drift/variance.
pub(crate) fn exit<const K: usize>(
    steps: &[f64; K],
    probabilities: &[f64; K],
    lower: f64,
    upper: f64,
) -> Option<Exit> {
    assert!(lower < 0.0 && 0.0 < upper, "outside the barriers: {lower}, {upper}");
    let of = |f: &dyn Fn(f64) -> f64| -> f64 {
        steps.iter().zip(probabilities).map(|(step, p)| p * f(*step)).sum()
    };
    let possible = || steps.iter().zip(probabilities).filter(|(_, p)| **p > 0.0).map(|(j, _)| *j);
    if !(possible().any(|step| step < 0.0) && possible().any(|step| step > 0.0)) {
        return None;
    }
    let (mean, second) = (of(&|j| j), of(&|j| j * j));
    if (2.0 * mean / second * (upper - lower)).abs() < NO_DRIFT {
        let walk = BrownianMotion { drift: mean, variance: second - mean * mean };
        return Some(walk.exit(-lower, upper));
    }
    // A falling walk is mirrored, so that the nontrivial root is always negative.
    let sign = mean.signum();
    let value = |h: f64| {
        // Near the root 0, `exp_m1` keeps the digits that the sum of the exponentials would lose.
        let value = of(&|j| (h * sign * j).exp_m1());
        // The sign of a smaller sum is only a rounding error.
        let error = f64::EPSILON * of(&|j| (h * sign * j).exp_m1().abs());
        if value.abs() < error { 0.0 } else { value }
    };
    let h = negative_root(value, |h| of(&|j| sign * j * (h * sign * j).exp()));
    let exit = exit_by_rate(-sign * h, mean, -lower, upper);
    assert!(exit.upper_probability.is_finite(), "no exit: {exit:?}, root {h}");
    Some(exit)
}

/// Finds the negative root of the convex function `value`, which is zero and increasing at 0.
fn negative_root(value: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64) -> f64 {
    let mut low = -1.0;
    // The loop ends because steps in both directions are possible, so E(e^(hJ)) grows without limit
    // as h decreases.
    while value(low) <= 0.0 {
        low *= 2.0;
    }
    // The minimum lies between the two roots.
    let least = falling_crossing(|h| -slope(h), 0.0, low, 0.0);
    falling_root(|h| (value(h), slope(h)), low, 0.5 * (low + least), least)
}

#[cfg(test)]
mod tests {
    use super::super::gsprt::steps;
    use super::super::scale::Model;
    use super::super::sprt::LlrBounds;
    use super::super::tests::agreement::Agreement;
    use super::*;

    type Case = ([f64; 5], f64, f64, [f64; 5], f64, f64);

    /// Each case contains pair probabilities, elo0, elo1, steps, pass probability and mean number
    /// of pairs, computed by M. Van den Bergh's random_walk.py.
    #[rustfmt::skip]
    const CASES: &[Case] = &[
        ([0.0159, 0.2189, 0.5304, 0.2189, 0.0159], 0.0, 5.0,
         [-0.0982123430493, -0.0510072150907, -0.00146288483603, 0.0506646237978, 0.105659566713],
         0.05, 3617.75803716),
        ([0.015, 0.21, 0.53, 0.228, 0.017], 0.0, 5.0,
         [-0.10494248761, -0.0518958141836, -0.000345003207467, 0.0498381170228, 0.0987680884722],
         0.825977823554, 4959.8299521),
        ([0.01, 0.18, 0.6, 0.195, 0.015], -1.0, 3.0,
         [-0.104981761199, -0.0498947530799, 0.000654696040116, 0.0472624443229, 0.0904174894785],
         0.992732966062, 3105.41065919),
    ];

    #[test]
    fn walks_match_the_reference() {
        let bounds = LlrBounds::new(0.05, 0.05).expect("sound rates");
        let mut agreement =
            Agreement::within(1e-9, "random_walk: steps, probability to pass, pairs");
        for (p, elo0, elo1, expected, pass, pairs) in CASES {
            agreement.row();
            let got = steps(p, *elo0, *elo1, Model::Logistic);
            for (got, expected) in got.iter().zip(expected) {
                agreement.figure("step", *got, *expected);
            }
            let exit = exit(&got, p, bounds.lower, bounds.upper).expect("both ways");
            agreement.figure("pass probability", exit.upper_probability, *pass);
            agreement.figure("pairs", exit.mean_units, *pairs);
        }
        agreement.print();
    }

    #[test]
    fn one_way_walks_have_no_exit() {
        assert_eq!(exit(&[0.1, 0.2], &[0.5, 0.5], -1.0, 1.0), None);
        assert_eq!(exit(&[-0.1, 0.2], &[0.0, 1.0], -1.0, 1.0), None);
        let still = exit(&[-0.1, 0.1], &[0.5, 0.5], -1.0, 1.0).expect("both ways");
        assert_eq!(still.upper_probability, 0.5);
    }
}
