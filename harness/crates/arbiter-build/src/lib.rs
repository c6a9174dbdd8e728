//! From a git revision to a program: commit, checkout of its own, recipe, cache.
//!
//! The user's repository is only read. A checkout is a repository of its own that borrows the
//! objects of the user's, so that neither branches nor worktrees nor the index of the user's see
//! anything of it. What was built is kept under a name that follows from commit, recipe and
//! toolchain, and is never built twice.

pub mod bench;
pub mod cache;
mod checkout;
pub mod clean;
mod error;
pub mod git;
pub mod recipe;
mod runner;

pub use error::BuildError;
pub use runner::{Builder, Built, Notice, WORKING_TREE};
