//! The summary as one JSON object. Its keys are a contract: they carry their unit, and figures
//! that are not defined are `null`.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::ablation::{self, Feature};
use crate::latency::{self, LatencyFigures};
use crate::standings_json::TournamentFigures;
use crate::summary::{Strength, Summary};
use crate::tuned::{self, TuningFigures};
use arbiter_game::outcome::Termination;
use arbiter_plan::plan::Kind;
use arbiter_plan::provenance::Scale;
use arbiter_plan::run::event::{Ending, ExcludedWorker};
use arbiter_stats::Sprt;
use arbiter_stats::elo::Estimate;

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    run: &'a str,
    /// What it tries, if its user said so.
    about: Option<&'a str>,
    kind: Kind,
    seed: u64,
    /// Lines or games of the opening book that were left out.
    openings_left_out: u64,
    /// The first of them, and what is wrong with each.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    opening_faults: &'a [String],
    /// Times that a pair was void, because the machine disturbed it, and played again.
    pairs_voided: u64,
    /// Machines that were excluded; none is not told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    workers_set_aside: Vec<ExcludedFigures<'a>>,
    /// Pairs that count although the machine disturbed them.
    pairs_disturbed: u64,
    engines: &'a [String],
    /// The commit that each engine was built from; `null` for other programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    builds: Vec<Option<BuildFigures<'a>>>,
    /// What times were multiplied by, and the speeds from which that follows.
    #[serde(flatten)]
    scale: Option<Members<3>>,
    ending: Option<&'static str>,
    verdict: &'static str,
    invalid: bool,
    #[serde(flatten)]
    strength: Figures,
    #[serde(flatten)]
    sprt: Option<Sprt>,
    /// Allowing for the stopping rule.
    #[serde(flatten)]
    elo_sequential: Members<3>,
    los_sequential: Option<f64>,
    #[serde(flatten)]
    llr: Members<5>,
    terminations: BTreeMap<String, u64>,
    faults: Vec<Fault<'a>>,
    /// How promptly engines answered; nothing if no clock bounds them.
    latencies: Vec<LatencyFigures<'a>>,
    encounters: Vec<EncounterFigures<'a>>,
    /// `pair`, or `game` if each opening is played once.
    evidence_unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tournament: Option<TournamentFigures<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tuning: Option<TuningFigures<'a>>,
    /// Of an ablation: its features by descending Elo.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    features: Vec<FeatureFigures<'a>>,
}

/// Figures with their keys; one that is not defined is `null`.
#[derive(Debug)]
pub(crate) struct Members<const N: usize>(pub(crate) [(&'static str, Option<f64>); N]);

impl<const N: usize> Serialize for Members<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0)
    }
}

impl Members<3> {
    /// An estimate: its value and both ends of its interval.
    fn of(keys: [&'static str; 3], estimate: Option<Estimate>) -> Members<3> {
        // Adding zero turns -0 into 0; JSON has `null` for infinities.
        let figures = estimate.map(|e| [e.value, e.low, e.high].map(|figure| figure + 0.0));
        Members(std::array::from_fn(|place| (keys[place], figures.map(|figures| figures[place]))))
    }
}

/// Without ends where they are equal: all pairs alike show no spread to judge by, and an interval
/// without width would be a lie.
fn spread(estimate: Estimate) -> Estimate {
    match estimate.low == estimate.high {
        true => Estimate { low: f64::NEG_INFINITY, high: f64::INFINITY, ..estimate },
        false => estimate,
    }
}

#[derive(Serialize)]
struct BuildFigures<'a> {
    repo: String,
    revision: &'a str,
    commit: &'a str,
    dirty: bool,
    bench_nodes: Option<u64>,
}

#[derive(Serialize)]
struct Figures {
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    pairs: u64,
    /// LL, LD, DD+WL, WD, WW.
    pentanomial: [u64; 5],
    #[serde(flatten)]
    elo: Members<3>,
    #[serde(flatten)]
    nelo: Members<3>,
    los: Option<f64>,
}

#[derive(Serialize)]
struct Fault<'a> {
    engine: &'a str,
    reason: Termination,
    count: u64,
}

#[derive(Serialize)]
struct EncounterFigures<'a> {
    first: &'a str,
    second: &'a str,
    #[serde(flatten)]
    strength: Figures,
}

/// The engine with the feature against the engine without it.
#[derive(Serialize)]
struct FeatureFigures<'a> {
    feature: &'a str,
    #[serde(flatten)]
    strength: Figures,
    /// Holds together with those of all other features.
    #[serde(flatten)]
    elo_simultaneous: Members<2>,
    llr: Option<f64>,
    /// `H1`, `H0` or `open`.
    test: Option<&'static str>,
    #[serde(flatten)]
    elo_sequential: Members<3>,
}

/// A machine that was excluded.
#[derive(Debug, Serialize)]
struct ExcludedFigures<'a> {
    worker: &'a str,
    reason: &'a str,
    /// Pairs of it that do not count and were played again.
    pairs_discarded: u64,
}

impl FeatureFigures<'_> {
    fn of(feature: Feature<'_>) -> FeatureFigures<'_> {
        let after = feature.after_stop.map(|after| after.elo);
        let together = feature.simultaneous.map(spread);
        FeatureFigures {
            feature: feature.name,
            strength: figures(&feature.strength),
            elo_simultaneous: Members([
                ("elo_simultaneous_low", together.map(|estimate| estimate.low)),
                ("elo_simultaneous_high", together.map(|estimate| estimate.high)),
            ]),
            llr: feature.sprt_status.map(|status| status.llr),
            test: feature.sprt_status.map(|status| ablation::word(status.decision)),
            elo_sequential: Members::of(SEQUENTIAL, after),
        }
    }
}

/// Keys of the Elo that allows for the stopping rule.
const SEQUENTIAL: [&str; 3] = ["elo_sequential", "elo_sequential_low", "elo_sequential_high"];

/// What is serialized, as a JSON value.
pub fn to_value(report: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(report).expect("a report is numbers and text")
}

/// The object, on several lines.
pub fn render(summary: &Summary) -> String {
    let text = serde_json::to_string_pretty(&report(summary));
    format!("{}\n", text.expect("a report is numbers and text"))
}

/// The object, for others to build on.
pub fn value(summary: &Summary) -> Value {
    to_value(&report(summary))
}

fn ending_word(ending: Ending) -> &'static str {
    match ending {
        Ending::AcceptedH1 | Ending::AcceptedH0 => "verdict",
        Ending::Complete => "complete",
        Ending::Interrupted => "interrupted",
    }
}

fn report(summary: &Summary) -> Report<'_> {
    let name = |index: usize| summary.engines[index].as_str();
    let bounds = summary.sprt.map(|sprt| sprt.bounds);
    let counts = &summary.counts;
    let sequential = summary.after_stop();
    let test = summary.test();
    Report {
        schema: "arbiter.report/1",
        run: &summary.run,
        about: summary.about.as_deref(),
        kind: summary.kind,
        seed: summary.seed,
        openings_left_out: summary.quarantine.count,
        opening_faults: &summary.quarantine.faults,
        pairs_voided: summary.disturbances.voided,
        workers_set_aside: summary
            .excluded
            .iter()
            .map(|ExcludedWorker { worker, reason, pairs }| ExcludedFigures {
                worker,
                reason,
                pairs_discarded: *pairs,
            })
            .collect(),
        pairs_disturbed: summary.disturbances.counted,
        engines: &summary.engines,
        builds: builds(summary),
        scale: summary.scale.map(scale),
        ending: summary.ending.map(ending_word),
        verdict: summary.verdict().as_str(),
        invalid: summary.is_invalid(),
        strength: figures(&summary.strength()),
        sprt: summary.sprt,
        elo_sequential: Members::of(SEQUENTIAL, sequential.map(|s| s.elo)),
        los_sequential: sequential.map(|s| s.los),
        llr: Members([
            ("llr", test.map(|(_, status)| status.llr)),
            ("llr_lower", bounds.map(|bounds| bounds.lower)),
            ("llr_upper", bounds.map(|bounds| bounds.upper)),
            // The bounds as corrected at the end.
            ("llr_stop_lower", test.map(|(_, status)| status.lower)),
            ("llr_stop_upper", test.map(|(_, status)| status.upper)),
        ]),
        terminations: counts.terminations.iter().map(|(t, n)| (t.to_string(), *n)).collect(),
        faults: counts
            .faults
            .iter()
            .map(|((engine, reason), count)| Fault {
                engine: name(*engine),
                reason: *reason,
                count: *count,
            })
            .collect(),
        latencies: latency::json(summary),
        encounters: counts
            .encounters
            .iter()
            .map(|(&[first, second], encounter)| EncounterFigures {
                first: name(first),
                second: name(second),
                strength: figures(&Strength::of(*encounter)),
            })
            .collect(),
        evidence_unit: if summary.is_single { "game" } else { "pair" },
        tournament: summary.standings.as_ref().map(|s| TournamentFigures::of(s, &summary.engines)),
        tuning: tuned::json(summary),
        features: ablation::features(summary).into_iter().map(FeatureFigures::of).collect(),
    }
}

fn figures(strength: &Strength) -> Figures {
    Figures {
        games: strength.games.games(),
        wins: strength.games.wins,
        draws: strength.games.draws,
        losses: strength.games.losses,
        pairs: strength.pairs.pairs(),
        pentanomial: strength.pairs.0,
        elo: Members::of(["elo", "elo_low", "elo_high"], strength.elo.map(spread)),
        nelo: Members::of(["nelo", "nelo_low", "nelo_high"], strength.nelo.map(spread)),
        los: strength.los,
    }
}

fn scale(scale: Scale) -> Members<3> {
    Members([
        ("time_scale", Some(scale.factor())),
        ("reference_nps", Some(scale.reference_nps)),
        ("measured_nps", Some(scale.measured_nps)),
    ])
}

/// Nothing if no engine was built from a revision.
fn builds(summary: &Summary) -> Vec<Option<BuildFigures<'_>>> {
    if summary.provenance.iter().all(Option::is_none) {
        return Vec::new();
    }
    let engines = summary.provenance.iter();
    let figures = engines.map(|from| {
        from.as_ref().map(|from| BuildFigures {
            repo: from.repo.display().to_string(),
            revision: &from.revision,
            commit: &from.commit,
            dirty: from.is_dirty,
            bench_nodes: from.bench,
        })
    });
    figures.collect()
}
