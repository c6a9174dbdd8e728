//! Tests of UCI sessions with the engine program.

#![expect(clippy::disallowed_methods, reason = "answers are timed")]
#![allow(
    unreachable_pub,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

mod engine;
mod memory;
mod nonsense;
mod searches;
mod session;
