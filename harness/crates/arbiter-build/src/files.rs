//! Files that a build has produced in its checkout.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::git::Repository;
use super::recipe::{Recipe, choose, is_output};
use arbiter_process::{Sandbox, is_executable, read_settings, utf8};

/// Maximum depth, in path components, of a program in a checkout.
const MAX_DEPTH: usize = 6;

/// Files of a checkout in which a program was built.
pub(super) struct Files<'a> {
    /// Folder that a sandboxed build may write to; it contains the checkout.
    pub(super) home: &'a Path,
    pub(super) top: PathBuf,
    /// Folders in which git finds the objects of the checkout.
    pub(super) objects: Vec<PathBuf>,
    /// Files that git tracked before the build, relative to the root of the checkout.
    pub(super) tracked: BTreeSet<PathBuf>,
}

impl Files<'_> {
    /// Returns the sandbox for commands that may also read `readable`.
    pub(super) fn sandbox(
        &self,
        base: &Sandbox,
        readable: Vec<PathBuf>,
        has_network: bool,
    ) -> Sandbox {
        let readable = [&base.readable[..], &readable, &self.objects].concat();
        let home = Some(self.home.to_owned());
        Sandbox { readable, home, is_builder: true, has_network, ..base.clone() }
    }

    /// Returns the path of the program that the build has produced, relative to the root of the
    /// checkout. The error explains why no program, or no single program, was found.
    pub(super) fn find_program(
        &self,
        recipe: &Recipe,
        repo: &Repository,
    ) -> Result<PathBuf, String> {
        if let Some(binary) = &recipe.settings.binary {
            return if self.is_program(binary) {
                Ok(binary.clone())
            } else {
                Err(format!("'{}' is not an executable file", binary.display()))
            };
        }
        let mut found = Vec::new();
        self.collect(Path::new(""), &mut found);
        found.retain(|path| is_output(recipe, path) && self.is_program(path));
        // The order of files in a folder is arbitrary, but the selection must not depend on the
        // order.
        found.sort();
        let name = repo.top.file_name().and_then(|name| name.to_str()).unwrap_or_default();
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
