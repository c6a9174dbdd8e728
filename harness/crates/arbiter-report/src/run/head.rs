//! Head of a run's document: the main values, each with a small picture.

use crate::figures::{GameStatistics, Strength, Summary};
use crate::parts::{Block, Gauge, Picture, rough, signed};
use arbiter_names::quantity;
use arbiter_spsa::SpsaState;
use arbiter_stats::elo::Estimate;
use arbiter_stats::{Sprt, SprtStatus, Trinomial};

/// Returns the block with the main values of a run; `None` before the first game.
pub(super) fn head(summary: &Summary, statistics: Option<&GameStatistics>) -> Option<Block> {
    let strength = summary.strength();
    if strength.games.games() == 0 {
        return None;
    }
    let gauges = match &summary.spsa {
        Some(spsa) => vec![iterations(spsa), games(summary, "the first sides", statistics)],
        None if summary.engines.len() == 2 => {
            let elo = elo(summary, &strength);
            let llr = summary.test().map(|(sprt, sprt_status)| llr(&sprt, sprt_status));
            let games = games(summary, &summary.engines[0], statistics);
            elo.into_iter().chain(llr).chain([games]).chain(pairs(&strength)).collect()
        }
        None if summary.plan.ablation.is_some() => {
            vec![games(summary, &summary.engines[0], statistics)]
        }
        None => leader(summary).into_iter().chain([decisive(summary, statistics)]).collect(),
    };
    Some(Block::Head(gauges))
}

fn elo(summary: &Summary, strength: &Strength) -> Option<Gauge> {
    let name = "Elo (95 %)".to_owned();
    let allowance = if strength.naive.is_some() { "bias-corrected; " } else { "" };
    let note = match summary.test() {
        None => format!("LOS {}", strength.los_text()),
        Some((Sprt { model, elo0, elo1, .. }, _)) => {
            format!("{allowance}H0 {elo0}, H1 {elo1} {model} Elo")
        }
    };
    let picture = Picture::Interval { estimate: strength.elo?, hypotheses: summary.hypotheses() };
    Some(Gauge { name, value: strength.elo_text(), note, picture })
}

fn llr(sprt: &Sprt, SprtStatus { llr, lower, upper, .. }: SprtStatus) -> Gauge {
    let Sprt { elo0, elo1, model, .. } = sprt;
    let [at_h0, at_h1] = [lower, upper].map(|bound| signed(bound, 2));
    Gauge {
        name: "LLR".to_owned(),
        value: signed(llr, 2),
        note: format!("H0 ({elo0}) at {at_h0}, H1 ({elo1} {model} Elo) at {at_h1}"),
        picture: Picture::Progress { value: llr, bounds: [lower, upper] },
    }
}

/// Returns a gauge with the results of the engine `name` (numbers of won, drawn and lost games),
/// the repeated pairs, and the total time.
fn games(summary: &Summary, name: &str, statistics: Option<&GameStatistics>) -> Gauge {
    let Trinomial { wins, draws, losses } = summary.strength().games;
    let results = format!("{name}: {wins} won, {draws} drawn, {losses} lost");
    all_games(summary, statistics, &results, [losses, 0, draws, 0, wins])
}

/// Returns a gauge with the number of games, the text `results`, the repeated pairs and the total
/// time.
fn all_games(
    summary: &Summary,
    statistics: Option<&GameStatistics>,
    results: &str,
    shares: [u64; 5],
) -> Gauge {
    let played = statistics.map(|statistics| statistics.duration);
    let time = played.filter(|time| time.as_secs() > 0);
    let time = time.map_or(String::new(), |time| format!("; {} of play", rough(time)));
    Gauge {
        name: "Games".to_owned(),
        value: shares.iter().sum::<u64>().to_string(),
        note: format!("{results}; {}{time}", summary.repeats_text()),
        picture: Picture::Shares(shares),
    }
}

fn pairs(strength: &Strength) -> Option<Gauge> {
    let counts = strength.pairs.0;
    let [ll, ld, even, wd, ww] = counts;
    (strength.pairs.pairs() > 0).then(|| Gauge {
        name: "Pairs".to_owned(),
        value: strength.pairs.pairs().to_string(),
        note: format!("{ww} WW, {wd} WD, {even} DD or WL, {ld} LD, {ll} LL"),
        picture: Picture::Shares(counts),
    })
}

/// Returns a gauge with the rating of the engine in first place; `None` if no rating is available.
fn leader(summary: &Summary) -> Option<Gauge> {
    let (engine, rating) = summary.first()?;
    let rating = rating?;
    let [low, high] = rating.open_ends(rating.elo);
    let estimate = Estimate { value: rating.elo, low, high };
    let name = &summary.engines[engine];
    let count = summary.engines.len();
    Some(Gauge {
        name: format!("Elo of the leader{}", if rating.margin.is_some() { " (95 %)" } else { "" }),
        value: rating.to_string(),
        note: format!("{name}, relative to the mean of {count} engines"),
        picture: Picture::Interval { estimate, hypotheses: None },
    })
}

/// Returns a gauge with the numbers of decisive and drawn games.
fn decisive(summary: &Summary, statistics: Option<&GameStatistics>) -> Gauge {
    let drawn: u64 = summary.counts.encounters.values().map(|met| met.games.draws).sum();
    let decisive = summary.counts.games() - drawn;
    let results = format!("{decisive} decisive, {drawn} drawn");
    all_games(summary, statistics, &results, [0, 0, drawn, 0, decisive])
}

fn iterations(spsa: &SpsaState) -> Gauge {
    let done = spsa.finished();
    let all = spsa.tuning().iterations;
    Gauge {
        name: "Iterations".to_owned(),
        value: done.to_string(),
        note: format!("of {all}, {} each", quantity(2 * spsa.tuning().pairs, "game")),
        picture: Picture::Progress { value: done as f64, bounds: [0.0, all as f64] },
    }
}
