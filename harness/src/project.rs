//! The current project: settings and results in the current folder or in a parent folder, up to the
//! root of the git repository.

use std::iter::repeat_n;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;
use arbiter_build::Repository;
use arbiter_process::{foreign_owner, read_input, working_folder};
use arbiter_settings::{DEFAULT_SETTINGS, Settings, load_settings};
use arbiter_store::{FILE_NAME, Store};

/// Default name of the results folder.
pub(crate) const DEFAULT_RESULTS: &str = "results";

/// Name of the file, in the root of a repository, that lists the paths ignored by git.
pub(crate) const IGNORED: &str = ".gitignore";

/// Path of the GitHub Actions workflow.
pub(crate) const WORKFLOW_FILE: &str = ".github/workflows/arbiter.yml";

/// Perft suite for repositories without a perft suite.
pub(crate) const PERFT: &str = "\
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 ;D1 20 ;D2 400 ;D3 8902 ;D4 197281
r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 ;D1 48 ;D2 2039 ;D3 97862
8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 ;D1 14 ;D2 191 ;D3 2812 ;D4 43238
r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1 ;D1 6 ;D2 264 ;D3 9467
rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8 ;D1 44 ;D2 1486 ;D3 62379
";
pub(crate) const PERFT_FILE: &str = "perft.epd";

/// Name of git's entry in the root of a repository: a folder, or a file in a worktree or submodule.
const GIT: &str = ".git";

/// Flag of every command that reads a results store and plays nothing.
#[derive(Debug, Default, Args)]
pub(crate) struct ResultsArg {
    /// Folder of the results store [default: as set in arbiter.toml, else the nearest results/ with
    /// a store]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl ResultsArg {
    /// Returns the folder named by the flag, or else the results folder of the project.
    pub(crate) fn folder(&self) -> Result<PathBuf, Failure> {
        match &self.results {
            Some(folder) => Ok(folder.clone()),
            None => results_folder(None, None, &settings(None)?.unwrap_or_default()),
        }
    }

    /// Opens the store in the results folder.
    pub(crate) fn store(&self) -> Result<Store, Failure> {
        Ok(Store::open(&self.folder()?)?)
    }
}

/// Reads the settings file `named`, or else the nearest settings file, if any.
pub(crate) fn settings(named: Option<&Path>) -> Result<Option<Settings>, Failure> {
    // A folder with this name or a broken link also counts as found, so that the user sees an
    // error.
    let found = || nearest(DEFAULT_SETTINGS, "--config", |path| path.symlink_metadata().is_ok());
    let path = if named.is_some() { named.map(Path::to_owned) } else { found()? };
    path.as_deref().map(load_settings).transpose().map_err(Failure::invalid)
}

/// Returns the results folder: `named`, or the folder that `settings` names, or the nearest results
/// folder with a store, or a new results folder next to the nearest settings file. `config` is the
/// settings file, if a flag names it.
pub(crate) fn results_folder(
    named: Option<PathBuf>,
    config: Option<&Path>,
    settings: &Settings,
) -> Result<PathBuf, Failure> {
    if let Some(folder) = named.or_else(|| settings.results.clone()) {
        return Ok(folder);
    }
    let has_store = |folder: &Path| folder.join(FILE_NAME).is_file();
    if let Some(folder) = nearest(DEFAULT_RESULTS, "--results", has_store)? {
        return Ok(folder);
    }
    let folder = if config.is_none() { settings.folder() } else { Path::new("") };
    Ok(folder.join(DEFAULT_RESULTS))
}

/// Returns the paths of the files that `arbiter init` writes in a repository. These files do not
/// affect the program. The perft suite is included only if its contents are unchanged.
pub(crate) fn files_of_init(top: &Path) -> Vec<PathBuf> {
    let suite = top.join(PERFT_FILE);
    let is_ours = read_input(&suite).is_ok_and(|text| text == PERFT.as_bytes());
    let names = [DEFAULT_SETTINGS, IGNORED, WORKFLOW_FILE].map(|name| top.join(name));
    names.into_iter().chain(is_ours.then_some(suite)).collect()
}

/// Returns the folder that [`arbiter_process::user_folder`] returns. The error suggests `flag` as
/// an alternative.
pub(crate) fn user_folder(variable: &str, below: &str, flag: &str) -> Result<PathBuf, Failure> {
    let unset = || Failure::invalid(format!("HOME is not an absolute path; set HOME, or {flag}"));
    arbiter_process::user_folder(variable, below).ok_or_else(unset)
}

/// Returns the path of `folder` relative to the current folder; `None` unless `folder` is the
/// current folder or one of its parents.
pub(crate) fn relative_to_current(folder: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let depth = here.ancestors().position(|above| above == folder)?;
    Some(repeat_n("..", depth).collect())
}

/// Returns the path of `name` in the nearest folder, from the current folder up to the root of the
/// repository; `accepts` decides whether a path counts as found. Fails if another user could have
/// written the file, because settings can start programs; the error suggests `flag` to name a
/// trusted path.
fn nearest(
    name: &str,
    flag: &str,
    accepts: impl Fn(&Path) -> bool,
) -> Result<Option<PathBuf>, Failure> {
    // The parents of a deleted folder cannot be reached, so their settings would be ignored.
    let here = working_folder().map_err(Failure::invalid)?;
    let is_top = |folder: &&Path| folder.join(GIT).symlink_metadata().is_ok();
    let top = here.ancestors().find(is_top);
    let relative_top = top.and_then(relative_to_current).unwrap_or_default();
    let mut folder = PathBuf::new();
    while !accepts(&folder.join(name)) {
        if folder == relative_top {
            return Ok(None);
        }
        folder.push("..");
    }
    let path = folder.join(name);
    // Settings can start programs, so the file must belong to the user. The owners of the link, of
    // its target, and of the store in a results folder are checked.
    let of_file = [path.symlink_metadata(), path.metadata(), path.join(FILE_NAME).metadata()];
    let refused = |why: String| {
        let path = path.display();
        Failure::invalid(format!("{path} {why}\nhint: if you trust this path, give {flag} {path}"))
    };
    if let Some(uid) = of_file.iter().flatten().find_map(foreign_owner) {
        return Err(refused(format!("belongs to another user (number {uid}) and is ignored")));
    }
    let Some(top) = top else { return Ok(Some(path)) };
    let of_top = [top.metadata(), top.join(GIT).symlink_metadata()];
    match of_top.iter().flatten().find_map(foreign_owner) {
        // git rejects repositories of other users unless `safe.directory` lists them. Arbiter obeys
        // the same setting.
        Some(uid) if Repository::open(top).is_err() => Err(refused(format!(
            "is ignored, because its repository {} belongs to another user (number {uid})",
            top.display()
        ))),
        _ => Ok(Some(path)),
    }
}
