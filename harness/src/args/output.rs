//! Flags that say what is written down of games.

use std::path::PathBuf;

use clap::Args;

use super::words::merged;
use crate::Failure;
use arbiter_game::annotation::{Annotation, Field, Keeping, LinePattern, Notation, parse_fields};
use arbiter_names::UnknownName;
use arbiter_plan::{ConfigFile, Request};

/// What is written down of games besides the store.
#[derive(Debug, Args)]
#[command(next_help_heading = "Games")]
pub(super) struct OutputArgs {
    /// Further facts in the comments of the PGN, with commas between them: timeleft, latency,
    /// nodes, seldepth, nps, hashfull, tbhits, pv; or all
    #[arg(long, value_name = "FIELDS", value_parser = fields_of)]
    pgn_fields: Option<Fields>,
    /// Engine lines that go into the comment of the move, as a regular expression
    #[arg(long, value_name = "REGEX")]
    pgn_match: Option<LinePattern>,
    /// How the PGN has moves: san (Nf3), lan (Ng1f3) or uci (g1f3) [default: san]
    #[arg(long, value_name = "NOTATION")]
    notation: Option<Notation>,
    /// Write the PGN without comments, and with the tags only that every game must have
    #[arg(long)]
    pgn_minimal: bool,
    /// What the PGN names as the event [default: the kind of run]
    #[arg(long, value_name = "TEXT")]
    event: Option<String>,
    /// What the PGN names as the site [default: ?]
    #[arg(long, value_name = "TEXT")]
    site: Option<String>,
    /// Append the final position of each game to this file, in schedule order
    #[arg(long, value_name = "FILE")]
    epd: Option<PathBuf>,
    /// Keep every line to and from both engines: of abnormal games (which an engine's fault ended),
    /// of all, or of none; `arbiter replay` shows them [default: abnormal]
    #[arg(long, value_name = "GAMES")]
    transcripts: Option<Keeping>,
    /// Append the error output of each engine to a file of its own in this folder
    #[arg(long, value_name = "DIR")]
    stderr_dir: Option<PathBuf>,
}

/// A list that is one value to the reader of arguments.
#[derive(Debug, Clone)]
struct Fields(Vec<Field>);

fn fields_of(text: &str) -> Result<Fields, UnknownName> {
    parse_fields(text).map(Fields)
}

impl OutputArgs {
    /// Merges flags and file into the request; flags win.
    pub(super) fn resolve(self, file: &ConfigFile, request: &mut Request) -> Result<(), Failure> {
        let fields = file.pgn_fields.as_ref().map(|words| words.join(","));
        request.annotation = Annotation {
            notation: merged(self.notation, file, "notation", &file.notation, str::parse)?
                .unwrap_or_default(),
            fields: merged(self.pgn_fields, file, "pgn-fields", &fields, fields_of)?
                .map_or_else(Vec::new, |Fields(fields)| fields),
            pattern: merged(self.pgn_match, file, "pgn-match", &file.pgn_match, str::parse)?,
            is_minimal: self.pgn_minimal || file.pgn_minimal.unwrap_or(false),
            has_origin: true,
            dialect: None,
            round_games: None,
            event: self.event.or_else(|| file.event.clone()),
            site: self.site.or_else(|| file.site.clone()),
        };
        request.transcripts =
            merged(self.transcripts, file, "transcripts", &file.transcripts, str::parse)?
                .unwrap_or_default();
        request.epd = self.epd.or_else(|| file.epd.clone());
        request.stderr_dir = self.stderr_dir.or_else(|| file.stderr_dir.clone());
        Ok(())
    }
}
