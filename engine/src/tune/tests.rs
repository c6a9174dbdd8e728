use super::*;
use crate::eval::palimpsest::layout::GROUPS;
use crate::eval::palimpsest::tests::positions;
use crate::eval::palimpsest::trace::{Trace, Tracer, weights};

/// Returns the current weights.
pub(super) fn start() -> Weights {
    weights().iter().map(|weight| weight.map(f64::from)).collect()
}

/// Returns every `every`-th test position, with the results that `result` returns.
pub(super) fn some_samples(every: usize, result: impl Fn(usize, &Samples) -> f32) -> Samples {
    let mut tracer = Tracer::default();
    let mut samples = Samples::default();
    for (index, position) in positions().iter().step_by(every).enumerate() {
        let trace = tracer.trace(position);
        let mut alone = Samples::default();
        alone.push(&trace, 0.0);
        samples.push(&trace, result(index, &alone));
    }
    samples
}

fn place(name: &str) -> usize {
    GROUPS.iter().find(|group| group.name == name).unwrap().start
}

/// Returns made-up samples with random counts of the linear weights `places` and of the danger
/// weights `units`. The results of the samples are the expected results with the weights `planted`.
fn made_up(
    seed: u64,
    places: &[usize],
    units: &[usize],
    planted: &Weights,
    curve: Curve,
) -> Samples {
    let mut random = Random::new(seed);
    let mut below = |end: usize| random.below(end) as i32;
    let mut samples = Samples::default();
    for _ in 0..3_000 {
        let mut counts = |places: &[usize], from: i32| -> Vec<(u16, i32)> {
            places.iter().map(|&place| (place as u16, from + below(5))).collect()
        };
        let linear = counts(places, -2);
        let danger = [counts(units, 0), counts(units, 0)];
        let phase = below(25);
        let scale = 32 + below(33);
        let trace = Trace { linear, danger, fixed: [0, 0], phase, scale };
        let mut alone = Samples::default();
        alone.push(&trace, 0.0);
        samples.push(&trace, curve.expected_result(alone.score(0, planted)) as f32);
    }
    samples
}

#[test]
fn planted_weights_are_found_again() {
    let curve = Curve { steepness: 1.0 };
    let mut planted = start();
    let changes = [
        ("TEMPO", [25.0, -20.0]),
        ("BISHOP_PAIR", [30.0, 30.0]),
        ("ROOK_FILE", [-25.0, 20.0]),
        ("HANGING", [20.0, -25.0]),
        ("DANGER_SQUARE", [12.0, 0.0]),
        ("DANGER_WEAK", [-10.0, 0.0]),
    ];
    for (name, change) in changes {
        let weight = &mut planted[place(name)];
        *weight = [weight[0] + change[0], weight[1] + change[1]];
    }
    let places = ["TEMPO", "BISHOP_PAIR", "ROOK_FILE", "HANGING", "SPACE"].map(place);
    let units = ["DANGER_SQUARE", "DANGER_WEAK", "DANGER_ATTACKER"].map(place);
    let made = |seed| made_up(seed, &places, &units, &planted, curve);
    let split = Split { training: made(1), validation: made(2), games: 0 };
    let settings = Settings { epochs: 200, batch: 256, l2: 0.0, threads: 2, ..Settings::default() };
    let mut epochs = 0;
    // The curve is fixed, because a curve fitted to the wrong weights would compensate for part of
    // the error of these weights.
    let found = optimize(&split, &start(), curve, settings, &mut |_| epochs += 1);
    assert!(epochs > 10);
    for set in 0..2 {
        assert!(found.after[set] < found.before[set] / 20.0, "{found:?}");
    }
    for (name, change) in changes {
        let (old, new) = (weights()[place(name)], found.weights[place(name)]);
        for ((old, new), change) in old.into_iter().zip(new).zip(change) {
            let moved = f64::from(new - old);
            assert!((moved - change).abs() < 0.2 * change.abs() + 4.0, "{name} {moved} {change}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_weights() {
    let result = |index: usize, _: &Samples| [0.0, 1.0, 0.5, 1.0][index % 4];
    let split = Split {
        training: some_samples(31, result),
        validation: some_samples(53, result),
        games: 0,
    };
    let run = |seed, threads| {
        let settings = Settings { epochs: 5, batch: 64, threads, seed, ..Settings::default() };
        tune(&split, &weights(), settings, &mut |_| {})
    };
    assert_eq!(run(7, 1), run(7, 2));
    assert_ne!(run(7, 1).weights, run(8, 1).weights);
}
