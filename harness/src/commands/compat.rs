//! `arbiter compat`: runs described by command lines of fastchess and cutechess-cli, and reported
//! in the format of these programs.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, ValueEnum};
use log::LevelFilter;

use crate::engine_builds::own_binary;
use crate::requested_run::{RequestedRun, RunArgs};
use crate::suite_run::answer;
use crate::{
    exit_code::ExitCode, failure::Failure, output::print_result, project::ResultsArg, run,
};
use arbiter_compat::{FASTCHESS, Options, SavedIdentity, check, engine_list, help, request};
use arbiter_plan::{Affinity, Request, resolve_engine};
use arbiter_process::replace_link;
use arbiter_report::{Dialect, note};
use arbiter_store::Store;

/// Names under which this program acts as fastchess or cutechess-cli, each with the corresponding
/// argument of `arbiter compat`.
const NAMES: [(&str, &str); 3] =
    [("fastchess", "fastchess"), ("fastchess-ob", "fastchess"), ("cutechess-cli", "cutechess")];

/// Flags of `arbiter compat`.
#[derive(Debug, Args)]
#[command(after_help = "\
`arbiter compat install DIR` creates links named fastchess, fastchess-ob and cutechess-cli to this
program in DIR, which is created if missing. Started by one of these names, as a link or as a copy,
arbiter accepts the command line of that program: -help lists the options, and docs/compat.md describes
the effects of the options and all differences. Unknown options are errors. Without -srand, the seed is
random. Engine options that an engine does not have are ignored with a warning. -arbiter verbose=true and
`arbiter results` show the run and its seed. CPU contention is ignored unless you give -arbiter
contention=discard or contention=report. SIGINT and SIGTERM end the run within a second; pairs in
progress are discarded. `arbiter results` finds the games in its results folder, or in the folder given
with -arbiter results=DIR. fastchess only: -config file=FILE resumes the run described in FILE, even if
fastchess wrote FILE or you edited FILE; the state is written to config.json, or to the file given with
-config outname=. `arbiter match --resume RUN` (or sprt, or tournament) also resumes such runs.

Exit codes: 0 if the games were played, whatever the result; fastchess: 1 if the run was interrupted;
else as for `arbiter match`.

Examples:
  arbiter compat install ~/bin
  arbiter compat fastchess -engine cmd=./new name=new -engine cmd=./old name=old \\
    -each tc=8+0.08 option.Hash=16 -openings file=book.epd format=epd order=random \\
    -rounds 1000 -repeat -concurrency 4 -sprt elo0=0 elo1=5 alpha=0.05 beta=0.05 -pgnout file=a.pgn
  arbiter compat cutechess -engine conf=one -engine conf=two -each tc=40/60 -rounds 10 -games 2")]
pub(crate) struct CompatArgs {
    /// Program whose command line follows, or install
    #[arg(value_enum)]
    program: Program,
    /// Options of the program, or the folder for links
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Program {
    /// fastchess
    Fastchess,
    /// cutechess-cli
    #[value(alias = "cutechess-cli")]
    Cutechess,
    /// Create links to arbiter with the names of these programs in a folder
    Install,
}

/// Returns the command with which the user started this program, for the hint that shows how to
/// resume the run.
fn program_command(dialect: Dialect) -> String {
    let first = std::env::args_os().next().unwrap_or_default();
    let stem = Path::new(&first).file_stem().unwrap_or_default();
    let subcommand = match (NAMES.iter().any(|(name, _)| stem == *name), dialect) {
        (true, _) => "",
        (false, Dialect::Fastchess) => " compat fastchess",
        (false, Dialect::Cutechess) => " compat cutechess",
    };
    format!("{}{subcommand}", first.to_string_lossy())
}

/// Converts a command line that starts with one of [`NAMES`] to a command line of `arbiter compat`,
/// or of `arbiter check` for fastchess's `--compliance`. Other command lines are returned
/// unchanged.
pub(crate) fn by_name(mut args: Vec<OsString>) -> Vec<OsString> {
    let called = args.first().and_then(|arg| Path::new(arg).file_stem()).unwrap_or_default();
    let found = NAMES.iter().find(|(name, _)| called == *name);
    match (found, args.get(1).and_then(|arg| arg.to_str())) {
        // The bundled engine is started as this program with the argument `engine`, under any name.
        (None, _) | (_, Some("engine")) => {}
        (Some(_), Some("--compliance" | "-compliance")) => {
            drop(args.splice(..2, ["arbiter", "check"].map(OsString::from)));
        }
        (Some((_, program)), _) => {
            drop(args.splice(..1, ["arbiter", "compat", program, "--"].map(OsString::from)));
        }
    }
    args
}

/// Runs a command line of fastchess or cutechess-cli.
pub(crate) fn run(args: CompatArgs) -> Result<ExitCode, Failure> {
    let (dialect, version) = match args.program {
        Program::Fastchess => (Dialect::Fastchess, FASTCHESS),
        Program::Cutechess => (Dialect::Cutechess, "cutechess-cli 1.5.1"),
        Program::Install => return install(&args.options).map(|()| ExitCode::Passed),
    };
    // Without a dash, such a word is a value of an option.
    let asks = |words: &[&str]| {
        let mut options = args.options.iter().filter(|option| option.starts_with('-'));
        options.any(|option| words.contains(&option.trim_start_matches('-')))
    };
    let text = if asks(&["version", "v"]) {
        format!("{version}\narbiter {}\n", env!("CARGO_PKG_VERSION"))
    } else if asks(&["help"]) || args.options.is_empty() {
        help()
    } else if asks(&["engines"]) {
        engine_list().map_err(Failure::invalid)?
    } else {
        return play_as(dialect, &args.options);
    };
    print_result(&text).map(|()| ExitCode::Passed)
}

/// Runs a fastchess or cutechess-cli command line. Returns the exit code that the imitated program
/// would return.
fn play_as(dialect: Dialect, line: &[String]) -> Result<ExitCode, Failure> {
    let played = play(dialect, line).map_err(|failure| {
        // fastchess and cutechess-cli have a single exit code for all errors, and scripts expect
        // this code.
        let code = if failure.is_interruption() { failure.code } else { ExitCode::Negative };
        Failure { code, ..failure }
    })?;
    Ok(match played {
        ExitCode::Negative | ExitCode::Inconclusive | ExitCode::TooManyFaults => ExitCode::Passed,
        ExitCode::Interrupted | ExitCode::Terminated | ExitCode::Drained => match dialect {
            Dialect::Fastchess => ExitCode::Negative,
            Dialect::Cutechess => ExitCode::Passed,
        },
        other => other,
    })
}

/// Creates links to this program under all [`NAMES`], and replaces existing links.
fn install(folders: &[String]) -> Result<(), Failure> {
    let [folder] = folders else {
        return Err(Failure::usage("give one folder: arbiter compat install DIR"));
    };
    let target = own_binary()?;
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::environment(format!("{folder}: {error}")))?;
    for (name, _) in NAMES {
        let link = Path::new(folder).join(name);
        replace_link(&link, &target)
            .map_err(|error| Failure::environment(format!("{}: {error}", link.display())))?;
        print_result(&format!("{} -> {}\n", link.display(), target.display()))?;
    }
    Ok(())
}

fn play(dialect: Dialect, line: &[String]) -> Result<ExitCode, Failure> {
    let parsed = Options::parse(dialect, line, program_command(dialect));
    let mut options = parsed.map_err(Failure::invalid)?;
    if !options.is_verbose {
        // Scripts read standard output and standard error together, and do not expect Arbiter's
        // progress messages.
        log::set_max_level(log::max_level().min(LevelFilter::Warn));
    }
    if let Some(prior) = options.request.draft.prior {
        let games = prior.games();
        note(&format!(
            "{games} games counted before are included, but are not in the store of this run"
        ));
    }
    let Some(SavedIdentity { run, results, .. }) = options.resumes.take() else {
        check(&options).map_err(Failure::invalid)?;
        if dialect == Dialect::Cutechess {
            for spec in options.request.engines.iter_mut().filter(|spec| spec.name.is_none()) {
                let engine = resolve_engine(0, spec.clone()).map_err(Failure::invalid)?;
                let name = Some(answer(&engine)?.declared_name);
                // The request sets the default name of an engine that does not report a name.
                spec.name = name.filter(|name| !name.trim().is_empty() && *name != engine.name);
            }
        }
        let (kind, request) = request(&mut options).map_err(Failure::invalid)?;
        let Options { results, style, .. } = options;
        // The default is the folder that `arbiter results` reads.
        let results = results.map_or_else(|| ResultsArg::default().folder(), Ok)?;
        let compat = Some(style);
        let requested = RequestedRun { request, results, compat, ..RequestedRun::default() };
        return run::run_command(kind, requested);
    };
    let kind = Store::open(&results)?.run(&run)?.plan.kind;
    let Request { concurrency, draft, .. } = options.request;
    let affinity = Some(draft.affinity).filter(|affinity| *affinity != Affinity::None);
    let requested = RequestedRun {
        results,
        flags: RunArgs { resume: Some(run), ..RunArgs::default() },
        compat: Some(options.style),
        concurrency,
        affinity,
        ..RequestedRun::default()
    };
    run::run_command(kind, requested)
}
