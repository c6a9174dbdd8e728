//! The summary as one JSON object. Its keys are a contract: they carry their unit, and figures
//! that are not defined are `null`.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::ablation::{self, Feature};
use crate::summary::{Strength, Summary};
use crate::{latency, lint, standings_json, tuned};
use arbiter_plan::{Ending, ExcludedWorker, Provenance, Scale};
use arbiter_stats::Sprt;
use arbiter_stats::elo::Estimate;

/// A JSON object whose members stay in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Object(Vec<(&'static str, Member)>);

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Member {
    Value(Value),
    Object(Object),
    List(Vec<Option<Object>>),
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, member)| (key, member)))
    }
}

impl Object {
    /// Adds a value that is no object.
    pub(crate) fn with(self, key: &'static str, value: impl Serialize) -> Object {
        self.with_all([(key, value)])
    }

    /// Adds values that are no objects.
    pub(crate) fn with_all(
        mut self,
        members: impl IntoIterator<Item = (&'static str, impl Serialize)>,
    ) -> Object {
        let members = members.into_iter();
        self.0.extend(members.map(|(key, value)| (key, Member::Value(to_value(&value)))));
        self
    }

    /// Adds an object, if there is one.
    pub(crate) fn object(mut self, key: &'static str, object: Option<Object>) -> Object {
        self.0.extend(object.map(|object| (key, Member::Object(object))));
        self
    }

    /// Adds a list of objects and of `null`s.
    pub(crate) fn list<T: Into<Option<Object>>>(
        mut self,
        key: &'static str,
        objects: impl IntoIterator<Item = T>,
    ) -> Object {
        self.0.push((key, Member::List(objects.into_iter().map(Into::into).collect())));
        self
    }

    /// Adds the members of another object.
    fn and(mut self, other: Object) -> Object {
        self.0.extend(other.0);
        self
    }

    /// Drops the member added last if `is_unwanted`.
    fn unless(mut self, is_unwanted: bool) -> Object {
        self.0.truncate(self.0.len() - usize::from(is_unwanted));
        self
    }
}

/// What is serialized, as a JSON value.
pub fn to_value(report: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(report).expect("a report is numbers and text")
}

/// The object, on several lines.
pub fn run_json_text(summary: &Summary) -> String {
    let text = serde_json::to_string_pretty(&report(summary));
    format!("{}\n", text.expect("a report is numbers and text"))
}

/// The object, for others to build on.
pub fn run_json(summary: &Summary) -> Value {
    to_value(&report(summary))
}

fn report(summary: &Summary) -> Object {
    let name = |index: usize| summary.engines[index].as_str();
    let (counts, sequential) = (&summary.counts, summary.after_stop());
    let (bounds, test) = (summary.plan.sprt.map(|sprt| sprt.bounds), summary.test());
    let terminations: BTreeMap<String, u64> =
        counts.terminations.iter().map(|(ending, count)| (ending.to_string(), *count)).collect();
    let features = ablation::features(summary);
    Object::default()
        .with("schema", "arbiter.report/1")
        .with("run", &summary.run)
        .with("about", &summary.about)
        .with("kind", summary.plan.kind)
        .with("seed", summary.plan.seed)
        .with("openings_left_out", summary.quarantine.count)
        .with("opening_faults", &summary.quarantine.faults)
        .unless(summary.quarantine.faults.is_empty())
        .with("pairs_voided", summary.disturbances.voided)
        .list("workers_set_aside", summary.excluded.iter().map(excluded))
        .unless(summary.excluded.is_empty())
        // Pairs that count although the machine disturbed them.
        .with("pairs_disturbed", summary.disturbances.counted)
        .with("engines", &summary.engines)
        .list(
            "builds",
            summary.plan.engines.iter().map(|engine| engine.provenance.as_ref().map(build)),
        )
        .unless(summary.plan.engines.iter().all(|engine| engine.provenance.is_none()))
        .and(summary.plan.scale.map(scale).unwrap_or_default())
        .with("ending", summary.ending.map(ending_word))
        .with("verdict", summary.verdict())
        .with("invalid", summary.is_invalid())
        .and(figures(&summary.strength()))
        .and(summary.plan.sprt.map(sprt).unwrap_or_default())
        .with_all(estimate(SEQUENTIAL, sequential.map(|after| after.elo)))
        .with("los_sequential", sequential.map(|after| after.los))
        .with("llr", test.map(|(_, status)| status.llr))
        .with("llr_lower", bounds.map(|bounds| bounds.lower))
        .with("llr_upper", bounds.map(|bounds| bounds.upper))
        // The bounds as corrected at the end.
        .with("llr_stop_lower", test.map(|(_, status)| status.lower))
        .with("llr_stop_upper", test.map(|(_, status)| status.upper))
        .with("terminations", terminations)
        .list(
            "faults",
            counts.faults.iter().map(|((engine, reason), count)| {
                let fault = Object::default().with("engine", name(*engine)).with("reason", reason);
                fault.with("count", count)
            }),
        )
        .list("lint", lint::json(summary))
        .unless(summary.lint.is_empty())
        // How promptly engines answered; nothing if no clock bounds them.
        .list("latencies", latency::json(summary))
        .list(
            "encounters",
            counts.encounters.iter().map(|(engines, encounter)| {
                let [first, second] = engines.map(name);
                let names = Object::default().with("first", first).with("second", second);
                names.and(figures(&Strength::of(*encounter)))
            }),
        )
        .with("evidence_unit", if summary.plan.design.is_single { "game" } else { "pair" })
        .object("tournament", standings_json::json(summary))
        .object("tuning", tuned::json(summary))
        .list("features", features.iter().map(feature))
        .unless(features.is_empty())
}

/// Keys of the Elo that allows for the stopping rule.
const SEQUENTIAL: [&str; 3] = ["elo_sequential", "elo_sequential_low", "elo_sequential_high"];

/// An estimate: its value and both ends of its interval.
fn estimate(
    keys: [&'static str; 3],
    estimate: Option<Estimate>,
) -> impl Iterator<Item = (&'static str, Option<f64>)> {
    // Adding zero turns -0 into 0; JSON has `null` for infinities.
    let figures = estimate.map(|e| [e.value, e.low, e.high].map(|figure| figure + 0.0));
    (0..).zip(keys).map(move |(place, key): (usize, _)| (key, figures.map(|all| all[place])))
}

/// Without ends where they are equal: all pairs alike show no spread to judge by, and an interval
/// without width would be a lie.
fn spread(estimate: Estimate) -> Estimate {
    match estimate.low == estimate.high {
        true => Estimate { low: f64::NEG_INFINITY, high: f64::INFINITY, ..estimate },
        false => estimate,
    }
}

/// A machine that was excluded.
fn excluded(ExcludedWorker { worker, reason, pairs }: &ExcludedWorker) -> Object {
    let who = Object::default().with("worker", worker).with("reason", reason);
    who.with("pairs_discarded", pairs)
}

/// The commit that an engine was built from.
fn build(from: &Provenance) -> Object {
    Object::default()
        .with("repo", from.repo.display().to_string())
        .with("revision", &from.revision)
        .with("commit", &from.commit)
        .with("dirty", from.is_dirty)
        .with("bench_nodes", from.bench)
}

/// What times were multiplied by, and the speeds from which that follows.
fn scale(scale: Scale) -> Object {
    Object::default()
        .with("time_scale", scale.factor())
        .with("reference_nps", scale.reference_nps)
        .with("measured_nps", scale.measured_nps)
}

fn sprt(sprt: Sprt) -> Object {
    Object::default()
        .with_all([("elo0", sprt.elo0), ("elo1", sprt.elo1)])
        .with_all([("alpha", sprt.alpha), ("beta", sprt.beta)])
        .with("model", sprt.model)
        .with("overshoot", sprt.correction)
}

fn ending_word(ending: Ending) -> &'static str {
    match ending {
        Ending::AcceptedH1 | Ending::AcceptedH0 => "verdict",
        Ending::Complete => "complete",
        Ending::Interrupted => "interrupted",
    }
}

fn figures(strength: &Strength) -> Object {
    let (games, pairs) = (strength.games, strength.pairs);
    Object::default()
        .with("games", games.games())
        .with_all([("wins", games.wins), ("draws", games.draws), ("losses", games.losses)])
        .with("pairs", pairs.pairs())
        // LL, LD, DD+WL, WD, WW.
        .with("pentanomial", pairs.0)
        .with_all(estimate(["elo", "elo_low", "elo_high"], strength.elo.map(spread)))
        .with_all(estimate(["nelo", "nelo_low", "nelo_high"], strength.nelo.map(spread)))
        .with("los", strength.los)
}

/// The engine with a feature against the engine without it.
fn feature(feature: &Feature<'_>) -> Object {
    let (test, together) = (feature.sprt_status, feature.simultaneous.map(spread));
    Object::default()
        .with("feature", feature.name)
        .and(figures(&feature.strength))
        // These hold together with those of all other features.
        .with("elo_simultaneous_low", together.map(|estimate| estimate.low))
        .with("elo_simultaneous_high", together.map(|estimate| estimate.high))
        .with("llr", test.map(|status| status.llr))
        .with("test", test.map(|status| ablation::word(status.decision)))
        .with_all(estimate(SEQUENTIAL, feature.after_stop.map(|after| after.elo)))
}
