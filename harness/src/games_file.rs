//! Files with the games of a run: PGN, and EPD with the final positions.
//!
//! Each file contains exactly the counted games, in schedule order. The games are also in the
//! store. Therefore, after the process was killed, the file is compared with the store, truncated
//! after the last complete game, and continued. Text that the file contained before the run is
//! never changed.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{failure::Failure, output::write_error};
use arbiter_process::{Links, WholeFile, is_at, open_output, places_near, plain_name, try_lock};
use arbiter_report::{Dialect, PgnHeader, final_positions, pgn_text};
use arbiter_run::{FilePrefix, Observer, ObserverError, PlayedPair, RunEvent};

/// Number of bytes at the start of an existing file that are examined.
const HEAD: u64 = 64;

/// Text that a games file contains for each game.
#[derive(Debug)]
pub(crate) enum Content {
    /// The game.
    Pgn(Box<PgnHeader>),
    /// The final position of the game, in the format of Arbiter or of another program.
    Epd(Option<Dialect>),
}

impl Content {
    fn render(&self, played: &PlayedPair) -> String {
        match self {
            Content::Pgn(header) => pgn_text(header, played),
            Content::Epd(dialect) => final_positions(played, *dialect),
        }
    }

    /// Returns a description of the file for messages, and the flag that names the file.
    fn describe(&self, path: &Path) -> (String, &'static str) {
        let path = path.display();
        match self {
            Content::Pgn(_) => (format!("PGN file {path}"), "--pgn"),
            Content::Epd(_) => (format!("EPD file {path}"), "--epd"),
        }
    }
}

/// Open games file, positioned at its end.
#[derive(Debug)]
pub(crate) struct GamesFile {
    file: File,
    pub(crate) path: PathBuf,
    content: Content,
    /// Start offset, in bytes, of each counted pair that was not skipped.
    starts: Vec<u64>,
    /// Number of counted pairs.
    pairs: u64,
    /// Hash of the counted pairs in the file.
    hasher: blake3::Hasher,
    /// Offset of the next pair, in bytes.
    pub(crate) end: u64,
}

impl GamesFile {
    /// Opens the file for a run without games; new games follow the existing contents.
    pub(crate) fn begin(path: &Path, content: Content) -> Result<GamesFile, Failure> {
        plain_name(path).map_err(Failure::invalid)?;
        let mut pgn = GamesFile::open(path, content, 0)?;
        let mut head = Vec::new();
        (&pgn.file).take(HEAD).read_to_end(&mut head).map_err(|e| pgn.io(e))?;
        // Compressed text, UTF-16 and other formats contain such bytes. Text cannot follow them.
        if head.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()) {
            let (name, flag) = pgn.content.describe(path);
            let error = format!("{name} is not plain text; give another file with {flag}");
            return Err(Failure::invalid(error));
        }
        pgn.end = pgn.file.seek(SeekFrom::End(0)).map_err(|e| pgn.io(e))?;
        if pgn.end > 0 {
            let mut last = [0];
            pgn.file.seek(SeekFrom::End(-1)).map_err(|e| pgn.io(e))?;
            pgn.file.read_exact(&mut last).map_err(|e| pgn.io(e))?;
            if last != *b"\n" {
                // The last line has no line ending, so the last game may be incomplete. In PGN, an
                // empty line ends a game.
                let gap = if matches!(pgn.content, Content::Pgn(_)) { "\n\n" } else { "\n" };
                pgn.append(gap)?;
                pgn.end += gap.len() as u64;
            }
        }
        Ok(pgn)
    }

    /// Opens the file of a run, without changing the file; the games start at `offset`, in bytes.
    pub(crate) fn open(path: &Path, content: Content, offset: u64) -> Result<GamesFile, Failure> {
        let file = open_output(path, File::options().read(true).write(true), Links::Followed);
        let (name, flag) = content.describe(path);
        let file = file.map_err(|error| write_error(path, &error))?;
        // Two runs that write to one file, each at its own offset, would overwrite each other's
        // games. Files on network file systems without locks are rejected.
        let is_locked = try_lock(&file).map_err(|error| {
            Failure::environment(format!(
                "cannot lock {name}: {error}; give a file on a local disk with {flag}"
            ))
        })?;
        if !is_locked {
            let message = format!("another run is writing {name}; give another file with {flag}");
            return Err(Failure::invalid(message));
        }
        let path = path.to_owned();
        let hasher = blake3::Hasher::new();
        Ok(GamesFile { file, path, content, starts: Vec::new(), pairs: 0, hasher, end: offset })
    }

    /// Skips the pairs in the prefix `written` if the file still contains these pairs unchanged.
    /// Returns the number of skipped pairs.
    pub(crate) fn skip(&mut self, written: &FilePrefix) -> Result<u64, Failure> {
        let Some(length) = written.end.checked_sub(self.end) else { return Ok(0) };
        let hasher = self.hash(self.end, length)?;
        // If the hash is unchanged, the pairs need not be rendered and compared, because hashing is
        // faster.
        if written.file != self.path || hasher.finalize().to_hex().as_str() != written.hash {
            return Ok(0);
        }
        (self.hasher, self.pairs, self.end) = (hasher, written.pairs, written.end);
        Ok(self.pairs)
    }

    /// Returns the hash of at most `length` bytes from offset `begin`.
    fn hash(&mut self, begin: u64, length: u64) -> Result<blake3::Hasher, Failure> {
        let mut hasher = blake3::Hasher::new();
        let hashed = self.file.seek(SeekFrom::Start(begin));
        let hashed = hashed.and_then(|_| hasher.update_reader((&self.file).take(length)).map(drop));
        hashed.map(|()| hasher).map_err(|error| self.io(error))
    }

    /// Completes the file, so that it contains exactly `pairs` after the offset `end`; `pairs` are
    /// the remaining counted pairs in schedule order. The file may already contain the beginning of
    /// the text of these pairs, truncated anywhere. If `were_taken_back` is `true`, the file may
    /// also contain games after `pairs`, because the process may have been killed after a worker
    /// was excluded and before the file was truncated. Other contents are an error.
    pub(crate) fn reconcile(
        &mut self,
        pairs: impl Iterator<Item = Result<PlayedPair, Failure>>,
        were_taken_back: bool,
    ) -> Result<(), Failure> {
        let length = self.file.metadata().map_err(|e| self.io(e))?.len();
        let mut agreed = self.end;
        if length < agreed {
            return Err(self.foreign());
        }
        self.file.seek(SeekFrom::Start(agreed)).map_err(|e| self.io(e))?;
        let mut present = BufReader::new(self.file.try_clone().map_err(|e| self.io(e))?);
        let mut complete = true;
        for played in pairs {
            let text = self.content.render(&played?);
            // A pair is counted even if the file already contains it, because `take_back` needs the
            // start of each pair.
            self.count(&text);
            if complete {
                let mut found = Vec::with_capacity(text.len());
                let limit = text.len() as u64;
                present.by_ref().take(limit).read_to_end(&mut found).map_err(|e| self.io(e))?;
                if !text.as_bytes().starts_with(&found) {
                    return Err(self.foreign());
                }
                if found.len() == text.len() {
                    agreed += limit;
                    continue;
                }
                complete = false;
                self.cut(agreed)?;
            }
            self.append(&text)?;
        }
        // Games are written to the store first, so text after the last stored game is not from this
        // run. The exception is a run whose process was killed after pairs were taken back and
        // before the file was truncated.
        if complete && length > agreed {
            if !were_taken_back {
                return Err(self.foreign());
            }
            self.cut(agreed)?;
        }
        self.file.seek(SeekFrom::End(0)).map_err(|e| self.io(e))?;
        Ok(())
    }

    /// Updates offsets, count and hash for the text of a pair.
    fn count(&mut self, text: &str) {
        self.starts.push(self.end);
        self.end += text.len() as u64;
        self.pairs += 1;
        self.hasher.update(text.as_bytes());
    }

    /// Truncates the file after the first `counted` pairs.
    fn take_back(&mut self, counted: usize) -> Result<(), Failure> {
        let Some(&length) = self.starts.get(counted) else { return Ok(()) };
        let begin = self.starts[0];
        self.starts.truncate(counted);
        // Bytes cannot be removed from a hash, so the hash is computed again over the remaining
        // pairs.
        self.hasher = self.hash(begin, length - begin)?;
        (self.end, self.pairs) = (length, counted as u64);
        self.cut(length)
    }

    fn cut(&mut self, length: u64) -> Result<(), Failure> {
        self.file.set_len(length).map_err(|e| self.io(e))?;
        self.file.seek(SeekFrom::Start(length)).map(drop).map_err(|e| self.io(e))
    }

    /// Appends text. If writing fails, saves the text to another file and returns an error.
    fn append(&mut self, text: &str) -> Result<(), Failure> {
        let written = match self.changed() {
            // The file is checked for changes before each write, because a write at the previous
            // offset would damage text of another program.
            Some(change) => Err(format!("was {change} by another program")),
            None => self.file.write_all(text.as_bytes()).map_err(|error| error.to_string()),
        };
        written.map_err(|reason| {
            let (name, flag) = self.content.describe(&self.path);
            // The disk may be full or the folder deleted, so other folders are tried.
            let saved = match places_near(&self.path).find(|place| self.save(place, text).is_ok()) {
                Some(place) => format!("the missing games are saved in {}", place.display()),
                None => "the missing games could not be saved".to_owned(),
            };
            let again =
                format!("the store has all games; to write them again, give {flag} another file");
            Failure::environment(format!("{name}: {reason}; {saved}; {again}"))
        })
    }

    /// Returns a description of the change that another program has made to the file since the last
    /// write, if any.
    fn changed(&mut self) -> Option<&'static str> {
        let length = self.file.metadata().map_or(0, |about| about.len());
        let end = self.file.stream_position().unwrap_or(length);
        match is_at(&self.file, &self.path) {
            true if length < end => Some("truncated"),
            true if length > end => Some("written to"),
            true => None,
            false if self.path.exists() => Some("replaced"),
            false => Some("deleted"),
        }
    }

    /// Writes `text` to a new file. If the old file was deleted or replaced, the new file starts
    /// with the contents of the old file.
    fn save(&mut self, place: &Path, text: &str) -> std::io::Result<()> {
        let mut saved = WholeFile::create(place)?;
        if !is_at(&self.file, &self.path) {
            self.file.rewind()?;
            std::io::copy(&mut self.file, &mut saved)?;
        }
        saved.write_all(text.as_bytes())?;
        saved.finish()
    }

    /// Creates the error for a failed system call on the file.
    fn io(&self, error: std::io::Error) -> Failure {
        Failure::environment(format!("{}: {error}", self.content.describe(&self.path).0))
    }

    /// Returns the error for a file that does not contain the games of the run.
    fn foreign(&self) -> Failure {
        let (name, _) = self.content.describe(&self.path);
        let hint = match self.content {
            Content::Pgn(_) => "give another file with --pgn",
            Content::Epd(_) => "restore the old file, or remove it to write it again",
        };
        Failure::invalid(format!("{name} has changed since the run started; {hint}"))
    }
}

impl Observer for GamesFile {
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError> {
        let done = match event {
            RunEvent::Counted { played, .. } => {
                let text = self.content.render(played);
                self.count(&text);
                self.append(&text)
            }
            RunEvent::WorkerExcluded { state, .. } => self.take_back(state.counted_pairs().count()),
            // Appending an empty string only checks the file, so that changes since the last game
            // are also reported.
            RunEvent::Ended { .. } => self.append(""),
            _ => Ok(()),
        };
        done.map_err(|failure| ObserverError(failure.message))
    }

    fn written_prefix(&self) -> Option<FilePrefix> {
        let hash = self.hasher.finalize().to_hex().to_string();
        Some(FilePrefix { file: self.path.clone(), pairs: self.pairs, end: self.end, hash })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use shakmaty::{ByColor, Color};
    use tempfile::TempDir;

    use super::*;
    use arbiter_game::outcome::{Outcome, Termination};
    use arbiter_game::record::{GameRecord, MoveRecord};
    use arbiter_plan::{Plan, Request, RunKind};
    use arbiter_run::Games;
    use arbiter_schedule::Pairing;
    use arbiter_store::{EngineHashes, Fingerprints};

    const BEFORE: &str = "; somebody else's games\n\n";

    fn content() -> Content {
        let mut plan =
            Plan::resolve(RunKind::Sprt, Request::default()).expect("the defaults are valid");
        // Reading the table of opening names takes a long time.
        plan.annotation.has_origin = false;
        let engines = vec![EngineHashes::default(); 2];
        let fingerprints = Fingerprints { engines, ..Fingerprints::default() };
        Content::Pgn(Box::new(PgnHeader::of(&plan, &fingerprints, 0)))
    }

    fn played_pair(pair: u64) -> PlayedPair {
        let game = GameRecord {
            engines: ByColor { white: 0, black: 1 },
            fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".into(),
            chess960: false,
            moves: vec![MoveRecord { uci: "e2e4".parse().unwrap(), search: None }],
            outcome: Outcome::lost(Color::Black, Termination::Stall, "Black stalled"),
            duration: Duration::ZERO,
            ready: ByColor::default(),
            movetime: ByColor::default(),
            late: None,
            waited: ByColor::default(),
            begun_ms: None,
            transcript: None,
        };
        let pairing = Pairing { pair, engines: [0, 1], opening: pair };
        let games = Games { first: game.clone(), second: Some(game) };
        PlayedPair { pairing, games }
    }

    fn text_of(pairs: u64) -> String {
        let games: String = (0..pairs).map(|pair| content().render(&played_pair(pair))).collect();
        format!("{BEFORE}{games}")
    }

    /// Resumes a run of three counted pairs whose file, a new file in `folder`, contains `present`.
    fn resume_with(folder: &TempDir, present: &str) -> Result<String, Failure> {
        let path = folder.path().join(format!("{}.pgn", present.len()));
        std::fs::write(&path, present).unwrap();
        let pairs = (0..3).map(|pair| Ok(played_pair(pair)));
        let mut pgn = GamesFile::open(&path, content(), BEFORE.len() as u64)?;
        pgn.reconcile(pairs, false)?;
        pgn.append("next").unwrap();
        Ok(std::fs::read_to_string(&path).unwrap())
    }

    #[test]
    fn a_file_truncated_anywhere_is_restored() {
        let folder = tempfile::tempdir().unwrap();
        let text = text_of(3);
        // Truncations of the first two pairs differ only in the number of complete pairs.
        let [last, end] = [text_of(2).len(), text.len()];
        for length in (BEFORE.len()..last).step_by(20).chain(last..=end) {
            let restored = resume_with(&folder, &text[..length]).unwrap();
            assert_eq!(restored, format!("{text}next"), "{length}");
        }
    }

    #[test]
    fn foreign_files_are_left_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let foreign = |present: &str| {
            resume_with(&folder, present)
                .is_err_and(|error| error.message.contains("has changed since the run started"))
        };
        assert!(foreign(&text_of(3).replace("e4", "d4")));
        assert!(foreign(&format!("{}; a note", text_of(3))));
        assert!(foreign(&format!("{}; a note", text_of(2))));
        assert!(foreign(""));
    }

    #[test]
    fn appended_games_begin_on_a_new_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        for (before, offset) in [("", 0), ("1. e4 *\n", 8), ("1. e4 *", 9)] {
            std::fs::write(&path, before).unwrap();
            assert_eq!(GamesFile::begin(&path, content()).unwrap().end, offset, "{before}");
        }
    }

    #[test]
    fn games_are_appended_only_to_plain_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        for before in [&b"\x1f\x8b\x08\x08"[..], b"\xff\xfe[\0E\0"] {
            std::fs::write(&path, before).unwrap();
            let error = GamesFile::begin(&path, content()).unwrap_err().message;
            assert!(
                error.contains("is not plain text") && error.ends_with("with --pgn"),
                "{error}"
            );
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
        let error = GamesFile::begin(&dir.path().join("a.pgn.gz"), content()).unwrap_err().message;
        assert!(error.contains("is written uncompressed"), "{error}");
    }

    #[test]
    fn uncounted_pairs_are_removed_from_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        // In the last case, the process was killed before the last pair was removed from the file.
        for present in [BEFORE.to_owned(), text_of(1), text_of(3), text_of(4)] {
            std::fs::write(&path, present).unwrap();
            let pairs = (0..3).map(|pair| Ok(played_pair(pair)));
            let mut pgn = GamesFile::open(&path, content(), BEFORE.len() as u64).unwrap();
            pgn.reconcile(pairs, true).unwrap();
            pgn.take_back(7).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text_of(3));
            pgn.take_back(1).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text_of(1));
            pgn.append("next").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{}next", text_of(1)));
            pgn.take_back(0).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), BEFORE);
        }
    }

    #[test]
    fn an_unchanged_prefix_is_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        std::fs::write(&path, text_of(2)).unwrap();
        let reopened = || GamesFile::open(&path, content(), BEFORE.len() as u64).unwrap();
        let mut pgn = reopened();
        pgn.reconcile((0..2).map(|pair| Ok(played_pair(pair))), false).unwrap();
        let noted = pgn.written_prefix().unwrap();
        assert_eq!((noted.pairs, noted.end), (2, text_of(2).len() as u64));
        drop(pgn);
        // Further pairs were written after the prefix, and a kill truncated the last pair.
        for later in [text_of(2), text_of(3), text_of(4)[..text_of(4).len() - 9].to_owned()] {
            std::fs::write(&path, &later).unwrap();
            let mut pgn = reopened();
            assert_eq!(pgn.skip(&noted).unwrap(), 2);
            pgn.reconcile((2..4).map(|pair| Ok(played_pair(pair))), false).unwrap();
            let written = pgn.written_prefix().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text_of(4));
            drop(pgn);
            let mut pgn = reopened();
            pgn.reconcile((0..4).map(|pair| Ok(played_pair(pair))), false).unwrap();
            assert_eq!(pgn.written_prefix().unwrap(), written);
        }
        for other in [text_of(1), text_of(2).replacen("e4", "d4", 1), String::new()] {
            std::fs::write(&path, &other).unwrap();
            assert_eq!(reopened().skip(&noted).unwrap(), 0);
        }
        std::fs::write(&path, text_of(2)).unwrap();
        let other = FilePrefix { file: "other.pgn".into(), ..noted };
        assert_eq!(reopened().skip(&other).unwrap(), 0);
    }

    #[test]
    fn a_file_has_one_writer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        let first = GamesFile::begin(&path, content()).unwrap();
        let error = GamesFile::begin(&path, content()).unwrap_err();
        assert!(error.message.contains("another run is writing"), "{error:?}");
        drop(first);
        GamesFile::begin(&path, content()).unwrap();
    }
}
