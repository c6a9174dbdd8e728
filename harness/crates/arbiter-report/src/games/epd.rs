//! Final positions of games as EPD, with move counters and results.

use shakmaty::fen::{Epd, Fen};
use shakmaty::{EnPassantMode, Position};

use crate::figures::position_after;
use arbiter_game::annotation::Dialect;
use arbiter_game::record::GameRecord;
use arbiter_run::PlayedPair;

/// Returns the final position of each game in a pair, one per line. The opcodes `hmvc` and `fmvn`
/// contain the move counters of a FEN, and `c9` contains the result. In the form of fastchess, `c9`
/// is omitted. In the form of cutechess-cli, the line is a FEN.
pub fn final_positions(played: &PlayedPair, dialect: Option<Dialect>) -> String {
    played.games.iter().map(|game| line(game, dialect)).collect()
}

fn line(game: &GameRecord, dialect: Option<Dialect>) -> String {
    let position = position_after(game, game.moves.len());
    if dialect == Some(Dialect::Cutechess) {
        return format!("{}\n", Fen::from_position(&position, EnPassantMode::Legal));
    }
    let result = match dialect {
        None => format!(" c9 \"{}\";", game.outcome.result.as_str()),
        Some(_) => String::new(),
    };
    let (halfmoves, fullmoves) = (position.halfmoves(), position.fullmoves());
    let epd = Epd::from_position(&position, EnPassantMode::Legal);
    format!("{epd} hmvc {halfmoves}; fmvn {fullmoves};{result}\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use shakmaty::ByColor;

    use super::*;
    use arbiter_game::outcome::{Outcome, Termination};
    use arbiter_game::record::MoveRecord;

    #[test]
    fn the_last_position_has_counters_and_result() {
        let moves = ["g1f3", "d7d5", "f3d4"];
        let game = GameRecord {
            engines: ByColor { white: 0, black: 1 },
            fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 3 7".into(),
            chess960: false,
            moves: moves.map(|uci| MoveRecord { uci: uci.parse().unwrap(), search: None }).into(),
            outcome: Outcome::drawn(Termination::MoveCap, "draw"),
            duration: Duration::ZERO,
            ready: ByColor::default(),
            movetime: ByColor::default(),
            late: None,
            waited: ByColor::default(),
            begun_ms: None,
            transcript: None,
        };
        let board = "rnbqkbnr/ppp1pppp/8/3p4/3N4/8/PPPPPPPP/RNBQKB1R b KQkq -";
        for (dialect, counters) in [
            (None, "hmvc 1; fmvn 8; c9 \"1/2-1/2\";"),
            (Some(Dialect::Fastchess), "hmvc 1; fmvn 8;"),
            (Some(Dialect::Cutechess), "1 8"),
        ] {
            assert_eq!(line(&game, dialect), format!("{board} {counters}\n"));
        }
    }
}
