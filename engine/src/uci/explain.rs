//! The terms of an evaluation as text and as JSON.

use std::fmt::Write;

use super::json;
use crate::chess::{Color, Position};
use crate::eval::Variant;
use crate::eval::feature::Feature;
use crate::eval::pair::Pair;
use crate::eval::report::{Report, Term};

/// The score, below a table of all terms that are not zero.
pub(super) fn table(report: &Report, position: &Position) -> String {
    let variant = report.variant;
    // Writing to a string cannot fail.
    let mut text = format!("Position: {position}\n");
    if variant.features().is_empty() {
        text.push_str("A network has no terms; Eval palimpsest has.\n");
    } else {
        add_terms(&mut text, report);
    }
    let white = if position.turn() == Color::White { report.value } else { -report.value };
    let _infallible =
        write!(text, "\nEvaluation: {white} cp from White's side ({})", variant.name());
    text
}

fn add_terms(text: &mut String, report: &Report) {
    let _infallible = writeln!(
        text,
        "Sums in {}, final in centipawns, all from White's side; phase {} of 24\n",
        report.variant.unit(),
        report.phase
    );
    let _infallible =
        writeln!(text, "{:<21}{:^18}{:^18}{:^18}{:>9}", "", "White", "Black", "difference", "");
    let _infallible = write!(text, "{:<21}", "term");
    for _ in 0..3 {
        let _infallible = write!(text, "{:>9}{:>9}", "opening", "endgame");
    }
    let _infallible = writeln!(text, "{:>9}", "final");
    let mut sides = [Pair::ZERO; 2];
    let mut centipawns = 0.0;
    for term in report.terms.iter().filter(|term| is_nonzero(term)) {
        row(text, term.feature.name, term.sides, report.centipawns(term));
        sides[0] += term.sides[0];
        sides[1] += term.sides[1];
        centipawns += report.centipawns(term);
    }
    row(text, "sum", sides, centipawns);
}

fn row(text: &mut String, name: &str, sides: [Pair; 2], centipawns: f64) {
    let _infallible = write!(text, "{name:<21}");
    for score in [sides[0], sides[1], sides[0] - sides[1]] {
        let _infallible = write!(text, "{:>9}{:>9}", score.opening(), score.endgame());
    }
    let _infallible = writeln!(text, "{centipawns:>9.1}");
}

/// Returns whether the term is not zero in this position.
fn is_nonzero(term: &Term) -> bool {
    term.sides != [Pair::ZERO; 2] || term.step != 0
}

/// One object on one line: `fen`, `variant`, `value` (centipawns for the side to move), `phase`,
/// `terms` (White minus Black, those that are not zero) and `steps` (what was done to the blended
/// score, in centipawns from White's side). With `full` also each side's terms and their final
/// values.
pub(super) fn object(report: &Report, position: &Position, full: bool) -> String {
    let pair = |score: Pair| json::list([score.opening(), score.endgame()]);
    let terms = |score: fn(&Term) -> Pair| {
        let scores = report.terms.iter().map(|term| (term.feature.name, score(term)));
        json::object(
            scores
                .filter(|(_, score)| *score != Pair::ZERO)
                .map(|(name, score)| (name, pair(score))),
        )
    };
    let steps = report.terms.iter().filter(|term| term.step != 0);
    let mut entries = vec![
        ("fen", json::text(&position.to_string())),
        ("variant", json::text(report.variant.name())),
        ("value", report.value.to_string()),
        ("phase", report.phase.to_string()),
        ("terms", terms(Term::net)),
        ("steps", json::object(steps.map(|term| (term.feature.name, term.step)))),
    ];
    if full {
        let nonzero = report.terms.iter().filter(|term| is_nonzero(term));
        let worth =
            nonzero.map(|term| (term.feature.name, format!("{:.2}", report.centipawns(term))));
        entries.push(("white", terms(|term| term.sides[0])));
        entries.push(("black", terms(|term| term.sides[1])));
        entries.push(("final_cp", json::object(worth)));
        entries.push(("unit", json::text(report.variant.unit())));
    }
    json::object(entries)
}

/// The features of a variant, one a line.
pub(super) fn features(features: &[Feature]) -> String {
    let lines: Vec<String> =
        features.iter().map(|feature| format!("{:<23}{}", feature.name, feature.about)).collect();
    lines.join("\n")
}

/// The features of a variant as one object.
pub(super) fn features_object(variant: Variant, features: &[Feature]) -> String {
    let features = features.iter().map(|feature| {
        json::object([("name", json::text(feature.name)), ("about", json::text(feature.about))])
    });
    json::object([("variant", json::text(variant.name())), ("features", json::list(features))])
}
