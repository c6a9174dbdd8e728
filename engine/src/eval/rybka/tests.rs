//! Tests of rules that apply to the whole score. The rules apply so rarely in games that tests with
//! random positions would not cover the rules.

use crate::chess::{Color, Game, Move, fen};
use crate::eval::pair::Pair;
use crate::eval::report::{Report, Term};
use crate::eval::{Choice, Evaluator, Score, Variant};

const OLD: Variant = Variant::Rybka1_0Beta;
const NEW: Variant = Variant::Rybka2_3_2a;

fn explain(variant: Variant, text: &str) -> Report {
    Choice::from(variant).explain(&fen::parse(text).unwrap())
}

/// Returns the change that a feature makes to the interpolated score, in centipawns from White's
/// point of view.
fn step(variant: Variant, name: &str, text: &str) -> i32 {
    let report = explain(variant, text);
    let found = report.terms.iter().find(|term| term.feature.name == name);
    found.map_or_else(|| panic!("{variant:?} has no {name}"), |term| term.step)
}

/// Returns the middlegame and endgame sums, and the function that interpolates between two sums.
fn sums(report: &Report) -> (i32, i32, impl Fn(i32, i32) -> i32 + use<>) {
    let sum = report.terms.iter().map(Term::net).fold(Pair::ZERO, |a, b| a + b);
    let blend = report.blend;
    let (opening, endgame) = (sum.opening(), sum.endgame());
    (opening, endgame, move |o, e| (o * blend.opening + e * blend.endgame) >> 13)
}

#[test]
fn opposite_bishops_halve_the_score() {
    // With two extra pawns, both versions halve the score.
    let text = "4k3/3b4/8/8/8/4P3/3BP3/4K3 w - - 0 1";
    let old = explain(OLD, text);
    let (opening, endgame, blend) = sums(&old);
    assert!(endgame.abs() > 3399);
    assert_eq!(old.value, blend(opening / 2, endgame / 2) + 3);
    let (opening, endgame, blend) = sums(&explain(NEW, text));
    let full = blend(opening, endgame);
    assert_eq!(step(NEW, "opposite_bishops", text), full / 2 - full);
    // With bishops on squares of the same colour, or with knights, neither version halves the
    // score.
    for text in ["4k3/4b3/8/8/8/4P3/3BP3/4K3 w - - 0 1", "4k3/3b4/8/8/8/4P3/3BPN2/4K1n1 w - - 0 1"]
    {
        assert_eq!(step(OLD, "opposite_bishops", text), 0, "{text}");
        assert_eq!(step(NEW, "opposite_bishops", text), 0, "{text}");
    }
    // With three extra pawns, neither version halves the score; with six, the newer version does.
    let three = "4k3/3b4/8/8/8/8/PP1BP3/4K3 w - - 0 1";
    let six = "4k3/3b4/8/8/8/P7/PPPBP2P/4K3 w - - 0 1";
    assert_eq!(step(OLD, "opposite_bishops", three), 0);
    assert_eq!(step(NEW, "opposite_bishops", three), 0);
    assert_eq!(step(OLD, "opposite_bishops", six), 0);
    assert_ne!(step(NEW, "opposite_bishops", six), 0);
}

#[test]
fn a_lead_with_pawns_on_few_files_counts_less() {
    // 156 · 222 ÷ 240 = 144; (144 · 100) ÷ 256 = 56.
    assert_eq!(step(NEW, "drawishness", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1"), -56);
    assert_eq!(step(NEW, "drawishness", "r3k3/8/8/8/8/8/8/4K3 w - - 0 1"), 56);
    // Five files: 156 · 31 ÷ 240 = 20; (20 · 100) ÷ 256 = 7. Six files: no reduction.
    assert_eq!(step(NEW, "drawishness", "4k3/8/8/8/8/8/PPPPP3/R3K3 w - - 0 1"), -7);
    assert_eq!(step(NEW, "drawishness", "4k3/8/8/8/8/8/PPPPPP2/R3K3 w - - 0 1"), 0);
}

#[test]
fn material_that_cannot_win_counts_less() {
    for (text, sixteenths) in [
        ("4k3/8/8/8/8/8/8/2B1K3 w - - 0 1", 0),
        ("4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1", 0),
        ("4k3/4p3/8/8/8/8/8/1NN1K3 w - - 0 1", 1),
        ("4k1n1/8/8/8/8/8/8/2BBK3 w - - 0 1", 8),
        ("2b1k3/8/8/8/8/8/8/R3K3 w - - 0 1", 2),
        ("r3k3/8/8/8/8/8/8/R1B1K3 w - - 0 1", 2),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 16),
        ("4k1n1/8/8/8/8/8/4P3/2B1K3 w - - 0 1", 4),
        ("r3k3/8/8/8/8/8/4P3/R3K3 w - - 0 1", 16),
        ("r3k3/8/8/8/8/8/4P3/R1B1K3 w - - 0 1", 16),
        ("r3k1n1/8/8/8/8/8/4P3/R1B1K3 w - - 0 1", 8),
    ] {
        let position = fen::parse(text).unwrap();
        let counts = super::material::Counts::of(&position);
        assert_eq!(counts.winning_chances(Color::White), sixteenths, "{text}");
    }
    for variant in [OLD, NEW] {
        let report = explain(variant, "4k3/8/8/8/8/8/8/2B1K3 w - - 0 1");
        let net = |name| {
            let mut terms = report.terms.iter();
            terms.find(|term| term.feature.name == name).map(|term| term.net().endgame())
        };
        assert_eq!(net("material"), Some(3 * 3399));
        assert_eq!(net("imbalance"), Some(-3 * 3399));
    }
}

#[test]
fn pawn_races_are_counted() {
    for (text, expected) in [
        // The king is outside the square of the pawn: 150 + 50 · 4.
        ("8/8/8/P7/8/7k/8/K7 w - - 0 1", 350),
        ("k7/8/7K/8/p7/8/8/8 b - - 0 1", -350),
        // The king is inside the square.
        ("8/8/4k3/P7/8/8/8/K7 b - - 0 1", 0),
        // Both pawns run: White promotes in 5 plies, Black in 8.
        ("8/8/8/P6p/8/8/8/K1k5 w - - 0 1", 350),
        // With 6 plies against 7, and with 5 against 6, the opponent promotes on the next ply, so
        // there is no bonus.
        ("8/8/8/P6p/8/8/8/K1k5 b - - 0 1", 0),
        ("8/8/8/P7/7p/8/8/K1k5 w - - 0 1", 0),
    ] {
        assert_eq!(step(NEW, "pawn_endings", text), expected, "{text}");
    }
    // All pawns are on the a-file and the enemy king controls a8, so the score is 0.
    assert_eq!(explain(NEW, "1k6/8/8/P7/8/8/P7/K7 w - - 0 1").value, 0);
    assert_ne!(explain(NEW, "1k6/8/8/P7/8/8/1P6/K7 w - - 0 1").value, 0);
}

#[test]
fn a_pawn_may_be_unstoppable_twice() {
    let twice = explain(OLD, "8/1K6/P7/8/8/7k/8/8 w - - 0 1");
    let term = twice.terms.iter().find(|term| term.feature.name == "unstoppable");
    assert_eq!(term.map(|term| term.net().endgame()), Some(2 * 25_600));
}

#[test]
fn features_of_the_newer_version_can_be_added() {
    let added = |name: &str, text: &str| {
        let position = fen::parse(text).unwrap();
        let report = Choice::from(OLD).trying(name).unwrap().explain(&position);
        assert_eq!(report.value, Choice::from(OLD).trying(name).unwrap().evaluate(&position));
        let feature = name.trim_start_matches("with_");
        let term = report.terms.iter().find(|term| term.feature.name == feature).copied();
        term.unwrap_or_else(|| panic!("{name} has no effect"))
    };
    // The bishop blocks White's pawn.
    let blocked = added("with_pawn_antimob", "4k3/8/8/8/8/4B3/4P3/4K3 w - - 0 1");
    assert_eq!(blocked.net(), Pair::new(-42, -339));
    assert_eq!(added("with_drawishness", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1").step, -56);
    let race = "8/8/8/8/7k/8/P7/K7 w - - 0 1";
    assert_eq!(added("with_pawn_endings", race).step, step(NEW, "pawn_endings", race));
    assert!(Choice::from(NEW).trying("with_drawishness").is_err(), "it has that");
}

#[test]
fn pawns_can_be_valued_as_in_the_other_version() {
    let imbalance = |variant: Variant, experiment: &str| {
        // White has a knight for three pawns, and all other pieces are on the board: the phase is
        // 23.
        let text = "r1bqkbnr/pppppppp/8/8/8/8/3PPPPP/RNBQKBNR w KQkq - 0 1";
        let report = Choice::from(variant).trying(experiment).unwrap();
        let report = report.explain(&fen::parse(text).unwrap());
        let term = report.terms.iter().find(|term| term.feature.name == "imbalance");
        term.map(|term| term.net().opening()).unwrap()
    };
    // Three pawns count 705 each instead of about 966 each, or the reverse.
    let change = imbalance(OLD, "other_pawn_values") - imbalance(OLD, "");
    assert!((-800..-750).contains(&change), "{change}");
    let back = imbalance(NEW, "other_pawn_values") - imbalance(NEW, "");
    // Both changes are rounded, so their sum may be 1.
    assert!((change + back).abs() <= 1, "{change} {back}");
}

#[test]
fn a_lazy_evaluation_estimates_outside_the_window_only() {
    let scores = |mut evaluator: Box<dyn Evaluator>, game: &Game, mv: Move| -> [Score; 4] {
        let (root, after) = (game.position(), game.position().play(mv));
        evaluator.reset(game);
        let full = evaluator.evaluate(root);
        evaluator.push(root, mv);
        let far = evaluator.evaluate_within(&after, 4_000, 5_000);
        let near = evaluator.evaluate_within(&after, -5_000, 5_000);
        evaluator.pop();
        [full, far, near, evaluator.evaluate_within(root, -5_000, 5_000)]
    };

    // Black can capture a queen.
    let position = fen::parse("3qk3/5ppp/8/8/3Q4/8/5PPP/4K3 b - - 0 1").unwrap();
    let game = Game::new(position);
    let mv = *position.legal_moves().iter().find(|mv| mv.is_capture()).unwrap();
    for variant in [OLD, NEW] {
        let usual = Choice::from(variant);
        let (root, after) = (usual.evaluate(&position), usual.evaluate(&position.play(mv)));
        assert_eq!(scores(usual.evaluator(), &game, mv), [root, after, after, root], "{variant:?}");
        let lazy = usual.trying("lazy").unwrap();
        let [whole, far, near, back] = scores(lazy.evaluator(), &game, mv);
        assert_eq!([whole, back], [root, root], "{variant:?}");
        assert!(far < -900 && far != after, "{variant:?} {far} {after}");
        // For any window, the older version uses the material alone, because a queen is worth more
        // than three pawns.
        assert_eq!(near, if variant == OLD { far } else { after }, "{variant:?}");
    }
}
