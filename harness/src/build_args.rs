//! Flags that name and build engines.

use std::path::{Path, PathBuf};

use arbiter_build::{BuildError, Repository};
use clap::Args;

/// Default revision under test, if only the base is given.
pub(crate) const DEFAULT_DEV: &str = "HEAD";

/// Flags of every command that takes engines.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Builds")]
pub(crate) struct BuildArgs {
    /// Engine under test, specified like ENGINE in `arbiter match -h`; if it is a revision, its
    /// bench runs after the build [default with --base: HEAD]
    #[arg(help_heading = "Engines", long, value_name = "ENGINE")]
    pub dev: Option<String>,
    /// Reference engine
    #[arg(help_heading = "Engines", long, value_name = "ENGINE")]
    pub base: Option<String>,
    /// Repository of the revisions [default: repository of the current folder]
    #[arg(long, value_name = "PATH")]
    pub repo: Option<PathBuf>,
    /// Folder of the build cache [default: arbiter in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Do not run the bench of builds
    #[arg(long)]
    pub no_bench: bool,
    /// Environment variable to pass to builds and their benches, besides common variables such as
    /// PATH, HOME, CC and CARGO_HOME; may be repeated
    #[arg(long, value_name = "NAME")]
    pub pass_env: Vec<String>,
}

impl BuildArgs {
    /// Returns the engine under test, which is `HEAD` if the flags name only a base; `None` if the
    /// flags name no engine.
    pub(crate) fn dev(&self) -> Option<&str> {
        self.dev.as_deref().or(self.base.as_ref().map(|_| DEFAULT_DEV))
    }

    /// Opens the repository at `own`, by default the repository that `--repo` names or the
    /// repository of the current folder.
    pub(crate) fn repository(&self, own: Option<&Path>) -> Result<Repository, BuildError> {
        Repository::open(own.or(self.repo.as_deref()).unwrap_or(Path::new(".")))
    }
}
