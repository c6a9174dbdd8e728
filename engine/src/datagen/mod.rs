//! Training positions from self-play games of the engine.
//!
//! A file consists of a header of [`HEADER_BYTES`] bytes, followed by [records](record). Games are
//! stored in the order of their numbers, and a game depends only on its number and the settings.
//! The file therefore does not depend on the number of threads, and an incomplete file can be
//! continued.

pub mod record;
mod selfplay;
mod walks;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::bench;
use crate::chess::Position;
use crate::eval::Variant;
use crate::search::{STACK_BYTES, Signals};
use crate::tt::OutOfMemory;
use record::{RECORD_BYTES, Record};
use selfplay::Player;
use walks::WALK_PLIES;

/// Size of the header, in bytes. The header contains lines of text with the settings, and is padded
/// with spaces.
pub const HEADER_BYTES: usize = 256;

/// Depth, in plies, of the bench whose node count identifies the engine version in the header.
const BENCH_DEPTH: u32 = 6;

/// Settings that determine the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Seed of the random openings and walks.
    pub seed: u64,
    /// Soft node limit: number of nodes after which a search starts no new iteration.
    pub nodes: u64,
    /// Number of random plies of an opening. About half of the openings have one additional ply.
    pub random_plies: usize,
    /// Evaluation that the search uses.
    pub eval: Variant,
    /// Number of random walks from each position of a game. The last position of each walk is
    /// stored, with its static evaluation, instead of the game position. If the number is 0, the
    /// quiet positions of the game are stored.
    pub walks: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { seed: 1, nodes: 5_000, random_plies: 8, eval: Variant::default(), walks: 0 }
    }
}

/// Progress after a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of games in the file.
    pub games: u64,
    /// Number of positions in the file.
    pub positions: u64,
}

impl Settings {
    /// Returns the header of a file.
    fn header(&self) -> io::Result<Vec<u8>> {
        let bench = bench::run(Some(BENCH_DEPTH), self.eval, &Signals::default());
        let bench = bench.map_err(io::Error::other)?.nodes;
        let Settings { seed, nodes, random_plies, eval, walks } = self;
        let version = env!("CARGO_PKG_VERSION");
        let eval = eval.name();
        let mut text = format!(
            "palimpsest positions 1\nversion {version}\nbench {BENCH_DEPTH} {bench}\neval {eval}\nseed {seed}\n\
             nodes {nodes}\nplies {random_plies}\n"
        );
        if *walks > 0 {
            text.push_str(&format!("walks {walks} of {WALK_PLIES} plies\n"));
        }
        text.push_str(&" ".repeat(HEADER_BYTES - 1 - text.len()));
        text.push('\n');
        Ok(text.into_bytes())
    }
}

/// Returns an endless sequence of balanced random openings: the starting positions of the games
/// that these settings produce.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if there is not enough memory for a search.
pub fn openings(settings: Settings) -> Result<impl Iterator<Item = Position>, OutOfMemory> {
    let mut player = Player::new(settings)?;
    Ok((0..).map(move |number| *player.first_opening(number).position()))
}

/// Plays games until a file has at least `positions` positions, and calls `report` after each game.
///
/// # Errors
///
/// Returns an error if the file cannot be read or written, if another process is writing the file,
/// or if the file was generated with other settings or another version of the engine. Also returns
/// an error if a thread cannot be started, or if there is not enough memory for the searches.
pub fn generate(
    path: &Path,
    settings: Settings,
    positions: u64,
    threads: usize,
    report: &mut dyn FnMut(Progress),
) -> io::Result<Progress> {
    let (mut file, mut progress) = open(path, settings, positions)?;
    report(progress);
    let next = AtomicU64::new(progress.games);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // The channel is bounded, so that a slow writer does not let games accumulate in memory.
        let (games, received) = sync_channel(64);
        for _ in 0..threads.max(1) {
            let mut player = Player::new(settings).map_err(io::Error::other)?;
            let games = games.clone();
            let next = &next;
            let done = &done;
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, move || play_games(&mut player, next, done, &games))?;
        }
        drop(games);
        let result = write_games(&mut file, &received, positions, &mut progress, report);
        // Players that are blocked on the full channel stop when the receiver is dropped. The other
        // players check the flag after the current game.
        done.store(true, Ordering::Relaxed);
        drop(received);
        result
    })?;
    file.sync_all()?;
    sync_folder(path)?;
    Ok(progress)
}

/// Writes the directory entry of a file to disk. Without this write, a power failure could remove a
/// new file, or restore the old version of a replaced file. Does nothing on systems other than
/// Unix, because a folder cannot be opened as a file on these systems.
pub(crate) fn sync_folder(file: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = Path::new(".").join(file.parent().unwrap_or(file));
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

type NumberedGame = (u64, Vec<Record>);

fn play_games(
    player: &mut Player,
    next: &AtomicU64,
    done: &AtomicBool,
    games: &SyncSender<NumberedGame>,
) {
    while !done.load(Ordering::Relaxed) {
        // Games may finish in any order. The writer sorts the games, so that the file does not
        // depend on the number of threads.
        let number = next.fetch_add(1, Ordering::Relaxed);
        if games.send((number, player.play(number))).is_err() {
            return;
        }
    }
}

/// Writes the games in the order of their numbers, until the file has `positions` positions.
fn write_games(
    file: &mut File,
    received: &Receiver<NumberedGame>,
    positions: u64,
    progress: &mut Progress,
    report: &mut dyn FnMut(Progress),
) -> io::Result<()> {
    let mut waiting = BTreeMap::new();
    while progress.positions < positions {
        let Ok((number, records)) = received.recv() else {
            return Err(io::Error::other("the games ended early"));
        };
        waiting.insert(number, records);
        while progress.positions < positions
            && let Some(records) = waiting.remove(&progress.games)
        {
            let bytes: Vec<u8> = records.iter().flat_map(|record| *record.bytes()).collect();
            file.write_all(&bytes)?;
            progress.games += 1;
            progress.positions += records.len() as u64;
            report(*progress);
        }
    }
    Ok(())
}

/// Creates a file, or opens an existing file and removes the last game, which may be incomplete. A
/// file that already has `positions` positions is not changed.
fn open(path: &Path, settings: Settings, positions: u64) -> io::Result<(File, Progress)> {
    let header = settings.header()?;
    let mut options = OpenOptions::new();
    let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
    // The lock is taken before the file is read, because another process could otherwise append to
    // the file in the meantime.
    file.try_lock().map_err(|_| io::Error::other("another process is writing to the file"))?;
    let mut found = Vec::with_capacity(HEADER_BYTES);
    (&file).take(HEADER_BYTES as u64).read_to_end(&mut found)?;
    // If the file is empty or ends within the header, generation starts from the beginning.
    if found.len() < HEADER_BYTES && header.starts_with(&found) {
        file.write_all(&header[found.len()..])?;
        return Ok((file, Progress { games: 0, positions: 0 }));
    }
    if found != header {
        let [found, header] =
            [&found, &header].map(|bytes| String::from_utf8_lossy(bytes).trim_end().to_owned());
        let only = |text: &str, other: &str| {
            let lines = text.lines().filter(|&line| other.lines().all(|known| known != line));
            lines.collect::<Vec<_>>().join(", ")
        };
        let (found, asked) = (only(&found, &header), only(&header, &found));
        return Err(io::Error::other(format!("the file has '{found}' instead of '{asked}'")));
    }
    let mut games = 0;
    let mut last = 0;
    let mut at = 0;
    // A killed process may have written part of a record. This part is ignored.
    let complete_records = (file.metadata()?.len() - HEADER_BYTES as u64) / RECORD_BYTES as u64;
    let complete = (&file).take(complete_records * RECORD_BYTES as u64);
    for record in records(&mut BufReader::with_capacity(1 << 20, complete)) {
        if record.map_err(io::Error::other)?.is_first() {
            games += 1;
            last = at;
        }
        at += 1;
    }
    if last >= positions {
        return Ok((file, Progress { games, positions: at }));
    }
    // The file does not show whether the last game is complete, so this game is played again.
    let end = HEADER_BYTES as u64 + last * RECORD_BYTES as u64;
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    Ok((file, Progress { games: u64::saturating_sub(games, 1), positions: last }))
}

/// Returns an iterator over the records that `source` contains. The header of the file must have
/// been read already.
pub(crate) fn records<R: BufRead>(source: &mut R) -> impl Iterator<Item = Result<Record, String>> {
    (0_u64..).map_while(move |index| {
        if source.fill_buf().is_ok_and(<[u8]>::is_empty) {
            return None;
        }
        let mut bytes = [0; RECORD_BYTES];
        let read = source.read_exact(&mut bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => "the file ends within it".to_owned(),
            _ => error.to_string(),
        });
        let record = read.and_then(|()| Record::from_bytes(bytes).map_err(str::to_owned));
        Some(record.map_err(|reason| format!("record {index}: {reason}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate_with(
        path: &Path,
        settings: Settings,
        positions: u64,
        threads: usize,
    ) -> io::Result<Progress> {
        generate(path, settings, positions, threads, &mut |_| {})
    }

    #[test]
    fn a_data_file_depends_on_its_settings_only() {
        let folder = tempfile::tempdir().unwrap();
        for walks in [0, 2] {
            let path = |name: &str| folder.path().join(format!("{name}-{walks}"));
            let (whole, parts) = (path("whole"), path("parts"));
            check_file_depends_on_settings_only(
                &whole,
                &parts,
                Settings { nodes: 100, walks, ..Settings::default() },
            );
        }
    }

    fn check_file_depends_on_settings_only(whole: &Path, parts: &Path, settings: Settings) {
        let made = generate_with(whole, settings, 300, 2).unwrap();
        let expected = std::fs::read(whole).unwrap();
        assert_eq!(expected.len(), HEADER_BYTES + made.positions as usize * RECORD_BYTES);
        // A killed process can leave an incomplete header, record or game.
        for kept in [100, HEADER_BYTES, HEADER_BYTES + 3 * RECORD_BYTES, expected.len() - 7] {
            std::fs::write(parts, &expected[..kept]).unwrap();
            assert_eq!(generate_with(parts, settings, 300, 1).unwrap(), made, "{kept}");
            assert_eq!(std::fs::read(parts).unwrap(), expected, "{kept}");
        }
        generate_with(parts, settings, 100, 1).unwrap();
        assert_eq!(std::fs::read(parts).unwrap(), expected, "a file that has more is left alone");
        for (other, asked) in [
            (Settings { seed: 2, ..settings }, "the file has 'seed 1' instead of 'seed 2'"),
            (Settings { walks: 1, ..settings }, "instead of 'walks 1 of 4 plies'"),
        ] {
            let refused = generate_with(parts, other, 300, 1).unwrap_err();
            assert!(refused.to_string().contains(asked), "{refused}");
        }
        assert_eq!(std::fs::read(parts).unwrap(), expected, "it is left as it was");
        std::fs::write(parts, "notes").unwrap();
        generate_with(parts, settings, 300, 1).unwrap_err();
        assert_eq!(std::fs::read(parts).unwrap(), b"notes");
    }
}
