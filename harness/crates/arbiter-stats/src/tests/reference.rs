//! Reference figures, and tests that compare computed figures with the reference figures.
//!
//! An independent solver of the same equations computed the LLRs with 60 digits; these LLRs agree
//! with fishtest's statistics module to 1e-9. Elo, normalized Elo and likelihood of superiority
//! follow from the textbook formulas for the raw counts, and agree with fastchess. The samples are
//! from the test suites of fastchess, fishtest, OpenBench and cutechess; corner cases were added.

use super::agreement::Agreement;
use crate::distribution::Moments;
use crate::elo;
use crate::normalized;
use crate::pentanomial::{Pentanomial, Trinomial};
use crate::planning::Conditions;
use crate::scale::Model;
use crate::sprt::{LlrBounds, Sprt};

use Counts::{Games, Pairs};
use Scale::{Bayes, Logistic, Normalized};

enum Counts {
    /// Numbers of games lost, drawn and won.
    Games([u64; 3]),
    /// Numbers of pairs: LL, LD, DD+WL, WD, WW.
    Pairs([u64; 5]),
}

enum Scale {
    Normalized,
    Logistic,
    Bayes,
}

struct Case {
    id: &'static str,
    counts: Counts,
    scale: Scale,
    /// elo0, elo1.
    hypotheses: (f64, f64),
    /// alpha, beta.
    rates: (f64, f64),
    /// Lower and upper bound.
    bounds: (f64, f64),
    llr: f64,
    /// Value, low, high; infinite if all units were won or lost, `None` without units.
    elo: [Option<f64>; 3],
    /// Value and half-width; `None` without variance.
    nelo: Option<(f64, f64)>,
    los: Option<f64>,
}

/// elo0, elo1, scale, true logistic Elo, variance of a game, probability of passing, number of
/// games.
type Plan = (f64, f64, Model, f64, f64, f64, f64);

impl Case {
    fn moments(&self) -> Option<Moments> {
        match self.counts {
            Games([losses, draws, wins]) => {
                Trinomial { losses, draws, wins }.distribution().moments()
            }
            Pairs(counts) => Pentanomial(counts).distribution().moments(),
        }
    }

    fn llr(&self) -> f64 {
        let model = match self.scale {
            Normalized => Model::Normalized,
            Logistic => Model::Logistic,
            Bayes => Model::Bayesian,
        };
        let ((elo0, elo1), (alpha, beta)) = (self.hypotheses, self.rates);
        let test = Sprt::new(elo0, elo1, alpha, beta, model).expect("a sound test");
        match self.counts {
            Games([losses, draws, wins]) => test.llr_games(&Trinomial { losses, draws, wins }),
            Pairs(counts) => test.llr(&Pentanomial(counts)),
        }
    }
}

#[test]
fn log_likelihood_ratios_match_the_reference() {
    let mut agreement = Agreement::within(1e-9, "match_stats: log-likelihood ratio");
    for case in CASES {
        agreement.row();
        agreement.figure(case.id, case.llr(), case.llr);
    }
    agreement.print();
}

#[test]
fn bounds_match_the_reference() {
    let mut agreement = Agreement::within(1e-13, "match_stats: bounds");
    for case in CASES {
        let bounds = LlrBounds::new(case.rates.0, case.rates.1).expect("sound rates");
        agreement.row();
        agreement.figure(case.id, bounds.lower, case.bounds.0);
        agreement.figure(case.id, bounds.upper, case.bounds.1);
    }
    agreement.print();
}

#[test]
fn estimates_match_the_reference() {
    let mut agreement = Agreement::within(1e-9, "match_stats: Elo, nElo, LOS and intervals");
    for case in CASES {
        agreement.row();
        let Some(sample) = case.moments() else {
            assert_eq!(case.elo, [None; 3], "{}", case.id);
            continue;
        };
        let estimate = elo::estimate(&sample);
        for (got, expected) in [estimate.value, estimate.low, estimate.high].iter().zip(case.elo) {
            let (got, expected) = (*got, expected.expect("units were played"));
            // The reference has no bound for samples in which all units are won, or all units are
            // lost.
            if expected.is_infinite() {
                assert!(got == expected || estimate.value.is_infinite(), "{}", case.id);
            } else {
                agreement.figure(case.id, got, expected);
            }
        }
        let los = elo::likelihood_of_superiority(&sample);
        assert_eq!(los.is_some(), case.los.is_some(), "{}", case.id);
        if let (Some(got), Some(expected)) = (los, case.los) {
            agreement.figure(case.id, got, expected);
            // The relative error is also small in the far tail.
            assert!((got / expected - 1.0).abs() < 1e-9, "{}: {got}, not {expected}", case.id);
        }
        let nelo = normalized::estimate(&sample).filter(|nelo| nelo.value.is_finite());
        assert_eq!(nelo.is_some(), case.nelo.is_some(), "{}", case.id);
        if let (Some(got), Some((value, half_width))) = (nelo, case.nelo) {
            agreement.figure(case.id, got.value, value);
            agreement.figure(case.id, got.half_width().expect("finite ends"), half_width);
        }
    }
    agreement.print();
}

#[test]
fn plans_match_the_reference() {
    let mut agreement = Agreement::within(1e-8, "sprt_calculator: probability to pass, games");
    for (elo0, elo1, model, elo, variance, pass, games) in PLANS.iter().copied() {
        let test = Sprt::new(elo0, elo1, 0.05, 0.05, model).expect("a sound test");
        let exit = test.expectation(elo, variance);
        agreement.row();
        agreement.figure("pass probability", exit.upper_probability, pass);
        agreement.figure("games", exit.mean_units, games);
        assert!((exit.upper_probability / pass - 1.0).abs() < 1e-8, "{exit:?}, not {pass}");
    }
    // The last row of the calculator has conditions for which there is no variance.
    agreement.row();
    let invalid = Conditions { draw_rate: 0.97, bias_elo: 150.0 };
    assert_eq!(invalid.variance_per_game(), None);
    agreement.print();
}

/// Plans computed by the SPRT calculator on fishtest's website, with error rates of 0.05.
#[rustfmt::skip]
const PLANS: &[Plan] = &[
    (0.0, 2.0, Model::Normalized, -2.0, 0.0649182323594, 5.04033707919e-07, 36085.82534),
    (0.0, 2.0, Model::Normalized, -0.5, 0.0649182323594, 0.00291922184753, 89176.4924672),
    (0.0, 2.0, Model::Normalized, 0.0, 0.0649182323594, 0.05, 159942.422191),
    (0.0, 2.0, Model::Normalized, 0.35, 0.0649182323594, 0.284533197949, 244547.370639),
    (0.0, 2.0, Model::Normalized, 1.0, 0.0649182323594, 0.944469999095, 164150.503863),
    (0.0, 2.0, Model::Normalized, 2.0, 0.0649182323594, 0.999818076842, 60739.9667529),
    (0.0, 2.0, Model::Normalized, 5.0, 0.0649182323594, 0.999999999995, 20168.8449048),
    (0.0, 5.0, Model::Logistic, -5.0, 0.0975, 0.000145772594752, 3695.87964046),
    (0.0, 5.0, Model::Logistic, 0.0, 0.0975, 0.05, 9981.7851707),
    (0.0, 5.0, Model::Logistic, 2.5, 0.0975, 0.500038111759, 16328.1985395),
    (0.0, 5.0, Model::Logistic, 5.0, 0.0975, 0.95, 9981.7851707),
    (0.0, 5.0, Model::Logistic, 10.0, 0.0975, 0.999853871572, 3696.89752043),
    (-1.75, 0.25, Model::Normalized, -1.0, 0.0649182323594, 0.0273898657486, 138551.621541),
    (-1.75, 0.25, Model::Normalized, -0.375, 0.0649182323594, 0.51037895664, 261596.140657),
    (-1.75, 0.25, Model::Normalized, -0.2, 0.0649182323594, 0.741292705672, 239879.974847),
    (-1.75, 0.25, Model::Normalized, 0.0, 0.0649182323594, 0.900994989303, 190032.91815),
    (-1.75, 0.25, Model::Normalized, 0.5, 0.0649182323594, 0.99392454828, 101406.358643),
];

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { id: "FC-N3-1", counts: Games([36027, 68692, 36433]), scale: Normalized, hypotheses: (0.0, 2.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.923293450949526, elo: [Some(0.9993428129307), Some(-0.2992768213575), Some(2.297990370727)],
        nelo: Some((1.394797462534, 1.81250357255)), los: Some(0.9342578476095) },
    Case { id: "FC-N3-2", counts: Games([10650, 20431, 10871]), scale: Normalized, hypotheses: (-1.75, 0.25), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 2.29750040710322, elo: [Some(1.830281623857), Some(-0.5508991537345), Some(4.211634357791)],
        nelo: Some((2.55546984433, 3.324650936115)), los: Some(0.9340321953044) },
    Case { id: "FC-N3-3", counts: Games([0, 0, 4250]), scale: Normalized, hypotheses: (0.0, 10.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 120.548267741203, elo: [Some(f64::INFINITY), Some(f64::INFINITY), Some(f64::INFINITY)],
        nelo: None, los: None },
    Case { id: "FC-L3-1", counts: Games([21184, 40708, 21404]), scale: Logistic, hypotheses: (0.5, 2.5), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -1.57188879269218, elo: [Some(0.9176431827537), Some(-0.7694527404538), Some(2.604782382083)],
        nelo: Some((1.283347432048, 2.359447487971)), los: Some(0.8568019466788) },
    Case { id: "FC-L3-2", counts: Games([57030, 106593, 57433]), scale: Logistic, hypotheses: (0.0, 2.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -2.59302416352406, elo: [Some(0.6333992114415), Some(-0.4088021147757), Some(1.675611936684)],
        nelo: Some((0.8802317356917, 1.448342369769)), los: Some(0.8832066432958) },
    Case { id: "FC-B3-1", counts: Games([68526, 128429, 68965]), scale: Bayes, hypotheses: (0.0, 2.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -1.26215588921328, elo: [Some(0.5735723548691), Some(-0.3759554428814), Some(1.523108720819)],
        nelo: Some((0.7976774717602, 1.320525792495)), los: Some(0.8817809644788) },
    Case { id: "FC-B3-2", counts: Games([21484, 41111, 21629]), scale: Bayes, hypotheses: (0.5, 2.5), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -1.13064245892651, elo: [Some(0.5981455365797), Some(-1.080621546672), Some(2.276940550372)],
        nelo: Some((0.8360293113774, 2.346413008373)), los: Some(0.7575168099019) },
    Case { id: "FC-N5-1", counts: Pairs([365, 16618, 36229, 16974, 390]), scale: Normalized, hypotheses: (0.0, 2.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 2.25036770354698, elo: [Some(0.9993428129307), Some(0.07627305365244), Some(1.922426680402)],
        nelo: Some((1.962270793491, 1.81250357255)), los: Some(0.9830775979698) },
    Case { id: "FC-N5-2", counts: Pairs([127, 4883, 10712, 5150, 104]), scale: Normalized, hypotheses: (-1.75, 0.25), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 3.01015419660369, elo: [Some(1.830281623857), Some(0.1313585032819), Some(3.529292276783)],
        nelo: Some((3.581711126447, 3.324650936115)), los: Some(0.9826356355906) },
    Case { id: "FC-N5-3", counts: Pairs([0, 0, 0, 0, 5550]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 111.797555086714, elo: [Some(f64::INFINITY), Some(f64::INFINITY), Some(f64::INFINITY)],
        nelo: None, los: None },
    Case { id: "FC-L5-1", counts: Pairs([223, 9863, 21279, 10037, 246]), scale: Logistic, hypotheses: (0.5, 2.5), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -3.07412643958917, elo: [Some(0.9176431827537), Some(-0.288715626964), Some(2.124024119186)],
        nelo: Some((1.79476437634, 2.359447487971)), los: Some(0.9320046373687) },
    Case { id: "FC-L5-2", counts: Pairs([871, 26175, 55983, 26678, 821]), scale: Logistic, hypotheses: (0.0, 2.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -4.97867286344901, elo: [Some(0.6333992114415), Some(-0.1187686381731), Some(1.385572998398)],
        nelo: Some((1.219646333649, 1.448342369769)), los: Some(0.9505777953625) },
    Case { id: "FC-E3-1", counts: Games([89, 123, 76]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -0.276964749281964, elo: [Some(-15.69352070543), Some(-46.27235419975), Some(14.64364723421)],
        nelo: Some((-20.7564497774, 40.12602555758)), los: Some(0.1553264349275) },
    Case { id: "FC-E3-2", counts: Games([96, 111, 136]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.664488060334625, elo: [Some(40.70245818653), Some(10.58675629865), Some(71.44119218585)],
        nelo: Some((49.76841538102, 36.76845059495)), los: Some(0.9960102357335) },
    Case { id: "FC-E3-3", counts: Games([356, 0, 34]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -4.67417995928362, elo: [Some(-407.9884323722), Some(-480.5257049253), Some(-354.1966754537)],
        nelo: Some((-508.4353250397, 34.48181248544)), los: Some(6.017171873542e-184) },
    Case { id: "FC-E5-1", counts: Pairs([34, 54, 63, 64, 75]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 1.30143637702752, elo: [Some(55.57978042045), Some(28.27615975741), Some(83.5830187702)],
        nelo: Some((57.93559993812, 28.27537624341)), los: Some(0.9999703930084) },
    Case { id: "FC-E5-2", counts: Pairs([332, 433, 498, 333, 334]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -1.86381535789482, elo: [Some(-8.642667267969), Some(-18.98450868585), Some(1.683880162936)],
        nelo: Some((-9.172914270047, 10.96045887751)), los: Some(0.05047006698253) },
    Case { id: "FC-E5-3", counts: Pairs([7895, 8757, 5685, 568, 9999]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -58.1292825006285, elo: [Some(-21.04352057817), Some(-23.99031188472), Some(-18.09975014766)],
        nelo: Some((-19.01283427888, 2.654501916502)), los: Some(4.548721049102e-45) },
    Case { id: "FI-B3-1", counts: Games([0, 0, 10]), scale: Bayes, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.138698689575106, elo: [Some(f64::INFINITY), Some(f64::INFINITY), Some(f64::INFINITY)],
        nelo: None, los: None },
    Case { id: "FI-B3-2", counts: Games([1, 20, 10]), scale: Bayes, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.144280326041017, elo: [Some(103.8549242023), Some(37.39611980419), Some(178.7467683051)],
        nelo: Some((193.9233628671, 122.3042482038)), los: Some(0.9990571983012) },
    Case { id: "FI-B3-3", counts: Games([5026, 15699, 5019]), scale: Bayes, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -2.85766796349576, elo: [Some(-0.09447052356257), Some(-2.745598263797), Some(2.55664621533)],
        nelo: Some((-0.1512374671952, 4.244087957349)), los: Some(0.4721592964311) },
    Case { id: "FI-L5-1", counts: Pairs([10789, 19328, 33806, 19402, 10543]), scale: Logistic, hypotheses: (-3.0, 1.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 2.13106781178789, elo: [Some(-0.7735773359165), Some(-2.051167691665), Some(0.5039920997914)],
        nelo: Some((-0.9516290044726, 1.571623844112)), los: Some(0.1176588580328) },
    Case { id: "FI-L5-2", counts: Pairs([39, 2226, 31451, 2412, 40]), scale: Logistic, hypotheses: (0.2, 0.9), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 2.16254258004691, elo: [Some(0.902981048809), Some(0.2404528463698), Some(1.565515818333)],
        nelo: Some((3.450799606946, 2.531891813015)), los: Some(0.9962220973354) },
    Case { id: "FI-N5-1", counts: Pairs([39, 2226, 31451, 2412, 40]), scale: Normalized, hypotheses: (0.764, 3.439), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 2.16294086958356, elo: [Some(0.902981048809), Some(0.2404528463698), Some(1.565515818333)],
        nelo: Some((3.450799606946, 2.531891813015)), los: Some(0.9962220973354) },
    Case { id: "OB-N5-1", counts: Pairs([39, 8843, 26675, 9240, 44]), scale: Normalized, hypotheses: (0.5, 2.5), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 2.94167520798707, elo: [Some(1.5767629414), Some(0.5464627658168), Some(2.607090849247)],
        nelo: Some((3.479956126886, 2.27389154512)), los: Some(0.9986479839015) },
    Case { id: "OB-B3-1", counts: Games([22569, 44137, 22976]), scale: Bayes, hypotheses: (0.5, 2.5), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.975757981428478, elo: [Some(1.5767629414), Some(-0.04367182479819), Some(3.197266308442)],
        nelo: Some((2.212608204303, 2.27389154512)), los: Some(0.9717488513948) },
    Case { id: "CA-L5-1", counts: Pairs([729, 5234, 10174, 5154, 898]), scale: Logistic, hypotheses: (-0.5, 1.5), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 2.93696379715055, elo: [Some(2.019906056637), Some(0.02550262943084), Some(4.014442611247)],
        nelo: Some((3.27383470766, 3.232499946767)), los: Some(0.9764292394602) },
    Case { id: "CA-L5-2", counts: Pairs([271, 2151, 4827, 2241, 299]), scale: Logistic, hypotheses: (-1.5, 0.5), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 2.94173514414484, elo: [Some(2.59099682481), Some(-0.2496585691646), Some(5.431998668314)],
        nelo: Some((4.439007259548, 4.866740919436)), los: Some(0.9630881475817) },
    Case { id: "OW-N5-01", counts: Pairs([12, 143, 287, 161, 21]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.749316850021961, elo: [Some(10.02496156103), Some(-1.343997145759), Some(21.41543129914)],
        nelo: Some((16.99664222332, 19.27591917621)), los: Some(0.9580245713304) },
    Case { id: "OW-N5-04", counts: Pairs([5, 30, 41, 55, 19]), scale: Normalized, hypotheses: (0.0, 10.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 1.84315312576704, elo: [Some(62.03110085126), Some(32.56017348905), Some(92.41492168705)],
        nelo: Some((83.4576135257, 39.31531520878)), los: Some(0.9999841269241) },
    Case { id: "OW-L5-01", counts: Pairs([12, 143, 287, 161, 21]), scale: Logistic, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 1.11835704671124, elo: [Some(10.02496156103), Some(-1.343997145759), Some(21.41543129914)],
        nelo: Some((16.99664222332, 19.27591917621)), los: Some(0.9580245713304) },
    Case { id: "OW-L5-03", counts: Pairs([102, 399, 540, 351, 88]), scale: Logistic, hypotheses: (-3.0, 0.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -1.06973205212599, elo: [Some(-8.922604470421), Some(-17.86443205797), Some(0.007418491846349)],
        nelo: Some((-12.50591637949, 12.51631641841)), los: Some(0.02509533393439) },
    Case { id: "OW-N3-01", counts: Games([431, 1266, 498]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 1.25497182830393, elo: [Some(10.60839078657), Some(1.159768964452), Some(20.07272932993)],
        nelo: Some((16.31933798386, 14.53466836586)), los: Some(0.9861186116862) },
    Case { id: "OW-L3-02", counts: Games([88, 54, 123]), scale: Logistic, hypotheses: (0.0, 20.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 1.98134882904829, elo: [Some(46.15736748083), Some(8.974317464751), Some(84.42653736441)],
        nelo: Some((51.99820848305, 41.83111611507)), los: Some(0.9925815334351) },
    Case { id: "OW-B3-02", counts: Games([3010, 8055, 3155]), scale: Bayes, hypotheses: (-3.0, 1.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 3.11550429973268, elo: [Some(3.542890721833), Some(-0.2167940804965), Some(7.303405450964)],
        nelo: Some((5.381186531226, 5.710479688197)), los: Some(0.9676223157047) },
    Case { id: "OW-Z5-01", counts: Pairs([0, 10, 50, 20, 0]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.316000931061731, elo: [Some(21.74306492904), Some(-1.105578676553), Some(44.7813694516)],
        nelo: Some((51.22658236727, 53.83471248818)), los: Some(0.9689099718576) },
    Case { id: "OW-Z5-03", counts: Pairs([3, 0, 20, 0, 5]), scale: Logistic, hypotheses: (0.0, 10.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.16199310755491, elo: [Some(24.85916269954), Some(-43.58084380731), Some(95.30820365406)],
        nelo: Some((33.12668329684, 90.99727262295)), los: Some(0.7622336702015) },
    Case { id: "OW-Z3-01", counts: Games([0, 37, 11]), scale: Normalized, hypotheses: (0.0, 10.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.64538786388819, elo: [Some(81.06011503006), Some(38.46682330661), Some(126.2034447659)],
        nelo: Some((189.439168512, 98.28828802194)), los: Some(0.9999208268921) },
    Case { id: "OW-D5-01", counts: Pairs([0, 0, 100, 0, 0]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -0.0375398828364521, elo: [Some(0.0), Some(0.0), Some(0.0)],
        nelo: None, los: None },
    Case { id: "OW-D5-02", counts: Pairs([0, 0, 100, 0, 0]), scale: Logistic, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -1.4416479084498, elo: [Some(0.0), Some(0.0), Some(0.0)],
        nelo: None, los: None },
    Case { id: "OW-D5-04", counts: Pairs([0, 0, 0, 0, 1]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.0201531208673487, elo: [Some(f64::INFINITY), Some(f64::INFINITY), Some(f64::INFINITY)],
        nelo: None, los: None },
    Case { id: "OW-D5-07", counts: Pairs([0, 1, 0, 0, 0]), scale: Logistic, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -0.0145096277324703, elo: [Some(-190.8485018879), Some(-190.8485018879), Some(-190.8485018879)],
        nelo: None, los: None },
    Case { id: "OW-D5-10", counts: Pairs([50, 0, 0, 0, 50]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -0.0207068726467647, elo: [Some(0.0), Some(-68.98875106671), Some(68.98875106671)],
        nelo: Some((0.0, 48.15123066909)), los: Some(0.5) },
    Case { id: "OW-D3-01", counts: Games([0, 1000, 0]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -0.202132602372846, elo: [Some(0.0), Some(0.0), Some(0.0)],
        nelo: None, los: None },
    Case { id: "OW-D3-03", counts: Games([0, 0, 1]), scale: Logistic, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 0.0142873714383302, elo: [Some(f64::INFINITY), Some(f64::INFINITY), Some(f64::INFINITY)],
        nelo: None, los: None },
    Case { id: "OW-D5-12", counts: Pairs([0, 0, 0, 0, 0]), scale: Normalized, hypotheses: (0.0, 5.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -1.03538760173137e-06, elo: [None, None, None],
        nelo: None, los: None },
    Case { id: "OW-W5-01", counts: Pairs([2, 11, 75, 160, 240]), scale: Normalized, hypotheses: (0.0, 50.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 69.3760130728664, elo: [Some(263.6336861814), Some(242.6865194146), Some(286.3361666151)],
        nelo: Some((377.7679377703, 21.79703795746)), los: Some(1.0) },
    Case { id: "OW-W3-01", counts: Games([20, 110, 410]), scale: Logistic, hypotheses: (100.0, 200.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: 71.6140634366771, elo: [Some(316.9566757993), Some(286.7853569549), Some(351.4696077053)],
        nelo: Some((478.7652793205, 29.30390578789)), los: Some(1.0) },
    Case { id: "OW-W5-05", counts: Pairs([40213, 352117, 701244, 355102, 40710]), scale: Logistic, hypotheses: (0.0, 1.0), rates: (0.05, 0.05), bounds: (-2.94443897916644, 2.94443897916644),
        llr: -2.55976440812913, elo: [Some(0.4640996414088), Some(0.2319896015772), Some(0.6962100955081)],
        nelo: Some((0.7888987324833, 0.3945515536486)), los: Some(0.9999555253429) },
    Case { id: "OW-A5-01", counts: Pairs([58, 611, 1294, 702, 77]), scale: Normalized, hypotheses: (0.0, 2.0), rates: (0.01, 0.1), bounds: (-2.29253475714054, 4.49980967033027),
        llr: 1.18678675479065, elo: [Some(8.174226820719), Some(2.836358435539), Some(13.51595649148)],
        nelo: Some((14.08283015813, 9.195464376342)), los: Some(0.9986575279723) },
];
