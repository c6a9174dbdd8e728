//! Table of evaluation terms, as text.

use std::fmt::Write;

use crate::chess::{Color, Game};
use crate::eval::Choice;
use crate::eval::pair::Pair;
use crate::eval::report::Report;

/// Evaluates the current position of a game, and returns a table of all nonzero terms, followed by
/// the score in centipawns.
pub(crate) fn table(eval: Choice, game: &Game) -> String {
    let report = eval.explain_game(game);
    let position = game.position();
    let variant = eval.variant;
    // Writing to a string cannot fail.
    let mut text = format!("Position: {position}\n");
    if variant.features().is_empty() {
        text.push_str("A network has no terms; Eval palimpsest has.\n");
    } else {
        add_terms(&mut text, &report, variant.unit());
    }
    let white = if position.turn() == Color::White { report.value } else { -report.value };
    let _infallible =
        write!(text, "\nEvaluation: {white} cp from White's side ({})", variant.name());
    text
}

fn add_terms(text: &mut String, report: &Report, unit: &str) {
    let _infallible = writeln!(
        text,
        "Sums in {unit}, final in centipawns, all from White's side; phase {} of 24\n",
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
    for term in report.terms.iter().filter(|term| term.is_nonzero()) {
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
