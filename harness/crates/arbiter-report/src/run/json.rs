//! Summary as one JSON object. Its keys are a contract: they carry their unit, and undefined
//! figures are `null`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::figures::{NaiveElo, StrengthFigures, Summary, Verdict};
use crate::parts::{ends, to_value};
use crate::topics::{ablation, latency, lint, tournament, tuning};
use arbiter_game::outcome::Termination;
use arbiter_plan::{ExcludedWorker, Provenance, Remark, RunEnd, RunKind, Scale};
use arbiter_stats::Sprt;

/// Conditions and results of a run. Printed by `sprt`, `match`, `tournament`, `ablate` and `tune`
/// at their end, by `arbiter report` and by `arbiter results show` and `log`. Elo is that of the
/// first engine against the second; intervals cover 95 %.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.report/3")]
pub(crate) struct RunReport<'a> {
    /// Name of the run.
    run: &'a str,
    /// Purpose of the run, in one line, if its user gave one.
    about: Option<&'a str>,
    /// Start time, in UTC; in the log of tests only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<&'a str>,
    /// Limits of the engines, in words, one for each; in the log of tests only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<Vec<String>>,
    /// Kind of the run.
    kind: RunKind,
    /// Number from which every random choice derives.
    seed: u64,
    /// Lines or games of the opening book from which no game can start.
    openings_excluded: u64,
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
    workers_excluded: &'a [ExcludedWorker],
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
    scale: Option<TimeScale>,
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
    figures: StrengthFigures,
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
    lint: Vec<lint::LintFigures<'a>>,
    /// Latencies of the engines' answers; empty if no clock bounds them.
    latencies: Vec<latency::LatencyFigures<'a>>,
    /// Encounters of each two engines.
    encounters: Vec<Meeting<'a>>,
    /// Unit of evidence: `pair`, or `game` if openings are not played twice.
    evidence_unit: &'static str,
    /// Rounds and standings of a tournament.
    #[serde(skip_serializing_if = "Option::is_none")]
    tournament: Option<tournament::Tournament<'a>>,
    /// Figures of a tuning.
    #[serde(skip_serializing_if = "Option::is_none")]
    tuning: Option<tuning::TuningFigures<'a>>,
    /// Features of an ablation with their Elo, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    features: Vec<ablation::FeatureFigures<'a>>,
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
struct TimeScale {
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
    figures: StrengthFigures,
    #[serde(flatten)]
    naive: Option<NaiveElo>,
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
        started: None,
        limits: None,
        kind: plan.kind,
        seed: plan.seed,
        openings_excluded: summary.quarantine.count,
        opening_faults: &summary.quarantine.faults,
        openings_corrected: summary.corrected.count,
        opening_corrections: &summary.corrected.faults,
        pairs_voided: summary.disturbances.voided,
        workers_excluded: &summary.excluded,
        remarks: &summary.remarks,
        pairs_disturbed: summary.disturbances.counted,
        engines: &summary.engines,
        builds: builds.filter(|_| is_built).collect(),
        scale: plan.scale.map(|scale| TimeScale { time_scale: scale.factor(), scale }),
        ending: summary.ending.map(ending_word),
        verdict: summary.verdict(),
        invalid: summary.is_invalid(),
        distinct_games: counts.distinct_games,
        repeated_pairs: counts.repeated_pairs,
        figures: StrengthFigures::of(&strength),
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
                Meeting {
                    first,
                    second,
                    figures: StrengthFigures::of(&strength),
                    naive: NaiveElo::of(&strength),
                }
            })
            .collect(),
        evidence_unit: if plan.design.is_single { "game" } else { "pair" },
        tournament: tournament::tournament(summary),
        tuning: tuning::figures(summary),
        features: ablation::figures(summary),
    }
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

fn ending_word(ending: RunEnd) -> &'static str {
    match ending {
        RunEnd::AcceptedH1 | RunEnd::AcceptedH0 => "verdict",
        RunEnd::Complete => "complete",
        RunEnd::Interrupted => "interrupted",
    }
}
