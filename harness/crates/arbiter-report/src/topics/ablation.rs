//! Results of an ablation: values, table and sentences. The Elo of a feature is the Elo of the
//! engine with the feature against the engine without the feature, so a positive Elo means that the
//! feature helps.

use schemars::JsonSchema;
use serde::Serialize;

use super::strength::strength_cells;
use crate::figures::{NaiveElo, Strength, StrengthFigures, Summary};
use crate::parts::{Chart, Figure, Intervals, Table, UNDEFINED, ends, ends_text, signed};
use arbiter_stats::elo::{self, Estimate};
use arbiter_stats::{Decision, Sprt, SprtStatus};

/// Maximum number of features that a sentence names.
const MAX_NAMED: usize = 12;

/// Result of a feature.
#[derive(Debug, Clone)]
pub(crate) struct Feature<'a> {
    /// Name of the feature.
    pub(crate) name: &'a str,
    /// Strength of the engine with the feature against the engine without the feature.
    pub(crate) strength: Strength,
    /// Elo with a simultaneous 95 % confidence interval: with 95 % probability, the intervals of
    /// all features contain the true values. `None` before the first pair, and if all pairs have
    /// the same result.
    pub(crate) simultaneous: Option<Estimate>,
    /// State of the SPRT of this feature, if the run has SPRTs.
    pub(crate) sprt_status: Option<SprtStatus>,
}

/// Formats the decision of an SPRT: `H1`, `H0` or `open`.
fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::AcceptH1 => "H1",
        Decision::AcceptH0 => "H0",
        Decision::Continue => "open",
    }
}

/// Returns the features in descending order of Elo; empty if the run is not an ablation.
pub(crate) fn features(summary: &Summary) -> Vec<Feature<'_>> {
    let Some(ablation) = &summary.plan.ablation else { return Vec::new() };
    let family = ablation.features.len();
    let result = |(engine, name)| {
        let moments = summary.counts.encounter([0, engine]).pairs.distribution().moments();
        Feature {
            name,
            strength: summary.strength_of([0, engine]),
            simultaneous: moments
                .map(|moments| elo::simultaneous(&moments, family))
                .filter(|estimate| estimate.low != estimate.high),
            sprt_status: summary.sprt_status([0, engine]),
        }
    };
    let names = ablation.features.iter().map(String::as_str);
    let mut features: Vec<Feature<'_>> = (1..).zip(names).map(result).collect();
    features.sort_by(|a, b| sort_key(b).total_cmp(&sort_key(a)));
    features
}

/// Returns the Elo of a feature as a sort key; features without games have the lowest key.
fn sort_key(feature: &Feature<'_>) -> f64 {
    feature.strength.elo.map_or(f64::NEG_INFINITY, |estimate| estimate.value.max(f64::MIN))
}

/// Returns a table with one row per feature.
pub(crate) fn table(summary: &Summary) -> Table {
    let heads = match summary.plan.sprt {
        Some(_) => ["bias-corrected Elo (95 %)", "test", "LLR"].as_slice(),
        None => ["Elo (95 %)", "Elo, simultaneous (95 %)"].as_slice(),
    };
    let counts = ["nElo (95 %)", "LOS", "games", "won", "drawn", "lost", "pairs LL…WW"];
    let mut table = Table::with_columns(["feature"], heads.iter().chain(&counts));
    for Feature { name, strength, simultaneous, sprt_status } in features(summary) {
        let elo = strength.elo_text();
        let mut cells = match sprt_status {
            Some(SprtStatus { llr, decision, .. }) => {
                vec![elo, word(decision).to_owned(), signed(llr, 2)]
            }
            None => {
                vec![elo, simultaneous.as_ref().map_or(UNDEFINED.to_owned(), ends_text)]
            }
        };
        cells.extend(strength_cells(&strength));
        table.push_with([&name], cells);
    }
    table
}

/// Returns the notes that explain the table of features.
pub(crate) fn notes(summary: &Summary) -> Vec<String> {
    let family = summary.plan.ablation.as_ref().map_or(0, |ablation| ablation.features.len());
    let meaning = "Elo of the engine with the feature against the engine without the feature: \
         positive values mean that the feature helps. The statistics are computed from pairs of \
         games: both games of a pair start from the same opening, with colours reversed.";
    let caution = match &summary.plan.sprt {
        Some(sprt) => format!(
            "{family} tests, each with the error rates alpha {} and beta {}: if no feature made a \
             difference, about {:.1} of these tests would accept H1 by chance.",
            sprt.alpha,
            sprt.beta,
            sprt.alpha * family as f64
        ),
        None => format!(
            "{family} intervals: about {:.1} of the single intervals miss the true value by \
             chance. With 95 % probability, all simultaneous intervals contain the true values \
             (Bonferroni).",
            0.05 * family as f64
        ),
    };
    vec![meaning.to_owned(), caution]
}

/// Returns a sentence that lists the features with a significant gain or loss or, if the run has
/// SPRTs, the features by verdict.
pub(crate) fn conclusion(summary: &Summary) -> String {
    let features = features(summary);
    let listed = |is_wanted: &dyn Fn(&Feature<'_>) -> bool| {
        let wanted = features.iter().filter(|feature| is_wanted(feature));
        listed(&wanted.map(|feature| feature.name).collect::<Vec<_>>())
    };
    let engine = &summary.engines[0];
    let count = features.len();
    let Some(sprt) = &summary.plan.sprt else {
        let [good, bad] = [true, false].map(|sign| listed(&|w| significant_gain(w) == Some(sign)));
        let open = features.iter().filter(|feature| significant_gain(feature).is_none()).count();
        return format!(
            "Of {count} features of {engine}, significant gain: {good}; significant loss: {bad}; \
             not significant: {open} (simultaneous intervals)."
        );
    };
    let decided = |decision| listed(&|w| w.sprt_status.is_some_and(|s| s.decision == decision));
    let Sprt { elo0, elo1, model, .. } = sprt;
    let [h1, h0, open] = [Decision::AcceptH1, Decision::AcceptH0, Decision::Continue].map(decided);
    format!(
        "Of {count} features of {engine}, the test of {elo1} {model} Elo against {elo0} accepts H1 \
         for {h1}, H0 for {h0}, and is undecided for {open}."
    )
}

/// Returns `true` if at least one feature has a decided SPRT or, in a run without SPRTs, a
/// significant gain or loss.
pub(crate) fn is_significant(summary: &Summary) -> bool {
    features(summary).iter().any(|feature| match feature.sprt_status {
        Some(sprt_status) => sprt_status.decision != Decision::Continue,
        None => significant_gain(feature).is_some(),
    })
}

/// Returns `Some(true)` if the simultaneous interval shows a gain from the feature, `Some(false)`
/// if the interval shows a loss, and otherwise `None`.
fn significant_gain(feature: &Feature<'_>) -> Option<bool> {
    let estimate = feature.simultaneous?;
    if estimate.low > 0.0 { Some(true) } else { (estimate.high < 0.0).then_some(false) }
}

fn listed(names: &[&str]) -> String {
    match names.len() {
        0 => "none".to_owned(),
        count @ 1..=MAX_NAMED => format!("{count} ({})", names.join(", ")),
        count => {
            let shown = names[..MAX_NAMED].join(", ");
            let more = count - MAX_NAMED;
            format!("{count} ({shown} and {more} more)")
        }
    }
}

/// Returns the chart of Elo by feature; `None` if the run is not an ablation or has no games.
pub(crate) fn figure(summary: &Summary) -> Option<Figure> {
    let mut table = Table::new(["feature", "Elo (95 %)"]);
    let mut rows = Vec::new();
    for feature in features(summary) {
        let Some(elo) = feature.strength.elo else { continue };
        table.push([&feature.name, &feature.strength.elo_text()]);
        rows.push((feature.name.to_owned(), elo.value, elo.low, elo.high));
    }
    let (first, _, _, _) = rows.first()?;
    let caption = "Elo of each feature, with 95 % intervals".to_owned();
    let description = format!("{first} gains the most Elo of {} features.", rows.len());
    let chart =
        Chart::Intervals(Intervals { x: "Elo", rows, level: Some(0.0), engines: Vec::new() });
    Some(Figure { caption, description, chart, table })
}

/// Results of the engine with a feature against the engine without the feature.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FeatureFigures<'a> {
    /// Name of the feature.
    feature: &'a str,
    #[serde(flatten)]
    figures: StrengthFigures,
    /// Lower end of the simultaneous confidence interval for Elo: the intervals of all features
    /// together contain all true values with 95 % probability.
    elo_simultaneous_low: Option<f64>,
    /// Upper end of the simultaneous confidence interval for Elo.
    elo_simultaneous_high: Option<f64>,
    /// Log-likelihood ratio of the SPRT of this feature, if the run has SPRTs.
    llr: Option<f64>,
    /// Verdict of the SPRT of this feature: `H1`, `H0` or `open`.
    test_verdict: Option<&'static str>,
    /// Logistic Elo of the SPRT, corrected for the stopping rule.
    elo_sequential: Option<f64>,
    /// Lower end of the interval of `elo_sequential`.
    elo_sequential_low: Option<f64>,
    /// Upper end of the interval of `elo_sequential`.
    elo_sequential_high: Option<f64>,
    #[serde(flatten)]
    naive: Option<NaiveElo>,
}

/// Returns the results of all features for JSON, in descending order of Elo.
pub(crate) fn figures(summary: &Summary) -> Vec<FeatureFigures<'_>> {
    let figures = |Feature { name, strength, simultaneous, sprt_status }| {
        let [_, elo_simultaneous_low, elo_simultaneous_high] = ends(simultaneous);
        let [elo_sequential, elo_sequential_low, elo_sequential_high] =
            ends(strength.naive.and(strength.elo));
        FeatureFigures {
            feature: name,
            figures: StrengthFigures::of(&strength),
            elo_simultaneous_low,
            elo_simultaneous_high,
            llr: sprt_status.map(|status| status.llr),
            test_verdict: sprt_status.map(|status| word(status.decision)),
            elo_sequential,
            elo_sequential_low,
            elo_sequential_high,
            naive: NaiveElo::of(&strength),
        }
    };
    features(summary).into_iter().map(figures).collect()
}
