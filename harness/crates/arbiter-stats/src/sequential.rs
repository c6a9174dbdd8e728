//! Strength estimate after a sequential test.
//!
//! Stopping after good (or bad) results biases the plain estimate of [`super::elo`] in the
//! direction of these results. To remove the bias, the possible ends of the test are ordered: early
//! failure, late failure, late pass, early pass (the stage-wise order). The estimate is the
//! strength at which the observed end is the median. The 95 % interval follows in the same way from
//! the 2.5 % and 97.5 % quantiles. This estimate is too high as often as it is too low (D.
//! Siegmund, "Sequential Analysis", chapter 3).
//!
//! The log-likelihood ratio (LLR) is modelled as Brownian motion with the variance of the sample.
//! The estimate is also defined for a test that reached its limit of games or has not ended. In the
//! stage-wise order, such an end is between all failures and all passes; its place depends on the
//! LLR and the time of the end.

use super::brownian::BrownianMotion;
use super::distribution::Distribution;
use super::elo::{Estimate, score_from_elo};
use super::pentanomial::{Pentanomial, Trinomial};
use super::roots::falling_crossing;
use super::sprt::{Decision, LlrBounds, Sprt};

/// Largest absolute strength, in logistic Elo; larger strengths are reported as infinite.
pub const MAX_ELO: f64 = 1000.0;

/// Largest ratio of the LLR to the crossed bound that a single step can explain. The ratio is the
/// same as in fishtest.
const CLAMP: f64 = 1.03;

/// Strength estimate, corrected for the stopping rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SequentialEstimate {
    /// Median-unbiased logistic Elo with its 95 % confidence interval; infinite beyond
    /// ±[`MAX_ELO`].
    pub elo: Estimate,
    /// Likelihood of superiority (LOS), 0 to 1: the probability that a test between equal engines
    /// ends with a worse result than this test.
    pub los: f64,
    /// `true` if the LLR was more than 3 % past its bound, for example because games were counted
    /// after the end of the test. The estimate then refers to the moment at which the LLR crossed
    /// the bound.
    pub clamped: bool,
}

/// Returns the estimate from the pairs of a test that ended with `decision`. Use
/// [`Decision::Continue`] for a test that reached its limit, or for a test of which only the counts
/// are known. Returns `None` if there are no pairs.
///
/// Empty cells are raised first, so that a sample without variance has an estimate.
///
/// A test with corrected bounds may end before its LLR reaches Wald's bound. Such a test is treated
/// as if the last pair had raised or lowered the LLR exactly to Wald's bound. The correction
/// justifies this treatment: on average, a real LLR that crosses a corrected bound ends at Wald's
/// bound.
pub fn after(test: &Sprt, pairs: &Pentanomial, decision: Decision) -> Option<SequentialEstimate> {
    estimate(&test.for_pairs(pairs), &pairs.distribution(), decision)
}

/// Returns the estimate as [`after`] does for [`Decision::Continue`], but from games that were not
/// played in pairs.
pub fn of_games(test: &Sprt, games: &Trinomial) -> Option<SequentialEstimate> {
    estimate(&test.for_games(games), &games.distribution(), Decision::Continue)
}

fn estimate<const K: usize>(
    test: &Sprt,
    counts: &Distribution<K>,
    decision: Decision,
) -> Option<SequentialEstimate> {
    // The check uses the original counts, because an empty sample with raised cells would have
    // moments.
    counts.moments()?;
    let sample = counts.regularized().moments()?;
    let observed = test.walk(&sample);
    let LlrBounds { lower, upper } = test.bounds;
    let llr = observed.drift * sample.units;
    let (level, units) = match decision {
        // Games after the end do not belong to the test, so the estimate refers to the moment at
        // which the LLR crossed the bound.
        _ if llr > upper => (upper, upper / observed.drift),
        _ if llr < lower => (lower, lower / observed.drift),
        Decision::AcceptH1 => (upper, sample.units),
        Decision::AcceptH0 => (lower, sample.units),
        Decision::Continue => (llr, sample.units),
    };
    // The drift is linear in the mean score, with the slope (s₁ − s₀)/v = √(variance/v), where v is
    // the variance of a unit's score.
    let slope = (observed.variance / sample.variance).sqrt();
    let worse = |elo: f64| {
        let drift = observed.drift + slope * (score_from_elo(elo) - sample.mean);
        BrownianMotion { drift, ..observed }.outcome_probability(lower, upper, units, level)
    };
    let at = |probability: f64| falling_crossing(worse, probability, -MAX_ELO, MAX_ELO);
    Some(SequentialEstimate {
        elo: Estimate { value: at(0.5), low: at(0.975), high: at(0.025) },
        los: worse(0.0),
        clamped: llr > CLAMP * upper || llr < CLAMP * lower,
    })
}
