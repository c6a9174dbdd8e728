//! `arbiter speed`: comparison of the speed of two engines.

use std::path::PathBuf;

use clap::Args;

use crate::build_args::BuildArgs;
use crate::engine_builds::{BuildContext, BuiltEngines, setup};
use crate::output::{OutputFormat, Rows, print_report, progress};
use crate::{exit_code::ExitCode, failure::Failure, runtime::interruptible};
use arbiter_build::{
    BenchReader, BenchRecipe, BenchTarget, BuildError, build_environment, run_bench_once,
};
use arbiter_game::engine::EngineSetup;
use arbiter_plan::{SandboxMode, resolve_engine};
use arbiter_process::{Cancel, Spawner, allowed_cpus};
use arbiter_report::{SpeedReport, speed_verdict, to_value};
use arbiter_schedule::seed::{below, seed_for};
use arbiter_settings::{SANDBOXES, one_of};
use arbiter_stats::paired::Speeds;
use arbiter_stats::speed::{FEWEST_ROUNDS, SpeedTest, SpeedVerdict};

/// Flags of `arbiter speed`.
#[derive(Debug, Args)]
#[command(after_help = "\
In each round, both engines run their bench once, in random order, so that other load on the machine does
not favour one of them. After 8, 16, 32 … rounds, the 95 % interval is tested. The interval accounts for
these repeated tests: at most 5 % of the comparisons of equally fast engines end with a verdict. The
speed is the value that the bench prints, otherwise the node count of the bench divided by the duration
of the bench.

Exit codes: 0 if the speeds were measured and the loss is below --max-loss; 1 if the loss is above
--max-loss; 5 if inconclusive; 2 for usage errors; 3 for invalid input; 7 for an environment error; 20 to
28 for a revision that cannot be built or has no bench (see arbiter --help).

Examples:
  arbiter speed HEAD main
  arbiter speed ./new ./old --max-loss 2")]
pub(crate) struct SpeedArgs {
    /// First engine, as --dev: a git revision, "." for the working tree, a program, or "bundled"
    #[arg(value_name = "A", required_unless_present_any = ["dev", "base"], conflicts_with = "dev")]
    first: Option<String>,
    /// Second engine, as --base
    #[arg(value_name = "B", required_unless_present = "base", conflicts_with = "base")]
    second: Option<String>,
    /// Maximum number of rounds; each round runs both benches once
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u32).range(FEWEST_ROUNDS as i64..=10_000))]
    rounds: u32,
    /// Seed for the order of the two engines in each round
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Exit with 1 if the first engine is significantly slower, by more than PCT per cent
    #[arg(long, value_name = "PCT")]
    max_loss: Option<f64>,
    /// CPU on which both engines run [default: the last allowed CPU]
    #[arg(long, value_name = "N")]
    cpu: Option<usize>,
    /// Let the system choose the CPU
    #[arg(long, conflicts_with = "cpu")]
    no_affinity: bool,
    /// Sandbox for the engines, like `arbiter sprt --sandbox` [default: off]
    #[arg(long, value_parser = one_of(SANDBOXES))]
    sandbox: Option<SandboxMode>,
    /// File with the recipe of revisions in [build] [default: arbiter.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Format of the result
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
    #[command(flatten)]
    build: BuildArgs,
}

/// Engine, with the recipe of its bench.
type Side = (EngineSetup, BenchRecipe);

/// Measures the engines and prints the result.
pub(crate) fn run(args: SpeedArgs) -> Result<ExitCode, Failure> {
    if let Some(loss) = args.max_loss.filter(|loss| !(0.0..100.0).contains(loss)) {
        let message = format!("expected --max-loss from 0 to below 100 %, got {loss}");
        return Err(Failure::usage(message));
    }
    let threshold = 1.0 - args.max_loss.unwrap_or(0.0) / 100.0;
    let question = SpeedTest { rounds: args.rounds as usize, threshold };
    let cpu = if args.no_affinity {
        None
    } else {
        // The first processors handle most interrupts, so the last processor is disturbed least.
        Some(args.cpu.or_else(|| allowed_cpus().into_iter().max()).ok_or_else(|| {
            Failure::environment("cannot determine the available CPUs; give --cpu")
        })?)
    };
    let mut build = args.build.clone();
    build.dev = args.first.or(build.dev);
    build.base = args.second.or(build.base);
    // The build need not run the bench, because the measurement runs the bench many times.
    build.no_bench = true;
    let context = BuildContext { config: args.config, copies: 1, ..BuildContext::default() };
    let mut prepared = build.prepare(Vec::new(), context, Some(Box::new(|_| Ok(()))))?;
    prepared.engines.iter_mut().for_each(|engine| engine.sandbox = args.sandbox);
    let sides = sides(prepared, &build.pass_env)?;
    let measuring = sides.clone();
    let (nodes, rounds) = interruptible(move |spawner, cancel| {
        let pinned = cpu.map(|cpu| Spawner::start_on(Some(cpu))).transpose().map_err(|error| {
            Failure::invalid(format!("CPU {} cannot be used: {error}", cpu.unwrap_or_default()))
        })?;
        measure(&measuring, (question, args.seed), pinned.as_ref().unwrap_or(spawner), cancel)
    })?;
    let ratio = question.ratio(&rounds);
    let interval = ratio.and_then(|ratio| ratio.interval);
    let answer = ratio.map_or(SpeedVerdict::Open, |ratio| question.verdict(&ratio));
    let report = SpeedReport {
        engines: [&sides[0].0.name, &sides[1].0.name],
        bench_nodes: nodes,
        rounds: rounds.len(),
        rounds_max: question.rounds,
        cpu,
        seed: args.seed,
        nps: rounds.iter().map(|speeds| [speeds.first, speeds.second]).collect(),
        ratio: ratio.map(|ratio| ratio.ratio),
        ratio_low: interval.map(|(low, _)| low),
        ratio_high: interval.map(|(_, high)| high),
        max_loss_percent: args.max_loss,
        verdict: speed_verdict(args.max_loss, answer),
    };
    let rows =
        Rows { list: None, first: &["engines", "ratio", "ratio_low", "ratio_high", "verdict"] };
    print_report(&args.format.of_document(&report.document(), || to_value(&report), rows))?;
    Ok(match (args.max_loss, answer) {
        (None, _) | (Some(_), SpeedVerdict::Above) => ExitCode::Passed,
        (Some(_), SpeedVerdict::Below) => ExitCode::Negative,
        (Some(_), SpeedVerdict::Open) => ExitCode::Inconclusive,
    })
}

/// Returns the two engines: the flags always name a base, and the first engine is HEAD by default.
fn sides(prepared: BuiltEngines, pass_env: &[String]) -> Result<[Side; 2], Failure> {
    let sides = prepared.engines.into_iter().zip(prepared.recipes).enumerate();
    let side = |(index, (spec, recipe))| {
        let engine = resolve_engine(index, spec).map_err(Failure::invalid)?;
        let mut setup = setup(&engine)?;
        setup.launch.environment = engine.provenance.map(|_| build_environment(pass_env));
        Ok((setup, recipe))
    };
    let sides: Vec<Side> = sides.map(side).collect::<Result<_, Failure>>()?;
    Ok(sides.try_into().expect("the flags name two engines"))
}

/// Runs rounds until an interim analysis decides or the maximum number of rounds is reached.
/// Returns the node count of each engine's bench, and the speeds of each round in nodes per second.
fn measure(
    sides: &[Side; 2],
    (question, seed): (SpeedTest, u64),
    spawner: &Spawner,
    cancel: &Cancel,
) -> Result<([u64; 2], Vec<Speeds>), Failure> {
    let recipe_error = |reason: String| BuildError::invalid_recipe("arbiter.toml", &reason);
    let reader =
        |(_, recipe): &Side| BenchReader::new(recipe.pattern.as_deref()).map_err(recipe_error);
    let readers = [reader(&sides[0])?, reader(&sides[1])?];
    let once = |index: usize| {
        let (EngineSetup { name, launch, .. }, recipe) = &sides[index];
        let target = BenchTarget { name, launch, recipe, spawner, cancel };
        run_bench_once(&target, &readers[index])
    };
    // The first run of a program includes the time to load the program from the disk, so only the
    // node count of this run is used.
    let nodes = [once(0)?.nodes, once(1)?.nodes];
    let bar = progress(question.rounds as u64, "{bar:40} {pos}/{len} rounds at most {msg}");
    let analyses = question.interim_analyses();
    let mut rounds = Vec::new();
    while rounds.len() < question.rounds {
        let order = order(seed, rounds.len());
        let mut nps = [0.0; 2];
        for index in order {
            let found = once(index)?;
            // Speeds are comparable only if each run does the same work.
            if found.nodes != nodes[index] {
                let counts = [nodes[index], found.nodes];
                return Err(BuildError::bench_differs(&sides[index].0.name, &counts).into());
            }
            nps[index] = found.nps;
        }
        rounds.push(Speeds { first: nps[0], second: nps[1] });
        bar.inc(1);
        if let Some(ratio) = question.ratio(&rounds) {
            bar.set_message(format!("ratio {:.4}", ratio.ratio));
            if analyses.contains(&rounds.len()) && question.verdict(&ratio) != SpeedVerdict::Open {
                break;
            }
        }
    }
    bar.finish_and_clear();
    Ok((nodes, rounds))
}

/// Returns a random order of the engines in a round. A fixed rule could coincide with periodic
/// activity of the machine.
fn order(seed: u64, round: usize) -> [usize; 2] {
    match below(&mut seed_for(seed, "speed.order", round as u64), 2) {
        0 => [0, 1],
        _ => [1, 0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_bit_decides_the_order() {
        let first = |seed| (0..1000).filter(move |round| order(seed, *round) == [0, 1]);
        // The tolerance is five standard deviations.
        assert!(first(1).count().abs_diff(500) < 80);
        assert!(first(1).ne(first(2)));
        // For each lag, the orders of two rounds are equal in about half of the cases.
        for lag in 1..8 {
            let same = (0..1000).filter(|round| order(1, *round) == order(1, round + lag));
            assert!(same.count().abs_diff(500) < 80, "{lag}");
        }
    }
}
