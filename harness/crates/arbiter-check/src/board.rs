//! Positions of `position` commands, and legality of moves.

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use arbiter_position::Start;

/// Returns the position that the arguments of `position` describe; `None` if the arguments are
/// invalid.
pub(super) fn set_up(words: &str, is_chess960: bool) -> Option<Chess> {
    let (setup, moves) = words.split_once("moves").unwrap_or((words, ""));
    let setup = setup.trim();
    let position = match setup.strip_prefix("fen ") {
        Some(fen) => Start::read(fen.trim(), is_chess960).ok()?.position,
        None if setup == "startpos" => Chess::default(),
        None => return None,
    };
    play(&position, moves.split_ascii_whitespace()).ok()
}

/// Plays moves and returns the resulting position. The error is the first illegal move.
pub(super) fn play<'a>(
    start: &Chess,
    moves: impl IntoIterator<Item = &'a str>,
) -> Result<Chess, &'a str> {
    let mut position = start.clone();
    for word in moves {
        let played = legal(&position, word).ok_or(word)?;
        position.play_unchecked(played);
    }
    Ok(position)
}

/// Returns the legal move with this notation; `None` unless `text` is exactly the UCI notation of a
/// legal move.
pub(super) fn legal(position: &Chess, text: &str) -> Option<shakmaty::Move> {
    let uci: UciMove = text.parse().ok()?;
    let played = uci.to_move(position).ok()?;
    // The library also accepts notations that UCI does not allow.
    let spelled = played.to_uci(position.castles().mode()).to_string();
    let standard = played.to_uci(shakmaty::CastlingMode::Standard).to_string();
    (spelled == text || standard == text).then_some(played)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_set_up() {
        let fen = |words| set_up(words, false).map(|p| arbiter_position::fen(&p));
        assert!(fen("startpos moves e2e4 e7e5").is_some_and(|fen| fen.contains(" w ")));
        assert!(fen("fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1 moves e1g1").is_some());
        assert_eq!(fen("startpos moves e2e5"), None);
        assert_eq!(fen("somewhere"), None);
        let promotion = set_up("fen 8/P6k/8/8/8/8/8/K7 w - - 0 1", false).unwrap();
        assert!(legal(&promotion, "a7a8q").is_some());
        assert!(legal(&promotion, "a7a8Q").is_none());
        assert!(legal(&promotion, "a7a8").is_none());
    }
}
