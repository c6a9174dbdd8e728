//! Tuning of two parameters on a simulated objective, compared with the theoretical forecast.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::sync::Arc;

use arbiter_spsa::{A_RATIO, ALPHA, GAMMA, SimulatedObjective, Tuning, table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let parameters = table::read("Tempo,28,0,60,4,0.002\nRazor,350,100,700,35,0.002")?;
    let (alpha, gamma, a_ratio) = (ALPHA, GAMMA, A_RATIO);
    let tuning = Arc::new(Tuning {
        parameters,
        alpha,
        gamma,
        a_ratio,
        iterations: 2000,
        pairs: 8,
        ahead: 0,
    });
    tuning.check()?;
    let objective = SimulatedObjective::by_step(&tuning, vec![40.0, 420.0], &[2.0, 2.0], 0.5);
    println!("start: {:.2} Elo below the optimum", objective.loss(&tuning.start()));
    for seed in 1..=5 {
        let path = objective.simulate(&tuning, seed);
        let end = path.last().map_or_else(|| tuning.start(), |point| point.theta.clone());
        println!("seed {seed}: {:.2} Elo below, at {end:.1?}", objective.loss(&end));
    }
    println!("forecast: {:.2} Elo below", objective.forecast(&tuning).end_elo);
    Ok(())
}
