//! Checkout of a source tree into a separate folder.

use std::path::Path;

use super::error::{Result, io_error};
use super::git::{Commit, Repository, Snapshot, command, git, output};

/// Checks out `commit` into `dir`. If `snapshot` is given, checks out its files instead, as a
/// commit whose parent is `commit`. A build can query git in `dir`, for example for the hash of the
/// commit.
pub(super) fn check_out(
    repository: &Repository,
    commit: Option<&Commit>,
    snapshot: Option<&Snapshot>,
    dir: &Path,
) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(io_error(dir))?;
    // Without a template, the checkout contains no hooks of the user.
    git(dir, ["init", "--quiet", "--template="])?;
    let mut objects = format!("{}\n", repository.inner("objects")?.display());
    if let Some(snapshot) = snapshot {
        objects.push_str(&format!("{}\n", snapshot.objects.display()));
    }
    let alternates = dir.join(".git/objects/info/alternates");
    std::fs::create_dir_all(dir.join(".git/objects/info")).map_err(io_error(dir))?;
    std::fs::write(&alternates, objects).map_err(io_error(alternates))?;
    // Without this file, git would look for parents that a shallow clone does not contain.
    let shallow = repository.inner("shallow")?;
    if shallow.is_file() {
        std::fs::copy(&shallow, dir.join(".git/shallow")).map_err(io_error(shallow))?;
    }
    // Relative URLs of submodules are resolved against the URL of the remote.
    git(dir, ["config", "remote.origin.url", &repository.origin()])?;
    let wanted = match snapshot {
        Some(snapshot) => commit_tree(dir, &snapshot.tree, commit)?,
        None => commit.map_or("HEAD", |commit| &commit.id).to_owned(),
    };
    // A hook of the user must not run here.
    git(dir, ["-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--detach", &wanted])?;
    Ok(())
}

fn commit_tree(dir: &Path, tree: &str, parent: Option<&Commit>) -> Result<String> {
    let mut command = command(dir);
    command.args(["commit-tree", tree, "-m", "Files of a working tree"]);
    command.args(parent.iter().flat_map(|parent| ["-p", parent.id.as_str()]));
    // With fixed names and dates, equal files give equal commits.
    for role in ["AUTHOR", "COMMITTER"] {
        let fields = [("NAME", "arbiter"), ("EMAIL", "arbiter@localhost"), ("DATE", "@0 +0000")];
        command.envs(fields.map(|(field, value)| (format!("GIT_{role}_{field}"), value)));
    }
    output(command)
}
