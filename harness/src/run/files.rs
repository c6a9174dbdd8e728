//! Files of a run. A file that the run writes must not have another use.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::output::{FileUse, in_use, store_files};
use arbiter_compat::Style;
use arbiter_plan::{Engine, Plan};

/// Returns the known files of an engine: its program, and files named in its arguments and options.
pub(crate) fn engine_files(engine: &Engine) -> impl Iterator<Item = FileUse> {
    let folder = engine.dir.as_deref().unwrap_or(Path::new(""));
    let words = engine.args.iter().chain(engine.options.iter().map(|(_, value)| value));
    let named = engine.option_files().map(|(_, path)| path.to_owned());
    let named = named.chain(words.map(|word| folder.join(word))).filter(|path| path.is_file());
    engine.program.clone().into_iter().chain(named).map(|path| ("a file of an engine", path))
}

/// Fails if the run would write a file that it also uses for another purpose. Must be called before
/// anything is written.
pub(super) fn check(
    plan: &Plan,
    settings_files: &[PathBuf],
    style: Option<&Style>,
    results: &Path,
    run: Option<&str>,
) -> Result<(), Failure> {
    let lock = run.map(|run| ("the lock of the run", results.join(format!("{run}.lock"))));
    let this = std::env::current_exe().ok().map(|program| ("arbiter itself", program));
    let read = store_files(results).chain(lock).chain(this);
    let read = read.chain(plan.book.clone().map(|book| ("the openings", book)));
    let read = read.chain(settings_files.iter().map(|path| ("the settings", path.clone())));
    let mut files = in_use(read.chain(plan.engines.iter().flat_map(engine_files)))?;
    let errors = plan.engines.iter().filter_map(|engine| engine.launch.stderr.as_ref());
    let written = errors.map(|path| ("the error output of engines", path));
    let written = written.chain(plan.pgn.iter().map(|path| ("the PGN file", path)));
    let written = written.chain(plan.epd.iter().map(|path| ("the EPD file", path)));
    let written = written.chain(style.and_then(Style::log_file).map(|path| ("the log", path)));
    for (words, path) in written {
        files.writes(words, path).map_err(Failure::invalid)?;
    }
    Ok(())
}
