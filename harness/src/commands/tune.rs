//! `arbiter tune`: tuning of engine parameters by SPSA.

pub(super) mod simulate;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::build_args::BuildArgs;
use crate::output::{OutputFormat, print_result};
use crate::requested_run::{RequestedRun, RunArgs};
use crate::{
    args::PlayArgs, engine_builds::setup, exit_code::ExitCode, failure::Failure,
    project::ResultsArg, run, runtime::runtime, suite_run,
};
use arbiter_names::did_you_mean;
use arbiter_plan::{
    DEFAULT_ITERATIONS, DEFAULT_SPRT_PAIRS, DEFAULT_TUNING_PAIRS, Engine, RunKind, SprtRequest,
    confirmation, resolve_engine,
};
use arbiter_process::read_text;
use arbiter_report::note;
use arbiter_runner::spin_options;
use arbiter_settings::{TuneTable, help};
use arbiter_spsa::patch::{applied, unified};
use arbiter_spsa::{Parameter, table};
use arbiter_stats::{DEFAULT_ELO0, DEFAULT_ELO1};
use arbiter_store::Store;

/// Spin options that a pattern with `*` does not match, because they are usually not tuned.
const USUAL: &str = "\
Hash, Threads, MultiPV, Move Overhead, MoveOverhead, Skill Level, UCI_Elo, Slow Mover, nodestime, \
SyzygyProbeDepth, SyzygyProbeLimit, Minimum Thinking Time";

/// Hint for an engine without suitable spin options.
const DECLARE: &str = "Many engines declare their parameters in a build for tuning only \
(Palimpsest: cargo build --release -p palimpsest --features tuning); in your own, print one line \
for each in reply to uci: option name razor_margin type spin default 240 min 80 max 720";

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
    Patch(PatchArgs),
    /// Print spin options of an engine as a table of parameters.
    Spins(SpinsArgs),
}

/// Parameters to tune.
#[derive(Debug, Args)]
struct ParameterArgs {
    /// File with parameters, one per line
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// Parameter, as a line of --params; may be repeated
    #[arg(long, value_name = "LINE")]
    param: Vec<String>,
    /// Spin options to tune, separated by commas; a name may end with *
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "resume")]
    spins: Vec<String>,
}

/// Flags of `arbiter tune patch`.
#[derive(Debug, Args)]
struct PatchArgs {
    /// Name of the run, or latest
    run: String,
    /// Source file (Rust, C or C++) with the number of each parameter: `NAME = 3`,
    /// `#define NAME 3`, `NAME{3}`, `PARAM(NAME, 3, …)`
    #[arg(long, value_name = "FILE")]
    table: PathBuf,
    #[command(flatten)]
    results: ResultsArg,
}

/// Flags of `arbiter tune spins`.
#[derive(Debug, Args)]
struct SpinsArgs {
    /// Engine, specified like ENGINE in `arbiter match -h`
    #[arg(value_name = "ENGINE")]
    engine: String,
    /// Options to print, separated by commas; a name may end with *
    #[arg(value_name = "NAMES", value_delimiter = ',', default_value = "*")]
    names: Vec<String>,
}

/// Flags of the confirmation.
#[derive(Debug, Args)]
#[command(next_help_heading = "Confirmation")]
struct ConfirmArgs {
    /// After the run, play run NAME-confirm: an SPRT of the tuned values against the initial
    /// values; with --resume, start or resume this SPRT
    #[arg(long)]
    confirm: bool,
    #[arg(help = help("Elo of the null hypothesis", &[&DEFAULT_ELO0]), long, value_name = "ELO", allow_negative_numbers = true, requires = "confirm")]
    elo0: Option<f64>,
    #[arg(help = help("Elo of the alternative", &[&DEFAULT_ELO1]), long, value_name = "ELO", allow_negative_numbers = true, requires = "confirm")]
    elo1: Option<f64>,
    #[arg(help = help("Maximum number of pairs of the SPRT", &[&DEFAULT_SPRT_PAIRS]), long, value_name = "N", requires = "confirm")]
    confirm_pairs: Option<u64>,
}

/// Tunes parameters, or runs a subcommand.
pub(crate) fn run(args: TuneArgs) -> Result<ExitCode, Failure> {
    match args.command {
        Some(TuneCommand::Simulate(args)) => simulate::run(&args)?,
        Some(TuneCommand::Patch(args)) => patch(&args)?,
        Some(TuneCommand::Spins(args)) => print_spins(&args)?,
        None => return start(args),
    }
    Ok(ExitCode::Passed)
}

/// Merges the flags with the settings file (flags take precedence), and tunes.
fn start(args: TuneArgs) -> Result<ExitCode, Failure> {
    let TuneArgs { parameters, gains, no_probe, mut play, confirm, .. } = args;
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
    let names_parameters = parameters.params.is_some() || !parameters.param.is_empty();
    let parameters = if is_new || names_parameters {
        parameters.resolve(&table, &file, &mut requested)?
    } else {
        Vec::new()
    };
    requested.request.tuning = Some(table.tuning(parameters));
    requested.is_probed = is_new && !no_probe;
    let results = requested.results.clone();
    let format = requested.flags.format;
    let build = requested.flags.build.clone();
    let (name, code) = run::play_and_name(RunKind::Tune, requested)?;
    match code {
        ExitCode::Passed if confirm.confirm => confirm.play(&results, &name, format, build),
        code => Ok(code),
    }
}

impl ParameterArgs {
    /// Returns the parameters from the flags, or else from the settings file.
    fn resolve(
        self,
        file: &TuneTable,
        file_name: &str,
        requested: &mut RequestedRun,
    ) -> Result<Vec<Parameter>, Failure> {
        requested.settings_files.extend(self.params.iter().chain(&file.params).cloned());
        let mut found = listed(self.params.as_deref(), &self.param)?;
        let mut spins = self.spins;
        if found.is_empty() && spins.is_empty() && self.params.is_none() {
            found = listed(file.params.as_deref(), &[])?;
            let more = file.parameters();
            found.extend(more.map_err(|error| Failure::invalid(format!("{file_name}: {error}")))?);
            spins.clone_from(&file.spins);
        }
        // A tuning run has one engine. If there are two engines, an error is reported later.
        if !spins.is_empty() && requested.request.engines.len() < 2 {
            run::make_engines(RunKind::Tune, requested)?;
            let request = &requested.request;
            if let [engine] = &request.engines[..] {
                let spec = engine.clone().or(&request.each);
                let engine = resolve_engine(0, spec).map_err(Failure::invalid)?;
                found.extend(declared(&engine, &spins)?);
            }
        }
        Ok(found)
    }
}

/// Parses the parameters in `file` and in `lines`.
fn listed(file: Option<&Path>, lines: &[String]) -> Result<Vec<Parameter>, Failure> {
    let mut found = Vec::new();
    if let Some(path) = file {
        let wrong = |error: String| Failure::invalid(format!("{}: {error}", path.display()));
        let text = read_text(path);
        let text = text.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        found = table::read(&text).map_err(wrong)?;
    }
    for line in lines {
        let read = table::read_line(line);
        found.push(read.map_err(|error| Failure::invalid(format!("--param: {error}")))?);
    }
    Ok(found)
}

/// Returns the named spin options of an engine as parameters, in the order in which the engine
/// declares them.
fn declared(engine: &Engine, names: &[String]) -> Result<Vec<Parameter>, Failure> {
    let found = runtime()?.block_on(spin_options(&setup(engine)?))?;
    let known: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    if let Some(missing) = names.iter().find(|name| !known.iter().any(|own| fits(name, own))) {
        let hint = did_you_mean(missing, known.iter().copied());
        let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let kind = match missing.trim() {
            "*" => "spin option for a parameter of its play".to_owned(),
            name => format!("spin option '{name}'{hint}"),
        };
        let name = &engine.name;
        let message = format!("engine '{name}' has no {kind}; it has {has}. {DECLARE}");
        return Err(Failure::invalid(message));
    }
    let wanted = found.iter().filter(|(own, ..)| names.iter().any(|name| fits(name, own)));
    let parameters = wanted.map(|(name, default, min, max)| {
        let parameter = Parameter::from_spin(name, *default, *min, *max);
        parameter.check().map(|()| parameter)
    });
    parameters
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::invalid(format!("engine '{}': parameter {error}", engine.name)))
}

/// Returns whether `name`, which may end with `*`, matches an option, ignoring case.
fn fits(name: &str, option: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let option = option.to_ascii_lowercase();
    match name.strip_suffix('*') {
        Some(beginning) => {
            let is_usual = USUAL.split(", ").any(|usual| usual.eq_ignore_ascii_case(&option));
            option.starts_with(beginning) && !is_usual
        }
        None => option == name,
    }
}

impl ConfirmArgs {
    /// Starts or resumes the SPRT that confirms the values of the run `tuned`.
    fn play(
        &self,
        results: &Path,
        tuned: &str,
        format: OutputFormat,
        build: BuildArgs,
    ) -> Result<ExitCode, Failure> {
        let name = format!("{tuned}-confirm");
        if run::run_exists(results, &name)? {
            note(&format!("continuing the existing run {name}"));
            let requested = RequestedRun {
                results: results.to_owned(),
                flags: RunArgs { resume: Some(name), format, build, ..RunArgs::default() },
                ..RequestedRun::default()
            };
            return run::run_command(RunKind::Sprt, requested);
        }
        let store = Store::open(results)?;
        let plan = store.run(tuned)?.plan;
        let state = run::replay_stored(&store, tuned, &plan)?;
        drop(store);
        let Some(spsa) = state.spsa() else { return Ok(ExitCode::NothingToRun) };
        let sprt = SprtRequest { elo0: self.elo0, elo1: self.elo1, ..SprtRequest::default() };
        let confirmed = confirmation(&plan, spsa.theta(), sprt, self.confirm_pairs);
        let Some(confirmed) = confirmed.map_err(Failure::invalid)? else {
            let message = "the tuned values equal the initial values: nothing to confirm";
            return Err(Failure::nothing_to_run(message));
        };
        let about = format!("values tuned in {tuned} against the initial values");
        run::play_plan(confirmed, results, name, &about, format)
    }
}

/// Prints the values of a tuning run as a patch for source code.
fn patch(args: &PatchArgs) -> Result<(), Failure> {
    let store = args.results.store()?;
    let stored = store.run(&store.named(&args.run)?)?;
    let state = run::replay_stored(&store, &stored.head.run, &stored.plan)?;
    let spsa = state
        .spsa()
        .ok_or_else(|| Failure::invalid(format!("run '{}' is not a tuning", args.run)))?;
    let file = args.table.display().to_string();
    let wrong = |error: String| Failure::invalid(format!("{file}: {error}"));
    let old = read_text(&args.table).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let values = spsa.tuning().settings(spsa.theta());
    let new = applied(&old, &values).map_err(wrong)?;
    let iterations = spsa.tuning().iterations;
    if spsa.finished() < iterations {
        note(&format!(
            "the tuning is not finished: these are the values after {} of {iterations} iterations",
            spsa.finished()
        ));
    }
    let patch = unified(&file, &old, &new);
    if patch.is_empty() {
        note(&format!("{file} already has these values"));
    }
    print_result(&patch)
}

/// Prints spin options as a table of parameters.
fn print_spins(args: &SpinsArgs) -> Result<(), Failure> {
    let parameters = declared(&suite_run::engine(&args.engine)?, &args.names)?;
    let lines: Vec<String> = parameters.iter().map(|p| format!("{}\n", table::line(p))).collect();
    print_result(&lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_means_all_other_options_except_standard_ones() {
        assert!(fits("razor_*", "Razor_Depth") && !fits("razor_*", "null_depth"));
        assert!(fits("*", "null_depth") && !fits("*", "hash") && fits("hash", "Hash"));
        assert!(!fits("razor", "razor_depth"));
    }
}
