//! Summary as one JSON object. Its keys are a contract: they carry their unit, and undefined
//! figures are `null`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::ablation::{self, Feature};
use crate::latency::LatencyFigures;
use crate::lint::LintFigures;
use crate::standings_json::Tournament;
use crate::summary::{Strength, Summary, Verdict};
use crate::tuned::TuningFigures;
use crate::{latency, lint, standings_json, tuned};
use arbiter_game::outcome::Termination;
use arbiter_plan::{Ending, ExcludedWorker, Provenance, Remark, RunKind, Scale};
use arbiter_stats::elo::Estimate;
use arbiter_stats::{Sprt, Trinomial};

/// Conditions and results of a run. Printed by `sprt`, `match`, `tournament`, `ablate` and `tune`
/// at their end, by `arbiter report` and by `arbiter results show` and `log`. Elo is that of the
/// first engine against the second; intervals cover 95 %.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.report/2")]
pub(crate) struct RunReport<'a> {
    /// Name of the run.
    run: &'a str,
    /// Purpose of the run, in one line, if its user gave one.
    about: Option<&'a str>,
    /// Start time, in UTC; in the log of tests only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<&'a str>,
    /// Limits of the engines, in words, one for each; in the log of tests only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<Vec<String>>,
    /// Kind of the run.
    kind: RunKind,
    /// Number from which every random choice derives.
    seed: u64,
    /// Lines or games of the opening book from which no game can start.
    openings_left_out: u64,
    /// First of these, each with its fault.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    opening_faults: &'a [String],
    /// Openings played from which something impossible was left out.
    openings_corrected: u64,
    /// First of these, each with the part left out.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    opening_corrections: &'a [String],
    /// Number of times that a pair was void because the machine disturbed it, and was played again.
    pairs_voided: u64,
    /// Excluded workers, whose pairs do not count.
    #[serde(skip_serializing_if = "<[ExcludedWorker]>::is_empty")]
    workers_set_aside: &'a [ExcludedWorker],
    /// Remarks on acts of workers that changed nothing.
    #[serde(skip_serializing_if = "<[Remark]>::is_empty")]
    remarks: &'a [Remark],
    /// Pairs that count although the machine disturbed them.
    pairs_disturbed: u64,
    /// Names of the engines.
    engines: &'a [String],
    /// Origin of each engine; `null` for one that was not built from a commit. Absent if none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    builds: Vec<Option<Build<'a>>>,
    #[serde(flatten)]
    scale: Option<Scaled>,
    /// Ending: `verdict` (of the SPRT), `complete` or `interrupted`; `null` before the end.
    ending: Option<&'static str>,
    /// Verdict of the run.
    verdict: Verdict,
    /// `true` if more games than --fault-limit ended by faults of engines, so that the run proves
    /// nothing.
    invalid: bool,
    /// Games that differ from all earlier ones of the same engines and colours.
    distinct_games: u64,
    /// Pairs that repeat an earlier one. They are in no figure, except in runs of `arbiter compat`.
    repeated_pairs: u64,
    #[serde(flatten)]
    figures: Figures,
    #[serde(flatten)]
    sprt: Option<Sprt>,
    /// Logistic Elo, corrected for the bias of the stopping rule.
    elo_sequential: Option<f64>,
    /// Lower end of the interval of `elo_sequential`.
    elo_sequential_low: Option<f64>,
    /// Upper end of the interval of `elo_sequential`.
    elo_sequential_high: Option<f64>,
    /// Likelihood of superiority, 0 to 1, that allows for the stopping rule.
    los_sequential: Option<f64>,
    /// Log-likelihood ratio of the SPRT.
    llr: Option<f64>,
    /// Wald's lower bound of the log-likelihood ratio.
    llr_lower: Option<f64>,
    /// Wald's upper bound of the log-likelihood ratio.
    llr_upper: Option<f64>,
    /// Lower bound as corrected for overshoot: H0 is accepted at or below it.
    llr_stop_lower: Option<f64>,
    /// Upper bound as corrected for overshoot: H1 is accepted at or above it.
    llr_stop_upper: Option<f64>,
    /// Games by ending.
    terminations: BTreeMap<String, u64>,
    /// Games that ended by faults of engines.
    faults: Vec<Faults<'a>>,
    /// Findings of the lint in the engines' reports on their searches; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lint: Vec<LintFigures<'a>>,
    /// Latencies of the engines' answers; empty if no clock bounds them.
    latencies: Vec<LatencyFigures<'a>>,
    /// Encounters of each two engines.
    encounters: Vec<Meeting<'a>>,
    /// Unit of evidence: `pair`, or `game` if openings are not played twice.
    evidence_unit: &'static str,
    /// Rounds and standings of a tournament.
    #[serde(skip_serializing_if = "Option::is_none")]
    tournament: Option<Tournament<'a>>,
    /// Figures of a tuning.
    #[serde(skip_serializing_if = "Option::is_none")]
    tuning: Option<TuningFigures<'a>>,
    /// Features of an ablation with their Elo, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    features: Vec<FeatureFigures<'a>>,
}

/// Commit that an engine was built from.
#[derive(Debug, Serialize, JsonSchema)]
struct Build<'a> {
    /// Path of the repository.
    repo: String,
    /// Revision as typed; `.` is the working tree.
    revision: &'a str,
    /// Full name of the commit, or of the one below a working tree.
    commit: &'a str,
    /// `true` if files differ from that commit.
    dirty: bool,
    /// Nodes of the bench, if it was run.
    bench_nodes: Option<u64>,
}

/// Scale of times; absent without --scale.
#[derive(Debug, Serialize, JsonSchema)]
struct Scaled {
    /// Factor by which times were multiplied.
    time_scale: f64,
    #[serde(flatten)]
    scale: Scale,
}

/// Games that an engine lost by one kind of fault.
#[derive(Debug, Serialize, JsonSchema)]
struct Faults<'a> {
    /// Name of the engine.
    engine: &'a str,
    /// Kind of the fault.
    reason: Termination,
    /// Number of games.
    count: u64,
}

/// Encounter of two engines, from the point of view of the first.
#[derive(Debug, Serialize, JsonSchema)]
struct Meeting<'a> {
    /// Name of the first engine.
    first: &'a str,
    /// Name of the second engine.
    second: &'a str,
    #[serde(flatten)]
    figures: Figures,
    #[serde(flatten)]
    naive: Option<NaiveElo>,
}

/// Elo of a test by its counts alone: it leans to the side of the verdict.
#[derive(Debug, Serialize, JsonSchema)]
struct NaiveElo {
    /// Logistic Elo without allowance for the stop.
    elo_naive: Option<f64>,
    /// Lower end of the interval of `elo_naive`.
    elo_naive_low: Option<f64>,
    /// Upper end of the interval of `elo_naive`.
    elo_naive_high: Option<f64>,
}

/// Counts and the strength that follows from them, from the point of view of the first engine.
#[derive(Debug, Serialize, JsonSchema)]
struct Figures {
    #[serde(flatten)]
    games: GamesByResult,
    /// Pairs that count.
    pairs: u64,
    /// Pairs by points, from none to two: LL, LD, DD and WL, WD, WW.
    pentanomial: [u64; 5],
    #[serde(flatten)]
    strength: EloFigures,
}

/// Strength that follows from counts, with 95 % intervals.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EloFigures {
    /// Logistic Elo; for a test with games, corrected for its stop.
    elo: Option<f64>,
    /// Lower end of the interval of `elo`.
    elo_low: Option<f64>,
    /// Upper end of the interval of `elo`.
    elo_high: Option<f64>,
    /// Reason for a missing interval of Elo; absent if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_interval: Option<String>,
    /// Normalized Elo.
    nelo: Option<f64>,
    /// Lower end of the interval of `nelo`.
    nelo_low: Option<f64>,
    /// Upper end of the interval of `nelo`.
    nelo_high: Option<f64>,
    /// Likelihood of superiority, 0 to 1; for a test with games, it allows for its stop.
    los: Option<f64>,
}

impl EloFigures {
    /// Returns both kinds of Elo for JSON.
    pub fn of(strength: &Strength) -> EloFigures {
        let [elo, elo_low, elo_high] = ends(strength.elo);
        let [nelo, nelo_low, nelo_high] = ends(strength.nelo);
        let (no_interval, los) = (strength.no_interval(), strength.los);
        EloFigures { elo, elo_low, elo_high, no_interval, nelo, nelo_low, nelo_high, los }
    }
}

/// Games by result, from the point of view of one side.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GamesByResult {
    /// Number of games.
    games: u64,
    /// Games won.
    wins: u64,
    /// Games drawn.
    draws: u64,
    /// Games lost.
    losses: u64,
}

impl From<Trinomial> for GamesByResult {
    fn from(games: Trinomial) -> GamesByResult {
        let Trinomial { wins, draws, losses } = games;
        GamesByResult { games: games.games(), wins, draws, losses }
    }
}

/// Engine with a feature against the engine without it.
#[derive(Debug, Serialize, JsonSchema)]
struct FeatureFigures<'a> {
    /// Name of the feature.
    feature: &'a str,
    #[serde(flatten)]
    figures: Figures,
    /// Lower end of an interval of Elo that covers the truth together with those of all other
    /// features.
    elo_simultaneous_low: Option<f64>,
    /// Upper end of that interval.
    elo_simultaneous_high: Option<f64>,
    /// Log-likelihood ratio of the feature's SPRT, if there is one.
    llr: Option<f64>,
    /// Decision of that test: `H1`, `H0` or `open`.
    test: Option<&'static str>,
    /// Logistic Elo, corrected for the bias of the stopping rule.
    elo_sequential: Option<f64>,
    /// Lower end of the interval of `elo_sequential`.
    elo_sequential_low: Option<f64>,
    /// Upper end of the interval of `elo_sequential`.
    elo_sequential_high: Option<f64>,
    #[serde(flatten)]
    naive: Option<NaiveElo>,
}

/// Serializes a report as a JSON value.
pub fn to_value(report: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(report).expect("a report is numbers and text")
}

/// Returns the report of a run as text, on several lines.
pub fn run_json_text(summary: &Summary) -> String {
    let text = serde_json::to_string_pretty(&report(summary));
    format!("{}\n", text.expect("a report is numbers and text"))
}

/// Returns the report of a run as a JSON value, for others to build on.
pub fn run_json(summary: &Summary) -> Value {
    to_value(&report(summary))
}

/// Returns the report of a run as a value of its type.
pub(crate) fn report(summary: &Summary) -> RunReport<'_> {
    let name = |index: usize| summary.engines[index].as_str();
    let (plan, counts) = (&summary.plan, &summary.counts);
    let (bounds, strength) = (plan.sprt.map(|sprt| sprt.bounds), summary.strength());
    let status = summary.test().map(|(_, status)| status);
    let [elo_sequential, elo_sequential_low, elo_sequential_high] =
        ends(strength.naive.and(strength.elo));
    let builds = plan.engines.iter().map(|engine| engine.provenance.as_ref().map(build));
    let is_built = plan.engines.iter().any(|engine| engine.provenance.is_some());
    let terminations = counts.terminations.iter();
    RunReport {
        run: &summary.run,
        about: summary.about.as_deref(),
        begun: None,
        limits: None,
        kind: plan.kind,
        seed: plan.seed,
        openings_left_out: summary.quarantine.count,
        opening_faults: &summary.quarantine.faults,
        openings_corrected: summary.corrected.count,
        opening_corrections: &summary.corrected.faults,
        pairs_voided: summary.disturbances.voided,
        workers_set_aside: &summary.excluded,
        remarks: &summary.remarks,
        pairs_disturbed: summary.disturbances.counted,
        engines: &summary.engines,
        builds: builds.filter(|_| is_built).collect(),
        scale: plan.scale.map(|scale| Scaled { time_scale: scale.factor(), scale }),
        ending: summary.ending.map(ending_word),
        verdict: summary.verdict(),
        invalid: summary.is_invalid(),
        distinct_games: counts.distinct_games,
        repeated_pairs: counts.repeated_pairs,
        figures: figures(&strength),
        sprt: plan.sprt,
        elo_sequential,
        elo_sequential_low,
        elo_sequential_high,
        los_sequential: strength.naive.and(strength.los),
        llr: status.map(|status| status.llr),
        llr_lower: bounds.map(|bounds| bounds.lower),
        llr_upper: bounds.map(|bounds| bounds.upper),
        llr_stop_lower: status.map(|status| status.lower),
        llr_stop_upper: status.map(|status| status.upper),
        terminations: terminations.map(|(ending, count)| (ending.to_string(), *count)).collect(),
        faults: (counts.faults.iter())
            .map(|((engine, reason), &count)| Faults {
                engine: name(*engine),
                reason: *reason,
                count,
            })
            .collect(),
        lint: lint::figures(summary).collect(),
        latencies: latency::figures(summary).collect(),
        encounters: (counts.encounters.keys())
            .map(|engines| {
                let ([first, second], strength) =
                    (engines.map(name), summary.strength_of(*engines));
                Meeting { first, second, figures: figures(&strength), naive: naive(&strength) }
            })
            .collect(),
        evidence_unit: if plan.design.is_single { "game" } else { "pair" },
        tournament: standings_json::tournament(summary),
        tuning: tuned::figures(summary),
        features: ablation::features(summary).iter().map(feature).collect(),
    }
}

/// Returns the value and both ends of the interval of an estimate. Pairs that are all alike show no
/// spread, and an interval without width would be a lie.
pub fn ends(estimate: Option<Estimate>) -> [Option<f64>; 3] {
    let Some(Estimate { value, low, high }) = estimate else { return [None; 3] };
    // Adding zero turns -0 into 0; JSON has `null` for infinities.
    let end = |end| (low != high).then_some(end + 0.0);
    [Some(value + 0.0), end(low), end(high)]
}

fn build(from: &Provenance) -> Build<'_> {
    Build {
        repo: from.repo.display().to_string(),
        revision: &from.revision,
        commit: &from.commit,
        dirty: from.is_dirty,
        bench_nodes: from.bench,
    }
}

fn ending_word(ending: Ending) -> &'static str {
    match ending {
        Ending::AcceptedH1 | Ending::AcceptedH0 => "verdict",
        Ending::Complete => "complete",
        Ending::Interrupted => "interrupted",
    }
}

fn figures(strength: &Strength) -> Figures {
    Figures {
        games: strength.games.into(),
        pairs: strength.pairs.pairs(),
        pentanomial: strength.pairs.0,
        strength: EloFigures::of(strength),
    }
}

fn naive(strength: &Strength) -> Option<NaiveElo> {
    let [elo_naive, elo_naive_low, elo_naive_high] = ends(Some(strength.naive?));
    Some(NaiveElo { elo_naive, elo_naive_low, elo_naive_high })
}

fn feature<'a>(feature: &Feature<'a>) -> FeatureFigures<'a> {
    let test = feature.sprt_status;
    let [_, elo_simultaneous_low, elo_simultaneous_high] = ends(feature.simultaneous);
    let [elo_sequential, elo_sequential_low, elo_sequential_high] =
        ends(feature.strength.naive.and(feature.strength.elo));
    FeatureFigures {
        feature: feature.name,
        figures: figures(&feature.strength),
        elo_simultaneous_low,
        elo_simultaneous_high,
        llr: test.map(|status| status.llr),
        test: test.map(|status| ablation::word(status.decision)),
        elo_sequential,
        elo_sequential_low,
        elo_sequential_high,
        naive: naive(&feature.strength),
    }
}
