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
    // For small differences, logistic Elo is normalized Elo times twice the standard deviation of a
    // game's score.
    let [low, high] = normalized(0.0, 5.0).logistic_hypotheses(&sample);
    assert!(low.abs() < 1e-9 && (high - 5.0 * 2.0 * 0.1_f64.sqrt()).abs() < 1e-3, "{high}");
}

/// Small random number generator (SplitMix64), uniform on [0, 1).
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

/// Plays a test to its end with pairs drawn from `probabilities`. Returns the number of pairs, and
/// `true` if the test passed.
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
    // The LLR overshoots its bound by a part of a step. The error rates are therefore lower, and
    // the tests longer, than in the approximation. The limits are four standard errors wider.
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
