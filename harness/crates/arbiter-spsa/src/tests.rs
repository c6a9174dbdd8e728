//! Comparison with gain schedules and updates computed by fishtest's code.

use super::parameter::ParameterKind;
use super::table;
use super::tuning::Tuning;

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

/// Update after `iter` pairs: score, flips, expected values of both sides, and expected values
/// after the update.
struct Update<'a> {
    iter: u64,
    score: i64,
    flips: &'a [bool],
    plus: &'a [f64],
    minus: &'a [f64],
    after: &'a [f64],
}

fn check_updates(tuning: &Tuning, updates: &[Update<'_>]) {
    let mut theta = tuning.start();
    for update in updates {
        let k = update.iter + 1;
        let [plus, minus] = tuning.sides(k, &theta, update.flips);
        tuning.update(k, &mut theta, update.flips, update.score);
        for (found, expected) in
            [(&plus, update.plus), (&minus, update.minus), (&theta, update.after)]
        {
            found
                .iter()
                .zip(expected)
                .for_each(|(found, expected)| assert_close(*found, *expected));
        }
    }
}

#[test]
fn gains_and_updates_match_fishtest() {
    let parameters = table::read("Tempo,28,0,60,4,0.002\nRazor,350,100,700,35,0.002").unwrap();
    let tuning = Tuning { parameters, ..Tuning::test([0.602, 0.101, 0.1], 20_000) };
    assert_eq!(tuning.stability(), 2_000.0);
    for (iter, tempo, razor, rate) in [
        (0, 10.8758703279, 95.1638653693, 0.00114553837659),
        (1, 10.140514522, 88.7295020674, 0.0013173072362),
        (9, 8.61914170501, 75.4174899188, 0.00181901534957),
        (99, 6.83068126882, 59.7684611022, 0.00282087846235),
        (999, 5.41332399363, 47.3665849442, 0.00362354279697),
    ] {
        let k = iter + 1;
        assert_close(tuning.perturbation(&tuning.parameters[0], k), tempo);
        assert_close(tuning.perturbation(&tuning.parameters[1], k), razor);
        tuning
            .parameters
            .iter()
            .for_each(|parameter| assert_close(tuning.rate(parameter, k), rate));
    }
    let updates = [
        Update {
            iter: 0,
            score: 3,
            flips: &[true, false],
            plus: &[38.8758703279, 254.836134631],
            minus: &[17.1241296721, 445.163865369],
            after: &[28.0373761805, 349.67295842],
        },
        Update {
            iter: 16,
            score: -5,
            flips: &[true, false],
            plus: &[36.2067483181, 278.190952216],
            minus: &[19.8680040429, 421.154964624],
            after: &[27.954841437, 350.395137426],
        },
        Update {
            iter: 32,
            score: 7,
            flips: &[false, false],
            plus: &[20.314828166, 283.545021305],
            minus: &[35.594854708, 417.245253547],
            after: &[27.8318729988, 349.319163592],
        },
        Update {
            iter: 48,
            score: 0,
            flips: &[true, false],
            plus: &[35.1728559727, 285.08556257],
            minus: &[20.4908900248, 413.552764614],
            after: &[27.8318729988, 349.319163592],
        },
        Update {
            iter: 5_000,
            score: 2,
            flips: &[false, false],
            plus: &[23.2307983587, 309.059760491],
            minus: &[32.4329476388, 389.578566692],
            after: &[27.8041606853, 349.076680849],
        },
    ];
    check_updates(&tuning, &updates);
}

#[test]
fn values_are_clipped_to_their_range() {
    let mut parameters = table::read("edge,19.9,0,20,1,0.2").unwrap();
    // The kind affects neither gains above the minimum for integers nor unrounded values.
    parameters[0].kind = ParameterKind::Float;
    let tuning = Tuning { parameters, ..Tuning::test([0.602, 0.101, 0.1], 1_000) };
    assert_eq!(tuning.stability(), 100.0);
    for (iter, c, rate) in [
        (0, 2.00909281261, 0.208615669093),
        (1, 1.87325098847, 0.238549850023),
        (9, 1.59220872705, 0.31552225394),
        (99, 1.26182753459, 0.350532535907),
        (999, 1.0, 0.2),
    ] {
        assert_close(tuning.perturbation(&tuning.parameters[0], iter + 1), c);
        assert_close(tuning.rate(&tuning.parameters[0], iter + 1), rate);
    }
    let updates = [
        Update {
            iter: 0,
            score: 40,
            flips: &[true],
            plus: &[20.0],
            minus: &[17.8909071874],
            after: &[20.0],
        },
        Update {
            iter: 50,
            score: -60,
            flips: &[false],
            plus: &[18.649373047],
            minus: &[20.0],
            after: &[20.0],
        },
    ];
    check_updates(&tuning, &updates);
}
