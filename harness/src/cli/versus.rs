//! `arbiter sprt` and `arbiter match`.

use clap::Args;

use super::args::{ArgsError, Asked, PlayArgs, SprtBounds};
use super::{ExitCode, fail, play};
use crate::config::plan::Kind;

/// Flags of `arbiter sprt`.
#[derive(Debug, Args)]
pub struct SprtArgs {
    #[command(flatten)]
    play: PlayArgs,
    #[command(flatten)]
    bounds: SprtBounds,
}

/// Flags of `arbiter match`.
#[derive(Debug, Args)]
pub struct MatchArgs {
    #[command(flatten)]
    play: PlayArgs,
}

impl SprtArgs {
    /// Merges flags and file.
    pub(super) fn ask(self) -> Result<Asked, ArgsError> {
        self.play.ask(Some(self.bounds))
    }
}

impl MatchArgs {
    /// Merges flags and file.
    pub(super) fn ask(self) -> Result<Asked, ArgsError> {
        self.play.ask(None)
    }
}

/// Plays until the SPRT can tell.
pub fn sprt(args: SprtArgs) -> ExitCode {
    match args.ask() {
        Ok(asked) => play::play(Kind::Sprt, asked),
        Err(error) => fail(ExitCode::Invalid, error),
    }
}

/// Plays all pairs.
pub fn versus(args: MatchArgs) -> ExitCode {
    match args.ask() {
        Ok(asked) => play::play(Kind::Match, asked),
        Err(error) => fail(ExitCode::Invalid, error),
    }
}
