//! Results in the form of cutechess-cli, computed with cutechess-cli's formulas.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::{DialectWriter, percent, points};
use crate::figures::total;
use arbiter_run::{Encounter, RunCounts};
use arbiter_stats::elo::normal_cdf;
use arbiter_stats::{Decision, SprtStatus, Trinomial};

/// Half-width of the interval, in standard errors: cutechess-cli's approximation of the 97.5 %
/// quantile of the normal distribution, computed with S. Winitzki's approximation of the inverse
/// error function.
const DEVIATIONS: f64 = 1.957_161_931_656_024_5;

/// Formats the results and the Elo difference of two engines.
pub(super) fn duel(writer: &DialectWriter, counts: &RunCounts) -> String {
    let encounter = counts.main_encounter();
    let (elo, error) = elo(&encounter.games);
    let [wins, losses] = [encounter.games.wins, encounter.games.losses].map(|of| of as f64);
    let los = 100.0 * normal_cdf((wins - losses) / (wins + losses).sqrt());
    let draws = percent(encounter.games.draw_ratio());
    let sides = sides(&writer.engines[0], &encounter);
    let [elo, error, los, draws] = [elo, error, los, draws].map(|value| format_like_qt(value, 1));
    format!("{sides}Elo difference: {elo} +/- {error}, LOS: {los} %, DrawRatio: {draws} %\n")
}

/// Formats the scores of the first engine as White and as Black, and White's score over all games.
fn sides(name: &str, Encounter { table, singles, games, .. }: &Encounter) -> String {
    // The counts are ordered by the half points of the first engine.
    let side = |paired: [u64; 3], single: &[u64; 3]| {
        let [losses, draws, wins] = std::array::from_fn(|points| paired[points] + single[points]);
        Trinomial { losses, draws, wins }
    };
    let white = side(table.map(|row| row.iter().sum()), &singles[0]);
    let as_black = |points: usize| table.iter().map(|row| row[points]).sum();
    let black = side(std::array::from_fn(as_black), &singles[1]);
    let first = Trinomial {
        wins: white.wins + black.losses,
        losses: white.losses + black.wins,
        draws: games.draws,
    };
    let rows = [
        (format!("{name} playing White"), white),
        (format!("{name} playing Black"), black),
        ("White vs Black".to_owned(), first),
    ];
    let played = rows.into_iter().filter(|(_, games)| games.games() > 0);
    let lines = played.map(|(player, games)| {
        let Trinomial { wins, losses, draws } = games;
        let share = format_like_qt(points(&games).1 / 100.0, 3);
        let count = games.games();
        format!("...      {player}: {wins} - {losses} - {draws}  [{share}] {count}\n")
    });
    lines.collect()
}

/// Returns the Elo difference and the half-width of its 95 % interval, in logistic Elo, computed
/// from games.
fn elo(games: &Trinomial) -> (f64, f64) {
    let count = games.games() as f64;
    let [wins, losses, draws] = [games.wins, games.losses, games.draws].map(|of| of as f64 / count);
    let mean = wins + draws / 2.0;
    let variance =
        wins * (1.0 - mean).powi(2) + losses * mean.powi(2) + draws * (0.5 - mean).powi(2);
    let reach = DEVIATIONS * (variance / count).sqrt();
    let of = |share: f64| -400.0 * (1.0 / share - 1.0).log10();
    (of(mean) + 0.0, (of(mean + reach) - of(mean - reach)) / 2.0)
}

/// Formats the ranking: the seeds of a gauntlet, followed by all other engines by score, highest
/// first.
pub(super) fn table(writer: &DialectWriter, counts: &RunCounts) -> String {
    let of = |engine| (engine, total(counts, engine).games);
    // cutechess-cli lists engines with equal scores in reverse order.
    let mut ranking: Vec<(usize, Trinomial)> = (0..writer.engines.len()).rev().map(of).collect();
    let key = |(engine, games): &(usize, Trinomial)| match games.games() {
        _ if *engine < writer.seeds => -1.0,
        0 => 2.0,
        _ => 1.0 - points(games).1 / 100.0,
    };
    ranking.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(Ordering::Equal));
    let mut text =
        "Rank Name                          Elo     +/-   Games   Score    Draw \n".to_owned();
    let first = if writer.seeds > 0 { 0 } else { 1 };
    for (rank, (engine, games)) in (first..).zip(ranking) {
        let (elo, error) = elo(&games);
        let [elo, error] = [elo, error].map(|value| format_like_qt(value, 0));
        let score = format_like_qt(points(&games).1, 1);
        let draws = format_like_qt(percent(games.draw_ratio()), 1);
        let name = &writer.engines[engine];
        let count = games.games();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{rank:>4} {name:<25} {elo:>7} {error:>7} {count:>7} {score:>6}% {draws:>6}% "
        );
    }
    text + "\n"
}

/// Formats a number like Qt, which rounds halves away from zero. C and Rust round halves to even.
pub(super) fn format_like_qt(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    let unit = 10f64.powi(decimals as i32);
    // A value can be exactly halfway between two results only if the value is a multiple of
    // 2^-(`decimals` + 1).
    let is_halfway = (value * 2f64.powi(decimals as i32 + 1)).fract() == 0.0
        && (value * unit).fract().abs() == 0.5;
    let value = if is_halfway { value + (0.5 / unit).copysign(value) } else { value };
    format!("{value:.decimals$}")
}

/// Formats the state of the SPRT; a run without an SPRT has LLR 0 and infinite bounds.
pub(super) fn sprt(sprt_status: Option<SprtStatus>) -> String {
    let (llr, lower, upper) = match sprt_status {
        Some(SprtStatus { llr, lower, upper, .. }) => (llr, lower, upper),
        None => (0.0, f64::NEG_INFINITY, f64::INFINITY),
    };
    let share = format_like_qt(100.0 * llr / upper, 1);
    let verdict = verdict(sprt_status);
    let [llr, lower, upper] = [llr, lower, upper].map(general);
    format!("SPRT: llr {llr} ({share}%), lbound {lower}, ubound {upper}{verdict}\n")
}

pub(super) fn verdict(sprt_status: Option<SprtStatus>) -> &'static str {
    match sprt_status.map(|sprt_status| sprt_status.decision) {
        Some(Decision::AcceptH1) => " - H1 was accepted",
        Some(Decision::AcceptH0) => " - H0 was accepted",
        Some(Decision::Continue) | None => "",
    }
}

/// Formats a number with three significant digits, as `%.3g` does in C.
fn general(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{}", value + 0.0);
    }
    let exponent = value.abs().log10().floor();
    if !(-4.0..3.0).contains(&exponent) {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.*}", (2.0 - exponent) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
