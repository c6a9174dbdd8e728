//! Scan of PGN files for ratings.

use std::io;
use std::path::PathBuf;

use crate::output::{Rows, progress};
use arbiter_openings::decompressed;
use arbiter_process::open_input;
use arbiter_rate::{ScanOptions, Tally, scan_all};

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
    let first = tally.named.first().map(|bad| format!("; the first: {}:{}", bad.file, bad.line));
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
