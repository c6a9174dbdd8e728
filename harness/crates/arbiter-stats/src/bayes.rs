//! BayesElo model of game results. The probabilities of a win, a draw and a loss depend on the
//! strength difference and on `draw_elo`, the difference at which the stronger player wins half of
//! the games.
//!
//! P(win) = f(x − D) and P(loss) = f(−x − D), where f(x) = 1/(1 + 10^(−x/400)) is the logistic Elo
//! curve, x is the strength difference, and D is `draw_elo`. Tests with hypotheses on this scale
//! exist in two forms:
//! - Current versions of fishtest and fastchess convert the hypotheses to logistic Elo with the
//!   draw rate of the sample, and compute the exact log-likelihood ratio ([`super::gsprt`]):
//!   [`Model::Bayesian`](super::scale::Model::Bayesian).
//! - Earlier versions of fishtest, and OpenBench in tests that count games instead of pairs,
//!   compare two simple hypotheses: [`llr_classical`].
//!
//! The model describes single games. The two games of a pair are assumed to be independent. The
//! independence also determines how the middle cell divides into pairs with two draws and pairs
//! with one win for each engine.

use super::elo::{elo_from_score, finite, score_from_elo};
use super::pentanomial::{Pentanomial, Trinomial};

/// Maximum number of iterations of the EM algorithm; each iteration at least halves the error.
const MAX_ROUNDS: usize = 1000;

/// Strength difference and draw parameter of the model, both in BayesElo points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BayesElo {
    /// Strength difference, positive if the first engine is stronger.
    pub elo: f64,
    /// Draw parameter: a greater value means more draws.
    pub draw_elo: f64,
}

impl BayesElo {
    /// Returns the parameters that reproduce the sample exactly, after empty cells are raised by
    /// [`Distribution::regularized`](super::Distribution::regularized).
    pub fn from_sample(games: &Trinomial) -> BayesElo {
        let [loss, _, win] = games.distribution().positive_probabilities();
        BayesElo::from_rates(loss, win)
    }

    /// Returns the maximum-likelihood parameters for pairs of independent games, after empty cells
    /// are raised by [`Distribution::regularized`](super::Distribution::regularized).
    ///
    /// In the middle cell, the share of pairs with two decisive games is unknown. This share is
    /// estimated with the EM algorithm (A. Dempster, N. Laird, D. Rubin, 1977).
    pub fn from_pairs(pairs: &Pentanomial) -> BayesElo {
        let [ll, ld, middle, wd, ww] = pairs.distribution().positive_probabilities();
        let mut decisive = 0.5;
        let (mut loss, mut win) = (0.0, 0.0);
        for _ in 0..MAX_ROUNDS {
            let split = 0.5 * decisive * middle;
            loss = ll + 0.5 * ld + split;
            win = ww + 0.5 * wd + split;
            let draw = 1.0 - loss - win;
            // The expectation step computes the share of level pairs with two decisive games from
            // the current rates. The lines above are the maximization step.
            let next = 2.0 * loss * win / (draw * draw + 2.0 * loss * win);
            let change = (next - decisive).abs();
            decisive = next;
            if change < 1e-15 {
                break;
            }
        }
        BayesElo::from_rates(loss, win)
    }

    /// Returns the draw parameter, in BayesElo points, at which equal players have the given draw
    /// rate. The draw rate is limited to 10⁻⁶ to 1 − 10⁻⁶.
    pub fn draw_elo_of_rate(draw_rate: f64) -> f64 {
        // Without draws, or with draws only, the parameter would be infinite.
        let decisive = 0.5 * (1.0 - draw_rate.clamp(1e-6, 1.0 - 1e-6));
        BayesElo::from_rates(decisive, decisive).draw_elo
    }

    fn from_rates(loss: f64, win: f64) -> BayesElo {
        BayesElo {
            // These formulas invert `probabilities`: win/(1 − win) = 10^((x − D)/400) and loss/(1 −
            // loss) = 10^((−x − D)/400).
            elo: 200.0 * ((win / loss) * ((1.0 - loss) / (1.0 - win))).log10(),
            draw_elo: 200.0 * (((1.0 - loss) / loss) * ((1.0 - win) / win)).log10(),
        }
    }

    /// Returns the probabilities of a loss, a draw and a win.
    pub fn probabilities(self) -> [f64; 3] {
        let win = score_from_elo(self.elo - self.draw_elo);
        let loss = score_from_elo(-self.elo - self.draw_elo);
        [loss, 1.0 - loss - win, win]
    }

    /// Returns the expected score of a game, 0 to 1.
    pub(crate) fn score(self) -> f64 {
        let [_, draw, win] = self.probabilities();
        win + 0.5 * draw
    }

    /// Returns the logistic Elo of the expected score; `None` if the score rounds to 0 or 1.
    pub fn to_logistic(self) -> Option<f64> {
        finite(elo_from_score(self.score()))
    }
}

/// Returns the log-likelihood ratio Σ n·ln(P₁/P₀) of the simple hypothesis `elo1` against `elo0`.
/// Both hypotheses are in BayesElo points and have the draw parameter of the sample. Empty cells
/// are raised as in [`Distribution::regularized`](super::Distribution::regularized).
pub fn llr_classical(games: &Trinomial, elo0: f64, elo1: f64) -> f64 {
    let draw_elo = BayesElo::from_sample(games).draw_elo;
    let at = |elo| BayesElo { elo, draw_elo }.probabilities();
    games.distribution().regularized().llr(&at(elo0), &at(elo1))
}

/// Returns the log-likelihood ratio as computed by cutechess-cli. Unlike [`llr_classical`], this
/// function adds half a win, half a draw and half a loss to the sample instead of raising empty
/// cells. The hypotheses are in logistic Elo and are converted to BayesElo points.
pub fn llr_with_prior(games: &Trinomial, elo0: f64, elo1: f64) -> f64 {
    let counts = [games.losses, games.draws, games.wins].map(|count| count as f64 + 0.5);
    let total: f64 = counts.iter().sum();
    let draw_elo = BayesElo::from_rates(counts[0] / total, counts[2] / total).draw_elo;
    let x = 10f64.powf(-draw_elo / 400.0);
    // The scale is the slope of the expected score at equal strength, relative to the slope in
    // logistic Elo.
    let scale = 4.0 * x / (1.0 + x).powi(2);
    let at = |elo: f64| BayesElo { elo: elo / scale, draw_elo }.probabilities();
    let terms = counts.iter().zip(at(elo0)).zip(at(elo1));
    terms.map(|((count, p0), p1)| count * (p1 / p0).ln()).sum()
}

/// Returns the log-likelihood ratio of [`llr_classical`] for pairs of independent games.
pub fn llr_classical_pairs(pairs: &Pentanomial, elo0: f64, elo1: f64) -> f64 {
    let draw_elo = BayesElo::from_pairs(pairs).draw_elo;
    let at = |elo| convolved(BayesElo { elo, draw_elo }.probabilities());
    pairs.distribution().regularized().llr(&at(elo0), &at(elo1))
}

/// Returns the probabilities of the five scores of two independent games.
fn convolved([loss, draw, win]: [f64; 3]) -> [f64; 5] {
    [loss * loss, 2.0 * loss * draw, draw * draw + 2.0 * loss * win, 2.0 * draw * win, win * win]
}

#[cfg(test)]
mod tests {
    use super::super::tests::agreement::Agreement;
    use super::*;

    /// Each case contains a sample, the fitted parameters, another strength, and the loss rate and
    /// logistic Elo at this strength. The figures are from fishtest's statistics module.
    #[test]
    fn conversions_match_fishtest() {
        let cases = [
            ([431, 1266, 498], 228.894762039, 15.9137622154, 5.0, 0.206458489163, 3.33215342162),
            ([88, 54, 123], 73.1747654311, 48.2214722536, -20.0, 0.424067321744, -19.1393751061),
            ([5000, 5000, 5000], 120.411998266, 0.0, 10.0, 0.320666221236, 8.88919182524),
        ];
        let mut agreement = Agreement::within(1e-10, "bayeselo_conversions");
        for ([losses, draws, wins], draw_elo, elo, tried, loss_rate, logistic) in cases {
            agreement.row();
            let fitted = BayesElo::from_sample(&Trinomial { losses, draws, wins });
            agreement.figure("draw parameter", fitted.draw_elo, draw_elo);
            agreement.figure("strength", fitted.elo, elo);
            let model = BayesElo { elo: tried, draw_elo: fitted.draw_elo };
            agreement.figure("loss rate", model.probabilities()[0], loss_rate);
            let converted = model.to_logistic().expect("a moderate strength");
            agreement.figure("logistic Elo", converted, logistic);
        }
        agreement.print();
    }

    #[test]
    fn fitted_parameters_reproduce_the_sample() {
        let games = Trinomial { losses: 3010, draws: 8055, wins: 3155 };
        let p = BayesElo::from_sample(&games).probabilities();
        assert!((p[0] - 3010.0 / 14220.0).abs() < 1e-12);
        assert!((p[2] - 3155.0 / 14220.0).abs() < 1e-12);
    }

    /// Checks the classical LLR of the samples in [`super::super::reference`] against fishtest's
    /// values.
    #[test]
    fn the_classical_ratio_matches_fishtest() {
        let cases = [
            ([68526, 128429, 68965], 0.0, 2.0, -1.26215469281),
            ([21484, 41111, 21629], 0.5, 2.5, -1.13064331067),
            ([0, 0, 10], 0.0, 5.0, 0.167582561448),
            ([1, 20, 10], 0.0, 5.0, 0.22795441988),
            ([5026, 15699, 5019], 0.0, 5.0, -2.85781577586),
            ([22569, 44137, 22976], 0.5, 2.5, 0.975772168272),
            ([3010, 8055, 3155], -3.0, 1.0, 3.1163406907),
        ];
        let mut agreement = Agreement::within(1e-9, "match_stats: classical BayesElo ratio");
        for ([losses, draws, wins], elo0, elo1, expected) in cases {
            agreement.row();
            let got = llr_classical(&Trinomial { losses, draws, wins }, elo0, elo1);
            agreement.figure("ratio", got, expected);
        }
        agreement.print();
    }

    #[test]
    fn fits_to_pairs_and_to_games_agree() {
        let games = BayesElo { elo: 20.0, draw_elo: 200.0 };
        let pairs = convolved(games.probabilities()).map(|p| (p * 1e12) as u64);
        let fitted = BayesElo::from_pairs(&Pentanomial(pairs));
        assert!((fitted.elo - 20.0).abs() < 1e-6, "{fitted:?}");
        assert!((fitted.draw_elo - 200.0).abs() < 1e-6, "{fitted:?}");
        let (few, many) = (convolved(games.probabilities()), 1e4);
        let counts = few.map(|p| (p * many) as u64);
        let pairs = llr_classical_pairs(&Pentanomial(counts), 0.0, 10.0);
        let [l, d, w] = games.probabilities().map(|p| (2.0 * p * many) as u64);
        let single = llr_classical(&Trinomial { losses: l, draws: d, wins: w }, 0.0, 10.0);
        assert!((pairs / single - 1.0).abs() < 1e-2, "{pairs} and {single}");
    }

    #[test]
    fn fits_to_extreme_pairs_are_finite() {
        for counts in [[0; 5], [0, 0, 50, 0, 0], [9, 0, 0, 0, 0], [5, 0, 0, 0, 5], [0, 3, 0, 0, 9]]
        {
            let fitted = BayesElo::from_pairs(&Pentanomial(counts));
            assert!(fitted.elo.is_finite() && fitted.draw_elo.is_finite(), "{counts:?}");
            assert!(llr_classical_pairs(&Pentanomial(counts), 0.0, 5.0).is_finite());
        }
    }
}
