//! Builds of git revisions: commit, separate checkout, recipe, cache.
//!
//! The user's repository is only read. A checkout is a separate repository that borrows the objects
//! of the user's repository, so the user's branches, worktrees and index are not affected. A built
//! program is cached under a name that depends on commit, recipe and toolchain, so that each
//! program is built only once.

mod bench;
mod cache;
mod checkout;
mod clean;
mod environment;
mod error;
mod git;
mod log;
mod recipe;
mod runner;
#[cfg(test)]
mod tests;

pub use bench::{
    BenchReader, BenchRecipe, BenchTarget, Signature, promised_nodes, run_bench, run_bench_once,
};
pub use cache::{BenchRecord, BuildRecord, Cache, Entry};
pub use clean::{
    KeptBuild, abandoned_folders, builds_to_remove, kept_builds, remove_abandoned, remove_build,
};
pub use environment::build_environment;
pub use error::{BuildError, BuildFailure};
pub use git::{Commit, Repository};
pub use recipe::{BuildSettings, Recipe};
pub use runner::{Builder, Built, Outline, WORKING_TREE};
