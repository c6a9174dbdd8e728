//! `arbiter report`: runs as documents.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tempfile::NamedTempFile;

use super::args::DEFAULT_RESULTS;
use super::results::{document, summary_of, watched};
use super::{ExitCode, Failure, emit};
use crate::report::digest::Digest;
use crate::report::terminal::note;
use crate::report::{html, json, markdown};
use crate::run::state::Effect;
use crate::store::{Store, StoreError};

/// Flags of `arbiter report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 if all reports were made; 2 for bad usage; 3 if there is no \
                        such run; 7 if the store cannot be read or a file not be written."
)]
pub struct ReportArgs {
    /// Names of runs [default: the latest]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Folder of the results store
    #[arg(long, value_name = "DIR", default_value = DEFAULT_RESULTS)]
    results: PathBuf,
    /// Where to: a file, or a folder that gets a file for each run [default: standard output]
    #[arg(long, short, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// Form of the report [default: as the name of the file ends; html in a folder; else md]
    #[arg(long, value_enum)]
    format: Option<ReportForm>,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportForm {
    /// One page with charts and boards that needs nothing else.
    Html,
    /// A Markdown document.
    Md,
    /// One JSON object, as of `arbiter results show`.
    Json,
}

impl ReportForm {
    fn extension(self) -> &'static str {
        match self {
            ReportForm::Html => "html",
            ReportForm::Md => "md",
            ReportForm::Json => "json",
        }
    }

    fn of_file(path: &Path) -> Option<ReportForm> {
        let extension = path.extension().and_then(OsStr::to_str)?;
        let all = ReportForm::value_variants().iter().copied();
        all.into_iter().find(|form| form.extension().eq_ignore_ascii_case(extension))
    }
}

/// Where a report goes.
#[derive(Debug)]
enum Target {
    Stdout,
    File(PathBuf),
    Folder(PathBuf),
}

/// Carries out the command.
pub fn report(args: &ReportArgs) -> ExitCode {
    match make(args) {
        Ok(()) => ExitCode::Passed,
        Err(failure) => failure.report(),
    }
}

fn make(args: &ReportArgs) -> Result<(), Failure> {
    let store = Store::open(&args.results)?;
    let runs = match args.runs.as_slice() {
        [] => {
            let latest = store.runs()?.pop().map(|head| head.run);
            vec![latest.ok_or_else(|| {
                Failure::invalid(format!("there is no run in '{}' yet", args.results.display()))
            })?]
        }
        named => named.to_vec(),
    };
    let target = target(args, runs.len())?;
    let form = match (args.format, &target) {
        (Some(form), _) => form,
        (None, Target::Stdout) => ReportForm::Md,
        (None, Target::Folder(_)) => ReportForm::Html,
        (None, Target::File(path)) => ReportForm::of_file(path).ok_or_else(|| {
            let usage = format!(
                "the name '{}' does not tell the form of the report: give --format html, md or \
                 json",
                path.display()
            );
            Failure::new(ExitCode::Usage, usage)
        })?,
    };
    if let Target::Folder(folder) = &target {
        fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
    }
    for run in &runs {
        let text = render(&store, run, form)?;
        match &target {
            Target::Stdout => emit(&text)?,
            Target::File(path) => write(path, &text)?,
            Target::Folder(folder) => {
                write(&folder.join(format!("{run}.{}", form.extension())), &text)?;
            }
        }
    }
    Ok(())
}

/// A name that ends like a folder, or is one, is a folder; several runs need one.
fn target(args: &ReportArgs, runs: usize) -> Result<Target, Failure> {
    let Some(out) = args.out.clone() else {
        return match runs {
            1 => Ok(Target::Stdout),
            _ => Err(Failure::new(ExitCode::Usage, "several runs need --out and a folder")),
        };
    };
    let is_folder = out.is_dir() || out.as_os_str().as_encoded_bytes().ends_with(b"/");
    if is_folder || (runs > 1 && out.extension().is_none()) {
        return Ok(Target::Folder(out));
    }
    if runs > 1 {
        let usage = format!("several runs need a folder, and '{}' is a file", out.display());
        return Err(Failure::new(ExitCode::Usage, usage));
    }
    Ok(Target::File(out))
}

fn render(store: &Store, run: &str, form: ReportForm) -> Result<String, Failure> {
    let stored = store.run(run)?;
    let is_duel = stored.plan.engines.len() == 2;
    let mut digest = Digest::new(stored.plan.engines.len());
    let state = watched(store, run, &stored.plan, |effect| {
        if let (true, Effect::Count { tally, look }) = (is_duel, effect) {
            digest.course.count(&tally, look);
        }
    })?;
    let summary = summary_of(store, &stored, &state)?;
    if form == ReportForm::Json {
        return Ok(json::render(&summary));
    }
    for pair in state.counted() {
        let played =
            store.pair(run, pair)?.ok_or_else(|| -> StoreError { store.misfit(run, pair) })?;
        digest.add(&played);
    }
    let document = document(&stored, &summary, Some(&digest));
    Ok(match form {
        ReportForm::Html => html::render(&document),
        ReportForm::Md | ReportForm::Json => markdown::render(&document),
    })
}

/// Writes a whole file or none, so that a report that was there stays if this one fails.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let written = || -> std::io::Result<()> {
        let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    written().map_err(|error| unwritten(path, &error))?;
    note(&format!("wrote {} ({} KiB)", path.display(), text.len().div_ceil(1024)));
    Ok(())
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("cannot write '{}': {error}", path.display()))
}
