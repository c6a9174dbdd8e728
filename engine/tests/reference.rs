//! Tests of reimplemented evaluations of other programs against independently computed values:
//! single terms, and complete evaluations of 400 positions from games.

use std::collections::BTreeMap;

use palimpsest::chess::uci_move::{self, CastlingForm};
use palimpsest::chess::{Game, Position, fen};
use palimpsest::eval::feature::FeatureSet;
use palimpsest::eval::pair::Pair;
use palimpsest::eval::report::Report;
use palimpsest::eval::{Choice, Score, Variant};
use serde_json::Value;

const VECTORS: &str = include_str!("data/eval-vectors.json");
const POSITIONS: &str = include_str!("data/eval-positions.json");
const RDCHESS_TERMS: &str = include_str!("data/rdchess-terms.json");

/// Features that select the evaluator of a position, and therefore determine which other features
/// count.
const EVALUATORS: [&str; 4] = ["draw", "kbbk", "kbnk", "mating"];

fn rows(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("the data is JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("the data holds a text here")
}

fn number(value: &Value) -> i64 {
    value.as_i64().expect("the data holds a number here")
}

fn explain(variant: &str, fen: &str) -> Report {
    let variant = Variant::from_name(variant).expect("the data names evaluations there are");
    Choice::from(variant).explain(&fen::parse(fen).expect("the data holds legal positions"))
}

/// Returns the nonzero terms by name, White minus Black, each as a middlegame and an endgame value.
fn terms(report: &Report) -> BTreeMap<String, [i64; 2]> {
    let nets = report.terms.iter().map(|term| (term.feature.name, term.net()));
    nets.map(|(name, net)| (name.to_owned(), [net.opening().into(), net.endgame().into()]))
        .filter(|(_, net)| *net != [0, 0])
        .collect()
}

fn expected_terms(value: &Value) -> BTreeMap<String, [i64; 2]> {
    let entries = value.as_object().expect("terms are an object").iter();
    entries.map(|(name, net)| (name.clone(), [number(&net[0]), number(&net[1])])).collect()
}

#[test]
fn single_terms_match_the_originals() {
    let rows = rows(VECTORS);
    assert_eq!(rows.len(), 57);
    for row in rows {
        let report = explain(text(&row[0]), text(&row[1]));
        let found = terms(&report).get(text(&row[2])).copied().unwrap_or([0, 0]);
        assert_eq!(found, [number(&row[3]), number(&row[4])], "{row}");
    }
}

#[test]
fn rybka_1_0_beta_is_exact() {
    let rows = rows(POSITIONS);
    assert_eq!(rows.len(), 400);
    for row in rows {
        let expected = &row["rybka-1.0-beta"];
        let report = explain("rybka-1.0-beta", text(&row["fen"]));
        let mut found = terms(&report);
        assert_eq!(found, expected_terms(&expected["terms"]), "{row}");
        let imbalance = found.remove("imbalance").unwrap_or([0, 0]);
        assert_eq!(imbalance, [number(&expected["imbalance"]); 2], "{row}");
        let sum = |phase: usize| found.values().map(|net| net[phase]).sum::<i64>();
        assert_eq!(sum(0), number(&expected["op_noimb"]), "{row}");
        assert_eq!(sum(1), number(&expected["eg_noimb"]), "{row}");
        assert_eq!(i64::from(report.phase), number(&expected["phase"]), "{row}");
        assert_eq!(i64::from(report.value), number(&expected["value"]), "{row}");
    }
}

#[test]
fn rybka_2_3_2a_is_exact() {
    for row in rows(POSITIONS) {
        let expected = &row["rybka-2.3.2a"];
        let report = explain("rybka-2.3.2a", text(&row["fen"]));
        assert_eq!(terms(&report), expected_terms(&expected["terms"]), "{row}");
        assert_eq!(i64::from(report.phase), number(&expected["phase"]), "{row}");
        assert_eq!(i64::from(report.value), number(&expected["value"]), "{row}");
    }
}

#[test]
fn blunder_is_exact() {
    for row in rows(POSITIONS) {
        let report = explain("blunder", text(&row["fen"]));
        assert_eq!(i64::from(report.value), number(&row["blunder"]["value"]), "{row}");
    }
}

/// Returns the nonzero terms of an evaluation that is not tapered, by name.
fn single_terms(report: &Report) -> BTreeMap<String, i64> {
    terms(report).into_iter().map(|(name, [score, _])| (name, score)).collect()
}

#[test]
fn rdchess_is_exact() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows(POSITIONS) {
        let expected = &row["rdchess"];
        let report = explain("rdchess", text(&row["fen"]));
        assert_eq!(i64::from(report.value), number(&expected["value"]), "{row}");
        let found = single_terms(&report);
        let kind = text(&expected["kind"]);
        *kinds.entry(kind.to_owned()).or_default() += 1;
        if EVALUATORS.contains(&kind) {
            assert!(found.contains_key(kind), "{row}");
            continue;
        }
        let terms = expected["terms"].as_object().expect("terms are an object").iter();
        let terms: BTreeMap<String, i64> =
            terms.map(|(name, net)| (name.clone(), number(net))).collect();
        assert_eq!(found, terms, "{row}");
    }
    let kinds: Vec<(&str, usize)> = kinds.iter().map(|(kind, count)| (&kind[..], *count)).collect();
    assert_eq!(kinds, [("mating", 1), ("pawn_ending", 2), ("standard", 397)]);
}

#[test]
fn single_terms_of_rdchess_are_exact() {
    let rows = rows(RDCHESS_TERMS);
    assert_eq!(rows.len(), 10);
    for row in rows {
        let report = explain("rdchess", text(&row[0]));
        let found = single_terms(&report);
        match (text(&row[1]), &row[2]) {
            ("kind", kind) => assert!(found.contains_key(&text(kind).to_lowercase()), "{row}"),
            ("value", value) => assert_eq!(i64::from(report.value), number(value), "{row}"),
            (name, value) => {
                assert_eq!(found.get(name).copied().unwrap_or(0), number(value), "{row}");
            }
        }
    }
}

#[test]
fn rdchess_finds_the_castling_wing_in_the_game() {
    // White's king has walked to g1. Only the moves of the game show that White did not castle.
    let mut game = Game::new(fen::parse("4k3/pppp4/8/8/8/8/PPPPP3/4K2R w K - 0 1").unwrap());
    let advance = |game: &Game| {
        let variant = Variant::from_name("rdchess").expect("the evaluation exists");
        let report = Choice::from(variant).explain_game(game);
        let term = report.terms.iter().find(|term| term.feature.name == "pawn_advance").copied();
        term.expect("the term exists").sides[0].opening()
    };
    for mv in ["e1f1", "e8e7", "h1h3", "e7e8", "f1g1", "e8e7", "a2a4", "e7e8"] {
        game.play(uci_move::parse(mv, game.position(), CastlingForm::KingTo).unwrap());
    }
    let alone = Game::new(*game.position());
    // A pawn on the a-file late in the game is worth 3 for each of two ranks. If White has castled
    // on the other wing, the pawn is worth 2 more for each rank.
    assert_eq!((advance(&game), advance(&alone)), (6, 10));
}

fn positions() -> Vec<Position> {
    rows(POSITIONS)
        .iter()
        .map(|row| fen::parse(text(&row["fen"])).expect("the data holds legal positions"))
        .collect()
}

/// Evaluates all positions twice with one evaluator, each position as the root, so that the second
/// evaluation can use cached terms.
fn scores_of_all(choice: Choice, positions: &[Position]) -> Vec<Score> {
    let mut evaluator = choice.evaluator();
    let twice = positions.iter().chain(positions);
    let score = |position: &Position| {
        evaluator.reset(&Game::new(*position));
        evaluator.evaluate(position)
    };
    twice.map(score).collect()
}

#[test]
fn tables_and_records_do_not_change_the_value() {
    let positions = positions();
    for variant in Variant::ALL {
        for disabled in [FeatureSet::EMPTY, FeatureSet::EMPTY.with(0).with(5)] {
            let choice = Choice { disabled, ..variant.into() };
            let scores = scores_of_all(choice, &positions);
            for (position, score) in positions.iter().chain(&positions).zip(scores) {
                // `explain` does not use tables.
                assert_eq!(choice.explain(position).value, score, "{variant:?} {position}");
            }
        }
    }
}

#[test]
fn disabling_a_feature_changes_no_other_term() {
    let positions = positions();
    for variant in Variant::ALL {
        let features = variant.features();
        for feature in &features {
            let disabled = FeatureSet::parse(feature.name, &features).unwrap();
            assert!(disabled.contains(feature.index), "{variant:?} {feature:?}");
            let without = Choice { disabled, ..variant.into() };
            for position in positions.iter().step_by(7) {
                let complete = Choice::from(variant).explain(position);
                let reduced = without.explain(position);
                for (term, remaining) in complete.terms.iter().zip(&reduced.terms) {
                    let entangled = ["imbalance", "drawish_material"].contains(&term.feature.name);
                    if term.feature == *feature {
                        assert_eq!(
                            (remaining.sides, remaining.step),
                            ([Pair::ZERO; 2], 0),
                            "{term:?}"
                        );
                    } else if !entangled && !EVALUATORS.contains(&feature.name) {
                        assert_eq!(term.sides, remaining.sides, "{feature:?} {position}");
                    }
                }
            }
        }
    }
}

/// Endings that occur so rarely in games that the positions from games do not cover these endings.
const ENDINGS: [&str; 7] = [
    "4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1",
    "4k3/8/8/8/8/8/8/1N2KB2 w - - 0 1",
    "4k3/3b4/8/8/8/4P3/3BP3/4K3 w - - 0 1",
    "8/8/8/P7/8/7k/8/K7 w - - 0 1",
    "2b1k3/8/8/8/8/8/8/R3K3 w - - 0 1",
    "4k3/8/8/8/8/8/8/2B1K3 w - - 0 1",
    "4k3/8/8/2B5/8/1b6/1P6/4K3 b - - 0 1",
];

/// Returns the score of a position and, if scores depend on the path, the scores after each legal
/// move.
fn scores_around(choice: Choice, position: &Position) -> Vec<Score> {
    let mut evaluator = choice.evaluator();
    evaluator.reset(&Game::new(*position));
    let mut scores = vec![evaluator.evaluate(position)];
    if evaluator.context().is_path() {
        for &mv in position.legal_moves().iter() {
            evaluator.push(position, mv);
            scores.push(evaluator.evaluate(&position.play(mv)));
            evaluator.pop();
        }
    }
    scores
}

#[test]
fn every_feature_matters_somewhere() {
    let mut positions = positions();
    positions.extend(ENDINGS.map(|text| fen::parse(text).expect("the endings are legal")));
    for variant in Variant::ALL {
        for feature in variant.features() {
            let without =
                Choice { disabled: FeatureSet::EMPTY.with(feature.index), ..variant.into() };
            let matters = positions.iter().any(|position| {
                scores_around(without, position) != scores_around(variant.into(), position)
            });
            assert!(matters, "{variant:?} {}", feature.name);
        }
    }
}

/// Returns the position with colours swapped and ranks mirrored.
fn flipped(position: &Position) -> Position {
    let swap = |c: char| {
        if c.is_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
    };
    let text = position.to_string();
    let fields: Vec<&str> = text.split(' ').collect();
    let rows: Vec<String> =
        fields[0].split('/').rev().map(|row| row.chars().map(swap).collect()).collect();
    let turn = if fields[1] == "w" { "b" } else { "w" };
    let castling: String = fields[2].chars().map(swap).collect();
    let text = format!("{} {turn} {castling} - 0 1", rows.join("/"));
    fen::parse(&text).expect("a legal position is legal when flipped")
}

#[test]
fn exchanging_colours_exchanges_the_terms() {
    for position in positions() {
        for variant in Variant::ALL {
            let original = Choice::from(variant).explain(&position);
            let swapped = Choice::from(variant).explain(&flipped(&position));
            for (a, b) in original.terms.iter().zip(&swapped.terms) {
                assert_eq!(a.sides, [b.sides[1], b.sides[0]], "{variant:?} {a:?} {position}");
            }
            // Rybka rounds scores down, regardless of the side that is ahead, so the two scores can
            // differ by 1.
            let rounds_down = matches!(variant, Variant::Rybka1_0Beta | Variant::Rybka2_3_2a);
            let difference = (original.value - swapped.value).abs();
            assert!(difference <= i32::from(rounds_down), "{variant:?} {position}");
        }
    }
}
