//! The block of figures as fastchess prints it.

use std::fmt::Write as _;

use super::{Dialect, DialectWriter, percent, plus_minus, points, shown, value_and_margin};
use crate::summary::Strength;
use arbiter_plan::RunCounts;
use arbiter_stats::{Sprt, SprtStatus};

pub(super) fn duel(writer: &DialectWriter, counts: &RunCounts) -> String {
    let encounter = counts.main_encounter();
    let strength = writer.strength(encounter);
    let (games, pairs) = (encounter.games, encounter.pairs);
    let mut text = format!("Results of {} ({}):\n", writer.players(0, 1), writer.conditions);
    let (elo, nelo) = (plus_minus(strength.elo, 2), plus_minus(strength.nelo, 2));
    let los = shown(percent(strength.los), 2);
    let (draws, ratio) = match writer.penta {
        true => {
            // Without a lost pair it is what a division by zero gives.
            let [.., wd, ww] = pairs.0;
            let endless = if wd + ww > 0 { f64::INFINITY } else { f64::NAN };
            let ratio = shown(pairs.pairs_ratio().unwrap_or(endless), 2);
            (pairs.level_ratio(), format!(", PairsRatio: {ratio}"))
        }
        false => (games.draw_ratio(), String::new()),
    };
    let (points, share) = points(&games);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "Elo: {elo}, nElo: {nelo}");
    let _ = writeln!(text, "LOS: {los} %, DrawRatio: {} %{ratio}", shown(percent(draws), 2));
    let _ = writeln!(
        text,
        "Games: {}, Wins: {}, Losses: {}, Draws: {}, Points: {points:.1} ({} %)",
        games.games(),
        games.wins,
        games.losses,
        games.draws,
        shown(share, 2)
    );
    if writer.penta {
        // Won and lost games of one pair, over pairs of two draws.
        let mixed = encounter.table[0][2] + encounter.table[2][0];
        let ratio = mixed as f64 / encounter.table[1][1] as f64;
        let ratio = shown(ratio, 2);
        let _ = writeln!(text, "Ptnml(0-2): {:?}, WL/DD Ratio: {ratio}", pairs.0);
    }
    text
}

pub(super) fn table(writer: &DialectWriter, counts: &RunCounts) -> String {
    let width = writer.name_width();
    let mut text = format!(
        "{:<4} {:<width$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "Rank", "Name", "Elo", "+/-", "nElo", "+/-", "Games", "Score", "Draw"
    );
    let last = |ptnml| match writer.dialect {
        Dialect::Fastchess => format!(" {ptnml:>20}\n"),
        Dialect::Cutechess => "\n".to_owned(),
    };
    text += &last("Ptnml(0-2)".to_owned());
    for (rank, (engine, strength)) in (1..).zip(writer.ranking(counts)) {
        let Strength { games, pairs, elo, nelo, .. } = strength;
        let (elo, error) = value_and_margin(elo);
        let (nelo, nerror) = value_and_margin(nelo);
        let [elo, error, nelo, nerror] = [elo, error, nelo, nerror].map(|value| shown(value, 2));
        let score = shown(points(&games).1, 1);
        let draws = if writer.penta { pairs.level_ratio() } else { games.draw_ratio() };
        let draws = shown(percent(draws), 1);
        let ptnml = if writer.penta { format!("{:?}", pairs.0) } else { String::new() };
        let (name, count) = (&writer.engines[engine], games.games());
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
