//! Flags that end games before the rules of chess do.

use clap::Args;

use super::words::merged;
use crate::Failure;
use arbiter_game::adjudicate::{DrawRule, ResignRule, Rules, Scope, TablebaseRule};
use arbiter_plan::{ConfigFile, Request, parse_draw, parse_resign, unexpanded_home};

/// When games end before the rules of chess say so.
#[derive(Debug, Args)]
#[command(next_help_heading = "Adjudication")]
pub(super) struct AdjudicationArgs {
    /// Draw games in which both engines see equality: movenumber=N (not before; 40), movecount=N
    /// (moves of each in a row, counted anew from each capture or pawn move; 8), score=CP (10)
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
    #[arg(long, value_name = "DIRS")]
    syzygy: Option<String>,
    /// Look up positions with at most so many pieces, kings included [default: as many as the
    /// tables know]
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(3..=7))]
    syzygy_pieces: Option<u32>,
    /// Count wins that the fifty-move rule prevents as wins
    #[arg(long)]
    syzygy_ignore_50: bool,
    /// Results that tables give out: both (wins and draws), wins or draws [default: both]
    #[arg(long, value_name = "WHAT")]
    syzygy_adjudicate: Option<Scope>,
}

impl AdjudicationArgs {
    /// Merges flags and file into the request; flags win.
    pub(super) fn resolve(&self, file: &ConfigFile, request: &mut Request) -> Result<(), Failure> {
        request.rules = Rules {
            draw: merged(self.draw, file, "draw", &file.draw, parse_draw)?,
            resign: merged(self.resign, file, "resign", &file.resign, parse_resign)?,
            move_cap: self.max_moves.or(file.max_moves),
            counts_by_position: true,
            ..Rules::default()
        };
        let folders = match &self.syzygy {
            Some(text) => std::env::split_paths(text).collect(),
            None => file.syzygy.clone().unwrap_or_default(),
        };
        request.tables =
            folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()).collect();
        let mut names = request.tables.iter().filter_map(|folder| folder.to_str());
        if let Some(reason) = names.find_map(unexpanded_home) {
            return Err(Failure::invalid(format!("syzygy: {reason}")));
        }
        let (scope, key) = (&file.syzygy_adjudicate, "syzygy-adjudicate");
        let scope = merged(self.syzygy_adjudicate, file, key, scope, str::parse::<Scope>)?;
        let pieces = self.syzygy_pieces.or(file.syzygy_pieces);
        if let Some(pieces) = pieces.filter(|pieces| !(3..=7).contains(pieces)) {
            let name = file.name();
            let message = format!("{name}: syzygy-pieces = {pieces}: expected 3 to 7");
            return Err(Failure::invalid(message));
        }
        let ignores_fifty = self.syzygy_ignore_50 || file.syzygy_ignore_50.unwrap_or(false);
        if !request.tables.is_empty() {
            let (pieces, scope) = (pieces.unwrap_or(0), scope.unwrap_or_default());
            request.rules.tablebase = Some(TablebaseRule { pieces, ignores_fifty, scope });
            return Ok(());
        }
        let is_given = self.syzygy.is_some() || file.syzygy.is_some();
        if is_given || pieces.is_some() || scope.is_some() || ignores_fifty {
            let message = "syzygy: name the folders of the tables with --syzygy DIRS";
            return Err(Failure::invalid(message));
        }
        Ok(())
    }
}
