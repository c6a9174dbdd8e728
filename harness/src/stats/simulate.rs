//! Whole sequential tests played with imagined pairs, to see whether their promises hold.
//!
//! Randomness comes from the caller as a source of uniform numbers, so that the same source gives
//! the same tests. A pair is drawn from five probabilities; [`pair_model`] makes them from a
//! strength, a draw rate and an opening bias.

use super::bayes::BayesElo;
use super::distribution::Distribution;
use super::elo::score_from_elo;
use super::gsprt;
use super::overshoot::Overshoot;
use super::pentanomial::Pentanomial;
use super::sprt::{Decision, Model, Sprt};

/// Pairs before the approximate ratio is trusted to say that no bound is near.
const WARM_UP: u64 = 200;

/// Distance from a bound, in the ratio, from which on it is computed exactly.
const MARGIN: f64 = 0.2;

/// Bounds further apart than this, in Elo, make tests too short for the approximation.
const MAX_APPROXIMATE_ELO: f64 = 30.0;

/// A test and the pairs it is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulation {
    /// The test.
    pub test: Sprt,
    /// Probabilities of LL, LD, DD+WL, WD, WW; they add up to 1.
    pub probabilities: [f64; 5],
    /// Pairs between two looks at the ratio, at least 1.
    pub batch: u64,
    /// Pairs after which the test is given up without a verdict.
    pub cap: u64,
    /// Whether the bounds are corrected for overshoot.
    pub overshoot: bool,
}

/// How one simulated test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played {
    /// The verdict; [`Decision::Continue`] if the cap came first.
    pub decision: Decision,
    /// Pairs counted at the end.
    pub pairs: Pentanomial,
}

impl Simulation {
    /// Plays one test; `uniform` gives numbers in [0, 1).
    pub fn play(&self, mut uniform: impl FnMut() -> f64) -> Played {
        assert!(self.batch > 0, "a batch is at least one pair");
        let cumulated = self.cumulated();
        let mut correction = self.overshoot.then(|| Overshoot::new(self.batch));
        let mut pairs = Pentanomial::default();
        let mut played = 0;
        while played < self.cap {
            for _ in 0..self.batch {
                let drawn = uniform();
                pairs.0[cumulated.iter().filter(|limit| drawn >= **limit).count()] += 1;
            }
            played += self.batch;
            match self.look(&pairs, played, correction.as_mut()) {
                Decision::Continue => {}
                decision => return Played { decision, pairs },
            }
        }
        Played { decision: Decision::Continue, pairs }
    }

    /// Upper ends of the intervals of all cells but the last.
    fn cumulated(&self) -> [f64; 4] {
        let mut sum = 0.0;
        std::array::from_fn(|cell| {
            sum += self.probabilities[cell];
            sum
        })
    }

    /// What the test says after `played` pairs.
    fn look(
        &self,
        pairs: &Pentanomial,
        played: u64,
        correction: Option<&mut Overshoot>,
    ) -> Decision {
        let bounds = self.test.bounds();
        let approximate = self.approximate_llr(pairs, played);
        let is_quiet = |low: f64, high: f64| {
            approximate.is_some_and(|llr| llr > low + MARGIN && llr < high - MARGIN)
        };
        match correction {
            None if is_quiet(bounds.lower(), bounds.upper()) => Decision::Continue,
            None => self.test.decide(self.test.llr(pairs)),
            Some(correction) => {
                let (low, high) = correction.quiet(bounds);
                if is_quiet(low, high) {
                    correction.update_quietly(played);
                    return Decision::Continue;
                }
                let llr = self.test.llr(pairs);
                correction.update(played, llr);
                correction.decide(bounds, llr)
            }
        }
    }

    /// The ratio by its normal approximation, good to a few hundredths; `None` where that is not
    /// sure.
    fn approximate_llr(&self, pairs: &Pentanomial, played: u64) -> Option<f64> {
        let narrow = self.test.elo1() - self.test.elo0() <= MAX_APPROXIMATE_ELO;
        if played < WARM_UP || !narrow || pairs.0.contains(&0) {
            return None;
        }
        let sample = pairs.distribution().moments()?;
        // Converting BayesElo bounds costs as much as the exact ratio of logistic ones.
        (self.test.model() != Model::Bayesian).then(|| self.test.walk(&sample).drift * sample.units)
    }
}

/// Probabilities of the five scores of a pair of games by the BayesElo model.
///
/// Equal engines draw at `draw_rate` when the opening favours nobody; it favours White by `bias`
/// BayesElo points in half of the openings and Black in the others (which is the same to a pair).
/// `elo` is the strength difference in BayesElo points.
pub fn pair_model(elo: f64, draw_rate: f64, bias: f64) -> [f64; 5] {
    let draw_elo = BayesElo::draw_elo_of_rate(draw_rate);
    let favoured = BayesElo { elo: elo + bias, draw_elo }.probabilities();
    let handicapped = BayesElo { elo: elo - bias, draw_elo }.probabilities();
    let mut cells = [0.0; 5];
    for (i, p) in favoured.iter().enumerate() {
        for (j, q) in handicapped.iter().enumerate() {
            cells[i + j] += p * q;
        }
    }
    cells
}

/// The distribution nearest to `base` whose strength is exactly `elo` on the scale of `model`.
///
/// Nearest in the sense of likelihood, the one that the exact ratio itself compares with. All
/// cells of `base` must be positive.
pub fn shifted(base: &[f64; 5], elo: f64, model: Model) -> [f64; 5] {
    match model {
        Model::Normalized => gsprt::nearest_with_nelo(base, elo),
        Model::Logistic => gsprt::nearest_with_score(base, score_from_elo(elo)),
        Model::Bayesian => {
            let counts = base.map(|p| (p * COUNTS) as u64);
            let draw_elo = BayesElo::of_pairs(&Pentanomial(counts)).draw_elo;
            let [_, draw, win] = BayesElo { elo, draw_elo }.probabilities();
            gsprt::nearest_with_score(base, win + 0.5 * draw)
        }
    }
}

/// Imagined pairs from which rates are read back, enough for eleven digits.
const COUNTS: f64 = 1e12;

/// Normalized and logistic Elo of five probabilities; `None` without spread.
pub fn strengths(probabilities: &[f64; 5]) -> Option<(f64, f64)> {
    let sample = Distribution::<5>::from_weights(*probabilities).moments()?;
    let nelo = super::normalized::estimate(&sample)?.value.finite()?;
    Some((nelo, super::elo::elo_from_score(sample.mean).finite()?))
}
