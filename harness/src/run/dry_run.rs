//! `--dry-run`: complete check of a run, without any games.

use super::LoadedPlan;
use super::preflight::check_engines;
use super::start::load_plan;
use crate::output::{Rows, print_report};
use crate::{failure::Failure, requested_run::RequestedRun};
use arbiter_plan::{Engine, RunKind};
use arbiter_report::{note, plan_document, plan_json, repeats_text};

/// Resolves the plan, reads the book, starts every engine that is not a revision, and prints the
/// plan. Nothing is stored, and no games file is opened.
pub(super) fn print(kind: RunKind, mut requested: RequestedRun) -> Result<(), Failure> {
    let format = requested.flags.format;
    let is_probed = requested.is_probed;
    let has_workers = requested.flags.cluster.has_workers();
    let loaded = load_plan(kind, &mut requested, has_workers)?;
    if has_workers {
        note("workers would play; a dry run starts the engines on this machine without the server");
    }
    let LoadedPlan { mut plan, mut fingerprints, mut inputs } = loaded;
    let concurrency = (!has_workers).then_some(plan.concurrency);
    let mut engines = plan.engines.iter();
    inputs.setups.retain(|_| engines.next().is_some_and(|engine| !is_stand_in(engine)));
    let book = check_engines(&mut plan, inputs, is_probed, None)?.book;
    for (engine, hash) in plan.engines.iter_mut().zip(&mut fingerprints.engines) {
        if is_stand_in(engine) {
            engine.program = Some("not built".into());
            *hash = "unknown".to_owned();
        }
    }
    if let Some(words) = repeats_text(&plan, &book) {
        note(&words);
    }
    let document = plan_document(&plan, &fingerprints, concurrency);
    let rows =
        Rows { list: Some("engines"), first: &["name", "limits", "program", "commit", "blake3"] };
    let json = || plan_json(&plan, &fingerprints, &book, concurrency);
    print_report(&format.of_document(&document, json, rows))
}

/// Returns whether an engine is the bundled engine in place of a revision, because a dry run does
/// not run the code of revisions.
fn is_stand_in(engine: &Engine) -> bool {
    engine.provenance.is_some() && engine.program.is_none()
}
