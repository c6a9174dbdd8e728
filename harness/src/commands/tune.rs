//! `arbiter tune`: which values of its parameters make an engine stronger?

mod confirm;
mod parameters;
mod patch;
pub(super) mod simulate;

use clap::{Args, Subcommand};

use self::confirm::ConfirmArgs;
use self::parameters::ParameterArgs;
use crate::{ExitCode, Failure, PlayArgs, RequestedRun, run};
use arbiter_plan::{DEFAULT_AHEAD, DEFAULT_ITERATIONS, DEFAULT_TUNING_PAIRS, RunKind};
use arbiter_spsa::{A_RATIO, ALPHA, GAMMA, Tuning};

/// Flags of `arbiter tune`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
A parameter is a line NAME,START,MIN,MAX,C_END,R_END, or NAME,int|float,START,… as in OpenBench. In
each iteration every parameter is moved up or down by a coin, by C_END at the end and more before, and
the engine so changed plays --pairs pairs against the engine changed the other way; a won game then
moves the values by R_END of the perturbation at the end. The schedule is fixed from the start, so a
tuning ends by itself or by its user; an interrupted one goes on with --resume, on the same path. Of
--spins the start is the option's default, C_END a twentieth of its range (0.5 at least), R_END 0.002.

The result is no proof: --confirm plays the SPRT of the tuned values against those of the start.

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
    gains: GainArgs,
    /// Iterations that may start before the result of one is known, so that no slot waits for the
    /// last game of each; their values are older by as much [default: 1]
    #[arg(long, value_name = "N")]
    ahead: Option<u64>,
    /// Do not try first whether the engine heeds the parameters
    #[arg(long)]
    no_probe: bool,
    #[command(flatten)]
    play: PlayArgs,
    #[command(flatten)]
    confirm: ConfirmArgs,
}

/// The schedule.
#[derive(Debug, Args)]
struct GainArgs {
    /// How often the values are moved [default: 1000]
    #[arg(long, value_name = "N", conflicts_with = "rounds")]
    iterations: Option<u64>,
    /// Exponent of the step [default: 0.602]
    #[arg(long, value_name = "X")]
    alpha: Option<f64>,
    /// Exponent of the perturbation [default: 0.101]
    #[arg(long, value_name = "X")]
    gamma: Option<f64>,
    /// Part of all pairs by which the first steps are held back [default: 0.1]
    #[arg(long, value_name = "SHARE")]
    a_ratio: Option<f64>,
}

#[derive(Debug, Subcommand)]
enum TuneCommand {
    /// Tunes a simulated objective whose optimum is known: what can the schedule find?
    Simulate(simulate::SimulateArgs),
    /// Prints a run's values as a patch for the source file that defines them.
    Patch(patch::PatchArgs),
    /// Prints spin options of an engine as a table of parameters.
    Spins(parameters::SpinsArgs),
}

/// Tunes, or does what goes with it.
pub(crate) fn run(args: TuneArgs) -> Result<ExitCode, Failure> {
    match args.command {
        Some(TuneCommand::Simulate(args)) => simulate::run(&args),
        Some(TuneCommand::Patch(args)) => patch::run(&args),
        Some(TuneCommand::Spins(args)) => parameters::print(&args),
        None => start(args),
    }
}

fn start(args: TuneArgs) -> Result<ExitCode, Failure> {
    let confirm = args.confirm.clone();
    let requested = requested(args)?;
    let (results, format) = (requested.results.clone(), requested.format);
    let (name, code) = run::play_named(RunKind::Tune, requested)?;
    match code {
        ExitCode::Passed if confirm.is_wanted() => confirm.play(&results, &name, format),
        code => Ok(code),
    }
}

/// Merges flags and file; flags win.
fn requested(args: TuneArgs) -> Result<RequestedRun, Failure> {
    let TuneArgs { parameters, gains, ahead, no_probe, mut play, .. } = args;
    let settings = play.file()?;
    let (table, file) = (&settings.tune, settings.name());
    let is_new = !play.is_resuming();
    if is_new || gains.iterations.is_some() {
        let iterations = gains.iterations.or(table.iterations).unwrap_or(DEFAULT_ITERATIONS);
        let pairs = table.pairs.unwrap_or(DEFAULT_TUNING_PAIRS);
        play.settings.rounds.get_or_insert(iterations);
        if play.settings.games.is_none() {
            play.settings.pairs.get_or_insert(pairs);
        }
    }
    let mut requested = play.resolve(None)?;
    let parameters = match is_new || parameters.is_given() {
        true => parameters.resolve(table, &file, &mut requested)?,
        false => Vec::new(),
    };
    requested.request.tuning = Some(Tuning {
        parameters,
        alpha: gains.alpha.or(table.alpha).unwrap_or(ALPHA),
        gamma: gains.gamma.or(table.gamma).unwrap_or(GAMMA),
        a_ratio: gains.a_ratio.or(table.a_ratio).unwrap_or(A_RATIO),
        // As many as the tournament has.
        iterations: 0,
        pairs: 0,
        ahead: ahead.or(table.ahead).unwrap_or(DEFAULT_AHEAD),
    });
    requested.is_probed = is_new && !no_probe;
    Ok(requested)
}
