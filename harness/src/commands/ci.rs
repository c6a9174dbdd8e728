//! `arbiter ci`: runs the gates on a commit.

mod gates;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use self::gates::{GateEngines, GateRunner, outcome};
use crate::build_args::{BuildArgs, DEFAULT_DEV};
use crate::engine_builds::BuildContext;
use crate::output::{
    OutputFormat, Rows, in_use, print_report, store_files, write_atomically, write_error,
};
use crate::project::{results_folder, settings};
use crate::{exit_code::ExitCode, failure::Failure};
use arbiter_build::{BuildError, BuildFailure, Repository};
use arbiter_names::listed;
use arbiter_plan::{
    Gate, GateKind, GateOutcome, GateVerdict, SandboxMode, ci_exit_code, default_concurrency,
};
use arbiter_process::{FilesInUse, Links, open_output};
use arbiter_report::{ci_document, ci_json, gates_junit, log_error, markdown, note};
use arbiter_runner::unix_time_ms;
use arbiter_settings::{DEFAULT_SETTINGS, SANDBOXES, Settings, at_least_one, one_of};
use arbiter_store::Store;

/// Environment variable with the path of the job summary of GitHub Actions.
const GITHUB_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Flags of `arbiter ci`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Each [[ci.gate]] table of arbiter.toml defines a gate, with these keys:
  kind          {}
  name          name of the gate [default: its kind]
  args          flags of the subcommand
  changed       paths; the gate is skipped if no file below these paths differs from the base
  stop          true (the default) to skip all later gates if this gate does not pass
  budget        seconds after which an sprt gate stops and reports its result so far
  ignore        names of lint rules whose violations are ignored
  inconclusive  pass (the default) or fail: result of an inconclusive sprt or speed gate

By default, the engine under test is HEAD and the base is the parent of HEAD; --dev and --base, or base
in [ci], select other engines. `arbiter results gates` lists the results of all gates so far.

Exit codes: 0 if all gates pass; otherwise the code of the first gate that does not pass: 1 if the gate
failed, 5 if the gate was inconclusive and sets inconclusive = \"fail\", 20 to 28 if a build or bench
failed (see arbiter --help), or any other code of the subcommand; 2 for usage errors; 3 for invalid
input; 4 if there is no gate.

Examples:
  arbiter ci
  arbiter ci --dev HEAD --base main --only perft,sprt --junit gates.xml", listed(GateKind::configurable(), "or")))]
pub(crate) struct CiArgs {
    /// File with the gates in [ci] [default: nearest arbiter.toml from this folder up to the
    /// repository root]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Run only the gates with these names
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Run gates even if their results are cached
    #[arg(long)]
    no_cache: bool,
    /// Folder of the results store, which keeps gate results [default: the nearest results/ that
    /// contains a store, else a new folder next to the settings file]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Write JUnit XML to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Append a summary in Markdown to this file [default: $GITHUB_STEP_SUMMARY, if set]
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Number of concurrent games and benches in gates that do not set --concurrency
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    concurrency: Option<usize>,
    /// Sandbox for the engines of all gates and for builds, like `arbiter sprt --sandbox`
    #[arg(long, value_parser = one_of(SANDBOXES), default_value_t = SandboxMode::Off)]
    sandbox: SandboxMode,
    /// Format of the result
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
    #[command(flatten)]
    build: BuildArgs,
}

/// Runs all gates.
pub(crate) fn run(mut args: CiArgs) -> Result<ExitCode, Failure> {
    let settings = settings(args.config.as_deref())?.ok_or_else(no_settings)?;
    note(&format!("settings of {}", settings.name()));
    let gates = selected_gates(&settings, &args.only)?;
    let results = results_folder(args.results.take(), args.config.as_deref(), &settings)?;
    args.build.dev.get_or_insert_with(|| DEFAULT_DEV.to_owned());
    let base = args.build.base.take().or_else(|| settings.ci.base.clone());
    let copies = args.concurrency.or(settings.concurrency);
    let context = BuildContext {
        config: args.config.clone(),
        without: args.junit.iter().chain(&args.summary).chain([&results]).cloned().collect(),
        copies: copies.unwrap_or_else(|| default_concurrency(true)),
        ..BuildContext::default()
    };
    let config = settings.file().map(|file| ("the settings", file.to_owned()));
    let mut files = in_use(store_files(&results).chain(config))?;
    let github = std::env::var_os(GITHUB_SUMMARY).filter(|path| !path.is_empty());
    args.summary = args.summary.take().or_else(|| github.map(PathBuf::from));
    for (words, path) in [("the summary", &args.summary), ("the file to write", &args.junit)] {
        let path = path.iter().try_for_each(|path| files.writes(words, path));
        path.map_err(Failure::invalid)?;
    }
    let store = Store::create(&results)?;
    let started = unix_time_ms();
    let sides = match sides(&args.build, base, &gates, &context) {
        Err(failure) if failure.is_interruption() => return Err(failure),
        sides => sides,
    };
    let (verdict, words, code) = match &sides {
        Ok(sides) => (GateVerdict::Passed, sides.describe(), 0),
        Err(Failure { code, message }) => {
            log_error(message);
            (GateVerdict::Broken, message.clone(), *code as u8)
        }
    };
    let seconds = (unix_time_ms() - started) as f64 / 1e3;
    let build = outcome(&GateKind::Build.to_string(), GateKind::Build, verdict, words);
    let mut outcomes = vec![GateOutcome { code, seconds, ..build }];
    let sides = sides.ok();
    let mut interruption = None;
    if let Some(sides) = &sides {
        let runner = GateRunner {
            sides,
            args: &args,
            context: &context,
            store: &store,
            results: &results,
            folder: settings.folder(),
        };
        interruption = run_gates(&runner, &gates, &mut outcomes)?;
    }
    // The first outcome is that of the build, which precedes all gates.
    for gate in gates.iter().skip(outcomes.len() - 1) {
        let words = "an earlier gate did not pass".to_owned();
        outcomes.push(outcome(&gate.name, gate.kind, GateVerdict::Skipped, words));
    }
    let test = sides.as_ref().map_or("the change", |sides| &sides.test.label);
    let base = sides.as_ref().and_then(|sides| sides.base.as_ref().ok());
    publish(&args, test, base.map(|base| base.label.as_str()), &outcomes, files)?;
    let code = ExitCode::from_number(ci_exit_code(&outcomes)).unwrap_or(ExitCode::Bug);
    interruption.map_or(Ok(code), Err)
}

/// Runs the gates in order, and adds the results to `outcomes`. Ends early after a gate that does
/// not pass and that stops all later gates. Returns the failure if a signal interrupted a gate.
fn run_gates(
    runner: &GateRunner<'_>,
    gates: &[Gate],
    outcomes: &mut Vec<GateOutcome>,
) -> Result<Option<Failure>, Failure> {
    for gate in gates {
        let started = unix_time_ms();
        let passed = match runner.pass(gate) {
            Err(failure) if failure.is_interruption() => {
                let text = format!("interrupted in the gate '{}'", gate.name);
                let broken = outcome(&gate.name, gate.kind, GateVerdict::Broken, text.clone());
                let seconds = (unix_time_ms() - started) as f64 / 1e3;
                outcomes.push(GateOutcome { code: failure.code as u8, seconds, ..broken });
                return Ok(Some(Failure { message: text, ..failure }));
            }
            passed => passed?,
        };
        let ends_others = gate.stops && !passed.verdict.is_good();
        outcomes.push(passed);
        if ends_others {
            break;
        }
    }
    Ok(None)
}

/// Returns the error for a missing settings file.
fn no_settings() -> Failure {
    let remedy = match Repository::open(Path::new(".")) {
        Err(_) => "run `git init` and `arbiter init`",
        Ok(_) => "create one with `arbiter init`",
    };
    let reason = format!("no {DEFAULT_SETTINGS} found\nhint: {remedy}, or give --config");
    Failure::nothing_to_run(reason)
}

fn selected_gates(settings: &Settings, only: &[String]) -> Result<Vec<Gate>, Failure> {
    let gates = settings.ci.gates().map_err(Failure::invalid)?;
    if let Some(unknown) = only.iter().find(|name| gates.iter().all(|gate| gate.name != **name)) {
        let known: Vec<&str> = gates.iter().map(|gate| gate.name.as_str()).collect();
        let reason = format!("no gate '{unknown}'; the gates are {}", known.join(", "));
        return Err(Failure::invalid(reason));
    }
    let is_wanted = |gate: &Gate| only.is_empty() || only.contains(&gate.name);
    let gates: Vec<Gate> = gates.into_iter().filter(is_wanted).collect();
    if gates.is_empty() { Err(Failure::nothing_to_run("[ci] has no gates")) } else { Ok(gates) }
}

/// Builds the engines of the gates. The default base is the parent commit, provided that the clone
/// contains the parent.
fn sides(
    build: &BuildArgs,
    base: Option<String>,
    gates: &[Gate],
    context: &BuildContext,
) -> Result<GateEngines, Failure> {
    let base = match (gates.iter().any(Gate::needs_base), base) {
        (false, _) => Err(String::new()),
        (true, Some(base)) => Ok(base),
        (true, None) => parent(build)?,
    };
    let unchanged = match &base {
        Ok(base) => unchanged(build, base, gates)?,
        Err(_) => Vec::new(),
    };
    let takes_base = |gate: &Gate| gate.needs_base_engine() && !unchanged.contains(&gate.name);
    // The base is built only if a gate needs the base, because a build takes minutes.
    let built = base.clone().ok().filter(|_| gates.iter().any(takes_base));
    let build = BuildArgs { base: built, no_bench: true, ..build.clone() };
    let prepared = build.prepare(Vec::new(), context.clone(), Some(Box::new(|_| Ok(()))))?;
    GateEngines::new(prepared, base.err().unwrap_or_default(), unchanged)
}

/// Returns the names of the gates that are skipped because none of their paths has changed.
fn unchanged(build: &BuildArgs, base: &str, gates: &[Gate]) -> Result<Vec<String>, Failure> {
    let Ok(repo) = build.repository(None) else { return Ok(Vec::new()) };
    let commit = |side: Option<&str>| side.and_then(|side| repo.commit(side).ok());
    // Changed paths can be listed only between two commits. A program or a working tree may differ
    // in any path.
    let test = build.dev.as_deref().filter(|test| *test != arbiter_build::WORKING_TREE);
    let (Some(test), Some(base)) = (commit(test), commit(Some(base))) else {
        return Ok(Vec::new());
    };
    let mut unchanged = Vec::new();
    for gate in gates {
        if !repo.differs(&base.id, &test.id, &gate.changed)? {
            unchanged.push(gate.name.clone());
        }
    }
    Ok(unchanged)
}

/// Returns the parent of the commit under test, or the reason why no parent is available.
fn parent(build: &BuildArgs) -> Result<Result<String, String>, Failure> {
    let test = build.dev.as_deref().unwrap_or(DEFAULT_DEV);
    let Ok(repo) = build.repository(None) else {
        return Ok(Err("no repository; give --base".to_owned()));
    };
    // Uncommitted changes are compared with HEAD, on which they are based.
    if test == arbiter_build::WORKING_TREE {
        return Ok(Ok("HEAD".to_owned()));
    }
    let commit = match repo.commit(test) {
        Ok(commit) => commit,
        Err(BuildError::Failed(BuildFailure::UnknownRevision, _)) => {
            return Ok(Err("a program has no parent; give --base".to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    Ok(match repo.parent(&commit) {
        Some(parent) => Ok(parent.id),
        None if repo.is_shallow() => {
            let reason = "the clone is shallow and lacks the parent of";
            Err(format!("{reason} {}; set fetch-depth", commit.short()))
        }
        None => Err(format!("{} has no parent", commit.short())),
    })
}

fn publish(
    args: &CiArgs,
    dev: &str,
    base: Option<&str>,
    outcomes: &[GateOutcome],
    in_use: FilesInUse,
) -> Result<(), Failure> {
    let rows = Rows { list: Some("gates"), first: &["gate", "verdict", "kind", "seconds", "text"] };
    let document = ci_document(dev, base, outcomes);
    let json = || ci_json(dev, base, outcomes);
    print_report(&args.format.of_document(&document, json, rows))?;
    if let Some(path) = &args.junit {
        let xml = gates_junit(dev, outcomes).map_err(Failure::environment)?;
        write_atomically(path, &xml, in_use)?;
    }
    if let Some(path) = &args.summary {
        let file = open_output(path, File::options().append(true), Links::Followed);
        file.and_then(|mut file| file.write_all(markdown(&document).as_bytes()))
            .map_err(|error| write_error(path, &error))?;
    }
    Ok(())
}
