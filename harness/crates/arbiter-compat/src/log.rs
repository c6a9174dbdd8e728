//! The log that fastchess writes with `-log`, and the lines that cutechess-cli prints with
//! `-debug`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use shakmaty::Color;

use arbiter_game::record::GameRecord;
use arbiter_game::transcript::Mark;
use arbiter_process::{Links, open_output};
use arbiter_report::utc_time_as;
use arbiter_runner::unix_time_ms;

/// If two games record an engine start within this many milliseconds of each other, both records
/// refer to the same start. The lines of this start are logged only once.
const SAME_START: i64 = 20;

/// Severity of a log line, numbered as in fastchess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Level {
    Info = 2,
    #[default]
    Warn,
    Error,
}

/// Settings of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LogRequest {
    /// Log file, if any.
    pub file: Option<PathBuf>,
    pub level: Level,
    /// `true` if the lines to and from engines are written to the file.
    pub has_engines: bool,
    /// `true` if the lines to and from engines are printed as by cutechess-cli.
    pub is_printed: bool,
}

/// Writer of the log.
#[derive(Debug)]
pub(super) struct Log {
    request: LogRequest,
    file: Option<File>,
    engines: Vec<String>,
    /// Start of the run, as Unix time in milliseconds.
    started_ms: i64,
    /// Logged engine starts: the index of the engine, and the time of the start as Unix time in
    /// milliseconds.
    starts: Vec<(usize, i64)>,
}

impl Log {
    /// Opens the log file, if requested.
    pub(super) fn open(request: &LogRequest, engines: Vec<String>) -> Result<Log, String> {
        let open = |path: &PathBuf| {
            let file = open_output(path, File::options().append(true), Links::Followed);
            file.map_err(|error| format!("-log file={}: {error}", path.display()))
        };
        let file = request.file.as_ref().map(open).transpose()?;
        let request = request.clone();
        Ok(Log { request, file, engines, started_ms: unix_time_ms(), starts: Vec::new() })
    }

    /// Logs printed text, line by line.
    pub(super) fn log_printed(&mut self, text: &str) -> Result<(), String> {
        if self.file.is_none() {
            return Ok(());
        }
        let now = unix_time_ms();
        let mut lines = String::new();
        for line in text.lines() {
            let is_warning = line.starts_with("Warning;") || line.contains(" no recover option ");
            let (level, label) = if line.starts_with("Fatal;") {
                (Level::Error, "FATAL")
            } else if is_warning {
                (Level::Warn, "WARN")
            } else {
                (Level::Info, "INFO")
            };
            if level >= self.request.level {
                lines += &format!("{}fastchess --- {line}\n", prefix(label, now, ""));
            }
        }
        self.write(&lines)
    }

    /// Logs the lines to and from the engines of a game. Returns the lines to print for `-debug`.
    pub(super) fn game(&mut self, number: u64, game: &GameRecord) -> Result<String, String> {
        let begun_ms = game.begun_ms.unwrap_or_else(unix_time_ms);
        let entries = game.transcript.iter().flat_map(|transcript| &transcript.entries);
        let mut is_known = [false; 2];
        for (side, color) in is_known.iter_mut().zip(Color::ALL) {
            let first = entries.clone().find(|entry| entry.color == color);
            let Some(first) = first else { continue };
            let start = (*game.engines.get(color), begun_ms + first.at_ns / 1_000_000);
            let is_same = |(engine, at): &(usize, i64)| {
                *engine == start.0 && (at - start.1).abs() <= SAME_START
            };
            *side = self.starts.iter().any(is_same);
            self.starts.push(start);
        }
        let mut written = String::new();
        let mut shown = String::new();
        for entry in entries {
            let engine = *game.engines.get(entry.color);
            let side = &mut is_known[usize::from(entry.color.is_black())];
            // The lines before this mark belong to an engine start that was logged with an earlier
            // game.
            *side &= entry.mark != Mark::NewGame;
            let name = &self.engines[engine];
            let text = &entry.text;
            let (ours, theirs, label) = match entry.mark {
                _ if *side => continue,
                Mark::ToEngine => (" <--- ", ">", "Engine"),
                Mark::FromEngine => (" ---> ", "<", "Engine"),
                Mark::Event => (": ", "", "WARN"),
                Mark::Flushed | Mark::NewGame | Mark::Cut => continue,
            };
            let at = begun_ms + entry.at_ns / 1_000_000;
            // Writing to a string cannot fail.
            if self.request.has_engines {
                let prefix = prefix(label, at, &number.to_string());
                let _ = writeln!(written, "{prefix} {name}{ours}{text}");
            }
            if self.request.is_printed {
                let since = at - self.started_ms;
                let _ = writeln!(shown, "{since} {theirs}{name}({engine}): {text}");
            }
        }
        self.write(&written)?;
        Ok(shown)
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(text.as_bytes()).map_err(|error| format!("-log: {error}"))
    }
}

/// Returns the prefix of a line. The last field of the prefix is the number of the game, in place
/// of fastchess's thread number.
fn prefix(label: &str, at_ms: i64, game: &str) -> String {
    format!("[{label:<6}] [{:>15}] <{game:>20}> ", utc_time_as(at_ms, "%H:%M:%S%.6f"))
}
