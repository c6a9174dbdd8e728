//! Builds of git revisions: commit, separate checkout, recipe, cache.
//!
//! The user's repository is only read. A checkout is a repository of its own that borrows the
//! objects of the user's, so that neither branches nor worktrees nor the index of the user's see
//! anything of it. A built program is kept under a name that follows from commit, recipe and
//! toolchain, and is never built twice.

mod bench;
mod cache;
mod checkout;
mod clean;
mod environment;
mod error;
mod files;
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
    KeptBuild, Policy, abandoned_folders, builds_to_remove, kept_builds, remove_abandoned,
    remove_build,
};
pub use environment::build_environment;
pub use error::{BuildError, BuildFailure};
pub use git::{Commit, Repository};
pub use recipe::{BuildSettings, Recipe};
pub use runner::{Builder, Built, Outline, WORKING_TREE};
