//! Plan of a test: the operating characteristic, computed before any game is played.

use super::bayes::BayesElo;
use super::brownian::Exit;
use super::elo::{elo_from_score, finite, score_from_elo};
use super::normalized::NELO_PER_SIGMA;
use super::roots::falling_crossing;
use super::scale::Model;
use super::simulate::{pair_model, shifted, strengths};
use super::sprt::Sprt;

/// Expected properties of the games in a planned test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// Share of draws between equal engines, 0 to 1.
    pub draw_rate: f64,
    /// Root mean square of the opening bias, in logistic Elo.
    pub bias_elo: f64,
}

impl Conditions {
    /// Returns the variance per game of games played in pairs, in which the opening bias cancels:
    /// (1 − d)/4 − (L(bias) − ½)². Here d is the draw rate, and L(x) is the expected score at the
    /// Elo difference x. Returns `None` if the draw rate is too high for the bias.
    pub fn variance_per_game(&self) -> Option<f64> {
        let bias = score_from_elo(self.bias_elo) - 0.5;
        let variance = 0.25 * (1.0 - self.draw_rate) - bias * bias;
        (variance > 0.0).then_some(variance)
    }
}

/// Point of the operating characteristic: expected result of the test at one true strength
/// difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperatingPoint {
    /// True strength difference in logistic Elo.
    pub elo: f64,
    /// True strength difference in normalized Elo.
    pub nelo: f64,
    /// Probability that the test passes, and mean number of games.
    pub exit: Exit,
}

/// Test with the expected properties of its games.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedTest {
    test: Sprt,
    conditions: Conditions,
    /// Probabilities of the scores of a pair between equal engines; `None` if a probability is 0.
    pairs: Option<[f64; 5]>,
    /// Variance of one game's score, greater than 0.
    pub variance_per_game: f64,
}

impl PlannedTest {
    /// Creates a planned test; `None` if the draw rate is too high for the bias.
    pub fn new(test: Sprt, conditions: Conditions) -> Option<PlannedTest> {
        let variance_per_game = conditions.variance_per_game()?;
        let pairs = pair_model(conditions.draw_rate, conditions.bias_elo);
        Some(PlannedTest { test, conditions, pairs, variance_per_game })
    }

    /// Converts a strength difference on the test's scale to logistic Elo; `None` if the score is
    /// outside (0, 1).
    pub fn logistic(&self, elo: f64) -> Option<f64> {
        let score = match self.test.model {
            Model::Normalized => 0.5 + elo / NELO_PER_SIGMA * self.variance_per_game.sqrt(),
            Model::Logistic => score_from_elo(elo),
            Model::Bayesian => {
                let draw_elo = BayesElo::draw_elo_of_rate(self.conditions.draw_rate);
                return BayesElo { elo, draw_elo }.to_logistic();
            }
        };
        finite(elo_from_score(score))
    }

    /// Returns the operating point at the true difference `elo`, in logistic Elo. The point is
    /// computed for the pairs that [`Simulation`](super::simulate::Simulation) plays. If a score of
    /// a pair has the probability 0, the point is computed with Brownian motion instead.
    pub fn at(&self, elo: f64) -> OperatingPoint {
        let pairs = self.pairs_at(elo);
        let nelo = pairs.as_ref().and_then(strengths).map_or_else(
            || NELO_PER_SIGMA * (score_from_elo(elo) - 0.5) / self.variance_per_game.sqrt(),
            |(nelo, _)| nelo,
        );
        let exit = pairs.and_then(|pairs| self.test.exit_of_pairs(&pairs));
        // The walk counts pairs, but operating points count games.
        let exit = exit.map(|exit| Exit { mean_units: 2.0 * exit.mean_units, ..exit });
        let exit = exit.unwrap_or_else(|| self.test.expectation(elo, self.variance_per_game));
        OperatingPoint { elo, nelo, exit }
    }

    /// Returns the probabilities of the scores of a pair at the true difference `elo`, in logistic
    /// Elo. The probabilities are shifted on the scale of the test, or on the logistic scale if
    /// `elo` is beyond the limit of normalized Elo.
    fn pairs_at(&self, elo: f64) -> Option<[f64; 5]> {
        let equal = self.pairs?;
        let at = |nelo| shifted(&equal, nelo, Model::Normalized);
        let logistic = |nelo| strengths(&at(nelo)).map_or(f64::NAN, |(_, logistic)| -logistic);
        let limit = Model::Normalized.max_elo();
        let is_within = logistic(-limit) > -elo && logistic(limit) < -elo;
        match self.test.model {
            // A test in normalized Elo is simulated with pairs whose strength is given in
            // normalized Elo. The search is limited to the range of the scale.
            Model::Normalized if is_within => {
                Some(at(falling_crossing(logistic, -elo, -limit, limit)))
            }
            _ => Some(shifted(&equal, elo, Model::Logistic)),
        }
    }

    /// Returns the true difference, in logistic Elo, at which the test is longest on average:
    /// midway between its two hypotheses. Returns `None` if this difference has no logistic Elo.
    pub fn worst(&self) -> Option<f64> {
        self.logistic(0.5 * (self.test.elo0 + self.test.elo1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variance_and_bound_match_the_reference() {
        let conditions = Conditions { draw_rate: 0.49, bias_elo: 191.0 };
        let variance = conditions.variance_per_game().expect("some variance");
        assert!((variance - 0.0649182323594).abs() < 1e-12);
        let test = Sprt::new(0.0, 2.0, 0.05, 0.05, Model::Normalized).expect("a sound test");
        let planned = PlannedTest::new(test, conditions).expect("some variance");
        let bound = planned.logistic(2.0).expect("a moderate score");
        assert!((bound - 1.01916518594).abs() < 1e-9, "{bound}");
        let extreme = Conditions { draw_rate: 0.9, bias_elo: 400.0 };
        assert_eq!(PlannedTest::new(test, extreme), None);
    }

    #[test]
    fn points_have_the_strengths_of_simulated_pairs() {
        let test = Sprt::new(0.0, 50.0, 0.05, 0.05, Model::Normalized).expect("a sound test");
        let conditions = Conditions { draw_rate: 0.5, bias_elo: 0.0 };
        let planned = PlannedTest::new(test, conditions).expect("some variance");
        let equal = pair_model(0.5, 0.0).expect("all scores are possible");
        for nelo in [-50.0, 0.0, 50.0, 100.0] {
            let pairs = shifted(&equal, nelo, Model::Normalized);
            let (_, elo) = strengths(&pairs).expect("some variance");
            let point = planned.at(elo);
            assert!((point.nelo - nelo).abs() < 1e-3, "{nelo}: {}", point.nelo);
        }
    }

    #[test]
    fn tests_take_longest_midway_between_the_hypotheses() {
        for model in [Model::Normalized, Model::Logistic, Model::Bayesian] {
            let test = Sprt::new(0.0, 5.0, 0.05, 0.05, model).expect("a sound test");
            let conditions = Conditions { draw_rate: 0.5, bias_elo: 0.0 };
            let planned = PlannedTest::new(test, conditions).expect("some variance");
            let worst = planned.worst().expect("a moderate score");
            let games = |elo| planned.at(elo).exit.mean_units;
            assert!(games(worst) > games(worst - 0.5) && games(worst) > games(worst + 0.5));
            let pass = planned.at(worst).exit.upper_probability;
            assert!((pass - 0.5).abs() < 1e-3, "{model:?}: {pass}");
        }
    }

    #[test]
    fn tiny_and_huge_differences_have_an_exit() {
        for model in [Model::Normalized, Model::Logistic, Model::Bayesian] {
            for draw_rate in [0.1, 0.5, 0.9] {
                let conditions = Conditions { draw_rate, bias_elo: 0.0 };
                let planned = |width| {
                    let test = Sprt::new(0.0, width, 0.05, 0.05, model).expect("a sound test");
                    PlannedTest::new(test, conditions).expect("some variance")
                };
                for width in [0.1, 0.01, 0.001] {
                    let test = planned(width);
                    for step in -4..=8 {
                        let elo = test.logistic(width * f64::from(step) / 4.0).expect("a score");
                        let exit = test.at(elo).exit;
                        // The number of games is proportional to the inverse square of the width.
                        let wide = planned(1.0);
                        let elo = wide.logistic(f64::from(step) / 4.0).expect("a score");
                        let expected = wide.at(elo).exit;
                        let games = exit.mean_units * width * width / expected.mean_units;
                        let shift = exit.upper_probability - expected.upper_probability;
                        let name = format!("{model} {width} {step}: {games} {shift}");
                        assert!((games - 1.0).abs() < 0.02 && shift.abs() < 0.01, "{name}");
                    }
                }
                let test = planned(2.0);
                for elo in [300.0, 500.0, 800.0, 1000.0] {
                    let [worse, better] = [-elo, elo].map(|elo| test.at(elo).exit);
                    let passes = [worse.upper_probability, better.upper_probability];
                    assert!(
                        passes[0] < 1e-9 && passes[1] > 1.0 - 1e-9,
                        "{model} {elo}: {passes:?}"
                    );
                    let ratio = better.mean_units / worse.mean_units;
                    assert!((ratio - 1.0).abs() < 0.05, "{model} {elo}: {ratio}");
                }
            }
        }
    }
}
