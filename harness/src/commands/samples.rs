//! `arbiter samples`: quiet positions with the results of their games, for tuning evaluations.

use std::path::PathBuf;

use clap::Args;

use crate::output::{NewFile, in_use};
use crate::{failure::Failure, game_source::GameSourceArgs};
use arbiter_names::quantity;
use arbiter_report::note;
use arbiter_suite::samples;

/// Flags of `arbiter samples`.
#[derive(Debug, Args)]
#[command(after_help = "\
Writes one line per position, FEN;RESULT;GAME, such as
  8/5k2/8/8/3PK3/8/8/8 w - - 0 60;1-0;17
Positions are skipped if the side to move is in check, captures or promotes, or if an engine has already
announced a mate. Games without a result or decided by an engine fault are skipped, too. `palimpsest
tune` reads such files.

Exit codes: 0 if there are samples; 2 for usage errors; 3 for invalid input; 4 if no position qualifies;
7 for an environment error.

Examples:
  arbiter samples --run match-20260101-120000 --out samples.txt")]
pub(crate) struct SamplesArgs {
    #[command(flatten)]
    source: GameSourceArgs,
    /// File to write, in an existing folder
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Skip the first N plies of each game
    #[arg(long, value_name = "PLIES", default_value = "8")]
    from_ply: usize,
    /// Take one position in N, because neighbouring positions are similar
    #[arg(long, value_name = "N", default_value = "1",
        value_parser = clap::value_parser!(u16).range(1..))]
    every: u16,
}

/// Reads the games and writes the samples.
pub(crate) fn run(args: &SamplesArgs) -> Result<(), Failure> {
    let games = args.source.games()?;
    let mut file = NewFile::create(&args.out, in_use(args.source.files()?)?)?;
    let (mut positions, mut used) = (0, 0);
    for (number, game) in games.iter().enumerate() {
        let lines = samples(game, number + 1, args.from_ply, usize::from(args.every));
        positions += lines.len();
        used += usize::from(!lines.is_empty());
        for line in lines {
            file.write(&format!("{line}\n"))?;
        }
    }
    if positions == 0 {
        let sources = args.source.names(|path| path.display().to_string());
        return Err(Failure::nothing_to_run(match games.len() {
            0 => format!("{sources}: there is no game; give a PGN file with moves"),
            games => format!(
                "{sources}: {}, but no quiet position in a game with a result; see the rules \
                 with --help, or lower --from-ply and --every",
                quantity(games, "game")
            ),
        }));
    }
    file.finish()?;
    let out = args.out.display();
    note(&format!("{positions} positions of {used} of {} games in {out}", games.len()));
    Ok(())
}
