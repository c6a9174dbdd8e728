//! `arbiter compat`: command lines of fastchess and cutechess-cli, played by our own rules and
//! reported in their form.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{
    DEFAULT_RESULTS, ExitCode, Failure, RequestedRun, Resume, Style,
    compat::options::Options,
    compat::saved::{Config, Saved},
    compat::{request, words},
    emit, run,
};
use arbiter_plan::{Affinity, Request};
use arbiter_report::{Dialect, note};
use arbiter_store::Store;

/// Flags of `arbiter compat`.
#[derive(Debug, Args)]
#[command(after_help = "\
Options of the program that arbiter does not know are errors, and name what to do instead; options
that make no difference here are named on standard error. Pairs of games are the unit: each opening
is played twice with colours reversed, whatever -repeat says, unless -noswap is given. Without
-openings, arbiter's own book is used. The time margin is 10 ms unless timemargin= is given. Engines
that crash are always started again (-recover). Finished games come in the order of the schedule,
when their pair is over. Games are kept in the folder `results`; -config file=FILE goes on with the
run of which FILE says which it was (fastchess only; written as config.json, or -config outname=), and
so does `arbiter match --resume RUN` (or sprt, or tournament). What fastchess itself has saved is not
read.

Exit codes: 0 if the games were played, whatever came out; else as for `arbiter match`.

Examples:
  arbiter compat fastchess -engine cmd=./new name=new -engine cmd=./old name=old \\
    -each tc=8+0.08 option.Hash=16 -openings file=book.epd format=epd order=random \\
    -rounds 1000 -repeat -concurrency 4 -sprt elo0=0 elo1=5 alpha=0.05 beta=0.05 -pgnout file=a.pgn
  arbiter compat cutechess -engine conf=one -engine conf=two -each tc=40/60 -rounds 10 -games 2")]
pub(crate) struct CompatArgs {
    /// Whose command line it is
    #[arg(value_enum)]
    program: Program,
    /// The command line as it was
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
}

/// Plays the command line.
pub(crate) fn run(args: CompatArgs) -> Result<ExitCode, Failure> {
    let dialect = match args.program {
        Program::Fastchess => Dialect::Fastchess,
        Program::Cutechess => Dialect::Cutechess,
    };
    if let [only] = &args.options[..]
        && ["version", "v", "-version", "-v"].map(Some).contains(&only.strip_prefix('-'))
    {
        let version = concat!("arbiter ", env!("CARGO_PKG_VERSION"), "\n");
        return emit(version).map(|()| ExitCode::Passed);
    }
    Ok(match play(dialect, &args.options)? {
        ExitCode::Negative | ExitCode::Inconclusive | ExitCode::Faulty => ExitCode::Passed,
        other => other,
    })
}

fn play(dialect: Dialect, line: &[String]) -> Result<ExitCode, Failure> {
    let words = words::split(line).map_err(Failure::invalid)?;
    let config = match dialect {
        Dialect::Fastchess => Some(Config::read(&words).map_err(Failure::invalid)?),
        Dialect::Cutechess => None,
    };
    let words = config.as_ref().map_or(words.clone(), |config| config.left(words));
    let options = Options::read(dialect, &words).map_err(Failure::invalid)?;
    for text in &options.notes {
        note(text);
    }
    let saved_in = config.as_ref().map(|config| config.out.clone());
    let style = Style { saved_in, ..options.style.clone() };
    let Some(Saved { run, results }) = config.and_then(|config| config.run) else {
        let (kind, request) = request::request(options).map_err(Failure::invalid)?;
        let results = PathBuf::from(DEFAULT_RESULTS);
        let requested =
            RequestedRun { request, results, compat: Some(style), ..RequestedRun::default() };
        return run::play(kind, requested);
    };
    let kind = Store::open(&results)?.run(&run)?.plan.kind;
    let Request { concurrency, affinity, .. } = options.request;
    let affinity = (affinity != Affinity::None).then_some(affinity);
    let resume = Some(Resume { run, pgn: None, concurrency, affinity });
    let requested =
        RequestedRun { results, resume, compat: Some(style), ..RequestedRun::default() };
    run::play(kind, requested)
}
