//! `arbiter sprt`, `arbiter match` and `arbiter tournament`.

use clap::Args;

use crate::{
    ExitCode, FORMATS, Failure, PlayArgs, RequestedRun, SprtBounds, engine_names::HELP as ENGINES,
    run,
};
use arbiter_plan::RunKind;

/// Flags of `arbiter sprt`.
#[derive(Debug, Args)]
#[command(after_help = ENGINES)]
pub(crate) struct SprtArgs {
    #[command(flatten)]
    play: PlayArgs,
    #[command(flatten)]
    bounds: SprtBounds,
}

/// Flags of `arbiter tournament`.
#[derive(Debug, Args)]
pub(crate) struct TournamentCommand {
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
    let format = args.play.engines.first().and_then(|word| FORMATS.read(word).ok());
    if format.is_some() {
        args.play.engines.remove(0);
        args.play.tournament.set_format(format);
    }
    run::play(RunKind::Tournament, args.play.resolve(None)?)
}
