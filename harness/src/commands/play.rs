//! `arbiter sprt`, `arbiter match` and `arbiter tournament`.

use clap::Args;

use crate::args::tournament::ScheduleArg;
use crate::args::{ArgsError, Asked, PlayArgs, SprtBounds};
use crate::exit_code::ExitCode;
use crate::failure::fail;
use crate::run;
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
    pub fn ask(self) -> Result<Asked, ArgsError> {
        self.play.ask(Some(self.bounds))
    }
}

impl MatchArgs {
    /// Merges flags and file.
    pub fn ask(self) -> Result<Asked, ArgsError> {
        self.play.ask(None)
    }
}

/// Plays until the SPRT can tell.
pub fn sprt(args: SprtArgs) -> ExitCode {
    match args.ask() {
        Ok(asked) => run::play(Kind::Sprt, asked),
        Err(error) => fail(ExitCode::Invalid, error),
    }
}

/// Plays all pairs.
pub fn play_match(args: MatchArgs) -> ExitCode {
    match args.ask() {
        Ok(asked) => run::play(Kind::Match, asked),
        Err(error) => fail(ExitCode::Invalid, error),
    }
}

/// Plays a tournament.
pub fn tournament(mut args: TournamentCommand) -> ExitCode {
    args.play.tournament.set_format(args.format_of_tournament);
    match args.play.ask(None) {
        Ok(asked) => run::play(Kind::Tournament, asked),
        Err(error) => fail(ExitCode::Invalid, error),
    }
}
