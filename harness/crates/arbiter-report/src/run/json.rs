//! Report of a run as one JSON object. Keys are stable, and a key contains the unit of its value.
//! Undefined values are `null`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::figures::{NaiveElo, StrengthFigures, Summary, Verdict};
use crate::parts::{ends, to_value};
use crate::topics::{ablation, latency, lint, tournament, tuning};
use arbiter_game::outcome::Termination;
use arbiter_plan::{Provenance, RunKind, Scale};
use arbiter_run::{ExcludedWorker, Remark, RunEnd};
use arbiter_stats::Sprt;

/// Conditions and results of a run. Printed at the end of `sprt`, `match`, `tournament`, `ablate`
/// and `tune`, and by `arbiter report`, `arbiter results show` and `arbiter results log`. Elo is
/// from the point of view of the first engine; intervals have 95 % confidence.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.report/3")]
pub(crate) struct RunReport<'a> {
    /// Name of the run.
    run: &'a str,
    /// Purpose of the run, in one line, if given by the user.
    about: Option<&'a str>,
    /// Start time in UTC; only in `arbiter results log`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<String>,
    /// Search limits of each engine, as text; only in `arbiter results log`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<Vec<String>>,
    /// Kind of the run.
    kind: RunKind,
    /// Seed of all random choices.
    seed: u64,
    /// Number of lines or games of the opening book from which no game can start.
    openings_excluded: u64,
    /// First excluded openings, each with the reason.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    opening_faults: &'a [String],
    /// Number of openings from which impossible data (such as castling rights) was removed.
    openings_corrected: u64,
    /// First corrected openings, each with the removed data.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    opening_corrections: &'a [String],
    /// Number of times that a pair was played again because of CPU contention.
    pairs_voided: u64,
    /// Excluded workers, whose pairs do not count.
    #[serde(skip_serializing_if = "<[ExcludedWorker]>::is_empty")]
    workers_excluded: &'a [ExcludedWorker],
    /// Remarks about workers and results that did not change the run.
    #[serde(skip_serializing_if = "<[Remark]>::is_empty")]
    remarks: &'a [Remark],
    /// Number of counted pairs that CPU contention may have decided.
    pairs_disturbed: u64,
    /// Names of the engines.
    engines: &'a [String],
    /// Commit that each engine was built from; `null` for an engine that was not built. Absent if
    /// no engine was built.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    builds: Vec<Option<Build<'a>>>,
    #[serde(flatten)]
    scale: Option<TimeScale>,
    /// Ending: `verdict` (of the SPRT), `complete` or `interrupted`; `null` before the end.
    ending: Option<&'static str>,
    #[serde(flatten)]
    results: RunResults<'a>,
    /// Latencies of the engines' answers; empty if the games have no time limit.
    latencies: Vec<latency::LatencyFigures<'a>>,
    /// Results of each pair of engines.
    encounters: Vec<Meeting<'a>>,
    /// Unit from which the statistics are computed: `pair`, or `game` if each opening is played
    /// once.
    evidence_unit: &'static str,
    /// Rounds and standings of a tournament.
    #[serde(skip_serializing_if = "Option::is_none")]
    tournament: Option<tournament::Tournament<'a>>,
    /// Figures of a tuning run.
    #[serde(skip_serializing_if = "Option::is_none")]
    tuning: Option<tuning::TuningFigures<'a>>,
    /// Features of an ablation with Elo, in descending order of Elo.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    features: Vec<ablation::FeatureFigures<'a>>,
}

/// Results of a run.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct RunResults<'a> {
    /// Verdict of the run.
    pub(super) verdict: Verdict,
    /// `true` if the share of games that ended by an engine fault exceeds --fault-limit, so the
    /// result is not valid.
    invalid: bool,
    /// Number of games that differ from all earlier games with the same engines and colours.
    distinct_games: u64,
    /// Number of pairs that repeat an earlier pair. Figures include repeated pairs only in runs of
    /// `arbiter compat`.
    repeated_pairs: u64,
    #[serde(flatten)]
    pub(super) figures: StrengthFigures,
    #[serde(flatten)]
    sprt: Option<Sprt>,
    /// Logistic Elo of the SPRT, corrected for the stopping rule.
    pub(super) elo_sequential: Option<f64>,
    /// Lower end of the interval of `elo_sequential`.
    pub(super) elo_sequential_low: Option<f64>,
    /// Upper end of the interval of `elo_sequential`.
    pub(super) elo_sequential_high: Option<f64>,
    /// Likelihood of superiority, 0 to 1, corrected for the stopping rule.
    los_sequential: Option<f64>,
    /// Log-likelihood ratio of the SPRT.
    pub(super) llr: Option<f64>,
    /// Wald's lower bound of the log-likelihood ratio.
    pub(super) llr_lower: Option<f64>,
    /// Wald's upper bound of the log-likelihood ratio.
    pub(super) llr_upper: Option<f64>,
    /// Lower stopping bound, corrected for overshoot: H0 is accepted if `llr` is at or below the
    /// bound.
    llr_stop_lower: Option<f64>,
    /// Upper stopping bound, corrected for overshoot: H1 is accepted if `llr` is at or above the
    /// bound.
    llr_stop_upper: Option<f64>,
    /// Number of games by ending.
    terminations: BTreeMap<String, u64>,
    /// Number of games that ended by an engine fault, by engine and kind.
    #[serde(borrow)]
    faults: Vec<Faults<'a>>,
    /// Lint findings in the output of the engines, by engine and rule; absent if there are none.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub(super) lint: Vec<lint::LintFigures<'a>>,
}

/// Commit that an engine was built from.
#[derive(Debug, Serialize, JsonSchema)]
struct Build<'a> {
    /// Path of the repository.
    repo: String,
    /// Revision as given by the user; `.` is the working tree.
    revision: &'a str,
    /// Full hash of the commit; for a working tree, of the checked-out commit.
    commit: &'a str,
    /// `true` if files differ from the commit.
    dirty: bool,
    /// Node count of the bench, if the bench was run.
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

/// Number of games that an engine lost by one kind of fault.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Faults<'a> {
    /// Name of the engine.
    engine: &'a str,
    /// Kind of the fault.
    reason: Termination,
    /// Number of games.
    count: u64,
}

/// Results of two engines, from the point of view of the first.
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

/// Formats the report of a run as indented JSON.
pub fn run_json_text(summary: &Summary) -> String {
    let text = serde_json::to_string_pretty(&report(summary));
    format!("{}\n", text.expect("a report is numbers and text"))
}

/// Returns the report of a run as a JSON value.
pub fn run_json(summary: &Summary) -> Value {
    to_value(&report(summary))
}

/// Returns the report of a run, before its conversion to JSON.
pub(crate) fn report(summary: &Summary) -> RunReport<'_> {
    let (plan, counts) = (&summary.plan, &summary.counts);
    let builds = plan.engines.iter().map(|engine| engine.provenance.as_ref().map(build));
    let is_built = plan.engines.iter().any(|engine| engine.provenance.is_some());
    let meeting = |engines: &[usize; 2]| {
        let [first, second] = engines.map(|engine| summary.engines[engine].as_str());
        let strength = summary.strength_of(*engines);
        let figures = StrengthFigures::of(&strength);
        Meeting { first, second, figures, naive: NaiveElo::of(&strength) }
    };
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
        ending: summary.ending.map(|ending| match ending {
            RunEnd::AcceptedH1 | RunEnd::AcceptedH0 => "verdict",
            RunEnd::Complete => "complete",
            RunEnd::Interrupted => "interrupted",
        }),
        results: results(summary),
        latencies: latency::figures(summary).collect(),
        encounters: counts.encounters.keys().map(meeting).collect(),
        evidence_unit: if plan.design.is_single { "game" } else { "pair" },
        tournament: tournament::tournament(summary),
        tuning: tuning::figures(summary),
        features: ablation::figures(summary),
    }
}

fn results(summary: &Summary) -> RunResults<'_> {
    let sprt = summary.plan.sprt;
    let counts = &summary.counts;
    let (bounds, strength) = (sprt.map(|sprt| sprt.bounds), summary.strength());
    let status = summary.test().map(|(_, status)| status);
    let [elo_sequential, elo_sequential_low, elo_sequential_high] =
        ends(strength.naive.and(strength.elo));
    let terminations = counts.terminations.iter();
    let faults = counts.faults.iter().map(|(&(engine, reason), &count)| {
        let engine = &summary.engines[engine];
        Faults { engine, reason, count }
    });
    RunResults {
        verdict: summary.verdict(),
        invalid: summary.is_invalid(),
        distinct_games: counts.distinct_games,
        repeated_pairs: counts.repeated_pairs,
        figures: StrengthFigures::of(&strength),
        sprt,
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
        faults: faults.collect(),
        lint: lint::figures(summary).collect(),
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
