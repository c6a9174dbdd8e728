//! Checkout of a tree of files into a folder of its own.

use std::path::Path;

use super::error::{BuildError, io_error};
use super::git::{Commit, Repository, Snapshot, command, git, output};

/// Checks `commit` out into `dir`, or the files of `snapshot` on top of it. A build finds there
/// what it asks git for, such as the number of the commit. The same files make the same commit.
pub(super) fn check_out(
    repository: &Repository,
    commit: Option<&Commit>,
    snapshot: Option<&Snapshot>,
    dir: &Path,
) -> Result<(), BuildError> {
    std::fs::create_dir_all(dir).map_err(io_error(dir))?;
    // Without a template the checkout has no hooks of the user.
    git(dir, ["init", "--quiet", "--template="])?;
    let mut objects = format!("{}\n", repository.inner("objects")?.display());
    if let Some(snapshot) = snapshot {
        objects.push_str(&format!("{}\n", snapshot.objects.display()));
    }
    let alternates = dir.join(".git/objects/info/alternates");
    std::fs::create_dir_all(dir.join(".git/objects/info")).map_err(io_error(dir))?;
    std::fs::write(&alternates, objects).map_err(io_error(alternates))?;
    // Without this file git would look for the parents that a shallow clone lacks.
    let shallow = repository.inner("shallow")?;
    if shallow.is_file() {
        std::fs::copy(&shallow, dir.join(".git/shallow")).map_err(io_error(shallow))?;
    }
    // Relative addresses of submodules start at the address of the remote.
    git(dir, ["config", "remote.origin.url", &repository.origin()])?;
    let wanted = match (snapshot, commit) {
        (Some(snapshot), commit) => commit_tree(dir, &snapshot.tree, commit)?,
        (None, Some(commit)) => commit.id.clone(),
        (None, None) => "HEAD".to_owned(),
    };
    // A hook of the user must not run here.
    git(dir, ["-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--detach", &wanted])?;
    Ok(())
}

fn commit_tree(dir: &Path, tree: &str, parent: Option<&Commit>) -> Result<String, BuildError> {
    let mut command = command(dir);
    command.args(["commit-tree", tree, "-m", "Files of a working tree"]);
    command.args(parent.iter().flat_map(|parent| ["-p", parent.id.as_str()]));
    // Fixed names and dates give the same files the same commit.
    for role in ["AUTHOR", "COMMITTER"] {
        let own = [("NAME", "arbiter"), ("EMAIL", "arbiter@localhost"), ("DATE", "@0 +0000")];
        command.envs(own.map(|(what, value)| (format!("GIT_{role}_{what}"), value)));
    }
    output(command)
}
