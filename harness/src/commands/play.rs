//! `arbiter sprt`, `arbiter match` and `arbiter tournament`.

use clap::Args;

use crate::{args::PlayArgs, exit_code::ExitCode, failure::Failure, run};
use arbiter_names::{did_you_mean, names};
use arbiter_plan::RunKind;
use arbiter_report::note;
use arbiter_schedule::Format;
use arbiter_settings::{ScheduleKeys, TestSettings, merged};

/// Flags of `arbiter sprt`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  arbiter sprt HEAD main --each tc=8+0.08
  arbiter sprt ./new ./old --elo0 -3 --elo1 1 --each nodes=20000,option.Hash=16
  arbiter sprt --resume sprt-20260101-120000
  arbiter sprt                                    a demonstration: an evaluation with and without a feature")]
pub(crate) struct SprtArgs {
    #[command(flatten)]
    pub play: PlayArgs,
    #[command(flatten)]
    pub bounds: TestSettings,
}

/// Plays an SPRT.
pub(crate) fn sprt(args: SprtArgs) -> Result<ExitCode, Failure> {
    let requested = args.play.resolve(Some(args.bounds))?;
    let has_engines =
        !requested.request.engines.is_empty() || requested.flags.build.dev().is_some();
    let is_demonstration = !has_engines && requested.flags.resume.is_none();
    if is_demonstration && requested.given.contains("each") {
        let reason = "no engines given; name two, as in `arbiter sprt HEAD main --each tc=8+0.08`";
        return Err(Failure::usage(reason));
    }
    let code = run::run_command(RunKind::Sprt, requested)?;
    if is_demonstration {
        note(
            "This was Palimpsest with and without the mobility term of its hand-crafted \
             evaluation. Test your own engine with: arbiter sprt ./new ./old --each tc=8+0.08",
        );
    }
    Ok(code)
}

/// Plays a match.
pub(crate) fn play_match(args: PlayArgs) -> Result<ExitCode, Failure> {
    run::run_command(RunKind::Match, args.resolve(None)?)
}

/// Plays a tournament.
pub(crate) fn tournament(mut args: PlayArgs) -> Result<ExitCode, Failure> {
    let first = args.engines.first().cloned().unwrap_or_default();
    let mut hint = String::new();
    if let Ok(format) = first.parse::<Format>() {
        if merged(args.settings.schedule.clone()).format.is_some() {
            let message = "give the format of the tournament once, without --schedule";
            return Err(Failure::usage(message));
        }
        args.engines.remove(0);
        let keys = ScheduleKeys { format: Some(format), ..ScheduleKeys::default() };
        args.settings.schedule.push(keys);
    } else {
        hint = did_you_mean(&first, names::<Format>().iter().copied());
    }
    let requested = args.resolve(None);
    let played = requested.and_then(|requested| run::run_command(RunKind::Tournament, requested));
    played.map_err(|failure| match failure.code {
        // The first word may be a misspelt format.
        ExitCode::NoRevision => Failure::new(failure.code, failure.message + &hint),
        _ => failure,
    })
}
