//! The BayesElo model of a game: a win, draw or loss depends on the strength difference and on
//! `draw_elo`, the difference at which a draw stops being the rule.
//!
//! P(win) = f(x − D) and P(loss) = f(−x − D) with f the logistic curve of Elo. Some testers still
//! state test bounds on this scale; here such bounds are converted to logistic Elo with the draw
//! rate of the sample, so that the exact test of [`super::gsprt`] applies. Games only: the model
//! says nothing of pairs.

use super::distribution::Distribution;
use super::elo::{elo_from_score, score_from_elo};
use super::gsprt::llr_logistic;
use super::pentanomial::Trinomial;

/// Strength difference and draw parameter of the model, both in BayesElo points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BayesElo {
    /// Strength difference, positive if the first engine is stronger.
    pub elo: f64,
    /// Draw parameter: the greater, the more draws.
    pub draw_elo: f64,
}

impl BayesElo {
    /// The parameters that explain the sample exactly, zeros raised as for a likelihood.
    pub fn of_sample(games: &Trinomial) -> BayesElo {
        let [loss, _, win] = games
            .distribution()
            .regularized()
            .probabilities()
            .expect("no cell is empty after regularization");
        BayesElo {
            elo: 200.0 * ((win / loss) * ((1.0 - loss) / (1.0 - win))).log10(),
            draw_elo: 200.0 * (((1.0 - loss) / loss) * ((1.0 - win) / win)).log10(),
        }
    }

    /// Probabilities of a loss, a draw and a win.
    pub fn probabilities(self) -> [f64; 3] {
        let win = score_from_elo(self.elo - self.draw_elo);
        let loss = score_from_elo(-self.elo - self.draw_elo);
        [loss, 1.0 - loss - win, win]
    }

    /// Logistic Elo of the expected score; `None` if the score is 0 or 1 to working precision.
    pub fn to_logistic(self) -> Option<f64> {
        let [_, draw, win] = self.probabilities();
        elo_from_score(win + 0.5 * draw).finite()
    }
}

/// Log-likelihood ratio of strength `elo1` against `elo0`, both in BayesElo points, with the draw
/// parameter of the sample. `None` if a bound is so far out that its expected score is 0 or 1.
pub fn llr(games: &Trinomial, elo0: f64, elo1: f64) -> Option<f64> {
    let draw_elo = BayesElo::of_sample(games).draw_elo;
    let elo0 = BayesElo { elo: elo0, draw_elo }.to_logistic()?;
    let elo1 = BayesElo { elo: elo1, draw_elo }.to_logistic()?;
    let sample: Distribution<3> = games.distribution();
    Some(llr_logistic(&sample, elo0, elo1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sample, its parameters, a strength to try, and the resulting loss rate and logistic Elo.
    /// Figures computed by running fishtest's statistics module.
    #[test]
    fn conversions_match_fishtest() {
        let cases = [
            ([431, 1266, 498], 228.894762039, 15.9137622154, 5.0, 0.206458489163, 3.33215342162),
            ([88, 54, 123], 73.1747654311, 48.2214722536, -20.0, 0.424067321744, -19.1393751061),
            ([5000, 5000, 5000], 120.411998266, 0.0, 10.0, 0.320666221236, 8.88919182524),
        ];
        for ([losses, draws, wins], draw_elo, elo, tried, loss_rate, logistic) in cases {
            let fitted = BayesElo::of_sample(&Trinomial { losses, draws, wins });
            assert!((fitted.draw_elo - draw_elo).abs() < 1e-8, "{fitted:?}");
            assert!((fitted.elo - elo).abs() < 1e-8, "{fitted:?}");
            let model = BayesElo { elo: tried, draw_elo: fitted.draw_elo };
            assert!((model.probabilities()[0] - loss_rate).abs() < 1e-11);
            let converted = model.to_logistic().expect("a moderate strength");
            assert!((converted - logistic).abs() < 1e-9, "{converted}");
        }
    }

    #[test]
    fn a_sample_is_explained_exactly() {
        let games = Trinomial { losses: 3010, draws: 8055, wins: 3155 };
        let p = BayesElo::of_sample(&games).probabilities();
        assert!((p[0] - 3010.0 / 14220.0).abs() < 1e-12);
        assert!((p[2] - 3155.0 / 14220.0).abs() < 1e-12);
    }
}
