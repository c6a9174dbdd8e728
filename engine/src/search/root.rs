//! Root moves, with the number of nodes searched below each move.

use super::Request;
use crate::chess::Move;

/// Root moves of a search.
pub(super) struct RootMoves {
    /// Moves, with the number of nodes searched below each move.
    moves: Vec<(Move, u64)>,
    /// `true` if `moves` contains all legal moves.
    complete: bool,
    /// First moves of earlier MultiPV lines, excluded from the current line.
    excluded: Vec<Move>,
    /// Move to search first; `None` for the move from the transposition table.
    pub(super) hint: Option<Move>,
}

impl RootMoves {
    /// Returns the root moves that a request allows.
    pub(super) fn new(request: Request<'_>) -> RootMoves {
        let moves: Vec<(Move, u64)> = request.root_moves().into_iter().map(|mv| (mv, 0)).collect();
        let complete = moves.len() == request.game.position().legal_moves().len();
        RootMoves { moves, complete, excluded: Vec::new(), hint: None }
    }

    /// Returns the number of moves, including excluded moves.
    pub(super) fn len(&self) -> usize {
        self.moves.len()
    }

    /// Returns whether the current MultiPV line may start with this move.
    pub(super) fn is_allowed(&self, mv: Move) -> bool {
        !self.excluded.contains(&mv) && self.moves.iter().any(|&(one, _)| one == mv)
    }

    /// Returns whether all legal moves are searched. Otherwise, the score must not be stored as the
    /// score of the position.
    pub(super) fn is_complete(&self) -> bool {
        self.complete && self.excluded.is_empty()
    }

    /// Excludes a move from the following MultiPV lines.
    pub(super) fn exclude(&mut self, mv: Move) {
        self.excluded.push(mv);
    }

    /// Includes all excluded moves again.
    pub(super) fn include_all(&mut self) {
        self.excluded.clear();
    }

    /// Adds `nodes` to the number of nodes searched below a move.
    pub(super) fn add_nodes(&mut self, mv: Move, nodes: u64) {
        if let Some((_, total)) = self.moves.iter_mut().find(|(one, _)| *one == mv) {
            *total += nodes;
        }
    }

    /// Returns the percentage of all nodes that were searched below a move; `None` if no nodes were
    /// searched.
    pub(super) fn node_percent(&self, mv: Move) -> Option<u32> {
        let all: u64 = self.moves.iter().map(|&(_, nodes)| nodes).sum();
        let &(_, nodes) = self.moves.iter().find(|&&(one, _)| one == mv)?;
        (all > 0).then(|| (u128::from(nodes) * 100 / u128::from(all)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{Game, Position};
    use crate::search::{Limits, Signals};
    use crate::time::Timer;

    #[test]
    fn moves_are_excluded_and_their_nodes_are_counted() {
        let legal = Position::startpos().legal_moves();
        let limits = Limits { search_moves: legal[..3].to_vec(), ..Limits::default() };
        let request = Request {
            game: &Game::new(Position::startpos()),
            limits: &limits,
            timer: &Timer::start(None),
            signals: &Signals::default(),
        };
        let mut restricted = RootMoves::new(request);
        assert!(
            restricted.len() == 3
                && restricted.is_allowed(legal[1])
                && !restricted.is_allowed(legal[3])
        );
        assert!(!restricted.is_complete());
        assert_eq!(restricted.node_percent(legal[0]), None);
        restricted.add_nodes(legal[0], 30);
        restricted.add_nodes(legal[2], 70);
        assert_eq!(
            (restricted.node_percent(legal[2]), restricted.node_percent(legal[3])),
            (Some(70), None)
        );

        let mut all = RootMoves::new(Request { limits: &Limits::default(), ..request });
        assert!(all.is_complete());
        all.exclude(legal[0]);
        assert!(!all.is_allowed(legal[0]) && !all.is_complete());
        all.include_all();
        assert!(all.is_allowed(legal[0]) && all.is_complete());
    }
}
