//! Flags that end games before the rules of chess do.

use clap::Args;

use super::ArgsError;
use crate::adjudicate::{DrawRule, ResignRule, Rules};
use crate::config::adjudication::{RuleError, parse_draw, parse_resign};
use crate::config::file::ConfigFile;

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
}

impl AdjudicationArgs {
    pub(super) fn resolve(&self, file: &ConfigFile) -> Result<Rules, ArgsError> {
        let wrong = |key, value: &str, source: RuleError| ArgsError::Rule {
            key,
            value: value.to_owned(),
            source,
        };
        let draw = file.draw.as_deref();
        let draw = draw.map(|text| parse_draw(text).map_err(|e| wrong("draw", text, e)));
        let resign = file.resign.as_deref();
        let resign = resign.map(|text| parse_resign(text).map_err(|e| wrong("resign", text, e)));
        Ok(Rules {
            draw: self.draw.or(draw.transpose()?),
            resign: self.resign.or(resign.transpose()?),
            move_cap: self.max_moves.or(file.max_moves),
        })
    }
}
