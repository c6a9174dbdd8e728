//! Search stack: the positions from the root to the current node, the keys of earlier positions of
//! the game, and the evaluator, which receives every move.

use crate::chess::{Game, Move, Position, attacks, reversible};
use crate::eval::score::MAX_PLY;
use crate::eval::{Context, Evaluator, Score, TableUse};

/// The line being searched. The search makes and unmakes moves only through this type.
pub struct SearchStack<E> {
    /// Positions of the line: the root first, the current position last; never empty.
    positions: Vec<Position>,
    /// Keys of the positions before the current position: positions of the game since the last
    /// irreversible move, then positions of the line.
    keys: Vec<u64>,
    /// Length of `keys` after each null move. Positions before a null move are ignored in the
    /// detection of repetitions.
    passes: Vec<usize>,
    evaluator: E,
}

impl<E: Evaluator> SearchStack<E> {
    /// Returns a line without moves, whose root is the current position of the game.
    pub fn new(game: &Game, mut evaluator: E) -> SearchStack<E> {
        evaluator.reset(game);
        let mut positions = Vec::with_capacity(MAX_PLY + 1);
        positions.push(*game.position());
        let mut keys = Vec::with_capacity(game.keys().len() + MAX_PLY);
        keys.extend_from_slice(game.keys());
        SearchStack { positions, keys, passes: Vec::new(), evaluator }
    }

    /// Returns the current position.
    #[inline]
    pub fn position(&self) -> &Position {
        self.positions.last().expect("a line holds its root")
    }

    /// Returns the number of plies from the root.
    #[inline]
    pub fn ply(&self) -> usize {
        self.positions.len() - 1
    }

    /// Makes a legal move.
    #[inline]
    pub fn make(&mut self, mv: Move) {
        let before = self.positions.last().expect("a line holds its root");
        self.evaluator.push(before, mv);
        self.keys.push(before.key());
        self.positions.push(*before);
        // The move is made in the copy that has just been pushed, because a second copy of the
        // position per move cost 1 % more instructions in total.
        self.positions.last_mut().expect("it was just pushed").make(mv);
    }

    /// Makes a null move. The side to move must not be in check.
    pub fn make_null(&mut self) {
        let before = *self.position();
        self.evaluator.push_null();
        self.keys.push(before.key());
        self.passes.push(self.keys.len());
        self.positions.push(before.play_null());
    }

    /// Unmakes the latest move or null move.
    #[inline]
    pub fn unmake(&mut self) {
        debug_assert!(self.positions.len() > 1, "the root cannot be taken back");
        self.evaluator.pop();
        self.passes.pop_if(|length| *length == self.keys.len());
        self.keys.pop();
        self.positions.pop();
    }

    /// Returns the static evaluation of the current position, in centipawns from the point of view
    /// of the side to move.
    #[inline]
    pub fn evaluate(&mut self) -> Score {
        let position = self.positions.last().expect("a line holds its root");
        self.evaluator.evaluate(position)
    }

    /// Returns the static evaluation for a search window from `alpha` to `beta`. The result may be
    /// an estimate if the evaluation is far outside the window.
    #[inline]
    pub fn evaluate_within(&mut self, alpha: Score, beta: Score) -> Score {
        let position = self.positions.last().expect("a line holds its root");
        self.evaluator.evaluate_within(position, alpha, beta)
    }

    /// Returns the input on which the static evaluation depends, in addition to the position.
    #[inline]
    pub fn context(&self) -> Context {
        self.evaluator.context()
    }

    /// Returns the numbers of lookups and hits of the evaluation's pawn table since the start of
    /// the line; `None` if the evaluation has no pawn table or does not count lookups.
    pub fn pawn_table(&self) -> Option<TableUse> {
        self.evaluator.pawn_table()
    }

    /// Returns whether the search scores the current position as a draw: by the fifty-move rule, by
    /// insufficient material, or by repetition.
    ///
    /// One earlier occurrence after the root suffices, because a side that could repeat the
    /// position once can repeat the position again. Up to the root, two earlier occurrences are
    /// necessary.
    pub fn is_draw(&self) -> bool {
        self.is_dead() || self.position().halfmove_clock() < 100 && self.repeats()
    }

    /// Returns whether the current position is a draw by the fifty-move rule or insufficient
    /// material.
    pub fn is_dead(&self) -> bool {
        let position = self.position();
        if position.halfmove_clock() >= 100 {
            // Checkmate takes precedence over the fifty-move rule.
            return !position.in_check() || position.count_legal_moves() > 0;
        }
        position.is_insufficient_material()
    }

    /// Returns whether the current position is a repetition: there is an earlier occurrence after
    /// the root, or there are at least two earlier occurrences in total.
    pub fn repeats(&self) -> bool {
        let position = self.position();
        let mut earlier = 0;
        // The same side is to move only every second ply, and the shortest cycle has four plies.
        for back in (4..=self.reversible()).step_by(2) {
            if self.keys[self.keys.len() - back] == position.key() {
                earlier += 1;
                if earlier == 2 || back < self.ply() {
                    return true;
                }
            }
        }
        false
    }

    /// Returns whether a single move leads from the current position to an earlier position after
    /// the root, or from an earlier position after the root to the current position.
    pub fn can_repeat(&self) -> bool {
        let position = self.position();
        let occupied = position.board().occupied();
        let longest = self.reversible().min(self.ply().saturating_sub(1));
        (3..=longest).step_by(2).any(|back| {
            let change = self.keys[self.keys.len() - back] ^ position.key();
            let squares = reversible::squares(change);
            squares.is_some_and(|[one, other]| (attacks::between(one, other) & occupied).is_empty())
        })
    }

    /// Returns the maximum number of plies that a repetition can span: the number of plies since
    /// the last capture, pawn move or null move.
    fn reversible(&self) -> usize {
        let since_pass = self.keys.len() - self.passes.last().unwrap_or(&0);
        usize::from(self.position().halfmove_clock()).min(since_pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::uci_move::{CastlingForm, parse};
    use crate::chess::{Position, fen};
    use crate::eval::material::Material;

    fn play(game: &mut Game, moves: &str) {
        for text in moves.split(' ') {
            game.play(parse(text, game.position(), CastlingForm::KingTo).unwrap());
        }
    }

    fn make(line: &mut SearchStack<Material>, moves: &str) {
        for text in moves.split(' ') {
            line.make(parse(text, line.position(), CastlingForm::KingTo).unwrap());
        }
    }

    #[test]
    fn one_repetition_after_the_root_is_a_draw() {
        let mut line = SearchStack::new(&Game::new(Position::startpos()), Material::default());
        make(&mut line, "e2e4 e7e5 g1f3 g8f6 f3g1");
        assert!(!line.is_draw());
        make(&mut line, "f6g8");
        assert!(line.is_draw());
        line.unmake();
        assert!(!line.is_draw());
    }

    #[test]
    fn a_possible_repetition_is_detected_before_the_move() {
        let moves_to_cycle = "e1e2 e8d8 a1b1 d8d7 b1b3 d7e7 b3a3 e7e8";
        for (root, moves, can_repeat) in [
            (fen::STARTPOS, "e2e4 e7e5 g1f3 g8f6 f3g1", true),
            (fen::STARTPOS, "e2e4 e7e5 g1f3 g8f6 f1c4", false),
            // Only the root could be repeated, and the root does not count.
            (fen::STARTPOS, "g1f3 g8f6 f3g1", false),
            ("4k3/8/8/8/8/8/7P/R3K3 w - - 0 1", moves_to_cycle, true),
            // The pawn blocks the rook's path back.
            ("4k3/8/8/8/8/8/P7/R3K3 w - - 0 1", moves_to_cycle, false),
        ] {
            let game = Game::new(fen::parse(root).unwrap());
            let mut line = SearchStack::new(&game, Material::default());
            make(&mut line, moves);
            assert_eq!(line.can_repeat(), can_repeat, "{root} {moves}");
        }
    }

    #[test]
    fn two_repetitions_up_to_the_root_are_a_draw() {
        let there_and_back = "g1f3 g8f6 f3g1 f6g8";
        let mut game = Game::new(Position::startpos());
        for is_draw in [false, true] {
            let mut line = SearchStack::new(&game, Material::default());
            make(&mut line, there_and_back);
            assert_eq!(line.is_draw(), is_draw);
            play(&mut game, there_and_back);
        }
        let mut game = Game::new(Position::startpos());
        for is_draw in [false, true] {
            play(&mut game, "g1f3 g8f6 f3g1");
            let mut line = SearchStack::new(&game, Material::default());
            make(&mut line, "f6g8");
            assert_eq!(line.is_draw(), is_draw);
            play(&mut game, "f6g8");
        }
    }

    #[test]
    fn positions_before_a_null_move_do_not_repeat() {
        let root = fen::parse("4k3/8/8/8/8/8/8/R3K3 w - - 0 1").unwrap();
        let mut line = SearchStack::new(&Game::new(root), Material::default());
        make(&mut line, "e1e2 e8e7 a1a2 e7d7");
        line.make_null();
        make(&mut line, "d7e7 a2a1");
        line.make_null();
        assert!(!line.is_draw());
        // Null moves that have been unmade have no effect.
        for _ in 0..4 {
            line.unmake();
        }
        make(&mut line, "a2a1 d7e7");
        assert!(line.is_draw());
    }

    #[test]
    fn mate_takes_precedence_over_the_fifty_move_rule() {
        let root = fen::parse("7k/8/6K1/8/8/8/8/R7 w - - 99 90").unwrap();
        let mut line = SearchStack::new(&Game::new(root), Material::default());
        make(&mut line, "a1a8");
        assert!(!line.is_draw());
        line.unmake();
        make(&mut line, "a1a7");
        assert!(line.is_draw());
    }

    #[test]
    fn unmaking_restores_the_position() {
        let root = Position::startpos();
        let mut line = SearchStack::new(&Game::new(root), Material::default());
        line.make_null();
        make(&mut line, "e7e5 d2d4 e5d4");
        for _ in 0..4 {
            line.unmake();
        }
        assert_eq!(*line.position(), root);
    }
}
