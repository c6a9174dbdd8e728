//! Flags that say what is written down of games.

use std::path::PathBuf;

use clap::Args;

use super::ArgsError;
use arbiter_game::annotation::{Annotation, Field, Keeping, LinePattern, Notation, parse_fields};
use arbiter_plan::file::ConfigFile;
use arbiter_protocol::UnknownName;

/// What is written down of games besides the store.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Further facts in the comments of the PGN, with commas between them: timeleft, latency,
    /// nodes, seldepth, nps, hashfull, tbhits, pv; or all
    #[arg(long, value_name = "FIELDS", value_parser = fields, conflicts_with = "resume")]
    pgn_fields: Option<Fields>,
    /// Engine lines that go into the comment of the move, as a regular expression
    #[arg(long, value_name = "REGEX", conflicts_with = "resume")]
    pgn_match: Option<LinePattern>,
    /// How the PGN has moves: san (Nf3), lan (Ng1f3) or uci (g1f3) [default: san]
    #[arg(long, value_name = "NOTATION", conflicts_with = "resume")]
    notation: Option<Notation>,
    /// Write the PGN without comments, and with the tags only that every game must have
    #[arg(long, conflicts_with = "resume")]
    pgn_minimal: bool,
    /// What the PGN names as the event [default: the kind of run]
    #[arg(long, value_name = "TEXT", conflicts_with = "resume")]
    event: Option<String>,
    /// What the PGN names as the site [default: ?]
    #[arg(long, value_name = "TEXT", conflicts_with = "resume")]
    site: Option<String>,
    /// Append the final position of each game to this file, in schedule order
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    epd: Option<PathBuf>,
    /// Keep every line to and from both engines: of abnormal games (which an engine's fault ended),
    /// of all, or of none; `arbiter replay` shows them [default: abnormal]
    #[arg(long, value_name = "GAMES", conflicts_with = "resume")]
    transcripts: Option<Keeping>,
    /// Append the error output of each engine to a file of its own in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    stderr_dir: Option<PathBuf>,
}

/// A list that is one value to the reader of arguments.
#[derive(Debug, Clone)]
struct Fields(Vec<Field>);

fn fields(text: &str) -> Result<Fields, UnknownName> {
    parse_fields(text).map(Fields)
}

/// What is asked for.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) annotation: Annotation,
    pub(super) epd: Option<PathBuf>,
    pub(super) transcripts: Keeping,
    pub(super) stderr_dir: Option<PathBuf>,
}

impl OutputArgs {
    /// Merges flags and file; flags win.
    pub(super) fn resolve(self, file: &ConfigFile) -> Result<Output, ArgsError> {
        let fields = match (self.pgn_fields, &file.pgn_fields) {
            (Some(Fields(fields)), _) => fields,
            (None, Some(words)) => {
                let text = words.join(",");
                parse_fields(&text).map_err(|e| wrong(file, "pgn-fields", &text, e))?
            }
            (None, None) => Vec::new(),
        };
        let annotation = Annotation {
            notation: word(file, "notation", self.notation, &file.notation)?.unwrap_or_default(),
            fields,
            pattern: word(file, "pgn-match", self.pgn_match, &file.pgn_match)?,
            is_minimal: self.pgn_minimal || file.pgn_minimal.unwrap_or(false),
            has_origin: true,
            event: self.event.or_else(|| file.event.clone()),
            site: self.site.or_else(|| file.site.clone()),
        };
        let transcripts = word(file, "transcripts", self.transcripts, &file.transcripts)?;
        Ok(Output {
            annotation,
            epd: self.epd.or_else(|| file.epd.clone()),
            transcripts: transcripts.unwrap_or_default(),
            stderr_dir: self.stderr_dir.or_else(|| file.stderr_dir.clone()),
        })
    }
}

/// The flag, or the word of the file.
fn word<T>(
    file: &ConfigFile,
    key: &'static str,
    flag: Option<T>,
    written: &Option<String>,
) -> Result<Option<T>, ArgsError>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    match (flag, written) {
        (Some(flag), _) => Ok(Some(flag)),
        (None, Some(text)) => text.parse().map(Some).map_err(|e| wrong(file, key, text, e)),
        (None, None) => Ok(None),
    }
}

fn wrong(
    file: &ConfigFile,
    key: &'static str,
    value: &str,
    error: impl std::fmt::Display,
) -> ArgsError {
    let reason = error.to_string().replace('\n', " ");
    ArgsError::Value { file: file.name(), key, value: value.to_owned(), reason }
}
