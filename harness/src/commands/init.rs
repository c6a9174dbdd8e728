//! `arbiter init`: settings of a repository, for its builds and gates.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::build_args::BuildArgs;
use crate::engine_builds::{BuildContext, own_binary};
use crate::output::{print_result, write_error};
use crate::project::{
    DEFAULT_RESULTS, IGNORED, PERFT, PERFT_FILE, WORKFLOW_FILE, relative_to_current,
};
use crate::{exit_code::ExitCode, failure::Failure, runtime::run_program};
use arbiter_build::{Outline, Repository, WORKING_TREE};
use arbiter_plan::default_concurrency;
use arbiter_process::{Completed, Launch, Links, Timeouts, WholeFile, open_output, read_text};
use arbiter_report::{failed_musts, note};
use arbiter_settings::{DEFAULT_SETTINGS, Settings, load_settings};

/// Workflow for GitHub Actions; docs/ci.md contains the same text.
const WORKFLOW: &str = include_str!("init/workflow.yml");

/// Time limit for one position of the perft suite, in seconds.
const PERFT_DEADLINE: &str = "10";

/// Time limit of the subcommand that tries a gate.
const TRIAL: Duration = Duration::from_secs(60);

/// Folders that are scanned for opening books, relative to the root of the repository.
const BOOK_FOLDERS: [&str; 5] = ["", "books", "book", "openings", "tests"];
/// File extensions of opening books.
const BOOK_ENDINGS: [&str; 3] = ["epd", "pgn", "bin"];

/// Flags of `arbiter init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Builds the working tree and tests the engine's bench, perft counts and UCI conformance. Existing files
are left unchanged, except that the results folder is added to .gitignore.

Exit codes: 0 if all files now exist; 2 for usage errors; 3 if arbiter.toml exists and
cannot be read; 7 if a file cannot be written; 20 to 28 if there is no repository or nothing can be
built (see arbiter --help).

Examples:
  arbiter init
  arbiter init --ci")]
pub(crate) struct InitArgs {
    /// Also write a workflow for GitHub Actions
    #[arg(long)]
    ci: bool,
    /// Repository of the engine [default: repository of the current folder]
    #[arg(long, value_name = "PATH")]
    repo: Option<PathBuf>,
    /// Folder of the build cache [default: arbiter in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Do not run the engine's bench, and write no bench or speed gate
    #[arg(long)]
    no_bench: bool,
}

/// Properties of a repository's engine.
#[derive(Debug, Clone, Copy)]
struct Facts<'a> {
    /// File that determines the build, such as "Cargo.toml".
    source: &'a str,
    command: &'a str,
    /// `true` if the build downloads packages.
    downloads: bool,
    has_bench: bool,
    /// Description of the protocol checks that the engine fails, if any.
    failed: Option<&'a str>,
    /// `true` if the engine's perft counts are correct.
    has_perft: bool,
    /// Opening book, as a path relative to the root of the repository.
    book: Option<&'a str>,
}

/// Writes the missing files.
pub(crate) fn run(args: InitArgs) -> Result<(), Failure> {
    let InitArgs { ci, repo, cache, no_bench } = args;
    let dev = Some(WORKING_TREE.to_owned());
    let build = BuildArgs { dev, repo, cache, no_bench, ..BuildArgs::default() };
    let repo = build.repository(None)?;
    let top = &repo.top;
    let mut written = match top.join(DEFAULT_SETTINGS).symlink_metadata() {
        Ok(_) => Vec::new(),
        Err(_) => settings(build, top)?,
    };
    let settings = read(&top.join(DEFAULT_SETTINGS))?;
    if written.is_empty() {
        note(&format!("{DEFAULT_SETTINGS} already exists; left unchanged"));
    }
    if ci {
        written.extend(write_new(top, WORKFLOW_FILE, WORKFLOW)?);
    }
    if settings.results.is_none() {
        written.extend(ignore_results(&repo)?);
    }
    if written.is_empty() {
        note("all files exist; nothing written");
        return Ok(());
    }
    let relative_top = relative_to_current(top).unwrap_or_default();
    let written: Vec<String> =
        written.iter().map(|name| relative_top.join(name).display().to_string()).collect();
    let mut next = format!(
        "wrote {}\n\nNext:\n  git add {0} && git commit\n  arbiter ci                  runs the \
         gates: the commit against its parent\n  arbiter sprt . HEAD         tests the working \
         tree against the last commit\n",
        written.join(" ")
    );
    if ci {
        next += "Set the variable ARBITER_REPOSITORY of the repository to the URL of Arbiter.\n";
    }
    print_result(&next)
}

/// Reads the settings file; fails if the file is invalid.
fn read(path: &Path) -> Result<Settings, Failure> {
    if let (Ok(to), false) = (path.read_link(), path.exists()) {
        let (path, to) = (path.display(), to.display());
        return Err(Failure::invalid(format!("{path} is a link to {to}, which does not exist")));
    }
    let settings = load_settings(path).map_err(Failure::invalid)?;
    let gates = settings.ci.gates();
    let failed = |error| Failure::invalid(format!("{}: {error}", settings.name()));
    gates.map_err(failed).map(|_| settings)
}

/// Adds the results folder to `.gitignore`, unless git already ignores it. Returns the name of the
/// file if it was changed.
fn ignore_results(repo: &Repository) -> Result<Option<String>, Failure> {
    if repo.ignores(&format!("{DEFAULT_RESULTS}/x"))? {
        return Ok(None);
    }
    let path = repo.top.join(IGNORED);
    let write = || {
        check_inside(&repo.top, &path)?;
        let text = read_text(&path).unwrap_or_default();
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let mut file = open_output(&path, File::options().append(true), Links::Followed)?;
        file.write_all(format!("{gap}/{DEFAULT_RESULTS}/\n").as_bytes())
    };
    write().map(|()| Some(IGNORED.to_owned())).map_err(|error| write_error(&path, &error))
}

/// Builds and tests the engine, and writes the settings. Also writes a perft suite if the engine's
/// perft counts are correct. Returns the names of the written files.
fn settings(build: BuildArgs, top: &Path) -> Result<Vec<String>, Failure> {
    let Outline { recipe, .. } = build.outline(WORKING_TREE)?;
    note(&format!("building the engine: {} ({})", recipe.command, recipe.source));
    let make = |build: &BuildArgs| {
        let without = vec![top.join(DEFAULT_RESULTS)];
        let copies = default_concurrency(true);
        let context = BuildContext { without, copies, ..BuildContext::default() };
        build.prepare(Vec::new(), context, None)
    };
    let built = match make(&build) {
        Err(failure)
            if matches!(failure.code, ExitCode::NoBench | ExitCode::BenchNondeterministic) =>
        {
            note(&failure.message);
            make(&BuildArgs { no_bench: true, ..build })?
        }
        built => built?,
    };
    let has_bench = built.signatures.first().is_some_and(Option::is_some);
    if !has_bench {
        note("no gate for the bench and the speed");
    }
    let program = built.engines.first().and_then(|engine| engine.cmd.clone()).unwrap_or_default();
    let failed = failed_checks(&program)?;
    let mut written = Vec::new();
    let has_perft = counts_perft(&program)?;
    if has_perft {
        written.extend(write_new(top, PERFT_FILE, PERFT)?);
    } else {
        note("no gate for perft: the engine does not support `go perft`, or miscounts");
    }
    let book = book(top);
    let (source, command) = (&*recipe.source, &*recipe.command);
    let (failed, book) = (failed.as_deref(), book.as_deref());
    let downloads = downloads_packages(top, source);
    let facts = Facts { source, command, downloads, has_bench, failed, has_perft, book };
    written.extend(write_new(top, DEFAULT_SETTINGS, &text(facts))?);
    Ok(written)
}

/// Runs a subcommand of this program for at most [`TRIAL`], in a folder with the perft suite.
fn try_command(words: &[&str]) -> Result<Completed, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::environment)?;
    let suite = folder.path().join(PERFT_FILE);
    fs::write(&suite, PERFT).map_err(|error| write_error(&suite, &error))?;
    let args = words.iter().map(|word| (*word).to_owned()).collect();
    let dir = Some(folder.path().to_owned());
    let launch = Launch { program: own_binary()?, args, dir, ..Launch::default() };
    let timeouts = Timeouts { limit: TRIAL, grace: Duration::ZERO };
    run_program(launch, timeouts, "interrupted before anything was written")
}

/// Returns a description of the protocol checks that a program fails, if any.
fn failed_checks(program: &str) -> Result<Option<String>, Failure> {
    let engine = format!("cmd=\"{program}\"");
    note("checking protocol conformance (takes some seconds)");
    // Only checks of grade `must` decide the gate.
    let arguments = ["check", &engine, "--filter", "must", "--format", "json"];
    let ended = try_command(&arguments)?;
    if ended.code == Some(0) {
        return Ok(None);
    }
    let report = serde_json::from_str(&ended.lines.join("\n")).unwrap_or_default();
    // The score of these checks is not shown, because it differs from the score of `arbiter check`.
    let description = failed_musts(&report)
        .unwrap_or_else(|| format!("{} after {:.0} s", ended.how, ended.elapsed.as_secs_f64()));
    note(&format!("no gate for the protocol: {description}"));
    Ok(Some(description))
}

/// Returns whether a program gives correct perft counts.
fn counts_perft(program: &str) -> Result<bool, Failure> {
    let arguments = ["perft", program, "--deadline", PERFT_DEADLINE, "--suite", PERFT_FILE];
    Ok(try_command(&arguments)?.code == Some(0))
}

/// Returns whether a build downloads packages that are not in the repository.
fn downloads_packages(top: &Path, source: &str) -> bool {
    let (listed, mark) = match source {
        "Cargo.toml" => ("Cargo.lock", "\nsource = "),
        "go.mod" => ("go.mod", "require"),
        _ => return false,
    };
    let packages = read_text(&top.join(listed)).unwrap_or_default();
    packages.contains(mark) && !top.join("vendor").is_dir()
}

/// Returns the path of the first opening book in [`BOOK_FOLDERS`], relative to the root of the
/// repository.
fn book(top: &Path) -> Option<String> {
    let names = BOOK_FOLDERS.iter().flat_map(|folder| {
        let entries = fs::read_dir(top.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<PathBuf> =
            entries.map(|entry| Path::new(folder).join(entry.file_name())).collect();
        names.sort();
        names
    });
    let is_book = |path: &PathBuf| {
        let name = path.to_string_lossy().to_lowercase();
        let ends = BOOK_ENDINGS.iter().any(|ending| name.ends_with(&format!(".{ending}")));
        ends && (name.contains("book") || name.contains("opening"))
    };
    names.into_iter().find(is_book).map(|path| path.display().to_string())
}

/// Returns the text of the settings file.
fn text(facts: Facts<'_>) -> String {
    let Facts { source, command, downloads, has_bench, failed, has_perft, book } = facts;
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let openings = match book {
        Some(book) => format!("openings = {}", quoted(book)),
        None => "# openings = \"book.epd\"   # default: the bundled book".to_owned(),
    };
    let build = if downloads {
        "[build]\nnetwork = true   # a sandboxed build may download packages\n"
    } else {
        "# [build]\n"
    };
    let mut text = format!(
        "# Build settings of the engine and the gates that a commit has to pass.\n\
         # `arbiter ci` runs the gates and stops at the first that does not pass.\n\n\
         {openings}\n\n\
         # Without a command, {source} defines the build:\n{build}# command = {}\n\
         # binary = \"engine\"   # if the command leaves several programs\n",
        quoted(command)
    );
    if let Some(failed) = failed {
        text += &format!(
            "\n# Enable when the engine passes; now: {failed}\n# [[ci.gate]]\n# kind = \"check\"\n"
        );
    }
    let mut gate = |why: &str, kind: &str, more: &str| {
        text += &format!("\n# {why}\n[[ci.gate]]\nkind = \"{kind}\"\n{more}");
    };
    if failed.is_none() {
        gate("The engine follows the protocol.", "check", "");
    }
    if has_bench {
        let why = "The bench is deterministic and matches \"Bench: N\" of the commit message.";
        gate(why, "bench", "");
    }
    if has_perft {
        let args = format!("args = \"--suite {PERFT_FILE}\"\n");
        gate("Move generation is correct.", "perft", &args);
    }
    if has_bench {
        let args = "args = \"--max-loss 3\"\nstop = false\n";
        gate("The engine is at most 3 % slower than the base.", "speed", args);
    }
    let no_bench = if has_bench { "" } else { "--no-bench " };
    let args = format!(
        "name = \"non-regression\"\nargs = \"{no_bench}--each tc=4+0.04 --elo0 -10 --elo1 0\"\n\
         budget = 600   # seconds; an undecided test then passes\n"
    );
    gate("The engine is not weaker than the base.", "sprt", &args);
    text
}

/// Fails if a link leads out of the repository, either from `place` or from the nearest existing
/// folder above `place`. A commit may contain such a link.
fn check_inside(top: &Path, place: &Path) -> io::Result<()> {
    let existing = place.ancestors().find(|place| place.exists()).unwrap_or(top);
    if existing.canonicalize()?.starts_with(top.canonicalize()?) {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::NotADirectory, "a link leads out of the repository"))
}

/// Writes a file unless it exists. Returns the name of the file if it was written.
fn write_new(top: &Path, name: &str, text: &str) -> Result<Option<String>, Failure> {
    let path = top.join(name);
    let write = || {
        let folder = path.parent().unwrap_or(top);
        check_inside(top, folder)?;
        fs::create_dir_all(folder)?;
        WholeFile::create(&path)?.finish_new(text)
    };
    match write() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            note(&format!("{name} already exists; left unchanged"));
            Ok(None)
        }
        done => done.map(|()| Some(name.to_owned())).map_err(|error| write_error(&path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_settings::merged;

    #[test]
    fn the_documentation_shows_the_workflow_that_is_written() {
        assert!(include_str!("../../../docs/ci.md").contains(WORKFLOW));
    }

    #[test]
    fn the_perft_suite_is_correct() {
        for line in PERFT.lines() {
            let (fen, counts) = line.split_once(" ;").unwrap();
            let fen: shakmaty::fen::Fen = fen.parse().unwrap();
            let start: shakmaty::Chess =
                fen.into_position(shakmaty::CastlingMode::Standard).unwrap();
            for (depth, count) in counts.split(" ;").map(|count| count.split_once(' ').unwrap()) {
                let depth = depth.trim_start_matches('D').parse().unwrap();
                assert_eq!(shakmaty::perft(&start, depth).to_string(), count, "{line}");
            }
        }
    }

    #[test]
    fn settings_follow_the_facts() {
        let all = Facts {
            source: "src/Makefile",
            command: "make -C src -j\"$(nproc)\"",
            downloads: false,
            has_bench: true,
            failed: None,
            has_perft: true,
            book: Some("books/a\"b.pgn"),
        };
        let kinds = |facts: Facts<'_>| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(DEFAULT_SETTINGS);
            fs::write(&path, text(facts)).unwrap();
            let read = load_settings(&path).unwrap();
            assert_eq!(merged(read.openings).file, facts.book.map(|book| folder.path().join(book)));
            // The settings remain valid if the commented-out lines are enabled.
            fs::write(&path, text(facts).replace("# [build]\n# ", "[build]\n")).unwrap();
            assert!(load_settings(&path).unwrap().build.is_some());
            read.ci.gates().unwrap().iter().map(|gate| gate.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(kinds(all), ["check", "bench", "perft", "speed", "non-regression"]);
        assert!(text(Facts { downloads: true, ..all }).contains("[build]\nnetwork = true"));
        let failed = Some("1 must failed: \"uci\"");
        let few = Facts { has_bench: false, failed, has_perft: false, book: None, ..all };
        assert_eq!(kinds(few), ["non-regression"]);
        assert!(text(few).contains("args = \"--no-bench "), "{}", text(few));
    }

    #[test]
    fn a_book_is_found_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(book(folder.path()), None);
        for name in ["tests/book.epd", "books/readme.md", "openings/8moves.pgn", "perft.epd"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(book(folder.path()).as_deref(), Some("openings/8moves.pgn"));
    }

    #[test]
    fn pipes_in_the_repository_are_not_read() {
        let top = tempfile::tempdir().unwrap();
        let pipes = [IGNORED, PERFT_FILE, "Cargo.lock"].map(|name| top.path().join(name));
        let mut make = std::process::Command::new("mkfifo");
        assert!(make.args(&pipes).status().unwrap().success());
        assert!(!crate::project::files_of_init(top.path()).contains(&pipes[1]));
        assert!(!downloads_packages(top.path(), "Cargo.toml"));
    }

    #[test]
    fn links_out_of_the_repository_are_not_followed() {
        let (top, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(other.path(), top.path().join(".github")).unwrap();
        assert!(write_new(top.path(), WORKFLOW_FILE, WORKFLOW).is_err());
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
        fs::remove_file(top.path().join(".github")).unwrap();
        assert!(write_new(top.path(), WORKFLOW_FILE, WORKFLOW).is_ok());
    }
}
