//! The main search: principal-variation alpha-beta over one node.

use super::picker::Picker;
use super::{FRAMES_BEFORE, Searcher};
use crate::chess::{Move, MoveList};
use crate::eval::score::{DRAW, EVALUATION_MAX, INFINITE, MAX_PLY, mate_in, mated_in};
use crate::eval::{Evaluator, Score};
use crate::search::extend::Extension;
use crate::search::params;
use crate::tt::{Bound, Entry};

/// What sort of node is searched; known at compile time.
pub(super) trait NodeKind {
    /// The root of the search.
    const ROOT: bool;
    /// A node with an open window.
    const OPEN: bool;
}

/// The root.
pub(super) struct Root;
/// A node of the principal variation.
pub(super) struct Open;
/// A node searched with a null window.
pub(super) struct Null;

impl NodeKind for Root {
    const ROOT: bool = true;
    const OPEN: bool = true;
}

impl NodeKind for Open {
    const ROOT: bool = false;
    const OPEN: bool = true;
}

impl NodeKind for Null {
    const ROOT: bool = false;
    const OPEN: bool = false;
}

/// The facts of a node that pruning, extending and reducing decide on.
pub(super) struct Node {
    pub(super) ply: usize,
    pub(super) alpha: Score,
    pub(super) beta: Score,
    pub(super) depth: i32,
    pub(super) in_check: bool,
    /// A cut-off is expected, because the parent's window was null and its first moves failed.
    pub(super) cut: bool,
    /// Static evaluation, corrected by what the table knows; meaningless in check.
    pub(super) evaluation: Score,
    /// Is the evaluation better than it was two plies ago?
    pub(super) improving: bool,
    pub(super) entry: Option<Entry>,
    /// The table's move, if it is legal.
    pub(super) table: Option<Move>,
    pub(super) excluded: Option<Move>,
}

impl<E: Evaluator> Searcher<'_, E> {
    /// Searches the current position to `depth` plies. The result is meaningless once the search
    /// has stopped.
    pub(super) fn node<N: NodeKind>(
        &mut self,
        mut alpha: Score,
        mut beta: Score,
        depth: i32,
        cut: bool,
    ) -> Score {
        if depth <= 0 {
            return self.quiescence::<N>(alpha, beta);
        }
        let ply = self.line.ply();
        self.lines.clear(ply);
        if self.brake.out_of_budget() {
            return DRAW;
        }
        if !N::ROOT {
            if let Some(score) = self.trivial(ply) {
                return score;
            }
            // No score can be worse than mate now or better than mate next.
            alpha = alpha.max(mated_in(ply));
            beta = beta.min(mate_in(ply + 1));
            if alpha >= beta {
                return alpha;
            }
        }
        let excluded = self.frame(ply).excluded;
        let position = self.line.position();
        let in_check = position.in_check();
        let entry = self.table.probe(position.key());
        if !N::OPEN
            && excluded.is_none()
            && let Some(entry) = entry.filter(|entry| entry.depth >= depth)
            && let Some(score) = decisive(&entry, ply, alpha, beta)
        {
            return score;
        }
        let table = entry.and_then(|entry| entry.mv).filter(|&mv| position.is_legal(mv));
        let table = if N::ROOT { self.root_moves.hint.or(table) } else { table };
        let (evaluation, improving) = self.appraise(ply, entry);
        let mut node = Node {
            ply,
            alpha,
            beta,
            depth,
            in_check,
            cut,
            evaluation,
            improving,
            entry,
            table,
            excluded,
        };
        if !N::OPEN
            && !in_check
            && excluded.is_none()
            && let Some(score) = self.prune_node(&node)
        {
            return score;
        }
        if table.is_none() && (N::OPEN || cut) && depth >= params::no_move_reduction_depth() {
            node.depth -= 1;
        }
        self.moves::<N>(node)
    }

    /// The score of positions that need no search: draws, and the end of the line.
    pub(super) fn trivial(&mut self, ply: usize) -> Option<Score> {
        self.selective_depth = self.selective_depth.max(ply);
        if self.line.is_draw() {
            return Some(DRAW);
        }
        if ply >= MAX_PLY - 1 {
            let in_check = self.line.position().in_check();
            return Some(if in_check { DRAW } else { self.line.evaluate() });
        }
        None
    }

    /// The static evaluation, sharpened by the table, and whether it has been rising.
    fn appraise(&mut self, ply: usize, entry: Option<Entry>) -> (Score, bool) {
        if self.line.position().in_check() {
            self.frame(ply).evaluation = None;
            return (-INFINITE, false);
        }
        let evaluation = self.static_evaluation(entry);
        self.frame(ply).evaluation = Some(evaluation);
        // Frames before the root hold nothing, and those of a check neither.
        let earlier = self.frames[ply + FRAMES_BEFORE - 2].evaluation;
        let improving = earlier.is_some_and(|earlier| evaluation > earlier);
        (sharpened(evaluation, entry, ply), improving)
    }

    /// The static evaluation, from the table if it may be kept there.
    pub(super) fn static_evaluation(&mut self, entry: Option<Entry>) -> Score {
        let known = entry.and_then(|entry| entry.evaluation).filter(|_| E::CONTEXT.is_none());
        known.unwrap_or_else(|| self.line.evaluate())
    }

    fn moves<N: NodeKind>(&mut self, mut node: Node) -> Score {
        let ply = node.ply;
        self.frame(ply + 1).killers = [None; 2];
        let killers = self.frame(ply).killers;
        let mut picker = Picker::all(node.table, killers, self.before(ply));
        let mut tried = MoveList::new();
        let mut best = -INFINITE;
        let mut best_move = None;
        let mut count = 0;
        while let Some(mv) = picker.next(self.line.position(), self.histories) {
            if Some(mv) == node.excluded || N::ROOT && !self.root_moves.admit(mv) {
                continue;
            }
            count += 1;
            let safe = !N::ROOT && best > -EVALUATION_MAX;
            if safe && self.prune_move(&node, mv, count, &mut picker) {
                continue;
            }
            let extension = match self.extension::<N>(&node, mv) {
                Extension::Plies(plies) => plies,
                Extension::Cut(score) => return score,
            };
            let nodes = self.brake.nodes;
            let score = self.try_move::<N>(&node, mv, count, extension);
            if N::ROOT {
                self.root_moves.spend(mv, self.brake.nodes - nodes);
            }
            if self.brake.stopped {
                return DRAW;
            }
            if score > best {
                best = score;
                if score > node.alpha {
                    best_move = Some(mv);
                    self.adopt::<N>(ply, mv, score);
                    if score >= node.beta {
                        break;
                    }
                    node.alpha = score;
                }
            }
            tried.push(mv);
        }
        if count == 0 {
            return match (node.excluded, node.in_check) {
                (Some(_), _) => node.alpha,
                (None, true) => mated_in(ply),
                (None, false) => DRAW,
            };
        }
        if let Some(mv) = best_move.filter(|_| best >= node.beta) {
            self.learn(&node, mv, &tried);
        }
        self.remember(&node, best, best_move);
        best
    }

    /// Makes a move, searches behind it and takes it back: first with a null window and perhaps
    /// less deep, then fully if that was too good.
    fn try_move<N: NodeKind>(
        &mut self,
        node: &Node,
        mv: Move,
        count: usize,
        extension: i32,
    ) -> Score {
        let standing = self.standing(node, mv);
        self.make(mv);
        let mut depth = node.depth - 1 + extension;
        let checks = self.line.position().in_check();
        if extension == 0 && checks && node.ply < 2 * self.root_depth as usize {
            depth += 1;
        }
        let alpha = node.alpha;
        let reduction = self.reduction::<N>(node, mv, count, standing);
        let mut score = alpha + 1;
        if reduction > 0 {
            let reduced = (depth - reduction).max(1);
            score = -self.node::<Null>(-alpha - 1, -alpha, reduced, true);
            if score > alpha && reduced < depth {
                score = -self.node::<Null>(-alpha - 1, -alpha, depth, !node.cut);
            }
        } else if !N::OPEN || count > 1 {
            score = -self.node::<Null>(-alpha - 1, -alpha, depth, !node.cut);
        }
        if N::OPEN && (count == 1 || score > alpha) {
            score = -self.node::<Open>(-node.beta, -alpha, depth, false);
        }
        self.line.unmake();
        score
    }

    /// A move has raised alpha: it heads the line from here.
    fn adopt<N: NodeKind>(&mut self, ply: usize, mv: Move, score: Score) {
        if N::OPEN {
            self.lines.extend(ply, mv);
        }
        if N::ROOT {
            self.best.line.clone_from(&self.lines.0[0]);
            self.best.score = score;
        }
    }

    /// A cut-off: the move was good, those tried before it were not.
    fn learn(&mut self, node: &Node, best: Move, tried: &[Move]) {
        let bonus = (170 * node.depth - 110).min(1_800);
        let before = self.before(node.ply);
        let position = self.line.position();
        if best.is_quiet() {
            self.histories.learn_quiet(position, best, before, bonus);
            for &mv in tried.iter().filter(|mv| mv.is_quiet()) {
                self.histories.learn_quiet(position, mv, before, -bonus);
            }
        } else {
            self.histories.learn_capture(position, best, bonus);
        }
        for &mv in tried.iter().filter(|mv| !mv.is_quiet()) {
            self.histories.learn_capture(position, mv, -bonus);
        }
        let killers = &mut self.frame(node.ply).killers;
        if best.is_quiet() && killers[0] != Some(best) {
            *killers = [Some(best), killers[0]];
        }
    }

    fn remember(&mut self, node: &Node, best: Score, best_move: Option<Move>) {
        // The result of a choice among fewer moves is not the position's.
        if node.excluded.is_some() || node.ply == 0 && !self.root_moves.is_complete() {
            return;
        }
        let bound = match best_move {
            Some(_) if best >= node.beta => Bound::Lower,
            Some(_) => Bound::Exact,
            None => Bound::Upper,
        };
        let entry = Entry {
            mv: best_move,
            score: Entry::score_from(best, node.ply),
            evaluation: self.frame(node.ply).evaluation.filter(|_| E::CONTEXT.is_none()),
            depth: node.depth,
            bound,
        };
        self.table.store(self.line.position().key(), entry);
    }

    /// What history thinks of a quiet move; 0 for others.
    fn standing(&self, node: &Node, mv: Move) -> i32 {
        if !mv.is_quiet() {
            return 0;
        }
        self.histories.quiet(self.line.position(), mv, self.before(node.ply))
    }
}

/// The score of an entry if its bound settles the window.
pub(super) fn decisive(entry: &Entry, ply: usize, alpha: Score, beta: Score) -> Option<Score> {
    let score = entry.score_at(ply);
    let settles = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score >= beta,
        Bound::Upper => score <= alpha,
        Bound::None => false,
    };
    settles.then_some(score)
}

/// A static evaluation moved to the table's score where its bound allows.
pub(super) fn sharpened(evaluation: Score, entry: Option<Entry>, ply: usize) -> Score {
    let Some(entry) = entry else {
        return evaluation;
    };
    let score = entry.score_at(ply);
    let closer = match entry.bound {
        Bound::Exact => true,
        Bound::Lower => score > evaluation,
        Bound::Upper => score < evaluation,
        Bound::None => false,
    };
    if closer { score } else { evaluation }
}
