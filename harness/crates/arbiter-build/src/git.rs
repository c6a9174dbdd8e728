//! Queries to git, through the program `git`, and checkouts into separate folders.
//!
//! A library could read the objects. A checkout, however, must have the submodules, filters such as
//! LFS, and line endings of the author's checkout, and a remote may need credentials. Only the
//! program `git` obeys the user's complete git configuration.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use arbiter_process::{MAX_SETTINGS, read_bounded, remove_secrets};
use tempfile::TempDir;

use super::checkout::Checkout;
use super::error::{BuildError, BuildFailure, Result, io_error};

/// Variables that a hook, or git itself, may have set for another repository.
const GIT_VARIABLES: &str = "
    GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_PREFIX GIT_NAMESPACE
";

/// Time limit of a git command that neither adds nor checks out files. Without a limit, a FIFO
/// named `.gitignore` in the user's working tree would block git forever. Tests use a
/// lower limit.
const LIMIT: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 120 });

/// Time limit of a git command that adds the files of a working tree to a snapshot.
const SNAPSHOT_LIMIT: Duration = Duration::from_secs(600);

/// The user's repository, which is never changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Root of the working tree; the folder of the repository itself if the repository is bare.
    pub top: PathBuf,
    is_bare: bool,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Full commit hash.
    pub id: String,
    /// Complete message.
    pub message: String,
}

impl Commit {
    /// Returns the first nine digits of the hash.
    pub fn short(&self) -> &str {
        &self.id[..self.id.len().min(9)]
    }
}

/// Current files of a working tree, without ignored files.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Hash of the tree object.
    pub(super) tree: String,
    /// Folder with the objects that are not in the user's repository.
    pub(super) objects: PathBuf,
    /// Temporary folder that contains the objects; removed on drop.
    _dir: TempDir,
}

impl Repository {
    /// Opens the repository that contains a folder. Fails if no repository contains the folder, or
    /// if git is not installed.
    pub fn open(path: &Path) -> Result<Repository> {
        if !path.is_dir() {
            return Err(no_repository(path, "not a folder"));
        }
        let ask = |what| {
            git(path, ["rev-parse", what]).map_err(|error| match error {
                BuildError::Git { reason, .. } => no_repository(path, &reason),
                other => other,
            })
        };
        let is_bare = ask("--is-bare-repository")? == "true";
        let top = ask(if is_bare { "--absolute-git-dir" } else { "--show-toplevel" })?.into();
        Ok(Repository { top, is_bare })
    }

    /// Returns the commit of a revision. Fails if the revision does not exist, or if the clone does
    /// not contain the commit.
    pub fn commit(&self, revision: &str) -> Result<Commit> {
        // git would treat a leading dash as an option, and a leading caret as an excluded commit.
        if revision.is_empty() || revision.starts_with(['-', '^']) {
            return Err(self.unknown(revision));
        }
        let wanted = format!("{revision}^{{commit}}");
        let id = git(&self.top, ["rev-parse", "--verify", "--quiet", &wanted]);
        let id = id.map_err(|error| match error {
            BuildError::NoGit => error,
            _ => self.unknown(revision),
        })?;
        let args = ["-c", "log.mailmap=false", "log", "-1", "--format=%B", &id];
        let message = git(&self.top, args)?;
        Ok(Commit { id, message })
    }

    /// Returns the error for an unknown revision.
    pub(super) fn unknown(&self, revision: &str) -> BuildError {
        let text = format!("no revision '{revision}' in {}", self.top.display());
        let has_commit = git(&self.top, ["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok();
        if self.is_shallow() {
            let why = ", which is a shallow clone\nhint: run `git fetch --unshallow`, or set \
                       fetch-depth: 0 for actions/checkout";
            return BuildError::Failed(BuildFailure::ShallowClone, text + why);
        }
        let why = if has_commit {
            ""
        } else {
            ", which has no commit yet\nhint: make a commit, or use '.' for the working tree"
        };
        BuildError::Failed(BuildFailure::UnknownRevision, text + why)
    }

    /// Returns the first parent; `None` for a root commit, or if a shallow clone does not contain
    /// the parent.
    pub fn parent(&self, commit: &Commit) -> Option<Commit> {
        self.commit(&format!("{}^", commit.id)).ok()
    }

    /// Returns the names of at most `most` branches, sorted from the latest commit to the earliest;
    /// an empty list if the branches cannot be read.
    pub fn branches(&self, most: usize) -> Vec<String> {
        let count = format!("--count={most}");
        let format = "--format=%(refname:lstrip=2)";
        let args = ["for-each-ref", &count, "--sort=-committerdate", format, "refs/heads"];
        let names = git(&self.top, args).unwrap_or_default();
        names.lines().map(str::to_owned).collect()
    }

    /// Returns whether the clone contains only a part of the history.
    pub fn is_shallow(&self) -> bool {
        git(&self.top, ["rev-parse", "--is-shallow-repository"]).is_ok_and(|word| word == "true")
    }

    /// Returns whether git ignores a path of the working tree.
    pub fn ignores(&self, path: &str) -> Result<bool> {
        let mut command = command(&self.top);
        let output = completed(command.args(["check-ignore", "--quiet", path]), LIMIT)?;
        Ok(output.status.success())
    }

    /// Returns whether any of `paths` differs between two trees or commits; `true` if `paths` is
    /// empty.
    pub fn differs(&self, one: &str, other: &str, paths: &[String]) -> Result<bool> {
        let mut args = vec!["diff", "--name-only", one, other, "--"];
        args.extend(paths.iter().map(String::as_str));
        Ok(paths.is_empty() || !git(&self.top, args)?.is_empty())
    }

    /// Returns the file names in the root of a commit or tree, and the file names in the folder
    /// `src`.
    pub(super) fn names(&self, tree: &str) -> Result<Vec<String>> {
        let listed = git(&self.top, ["ls-tree", "--name-only", tree, "--", ".", "src/"])?;
        Ok(listed.lines().map(str::to_owned).collect())
    }

    /// Returns the contents of a settings or build file in a commit or tree.
    pub(super) fn text(&self, tree: &str, path: &str) -> Result<String> {
        let object = format!("{tree}:{path}");
        let size = git(&self.top, ["cat-file", "-s", &object])?;
        if !size.parse().is_ok_and(|size: u64| size <= MAX_SETTINGS) {
            let reason = format!("it exceeds the limit of {MAX_SETTINGS} bytes");
            return Err(BuildError::Git { what: format!("cat-file blob {object}"), reason });
        }
        git(&self.top, ["cat-file", "blob", &object])
    }

    /// Returns the path of a file or folder inside the repository's `.git` folder.
    pub(super) fn inner(&self, name: &str) -> Result<PathBuf> {
        Ok(self.top.join(git(&self.top, ["rev-parse", "--git-path", name])?))
    }

    /// Returns the URL of the remote "origin"; the path of the repository if there is no such
    /// remote.
    fn origin(&self) -> String {
        let origin = git(&self.top, ["config", "remote.origin.url"]);
        origin.unwrap_or_else(|_| self.top.display().to_string())
    }

    /// Writes the current files as git objects below `staging`; paths in `without` keep the content
    /// of the checked-out commit. Returns `None` if the files equal the files of this commit. The
    /// user's files, index and objects are not changed.
    pub(super) fn snapshot(&self, staging: &Path, without: &[PathBuf]) -> Result<Option<Snapshot>> {
        if self.is_bare {
            return Err(no_repository(&self.top, "a bare repository has no working tree"));
        }
        let dir = TempDir::with_prefix_in("tree-", staging).map_err(arbiter_process::without_name);
        let dir = dir.map_err(io_error(staging))?;
        let objects = dir.path().join("objects");
        std::fs::create_dir(&objects).map_err(io_error(dir.path()))?;
        let index = dir.path().join("index");
        // A copy of the index lets git skip unchanged files.
        let user_index = self.inner("index")?;
        if user_index.is_file() {
            std::fs::copy(&user_index, &index).map_err(io_error(user_index))?;
        }
        let run = |args: &[&str], paths: &[String]| {
            let mut command = command(&self.top);
            command.env("GIT_INDEX_FILE", &index).env("GIT_OBJECT_DIRECTORY", &objects);
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.inner("objects")?);
            output(command.args(args).args(paths), SNAPSHOT_LIMIT)
        };
        // Paths with `..` may lead out of the repository, and git rejects such paths. A folder that
        // does not exist yet contains nothing to exclude.
        let without = without.iter().filter_map(|path| path.canonicalize().ok());
        let inside = without.filter_map(|path| Some(path.strip_prefix(&self.top).ok()?.to_owned()));
        let inside = inside.map(|path| path.display().to_string()).filter(|path| !path.is_empty());
        // Ignored paths are excluded anyway, and git fails if its arguments name them.
        let kept = inside.map(|path| Ok((!self.ignores(&path)?).then_some(path)));
        let inside: Vec<String> = kept.filter_map(Result::transpose).collect::<Result<_>>()?;
        let marked = |how: &str| -> Vec<String> {
            inside.iter().map(|path| format!(":({how}){path}")).collect()
        };
        run(&["add", "--all", "--", "."], &marked("exclude,literal"))?;
        // The user may have added some of these paths to the index.
        if !inside.is_empty() {
            run(&["reset", "--quiet", "--"], &marked("literal"))?;
        }
        let tree = run(&["write-tree"], &[])?;
        // In a repository without commits, all files count as changed.
        let head = git(&self.top, ["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]);
        Ok((head.ok().as_ref() != Some(&tree)).then_some(Snapshot { tree, objects, _dir: dir }))
    }

    /// Checks out the commit that `checkout` names. For a snapshot, checks out the files of the
    /// snapshot as a new commit, whose parent is the commit at `HEAD`. A build can query git in the
    /// checkout, for example for the hash of the commit.
    pub(super) fn check_out(&self, checkout: &Checkout<'_>) -> Result<()> {
        let Checkout { outline, top: dir, objects, .. } = checkout;
        std::fs::create_dir_all(dir).map_err(io_error(dir))?;
        // Without a template, the checkout contains no hooks of the user.
        git(dir, ["init", "--quiet", "--template="])?;
        let objects: String = objects.iter().map(|path| format!("{}\n", path.display())).collect();
        let alternates = dir.join(".git/objects/info/alternates");
        std::fs::create_dir_all(dir.join(".git/objects/info")).map_err(io_error(dir))?;
        std::fs::write(&alternates, objects).map_err(io_error(alternates))?;
        // Without this file, git would look for parents that a shallow clone does not contain.
        let shallow = self.inner("shallow")?;
        if shallow.is_file() {
            std::fs::copy(&shallow, dir.join(".git/shallow")).map_err(io_error(shallow))?;
        }
        // Relative URLs of submodules are resolved against the URL of the remote.
        git(dir, ["config", "remote.origin.url", &self.origin()])?;
        let wanted = match &outline.snapshot {
            Some(snapshot) => commit_tree(dir, &snapshot.tree, outline.commit.as_ref())?,
            None => outline.commit.as_ref().map_or("HEAD", |commit| &commit.id).to_owned(),
        };
        let mut checkout = command(dir);
        // A hook of the user must not run here.
        checkout.args(["-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--detach"]);
        // The time is not limited, because a filter such as git lfs may fetch large files.
        output(checkout.arg(wanted), Duration::MAX).map(drop)
    }
}

/// Returns the error for a folder that is not in a repository.
fn no_repository(path: &Path, reason: &str) -> BuildError {
    let text = format!(
        "'{}' is not in a readable git repository ({reason}); give a repository with --repo",
        path.display()
    );
    BuildError::Failed(BuildFailure::NoRepository, text)
}

/// Runs git in a folder and returns its output without the last line break.
pub(super) fn git<S: AsRef<OsStr>>(
    dir: &Path,
    args: impl IntoIterator<Item = S>,
) -> Result<String> {
    output(command(dir).args(args), LIMIT)
}

/// Returns a git command for a folder, without variables that point to another repository.
fn command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).stdin(Stdio::null());
    for name in GIT_VARIABLES.split_ascii_whitespace() {
        command.env_remove(name);
    }
    // Git runs filters and hooks that the user or the commit has configured.
    remove_secrets(&mut command);
    // The output must be English because it is parsed and shown. A prompt for a password would
    // block, because nobody can answer it. Without optional locks, git does not refresh the user's
    // index.
    command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
    command
}

/// Runs a git command, with limits on the running time, the output and the error output.
fn run(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let pipes = child.stdout.take().zip(child.stderr.take());
    let (stdout, stderr) = pipes.expect("both outputs are piped");
    let errors = std::thread::spawn(|| read_bounded(stderr));
    let (sender, receiver) = mpsc::channel();
    // At the limit of the output, the pipe is closed, which ends git.
    std::thread::spawn(move || sender.send(read_bounded(stdout)));
    let Ok(stdout) = receiver.recv_timeout(limit) else {
        child.kill()?;
        child.wait()?;
        return Err(io::Error::other(format!(
            "no result within {} s; the working tree may be very large, or a file that git reads, \
             such as .gitignore, may be a FIFO",
            limit.as_secs_f64()
        )));
    };
    let stderr = errors.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
    Ok(Output { status: child.wait()?, stdout: stdout?, stderr: stderr? })
}

/// Returns the error of a git command.
fn failure(command: &Command, reason: &str) -> BuildError {
    let args: Vec<_> = command.get_args().skip(2).map(OsStr::to_string_lossy).collect();
    BuildError::Git { what: args.join(" "), reason: reason.to_owned() }
}

/// Runs a git command, which may fail, as [`run`] does.
fn completed(command: &mut Command, limit: Duration) -> Result<Output> {
    run(command, limit).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BuildError::NoGit,
        _ => failure(command, &error.to_string()),
    })
}

/// Runs a git command and returns its output without the last line break.
fn output(command: &mut Command, limit: Duration) -> Result<String> {
    let output = completed(command, limit)?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().map(str::trim).find(|line| !line.is_empty());
        return Err(failure(command, first.unwrap_or("failed")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
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
    output(&mut command, LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocked_commands_are_stopped() {
        let dir = TempDir::new().unwrap();
        git(dir.path(), ["init", "--quiet"]).unwrap();
        let pipe = dir.path().join(".gitignore");
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let repo = Repository::open(dir.path()).unwrap();
        let without = dir.path().join("x");
        std::fs::create_dir(&without).unwrap();
        // No further command waits for the pipe.
        let error = repo.snapshot(dir.path(), &[without]).unwrap_err().to_string();
        let expected = "git check-ignore --quiet x: no result within 5 s; ";
        assert!(error.starts_with(expected), "{error}");
    }
}
