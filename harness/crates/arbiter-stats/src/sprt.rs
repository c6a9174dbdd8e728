//! Sequential probability ratio test (SPRT).
//!
//! Under H0, the strength difference is `elo0`; under H1, the difference is `elo1`. The test
//! accepts H1 when the log-likelihood ratio (LLR) reaches the upper bound, and H0 when the LLR
//! reaches the lower bound. Update the test only with complete pairs, in schedule order. Two
//! identical deterministic engines may draw every pair forever, so a run also needs a maximum
//! number of games.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bayes::{BayesElo, llr_with_prior};
use super::brownian::{BrownianMotion, Exit};
use super::discrete_walk;
use super::distribution::{Distribution, Moments};
use super::elo::{elo_from_score, score_from_elo};
use super::gsprt::{llr, steps};
use super::normalized::t_value;
use super::pentanomial::{Pentanomial, Trinomial};
use super::scale::Model;

/// Distance between the hypotheses, in Elo on the scale of the model, above which tests have no
/// corrected bounds by default. In simulations with hypotheses of 0 and 50 logistic Elo, only
/// Wald's bounds kept the requested error rates.
pub(crate) const MAX_CORRECTED_WIDTH: f64 = 20.0;

/// Mean distance by which a walk without drift exceeds a bound, in standard deviations of a step.
const MEAN_EXCESS: f64 = 0.583;

/// Minimum distance between the hypotheses, in Elo. Closer hypotheses would need more games than
/// can be played, and rounding errors would dominate the likelihood ratio.
const MIN_WIDTH: f64 = 0.001;

/// Default of `elo0`, the strength difference under H0, in Elo on the scale of the model.
pub const DEFAULT_ELO0: f64 = 0.0;

/// Default of `elo1`, the strength difference under H1, in Elo on the scale of the model.
pub const DEFAULT_ELO1: f64 = 5.0;

/// Default of the type I error `alpha` and of the type II error `beta`, 0 to 1.
pub const DEFAULT_ERROR: f64 = 0.05;

/// Correction of a test for the overshoot of its ratio past a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Correction {
    /// No correction: the test ends at Wald's bounds, with error rates slightly below the nominal
    /// rates.
    None,
    /// The bounds move inwards by the mean overshoot measured so far.
    Dynamic,
}

/// Evidence that a test uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Pairs of games.
    #[default]
    Pairs,
    /// Games, treated as independent.
    Games,
    /// Games, with the formula of cutechess-cli for any model.
    GamesWithPrior,
}

arbiter_names::named!(Correction);

/// Decision of a test, as of the last update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The LLR reached the upper bound: H1, the difference `elo1`, is accepted.
    AcceptH1,
    /// The LLR reached the lower bound: H0, the difference `elo0`, is accepted.
    AcceptH0,
    /// The LLR is between the bounds.
    Continue,
}

/// Log-likelihood ratios (LLRs) at which a test ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LlrBounds {
    /// LLR at which H0 is accepted.
    pub lower: f64,
    /// LLR at which H1 is accepted.
    pub upper: f64,
}

impl LlrBounds {
    /// Returns Wald's bounds, ln(β/(1−α)) and ln((1−β)/α), for the type I error `alpha` and the
    /// type II error `beta`.
    ///
    /// # Errors
    ///
    /// Fails unless `alpha`, `beta` and their sum are between 0 and 1, exclusive.
    pub fn new(alpha: f64, beta: f64) -> Result<LlrBounds, String> {
        for (name, value) in [("alpha", alpha), ("beta", beta)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(format!("expected {name} between 0 and 1 exclusive, got {value}"));
            }
        }
        if alpha + beta >= 1.0 {
            return Err(format!(
                "expected alpha + beta < 1, got alpha = {alpha} and beta = {beta}"
            ));
        }
        Ok(LlrBounds { lower: (beta / (1.0 - alpha)).ln(), upper: ((1.0 - beta) / alpha).ln() })
    }

    /// Compares a log-likelihood ratio (LLR) with the bounds. An LLR equal to a bound ends the
    /// test.
    pub fn decide(&self, llr: f64) -> Decision {
        if llr >= self.upper {
            Decision::AcceptH1
        } else if llr <= self.lower {
            Decision::AcceptH0
        } else {
            Decision::Continue
        }
    }
}

/// Sequential test of `elo1` against `elo0`; `Sprt::new` checks the values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "StoredSprt")]
#[non_exhaustive]
pub struct Sprt {
    /// Strength difference under H0, on the scale of `model`.
    pub elo0: f64,
    /// Strength difference under H1, on the scale of `model`.
    pub elo1: f64,
    /// Type I error: probability of accepting H1 if H0 is true, 0 to 1.
    pub alpha: f64,
    /// Type II error: probability of accepting H0 if H1 is true, 0 to 1.
    pub beta: f64,
    /// Elo scale of the hypotheses.
    pub model: Model,
    /// Wald's bounds of the ratio.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub bounds: LlrBounds,
    /// Correction for overshoot.
    #[serde(rename = "overshoot")]
    pub correction: Correction,
    /// Evidence that the test uses.
    #[serde(skip_serializing_if = "Evidence::is_pairs")]
    pub evidence: Evidence,
}

/// Stored form of a test.
#[derive(Deserialize, JsonSchema)]
struct StoredSprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: Model,
    overshoot: Correction,
    #[serde(default)]
    evidence: Evidence,
}

impl TryFrom<StoredSprt> for Sprt {
    type Error = String;

    fn try_from(row: StoredSprt) -> Result<Sprt, String> {
        let test = Sprt::new(row.elo0, row.elo1, row.alpha, row.beta, row.model)?;
        Ok(test.with_correction(row.overshoot).with_evidence(row.evidence))
    }
}

impl Evidence {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    fn is_pairs(&self) -> bool {
        *self == Evidence::Pairs
    }
}

impl Sprt {
    /// Creates a test that counts pairs and has no correction for overshoot.
    ///
    /// # Errors
    ///
    /// Fails unless `elo1` exceeds `elo0` by at least 0.001 Elo, both values are within
    /// ±[`Model::max_elo`], `alpha` and `beta` are in (0, 1), and the sum of `alpha` and `beta` is
    /// below 1.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64, model: Model) -> Result<Sprt, String> {
        // NaN needs a separate check, because every comparison with NaN is false.
        let given = format!("got elo0 = {elo0} and elo1 = {elo1}");
        if elo0.is_nan() || elo1.is_nan() || elo0 >= elo1 {
            return Err(format!("expected elo0 < elo1, {given}"));
        }
        if elo1 - elo0 < MIN_WIDTH {
            return Err(format!("expected elo0 and elo1 at least {MIN_WIDTH} apart, {given}"));
        }
        let limit = model.max_elo();
        if let Some(elo) = [elo0, elo1].into_iter().find(|elo| elo.abs() > limit) {
            return Err(format!("expected bounds between -{limit} and {limit} Elo, got {elo}"));
        }
        let bounds = LlrBounds::new(alpha, beta)?;
        let (correction, evidence) = (Correction::None, Evidence::Pairs);
        Ok(Sprt { elo0, elo1, alpha, beta, model, bounds, correction, evidence })
    }

    /// Returns the test with the given correction for overshoot.
    pub const fn with_correction(self, correction: Correction) -> Sprt {
        Sprt { correction, ..self }
    }

    /// Returns the test with the given kind of evidence.
    pub const fn with_evidence(self, evidence: Evidence) -> Sprt {
        Sprt { evidence, ..self }
    }

    /// Returns the default correction: dynamic if the hypotheses are at most 20 Elo apart on the
    /// scale of the model, otherwise none. Tests with more distant hypotheses end after so few
    /// pairs that only Wald's bounds keep the error rates.
    pub fn usual_correction(&self) -> Correction {
        let is_narrow = self.elo1 - self.elo0 <= MAX_CORRECTED_WIDTH;
        if is_narrow { Correction::Dynamic } else { Correction::None }
    }

    /// Returns the log-likelihood ratio of H1 against H0 from pairs.
    pub fn llr(&self, pairs: &Pentanomial) -> f64 {
        self.for_pairs(pairs).llr_of(&pairs.distribution())
    }

    /// Returns the log-likelihood ratio of H1 against H0 from games that were not played in pairs.
    /// For games played in pairs, this LLR is also valid, but the test needs more games.
    pub fn llr_games(&self, games: &Trinomial) -> f64 {
        self.for_games(games).llr_of(&games.distribution())
    }

    /// Returns the log-likelihood ratio of H1 against H0. The test uses either `pairs` or `games`,
    /// according to its evidence.
    pub fn llr_of_counts(&self, pairs: &Pentanomial, games: &Trinomial) -> f64 {
        match self.evidence {
            Evidence::Pairs => self.llr(pairs),
            // If there is no win or no loss, the draw parameter is undefined. fastchess then
            // reports an LLR of 0, and the LLR for this evidence must agree with fastchess.
            Evidence::Games
                if self.model == Model::Bayesian && games.wins.min(games.losses) == 0 =>
            {
                0.0
            }
            Evidence::Games => self.llr_games(games),
            Evidence::GamesWithPrior => llr_with_prior(games, self.elo0, self.elo1),
        }
    }

    /// Returns the test with BayesElo hypotheses converted to logistic Elo, according to the draws
    /// in the sample. Other tests are returned unchanged.
    pub fn for_games(&self, games: &Trinomial) -> Sprt {
        self.with_draw_elo(|| BayesElo::from_sample(games).draw_elo)
    }

    /// Returns the test as [`Sprt::for_games`] does, with the draw rate estimated from pairs.
    pub fn for_pairs(&self, pairs: &Pentanomial) -> Sprt {
        self.with_draw_elo(|| BayesElo::from_pairs(pairs).draw_elo)
    }

    fn with_draw_elo(&self, draw_elo: impl FnOnce() -> f64) -> Sprt {
        if self.model != Model::Bayesian {
            return *self;
        }
        let draw_elo = draw_elo();
        // A hypothesis whose expected score rounds to 0 or 1 has no logistic Elo. Its unconverted
        // value, which is equally extreme, is used instead.
        let logistic = |elo| BayesElo { elo, draw_elo }.to_logistic().unwrap_or(elo);
        let (elo0, elo1) = (logistic(self.elo0), logistic(self.elo1));
        Sprt { elo0, elo1, model: Model::Logistic, ..*self }
    }

    /// Compares a log-likelihood ratio (LLR) with Wald's bounds. No correction is applied, because
    /// a correction depends on all earlier values of the LLR. [`SprtMonitor`](super::SprtMonitor)
    /// applies the correction.
    pub fn decide(&self, llr: f64) -> Decision {
        self.bounds.decide(llr)
    }

    /// Returns the probability of passing and the mean number of games, if the true difference is
    /// `logistic_elo` and one game's score has the given variance. The variance is at most ¼; for
    /// equal engines and a balanced opening book, the variance is (1 − draw rate)/4.
    ///
    /// The result is a Brownian approximation, which is suitable only for planning.
    ///
    /// # Panics
    ///
    /// Panics if the variance is not positive.
    pub(crate) fn expectation(&self, logistic_elo: f64, variance_per_game: f64) -> Exit {
        assert!(variance_per_game > 0.0, "a score without variance: {variance_per_game}");
        let games = Moments {
            units: 1.0,
            games_per_unit: 1.0,
            mean: score_from_elo(logistic_elo),
            variance: variance_per_game,
        };
        self.walk(&games).exit(-self.bounds.lower, self.bounds.upper)
    }

    /// Returns the probability of passing and the mean number of pairs, if the scores of pairs have
    /// the probabilities `p`, which are all positive. Returns `None` if all scores move the LLR in
    /// the same direction.
    ///
    /// The LLR is a random walk with one step per pair. Without a correction, the LLR exceeds its
    /// bound by the mean excess of a walk without drift, 0.583 standard deviations of a step (D.
    /// Siegmund, "Sequential Analysis", chapter 10). With a correction, the test ends as if the LLR
    /// had stopped exactly at Wald's bound.
    pub fn exit_of_pairs(&self, p: &[f64; 5]) -> Option<Exit> {
        let test = self.for_pairs(&Pentanomial::expected(p));
        let steps = steps(p, test.elo0, test.elo1, test.model);
        let spread: f64 = steps.iter().zip(p).map(|(step, p)| p * step * step).sum();
        // Siegmund's constant is ρ = E(S²)/2E(S) = 0.5826, where S is a ladder height of a normal
        // random walk.
        let excess = match self.correction {
            Correction::None => MEAN_EXCESS * spread.sqrt(),
            Correction::Dynamic => 0.0,
        };
        discrete_walk::exit(&steps, p, self.bounds.lower - excess, self.bounds.upper + excess)
    }

    fn llr_of<const K: usize>(&self, sample: &Distribution<K>) -> f64 {
        llr(sample, self.elo0, self.elo1, self.model)
    }

    /// Returns both hypotheses in logistic Elo, for games whose scores have the variance of the
    /// sample.
    pub fn logistic_hypotheses(&self, sample: &Moments) -> [f64; 2] {
        self.scores(sample).map(elo_from_score)
    }

    /// Returns the expected scores under H0 and H1.
    fn scores(&self, sample: &Moments) -> [f64; 2] {
        // The score of a game between equal engines, with a balanced opening book and the draw rate
        // d, has the variance v = (1 − d)/4.
        let rate = || 1.0 - 4.0 * sample.variance_per_game();
        let test = self.with_draw_elo(|| BayesElo::draw_elo_of_rate(rate()));
        [test.elo0, test.elo1].map(|elo| match test.model {
            Model::Normalized => 0.5 + t_value(elo, sample.games_per_unit) * sample.variance.sqrt(),
            Model::Logistic | Model::Bayesian => score_from_elo(elo),
        })
    }

    /// Returns the drift and the variance of the LLR per unit: (s − (s₀+s₁)/2)(s₁−s₀)/v and
    /// (s₁−s₀)²/v. Here s is the mean score, v is the variance of a unit's score, and s₀ and s₁ are
    /// the expected scores under H0 and H1.
    pub(super) fn walk(&self, sample: &Moments) -> BrownianMotion {
        let [s0, s1] = self.scores(sample);
        BrownianMotion {
            drift: (sample.mean - 0.5 * (s0 + s1)) * (s1 - s0) / sample.variance,
            variance: (s1 - s0).powi(2) / sample.variance,
        }
    }
}

#[cfg(test)]
mod tests;
