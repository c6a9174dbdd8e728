//! `arbiter sprt`, `arbiter match` and `arbiter tournament`.

use clap::Args;

use super::args::{ArgsError, Asked, PlayArgs, SprtBounds};
use super::tournament_args::ScheduleArg;
use super::{ExitCode, fail, play};
use arbiter_plan::plan::Kind;

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

/// Flags of `arbiter tournament`.
#[derive(Debug, Args)]
pub struct TournamentCommand {
    /// Who meets whom [default: round-robin]
    #[arg(value_name = "FORMAT", conflicts_with_all = ["resume", "schedule"])]
    format_of_tournament: Option<ScheduleArg>,
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

/// Plays a tournament.
pub fn tournament(mut args: TournamentCommand) -> ExitCode {
    args.play.tournament.set_format(args.format_of_tournament);
    match args.play.ask(None) {
        Ok(asked) => play::play(Kind::Tournament, asked),
        Err(error) => fail(ExitCode::Invalid, error),
    }
}
