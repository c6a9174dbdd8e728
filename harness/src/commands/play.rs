//! `arbiter sprt`, `arbiter match` and `arbiter tournament`.

use clap::Args;

use crate::{ExitCode, FORMATS, Failure, PlayArgs, RequestedRun, SprtBounds, run};
use arbiter_plan::RunKind;
use arbiter_schedule::Format;

/// Flags of `arbiter sprt`.
#[derive(Debug, Args)]
pub(crate) struct SprtArgs {
    #[command(flatten)]
    play: PlayArgs,
    #[command(flatten)]
    bounds: SprtBounds,
}

/// Flags of `arbiter tournament`.
#[derive(Debug, Args)]
pub(crate) struct TournamentCommand {
    /// Who meets whom [default: round-robin]
    #[arg(value_name = "FORMAT", conflicts_with = "schedule",
        value_parser = FORMATS.parser())]
    format_of_tournament: Option<Format>,
    #[command(flatten)]
    play: PlayArgs,
}

impl SprtArgs {
    /// Merges flags and file.
    pub(crate) fn resolve(self) -> Result<RequestedRun, Failure> {
        self.play.resolve(Some(self.bounds))
    }
}

/// Plays until the SPRT accepts a hypothesis.
pub(crate) fn sprt(args: SprtArgs) -> Result<ExitCode, Failure> {
    run::play(RunKind::Sprt, args.resolve()?)
}

/// Plays all pairs.
pub(crate) fn play_match(args: PlayArgs) -> Result<ExitCode, Failure> {
    run::play(RunKind::Match, args.resolve(None)?)
}

/// Plays a tournament.
pub(crate) fn tournament(mut args: TournamentCommand) -> Result<ExitCode, Failure> {
    args.play.tournament.set_format(args.format_of_tournament);
    run::play(RunKind::Tournament, args.play.resolve(None)?)
}
