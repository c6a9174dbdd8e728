//! The moves at the root.

use super::Request;
use crate::chess::Move;

/// The moves to choose from at the root, and the effort each has taken.
pub(super) struct RootMoves {
    /// Each with the nodes searched behind it.
    moves: Vec<(Move, u64)>,
    /// Are they all the legal moves?
    complete: bool,
    /// Those that head a better line; the line looked for must do without them.
    taken: Vec<Move>,
    /// The move to try first if the table does not know the one for this choice.
    pub(super) hint: Option<Move>,
}

impl RootMoves {
    /// The moves a request allows.
    pub(super) fn new(request: Request<'_>) -> RootMoves {
        let moves: Vec<(Move, u64)> = request.root_moves().into_iter().map(|mv| (mv, 0)).collect();
        let complete = moves.len() == request.game.position().legal_moves().len();
        RootMoves { moves, complete, taken: Vec::new(), hint: None }
    }

    /// How many there are, taken or not.
    pub(super) fn len(&self) -> usize {
        self.moves.len()
    }

    /// May the line looked for begin with the move?
    pub(super) fn admit(&self, mv: Move) -> bool {
        !self.taken.contains(&mv) && self.moves.iter().any(|&(one, _)| one == mv)
    }

    /// Is the choice among all legal moves? Otherwise its result is not the position's.
    pub(super) fn is_complete(&self) -> bool {
        self.complete && self.taken.is_empty()
    }

    /// The lines to come must do without the move.
    pub(super) fn take(&mut self, mv: Move) {
        self.taken.push(mv);
    }

    /// The next line may begin with any of the moves.
    pub(super) fn release(&mut self) {
        self.taken.clear();
    }

    /// Nodes were searched behind a move.
    pub(super) fn spend(&mut self, mv: Move, nodes: u64) {
        if let Some((_, spent)) = self.moves.iter_mut().find(|(one, _)| *one == mv) {
            *spent += nodes;
        }
    }

    /// Percent of all nodes so far that were searched behind a move; none if there are no nodes.
    pub(super) fn share(&self, mv: Move) -> Option<u32> {
        let all: u64 = self.moves.iter().map(|&(_, spent)| spent).sum();
        let &(_, spent) = self.moves.iter().find(|&&(one, _)| one == mv)?;
        (all > 0).then(|| (u128::from(spent) * 100 / u128::from(all)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{Game, Position};
    use crate::search::{Limits, Signals};
    use crate::time::Timer;

    #[test]
    fn moves_are_taken_and_released_and_their_effort_is_counted() {
        let legal = Position::startpos().legal_moves();
        let limits = Limits { search_moves: legal[..3].to_vec(), ..Limits::default() };
        let request = Request {
            game: &Game::new(Position::startpos()),
            limits: &limits,
            timer: &Timer::start(None),
            signals: &Signals::default(),
        };
        let mut some = RootMoves::new(request);
        assert!(some.len() == 3 && some.admit(legal[1]) && !some.admit(legal[3]));
        assert!(!some.is_complete());
        assert_eq!(some.share(legal[0]), None);
        some.spend(legal[0], 30);
        some.spend(legal[2], 70);
        assert_eq!((some.share(legal[2]), some.share(legal[3])), (Some(70), None));

        let mut all = RootMoves::new(Request { limits: &Limits::default(), ..request });
        assert!(all.is_complete());
        all.take(legal[0]);
        assert!(!all.admit(legal[0]) && !all.is_complete());
        all.release();
        assert!(all.admit(legal[0]) && all.is_complete());
    }
}
