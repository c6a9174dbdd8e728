//! `arbiter tune`: tuning of engine parameters by SPSA.

mod confirm;
mod parameters;
mod patch;
pub(super) mod simulate;

use clap::{Args, Subcommand};

use self::confirm::ConfirmArgs;
use self::parameters::ParameterArgs;
use crate::{
    args::PlayArgs, exit_code::ExitCode, failure::Failure, requested_run::RequestedRun, run,
};
use arbiter_plan::{DEFAULT_ITERATIONS, DEFAULT_TUNING_PAIRS, RunKind};
use arbiter_settings::TuneTable;

/// Flags of `arbiter tune`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
A parameter is a line NAME,START,MIN,MAX,C_END,R_END, or NAME,int|float,START,… as in OpenBench. In each iteration,
every parameter is randomly perturbed up or down, and the engine with these values plays --pairs pairs against the
engine with the opposite perturbations. The perturbations decrease to C_END in the last iteration, in which a won game
moves the values by the fraction R_END of the perturbation. The schedule is fixed from the start: a tuning run ends
after its last iteration, and --resume continues an interrupted run on the same path. For --spins, START is the default
of the option, C_END is a twentieth of its range (at least 0.5), and R_END is 0.002.

Tuned values may be weaker: --confirm plays an SPRT of the tuned values against the initial values.

Examples:
  arbiter tune ./mine --params params.txt --iterations 2000 --each tc=4+0.04
  arbiter tune ./mine --spins 'razor_*,null_depth' --each nodes=5000 --confirm
  arbiter tune --resume RUN --confirm
  arbiter tune patch RUN --table src/params.rs | patch -p0")]
pub(crate) struct TuneArgs {
    #[command(subcommand)]
    command: Option<TuneCommand>,
    #[command(flatten)]
    parameters: ParameterArgs,
    #[command(flatten)]
    gains: TuneTable,
    /// Skip the check that parameters affect the engine
    #[arg(long)]
    no_probe: bool,
    #[command(flatten)]
    play: PlayArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
}

#[derive(Debug, Subcommand)]
enum TuneCommand {
    /// Tune a simulated objective with a known optimum, to judge a schedule.
    Simulate(simulate::SimulateArgs),
    /// Print the tuned values of a run as a patch for the source file that defines them.
    Patch(patch::PatchArgs),
    /// Print spin options of an engine as a table of parameters.
    Spins(parameters::SpinsArgs),
}

/// Tunes parameters, or runs a subcommand.
pub(crate) fn run(args: TuneArgs) -> Result<ExitCode, Failure> {
    match args.command {
        Some(TuneCommand::Simulate(args)) => simulate::run(&args)?,
        Some(TuneCommand::Patch(args)) => patch::run(&args)?,
        Some(TuneCommand::Spins(args)) => parameters::print(&args)?,
        None => return start(args),
    }
    Ok(ExitCode::Passed)
}

fn start(args: TuneArgs) -> Result<ExitCode, Failure> {
    let confirm = args.confirm.clone();
    let requested = requested_run(args)?;
    let results = requested.results.clone();
    let format = requested.flags.format;
    let (name, code) = run::play_and_name(RunKind::Tune, requested)?;
    match code {
        ExitCode::Passed if confirm.confirm => confirm.play(&results, &name, format),
        code => Ok(code),
    }
}

/// Merges the flags with the settings file; flags take precedence.
fn requested_run(args: TuneArgs) -> Result<RequestedRun, Failure> {
    let TuneArgs { parameters, gains, no_probe, mut play, .. } = args;
    let settings = play.file()?;
    let file = settings.name();
    let is_new = !play.is_resuming();
    let names_iterations = gains.iterations.is_some();
    let table = gains.or(settings.tune);
    if is_new || names_iterations {
        play.settings.rounds.get_or_insert(table.iterations.unwrap_or(DEFAULT_ITERATIONS));
        if play.settings.games.is_none() {
            play.settings.pairs.get_or_insert(table.pairs.unwrap_or(DEFAULT_TUNING_PAIRS));
        }
    }
    let mut requested = play.resolve(None)?;
    let parameters = if is_new || parameters.is_given() {
        parameters.resolve(&table, &file, &mut requested)?
    } else {
        Vec::new()
    };
    requested.request.tuning = Some(table.tuning(parameters));
    requested.is_probed = is_new && !no_probe;
    Ok(requested)
}
