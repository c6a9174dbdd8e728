//! Crosstables rated by Ordo 1.2.6, by BayesElo 0057, and by an independent solver of the same
//! equations.

use super::super::ratings::{
    Errors, LOGISTIC_SCALE, Meeting, Options, OutcomeModel, RatingList, Relation, rate, scale_of,
};
use super::agreement::Agreement;

/// Each element contains the indices of White and Black, and the numbers of games that White won,
/// drew and lost.
type Games = &'static [(usize, usize, [u64; 3])];

fn meetings(games: Games) -> Vec<Meeting> {
    games
        .iter()
        .map(|(white, black, [won, drawn, lost])| Meeting {
            singles: [[*lost, *drawn, *won], [0; 3]],
            ..Meeting::new([*white, *black])
        })
        .collect()
}

fn rated(games: Games, options: &Options) -> RatingList {
    let players = games.iter().map(|(a, b, _)| a.max(b) + 1).max().expect("some games");
    rate(players, &meetings(games), options).expect("a maximum")
}

/// Returns the options of Ordo on the given scale, with the advantage and the draw rate either
/// fitted or fixed.
fn ordo(scale: f64, is_fitted: bool) -> Options {
    let (advantage, draw_rate) = if is_fitted { (None, None) } else { (Some(0.0), Some(0.5)) };
    Options { model: OutcomeModel::Scores, scale, advantage, draw_rate, ..Options::default() }
}

const XT1: Games = &[
    (0, 1, [30, 45, 25]),
    (1, 0, [28, 47, 25]),
    (0, 2, [44, 40, 16]),
    (2, 0, [22, 44, 34]),
    (1, 2, [38, 42, 20]),
    (2, 1, [27, 43, 30]),
];

const XT3: Games = &[
    (0, 1, [5, 0, 0]),
    (1, 0, [0, 0, 5]),
    (0, 2, [5, 0, 0]),
    (1, 3, [12, 10, 8]),
    (3, 1, [11, 12, 7]),
    (1, 2, [16, 3, 1]),
    (2, 1, [2, 5, 13]),
    (3, 2, [13, 5, 2]),
    (2, 3, [3, 4, 13]),
];

const XT5: Games = &[(0, 1, [210, 480, 150]), (1, 0, [170, 470, 200])];

/// Rating scales of the cases.
#[derive(Clone, Copy)]
enum Scale {
    Ordo,
    Logistic,
    /// Ordo's scale, with the number of points for a score of 0.76 chosen so that the scale is
    /// nearly logistic.
    OrdoLogistic,
}

use Scale::{Logistic as LOGISTIC, Ordo as ORDO};

impl Scale {
    fn value(self) -> f64 {
        match self {
            Scale::Ordo => scale_of(202.0, 0.76),
            Scale::Logistic => LOGISTIC_SCALE,
            Scale::OrdoLogistic => scale_of(200.238561, 0.76),
        }
    }
}

/// Table, scale, `true` if advantage and draw rate are fitted, ratings, advantage in Elo, draw rate
/// in percent.
type OrdoCase = (Games, Scale, bool, &'static [f64], f64, f64);

// Clippy mistakes one of the advantages for an approximation of 2π.
#[allow(clippy::approx_constant)]
#[rustfmt::skip]
const ORDO_CASES: &[OrdoCase] = &[
    (XT1, ORDO, true, &[24.8435, 11.2391, -36.0826], 23.19, 44.32),
    (XT1, ORDO, false, &[24.7359, 11.1905, -35.9264], 0.0, 50.0),
    (XT1, Scale::OrdoLogistic, true, &[24.6269, 11.1411, -35.768], 22.99, 44.32),
    (XT3, ORDO, true, &[685.9475, 85.7486, -159.3527, 73.6041], 40.84, 33.48),
    (XT3, ORDO, false, &[692.1967, 84.74, -157.4885, 72.7486], 0.0, 50.0),
    (XT3, Scale::OrdoLogistic, true, &[679.9632, 85.0009, -157.9632, 72.9623], 40.49, 33.48),
    (XT5, ORDO, true, &[9.4001, -9.4001], 6.280, 56.76),
    (XT5, ORDO, false, &[9.3971, -9.3971], 0.0, 50.0),
    (XT5, Scale::OrdoLogistic, true, &[9.3181, -9.3181], 6.22, 56.76),
];

/// Table, scale, ratings, errors, advantage and its error in Elo, draw rate in percent.
type ScoreCase = (Games, Scale, &'static [f64], &'static [f64], f64, f64, f64);

/// Cases solved by an independent solver; the rating of a player with a perfect score is NaN.
#[rustfmt::skip]
const SCORE_CASES: &[ScoreCase] = &[
    (XT1, ORDO, &[24.84349541, 11.23912737, -36.08262278], &[17.245099, 17.197953, 17.311738], 23.19318992, 10.780574, 44.31738639),
    (XT1, LOGISTIC, &[24.62715287, 11.14125462, -35.76840749], &[17.094925, 17.048189, 17.160983], 22.99121859, 10.686694, 44.31738639),
    (XT3, ORDO, &[f64::NAN, 85.74853581, -159.35262261, 73.6040868], &[f64::NAN, 41.623652, 50.682775, 41.299305], 40.8429165, 26.884191, 33.47937292),
    (XT3, LOGISTIC, &[f64::NAN, 85.00181898, -157.96494544, 72.96312646], &[f64::NAN, 41.261184, 50.241419, 40.939662], 40.48724753, 26.650077, 33.47937292),
    (XT5, ORDO, &[9.40007191, -9.40007191], &[5.521179, 5.521179], 6.27739956, 5.63396, 56.75671845),
    (XT5, LOGISTIC, &[9.31821405, -9.31821405], &[5.473099, 5.473099], 6.2227346, 5.584898, 56.75671845),
];

/// Table, `true` if advantage and draw parameter are fitted, ratings, errors, advantage, draw
/// parameter, and the likelihood that the first player is stronger than the second.
type BayesEloCase = (Games, bool, &'static [f64], &'static [f64], f64, f64, f64);

#[rustfmt::skip]
const BAYESELO_CASES: &[BayesEloCase] = &[
    (XT1, true, &[30.665602, 13.940881, -44.606483], &[21.065055, 21.086702, 21.185356], 28.536366, 168.014018, 0.81581489),
    (XT1, false, &[23.578967, 10.657904, -34.236871], &[19.689737, 19.668501, 19.837244], 32.8, 97.3, 0.77186142),
    (XT3, true, &[467.764037, -62.794872, -329.253954, -75.715212], &[251.592741, 90.400042, 101.574786, 96.61567], 41.706099, 137.57786, 0.9990917),
    (XT3, false, &[432.855555, -61.540411, -298.202208, -73.112936], &[250.659842, 89.987224, 100.684563, 95.703459], 32.8, 97.3, 0.99821867),
    (XT5, true, &[13.716993, -13.716993], &[8.052379, 8.052379], 9.028541, 224.27887, 0.99957921),
    (XT5, false, &[8.140218, -8.140218], &[6.920838, 6.920838], 32.8, 97.3, 0.98942481),
];

#[test]
fn ratings_agree_with_ordo() {
    let mut agreement = Agreement::within(2e-4, "multi_player: Ordo's ratings");
    let mut coarse =
        Agreement::within(0.02, "multi_player: Ordo's perfect scores and short figures");
    for (games, scale, is_fitted, ratings, advantage, draw_rate) in ORDO_CASES {
        agreement.row();
        coarse.row();
        let found = rated(games, &ordo(scale.value(), *is_fitted));
        for (player, rating) in ratings.iter().enumerate() {
            let got = found.rating(player).expect("rated");
            match found.group(player) {
                // Ordo prints four decimals.
                Some(_) => agreement.figure("rating", got, *rating),
                // Ordo ends its search for the rating of a perfect score when a step is 1e-5 of the
                // rating.
                None => coarse.figure("perfect score", got, *rating),
            }
        }
        // Ordo prints two decimals.
        coarse.figure("advantage", found.advantage.expect("both colours"), *advantage);
        coarse.figure("draw rate", 100.0 * found.draw_rate, *draw_rate);
    }
    agreement.print();
    coarse.print();
}

#[test]
fn a_player_who_never_loses_is_rated() {
    // In the first table, one player wins twice and draws. In the second table, one player wins all
    // games with White and draws all games with Black.
    for games in [&[(0, 1, [1, 0, 0]), (1, 0, [0, 1, 1])], &[(0, 1, [9, 0, 0]), (1, 0, [0, 9, 0])]]
    {
        for model in [OutcomeModel::Davidson, OutcomeModel::RaoKupper, OutcomeModel::Scores] {
            let found = rated(games, &Options { model, ..Options::default() });
            let [first, second] = [0, 1].map(|player| found.rating(player).expect("rated"));
            let error = found.error(0, Errors::Information).expect("an error");
            assert!((50.0..900.0).contains(&(first - second)), "{model}: {first} {second}");
            assert!(error > 1.0 && error.is_finite(), "{model}: {error}");
        }
    }
}

#[test]
fn ratings_solve_the_score_equations() {
    let mut agreement =
        Agreement::within(2e-8, "multi_player: score equations, solved independently");
    // The reference has six decimals.
    let mut errors_agree = Agreement::within(1e-7, "multi_player: sandwich errors");
    for (games, scale, ratings, errors, advantage, advantage_error, draw_rate) in SCORE_CASES {
        agreement.row();
        errors_agree.row();
        let found = rated(games, &ordo(scale.value(), true));
        for (player, (rating, error)) in ratings.iter().zip(*errors).enumerate() {
            if rating.is_nan() {
                assert_eq!(found.error(player, Errors::Sandwich), None);
                continue;
            }
            agreement.figure("rating", found.rating(player).expect("rated"), *rating);
            let got = 1.959963984540054 * found.error(player, Errors::Sandwich).expect("rated");
            errors_agree.figure("error", got, *error);
        }
        agreement.figure("advantage", found.advantage.expect("both colours"), *advantage);
        let got = found.advantage_error.expect("fitted");
        errors_agree.figure("of the advantage", got, *advantage_error);
        agreement.figure("draw rate", 100.0 * found.draw_rate, *draw_rate);
    }
    agreement.print();
    errors_agree.print();
}

#[test]
fn ratings_agree_with_bayeselo() {
    let mut agreement = Agreement::within(1e-4, "multi_player: BayesElo's ratings, errors, LOS");
    for (games, is_fitted, ratings, errors, advantage, draw_elo, los) in BAYESELO_CASES {
        agreement.row();
        let rate_of = |draw_elo: f64| OutcomeModel::RaoKupper.draw_rate(draw_elo / LOGISTIC_SCALE);
        let fixed = Options {
            model: OutcomeModel::RaoKupper,
            advantage: Some(*advantage),
            draw_rate: Some(rate_of(*draw_elo)),
            prior_draws: 1.0,
            ..Options::default()
        };
        let fitted = Options { advantage: None, draw_rate: None, ..fixed.clone() };
        let found = rated(games, if *is_fitted { &fitted } else { &fixed });
        for (player, rating) in ratings.iter().enumerate() {
            agreement.figure("rating", found.rating(player).expect("rated"), *rating);
        }
        agreement.figure("advantage", found.advantage.expect("both colours"), *advantage);
        let got = LOGISTIC_SCALE * OutcomeModel::RaoKupper.parameter(found.draw_rate);
        agreement.figure("draw parameter", got, *draw_elo);
        // BayesElo's errors assume that the advantage and the draw parameter are known.
        let with_fixed = rated(games, &fixed);
        for (player, error) in errors.iter().enumerate() {
            let got = with_fixed.error(player, Errors::Information).expect("rated");
            agreement.figure("error", 1.959963984540054 * got, *error);
        }
        let got = with_fixed.superiority(0, 1, Errors::Information).expect("rated");
        agreement.figure("LOS", got, *los);
        assert!((got - los).abs() < 2e-8, "{got}, not {los}");
    }
    agreement.print();
}

/// At the ratings, the gradients of the likelihood and of the relation cancel. A difference between
/// players without games equals the mean of the relation.
#[test]
fn a_relation_is_weighted_by_its_standard_deviation() {
    const OTHERS: Games = &[(2, 3, [30, 45, 25])];
    let (mean, deviation) = (80.0, 15.0);
    let relation = |players| Relation { players, mean, deviation };
    let relations = vec![relation([0, 1]), relation([1, 2])];
    let options = Options { relations, ..ordo(LOGISTIC_SCALE, false) };
    let found = rate(4, &[meetings(XT5), meetings(OTHERS)].concat(), &options).expect("a maximum");
    let elo: Vec<f64> = (0..4).map(|player| found.rating(player).expect("rated")).collect();
    let (games, points, above) =
        (1680.0, 210.0 + 480.0 / 2.0 + 200.0 + 470.0 / 2.0, elo[0] - elo[1]);
    let pull = points - games / (1.0 + (-above / LOGISTIC_SCALE).exp());
    let expected = LOGISTIC_SCALE * (above - mean) / deviation.powi(2);
    assert!((pull - expected).abs() < 1e-6, "{pull}, not {expected}");
    assert!((elo[1] - elo[2] - mean).abs() < 1e-6, "{elo:?}");
    for errors in [Errors::Information, Errors::Sandwich] {
        let error = found.difference_error(1, 2, errors).expect("comparable");
        assert!((error - deviation).abs() < 1e-6, "{errors:?}: {error}");
    }
}
