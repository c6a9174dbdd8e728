//! Models of game results: probabilities of the results at a given strength difference.
//!
//! The difference x includes White's advantage. The unit of x is the natural unit: one unit
//! multiplies the odds by e.

use serde::{Deserialize, Serialize};

/// Model of the results of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeModel {
    /// The probability of a draw is proportional to the geometric mean of both strengths: with u =
    /// e^(x/2), win, draw and loss are in the ratio u : ν : 1/u (R. Davidson, 1970).
    Davidson,
    /// A small difference in performance leads to a draw: P(win) = f(x − δ) and P(loss) = f(−x −
    /// δ), where f is the logistic curve (P. Rao, L. Kupper, 1967). This is BayesElo's model.
    /// Ratings in this model differ from logistic Elo by a factor that depends on δ.
    RaoKupper,
    /// The expected score is f(x), as in Elo's system, and a draw is half a win and half a loss (R.
    /// Bradley, M. Terry, 1952). As in Ordo, the ratings make every player's expected score equal
    /// to the actual score. The probability of a draw is D = ν·√(W·L), as in Davidson's model,
    /// where W and L are the probabilities of a win and a loss.
    Scores,
}

arbiter_names::named!(OutcomeModel);

/// First and second derivatives of a log-likelihood with respect to the difference x and the draw
/// parameter d.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Derivatives {
    /// First derivatives, with respect to x and d.
    pub first: [f64; 2],
    /// Negative second derivatives: with respect to x twice, to x and d, and to d twice.
    pub second: [f64; 3],
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl OutcomeModel {
    /// Returns the draw parameter (ln ν or δ) at which equal players draw with probability `rate`.
    pub fn parameter(self, rate: f64) -> f64 {
        match self {
            OutcomeModel::Davidson | OutcomeModel::Scores => (2.0 * rate / (1.0 - rate)).ln(),
            OutcomeModel::RaoKupper => 2.0 * rate.atanh(),
        }
    }

    /// Returns the draw rate (0 to 1) of equal players at the draw parameter `parameter`.
    pub fn draw_rate(self, parameter: f64) -> f64 {
        match self {
            OutcomeModel::Davidson | OutcomeModel::Scores => 1.0 / (1.0 + 2.0 * (-parameter).exp()),
            OutcomeModel::RaoKupper => (0.5 * parameter).tanh(),
        }
    }

    /// Returns whether the likelihood of strengths depends on the draw parameter, so that draws
    /// affect the ratings.
    pub fn draws_inform(self) -> bool {
        self != OutcomeModel::Scores
    }

    /// Returns the probabilities that White loses, draws and wins at the difference `x`, in natural
    /// units.
    pub fn probabilities(self, x: f64, parameter: f64) -> [f64; 3] {
        match self {
            OutcomeModel::Davidson => {
                let up = (0.5 * x).exp();
                let draw = parameter.exp();
                let down = (-0.5 * x).exp();
                let all = up + draw + down;
                [down / all, draw / all, up / all]
            }
            OutcomeModel::RaoKupper => {
                let win = logistic(x - parameter);
                let loss = logistic(-x - parameter);
                [loss, 1.0 - win - loss, win]
            }
            OutcomeModel::Scores => {
                let score = logistic(x);
                // With e the expected score, D² = ν²(e − D/2)(1 − e − D/2). Of the two roots, the
                // code uses the root that is 0 if ν is 0.
                let square = (2.0 * parameter).exp();
                let product = square * score * (1.0 - score);
                let a = 1.0 - 0.25 * square;
                let b = 0.5 * square;
                // This form of the root avoids cancellation and is also valid for a = 0.
                let draw = 2.0 * product / (b + (b * b + 4.0 * a * product).sqrt());
                [1.0 - score - 0.5 * draw, draw, score - 0.5 * draw]
            }
        }
    }

    /// Returns the derivatives of the log-likelihood of `counts`, the numbers of games that White
    /// lost, drew and won.
    pub fn slope(self, x: f64, parameter: f64, counts: [f64; 3]) -> Derivatives {
        let [losses, draws, wins] = counts;
        let games = losses + draws + wins;
        let [loss, draw, win] = self.probabilities(x, parameter);
        match self {
            OutcomeModel::Davidson => {
                let lead = 0.5 * (win - loss);
                Derivatives {
                    first: [0.5 * (wins - losses) - games * lead, draws - games * draw],
                    second: [
                        games * (0.25 * (win + loss) - lead * lead),
                        -games * lead * draw,
                        games * draw * (1.0 - draw),
                    ],
                }
            }
            OutcomeModel::RaoKupper => {
                // The probability of a draw is win·loss·(e^(2δ) − 1), so the log-likelihood of a
                // draw contains the log-likelihoods of a win and of a loss.
                let (ups, downs) = (wins + draws, losses + draws);
                let (bend_up, bend_down) = (ups * win * (1.0 - win), downs * loss * (1.0 - loss));
                // This form of 1 − e^(−2δ) avoids cancellation if draws are rare.
                let rest = -(-2.0 * parameter).exp_m1();
                Derivatives {
                    first: [
                        ups * (1.0 - win) - downs * (1.0 - loss),
                        2.0 * draws / rest - ups * (1.0 - win) - downs * (1.0 - loss),
                    ],
                    second: [
                        bend_up + bend_down,
                        bend_down - bend_up,
                        bend_up
                            + bend_down
                            + 4.0 * draws * (-2.0 * parameter).exp() / (rest * rest),
                    ],
                }
            }
            OutcomeModel::Scores => {
                let score = win + 0.5 * draw;
                Derivatives {
                    first: [wins + 0.5 * draws - games * score, 0.0],
                    // The likelihood of strengths does not depend on the draw parameter, so the
                    // derivatives with respect to this parameter are 0.
                    second: [games * score * (1.0 - score), 0.0, 0.0],
                }
            }
        }
    }

    /// Returns the first derivatives of the log-likelihood of a single result (0: White lost, 1:
    /// draw, 2: White won).
    pub fn gradient(self, x: f64, parameter: f64, result: usize) -> [f64; 2] {
        let mut counts = [0.0; 3];
        counts[result] = 1.0;
        self.slope(x, parameter, counts).first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [OutcomeModel; 3] =
        [OutcomeModel::Davidson, OutcomeModel::RaoKupper, OutcomeModel::Scores];

    #[test]
    fn probabilities_add_up_to_one_and_mirror() {
        for model in MODELS {
            for rate in [0.01, 0.3, 0.5, 0.9] {
                let d = model.parameter(rate);
                assert!((model.draw_rate(d) - rate).abs() < 1e-12);
                assert!((model.probabilities(0.0, d)[1] - rate).abs() < 1e-12, "{model:?} {rate}");
                for x in [-5.0, -0.3, 0.0, 2.0] {
                    let p = model.probabilities(x, d);
                    let q = model.probabilities(-x, d);
                    assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                    assert!(p.iter().all(|p| *p > 0.0), "{model:?} {p:?}");
                    assert!((p[0] - q[2]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn slopes_match_numeric_derivatives() {
        let counts = [7.0, 11.0, 5.0];
        for model in [OutcomeModel::Davidson, OutcomeModel::RaoKupper] {
            let ln = |x: f64, d: f64| -> f64 {
                let p = model.probabilities(x, d);
                counts.iter().zip(p).map(|(n, p)| n * p.ln()).sum()
            };
            let (x, d, h) = (0.4, 0.7, 1e-4);
            let slope = model.slope(x, d, counts);
            let numeric = [
                (ln(x + h, d) - ln(x - h, d)) / (2.0 * h),
                (ln(x, d + h) - ln(x, d - h)) / (2.0 * h),
            ];
            let mixed = (ln(x + h, d + h) - ln(x - h, d + h) - ln(x + h, d - h) + ln(x - h, d - h))
                / (4.0 * h * h);
            let bend = |a: f64, b: f64| -(a - 2.0 * ln(x, d) + b) / (h * h);
            let second =
                [bend(ln(x + h, d), ln(x - h, d)), -mixed, bend(ln(x, d + h), ln(x, d - h))];
            for (got, expected) in slope.first.iter().zip(numeric) {
                assert!((got - expected).abs() < 1e-5, "{model:?} {got} {expected}");
            }
            for (got, expected) in slope.second.iter().zip(second) {
                assert!((got - expected).abs() < 1e-4, "{model:?} {got} {expected}");
            }
        }
    }
}
