//! End-to-end tests, in one binary so that they link once.
//!
//! [`tidy`] checks the rules of the repository. [`puppet`] checks the misbehaving engine, because
//! the other tests rely on it. All other tests run the harness as a user does, and check its
//! output, exit codes, files and remaining processes.

#![expect(clippy::disallowed_macros, reason = "the texts of a test, which has a thread of its own")]
#![expect(clippy::disallowed_methods, reason = "tests wait, and time what they wait for")]
#![allow(
    unreachable_pub,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

mod ablate;
mod affinity;
mod behaviour;
mod books;
mod browser;
mod builds;
mod check;
mod ci;
mod cli;
mod compat;
mod contention;
mod control;
mod datagen;
mod distributed;
mod doctor;
mod engines;
mod examples;
mod faults;
mod foreign_builds;
mod games;
mod init;
mod input;
mod keep;
mod limits;
mod lint;
mod load;
mod log;
mod metrics;
mod mine;
mod mistakes;
mod option_files;
mod outputs;
mod pictures;
mod project;
mod puppet;
mod real;
mod records;
mod reports;
mod resume;
mod schemas;
mod serve;
mod services;
mod signals;
mod snapshots;
mod sprt;
mod statistics;
mod suites;
mod support;
mod tablebases;
mod terminal;
mod tidy;
mod tournaments;
mod transcripts;
mod tune;
mod viewers;
