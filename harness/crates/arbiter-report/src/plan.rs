//! What a run would do, as JSON.

use serde_json::{Value, json};

use crate::standings::rules_in_words;
use arbiter_plan::{Plan, Program, command_line};
use arbiter_store::Fingerprints;

/// The plan, with every default explicit; `openings` is how many the book has.
pub fn plan_json(plan: &Plan, fingerprints: &Fingerprints, openings: usize) -> Value {
    let engines = plan.engines.iter().zip(&fingerprints.engines).map(|(engine, hash)| {
        let options: serde_json::Map<String, Value> =
            engine.options.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "name": engine.name,
            "program": match &engine.program {
                Program::Bundled => None,
                Program::Path(path) => Some(path.display().to_string()),
            },
            "args": engine.args,
            "options": options,
            "limits": engine.conditions.limits.to_string(),
            "margin_ms": engine.conditions.margin.as_secs_f64() * 1e3,
            "commit": engine.provenance.as_ref().map(|from| from.commit.as_str()),
            "blake3": hash,
        })
    });
    json!({
        "schema": "arbiter.plan/1",
        "kind": plan.kind,
        "engines": engines.collect::<Vec<_>>(),
        "book": plan.book.as_ref().map(|path| path.display().to_string()),
        "book_blake3": fingerprints.book,
        "openings": openings,
        "seed": plan.seed,
        "format": plan.design.format,
        "rounds": plan.design.rounds,
        "pairs": plan.design.pairs,
        "schedule": rules_in_words(&plan.design, plan.engines.len()),
        "concurrency": plan.concurrency,
        "sprt": plan.sprt,
        "adjudication": plan.rules.words(),
        "fault_limit": plan.fault_limit,
        "cpu_contention": plan.cpu_contention(),
        "command": command_line(plan),
    })
}
