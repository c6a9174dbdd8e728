//! Search statistics of an engine by game phase, which is told by the material on the board.

use shakmaty::{Chess, Position, Role};

use super::SearchStatistics;
use arbiter_game::record::Thought;

/// What each piece weighs; a full board has 24.
const WEIGHTS: [(Role, usize); 4] =
    [(Role::Knight, 1), (Role::Bishop, 1), (Role::Rook, 2), (Role::Queen, 4)];

/// From this weight on it is the opening; more than one exchange ends it.
const OPENING: usize = 22;

/// From this weight on it is the middlegame, below it the endgame.
const MIDDLEGAME: usize = 9;

/// A game phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nearly all pieces are there.
    Opening,
    /// Neither of the others.
    Middlegame,
    /// Few pieces are left besides kings and pawns.
    Endgame,
}

impl Phase {
    /// In the order of a game.
    pub const ALL: [Phase; 3] = [Phase::Opening, Phase::Middlegame, Phase::Endgame];

    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Opening => "opening",
            Phase::Middlegame => "middlegame",
            Phase::Endgame => "endgame",
        }
    }

    /// The phase of a position.
    fn of(position: &Chess) -> Phase {
        let board = position.board();
        let weight = |(role, weight)| weight * board.by_role(role).count();
        match WEIGHTS.into_iter().map(weight).sum::<usize>() {
            OPENING.. => Phase::Opening,
            MIDDLEGAME.. => Phase::Middlegame,
            _ => Phase::Endgame,
        }
    }
}

/// Sums by phase.
#[derive(Debug, Clone, Default)]
pub struct Phases([SearchStatistics; 3]);

impl Phases {
    /// Adds the move that an engine chose in a position.
    pub(super) fn add(&mut self, position: &Chess, thought: &Thought) {
        self.0[Phase::of(position) as usize].add(thought);
    }

    /// The phases in the order of a game.
    pub fn iter(&self) -> impl Iterator<Item = (Phase, &SearchStatistics)> {
        Phase::ALL.into_iter().zip(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    #[test]
    fn phases_follow_from_the_pieces() {
        let of = |fen: &str| {
            Phase::of(&fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap())
        };
        assert_eq!(Phase::of(&Chess::default()), Phase::Opening);
        assert_eq!(of("r1bqk2r/pppp1ppp/8/8/8/8/PPPP1PPP/R1BQK2R w KQkq - 0 9"), Phase::Middlegame);
        assert_eq!(of("3q1rk1/5ppp/8/8/8/8/5PPP/3Q1RK1 w - - 0 30"), Phase::Middlegame);
        assert_eq!(of("4r1k1/5ppp/8/8/8/8/5PPP/4RBK1 w - - 0 40"), Phase::Endgame);
    }
}
