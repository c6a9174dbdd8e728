//! `arbiter sprt` and `arbiter match`.

use clap::Args;

use super::args::{PlayArgs, SprtBounds};
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

/// Plays until the SPRT can tell.
pub fn sprt(args: SprtArgs) -> ExitCode {
    match args.play.ask(Some(args.bounds)) {
        Ok(asked) => play::play(Kind::Sprt, asked),
        Err(error) => fail(ExitCode::Invalid, error),
    }
}

/// Plays all pairs.
pub fn versus(args: MatchArgs) -> ExitCode {
    match args.play.ask(None) {
        Ok(asked) => play::play(Kind::Match, asked),
        Err(error) => fail(ExitCode::Invalid, error),
    }
}
