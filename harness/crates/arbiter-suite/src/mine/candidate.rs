//! Positions from games that may be selected for a suite.

use std::collections::HashSet;

use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Position, Square};

use super::games::Game;
use arbiter_position::Start;

/// Position from a game.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Position with reset move counters, because the lines of the suite have no counters.
    pub start: Start,
    /// Square of the capture by the preceding move; `None` if that move was not a capture.
    pub taken_on: Option<Square>,
    /// Description of the game, and ply of the position.
    pub origin: String,
    /// Index of the game in the list of games.
    pub game: usize,
}

/// Returns the positions of all games in game order, each position only once. Skips the first
/// `from_ply` plies of each game, and positions with fewer than two legal moves.
pub fn candidates(games: &[Game], from_ply: usize) -> Vec<Candidate> {
    // Games share openings, but each position is needed only once.
    let mut visited: HashSet<Zobrist64> = HashSet::new();
    let mut found = Vec::new();
    for (number, game) in games.iter().enumerate() {
        let mut position = game.start.position.clone();
        let mut taken_on = None;
        // The final position is also a candidate, although no move follows.
        for (ply, played) in game.moves.iter().map(Some).chain([None]).enumerate() {
            // A position with a single legal move does not test the engine.
            let is_question = ply >= from_ply && position.legal_moves().len() >= 2;
            if is_question && visited.insert(position.zobrist_hash(EnPassantMode::Legal)) {
                let start = Start::new(without_counters(&position), game.start.mode);
                let origin = format!("{} ply {ply}", game.origin);
                found.push(Candidate { start, taken_on, origin, game: number });
            }
            if let Some(&played) = played {
                taken_on = played.is_capture().then_some(played.to());
                position.play_unchecked(played);
            }
        }
    }
    found
}

fn without_counters(position: &Chess) -> Chess {
    let mut setup = position.clone().to_setup(EnPassantMode::Legal);
    setup.halfmoves = 0;
    setup.fullmoves = std::num::NonZeroU32::MIN;
    let mode = position.castles().mode();
    // A position that legal moves have reached is still valid with reset move counters.
    setup.position(mode).unwrap_or_else(|_| position.clone())
}

#[cfg(test)]
mod tests {
    use super::super::games::read_games;
    use super::*;

    fn of(pgn: &str, from_ply: usize) -> Vec<(String, Option<Square>, String)> {
        let (games, faults) = read_games("g", pgn.as_bytes()).unwrap();
        assert_eq!(faults, Vec::<String>::new());
        let listed = |c: Candidate| (c.start.fen(), c.taken_on, c.origin);
        candidates(&games, from_ply).into_iter().map(listed).collect()
    }

    #[test]
    fn each_position_is_returned_once_without_counters() {
        let found = of("1. e4 e5 2. Nf3 *\n\n1. Nf3 e5 2. e4 *\n", 0);
        assert_eq!(found.len(), 4 + 2, "{found:#?}");
        assert!(found.iter().all(|(fen, ..)| fen.ends_with(" 0 1")), "{found:#?}");
        assert_eq!(found[4].2, "g game 2 ply 1");
    }

    #[test]
    fn captures_are_remembered_and_openings_skipped() {
        let found = of("1. e4 d5 2. exd5 Qxd5 *", 3);
        let taken: Vec<Option<Square>> = found.iter().map(|(_, taken, _)| *taken).collect();
        assert_eq!(taken, [Some(Square::D5), Some(Square::D5)]);
    }

    #[test]
    fn forced_moves_are_skipped() {
        let pgn = "[FEN \"rR4k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1\"]\n\n1... Rxb8 *\n";
        let found = of(pgn, 0);
        assert_eq!(found.len(), 1, "{found:#?}");
    }
}
