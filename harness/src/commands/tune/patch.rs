//! `arbiter tune patch`: the values of a tuning run as a patch for source code.

use std::path::PathBuf;

use clap::Args;

use crate::{failure::Failure, output::print_result, project::ResultsArg, run};
use arbiter_process::read_text;
use arbiter_report::note;
use arbiter_spsa::patch::{applied, unified};

/// Flags of `arbiter tune patch`.
#[derive(Debug, Args)]
pub(super) struct PatchArgs {
    /// Name of the run, or latest
    run: String,
    /// Source file (Rust, C or C++) with the number of each parameter: `NAME = 3`,
    /// `#define NAME 3`, `NAME{3}`, `PARAM(NAME, 3, …)`
    #[arg(long, value_name = "FILE")]
    table: PathBuf,
    #[command(flatten)]
    results: ResultsArg,
}

/// Prints the patch.
pub(super) fn run(args: &PatchArgs) -> Result<(), Failure> {
    let store = args.results.store()?;
    let stored = store.run(&store.named(&args.run)?)?;
    let state = run::replay_stored(&store, &stored.head.run, &stored.plan)?;
    let spsa = state
        .spsa()
        .ok_or_else(|| Failure::invalid(format!("run '{}' is not a tuning", args.run)))?;
    let file = args.table.display().to_string();
    let wrong = |error: String| Failure::invalid(format!("{file}: {error}"));
    let old = read_text(&args.table).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let values = spsa.tuning().settings(spsa.theta());
    let new = applied(&old, &values).map_err(wrong)?;
    let iterations = spsa.tuning().iterations;
    if spsa.finished() < iterations {
        note(&format!(
            "the tuning is not finished: these are the values after {} of {iterations} iterations",
            spsa.finished()
        ));
    }
    let patch = unified(&file, &old, &new);
    if patch.is_empty() {
        note(&format!("{file} already has these values"));
    }
    print_result(&patch)
}
