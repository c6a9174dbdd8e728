//! Transcript of a game: every line to and from both engines, with its time.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use shakmaty::{ByColor, Color};

/// Maximum number of bytes that are kept from the lines before an engine's first game. Without a
/// limit, an engine with thousands of options would fill the memory.
const MAX_START: usize = 128 << 10;

/// Number of bytes that are kept from the beginning of a game, for each engine.
const MAX_HEAD: usize = 128 << 10;

/// Minimum number of bytes that are kept from the end of a game, for each engine; at most one more
/// chunk is kept.
const MIN_TAIL: usize = 128 << 10;

/// Maximum length, in bytes, of a transcript that is read; recorded transcripts are far shorter.
const MAX_BYTES: usize = 8 << 20;

/// Kind of a transcript line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// Line from Arbiter to the engine.
    ToEngine = b'<',
    /// Line from the engine to Arbiter.
    FromEngine = b'>',
    /// Event, such as a fault; the text describes the event.
    Event = b'!',
    /// Flush of the preceding command to the engine's pipe; clocks start at this time.
    Flushed = b'.',
    /// Start of the preparation for this game; earlier lines belong to the start of the engine.
    NewGame = b'=',
    /// Missing lines; the text gives their number.
    Cut = b'~',
}

impl Mark {
    const ALL: [Mark; 6] =
        [Mark::ToEngine, Mark::FromEngine, Mark::Event, Mark::Flushed, Mark::NewGame, Mark::Cut];

    /// Returns the character of the mark in the text form.
    fn as_char(self) -> char {
        char::from(self as u8)
    }
}

/// Size of a chunk, in bytes of text and in lines. All chunks have the same size, so that later
/// games can reuse the memory of finished games.
const CHUNK: (usize, usize) = (8 << 10, 256);

/// Recorder of the lines to and from one engine. The size of a recording is limited: only the
/// beginning and the end of a long game are kept.
#[derive(Debug)]
pub struct Recorder {
    epoch: Instant,
    /// `true` if lines are recorded.
    is_enabled: bool,
    /// `true` once the first game has started.
    is_started: bool,
    start: Lines,
    head: Lines,
    tail: Lines,
}

/// Sequence of recorded lines, in chunks.
#[derive(Debug, Default)]
struct Lines {
    chunks: VecDeque<Chunk>,
    /// Number of bytes in use.
    size: usize,
    /// Complete text of the last `position` command in the last chunk.
    position: String,
    /// Number of lines that are not kept.
    lost: u64,
}

#[derive(Debug)]
struct Chunk {
    text: String,
    headers: Vec<LineHeader>,
}

#[derive(Debug, Clone, Copy)]
struct LineHeader {
    /// Time since the start of the engine, in nanoseconds.
    ns: u64,
    /// Offset, in bytes, of the end of the line in the text of the chunk.
    end: u32,
    mark: Mark,
    /// `true` if the line extends the last `position` command in the chunk; then only the appended
    /// part is stored. Each `position` command repeats all moves of the game, so complete commands
    /// would be most of the text.
    is_continuation: bool,
}

impl Chunk {
    /// Creates an empty chunk with room for `line`.
    fn with_room(line: &str) -> Chunk {
        let text = String::with_capacity(CHUNK.0.max(line.len()));
        Chunk { text, headers: Vec::with_capacity(CHUNK.1) }
    }

    fn has_room(&self, line: &str) -> bool {
        self.text.len() + line.len() <= CHUNK.0 && self.headers.len() < CHUNK.1
    }

    fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.headers.shrink_to_fit();
    }

    /// Returns the number of bytes in use.
    fn size(&self) -> usize {
        self.text.len() + self.headers.len() * size_of::<LineHeader>()
    }
}

impl Lines {
    fn push(&mut self, ns: u64, mark: Mark, line: &str) {
        let is_position = is_position_command(mark, line);
        // A `position` command usually repeats the previous command and appends two moves, so
        // storing the appended part suffices.
        let previous =
            Some(self.position.as_str()).filter(|previous| is_position && !previous.is_empty());
        let mut more = previous.and_then(|previous| line.strip_prefix(previous));
        let chunk = match self.chunks.back_mut() {
            Some(chunk) if chunk.has_room(more.unwrap_or(line)) => chunk,
            _ => {
                // The first position of a chunk is stored in full, because the previous chunk may
                // be dropped.
                more = None;
                self.position.clear();
                self.chunks.push_back_mut(Chunk::with_room(line))
            }
        };
        let text = more.unwrap_or(line);
        chunk.text.push_str(text);
        let end = u32::try_from(chunk.text.len());
        let end = end.expect("a chunk holds 8 KiB or one line, whose length is bounded");
        chunk.headers.push(LineHeader { ns, end, mark, is_continuation: more.is_some() });
        self.size += text.len() + size_of::<LineHeader>();
        if is_position {
            if more.is_none() {
                self.position.clear();
            }
            self.position.push_str(text);
        }
    }

    /// Drops the oldest chunks as long as at least `bytes` bytes remain.
    fn keep_last(&mut self, bytes: usize) {
        while let Some(first) = self.chunks.pop_front_if(|first| self.size - first.size() >= bytes)
        {
            self.size -= first.size();
            self.lost += first.headers.len() as u64;
        }
    }

    fn entries(&self) -> impl Iterator<Item = (u64, Mark, String)> {
        self.chunks.iter().flat_map(|chunk| {
            let mut begin = 0;
            let mut position = String::new();
            chunk.headers.iter().map(move |&LineHeader { ns, end, mark, is_continuation }| {
                let text = &chunk.text[begin..end as usize];
                begin = end as usize;
                if !is_position_command(mark, text) && !is_continuation {
                    return (ns, mark, text.to_owned());
                }
                if !is_continuation {
                    position.clear();
                }
                position.push_str(text);
                (ns, mark, position.clone())
            })
        })
    }

    /// Returns the entry for the `lost` lines that are missing after these lines.
    fn cut(&self, lost: u64) -> Option<(u64, Mark, String)> {
        let last = self.chunks.back().and_then(|chunk| chunk.headers.last());
        let ns = last.map_or(0, |header| header.ns);
        (lost > 0).then(|| (ns, Mark::Cut, format!("{lost} lines not recorded")))
    }
}

fn is_position_command(mark: Mark, line: &str) -> bool {
    mark == Mark::ToEngine && line.starts_with("position ")
}

impl Recorder {
    /// Creates the recorder of an engine that starts at `epoch`; a disabled recorder ignores all
    /// lines.
    pub fn new(epoch: Instant, is_enabled: bool) -> Recorder {
        let [start, head, tail] = Default::default();
        Recorder { epoch, is_enabled, is_started: false, start, head, tail }
    }

    /// Drops the lines of the last game and starts a new game.
    pub fn begin_game(&mut self, at: Instant) {
        if !self.is_started {
            self.is_started = true;
            // The lines before the first game stay in memory as long as the engine is used, so
            // their spare capacity is released.
            self.start.chunks.iter_mut().for_each(Chunk::shrink);
        }
        [self.head, self.tail] = Default::default();
        self.note(at, Mark::NewGame, "");
    }

    /// Records one line, or several commands to the engine, each with a line ending.
    pub fn note(&mut self, at: Instant, mark: Mark, text: &str) {
        if !self.is_enabled {
            return;
        }
        let since = at.saturating_duration_since(self.epoch);
        let ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        match mark {
            // Most of the text is a `position` command with all moves of the game; `memchr` is the
            // fastest way to find the line endings.
            Mark::ToEngine => {
                let mut begin = 0;
                for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
                    self.push(ns, mark, &text[begin..end]);
                    begin = end + 1;
                }
            }
            _ => self.push(ns, mark, text),
        }
    }

    fn push(&mut self, ns: u64, mark: Mark, line: &str) {
        if !self.is_started {
            // If lines must be dropped, the first lines are kept, because they contain the
            // handshake.
            if self.start.size + line.len() <= MAX_START {
                self.start.push(ns, mark, line);
            } else {
                self.start.lost += 1;
            }
        } else if self.tail.size == 0 && self.head.size < MAX_HEAD {
            self.head.push(ns, mark, line);
        } else {
            self.tail.push(ns, mark, line);
            self.tail.keep_last(MIN_TAIL);
        }
    }

    /// Returns all lines in order, with a mark where lines are missing.
    fn entries(&self) -> impl Iterator<Item = (u64, Mark, String)> {
        let start = self.start.entries().chain(self.start.cut(self.start.lost));
        let head = self.head.entries().chain(self.head.cut(self.tail.lost));
        start.chain(head).chain(self.tail.entries())
    }
}

/// Line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Time since the start of the game, in nanoseconds; negative for earlier lines.
    pub at_ns: i64,
    /// Side of the engine.
    pub color: Color,
    /// Kind of the line.
    pub mark: Mark,
    /// Text of the line.
    pub text: String,
}

/// Transcript of a game.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    /// All lines, in order of time.
    pub entries: Vec<Entry>,
}

impl Transcript {
    /// Merges the lines of both sides into a transcript; `zero` is the start of the game. A side
    /// may have no recorder.
    pub fn of(recorders: ByColor<Option<&Recorder>>, zero: Instant) -> Transcript {
        let mut entries = Vec::new();
        for (color, recorder) in [(Color::White, recorders.white), (Color::Black, recorders.black)]
        {
            let Some(recorder) = recorder else { continue };
            let before = signed_ns(zero.saturating_duration_since(recorder.epoch));
            let after = signed_ns(recorder.epoch.saturating_duration_since(zero));
            let mut latest = i64::MIN;
            entries.extend(recorder.entries().map(|(ns, mark, text)| {
                let at_ns = i64::try_from(ns).unwrap_or(i64::MAX) - before + after;
                // An answer may have an earlier time than the flush of its command, because two
                // threads read the clock. Sorting by the latest time so far keeps the recorded
                // order of each side.
                latest = latest.max(at_ns);
                (latest, Entry { at_ns, color, mark, text })
            }));
        }
        // The sort has to be stable, because entries of one side may have equal latest times.
        entries.sort_by_key(|(latest, _)| *latest);
        Transcript { entries: entries.into_iter().map(|(_, entry)| entry).collect() }
    }
}

fn signed_ns(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Writes one line per entry: time in nanoseconds, `W` or `B`, mark, text. The marks are `<` for a
/// line to the engine, `.` for the flush of such a line, `>` for a line from the engine, `!` for an
/// event, `=` for the start of the game, and `~` for missing lines.
impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Entry { at_ns, color, mark, text } in &self.entries {
            let side = color.fold_wb('W', 'B');
            writeln!(f, "{at_ns} {side}{} {text}", mark.as_char())?;
        }
        Ok(())
    }
}

impl FromStr for Transcript {
    type Err = String;

    fn from_str(text: &str) -> Result<Transcript, String> {
        // A transcript may come from a worker or from an imported run, so its length is checked.
        if text.len() > MAX_BYTES {
            return Err(format!("a transcript of more than {MAX_BYTES} bytes"));
        }
        let read = |(index, line): (usize, &str)| {
            entry(line).ok_or_else(|| {
                format!("line {} of the transcript is invalid: '{line:.60}'", index + 1)
            })
        };
        let lines = text.split('\n').filter(|line| !line.is_empty());
        Ok(Transcript { entries: lines.enumerate().map(read).collect::<Result<_, _>>()? })
    }
}

fn entry(line: &str) -> Option<Entry> {
    let (at, rest) = line.split_once(' ')?;
    let (kind, text) = rest.split_once(' ')?;
    let mut kind = kind.chars();
    let color = Color::from_char(kind.next()?.to_ascii_lowercase())?;
    let written = kind.next()?;
    let mark = Mark::ALL.into_iter().find(|mark| mark.as_char() == written)?;
    Some(Entry { at_ns: at.parse().ok()?, color, mark, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "any time will do")]

    use super::*;

    fn texts(recorder: &Recorder) -> Vec<String> {
        recorder.entries().map(|(_, _, text)| text).collect()
    }

    #[test]
    fn a_transcript_reads_back() {
        let now = Instant::now();
        let ms = Duration::from_millis;
        let mut white = Recorder::new(now, true);
        white.note(now + ms(1), Mark::ToEngine, "uci\n");
        white.note(now + ms(2), Mark::FromEngine, "uciok");
        white.begin_game(now + ms(3));
        white.note(now + ms(12), Mark::ToEngine, "position startpos\ngo nodes 1\n");
        white.note(now + ms(14), Mark::Flushed, "");
        let early = now + ms(14) - Duration::from_nanos(1);
        white.note(early, Mark::FromEngine, "bestmove e2e4 > !");
        let mut black = Recorder::new(now + ms(13), true);
        black.note(now + ms(13), Mark::Event, "gone");
        let both = ByColor { white: Some(&white), black: Some(&black) };
        let transcript = Transcript::of(both, now + ms(10));
        let text = transcript.to_string();
        let expect = "-9000000 W< uci\n-8000000 W> uciok\n-7000000 W= \n\
                      2000000 W< position startpos\n2000000 W< go nodes 1\n3000000 B! gone\n\
                      4000000 W. \n3999999 W> bestmove e2e4 > !\n";
        assert_eq!(text, expect);
        assert_eq!(text.parse(), Ok(transcript));
        assert!("1 W< a\nx W< b\n".parse::<Transcript>().unwrap_err().contains("line 2"));
    }

    #[test]
    fn a_new_game_forgets_the_last_one_but_not_the_start() {
        let now = Instant::now();
        let mut recorder = Recorder::new(now, true);
        for (game, line) in ["start", "first", "second"].into_iter().enumerate() {
            if game > 0 {
                recorder.begin_game(now);
            }
            recorder.note(now, Mark::FromEngine, line);
        }
        assert_eq!(texts(&recorder), ["start", "", "second"]);
    }

    #[test]
    fn positions_are_sent_in_full_and_stored_once() {
        let now = Instant::now();
        let mut recorder = Recorder::new(now, true);
        let mut expected = Vec::new();
        for game in ["position startpos", "position fen 8/8 w - - 0 1"] {
            recorder.begin_game(now);
            expected = vec![String::new()];
            let mut line = game.to_owned();
            for ply in 0..600 {
                line.push_str(if ply == 0 { " moves e2e4" } else { " g1f3 g8f6" });
                // After a wrong ponder move, the next `position` command does not extend the
                // previous command.
                for position in [format!("{line} a7a6"), line.clone()] {
                    recorder.note(now, Mark::ToEngine, &format!("{position}\ngo nodes 1\n"));
                    recorder.note(now, Mark::FromEngine, "position startpos");
                    expected.extend([position, "go nodes 1".into(), "position startpos".into()]);
                    if ply % 2 == 0 {
                        break;
                    }
                }
            }
        }
        let lines = texts(&recorder);
        let cut = lines.iter().position(|line| line.ends_with("lines not recorded")).unwrap();
        assert_eq!(lines[..cut], expected[..cut]);
        assert_eq!(lines[cut + 1..], expected[expected.len() - (lines.len() - cut - 1)..]);

        let mut recorder = Recorder::new(now, true);
        recorder.begin_game(now);
        let mut expected = vec![String::new()];
        let mut line = "position startpos moves".to_owned();
        for ply in 0..600 {
            line.push_str(" g1f3");
            recorder.note(now, Mark::ToEngine, &format!("{line}\n"));
            // The lines have many lengths, so that chunks may end after any kind of line.
            let answer = format!("bestmove {:ply$}", "g1f3", ply = ply % 90);
            recorder.note(now, Mark::FromEngine, &answer);
            expected.extend([line.clone(), answer]);
        }
        assert_eq!(texts(&recorder), expected);
        assert!(recorder.head.size < 90_000 && recorder.tail.size == 0);
    }

    #[test]
    fn a_disabled_recorder_records_nothing() {
        let now = Instant::now();
        let mut recorder = Recorder::new(now, false);
        recorder.note(now, Mark::FromEngine, "id name x");
        recorder.begin_game(now);
        recorder.note(now, Mark::FromEngine, "readyok");
        assert_eq!(texts(&recorder), [""; 0]);
    }

    #[test]
    fn empty_lines_count_towards_the_size() {
        let now = Instant::now();
        let mut recorder = Recorder::new(now, true);
        recorder.begin_game(now);
        (0..1_000_000).for_each(|_| recorder.note(now, Mark::FromEngine, ""));
        assert!(texts(&recorder).len() < 50_000);
    }

    #[test]
    fn a_long_transcript_keeps_both_ends_and_marks_the_gap() {
        let now = Instant::now();
        let mut recorder = Recorder::new(now, true);
        recorder.begin_game(now);
        let long = "x".repeat(1_000);
        for index in 0..5_000 {
            recorder.note(now, Mark::FromEngine, &format!("{index} {long}"));
        }
        let lines = texts(&recorder);
        let bytes: usize = lines.iter().map(String::len).sum();
        assert!(bytes < MAX_HEAD + 3 * MIN_TAIL, "{bytes}");
        assert!(lines[1].starts_with("0 ") && lines.last().unwrap().starts_with("4999 "));
        let cut = lines.iter().find(|line| line.ends_with(" lines not recorded")).unwrap();
        let lost: usize = cut.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(lost + lines.len() - 2, 5_000);
    }
}
