//! Simulated objective for SPSA: strength falls with the square of the distance from a known
//! optimum, and the results of games are random. A simulation shows how close a schedule comes to
//! the optimum before any game is played.

use std::sync::Arc;

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::state::{PathPoint, SpsaState};
use super::tuning::Tuning;
use arbiter_schedule::seed::{seed_for, uniform};

/// Elo difference per unit of the expected result (win 1, draw 0, loss −1) between nearly equal
/// engines. The value is 800 / ln 10, the inverse slope of the logistic curve at 0 Elo.
const ELO_PER_SCORE: f64 = 800.0 / std::f64::consts::LN_10;

/// Strength of a simulated engine as a quadratic function of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedObjective {
    /// Values at which the engine is strongest, in the order of the parameters.
    pub optimum: Vec<f64>,
    /// Loss in Elo per squared unit of distance from the optimum, for each parameter.
    pub curvature: Vec<f64>,
    /// Share of draws in games between equal engines, 0 to 1.
    pub draw_ratio: f64,
}

/// Theoretical forecast of a tuning run on a simulated objective. The forecast is a first-order
/// approximation: it assumes small differences in strength, values far from the limits of their
/// ranges, and no rounding.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Number of games, for each parameter, in which the distance from the optimum shrinks to 1/e
    /// with the gains of the last iteration.
    pub time_constants: Vec<f64>,
    /// Mean loss, in Elo below the optimum, if the tuning run continued forever at the final rates.
    pub noise_elo: f64,
    /// 95 % quantile of the loss, in Elo below the optimum, if the tuning run continued forever at
    /// the final rates.
    pub noise_elo_95: f64,
    /// Mean loss, in Elo below the optimum, after the last iteration.
    pub end_elo: f64,
}

/// Returns the mean and the 95 % quantile of the loss, in Elo below the optimum, if a tuning run
/// continued forever at its final rates. Each parameter contributes C (1 − d) r / 8 to the mean,
/// where C = 800 / ln 10, d is the share of draws (0 to 1), and r is the rate.
pub fn noise(tuning: &Tuning, draw_ratio: f64) -> (f64, f64) {
    let last = tuning.all_pairs().max(1);
    let rates: f64 = tuning.parameters.iter().map(|p| tuning.rate(p, last)).sum();
    let mean = ELO_PER_SCORE * (1.0 - draw_ratio) * rates / 8.0;
    let count = tuning.parameters.len() as f64;
    // The loss is a sum of squares of normal variables. A χ² distribution scaled to the same mean
    // approximates this sum; the approximation is exact if all rates are equal.
    let quantile = ChiSquared::new(count)
        .map_or(mean, |distribution| mean / count * distribution.inverse_cdf(0.95));
    (mean, quantile)
}

impl SimulatedObjective {
    /// Creates an objective from `step_elo`: for each parameter, the loss in Elo at a distance of
    /// `c_end` from the optimum.
    pub fn by_step(
        tuning: &Tuning,
        optimum: Vec<f64>,
        step_elo: &[f64],
        draw_ratio: f64,
    ) -> SimulatedObjective {
        let all = tuning.parameters.iter().zip(step_elo);
        let curvature = all.map(|(parameter, elo)| elo / parameter.c_end.powi(2)).collect();
        SimulatedObjective { optimum, curvature, draw_ratio }
    }

    /// Returns the loss of the values `theta`, in Elo below the optimum.
    pub fn loss(&self, theta: &[f64]) -> f64 {
        let all = theta.iter().zip(&self.optimum).zip(&self.curvature);
        all.map(|((value, best), curvature)| curvature * (value - best).powi(2)).sum()
    }

    /// Returns the result (1, 0 or −1) of a game for an engine that is `elo` Elo stronger than its
    /// opponent. `random` is a uniform random number in [0, 1).
    fn game(&self, elo: f64, random: f64) -> i64 {
        let score = 1.0 / (1.0 + 10f64.powf(-elo / 400.0));
        // The share of draws is limited so that no probability becomes negative if the difference
        // in strength is large.
        let draws = self.draw_ratio.min(2.0 * score).min(2.0 * (1.0 - score));
        let wins = score - 0.5 * draws;
        match random {
            random if random < wins => 1,
            random if random < wins + draws => 0,
            _ => -1,
        }
    }

    /// Returns the path of a tuning run with simulated games.
    pub fn simulate(&self, tuning: &Arc<Tuning>, seed: u64) -> Vec<PathPoint> {
        let mut spsa = SpsaState::new(tuning.clone(), seed);
        for iteration in 0..tuning.iterations {
            let first = iteration * tuning.pairs;
            let sides = spsa.sides(first);
            let sides = sides.expect("the state keeps the values of its current iteration");
            let [plus, minus] = sides.map(|v| self.loss(&v));
            let mut rng = seed_for(seed, "tune.simulate", iteration);
            for _ in 0..tuning.pairs {
                let mut game = || self.game(minus - plus, uniform(&mut rng));
                spsa.count(game() + game());
            }
        }
        spsa.path()
    }

    /// Returns the theoretical forecast. With rate r, perturbation c, curvature e, draw ratio d and
    /// C = 800 / ln 10, a game reduces the distance of a value from the optimum by the fraction 4 r
    /// e c² / C and adds noise of variance (r c)² (1 − d). In equilibrium, each parameter
    /// contributes C (1 − d) r / 8 Elo to the mean loss.
    pub fn forecast(&self, tuning: &Tuning) -> Forecast {
        let last = tuning.all_pairs().max(1);
        let spread = 1.0 - self.draw_ratio;
        let (noise_elo, noise_elo_95) = noise(tuning, self.draw_ratio);
        let time_constants = Vec::new();
        let mut forecast = Forecast { time_constants, noise_elo, noise_elo_95, end_elo: 0.0 };
        for (place, parameter) in tuning.parameters.iter().enumerate() {
            let curvature = self.curvature[place];
            let (c, r) = (tuning.perturbation(parameter, last), tuning.rate(parameter, last));
            forecast.time_constants.push(ELO_PER_SCORE / (4.0 * r * curvature * c * c));
            let mut distance = parameter.start - self.optimum[place];
            let mut variance = 0.0;
            for iteration in 0..tuning.iterations {
                let k = tuning.first_pair(iteration);
                let (c, r) = (tuning.perturbation(parameter, k), tuning.rate(parameter, k));
                let games = 2.0 * tuning.pairs as f64;
                let kept = 1.0 - games * 4.0 * r * curvature * c * c / ELO_PER_SCORE;
                distance *= kept;
                variance = variance * kept * kept + games * (r * c).powi(2) * spread;
            }
            forecast.end_elo += curvature * (distance * distance + variance);
        }
        forecast
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use crate::tuning::{A_RATIO, ALPHA, GAMMA};

    fn tuning(lines: &str, iterations: u64, pairs: u64) -> Tuning {
        let parameters = table::read(lines).unwrap();
        let (alpha, gamma, a_ratio) = (ALPHA, GAMMA, A_RATIO);
        Tuning { parameters, alpha, gamma, a_ratio, iterations, pairs, ahead: 0 }
    }

    fn constant(lines: &str, iterations: u64) -> Arc<Tuning> {
        Arc::new(Tuning { alpha: 0.0, gamma: 0.0, ..tuning(lines, iterations, 1) })
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let values: Vec<f64> = values.collect();
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// With constant gains, the mean loss of n parameters converges to C · n · (1 − d) · r / 8.
    #[test]
    fn residual_noise_matches_theory() {
        let lines = "A,float,50,0,100,5,0.01\nB,float,0,-90,90,9,0.01\nC,float,5,0,10,1,0.01";
        let tuning = constant(lines, 30_000);
        let objective = SimulatedObjective::by_step(&tuning, vec![50.0, 0.0, 5.0], &[3.0; 3], 0.4);
        let forecast = objective.forecast(&tuning);
        assert!((forecast.noise_elo - 347.4356 * 3.0 * 0.6 * 0.01 / 8.0).abs() < 1e-4);
        assert!((forecast.time_constants[0] - 347.4356 / (4.0 * 0.01 * 3.0)).abs() < 0.01);
        assert!((forecast.noise_elo_95 / forecast.noise_elo - 7.8147 / 3.0).abs() < 1e-4);
        assert!((forecast.end_elo / forecast.noise_elo - 1.0).abs() < 0.02, "{forecast:?}");
        // The mean is taken over eight runs and over all path points after the first eight time
        // constants.
        let losses = (0..8).flat_map(|seed| {
            let path = objective.simulate(&tuning, seed);
            let settled = path.into_iter().filter(|point| point.iterations > 12_000);
            settled.map(|point| objective.loss(&point.theta)).collect::<Vec<_>>()
        });
        let found = mean(losses);
        assert!((found / forecast.noise_elo - 1.0).abs() < 0.2, "{found} {forecast:?}");
    }

    /// The distance of a value from the optimum shrinks to 1/e in one time constant.
    #[test]
    fn convergence_speed_matches_theory() {
        let lines = "A,float,500,0,1000,5,0.002";
        let short = constant(lines, 1);
        let objective =
            |tuning: &Tuning| SimulatedObjective::by_step(tuning, vec![550.0], &[2.0], 0.5);
        let games = objective(&short).forecast(&short).time_constants[0];
        let tuning = constant(lines, (games / 2.0).round() as u64);
        let objective = objective(&tuning);
        let end =
            |seed| objective.simulate(&tuning, seed).last().map(|point| 550.0 - point.theta[0]);
        let found = mean((0..10).filter_map(end)) / 50.0;
        assert!((found - (-1f64).exp()).abs() < 0.05, "{found}");
    }

    /// Ten runs start far from a known optimum; their mean final loss is 0.3 to 2 times the
    /// forecast.
    #[test]
    fn runs_converge_to_a_known_optimum() {
        let lines = "A,20,0,100,5,0.02\nB,300,100,700,30,0.02\nC,float,1.6,0,2,0.1,0.02";
        let tuning = Arc::new(tuning(lines, 5_000, 4));
        let objective =
            SimulatedObjective::by_step(&tuning, vec![45.0, 420.0, 1.1], &[3.0; 3], 0.5);
        let before = objective.loss(&tuning.start());
        let ends: Vec<f64> = (1..=10)
            .map(|seed| {
                let path = objective.simulate(&tuning, seed);
                objective.loss(&path.last().expect("a path has a start").theta)
            })
            .collect();
        assert!(before > 190.0, "{before}");
        assert!(ends.iter().all(|after| *after < 8.0), "{ends:?}");
        let (found, forecast) = (mean(ends.iter().copied()), objective.forecast(&tuning).end_elo);
        assert!(found < 2.0 * forecast && found > 0.3 * forecast, "{found} {forecast}");
    }

    #[test]
    fn simulated_games_have_the_requested_score_and_draws() {
        let objective = SimulatedObjective { optimum: vec![], curvature: vec![], draw_ratio: 0.5 };
        let count = |elo: f64| {
            let games = (0..10_000).map(|i| objective.game(elo, (f64::from(i) + 0.5) / 10_000.0));
            let games: Vec<i64> = games.collect();
            (games.iter().sum::<i64>(), games.iter().filter(|game| **game == 0).count())
        };
        assert_eq!(count(0.0), (0, 5_000));
        // An advantage of 10 Elo corresponds to an expected result of 0.0288.
        assert_eq!(count(10.0), (288, 5_000));
        let (score, draws) = count(800.0);
        assert!(score > 9_700 && draws < 300, "{score} {draws}");
    }
}
