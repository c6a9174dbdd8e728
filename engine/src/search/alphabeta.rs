//! The main search: principal-variation alpha-beta over one node.

use super::history::ContinuationContext;
use super::picker::Picker;
use super::tt_score::{is_valid_at_clock, refine_with_tt, tt_cutoff};
use super::{FRAMES_BEFORE, Searcher};
use crate::chess::Move;
use crate::eval::score::{DRAW, EVALUATION_MAX, INFINITE, MAX_PLY, mate_in, mated_in};
use crate::eval::{Evaluator, Score};
use crate::search::extend::Extension;
use crate::search::{params, parts};
use crate::tt::Entry;

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
    /// Static evaluation without correction, in centipawns; `None` in check.
    pub(super) raw_eval: Option<Score>,
    /// Corrected static evaluation, replaced by the table's score where that is a better bound, in
    /// centipawns; meaningless in check.
    pub(super) eval: Score,
    /// Absolute value of the correction in `eval`, in centipawns.
    pub(super) correction: Score,
    /// Is the evaluation better than two plies ago, or four if the side was in check then?
    pub(super) improving: bool,
    /// The best score found so far.
    pub(super) best: Score,
    pub(super) entry: Option<Entry>,
    /// The table's move, if it is legal.
    pub(super) table: Option<Move>,
    pub(super) excluded: Option<Move>,
    pub(super) continuation: ContinuationContext,
}

/// The static evaluation of a node; the fields are those of [`Node`].
struct StaticEval {
    raw_eval: Option<Score>,
    eval: Score,
    correction: Score,
    improving: bool,
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
        if self.limiter.should_stop() {
            return DRAW;
        }
        if !N::ROOT {
            if let Some(score) = self.draw_or_max_ply(ply) {
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
        let entry = self.table.probe(position.key());
        if !N::OPEN
            && excluded.is_none()
            && let Some(entry) = entry.filter(|entry| entry.depth >= depth)
            && is_valid_at_clock(&entry, position)
            && let Some(score) = tt_cutoff(&entry, ply, alpha, beta)
        {
            if score >= beta {
                self.reward_tt_move(&entry, depth);
            }
            return score;
        }
        let mut node = self.new_node(alpha, beta, depth, cut, entry);
        if !N::OPEN
            && !node.in_check
            && excluded.is_none()
            && let Some(score) = self.prune_node(&node)
        {
            return score;
        }
        if parts::internal_reduction()
            && node.table.is_none()
            && (N::OPEN || cut)
            && depth >= params::no_move_reduction_depth()
        {
            node.depth -= 1;
        }
        self.moves::<N>(node)
    }

    /// The node of the current position.
    fn new_node(
        &mut self,
        alpha: Score,
        beta: Score,
        depth: i32,
        cut: bool,
        entry: Option<Entry>,
    ) -> Node {
        let ply = self.line.ply();
        let StaticEval { raw_eval, eval, correction, improving } = self.static_eval(ply, entry);
        let position = self.line.position();
        let known = entry.and_then(|entry| entry.mv).filter(|&mv| position.is_legal(mv));
        let hint = self.root_moves.hint.filter(|_| ply == 0);
        Node {
            ply,
            alpha,
            beta,
            depth,
            in_check: position.in_check(),
            cut,
            raw_eval,
            eval,
            correction,
            improving,
            best: -INFINITE,
            entry,
            table: hint.or(known),
            excluded: self.frames[ply + FRAMES_BEFORE].excluded,
            continuation: self.continuation_context(ply),
        }
    }

    /// The score of a drawn position, or of any at the deepest ply.
    pub(super) fn draw_or_max_ply(&mut self, ply: usize) -> Option<Score> {
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

    /// The static evaluation of the current position, kept on the search stack.
    fn static_eval(&mut self, ply: usize, entry: Option<Entry>) -> StaticEval {
        if self.line.position().in_check() {
            self.frame(ply).static_eval = None;
            let eval = -INFINITE;
            return StaticEval { raw_eval: None, eval, correction: 0, improving: false };
        }
        let raw_eval = self.raw_eval(entry);
        let correction = self.correction(ply);
        let evaluation = self.corrected(raw_eval, correction);
        self.frame(ply).static_eval = Some(evaluation);
        // There is none before the root, nor in check.
        let earlier = |plies: usize| self.frames[ply + FRAMES_BEFORE - plies].static_eval;
        let improving = earlier(2).or(earlier(4)).is_some_and(|earlier| evaluation > earlier);
        self.reward_eval_gain(ply, evaluation);
        let eval = refine_with_tt(evaluation, entry, self.line.position(), ply);
        StaticEval { raw_eval: Some(raw_eval), eval, correction: correction.abs(), improving }
    }

    /// The static evaluation without correction, from the transposition table if stored there.
    pub(super) fn raw_eval(&mut self, entry: Option<Entry>) -> Score {
        let stored = entry.and_then(|entry| entry.evaluation).filter(|_| E::CONTEXT.is_none());
        stored.unwrap_or_else(|| self.line.evaluate())
    }

    /// The correction of the static evaluation, in centipawns; 0 for an evaluation that depends on more
    /// than the position, since its errors do not recur with the position.
    pub(super) fn correction(&self, ply: usize) -> Score {
        if !parts::correction_history() || !E::CONTEXT.is_none() {
            return 0;
        }
        self.histories.correction.correction(self.line.position(), self.previous_moves(ply))
    }

    /// The static evaluation with its correction, scaled down as the halfmove clock rises.
    pub(super) fn corrected(&self, raw_eval: Score, correction: Score) -> Score {
        let clock = i32::from(self.line.position().halfmove_clock());
        let clock = if parts::clock_scaling() { clock } else { 0 };
        let scaled = raw_eval * (params::clock_scale() - clock) / params::clock_scale();
        (scaled + correction).clamp(-EVALUATION_MAX, EVALUATION_MAX)
    }

    /// Searches the moves of a node.
    fn moves<N: NodeKind>(&mut self, mut node: Node) -> Score {
        self.frame(node.ply + 1).killers = [None; 2];
        self.frame(node.ply + 2).cutoffs = 0;
        let killers = if parts::killers() { self.frame(node.ply).killers } else { [None; 2] };
        let mut picker = Picker::all(self.room(), node.table, killers, node.continuation);
        let settled = self.try_moves::<N>(&mut node, &mut picker);
        self.rooms.push(picker.into_room());
        settled.unwrap_or(node.best)
    }

    /// Tries one move after the other, raising the best score of the node; returns the score of a
    /// node that is settled otherwise.
    fn try_moves<N: NodeKind>(&mut self, node: &mut Node, picker: &mut Picker) -> Option<Score> {
        let ply = node.ply;
        let mut best_move = None;
        let mut count = 0;
        while let Some(mv) = picker.next(self.line.position(), self.histories) {
            if Some(mv) == node.excluded || N::ROOT && !self.root_moves.admit(mv) {
                continue;
            }
            count += 1;
            let safe = !N::ROOT && node.best > -EVALUATION_MAX;
            if safe && self.prune_move(node, mv, count, picker) {
                continue;
            }
            let extension = match self.extension::<N>(node, mv) {
                Extension::Plies(plies) => plies,
                Extension::Cut(score) => return Some(score),
            };
            let nodes = self.limiter.nodes;
            let score = self.try_move::<N>(node, mv, count, extension);
            if N::ROOT {
                self.root_moves.spend(mv, self.limiter.nodes - nodes);
            }
            if self.limiter.stopped {
                return Some(DRAW);
            }
            if score > node.best {
                node.best = score;
                if score > node.alpha {
                    best_move = Some(mv);
                    self.adopt::<N>(ply, mv, score);
                    if score >= node.beta {
                        self.frame(ply).cutoffs += 1;
                        break;
                    }
                    node.alpha = score;
                }
            }
            picker.note(mv);
        }
        if count == 0 {
            return Some(match (node.excluded, node.in_check) {
                (Some(_), _) => node.alpha,
                (None, true) => mated_in(ply),
                (None, false) => DRAW,
            });
        }
        self.store_result(node, best_move, picker.tried());
        None
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
        let history_score = self.history_score(node, mv);
        let mut depth = node.depth - 1 + extension;
        if extension == 0 && self.checks_soundly(node, mv) {
            depth += 1;
        }
        self.make(mv);
        let alpha = node.alpha;
        let reduction = self.reduction::<N>(node, mv, count, history_score);
        let mut score = alpha + 1;
        if reduction > 0 {
            let reduced = (depth - reduction).max(1);
            score = -self.node::<Null>(-alpha - 1, -alpha, reduced, true);
            if parts::second_look() && score > alpha && reduced < depth {
                depth += second_look(node, score, depth);
            }
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

    /// The history score of a move.
    fn history_score(&self, node: &Node, mv: Move) -> i32 {
        let position = self.line.position();
        if mv.is_quiet() {
            self.histories.quiet_score(position, mv, &node.continuation)
        } else {
            self.histories.capture_score(position, mv)
        }
    }
}

/// Plies to add when a reduced move has proved too good: how good it is says how deep to look again.
fn second_look(node: &Node, score: Score, depth: i32) -> i32 {
    let deeper = score > node.best + params::deeper_margin() + 2 * depth;
    let shallower = score < node.best + params::shallower_margin();
    i32::from(deeper) - i32::from(shallower)
}
