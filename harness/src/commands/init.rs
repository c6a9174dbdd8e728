//! `arbiter init`: writes the settings of a repository, for its builds and gates.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use crate::{
    BuildArgs, BuildContext, ExitCode, Failure, emit, engine_builds::own_binary, unwritten,
};
use arbiter_build::{Outline, WORKING_TREE};
use arbiter_plan::{DEFAULT_SETTINGS, EngineSpec, default_concurrency, load_settings};
use arbiter_report::note;

/// What GitHub Actions carries out; docs/ci.md shows the same.
const WORKFLOW: &str = include_str!("init/workflow.yml");
const WORKFLOW_FILE: &str = ".github/workflows/arbiter.yml";

/// A perft suite for repositories that have none.
const PERFT: &str = "\
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 ;D1 20 ;D2 400 ;D3 8902 ;D4 197281
r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 ;D1 48 ;D2 2039 ;D3 97862
8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 ;D1 14 ;D2 191 ;D3 2812 ;D4 43238
r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1 ;D1 6 ;D2 264 ;D3 9467
rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8 ;D1 44 ;D2 1486 ;D3 62379
";
const PERFT_FILE: &str = "perft.epd";

/// Seconds in which an engine has to count one position of it.
const PERFT_DEADLINE: &str = "10";

/// Folders in which books are looked for, and how their files end.
const BOOK_FOLDERS: [&str; 5] = ["", "books", "book", "openings", "tests"];
const BOOK_ENDINGS: [&str; 3] = ["epd", "pgn", "bin"];

const HELP: &str = "\
It builds the files of the working tree as they are, and tries what the engine can: whether it has
a bench, and counts perft. Files that are there stay as they are.

Exit codes: 0 if a file was written; 4 if all are there; 2 for bad usage; 7 if a file cannot be
written; 20 to 28 if there is no repository or nothing can be built (see arbiter --help).

Examples:
  arbiter init
  arbiter init --ci";

/// Flags of `arbiter init`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct InitArgs {
    /// Write a workflow for GitHub Actions too
    #[arg(long)]
    ci: bool,
    /// Repository [default: that of the current folder]
    #[arg(long, value_name = "PATH")]
    repo: Option<PathBuf>,
    /// Folder in which builds are kept [default: arbiter in the user's folder of caches]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// What is known of the engine of a repository.
#[derive(Debug, Clone, Copy)]
struct Facts<'a> {
    /// What says how it is built: "Cargo.toml".
    source: &'a str,
    command: &'a str,
    has_bench: bool,
    /// The perft suite, if it counts perft.
    perft: Option<&'a str>,
    /// A book in the repository, from its top.
    book: Option<&'a str>,
}

/// Writes what is missing.
pub(crate) fn run(args: InitArgs) -> Result<(), Failure> {
    let test = Some(WORKING_TREE.to_owned());
    let build = BuildArgs { test, repo: args.repo, cache: args.cache, ..BuildArgs::default() };
    let top = build.repository(None)?.top;
    let mut written = match top.join(DEFAULT_SETTINGS).exists() {
        true => Vec::new(),
        false => settings(build, &top)?,
    };
    if written.is_empty() {
        note(&format!("{DEFAULT_SETTINGS} is there, and stays as it is"));
    }
    if args.ci {
        written.extend(write_new(&top, WORKFLOW_FILE, WORKFLOW)?);
    }
    if written.is_empty() {
        return Err(Failure::new(ExitCode::Nothing, "all is there, and nothing was written"));
    }
    let mut next = format!(
        "wrote {}\n\nNext:\n  git add {0} && git commit\n  arbiter ci                  carries out the gates: \
         the commit against its parent\n  arbiter sprt . HEAD         is what you work on stronger \
         than the last commit?\n",
        written.join(" ")
    );
    if args.ci {
        next +=
            "Set the variable ARBITER_REPOSITORY of the repository to the address of Arbiter.\n";
    }
    emit(&next)
}

/// Tries the engine out and writes the settings, and a suite if it counts perft.
fn settings(build: BuildArgs, top: &Path) -> Result<Vec<String>, Failure> {
    let Outline { recipe, .. } = build.outline(WORKING_TREE)?;
    note(&format!("building it: {} ({})", recipe.command, recipe.source));
    let make = |build: &BuildArgs| {
        let with = BuildContext { copies: default_concurrency(true), ..BuildContext::default() };
        build.prepare(Vec::new(), &EngineSpec::default(), with)
    };
    let (built, has_bench) = match make(&build) {
        Err(failure) if matches!(failure.code, ExitCode::NoBench | ExitCode::BenchUnsteady) => {
            note(&format!("no gate for the bench and the speed: {}", failure.message));
            (make(&BuildArgs { no_bench: true, ..build })?, false)
        }
        built => (built?, true),
    };
    let program = built.engines.first().and_then(|engine| engine.cmd.clone()).unwrap_or_default();
    let mut written = Vec::new();
    let mut perft = None;
    if counts_perft(&program)? {
        written.extend(write_new(top, PERFT_FILE, PERFT)?);
        perft = Some(PERFT_FILE);
    } else {
        note("no gate for perft: the engine does not answer `go perft`, or miscounts");
    }
    let book = book(top);
    let (source, command) = (&*recipe.source, &*recipe.command);
    let facts = Facts { source, command, has_bench, perft, book: book.as_deref() };
    written.extend(write_new(top, DEFAULT_SETTINGS, &text(facts))?);
    let read = load_settings(&top.join(DEFAULT_SETTINGS));
    read.and_then(|read| read.ci.steps()).map_err(Failure::invalid)?;
    Ok(written)
}

/// Whether a program's perft counts are right.
fn counts_perft(program: &str) -> Result<bool, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::environment)?;
    let suite = folder.path().join(PERFT_FILE);
    fs::write(&suite, PERFT).map_err(|error| unwritten(&suite, &error))?;
    let mut perft = Command::new(own_binary()?);
    perft.args(["perft", program, "--deadline", PERFT_DEADLINE, "--suite"]).arg(&suite);
    let quiet = perft.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(quiet.status().map_err(Failure::environment)?.success())
}

/// The first book in one of the usual folders.
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

/// The settings.
fn text(facts: Facts<'_>) -> String {
    let Facts { source, command, has_bench, perft, book } = facts;
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let openings = match book {
        Some(book) => format!("openings = {}", quoted(book)),
        None => "# openings = \"book.epd\"   # else the bundled book".to_owned(),
    };
    let mut text = format!(
        "# How a commit of this repository becomes an engine, and which gates it has to pass.\n\
         # `arbiter ci` carries them out, and stops at the first that is not passed.\n\n\
         {openings}\n\n\
         # Without [build] it is built as {source} says:\n# [build]\n# command = {}\n\
         # binary = \"engine\"   # if the command leaves several programs\n",
        quoted(command)
    );
    let mut step = |why: &str, kind: &str, more: &str| {
        text += &format!("\n# {why}\n[[ci.step]]\nkind = \"{kind}\"\n{more}");
    };
    step("It keeps to the protocol.", "check", "");
    if has_bench {
        let why = "It searches the same nodes each time, and those of a line \"Bench: N\" in the message \
                   of the commit.";
        step(why, "bench", "");
    }
    if let Some(suite) = perft {
        step("It knows the rules.", "perft", &format!("args = \"--suite {suite}\"\n"));
    }
    if has_bench {
        let args = "args = \"--max-loss 3\"\nstop = false\n";
        step("It is at most 3 % slower than the base.", "speed", args);
    }
    let args = "name = \"non-regression\"\nargs = \"--each tc=4+0.04 --elo0 -10 --elo1 0\"\n\
                budget = 600   # seconds; what is undecided then passes\n";
    step("It is not weaker than the base.", "sprt", args);
    text
}

/// Writes a file that is not there; its name, or nothing if it is there.
fn write_new(top: &Path, name: &str, text: &str) -> Result<Option<String>, Failure> {
    let path = top.join(name);
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(top))?;
        File::create_new(&path)?.write_all(text.as_bytes())
    };
    match write() {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            note(&format!("{name} is there, and stays as it is"));
            Ok(None)
        }
        done => done.map(|()| Some(name.to_owned())).map_err(|error| unwritten(&path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_shows_the_workflow_that_is_written() {
        assert!(include_str!("../../../docs/ci.md").contains(WORKFLOW));
    }

    #[test]
    fn the_suite_is_right() {
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
            has_bench: true,
            perft: Some("perft.epd"),
            book: Some("books/a\"b.pgn"),
        };
        let kinds = |facts: Facts<'_>| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(DEFAULT_SETTINGS);
            fs::write(&path, text(facts)).unwrap();
            let read = load_settings(&path).unwrap();
            assert_eq!(read.openings, facts.book.map(|book| folder.path().join(book)));
            // What is commented out can be put in.
            fs::write(&path, text(facts).replace("# [build]\n# ", "[build]\n")).unwrap();
            assert!(load_settings(&path).unwrap().build.is_some());
            read.ci.steps().unwrap().iter().map(|step| step.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(kinds(all), ["check", "bench", "perft", "speed", "non-regression"]);
        let few = Facts { has_bench: false, perft: None, book: None, ..all };
        assert_eq!(kinds(few), ["check", "non-regression"]);
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
}
