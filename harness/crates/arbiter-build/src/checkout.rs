//! Separate checkout of a revision, and the files that a build has produced in the checkout.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::error::{Result, io_error};
use super::git::{Repository, git};
use super::recipe::{choose, is_output};
use super::runner::Outline;
use arbiter_process::{is_executable, read_settings, remove_folder, utf8, without_name};

/// Maximum depth, in path components, of a program in a checkout.
const MAX_DEPTH: usize = 6;

/// Checkout in which a program is built. Its folder is removed when this value is dropped.
pub(super) struct Checkout<'a> {
    /// Revision that is checked out.
    pub(super) outline: &'a Outline,
    repo: &'a Repository,
    /// Folder that a sandboxed build may write to; it contains the checkout.
    pub(super) home: PathBuf,
    /// Root of the checkout.
    pub(super) top: PathBuf,
    /// Folders in which git finds the objects of the checkout.
    pub(super) objects: Vec<PathBuf>,
    /// Paths, relative to the root of the checkout, of the files that git tracked before the build.
    tracked: BTreeSet<PathBuf>,
}

impl Drop for Checkout<'_> {
    fn drop(&mut self) {
        // A folder that remains is found by [`abandoned_folders`](super::abandoned_folders).
        let _ = remove_folder(&self.home);
    }
}

impl<'a> Checkout<'a> {
    /// Checks out a revision into a new folder below `staging`.
    pub(super) fn new(
        repo: &'a Repository,
        outline: &'a Outline,
        staging: &Path,
    ) -> Result<Checkout<'a>> {
        let mut objects = vec![repo.inner("objects")?];
        objects.extend(outline.snapshot.as_ref().map(|snapshot| snapshot.objects.clone()));
        let home = TempDir::with_prefix_in("checkout-", staging).map_err(without_name);
        let home = home.map_err(io_error(staging))?.keep();
        // The files have a separate subfolder, because the sandbox has its home folder next to the
        // files.
        let top = home.join("files");
        let mut checkout = Checkout { outline, repo, home, top, objects, tracked: BTreeSet::new() };
        repo.check_out(&checkout)?;
        // The tracked files are listed now, because a later git command would obey settings that
        // the build has changed.
        let tracked = git(&checkout.top, ["ls-files", "-z"])?;
        checkout.tracked = tracked.split('\0').map(PathBuf::from).collect();
        Ok(checkout)
    }

    /// Returns the path, relative to the root of the checkout, of the program that the build has
    /// produced. The error explains why no program, or no single program, was found.
    pub(super) fn find_program(&self) -> Result<PathBuf, String> {
        let recipe = &self.outline.recipe;
        if let Some(binary) = &recipe.settings.binary {
            if !self.is_program(binary) {
                return Err(format!("'{}' is not an executable file", binary.display()));
            }
            return Ok(binary.clone());
        }
        let mut found = Vec::new();
        self.collect(Path::new(""), &mut found);
        found.retain(|path| is_output(recipe, path) && self.is_program(path));
        // The order of files in a folder is arbitrary, but the selection must not depend on the
        // order.
        found.sort();
        let name = self.repo.top.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let manifest =
            read_settings(&self.top.join("Cargo.toml")).and_then(utf8).unwrap_or_default();
        let package = manifest
            .parse::<toml::Table>()
            .ok()
            .and_then(|manifest| Some(manifest.get("package")?.get("name")?.as_str()?.to_owned()));
        // The package determines the name of its program, whereas a folder may have any name.
        let hints: Vec<String> = package.into_iter().chain([name.to_owned()]).collect();
        choose(&found, &hints)
    }

    /// Adds the new files below a folder, except the files of nested repositories.
    fn collect(&self, folder: &Path, found: &mut Vec<PathBuf>) {
        let entries = std::fs::read_dir(self.top.join(folder)).into_iter().flatten().flatten();
        for entry in entries {
            let path = folder.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder && !self.tracked.contains(&path) {
                found.push(path);
            } else if is_folder
                && path.components().count() < MAX_DEPTH
                // Submodules and vendored repositories contain other programs, such as tests.
                && !path.ends_with(".git")
                && !entry.path().join(".git").exists()
            {
                self.collect(&path, found);
            }
        }
    }

    /// Returns whether a path is executable and, after resolving symbolic links, inside the
    /// checkout.
    fn is_program(&self, path: &Path) -> bool {
        let real =
            self.top.canonicalize().and_then(|top| Ok((top, self.top.join(path).canonicalize()?)));
        real.is_ok_and(|(top, path)| path.starts_with(top) && is_executable(&path))
    }
}
