//! Error rates and coverage by simulation: a quick look always, a long one by night.

use super::super::elo::{Extended, score_from_elo};
use super::super::ratings::law::Law;
use super::super::ratings::{Errors, Meeting, Options, rate};
use super::super::sequential;
use super::super::simulate::{Simulation, pair_model, shifted, strengths};
use super::super::sprt::{Decision, Model, Sprt};

/// A small generator (SplitMix64), uniform on [0, 1).
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0xd134_2543_de82_ef95);
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Share of `runs` tests that pass, and their mean games.
fn play(simulation: &Simulation, runs: u64) -> (f64, f64) {
    let (mut passed, mut pairs) = (0u64, 0u64);
    for run in 0..runs {
        let played = simulation.play(uniform(run));
        passed += u64::from(played.decision == Decision::AcceptH1);
        pairs += played.pairs.pairs();
    }
    (passed as f64 / runs as f64, 2.0 * pairs as f64 / runs as f64)
}

/// Four standard errors of a rate, at most.
fn allowance(rate: f64, runs: u64) -> f64 {
    4.0 * (rate * (1.0 - rate) / runs as f64).sqrt()
}

fn check_error_rates(elo1: f64, runs: u64) {
    let base = pair_model(0.55, 70.0);
    for model in [Model::Normalized, Model::Logistic, Model::Bayesian] {
        let test = Sprt::new(0.0, elo1, 0.05, 0.1, model).expect("a sound test");
        for overshoot in [false, true] {
            let at = |elo: f64| {
                let probabilities = shifted(&base, elo, model);
                play(&Simulation { test, probabilities, batch: 1, cap: u64::MAX, overshoot }, runs)
            };
            let (alpha, beta) = (at(0.0).0, 1.0 - at(elo1).0);
            // Short tests stray a little from the theory of long ones.
            let slack = 0.0002 * elo1;
            assert!(alpha < 0.05 + allowance(0.05, runs) + slack, "{model:?}: alpha {alpha}");
            assert!(beta < 0.10 + allowance(0.10, runs) + slack, "{model:?}: beta {beta}");
        }
    }
}

#[test]
fn error_rates_hold() {
    check_error_rates(40.0, 1500);
}

/// Takes minutes:
/// `cargo test --release -p arbiter --lib -- --ignored error_rates_hold_in_many_long_tests`.
#[test]
#[ignore = "takes minutes"]
fn error_rates_hold_in_many_long_tests() {
    check_error_rates(5.0, 20_000);
}

/// Pair probabilities, bounds, share that passed and mean games with its standard error, from
/// 8000 simulated tests of an independent program that looked every two pairs.
type Published = ([f64; 5], [f64; 2], f64, [f64; 2]);

#[rustfmt::skip]
const PUBLISHED: &[Published] = &[
    ([0.03802658856, 0.2379017921, 0.4481432386, 0.2379017921, 0.03802658856], [0.0, 5.0], 0.0485, [25918.1, 208.004]),
    ([0.03750400168, 0.2362586986, 0.4481337426, 0.2395479926, 0.03855556451], [0.0, 5.0], 0.233, [37786.1, 327.694]),
    ([0.03715913211, 0.2351650865, 0.4481168613, 0.2406471277, 0.03891179241], [0.0, 5.0], 0.502875, [42438.5, 385.289]),
    ([0.03630916264, 0.2324375461, 0.4480377406, 0.2434005463, 0.03981500431], [0.0, 5.0], 0.95225, [25962.4, 209.331]),
    ([0.01704363426, 0.2150518446, 0.5438655084, 0.2080376568, 0.0160013559], [-3.0, 1.0], 0.047125, [40648.5, 326.846]),
    ([0.01668950371, 0.2127007275, 0.5439050463, 0.2103626084, 0.0163421141], [-3.0, 1.0], 0.5, [65230.5, 601.037]),
    ([0.0163421141, 0.2103626084, 0.5439050463, 0.2127007275, 0.01668950371], [-3.0, 1.0], 0.95025, [39885.0, 322.106]),
];

/// Takes a minute: `cargo test --release -p arbiter --lib -- --ignored simulations_agree`.
#[test]
#[ignore = "takes a minute"]
fn simulations_agree_with_an_independent_one() {
    const RUNS: u64 = 8000;
    for (probabilities, [elo0, elo1], pass_rate, [games, games_error]) in PUBLISHED {
        let test = Sprt::new(*elo0, *elo1, 0.05, 0.05, Model::Normalized).expect("a sound test");
        let sum: f64 = probabilities.iter().sum();
        let probabilities = probabilities.map(|p| p / sum);
        let simulation =
            Simulation { test, probabilities, batch: 2, cap: u64::MAX, overshoot: false };
        let (rate, mean) = play(&simulation, RUNS);
        let off = (rate - pass_rate) / (allowance(*pass_rate, RUNS) / 4.0 * 2f64.sqrt());
        let off_games = (mean - games) / (games_error * 2f64.sqrt());
        println!("{elo0} {elo1}: {rate} ({off:+.1} errors), {mean:.0} games ({off_games:+.1})");
        assert!(off.abs() < 4.0 && off_games.abs() < 4.0);
    }
}

/// The estimate after a stop is as often too high as too low, and its interval covers the truth;
/// the naive one is not.
#[test]
fn the_estimate_after_a_stop_is_median_unbiased() {
    const RUNS: u64 = 1500;
    let test = Sprt::new(0.0, 30.0, 0.05, 0.05, Model::Normalized).expect("a sound test");
    let probabilities = shifted(&pair_model(0.5, 0.0), 30.0, Model::Normalized);
    let (_, truth) = strengths(&probabilities).expect("some spread");
    let simulation = Simulation { test, probabilities, batch: 1, cap: u64::MAX, overshoot: false };
    let (mut above, mut covered, mut naive_above) = (0u64, 0u64, 0u64);
    for run in 0..RUNS {
        let pairs = simulation.play(uniform(run)).pairs;
        let after = sequential::of_pairs(&test, &pairs).expect("some pairs");
        above += u64::from(after.elo.value > Extended::Finite(truth));
        let (low, high) = (after.elo.low, after.elo.high);
        covered += u64::from(low < Extended::Finite(truth) && Extended::Finite(truth) < high);
        let mean = pairs.distribution().moments().expect("some pairs").mean;
        naive_above += u64::from(mean > score_from_elo(truth));
    }
    let share = |count: u64| count as f64 / RUNS as f64;
    assert!((share(above) - 0.5).abs() < allowance(0.5, RUNS) + 0.01, "{}", share(above));
    assert!((share(covered) - 0.95).abs() < allowance(0.95, RUNS) + 0.01, "{}", share(covered));
    assert!(share(naive_above) > share(above) + 0.03, "{}", share(naive_above));
}

/// Errors of ratings allow for the correlation within pairs: ratings of simulated tables spread as
/// the sandwich says.
#[test]
fn errors_of_ratings_are_those_of_repeated_tables() {
    const TABLES: u64 = 300;
    let probabilities = pair_model(0.4, 200.0);
    let table = |seed: u64| {
        let mut random = uniform(seed);
        let mut meeting = Meeting::new([0, 1]);
        for _ in 0..400 {
            let mut left = random();
            let cell = probabilities.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            let (white, black) = [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)][cell.unwrap_or(4)];
            meeting.pairs[white][black] += 1;
        }
        rate(2, &[meeting], &Options { law: Law::Scores, ..Options::default() }).expect("a maximum")
    };
    let ratings: Vec<f64> = (0..TABLES).map(|seed| table(seed).rating(0).expect("rated")).collect();
    let spread = (ratings.iter().map(|r| r * r).sum::<f64>() / TABLES as f64).sqrt();
    let variance = |seed| table(seed).error(0, Errors::Sandwich).expect("rated").powi(2);
    let paired = ((0..TABLES).map(variance).sum::<f64>() / TABLES as f64).sqrt();
    // The spread of 300 tables is known to 4 %.
    assert!((paired / spread - 1.0).abs() < 0.17, "{paired} and {spread}");
}
