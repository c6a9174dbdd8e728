//! `arbiter check`: conformance of an engine to its protocol.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::output::{
    OutputFormat, Rows, in_use, print_report, print_result, progress, write_atomically,
};
use crate::{
    engine_builds::setup, exit_code::ExitCode, failure::Failure, run::engine_files,
    runtime::runtime, suite_run,
};
use arbiter_check::{Check, Engine, Outcome, checks};
use arbiter_game::engine::EngineSetup;
use arbiter_process::{SpawnError, Spawner};
use arbiter_protocol::{Deadlines, Protocol, Session, Setup, parse_seconds};
use arbiter_report::{CheckReport, note, run_pattern};
use arbiter_runner::ask_engine;

/// Flags of `arbiter check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each check starts a new process and has a grade: must (a failure can lose games or break runs),
should (the protocol requires the behaviour), or nice. These grades have the weights 4, 2 and 1 in
the score; checks that do not apply to an engine, such as ponderhit without the option Ponder, do
not count. A timing check that fails is repeated, with at most three attempts in all, because a busy
machine delays replies.

Exit codes: 0 if no \"must\" check fails; 1 if a \"must\" check fails; 2 for usage errors; 3 for an
engine that cannot be started; 4 if no check is selected; 7 for an environment error.

Examples:
  arbiter check ./mine
  arbiter check stockfish --filter must
  arbiter check bundled --junit check.xml")]
pub(crate) struct CheckArgs {
    /// Engine, specified like ENGINE in `arbiter match -h`; its options are set before each check
    #[arg(value_name = "ENGINE", required_unless_present = "list")]
    engine: Option<String>,
    /// Run only checks whose name or grade matches REGEX, ignoring case
    #[arg(long, value_name = "REGEX")]
    filter: Option<String>,
    /// List the checks without running them
    #[arg(long)]
    list: bool,
    /// Seconds after which a reply counts as missing
    #[arg(long, value_name = "SEC", value_parser = parse_seconds, default_value = "5")]
    patience: Duration,
    /// Seconds by which a reply may be late in timing checks
    #[arg(long, value_name = "SEC", value_parser = parse_seconds, default_value = "0.1")]
    margin: Duration,
    /// Write the results as JUnit XML to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Format of the result
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
}

/// Runs the checks and prints the result.
pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let checks = selected_checks(args)?;
    let Some(engine) = args.engine.as_ref().filter(|_| !args.list) else {
        print_result(&listed(&checks))?;
        return Ok(ExitCode::Passed);
    };
    let engine = suite_run::engine(engine)?;
    if engine.launch.protocol != Protocol::Uci {
        return Err(speaks_xboard(&engine.name));
    }
    let mut files = in_use(engine_files(&engine))?;
    if let Some(path) = &args.junit {
        files.writes("the file to write", path).map_err(Failure::invalid)?;
    }
    let setup = setup(&engine)?;
    let under_test = Engine {
        spawner: Spawner::start().map_err(Failure::environment)?,
        launch: setup.launch.clone(),
        options: setup.setup.options.clone(),
        timeout: args.patience,
        margin: args.margin,
    };
    let called = engine.name;
    let info = under_test.introduce().map_err(|error| spawn_failure(&called, &error))?;
    if !info.speaks_uci() {
        // The preflight recognizes xboard engines and engines that need an argument for UCI, so the
        // message can name the cause.
        let deadlines = Deadlines { uciok: args.patience, ..setup.deadlines };
        let preflight_setup = EngineSetup { setup: Setup::default(), deadlines, ..setup };
        match runtime()?.block_on(ask_engine(&preflight_setup, Session::is_uci)) {
            Ok(true) => {}
            Ok(false) => return Err(speaks_xboard(&called)),
            Err(error) => note(&error.to_string()),
        }
    }
    let bar = progress(checks.len() as u64, "{bar:40} {pos}/{len} {msg}");
    let mut verdicts = Vec::new();
    let mut failed = 0;
    for check in checks {
        bar.set_message(format!("{} ({failed} failed)", check.name));
        let verdict = under_test.run_check(&info, check);
        let verdict = verdict.map_err(|error| spawn_failure(&called, &error))?;
        if let Outcome::Failed(reason) = &verdict.outcome {
            failed += 1;
            // The text output already lists failures.
            if args.format != OutputFormat::Text {
                note(&format!("{} ({}) failed: {reason}", check.name, check.grade));
            }
        }
        verdicts.push(verdict);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let name = info.name.filter(|name| !name.trim().is_empty()).unwrap_or(called);
    let report = CheckReport { engine: &name, verdicts: &verdicts };
    let rows = Rows { list: Some("checks"), first: &["name", "grade", "verdict"] };
    print_report(&args.format.of_document(&report.document(), || report.json(), rows))?;
    if let Some(path) = &args.junit {
        let xml = report.junit().map_err(Failure::environment)?;
        write_atomically(path, &xml, files)?;
        note(&format!("JUnit XML in {}", path.display()));
    }
    Ok(if report.has_grave_failure() { ExitCode::Negative } else { ExitCode::Passed })
}

fn selected_checks(args: &CheckArgs) -> Result<Vec<&'static Check>, Failure> {
    let Some(pattern) = &args.filter else { return Ok(checks().collect()) };
    let regex = run_pattern(pattern)
        .map_err(|error| Failure::usage(format!("--filter '{pattern}': {error}")))?;
    let is_wanted =
        |check: &&Check| regex.is_match(check.name) || regex.is_match(&check.grade.to_string());
    let checks: Vec<&Check> = checks().filter(is_wanted).collect();
    if checks.is_empty() {
        return Err(Failure::nothing_to_run(format!("no check matches '{pattern}'")));
    }
    Ok(checks)
}

fn listed(checks: &[&Check]) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let line =
        |check: &&Check| format!("{:width$}  {:6}  {}\n", check.name, check.grade, check.rule);
    checks.iter().map(line).collect()
}

fn speaks_xboard(engine: &str) -> Failure {
    Failure::invalid(format!("engine '{engine}' speaks xboard: only UCI engines can be checked"))
}

fn spawn_failure(engine: &str, error: &SpawnError) -> Failure {
    Failure::classify(error.is_environment, format!("engine '{engine}': {error}"))
}
