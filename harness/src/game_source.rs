//! Sources of games: PGN files and stored runs.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::output::{FileUse, Rows, file_name, progress, store_files};
use crate::{failure::Failure, project::ResultsArg};
use arbiter_openings::decompressed;
use arbiter_process::open_input;
use arbiter_rate::{ScanOptions, Tally, scan_all};
use arbiter_report::note;
use arbiter_store::Store;
use arbiter_suite::mine::{Game, read_games, stored_game};

/// Maximum number of unreadable games that are listed for each file.
const NAMED: usize = 5;

/// Flags that name games.
#[derive(Debug, Args)]
pub(crate) struct GameSourceArgs {
    /// PGN file with games, plain, .gz or .zst; may be repeated
    #[arg(long, value_name = "FILE", required_unless_present = "run")]
    pub pgn: Vec<PathBuf>,
    /// Name of a run whose stored games are used, or latest; may be repeated
    #[arg(long, value_name = "RUN")]
    pub run: Vec<String>,
    #[command(flatten)]
    results: ResultsArg,
}

impl GameSourceArgs {
    /// Returns the files that contain the games; the command must not overwrite these files.
    pub(crate) fn files(&self) -> Result<impl Iterator<Item = FileUse>, Failure> {
        let folder = if self.run.is_empty() { None } else { Some(self.results.folder()?) };
        let store = folder.as_deref().map(store_files);
        let pgn = self.pgn.iter().map(|path| ("a file of games", path.clone()));
        Ok(store.into_iter().flatten().chain(pgn))
    }

    /// Returns the sources in one line; `name` formats the path of a file.
    pub(crate) fn names(&self, name: impl Fn(&Path) -> String) -> String {
        let files = self.pgn.iter().map(|path| name(path));
        let runs = self.run.iter().map(|run| format!("run {run}"));
        files.chain(runs).collect::<Vec<_>>().join(", ")
    }

    /// Returns the games of all files and runs.
    pub(crate) fn games(&self) -> Result<Vec<Game>, Failure> {
        let mut games = Vec::new();
        for path in &self.pgn {
            let failed = |error| Failure::invalid(format!("{}: {error}", path.display()));
            let file = file_name(path);
            let source = open_input(path).and_then(decompressed).map_err(failed)?;
            let (read, faults) = read_games(&file, source).map_err(failed)?;
            for fault in faults.iter().take(NAMED) {
                note(fault);
            }
            if faults.len() > NAMED {
                note(&format!("… and {} more such games in {file}", faults.len() - NAMED));
            }
            games.extend(read);
        }
        for run in &self.run {
            let store = self.results.store()?;
            games.extend(stored_games(&store, &store.named(run)?)?);
        }
        Ok(games)
    }
}

/// Returns the games of a run, in the order of its schedule.
pub(crate) fn stored_games(store: &Store, run: &str) -> Result<Vec<Game>, Failure> {
    let plan = store.run(run)?.plan;
    let mut games = Vec::new();
    for tally in store.tallies(run)? {
        let Some(played) = store.pair(run, tally.pair)? else { continue };
        for (game_index, record) in played.games.iter().enumerate() {
            let engine = |index: usize| plan.engines.get(index).map_or("?", |e| e.name.as_str());
            let origin = format!(
                "{} v {}, run {run} pair {} game {}",
                engine(record.engines.white),
                engine(record.engines.black),
                tally.pair + 1,
                game_index + 1
            );
            let game = stored_game(origin, record);
            games.push(game.map_err(|error| Failure::environment(format!("run {run}: {error}")))?);
        }
    }
    Ok(games)
}

/// Conversion of ratings to CSV, with a row for each player.
pub(crate) const PLAYERS: Rows<'static> = Rows {
    list: Some("players"),
    first: &["name", "rating", "rating_low", "rating_high", "games", "score"],
};

/// Default number of plies of an opening, for games without marked book moves.
pub(crate) const OPENING_PLIES: u32 = 16;

/// Returns the reason why there are no games to rate.
pub(crate) fn no_games_reason(tally: &Tally) -> String {
    if tally.games == 0 {
        return if tally.players.is_empty() {
            "the files contain no games".to_owned()
        } else {
            "no game matches the filters".to_owned()
        };
    }
    let reasons: Vec<String> =
        tally.bad.iter().map(|(reason, games)| format!("{} {games}", reason.as_str())).collect();
    let first = tally.named.first().map(|bad| {
        let culprit = bad.culprit.as_ref().map(|culprit| format!(": {culprit}"));
        format!("; the first: {}:{}{}", bad.file, bad.line, culprit.unwrap_or_default())
    });
    format!("none of the games can be counted: {}{}", reasons.join(", "), first.unwrap_or_default())
}

/// Reads the games of all files and adds them to `tally`.
pub(crate) fn read_files(
    files: &[PathBuf],
    options: ScanOptions,
    mut tally: Tally,
    threads: usize,
) -> Result<Tally, String> {
    let mut sizes = 0;
    for path in files {
        let about = open_input(path).and_then(|file| file.metadata());
        sizes += about.map_err(|e| format!("cannot read {}: {e}", path.display()))?.len();
    }
    let bar = progress(sizes, "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    for path in files {
        let failed = |error: io::Error| format!("cannot read {}: {error}", path.display());
        let source = open_input(path).and_then(|file| decompressed(bar.wrap_read(file)));
        tally.begin_file(&path.display().to_string());
        scan_all(source.map_err(failed)?, threads, options, |block| tally.add(&block))
            .map_err(failed)?;
    }
    bar.finish_and_clear();
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_names_the_first_illegal_move() {
        let game = "[White \"A\"]\n[Black \"B\"]\n\n1. e4 -- 1-0\n";
        let mut tally = Tally::default();
        tally.begin_file("a.pgn");
        let options = ScanOptions { replay: true, ..ScanOptions::default() };
        scan_all(game.as_bytes(), 1, options, |block| tally.add(&block)).expect("readable bytes");
        assert_eq!(
            no_games_reason(&tally),
            "none of the games can be counted: illegal move 1; the first: a.pgn:4: 1... --, a null \
             move"
        );
    }
}
