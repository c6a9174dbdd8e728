//! Runners, and their command lines for a match.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that plays matches.
pub struct Runner {
    /// Name of the runner in the table.
    pub name: String,
    program: PathBuf,
    arguments: fn(&Match<'_>) -> Vec<OsString>,
}

/// A match to play.
pub struct Match<'a> {
    /// Engine that plays against itself.
    pub engine: &'a Path,
    /// Time control of the engine.
    pub clock: &'a str,
    /// Number of games; even.
    pub games: usize,
    /// Number of concurrent games.
    pub concurrency: usize,
    /// EPD file of the openings.
    pub book: &'a Path,
    /// Folder for files of the match.
    pub folder: &'a Path,
}

impl Runner {
    /// Returns the command that plays the match `played` and discards all output.
    pub fn command(&self, played: &Match<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args((self.arguments)(played))
            .current_dir(played.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

/// Returns Arbiter (the program named by the environment variable `ARBITER`, by default the release
/// build of this checkout), and the runners named by the environment variables `FASTCHESS`,
/// `CUTECHESS` and `CCHESSCLI`.
pub fn runners() -> Result<Vec<Runner>, Box<dyn Error>> {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target/release/arbiter");
    let arbiter = std::env::var_os("ARBITER").map_or_else(|| built.into(), PathBuf::from);
    if !arbiter.is_file() {
        return Err(format!(
            "{}: not there; build it with 'cargo build --release' or name it in ARBITER",
            arbiter.display()
        )
        .into());
    }
    let candidates: [(&str, Option<PathBuf>, fn(&Match<'_>) -> Vec<OsString>); 4] = [
        ("arbiter", Some(arbiter), arbiter_arguments),
        ("fastchess", named("FASTCHESS"), fastchess_arguments),
        ("cutechess-cli", named("CUTECHESS"), cutechess_arguments),
        ("c-chess-cli", named("CCHESSCLI"), c_chess_cli_arguments),
    ];
    let present = candidates.into_iter().filter_map(|(name, program, arguments)| {
        Some(Runner { name: name.to_owned(), program: program?, arguments })
    });
    Ok(present.collect())
}

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

fn words(text: &str) -> impl Iterator<Item = OsString> {
    text.split(' ').map(OsString::from).collect::<Vec<_>>().into_iter()
}

fn arbiter_arguments(played: &Match<'_>) -> Vec<OsString> {
    let Match { engine, clock, games, concurrency, book, folder } = played;
    let (engine, book, folder) = (engine.display(), book.display(), folder.display());
    let text = format!(
        "match --engine name=a,cmd={engine} --engine name=b,cmd={engine} --each tc={clock} \
         --openings {book} --openings order=sequential --pairs {} --concurrency {concurrency} --results {folder}/results \
         --pgn {folder}/games.pgn --format json",
        games / 2
    );
    words(&text).collect()
}

fn fastchess_arguments(played: &Match<'_>) -> Vec<OsString> {
    let Match { engine, clock, games, concurrency, book, folder } = played;
    let (engine, book, folder) = (engine.display(), book.display(), folder.display());
    let text = format!(
        "-engine name=a cmd={engine} -engine name=b cmd={engine} -each tc={clock} -openings \
         file={book} format=epd order=sequential -rounds {} -games 2 -repeat -concurrency \
         {concurrency} -force-concurrency -pgnout file={folder}/games.pgn",
        games / 2
    );
    words(&text).collect()
}

fn cutechess_arguments(played: &Match<'_>) -> Vec<OsString> {
    let Match { engine, clock, games, concurrency, book, folder } = played;
    let (engine, book, folder) = (engine.display(), book.display(), folder.display());
    let text = format!(
        "-engine name=a cmd={engine} -engine name=b cmd={engine} -each proto=uci tc={clock} \
         -openings file={book} format=epd order=sequential -rounds {} -games 2 -repeat \
         -concurrency {concurrency} -pgnout {folder}/games.pgn",
        games / 2
    );
    words(&text).collect()
}

fn c_chess_cli_arguments(played: &Match<'_>) -> Vec<OsString> {
    let Match { engine, clock, games, concurrency, book, folder } = played;
    let (engine, book, folder) = (engine.display(), book.display(), folder.display());
    let text = format!(
        "-engine name=a cmd={engine} -engine name=b cmd={engine} -each tc={clock} -openings \
         file={book} order=sequential -repeat -games {games} -concurrency {concurrency} -pgn \
         {folder}/games.pgn 2",
    );
    words(&text).collect()
}
