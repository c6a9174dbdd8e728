//! Flags that end games before the rules of chess do.

use std::path::PathBuf;

use clap::Args;

use super::ArgsError;
use arbiter_game::adjudicate::{DrawRule, ResignRule, Rules, Scope, TablebaseRule};
use arbiter_plan::adjudication::{RuleError, parse_draw, parse_resign};
use arbiter_plan::file::ConfigFile;

/// When games end before the rules of chess say so.
#[derive(Debug, Args)]
pub(super) struct AdjudicationArgs {
    /// Draw games in which both engines see equality: movenumber=N (not before; 40), movecount=N
    /// (moves of each in a row, none of them a capture or pawn move; 8), score=CP (10)
    #[arg(long, value_name = "RULE", value_parser = parse_draw)]
    draw: Option<DrawRule>,
    /// Let engines resign that know they are lost: movecount=N (moves in a row; 3), score=CP
    /// (600), twosided=true if the winner must see it too
    #[arg(long, value_name = "RULE", value_parser = parse_resign)]
    resign: Option<ResignRule>,
    /// Draw games after so many moves of each side
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_moves: Option<u32>,
    /// End games whose result is in the Syzygy tables of these folders, with ":" between them. The
    /// fifty-move rule counts; for that the .rtbz files are needed, too
    #[arg(long, value_name = "DIRS", conflicts_with = "resume")]
    syzygy: Option<String>,
    /// Look up positions with at most so many pieces, kings included [default: as many as the
    /// tables know]
    #[arg(long, value_name = "N", conflicts_with = "resume",
        value_parser = clap::value_parser!(u32).range(3..=7))]
    syzygy_pieces: Option<u32>,
    /// Count wins that the fifty-move rule prevents as wins
    #[arg(long, conflicts_with = "resume")]
    syzygy_ignore_50: bool,
    /// Results that tables give out: both (wins and draws), wins or draws [default: both]
    #[arg(long, value_name = "WHAT", conflicts_with = "resume")]
    syzygy_adjudicate: Option<Scope>,
}

impl AdjudicationArgs {
    /// The rules, and the folders of the tables that they need.
    pub(super) fn resolve(&self, file: &ConfigFile) -> Result<(Rules, Vec<PathBuf>), ArgsError> {
        let wrong = |key, value: &str, source: RuleError| ArgsError::Rule {
            file: file.name(),
            key,
            value: value.to_owned(),
            source,
        };
        let draw = file.draw.as_deref();
        let draw = draw.map(|text| parse_draw(text).map_err(|e| wrong("draw", text, e)));
        let resign = file.resign.as_deref();
        let resign = resign.map(|text| parse_resign(text).map_err(|e| wrong("resign", text, e)));
        let (tablebase, folders) = self.tablebase(file)?;
        let rules = Rules {
            draw: self.draw.or(draw.transpose()?),
            resign: self.resign.or(resign.transpose()?),
            move_cap: self.max_moves.or(file.max_moves),
            tablebase,
        };
        Ok((rules, folders))
    }

    fn tablebase(
        &self,
        file: &ConfigFile,
    ) -> Result<(Option<TablebaseRule>, Vec<PathBuf>), ArgsError> {
        let folders = match &self.syzygy {
            Some(text) => std::env::split_paths(text).collect(),
            None => file.syzygy.clone().map(Vec::from).unwrap_or_default(),
        };
        let folders: Vec<PathBuf> =
            folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()).collect();
        let scope = match (self.syzygy_adjudicate, &file.syzygy_adjudicate) {
            (Some(scope), _) => Some(scope),
            (None, Some(word)) => Some(word.parse().map_err(|_| ArgsError::Word {
                file: file.name(),
                key: "syzygy-adjudicate",
                value: word.clone(),
                expected: "both, wins or draws".to_owned(),
            })?),
            (None, None) => None,
        };
        let pieces = self.syzygy_pieces.or(file.syzygy_pieces);
        if let Some(pieces) = pieces.filter(|pieces| !(3..=7).contains(pieces)) {
            return Err(ArgsError::Pieces { file: file.name(), pieces });
        }
        let ignores_fifty = self.syzygy_ignore_50 || file.syzygy_ignore_50.unwrap_or(false);
        if folders.is_empty() {
            let is_given = self.syzygy.is_some() || file.syzygy.is_some();
            let is_wanted = is_given || pieces.is_some() || scope.is_some() || ignores_fifty;
            return if is_wanted { Err(ArgsError::NoTables) } else { Ok((None, folders)) };
        }
        let scope = scope.unwrap_or_default();
        let rule = TablebaseRule { pieces: pieces.unwrap_or(0), ignores_fifty, scope };
        Ok((Some(rule), folders))
    }
}
