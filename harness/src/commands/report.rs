//! `arbiter report`: reports of runs, and of games in PGN files. PGN files are read by the same
//! code as in `arbiter rate`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::game_source::{OPENING_PLIES, PLAYERS, no_games_reason, read_files};
use crate::output::{
    OutputFormat, file_name, in_use, lines, print_report, print_result, store_files, width,
    write_atomically,
};
use crate::{args::threads, exit_code::ExitCode, failure::Failure, project::ResultsArg};
use anstream::adapter::strip_str;
use arbiter_process::FilesInUse;
use arbiter_rate::{ScanOptions, Tally};
use arbiter_report::{
    GameStatistics, Ratings, brief_document, games_document, games_junit, gates_of_run, html_page,
    markdown, note, outcome_document, plain_body, ratings_json, replayed_state, run_csv,
    run_document, run_json, run_json_text, run_junit, shown_run, summary_of,
};
use arbiter_stats::ratings::Options;
use arbiter_store::{Store, StoreError};

/// Flags of `arbiter report`.
#[derive(Debug, Args)]
#[command(after_help = "\
A PGN file provides only results, openings, endings and times; the report on a PGN file names the
sections that need a results store.

Exit codes: 0 if all reports were written; 2 for usage errors; 3 if a run or file does not exist; 4 if no
game of a file counts; 7 if the store cannot be read or a file cannot be written.

Examples:
  arbiter report --out report.html
  arbiter report games.pgn more.pgn.zst --format md")]
pub(crate) struct ReportArgs {
    /// Names of runs, or latest; or PGN files (plain, .gz or .zst), whose games are combined
    /// [default: latest]
    #[arg(value_name = "RUN|PGN")]
    runs: Vec<String>,
    #[command(flatten)]
    results: ResultsArg,
    /// File to write, or folder for one file per run [default: standard output]
    #[arg(long, short, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// Format of the report [default: from the file extension; html in a folder; otherwise md]
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    /// URL (http or https) of a page with more information, for the link in a comment
    #[arg(long, value_name = "URL", value_parser = web_address)]
    link: Option<String>,
}

/// Parses a URL that can be written between angle brackets.
fn web_address(text: &str) -> Result<String, String> {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    let is_plain =
        !text.contains(|c: char| c.is_whitespace() || c.is_control() || "<>".contains(c));
    if is_web && is_plain {
        Ok(text.to_owned())
    } else {
        Err("expected a URL with http:// or https://, without spaces or angle brackets".to_owned())
    }
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// One self-contained page with charts and boards.
    Html,
    /// A Markdown document.
    Md,
    /// One JSON object, as printed by `arbiter results show`.
    Json,
    /// The JSON object on one line.
    Ndjson,
    /// Comma-separated values: one line for each engine of a tournament or each feature of an
    /// ablation; for a match, a single line.
    Csv,
    /// JUnit XML: one test case for the verdict (or for each encounter), one for the faults, and
    /// one for each gate.
    #[value(alias = "xml")]
    Junit,
    /// The text that is printed at the end of a run.
    #[value(alias = "txt")]
    Text,
    /// Markdown for a pull request: verdict, figures, crosstable, and the link given with --link;
    /// for runs only.
    Comment,
}

impl ReportFormat {
    fn extension(self) -> &'static str {
        match self {
            ReportFormat::Html => "html",
            ReportFormat::Md => "md",
            ReportFormat::Json => "json",
            ReportFormat::Ndjson => "ndjson",
            ReportFormat::Csv => "csv",
            ReportFormat::Junit => "xml",
            ReportFormat::Text => "txt",
            ReportFormat::Comment => "md",
        }
    }

    fn from_path(path: &Path) -> Option<ReportFormat> {
        let extension = path.extension().and_then(OsStr::to_str)?;
        let mut all = ReportFormat::value_variants().iter().copied();
        all.find(|form| form.extension().eq_ignore_ascii_case(extension))
    }
}

/// Destination of a report.
#[derive(Debug)]
enum Target {
    Stdout,
    File(PathBuf),
    Folder(PathBuf),
}

/// Runs the command.
pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    let (files, runs): (Vec<&String>, Vec<&String>) =
        args.runs.iter().partition(|word| is_pgn(word));
    if !files.is_empty() {
        if !runs.is_empty() {
            let message = format!("'{}' is not a PGN file; give either runs or PGN files", runs[0]);
            return Err(Failure::usage(message));
        }
        let files: Vec<PathBuf> = files.into_iter().map(PathBuf::from).collect();
        let (target, form) = target(args, 1)?;
        let read = files.iter().map(|path| ("a file of games", path.clone()));
        let text = render_games(&files, form)?;
        return put(&target, &games_name(&files), form, &text, in_use(read)?);
    }
    let results = args.results.folder()?;
    let store = Store::open(&results)?;
    if let Some(word) = args.runs.iter().find(|word| is_other_file(&store, word)) {
        return Err(Failure::invalid(format!(
            "'{word}' is neither a run in the folder of --results nor the name of a PGN file \
             (.pgn, .pgn.gz or .pgn.zst)"
        )));
    }
    let runs = match args.runs.as_slice() {
        [] => vec![store.runs()?.pop().map(|head| head.run).ok_or_else(|| store.empty())?],
        named => named.iter().map(|run| store.named(run)).collect::<Result<_, _>>()?,
    };
    let (target, form) = target(args, runs.len())?;
    for run in &runs {
        let text = store.atomically(|| render(&store, run, form, args.link.as_deref()))?;
        put(&target, run, form, &text, in_use(store_files(&results))?)?;
    }
    Ok(())
}

/// Returns whether a word is the path of a file or folder, and not the name of a run.
fn is_other_file(store: &Store, word: &str) -> bool {
    Path::new(word).exists()
        && store
            .named(word)
            .is_ok_and(|run| matches!(store.run(&run), Err(StoreError::NoRun { .. })))
}

/// Prints a report, or writes it to a file atomically, so that an existing file is kept if writing
/// fails.
fn put(
    target: &Target,
    name: &str,
    form: ReportFormat,
    text: &str,
    in_use: FilesInUse,
) -> Result<(), Failure> {
    let path = match target {
        Target::Stdout if form == ReportFormat::Text => return print_report(text),
        Target::Stdout => return print_result(text),
        Target::File(path) => path.clone(),
        Target::Folder(folder) => {
            fs::create_dir_all(folder).map_err(|error| {
                Failure::environment(format!("cannot make '{}': {error}", folder.display()))
            })?;
            folder.join(format!("{name}.{}", form.extension()))
        }
    };
    // Colour codes are only for terminals.
    let plain = (form == ReportFormat::Text).then(|| strip_str(text).to_string());
    let text = plain.as_deref().unwrap_or(text);
    write_atomically(&path, text, in_use)?;
    note(&format!("wrote {} ({} KiB)", path.display(), text.len().div_ceil(1024)));
    Ok(())
}

/// Returns the target, and the requested format or the default format of the target. The value of
/// `--out` is a folder if the folder exists, if the value ends with `/`, or, for several runs, if
/// the value has no extension.
fn target(args: &ReportArgs, runs: usize) -> Result<(Target, ReportFormat), Failure> {
    let Some(out) = args.out.clone() else {
        return match runs {
            1 => Ok((Target::Stdout, args.format.unwrap_or(ReportFormat::Md))),
            _ => Err(Failure::usage("several runs require a folder as --out")),
        };
    };
    let is_folder = out.is_dir() || out.as_os_str().as_encoded_bytes().ends_with(b"/");
    if is_folder || (runs > 1 && out.extension().is_none()) {
        return Ok((Target::Folder(out), args.format.unwrap_or(ReportFormat::Html)));
    }
    if runs > 1 {
        let usage = format!("several runs require a folder, but '{}' is a file", out.display());
        return Err(Failure::usage(usage));
    }
    let form = args.format.or_else(|| ReportFormat::from_path(&out)).ok_or_else(|| {
        Failure::usage(format!(
            "unknown report format for '{}': give --format html, md, json, ndjson, csv, junit, text \
             or comment",
            out.display()
        ))
    })?;
    Ok((Target::File(out), form))
}

fn render(
    store: &Store,
    run: &str,
    form: ReportFormat,
    link: Option<&str>,
) -> Result<String, Failure> {
    let stored = shown_run(store, run)?;
    let mut statistics = GameStatistics::new(stored.plan.engines.len());
    let state = replayed_state(store, run, &stored.plan, |effect| statistics.observe(&effect))?;
    let summary = summary_of(store, &stored, &state)?;
    let gates = gates_of_run(store, &stored)?;
    Ok(match form {
        ReportFormat::Json => run_json_text(&summary),
        ReportFormat::Ndjson => lines(&run_json(&summary)),
        ReportFormat::Csv => run_csv(&run_json(&summary)),
        ReportFormat::Junit => run_junit(&summary, &gates).map_err(Failure::environment)?,
        ReportFormat::Text => plain_body(&brief_document(&summary), width()),
        ReportFormat::Comment => {
            let link = link.map(|url| format!("\n[All of {run}](<{url}>)\n"));
            markdown(&outcome_document(&summary, None)) + &link.unwrap_or_default()
        }
        ReportFormat::Html | ReportFormat::Md => {
            for pair in state.evidence() {
                let played = store.pair(run, pair)?;
                let played =
                    played.ok_or_else(|| -> StoreError { store.schedule_mismatch(run, pair) })?;
                statistics.add(&played);
            }
            let document = run_document(&stored, &summary, Some(&statistics), &gates);
            if form == ReportFormat::Html { html_page(&document) } else { markdown(&document) }
        }
    })
}

/// File extensions of PGN files.
const ENDINGS: [&str; 3] = [".pgn", ".pgn.gz", ".pgn.zst"];

/// Returns whether a word on the command line has the extension of a PGN file.
fn is_pgn(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

/// Returns the file name of the report in a folder, without an extension.
fn games_name(files: &[PathBuf]) -> String {
    let first = files.first().and_then(|path| path.file_name());
    let name = first.map_or("games".into(), |name| name.to_string_lossy().into_owned());
    let lower = name.to_ascii_lowercase();
    let ending = ENDINGS.iter().find(|ending| lower.ends_with(**ending));
    name[..name.len() - ending.map_or(0, |ending| ending.len())].to_owned()
}

/// Returns the report on the games in PGN files.
fn render_games(files: &[PathBuf], form: ReportFormat) -> Result<String, Failure> {
    let threads = threads(None).map_err(Failure::invalid)?;
    // Only these formats show the moves and evaluations of games.
    let evaluations = matches!(form, ReportFormat::Html | ReportFormat::Md);
    let scan_options = ScanOptions { opening_plies: OPENING_PLIES, replay: false, evaluations };
    let tally =
        read_files(files, scan_options, Tally::default(), threads).map_err(Failure::invalid)?;
    if tally.games == tally.bad_games() {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let message = format!("{}: {}", names.join(", "), no_games_reason(&tally));
        return Err(Failure::nothing_to_run(message));
    }
    let shown = Ratings::new(&tally, &Options::default(), "logistic scale")
        .map_err(|error| Failure::new(ExitCode::Bug, error))?;
    let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
    let document = games_document(&shown, &names);
    let value = || ratings_json(&shown);
    let render = |form: OutputFormat| form.of_document(&document, value, PLAYERS);
    Ok(match form {
        ReportFormat::Html => html_page(&document),
        ReportFormat::Md => render(OutputFormat::Md),
        ReportFormat::Json => render(OutputFormat::Json),
        ReportFormat::Ndjson => render(OutputFormat::Ndjson),
        ReportFormat::Csv => render(OutputFormat::Csv),
        ReportFormat::Text => render(OutputFormat::Text),
        ReportFormat::Comment => {
            let message = "comments are only available for runs, not for PGN files";
            return Err(Failure::usage(message));
        }
        ReportFormat::Junit => games_junit(&tally).map_err(Failure::environment)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_files_are_distinguished_from_runs_by_name() {
        let found = ["a.pgn", "b/A.PGN.gz", "a.pgn.zst", "nightly", "a.pgn.txt"].map(is_pgn);
        assert_eq!(found, [true, true, true, false, false]);
        let called = ["x/all.pgn.zst", "B.PGN", "odd"].map(|file| games_name(&[file.into()]));
        assert_eq!(called, ["all", "B", "odd"]);
    }

    #[test]
    fn only_web_addresses_become_links() {
        let is_link = |text| web_address(text).is_ok();
        assert!(is_link("https://a.example/b?c") && is_link("http://a.example"));
        for text in
            ["javascript:alert(1)", "data:text/html,x", "https://a b", "https://a\n", "http://>"]
        {
            assert!(!is_link(text), "{text}");
        }
    }
}
