//! Figures as cutechess-cli prints them.

use std::fmt::Write as _;

use super::{DialectWriter, percent, plus_minus, points, shown, value_and_margin};
use arbiter_plan::RunCounts;
use arbiter_stats::{Decision, Sprt, SprtStatus};

pub(super) fn duel(writer: &DialectWriter, counts: &RunCounts) -> String {
    let strength = writer.strength(counts.main_encounter());
    let elo = plus_minus(strength.elo, 1);
    let los = shown(percent(strength.los), 1);
    let draws = shown(percent(strength.games.draw_ratio()), 1);
    format!("Elo difference: {elo}, LOS: {los} %, DrawRatio: {draws} %\n")
}

pub(super) fn table(writer: &DialectWriter, counts: &RunCounts) -> String {
    let width = writer.name_width();
    let mut text = format!(
        "{:<4} {:<width$} {:>7} {:>7} {:>7} {:>7} {:>7}\n",
        "Rank", "Name", "Elo", "+/-", "Games", "Score", "Draw"
    );
    for (rank, (engine, strength)) in (1..).zip(writer.ranking(counts)) {
        let games = strength.games;
        let (elo, error) = value_and_margin(strength.elo);
        let [elo, error] = [elo, error].map(|value| shown(value, 0));
        let score = shown(points(&games).1, 1);
        let draws = shown(percent(games.draw_ratio()), 1);
        let (name, count) = (&writer.engines[engine], games.games());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{rank:>4} {name:<width$} {elo:>7} {error:>7} {count:>7} {score:>6}% {draws:>6}%"
        );
    }
    text
}

pub(super) fn sprt((_, sprt_status): (Sprt, SprtStatus)) -> String {
    let SprtStatus { llr, lower, upper, decision } = sprt_status;
    let share = 100.0 * if llr >= 0.0 { llr / upper } else { llr / lower };
    let verdict = match decision {
        Decision::AcceptH1 => " - H1 was accepted",
        Decision::AcceptH0 => " - H0 was accepted",
        Decision::Continue => "",
    };
    format!("SPRT: llr {llr:.2} ({share:.1}%), lbound {lower:.2}, ubound {upper:.2}{verdict}\n")
}
