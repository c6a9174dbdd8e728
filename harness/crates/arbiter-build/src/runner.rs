//! Builder of revisions that are not in the cache.

use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::bench::{BenchTarget, Signature, promised_nodes, run_bench};
use super::cache::{BenchRecord, BuildRecord, Cache, Entry};
use super::checkout::Checkout;
use super::environment::{build_environment, compiler_environment, toolchains};
use super::error::{BuildError, BuildFailure, Result, io_error};
use super::git::{Commit, Repository, Snapshot};
use super::log::Log;
use super::recipe::{BuildSettings, Recipe, first_error, lacks_network, recipe};
use arbiter_process::{
    Cancel, Completed, EndReason, Launch, Links, Sandbox, Spawner, Timeouts, lock, open_output,
    processor_features, read_input, read_settings, run_to_completion,
};

/// Revision that stands for the working tree.
pub const WORKING_TREE: &str = ".";

/// Time limit for each command that identifies the toolchain. Such a command usually only prints a
/// version.
const TOOLCHAIN_TIMEOUT: Duration = Duration::from_secs(60);

/// A built program.
#[derive(Debug)]
pub struct Built<'a> {
    /// Description of the revision.
    pub outline: Outline,
    /// Program, with the settings for its bench.
    pub launch: Launch,
    entry: Entry,
    record: BuildRecord,
    spawner: &'a Spawner,
    cancel: &'a Cancel,
}

/// Description of a revision, obtained without running code of the revision.
#[derive(Debug)]
pub struct Outline {
    /// Name for messages.
    pub label: String,
    /// Commit of the revision or, for the working tree, the commit at `HEAD`; `None` before the
    /// first commit.
    pub commit: Option<Commit>,
    /// `true` if files have changed since the commit.
    pub is_dirty: bool,
    /// Recipe of the build and the bench.
    pub recipe: Recipe,
    /// Hash of the snapshot's tree object or, without a snapshot, of the commit.
    tree: String,
    pub(super) snapshot: Option<Snapshot>,
}

impl Outline {
    /// Returns the full hash of the commit; "none" before the first commit.
    pub fn commit_id(&self) -> &str {
        self.commit.as_ref().map_or("none", |commit| &commit.id)
    }
}

impl Built<'_> {
    /// Returns the signature of the bench, from the cache if the cache contains the result of at
    /// least `copies` parallel copies. Fails if the node count differs from the count in the commit
    /// message. Blocks until the bench has ended.
    pub fn signature(&mut self, copies: usize) -> Result<Signature> {
        let how = self.outline.recipe.settings.bench.how();
        // A run of more copies proves at least as much, because all copies have to agree.
        let cached = self.record.bench.as_ref().filter(|b| b.how == how && b.copies >= copies);
        let signature = match cached {
            Some(bench) => bench.signature,
            None => self.measure(copies)?,
        };
        match self.promised_nodes() {
            Some(promised) if promised != signature.nodes => {
                let text = format!(
                    "the bench of {} is {}, but the commit message has {promised}; the build \
                     differs from the author's build, or the message is outdated",
                    self.outline.label, signature.nodes
                );
                Err(BuildError::Failed(BuildFailure::BenchBroken, text))
            }
            _ => Ok(signature),
        }
    }

    /// Returns the node count that the commit message promises.
    pub fn promised_nodes(&self) -> Option<u64> {
        // The promise does not cover later changes.
        let commit = self.outline.commit.as_ref().filter(|_| !self.outline.is_dirty);
        promised_nodes(&commit?.message)
    }

    /// Runs the bench and stores its result. Blocks until the bench has ended.
    pub fn measure(&mut self, copies: usize) -> Result<Signature> {
        let Built { outline: Outline { label: name, recipe, .. }, launch, spawner, cancel, .. } =
            self;
        let recipe = &recipe.settings.bench;
        let signature = run_bench(&BenchTarget { name, launch, recipe, spawner, cancel }, copies)?;
        self.record.bench = Some(BenchRecord { how: recipe.how(), signature, copies });
        self.entry.write(&self.record)?;
        Ok(signature)
    }
}

/// Builder of programs from revisions.
pub struct Builder<'a> {
    /// Cache of programs.
    pub cache: &'a Cache,
    /// Settings that take precedence over the settings in the commit.
    pub settings: Option<BuildSettings>,
    /// Function that parses the settings file of a commit and returns the build settings.
    pub read: fn(&str) -> Result<Option<BuildSettings>, String>,
    /// Names of additional environment variables that are passed to builds.
    pub passed: &'a [String],
    /// Sandbox for the commands of a commit and for the bench of the built program. A build may
    /// also read the toolchains, write to its checkout and, if its recipe allows network access,
    /// use the network.
    pub sandbox: Option<Sandbox>,
    /// Files and folders that a snapshot of the working tree omits, such as the results folder.
    pub without: Vec<PathBuf>,
    /// Spawner of the processes.
    pub spawner: &'a Spawner,
    /// Signal that cancels a build and ends its processes.
    pub cancel: &'a Cancel,
    /// Receiver of messages for the user.
    pub notify: Box<dyn Fn(&str) + 'a>,
}

/// Hint for a failed build that may have needed the network.
const NO_NETWORK: &str = "; builds in the sandbox have no network unless [build] of arbiter.toml \
                          has `network = true`";

/// Name of the settings file in a commit.
const SETTINGS: &str = "arbiter.toml";

impl<'a> Builder<'a> {
    /// Describes a revision from git data alone, without running code of the revision. Fails for an
    /// unknown revision, and for a tree without a recipe.
    pub fn outline(&self, repo: &Repository, revision: &str) -> Result<Outline> {
        let (commit, snapshot) = if revision == WORKING_TREE {
            // The cache may be in the working tree; without this exclusion, each build would change
            // the snapshot.
            let mut without = self.without.clone();
            without.push(self.cache.folder.clone());
            // A repository without a commit also has a working tree.
            (repo.commit("HEAD").ok(), repo.snapshot(&self.cache.staging(), &without)?)
        } else {
            (Some(repo.commit(revision)?), None)
        };
        let is_dirty = snapshot.is_some();
        let label = label(revision, commit.as_ref(), is_dirty);
        let tree = match (&snapshot, &commit) {
            (Some(snapshot), _) => snapshot.tree.clone(),
            (None, Some(commit)) => commit.id.clone(),
            (None, None) => return Err(repo.unknown(revision)),
        };
        let recipe = self.recipe(repo, (revision, &tree), is_dirty, &label)?;
        Ok(Outline { label, commit, is_dirty, recipe, tree, snapshot })
    }

    /// Returns the program of a revision, cached or newly built. Blocks until a build has ended.
    /// The error of a failed build contains the failed step and the path of the log.
    pub fn build(&self, repo: &Repository, revision: &str) -> Result<Built<'a>> {
        let outline = self.outline(repo, revision)?;
        let Outline { label, commit, .. } = &outline;
        if outline.is_dirty {
            let than = commit.as_ref().map_or("no commit yet".to_owned(), |head| {
                format!("differs from commit {}", head.short())
            });
            (self.notify)(&format!("the working tree is dirty: {than}"));
        }
        let checkout = Checkout::new(repo, &outline, &self.cache.staging())?;
        let toolchain = self.toolchain(&checkout)?;
        let commit_id = outline.commit_id();
        let key = key(&outline, &toolchain, &compiler_environment(self.passed));
        let entry = self.cache.entry(&commit_id[..commit_id.len().min(9)], &key);
        let busy = || {
            (self.notify)(&format!("another arbiter is building {label}; waiting for the build"))
        };
        let lock = entry.lock(self.cancel, busy)?;
        // Another process may have built the program while this process waited for the lock.
        let record = match entry.intact() {
            Some(record) => record,
            None => self.make(&checkout, &entry, &toolchain)?,
        };
        // No other process can remove the entry while this process holds the lock.
        entry.hold()?;
        drop(lock);
        drop(checkout);
        let launch = Launch {
            program: entry.program(&record),
            environment: Some(build_environment(self.passed)),
            sandbox: self.sandbox.clone(),
            ..Launch::default()
        };
        // The objects of the snapshot are no longer needed.
        let outline = Outline { snapshot: None, ..outline };
        let Builder { spawner, cancel, .. } = *self;
        Ok(Built { outline, launch, entry, record, spawner, cancel })
    }

    fn recipe(
        &self,
        repo: &Repository,
        (revision, tree): (&str, &str),
        is_dirty: bool,
        label: &str,
    ) -> Result<Recipe> {
        let in_folder = |path: &str| {
            let path = repo.top.join(path);
            match read_settings(&path) {
                Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
                Err(error) => Err(io_error(path)(error)),
            }
        };
        // The objects of a snapshot are only in a separate folder, so the files are read from the
        // working tree.
        let text = |path: &str| if is_dirty { in_folder(path) } else { repo.text(tree, path) };
        let names = if is_dirty { present(&repo.top) } else { repo.names(tree)? };
        let settings = match &self.settings {
            Some(settings) => Some(settings.clone()),
            None => {
                // The settings file may be in the folder without being tracked by git.
                let text = if revision == WORKING_TREE {
                    in_folder(SETTINGS)?
                } else if names.iter().any(|name| name == SETTINGS) {
                    text(SETTINGS)?
                } else {
                    String::new()
                };
                let read = (self.read)(&text);
                let file = format!("{SETTINGS} of {label}");
                read.map_err(|reason| BuildError::invalid_recipe(&file, &reason))?
            }
        };
        // The build reports a build file that cannot be read.
        let readable = |path: &str| text(path).ok();
        recipe(settings.unwrap_or_default(), &names, readable).ok_or_else(|| {
            let text = format!(
                "{label} has no Cargo.toml, go.mod, Makefile, src/Makefile or CMakeLists.txt\nhint: \
                 set command and binary in [build] of arbiter.toml"
            );
            BuildError::Failed(BuildFailure::NoRecipe, text)
        })
    }

    /// Returns the output of the toolchain commands, and the features of the processor (these
    /// features affect builds with `-march=native`).
    fn toolchain(&self, checkout: &Checkout<'_>) -> Result<String> {
        let Outline { label, recipe, .. } = checkout.outline;
        let mut text = String::new();
        // The user is informed before a command of the commit runs.
        if recipe.settings.toolchain.is_some() {
            let tools = recipe.tools_text();
            (self.notify)(&format!("querying the toolchain of {label} by {tools}, in a checkout"));
        }
        for tool in &recipe.toolchain {
            let ended = self.shell(checkout, tool, TOOLCHAIN_TIMEOUT, |_| ())?;
            text.push_str(&format!("{tool}: {}\n{}\n", ended.how, ended.lines.join("\n")));
        }
        text.push_str(&processor_features());
        Ok(text)
    }

    fn make(&self, checkout: &Checkout<'_>, entry: &Entry, toolchain: &str) -> Result<BuildRecord> {
        let Outline { label, recipe, .. } = checkout.outline;
        let log = entry.log();
        let Recipe { command, source, .. } = recipe;
        let made = open_output(&log, File::options().write(true), Links::Refused);
        // The file is truncated, because an earlier failed build may have left its log.
        let made = made.and_then(|file| file.set_len(0).map(|()| file)).map_err(io_error(&log))?;
        let mut file = Log::new(made);
        file.add(&format!("$ {command}"));
        let file = Arc::new(Mutex::new(file));
        let shown = log.display().to_string();
        if self.sandbox.is_some() && !Sandbox::keeps_attributes() {
            (self.notify)(
                "this system has no user and mount namespaces: builds in a sandbox can change modes, \
                 owners and times of the user's files",
            );
        }
        (self.notify)(&format!("building {label} by `{command}` ({source}); log: {shown}"));
        let ended = self.run_steps(checkout, &file);
        // The log must be complete before an error message refers to it. A poisoned lock is
        // harmless: a panic while the lock is held leaves a valid state.
        let written = lock(&file).finish();
        written.map_err(io_error(&log))?;
        let ended = ended?;
        let fail = |failure, how: String| {
            let text = format!("the build of {label} {how}; the log is {}", log.display());
            Err(BuildError::Failed(failure, text))
        };
        match ended.reason {
            EndReason::Cancelled => return Err(BuildError::Cancelled),
            EndReason::TimedOut => {
                let seconds = recipe.timeout().as_secs_f64();
                let how = format!("exceeded the timeout of [build], {seconds} s");
                return fail(BuildFailure::Timeout, how);
            }
            EndReason::Exited if ended.code != Some(0) => {
                // An unreadable log must not hide the failure of the build.
                let text = read_input(&log).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                // The checkout is removed after the error, so its path would not help the user.
                let text = text.replace(&format!("{}/", checkout.top.display()), "");
                // The first line is the command itself, which may contain a word such as `error:`.
                let first = first_error(text.split_once('\n').map_or("", |(_, rest)| rest));
                let is_cut_off =
                    self.sandbox.is_some() && !recipe.settings.network && lacks_network(&text);
                let hint = if is_cut_off { NO_NETWORK } else { "" };
                let how = format!("failed ({}): {first:.300}{hint}", ended.how);
                return fail(BuildFailure::Command, how);
            }
            EndReason::Exited => {}
        }
        let program = match checkout.find_program() {
            Ok(program) => program,
            Err(why) => return fail(BuildFailure::NoBinary, format!("produced no program: {why}")),
        };
        let name = program.file_name().and_then(|name| name.to_str()).unwrap_or("engine");
        let record = BuildRecord {
            program: name.to_owned(),
            commit: checkout.outline.commit_id().to_owned(),
            command: command.clone(),
            toolchain: toolchain.to_owned(),
            seconds: ended.elapsed.as_secs_f64(),
            ..BuildRecord::default()
        };
        let record = entry.store(&checkout.top.join(&program), record)?;
        (self.notify)(&format!("built {label} in {} s", record.seconds.round() as u64));
        Ok(record)
    }

    /// Fetches submodules if the recipe requires them, and runs the build command. Returns the
    /// result of the last step that ran.
    fn run_steps(&self, checkout: &Checkout<'_>, log: &Arc<Mutex<Log>>) -> Result<Completed> {
        let recipe = &checkout.outline.recipe;
        let run = |step: &str, limit| {
            let log = log.clone();
            self.shell(checkout, step, limit, move |line: &str| {
                lock(&log).add(line);
            })
        };
        let mut spent = Duration::ZERO;
        if recipe.submodules {
            let fetched = run("git submodule update --init --recursive", recipe.timeout())?;
            if fetched.code != Some(0) {
                return Ok(fetched);
            }
            spent = fetched.elapsed;
        }
        // Both steps share the time limit of the recipe.
        let mut ended = run(&recipe.command, recipe.timeout().saturating_sub(spent))?;
        ended.elapsed += spent;
        Ok(ended)
    }

    /// Runs a script in a checkout, with the build environment and the variables of the recipe.
    fn shell(
        &self,
        checkout: &Checkout<'_>,
        script: &str,
        limit: Duration,
        read: impl FnMut(&str) + Send + 'static,
    ) -> Result<Completed> {
        let settings = &checkout.outline.recipe.settings;
        let (mut environment, sandbox) = match &self.sandbox {
            None => (build_environment(self.passed), None),
            Some(base) => {
                let (readable, environment) = toolchains(self.passed);
                let sandbox = Sandbox {
                    readable: [&base.readable[..], &readable, &checkout.objects].concat(),
                    home: Some(checkout.home.clone()),
                    is_builder: true,
                    has_network: settings.network,
                    ..base.clone()
                };
                (environment, Some(sandbox))
            }
        };
        // A build has no input to read a password from.
        environment.push(("GIT_TERMINAL_PROMPT".into(), "0".into()));
        // The variables of the recipe come last, because later values replace earlier ones.
        environment.extend(settings.env.iter().map(|(name, value)| (name.into(), value.into())));
        // The shell joins both outputs, so that the log contains the lines in the order in which
        // they were written. The script is an argument, because quoting would change scripts that
        // contain quotation marks.
        let args = ["-c", "exec 2>&1; eval \"$0\"", script].map(str::to_owned).into();
        let launch = Launch {
            program: "/bin/sh".into(),
            args,
            dir: Some(checkout.top.clone()),
            environment: Some(environment),
            sandbox,
            ..Launch::default()
        };
        // A build has nothing to save, so it is killed without a grace period.
        let timeouts = Timeouts { limit, grace: Duration::ZERO };
        Ok(run_to_completion(self.spawner, &launch, timeouts, self.cancel, read)?)
    }
}

/// Returns a readable name for a revision; the name contains the commit.
fn label(revision: &str, commit: Option<&Commit>, is_dirty: bool) -> String {
    let short = commit.map_or("no-commit", Commit::short);
    let is_name =
        revision != WORKING_TREE && commit.is_none_or(|commit| !commit.id.starts_with(revision));
    match (is_dirty, is_name) {
        (true, _) => format!("{short}-dirty"),
        (false, true) => format!("{revision}@{short}"),
        (false, false) => short.to_owned(),
    }
}

fn key(outline: &Outline, toolchain: &str, environment: &[(OsString, OsString)]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &[u8]| {
        // The lengths distinguish lists whose concatenated strings are equal.
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    let Recipe { command, submodules, settings, .. } = &outline.recipe;
    let BuildSettings { binary, env, .. } = settings;
    let binary = binary.as_ref().map(|path| path.display().to_string());
    for text in [
        // The number changes with the meaning of the key, so that older entries are no longer
        // found.
        "arbiter build 2",
        outline.commit_id(),
        &outline.tree,
        command,
        binary.as_deref().unwrap_or_default(),
        &submodules.to_string(),
        toolchain,
        // The number of variables separates the recipe's variables from the variables of the
        // environment.
        &env.len().to_string(),
    ] {
        add(text.as_bytes());
    }
    env.iter().flat_map(|(name, value)| [name, value]).for_each(|text| add(text.as_bytes()));
    let variables = environment.iter().flat_map(|(name, value)| [name, value]);
    variables.for_each(|text| add(text.as_encoded_bytes()));
    hasher.finalize()
}

/// Returns the names in a folder and in its subfolder `src`.
fn present(top: &Path) -> Vec<String> {
    let within = |dir: &str| {
        let entries = std::fs::read_dir(top.join(dir)).into_iter().flatten().flatten();
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        entries.filter_map(move |e| Some(format!("{prefix}{}", e.file_name().to_str()?)))
    };
    within("").chain(within("src")).collect()
}
