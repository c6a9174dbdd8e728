//! Samples for tuning an evaluation: quiet positions from finished games, each with the result of
//! the game.

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use super::mine::Game;

/// Returns quiet positions of a game as lines `FEN;RESULT;NUMBER`. Selects positions at ply
/// `from_ply` or later for which the ply plus `number` is a multiple of `every`. Returns no lines
/// if the result is unknown.
pub fn samples(game: &Game, number: usize, from_ply: usize, every: usize) -> Vec<String> {
    let Some(result) = game.result else { return Vec::new() };
    // The game number shifts the selected plies, so that samples from many games are from different
    // plies.
    let is_due = |ply: usize| ply >= from_ply && (ply + number).is_multiple_of(every.max(1));
    let line = |(ply, position): (usize, Chess)| {
        let fen = Fen::from_position(&position, EnPassantMode::Legal);
        is_due(ply).then(|| format!("{fen};{result};{number}"))
    };
    quiet(game).filter_map(line).collect()
}

/// Returns the quiet positions of a game, each with the ply, up to the first announced mate. A
/// position is quiet if the side to move is not in check, and if the move played is neither a
/// capture nor a promotion.
pub(crate) fn quiet(game: &Game) -> impl Iterator<Item = (usize, Chess)> {
    let mut position = game.start.position.clone();
    // After an announced mate, the search already knows the result, so the positions cannot be used
    // to tune an evaluation.
    let plies = game.moves.iter().enumerate().take(game.open_plies);
    plies.filter_map(move |(ply, &played)| {
        // In a position with a check or a pending capture, the score depends more on the search
        // than on the evaluation of the position.
        let is_quiet = !position.is_check() && !played.is_capture() && !played.is_promotion();
        let before = is_quiet.then(|| (ply, position.clone()));
        position.play_unchecked(played);
        before
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mine::read_games;

    #[test]
    fn only_quiet_positions_are_taken() {
        let pgn = "1. e4 e5 2. Nf3 Nc6 3. Nxe5 Nxe5 4. Qh5 Qe7 5. Qxf7+ Kd8 6. Qxf8+ {+M3/9} Qxf8 \
                   7. d4 1-0\n\n1. e4 *\n";
        let (games, _) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        let lines = samples(&games[0], 7, 2, 1);
        let expected = [
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2;1-0;7",
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2;1-0;7",
            "r1bqkbnr/pppp1ppp/8/4n3/4P3/8/PPPP1PPP/RNBQKB1R w KQkq - 0 4;1-0;7",
            "r1bqkbnr/pppp1ppp/8/4n2Q/4P3/8/PPPP1PPP/RNB1KB1R b KQkq - 1 4;1-0;7",
        ];
        assert_eq!(lines, expected);
        assert_eq!(samples(&games[0], 7, 2, 2), [expected[1], expected[3]]);
        assert!(samples(&games[1], 1, 0, 1).is_empty());
    }

    #[test]
    fn every_legal_move_is_replayed() {
        let pgn = "[FEN \"7k/1P6/8/8/8/8/8/K7 w - - 0 1\"]\n\n1. b8Q+ Kh7\n\n2. Qb1+ Kh6 1-0\n";
        let (games, faults) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        assert_eq!((games[0].moves.len(), faults.len()), (4, 0));
        let pgn = "1. e4 e5 2. Sf3 Nc6 1-0\n";
        let (games, faults) = read_games("a.pgn", pgn.as_bytes()).unwrap();
        assert_eq!(faults, ["a.pgn game 1: 2. Sf3 is not a move; the rest is ignored"]);
        assert_eq!((games[0].moves.len(), games[0].result), (2, None));
    }
}
