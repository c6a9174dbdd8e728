//! Results in the form of fastchess, including the form in which fastchess imitates cutechess-cli.

use std::fmt::Write as _;

use super::{Dialect, DialectWriter, cutechess, percent, points};
use crate::figures::Strength;
use arbiter_run::RunCounts;
use arbiter_stats::elo::{Estimate, normal_cdf};
use arbiter_stats::{Sprt, SprtStatus, Trinomial};

/// Elo and nElo, each with the half-width of its interval, and LOS, as text. If all results are
/// equal, the values are infinity or NaN, as printed by C.
struct Figures {
    elo: [String; 2],
    nelo: [String; 2],
    los: String,
}

impl Figures {
    fn of(strength: &Strength) -> Figures {
        let lead = points(&strength.games).1 - 50.0;
        // If all results are equal, fastchess divides by zero and prints infinity or NaN.
        let quotient = lead * f64::INFINITY;
        let both = |estimate: Option<Estimate>, instead: f64| {
            let value = estimate.map_or(instead, |estimate| estimate.value);
            (value, estimate.and_then(|estimate| estimate.half_width()))
        };
        let (elo, error) = both(strength.elo, f64::NAN);
        // fastchess prints the Elo of an even score as −0, and the logarithm of a negative number
        // as NaN without a sign. The text must be identical, because scripts read the text.
        let elo_text = format_like_c(if elo == 0.0 { -0.0 } else { elo }, 2);
        let without = if elo.is_finite() { "nan" } else { "-nan" };
        let error = error.map_or(without.to_owned(), |error| format_like_c(error, 2));
        let (nelo, nerror) = both(strength.nelo, quotient);
        let los = strength.los.unwrap_or_else(|| normal_cdf(quotient));
        Figures {
            elo: [elo_text, error],
            nelo: [format_like_c(nelo, 2), format_like_c(nerror.unwrap_or(f64::NAN), 2)],
            los: format_like_c(100.0 * los, 2),
        }
    }
}

/// Formats a number like C on most processors, where NaN is printed as `-nan`.
fn format_like_c(value: f64, decimals: usize) -> String {
    if value.is_nan() { "-nan".to_owned() } else { format!("{value:.decimals$}") }
}

pub(super) fn duel(writer: &DialectWriter, counts: &RunCounts) -> String {
    let encounter = counts.main_encounter();
    let strength = writer.strength(encounter);
    let (games, pairs) = (encounter.games, encounter.pairs);
    let mut text = format!("Results of {} ({}):\n", writer.players(0, 1), writer.conditions);
    let Figures { elo, nelo, los } = Figures::of(&strength);
    let (elo, nelo) = (elo.join(" +/- "), nelo.join(" +/- "));
    let (draws, ratio) = if writer.penta {
        // If no pair was lost, fastchess divides by zero and prints infinity or NaN.
        let [.., wd, ww] = pairs.0;
        let quotient = if wd + ww > 0 { f64::INFINITY } else { f64::NAN };
        let ratio = format_like_c(pairs.pairs_ratio().unwrap_or(quotient), 2);
        (pairs.level_ratio(), format!(", PairsRatio: {ratio}"))
    } else {
        (games.draw_ratio(), String::new())
    };
    let (points, share) = points(&games);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "Elo: {elo}, nElo: {nelo}");
    let draw_ratio = format_like_c(percent(draws), 2);
    let _ = writeln!(text, "LOS: {los} %, DrawRatio: {draw_ratio} %{ratio}");
    let Trinomial { wins, losses, draws } = games;
    let count = games.games();
    let share = format_like_c(share, 2);
    let _ = write!(text, "Games: {count}, Wins: {wins}, Losses: {losses}, Draws: {draws}, ");
    let _ = writeln!(text, "Points: {points:.1} ({share} %)");
    if writer.penta {
        // Number of pairs with a win and a loss, divided by the number of pairs with two draws.
        let mixed = encounter.table[0][2] + encounter.table[2][0];
        let ratio = mixed as f64 / encounter.table[1][1] as f64;
        let ratio = format_like_c(ratio, 2);
        let _ = writeln!(text, "Ptnml(0-2): {:?}, WL/DD Ratio: {ratio}", pairs.0);
    }
    text
}

pub(super) fn table(writer: &DialectWriter, counts: &RunCounts) -> String {
    let width = writer.engines.iter().map(|name| name.chars().count()).fold(25, usize::max);
    let heads = "        Elo        +/-       nElo        +/-      Games      Score       Draw";
    let mut text = format!("Rank {:<width$}{heads}", "Name");
    let last = |ptnml| match writer.dialect {
        Dialect::Fastchess => format!(" {ptnml:>20}\n"),
        Dialect::Cutechess => "\n".to_owned(),
    };
    text += &last("Ptnml(0-2)".to_owned());
    for (rank, (engine, strength)) in (1..).zip(writer.ranking(counts)) {
        let Figures { elo: [elo, error], nelo: [nelo, nerror], .. } = Figures::of(&strength);
        let Strength { games, pairs, .. } = strength;
        let score = format_like_c(points(&games).1, 1);
        let draws = if writer.penta { pairs.level_ratio() } else { games.draw_ratio() };
        let draws = format_like_c(percent(draws), 1);
        let ptnml = if writer.penta { format!("{:?}", pairs.0) } else { String::new() };
        let name = &writer.engines[engine];
        let count = games.games();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{rank:>4} {name:<width$} {elo:>10} {error:>10} {nelo:>10} {nerror:>10} {count:>10} \
             {score:>9}% {draws:>9}%{}",
            last(ptnml)
        );
    }
    text
}

pub(super) fn sprt((sprt, sprt_status): (Sprt, SprtStatus)) -> String {
    let SprtStatus { llr, lower, upper, .. } = sprt_status;
    let share = 100.0 * if llr >= 0.0 { llr / upper } else { -llr / lower };
    let (elo0, elo1) = (sprt.elo0, sprt.elo1);
    format!("LLR: {llr:.2} ({share:.1}%) ({lower:.2}, {upper:.2}) [{elo0:.2}, {elo1:.2}]\n")
}

/// Formats the Elo difference of two engines in the form of cutechess-cli.
pub(super) fn duel_like_cutechess(writer: &DialectWriter, counts: &RunCounts) -> String {
    let strength = writer.strength(counts.main_encounter());
    let Figures { elo, los, .. } = Figures::of(&strength);
    let draws = format_like_c(percent(strength.games.draw_ratio()), 2);
    format!("Elo difference: {}, LOS: {los} %, DrawRatio: {draws} %\n", elo.join(" +/- "))
}

/// Formats the state of the SPRT in the form of cutechess-cli.
pub(super) fn sprt_like_cutechess((_, sprt_status): (Sprt, SprtStatus)) -> String {
    let SprtStatus { llr, lower, upper, .. } = sprt_status;
    let share = 100.0 * if llr >= 0.0 { llr / upper } else { llr / lower };
    let verdict = cutechess::verdict(Some(sprt_status));
    format!("SPRT: llr {llr:.2} ({share:.1}%), lbound {lower:.2}, ubound {upper:.2}{verdict}\n")
}
