//! `arbiter results rm`, `prune`, `export` and `import`: removal and transfer of runs.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::{RunFilterArgs, folder, listed};
use crate::failure::Failure;
use crate::output::{NewFile, in_use, print_result, store_files, write_error};
use arbiter_game::consistency;
use arbiter_names::quantity;
use arbiter_openings::decompressed;
use arbiter_plan::{Engine, Plan, engine_text};
use arbiter_process::{create_locked_folder, leftover_folders, open_input};
use arbiter_report::{check_stored, note};
use arbiter_run::RunEnd;
use arbiter_runner::unix_time_ms;
use arbiter_store::{ArchiveError, FILE_NAME, RunHead, RunLock, Store};

/// Name prefix of the folder into which a run is imported before the store is created.
const TRIAL: &str = ".arbiter-import-";

/// Length of a day, in milliseconds.
const DAY_MS: i64 = 86_400_000;

/// Flags of `arbiter results rm`.
#[derive(Debug, Args)]
pub(super) struct RemoveArgs {
    /// Names of runs, or latest
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// Flags of `arbiter results prune`.
#[derive(Debug, Args)]
pub(super) struct PruneArgs {
    /// Keep runs that started in the last N days
    #[arg(long, value_name = "DAYS")]
    keep_days: u32,
    #[command(flatten)]
    wanted: RunFilterArgs,
    /// Remove the runs instead of listing them
    #[arg(long)]
    yes: bool,
}

/// Flags of `arbiter results export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Name of the run, or latest
    run: String,
    /// File to write, usually with the extension .jsonl.gz
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// Flags of `arbiter results import`.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// File written by `arbiter results export`; plain, .gz or .zst
    file: PathBuf,
    /// Name of the run in this store [default: the name in the file]
    #[arg(long, value_name = "RUN")]
    name: Option<String>,
}

/// Removes runs, after confirmation.
pub(super) fn remove(store: &Store, args: &RemoveArgs) -> Result<(), Failure> {
    let mut heads = Vec::new();
    for run in &args.runs {
        let name = store.named(run)?;
        // Listing a run requires less of its data than reading the run, so even a run with damaged
        // settings can be removed.
        let head = store.runs()?.into_iter().find(|head| head.run == name);
        heads.push(head.map_or_else(|| Ok(store.run(&name)?.head), Ok::<_, Failure>)?);
    }
    // All runs are locked before the user is asked, so that no run can be resumed before its
    // removal.
    let locks = heads.iter().map(|head| RunLock::take(folder(store), &head.run));
    let _locks = locks.collect::<Result<Vec<_>, _>>()?;
    if !args.yes && !is_sure(&format!("Permanently remove {}?", run_count(&heads)))? {
        return print_result("nothing removed\n");
    }
    heads.iter().try_for_each(|head| store.remove_run(&head.run))?;
    print_result(&format!("{} removed\n", run_count(&heads)))
}

/// Removes old runs, except runs in progress.
pub(super) fn prune(store: &Store, args: &PruneArgs) -> Result<(), Failure> {
    let oldest = unix_time_ms() - i64::from(args.keep_days) * DAY_MS;
    let filter = args.wanted.filter();
    let mut gone = Vec::new();
    for head in store.runs()?.into_iter().filter(|head| head.created_ms < oldest) {
        let run = listed(store, head);
        if !filter.holds(&run) {
            continue;
        }
        match RunLock::take(folder(store), &run.head.run) {
            Err(error) => note(&format!("{error}; kept")),
            Ok(_lock) => {
                if args.yes {
                    store.remove_run(&run.head.run)?;
                }
                note(&run.head.run);
                gone.push(run.head);
            }
        }
    }
    let would = if args.yes { "" } else { " would be" };
    let hint = if args.yes || gone.is_empty() { "" } else { "; add --yes to remove them" };
    print_result(&format!("{}{would} removed{hint}\n", run_count(&gone)))
}

/// Exports a run to a file. Replaces an existing file only with `--force`, because the file may be
/// the only copy of another run.
pub(super) fn export(store: &Store, args: &ExportArgs) -> Result<(), Failure> {
    if !args.force && args.out.exists() {
        let message = format!("{} already exists; --force replaces it", args.out.display());
        return Err(Failure::invalid(message));
    }
    let mut file = NewFile::create_compressed(&args.out, in_use(store_files(folder(store)))?)?;
    let failed = |error| failure(error, &args.out, Failure::environment);
    let stored = store.run(&store.named(&args.run)?)?;
    store.export_run(&stored.head.run, file.writer()).map_err(failed)?;
    file.finish()?;
    let bytes = args.out.metadata().map_or(0, |about| about.len());
    let runs = run_count(std::slice::from_ref(&stored.head));
    let out = args.out.display();
    print_result(&format!("{runs} exported to {out}, {} KiB\n", bytes.div_ceil(1024)))
}

/// Imports the run in a file into the store.
pub(super) fn import(folder: &Path, args: &ImportArgs) -> Result<(), Failure> {
    let file = folder.join(FILE_NAME);
    let mut imported = None;
    let absolute = std::path::absolute(folder).map_err(|error| write_error(folder, &error))?;
    // Folders of killed imports that cannot be removed are harmless.
    for (trial, _lock) in absolute.ancestors().flat_map(|near| leftover_folders(near, TRIAL)) {
        let _ = std::fs::remove_dir_all(trial);
    }
    if !file.exists() {
        // A rejected file must not leave an empty store behind, so the run is first imported into a
        // temporary folder near the store.
        let near = absolute.ancestors().find(|near| near.is_dir()).unwrap_or(&absolute);
        let trial = create_locked_folder(near, TRIAL);
        let (trial, _lock) = trial.map_err(|error| write_error(folder, &error))?;
        let name = import_into(&Store::create_unshared(trial.path())?, args)?;
        std::fs::create_dir_all(folder).map_err(|error| write_error(folder, &error))?;
        // The link fails if the file system does not support hard links, or if another process has
        // created a store in the meantime. In these cases, the run is imported again.
        imported = std::fs::hard_link(trial.path().join(FILE_NAME), &file).ok().map(|()| name);
    }
    let store = Store::create(folder)?;
    let name = imported.map_or_else(|| import_into(&store, args), Ok)?;
    let stored = store.run(&name)?;
    let name = &stored.head.run;
    if matches!(stored.head.ending, None | Some(RunEnd::Interrupted)) {
        note(&format!(
            "--resume {name} starts these programs, or builds them from these revisions; check \
             them first:\n  {}",
            programs(&stored.plan).join("\n  ")
        ));
    }
    print_result(&format!("{} imported as {name}\n", run_count(std::slice::from_ref(&stored.head))))
}

/// Returns each engine with its program. An engine that was built from a revision is also listed
/// with the revision, because a program that is missing is built again.
fn programs(plan: &Plan) -> Vec<String> {
    let listed = |engine: &Engine| {
        let unbuilt = Engine { provenance: None, ..engine.clone() };
        [&unbuilt, engine].map(|engine| engine_text(engine, false))
    };
    let mut programs: Vec<String> = plan.engines.iter().flat_map(listed).collect();
    programs.dedup();
    programs
}

fn import_into(store: &Store, args: &ImportArgs) -> Result<String, Failure> {
    let failed = |error| failure(error, &args.file, Failure::invalid);
    let file = open_input(&args.file).and_then(decompressed);
    let mut file = file.map_err(|error| failed(error.into()))?;
    let check = |run: &str| check_stored(store, run);
    store.import_run(&mut file, args.name.as_deref(), &consistency::check, &check).map_err(failed)
}

fn failure(error: ArchiveError, path: &Path, of: fn(String) -> Failure) -> Failure {
    match error {
        ArchiveError::Store(error) => error.into(),
        error => of(format!("{}: {error}", path.display())),
    }
}

fn run_count(heads: &[RunHead]) -> String {
    let pairs: u64 = heads.iter().map(|head| head.pairs).sum();
    format!("{} with {}", quantity(heads.len(), "run"), quantity(pairs, "pair"))
}

fn is_sure(question: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage("cannot ask for confirmation without a terminal; add --yes"));
    }
    let mut answer = String::new();
    let _ = write!(anstream::stderr().lock(), "{question} [y/N] ");
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|error| Failure::environment(format!("cannot read the reply: {error}")))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
