//! Sequential probability ratio test (SPRT).
//!
//! Under H0, the strength difference is `elo0`; under H1, it is `elo1`. The test accepts H1 when
//! the log-likelihood ratio (LLR) reaches the upper bound, and H0 when the LLR reaches the lower
//! bound. The test must be updated only after complete pairs, in the order in which they were
//! scheduled. Two identical deterministic engines can draw every pair forever, so a run also needs
//! a maximum number of games.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::bayes::{BayesElo, llr_with_prior};
use super::brownian::{BrownianMotion, Exit};
use super::discrete_walk;
use super::distribution::{Distribution, Moments};
use super::elo::{elo_from_score, score_from_elo};
use super::gsprt::{llr, steps};
use super::normalized::t_value;
use super::pentanomial::{Pentanomial, Trinomial};
use super::simulate::expected_counts;

/// Largest absolute hypothesis of a test in normalized Elo. A difference of 200 nElo is significant
/// after a few dozen pairs and needs no sequential test. Above about 230 nElo, the iteration in
/// `gsprt` cannot start.
pub(crate) const MAX_NORMALIZED_ELO: f64 = 200.0;

/// Largest absolute hypothesis of a test in logistic Elo.
pub(crate) const MAX_LOGISTIC_ELO: f64 = 1000.0;

/// Distance of the hypotheses, in the unit of the model, above which tests have no corrected bounds
/// by default: simulated tests of logistic Elo 0 against 50 keep their error rates only with Wald's
/// bounds.
pub(crate) const MAX_CORRECTED_WIDTH: f64 = 20.0;

/// Mean excess of a walk without drift past a bound, in standard deviations of a step.
const MEAN_EXCESS: f64 = 0.583;

/// Smallest distance of the hypotheses, in Elo. Closer hypotheses would need more games than can be
/// played, and floating-point numbers are too coarse for their ratio.
const MIN_WIDTH: f64 = 0.001;

/// Default of `elo0`, the Elo of the null hypothesis.
pub const DEFAULT_ELO0: f64 = 0.0;

/// Default of `elo1`, the Elo of the alternative hypothesis.
pub const DEFAULT_ELO1: f64 = 5.0;

/// Default of `alpha` and `beta`, the probabilities, 0 to 1, of the two wrong decisions.
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

/// Elo scale of the hypotheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Normalized Elo: the difference in standard deviations of a game.
    Normalized,
    /// Logistic Elo: the expected score of a game.
    Logistic,
    /// BayesElo, converted to logistic Elo with the draw rate of the sample.
    Bayesian,
}

impl Model {
    /// Returns the largest absolute hypothesis, in Elo, that a test on this scale accepts.
    pub const fn max_elo(self) -> f64 {
        match self {
            Model::Normalized => MAX_NORMALIZED_ELO,
            Model::Logistic | Model::Bayesian => MAX_LOGISTIC_ELO,
        }
    }
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

arbiter_names::named!(Correction, Model);

/// Reason why the settings of a test are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum SprtError {
    /// `elo0` and `elo1` are equal, reversed, or not numbers.
    #[error("expected elo0 < elo1, got elo0 = {0} and elo1 = {1}")]
    Order(f64, f64),
    /// `elo0` and `elo1` are too close to be distinguished by any number of games.
    #[error("expected elo0 and elo1 at least {MIN_WIDTH} apart, got elo0 = {0} and elo1 = {1}")]
    Width(f64, f64),
    /// The absolute value of a hypothesis (first field) exceeds the limit of its scale (second
    /// field).
    #[error("expected bounds between -{1} and {1} Elo, got {0}")]
    Range(f64, f64),
    /// An error rate (name and value) is not strictly between 0 and 1.
    #[error("expected {0} between 0 and 1 exclusive, got {1}")]
    ErrorRate(&'static str, f64),
    /// The sum of `alpha` and `beta` is 1 or more, so the bounds would be reversed.
    #[error("expected alpha + beta < 1, got alpha = {0} and beta = {1}")]
    ErrorSum(f64, f64),
}

/// Decision of a test after some pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The LLR reached the upper bound: the difference is `elo1` rather than `elo0`.
    AcceptH1,
    /// The LLR reached the lower bound: the difference is `elo0` rather than `elo1`.
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
    /// Returns Wald's bounds, ln(β/(1−α)) and ln((1−β)/α), for the requested rates of false passes
    /// (`alpha`) and false failures (`beta`).
    pub fn new(alpha: f64, beta: f64) -> Result<LlrBounds, SprtError> {
        for (name, value) in [("alpha", alpha), ("beta", beta)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(SprtError::ErrorRate(name, value));
            }
        }
        if alpha + beta >= 1.0 {
            return Err(SprtError::ErrorSum(alpha, beta));
        }
        Ok(LlrBounds { lower: (beta / (1.0 - alpha)).ln(), upper: ((1.0 - beta) / alpha).ln() })
    }

    /// Compares a log-likelihood ratio with the bounds; a ratio equal to a bound ends the test.
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
    /// Accepted rate of false passes, 0 to 1.
    pub alpha: f64,
    /// Accepted rate of false failures, 0 to 1.
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
    type Error = SprtError;

    fn try_from(row: StoredSprt) -> Result<Sprt, SprtError> {
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
    /// Creates a test. Fails unless `elo0 < elo1` are at least 0.001 apart and within
    /// ±[`Model::max_elo`], `alpha` and `beta` are in (0, 1), and the sum of `alpha` and `beta` is
    /// below 1.
    pub fn new(
        elo0: f64,
        elo1: f64,
        alpha: f64,
        beta: f64,
        model: Model,
    ) -> Result<Sprt, SprtError> {
        // NaN needs a separate check, because every comparison with NaN is false.
        if elo0.is_nan() || elo1.is_nan() || elo0 >= elo1 {
            return Err(SprtError::Order(elo0, elo1));
        }
        if elo1 - elo0 < MIN_WIDTH {
            return Err(SprtError::Width(elo0, elo1));
        }
        let limit = model.max_elo();
        if let Some(elo) = [elo0, elo1].into_iter().find(|elo| elo.abs() > limit) {
            return Err(SprtError::Range(elo, limit));
        }
        let bounds = LlrBounds::new(alpha, beta)?;
        let (correction, evidence) = (Correction::None, Evidence::Pairs);
        Ok(Sprt { elo0, elo1, alpha, beta, model, bounds, correction, evidence })
    }

    /// Returns the test with another correction for overshoot; [`Sprt::new`] has none.
    pub const fn with_correction(self, correction: Correction) -> Sprt {
        Sprt { correction, ..self }
    }

    /// Returns the test with another evidence; [`Sprt::new`] uses pairs.
    pub const fn with_evidence(self, evidence: Evidence) -> Sprt {
        Sprt { evidence, ..self }
    }

    /// Returns the default correction: dynamic if the hypotheses are at most 20 apart, in the unit
    /// of the model. Wider tests end after so few pairs that only Wald's bounds keep the error
    /// rates.
    pub fn usual_correction(&self) -> Correction {
        let is_narrow = self.elo1 - self.elo0 <= MAX_CORRECTED_WIDTH;
        if is_narrow { Correction::Dynamic } else { Correction::None }
    }

    /// Returns the log-likelihood ratio of H1 against H0 from pairs.
    pub fn llr(&self, pairs: &Pentanomial) -> f64 {
        self.for_pairs(pairs).llr_of(&pairs.distribution())
    }

    /// Returns the log-likelihood ratio of H1 against H0 from games that were not played in pairs.
    /// For paired games, this ratio is valid but needs more games.
    pub fn llr_games(&self, games: &Trinomial) -> f64 {
        self.for_games(games).llr_of(&games.distribution())
    }

    /// Returns the log-likelihood ratio of H1 against H0 from the evidence of the test; the other
    /// counts are ignored.
    pub fn llr_of_counts(&self, pairs: &Pentanomial, games: &Trinomial) -> f64 {
        match self.evidence {
            Evidence::Pairs => self.llr(pairs),
            // Without a win or a loss, the draw parameter is undefined. fastchess then reports 0,
            // and this evidence must agree with fastchess.
            Evidence::Games
                if self.model == Model::Bayesian && games.wins.min(games.losses) == 0 =>
            {
                0.0
            }
            Evidence::Games => self.llr_games(games),
            Evidence::GamesWithPrior => llr_with_prior(games, self.elo0, self.elo1),
        }
    }

    /// Returns the test with BayesElo hypotheses converted to logistic Elo by the draws of a
    /// sample; other tests are unchanged.
    pub fn for_games(&self, games: &Trinomial) -> Sprt {
        self.with_draw_elo(|| BayesElo::from_sample(games).draw_elo)
    }

    /// Returns the test like [`Sprt::for_games`], with the draws inferred from pairs.
    pub fn for_pairs(&self, pairs: &Pentanomial) -> Sprt {
        self.with_draw_elo(|| BayesElo::from_pairs(pairs).draw_elo)
    }

    fn with_draw_elo(&self, draw_elo: impl FnOnce() -> f64) -> Sprt {
        if self.model != Model::Bayesian {
            return *self;
        }
        let draw_elo = draw_elo();
        // A hypothesis whose expected score rounds to 0 or 1 has no logistic Elo. The unconverted
        // value is equally extreme.
        let logistic = |elo| BayesElo { elo, draw_elo }.to_logistic().unwrap_or(elo);
        let (elo0, elo1) = (logistic(self.elo0), logistic(self.elo1));
        Sprt { elo0, elo1, model: Model::Logistic, ..*self }
    }

    /// Compares a log-likelihood ratio with Wald's bounds, without correction, because counts alone
    /// do not show how the ratio moved. [`SprtMonitor`](super::SprtMonitor) applies the correction.
    pub fn decide(&self, llr: f64) -> Decision {
        self.bounds.decide(llr)
    }

    /// Returns the probability of passing and the mean number of games if the true difference is
    /// `logistic_elo` and one game's score has the given variance (at most ¼; (1 − draw ratio)/4
    /// for equal engines and a balanced book).
    ///
    /// The result is a Brownian approximation, for planning only.
    ///
    /// # Panics
    ///
    /// If the variance is not positive.
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

    /// Returns the probability of passing and the mean number of pairs if the scores of pairs have
    /// the probabilities `p`, all positive; `None` if all scores move the ratio in the same
    /// direction.
    ///
    /// The ratio is a random walk with one step for each pair score. A test without correction
    /// overshoots its bound by the mean excess of a walk without drift, 0.583 standard deviations
    /// of a step (D. Siegmund, "Sequential Analysis", chapter 10); a test with correction ends as
    /// if its ratio had stopped exactly at Wald's bound.
    pub fn exit_of_pairs(&self, p: &[f64; 5]) -> Option<Exit> {
        let test = self.for_pairs(&expected_counts(p));
        let steps = steps(p, test.elo0, test.elo1, test.model);
        let spread: f64 = steps.iter().zip(p).map(|(step, p)| p * step * step).sum();
        // Siegmund's constant is ρ = E(S²)/2E(S) for the ladder heights S of a normal random walk,
        // 0.5826.
        let excess = match self.correction {
            Correction::None => MEAN_EXCESS * spread.sqrt(),
            Correction::Dynamic => 0.0,
        };
        discrete_walk::exit(&steps, p, self.bounds.lower - excess, self.bounds.upper + excess)
    }

    fn llr_of<const K: usize>(&self, sample: &Distribution<K>) -> f64 {
        llr(sample, self.elo0, self.elo1, self.model)
    }

    /// Returns both hypotheses in logistic Elo for games with the variance of the sample.
    pub fn logistic_hypotheses(&self, sample: &Moments) -> [f64; 2] {
        self.scores(sample).map(elo_from_score)
    }

    /// Returns the expected scores under the hypotheses.
    fn scores(&self, sample: &Moments) -> [f64; 2] {
        // Games of equal engines with a balanced book and draw rate d have the variance v = (1 −
        // d)/4.
        let rate = || 1.0 - 4.0 * sample.variance_per_game();
        let test = self.with_draw_elo(|| BayesElo::draw_elo_of_rate(rate()));
        [test.elo0, test.elo1].map(|elo| match test.model {
            Model::Normalized => 0.5 + t_value(elo, sample.games_per_unit) * sample.variance.sqrt(),
            Model::Logistic | Model::Bayesian => score_from_elo(elo),
        })
    }

    /// Returns the drift and the variance of the ratio per unit: (s − (s₀+s₁)/2)(s₁−s₀)/v and
    /// (s₁−s₀)²/v, where s is the mean score, v the variance of a unit's score, and s₀ and s₁ are
    /// the scores under the hypotheses.
    pub(super) fn walk(&self, sample: &Moments) -> BrownianMotion {
        let [s0, s1] = self.scores(sample);
        BrownianMotion {
            drift: (sample.mean - 0.5 * (s0 + s1)) * (s1 - s0) / sample.variance,
            variance: (s1 - s0).powi(2) / sample.variance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(elo0: f64, elo1: f64) -> Sprt {
        Sprt::new(elo0, elo1, 0.05, 0.05, Model::Normalized).expect("a sound test")
    }

    #[test]
    fn bounds_are_walds_and_end_the_test() {
        let bounds = normalized(0.0, 5.0).bounds;
        assert!((bounds.upper - 2.94443897916644).abs() < 1e-14);
        assert!((bounds.lower + 2.94443897916644).abs() < 1e-14);
        assert_eq!(bounds.decide(bounds.upper), Decision::AcceptH1);
        assert_eq!(bounds.decide(bounds.lower), Decision::AcceptH0);
        assert_eq!(bounds.decide(2.94), Decision::Continue);
        assert_eq!(bounds.decide(-2.94), Decision::Continue);
    }

    #[test]
    fn invalid_settings_are_rejected_with_a_reason() {
        let check = |elo0, elo1, alpha, beta, expected: &str| {
            let error = Sprt::new(elo0, elo1, alpha, beta, Model::Normalized).expect_err("unsound");
            assert_eq!(error.to_string(), expected);
        };
        check(5.0, 0.0, 0.05, 0.05, "expected elo0 < elo1, got elo0 = 5 and elo1 = 0");
        check(
            0.0,
            1e-4,
            0.05,
            0.05,
            "expected elo0 and elo1 at least 0.001 apart, got elo0 = 0 and elo1 = 0.0001",
        );
        check(2.0, 2.0, 0.05, 0.05, "expected elo0 < elo1, got elo0 = 2 and elo1 = 2");
        check(f64::NAN, 2.0, 0.05, 0.05, "expected elo0 < elo1, got elo0 = NaN and elo1 = 2");
        check(0.0, 201.0, 0.05, 0.05, "expected bounds between -200 and 200 Elo, got 201");
        check(0.0, f64::INFINITY, 0.05, 0.05, "expected bounds between -200 and 200 Elo, got inf");
        check(0.0, 5.0, 0.0, 0.05, "expected alpha between 0 and 1 exclusive, got 0");
        check(0.0, 5.0, 0.05, 1.0, "expected beta between 0 and 1 exclusive, got 1");
        check(0.0, 5.0, 0.05, f64::NAN, "expected beta between 0 and 1 exclusive, got NaN");
        check(0.0, 5.0, 0.5, 0.5, "expected alpha + beta < 1, got alpha = 0.5 and beta = 0.5");
    }

    #[test]
    fn the_worst_case_lies_between_the_hypotheses() {
        let variance = 0.25 * (1.0 - 0.5);
        let middle = 0.5 + t_value(2.5, 1.0) * f64::sqrt(variance);
        let elo = super::super::elo::elo_from_score(middle);
        let exit = normalized(0.0, 5.0).expectation(elo, variance);
        assert!((exit.mean_units - 41_861.0).abs() < 1.0, "{exit:?}");
        assert!((exit.upper_probability - 0.5).abs() < 1e-9);
    }

    #[test]
    fn hypotheses_are_converted_to_logistic_elo() {
        let games = Trinomial { losses: 200, draws: 600, wins: 200 };
        let sample = games.distribution().moments().expect("some games");
        let logistic = Sprt { model: Model::Logistic, ..normalized(0.0, 5.0) };
        let [low, high] = logistic.logistic_hypotheses(&sample);
        assert!(low.abs() < 1e-9 && (high - 5.0).abs() < 1e-9, "{low} {high}");
        // For small differences, logistic Elo is normalized Elo times twice the standard deviation
        // of a game.
        let [low, high] = normalized(0.0, 5.0).logistic_hypotheses(&sample);
        assert!(low.abs() < 1e-9 && (high - 5.0 * 2.0 * 0.1_f64.sqrt()).abs() < 1e-3, "{high}");
    }

    /// Small random generator (SplitMix64), uniform on [0, 1).
    struct Uniform(u64);

    impl Uniform {
        fn draw(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) as f64 / 2f64.powi(64)
        }
    }

    /// Plays a test to its end with pairs drawn from `probabilities`. Returns `true` if the test
    /// passed, and the number of pairs.
    fn simulate(test: &Sprt, probabilities: &[f64; 5], random: &mut Uniform) -> (bool, u64) {
        let mut pairs = Pentanomial::default();
        loop {
            let mut left = random.draw();
            let cell = probabilities.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            pairs.0[cell.unwrap_or(4)] += 1;
            match test.decide(test.llr(&pairs)) {
                Decision::Continue => {}
                decision => return (decision == Decision::AcceptH1, pairs.pairs()),
            }
        }
    }

    fn check_error_rates_and_lengths(count: u32) {
        let equal = [0.04, 0.24, 0.44, 0.24, 0.04];
        let better = [0.02, 0.16, 0.44, 0.32, 0.06];
        let sample = Distribution::<5>::from_weights(better).moments().expect("some weight");
        let nelo = super::super::normalized::estimate(&sample).map(|e| e.value);
        let test = normalized(0.0, nelo.expect("some spread"));
        let mut random = Uniform(2024);
        // The ratio overshoots its bound by part of a step, so error rates are lower and tests
        // longer than in the approximation; the limits are four standard errors wider.
        let slack = (600.0 / f64::from(count)).sqrt();
        for (probabilities, pass_rate) in [(equal, 0.05), (better, 0.95)] {
            let runs: Vec<(bool, u64)> =
                (0..count).map(|_| simulate(&test, &probabilities, &mut random)).collect();
            let passed = runs.iter().filter(|(passed, _)| *passed).count() as f64;
            let off = (passed / f64::from(count) - pass_rate).abs();
            assert!(off < 0.04 * slack, "{passed} of {count}");
            let pairs = runs.iter().map(|(_, pairs)| *pairs as f64).sum::<f64>() / f64::from(count);
            let moments =
                Distribution::<5>::from_weights(probabilities).moments().expect("some weight");
            let expected = test.walk(&moments).exit(-test.bounds.lower, test.bounds.upper);
            let ratio = pairs / expected.mean_units;
            let range = 1.075 - 0.175 * slack..1.075 + 0.175 * slack;
            assert!(range.contains(&ratio), "{pairs} pairs, {ratio} of the expected");
        }
    }

    #[test]
    fn error_rates_and_lengths_match_the_approximation() {
        check_error_rates_and_lengths(60);
    }

    #[test]
    #[ignore = "nightly: long simulation"]
    fn error_rates_and_lengths_of_many_tests_match_the_approximation() {
        check_error_rates_and_lengths(600);
    }
}
