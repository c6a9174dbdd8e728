//! Main search: principal variation search of a node.

use super::extend::Extension;
use super::node::{Node, NodeType, NonPv, Pv};
use super::picker::MovePicker;
use super::tt_score::{is_valid_at_clock, refine_with_tt, tt_cutoff};
use super::{FRAMES_BEFORE, Searcher, features, params};
use crate::chess::Move;
use crate::eval::score::{DRAW, EVALUATION_MAX, INFINITE, MAX_PLY, is_mate, mate_in, mated_in};
use crate::eval::{Evaluator, Score};
use crate::tt::Entry;

/// Static evaluation of a node. The fields have the same meaning as in [`Node`].
struct StaticEval {
    raw_eval: Option<Score>,
    eval: Score,
    correction: Score,
    improving: bool,
}

impl<E: Evaluator> Searcher<'_, E> {
    /// Searches the current position to `depth` plies, and returns the position's score in
    /// centipawns. The score is meaningless if the search was stopped.
    pub(super) fn node<N: NodeType>(
        &mut self,
        mut alpha: Score,
        mut beta: Score,
        depth: i32,
        cut_node: bool,
    ) -> Score {
        if depth <= 0 {
            return self.quiescence::<N>(alpha, beta);
        }
        let ply = self.line.ply();
        self.pv_table.clear(ply);
        if self.limiter.should_stop() {
            return DRAW;
        }
        if !N::ROOT {
            if let Some(score) = self.draw_or_max_ply(ply) {
                return score;
            }
            // A repetition is possible (see `can_repeat`), so the score of the side to move is
            // taken to be at least a draw.
            if alpha < DRAW && self.line.can_repeat() {
                alpha = DRAW;
            }
            // Mate distance pruning: the score can be neither worse than being mated now nor better
            // than mating with the next move.
            alpha = alpha.max(mated_in(ply));
            beta = beta.min(mate_in(ply + 1));
            if alpha >= beta {
                return alpha;
            }
        }
        let excluded = self.frame(ply).excluded;
        let position = self.line.position();
        let entry = self.table.probe(position.key());
        if !N::PV
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
        let mut node = self.new_node::<N>(alpha, beta, depth, cut_node, entry);
        node.depth += self.hindsight(&node);
        if !N::PV
            && !node.in_check
            && excluded.is_none()
            && let Some(score) = self.prune_node(&node)
        {
            return score;
        }
        if features::internal_reduction()
            && node.tt_move.is_none()
            && (N::PV || cut_node)
            && depth >= params::no_move_reduction_depth()
        {
            node.depth -= 1;
        }
        self.search_moves::<N>(node)
    }

    /// Returns the node for the current position.
    fn new_node<N: NodeType>(
        &mut self,
        alpha: Score,
        beta: Score,
        depth: i32,
        cut_node: bool,
        entry: Option<Entry>,
    ) -> Node {
        let ply = self.line.ply();
        let window = (alpha, beta);
        let StaticEval { raw_eval, eval, correction, improving } =
            self.static_eval(ply, entry, window);
        let position = self.line.position();
        let tt_move = entry.and_then(|entry| entry.mv).filter(|&mv| position.is_legal(mv));
        let hint = self.root_moves.hint.filter(|_| ply == 0);
        Node {
            ply,
            alpha,
            beta,
            depth,
            in_check: position.in_check(),
            cut_node,
            raw_eval,
            eval,
            correction,
            improving,
            best: -INFINITE,
            tt_entry: entry,
            tt_pv: N::PV || entry.is_some_and(|entry| entry.pv),
            tt_move: hint.or(tt_move),
            excluded: self.frames[ply + FRAMES_BEFORE].excluded,
        }
    }

    /// Returns the score of a drawn position, or of any position at the maximum ply; `None` for
    /// other positions. Also updates the selective depth.
    pub(super) fn draw_or_max_ply(&mut self, ply: usize) -> Option<Score> {
        self.selective_depth = self.selective_depth.max(ply);
        if self.line.is_draw() {
            return Some(DRAW);
        }
        if ply >= MAX_PLY - 1 {
            // A static evaluation is meaningless in check.
            let in_check = self.line.position().in_check();
            return Some(if in_check { DRAW } else { self.line.evaluate() });
        }
        None
    }

    /// Returns the static evaluation of the current position, and stores the corrected evaluation
    /// in the frame of this ply. Also updates the history of the previous move.
    fn static_eval(
        &mut self,
        ply: usize,
        entry: Option<Entry>,
        (alpha, beta): (Score, Score),
    ) -> StaticEval {
        if self.line.position().in_check() {
            self.frame(ply).static_eval = None;
            let eval = -INFINITE;
            return StaticEval { raw_eval: None, eval, correction: 0, improving: false };
        }
        let raw_eval = self.raw_eval(entry, alpha, beta);
        let correction = self.correction(ply);
        let evaluation = self.corrected(raw_eval, correction);
        self.frame(ply).static_eval = Some(evaluation);
        // The evaluation is compared with the evaluation two plies ago, when the same side was to
        // move. If this side was in check two plies ago, the evaluation four plies ago is used. If
        // neither evaluation exists, the node counts as improving.
        let earlier = |plies: usize| self.frames[ply + FRAMES_BEFORE - plies].static_eval;
        let improving = earlier(2).or(earlier(4)).is_none_or(|earlier| evaluation > earlier);
        self.reward_eval_gain(ply, evaluation);
        let eval = refine_with_tt(evaluation, entry, self.line.position(), ply);
        StaticEval { raw_eval: Some(raw_eval), eval, correction: correction.abs(), improving }
    }

    /// Returns the static evaluation without correction, in centipawns. A usable evaluation in the
    /// table entry is returned without calling the evaluator.
    pub(super) fn raw_eval(&mut self, entry: Option<Entry>, alpha: Score, beta: Score) -> Score {
        // An evaluation that depends on the line or the root cannot be taken from the table,
        // because table entries are identified only by the position.
        let stored =
            entry.and_then(|entry| entry.evaluation).filter(|_| self.line.context().is_none());
        stored.unwrap_or_else(|| self.line.evaluate_within(alpha, beta))
    }

    /// Returns the correction of the static evaluation, in centipawns. The correction is 0 for an
    /// evaluation that also depends on the line or the root, because the errors of such an
    /// evaluation do not recur with the position.
    pub(super) fn correction(&self, ply: usize) -> Score {
        if !features::correction_history() || !self.line.context().is_none() {
            return 0;
        }
        self.histories.correction.correction(self.line.position(), self.previous_moves(ply))
    }

    /// Returns the static evaluation, scaled down as the half-move clock rises, plus the
    /// correction.
    pub(super) fn corrected(&self, raw_eval: Score, correction: Score) -> Score {
        let clock = i32::from(self.line.position().halfmove_clock());
        let clock = if features::clock_scaling() { clock } else { 0 };
        let scaled = raw_eval * (params::clock_scale() - clock) / params::clock_scale();
        (scaled + correction).clamp(-EVALUATION_MAX, EVALUATION_MAX)
    }

    /// Searches the moves of a node, and returns the node's score.
    fn search_moves<N: NodeType>(&mut self, mut node: Node) -> Score {
        // The killers of the child nodes and the cutoff counts of the grandchild nodes must come
        // from the subtree of this node, so the values from earlier nodes are reset.
        self.frame(node.ply + 1).killers = [None; 2];
        self.frame(node.ply + 2).cutoffs = 0;
        let killers = if features::killers() { self.frame(node.ply).killers } else { [None; 2] };
        let context = self.new_quiet_context(node.ply);
        self.frame(node.ply).quiet_context = context;
        let mut picker = MovePicker::all(self.take_buffers(), node.tt_move, killers, context);
        let result = self.move_loop::<N>(&mut node, &mut picker);
        self.buffers.push(picker.into_buffers());
        result.unwrap_or(node.best)
    }

    /// Searches the moves in order and raises `node.best`. Returns a score only if this score
    /// replaces `node.best`: if there is no legal move, after a multi-cut, or after a stop.
    fn move_loop<N: NodeType>(
        &mut self,
        node: &mut Node,
        picker: &mut MovePicker,
    ) -> Option<Score> {
        let ply = node.ply;
        let mut best_move = None;
        let mut count = 0;
        while let Some(mv) = picker.next(self.line.position(), self.histories) {
            if Some(mv) == node.excluded || N::ROOT && !self.root_moves.is_allowed(mv) {
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
            let score = self.search_move::<N>(node, mv, count, extension);
            if N::ROOT {
                self.root_moves.add_nodes(mv, self.limiter.nodes - nodes);
            }
            if self.limiter.stopped {
                return Some(DRAW);
            }
            if score > node.best {
                node.best = score;
                if score > node.alpha {
                    best_move = Some(mv);
                    self.update_pv::<N>(ply, mv, score);
                    if score >= node.beta {
                        self.frame(ply).cutoffs += 1;
                        break;
                    }
                    node.alpha = score;
                }
            }
            picker.add_tried(mv);
        }
        if count == 0 {
            return Some(match (node.excluded, node.in_check) {
                // Only the excluded move is legal, so no other move raises alpha.
                (Some(_), _) => node.alpha,
                (None, true) => mated_in(ply),
                (None, false) => DRAW,
            });
        }
        if node.best >= node.beta && !is_mate(node.best) && !is_mate(node.beta) {
            // A score above beta is adjusted towards beta. The adjustment is smaller at high depth,
            // where the score is more accurate.
            node.best = (node.best * node.depth + node.beta) / (node.depth + 1);
        }
        self.store_result(node, best_move, picker.searched_moves());
        None
    }

    /// Searches one move, and returns the move's score. The first search has a null window and
    /// possibly a reduced depth. If a reduced search fails high, the move is searched again at full
    /// depth. In a PV node, a move that raises alpha is searched again with the full window. The
    /// first move of a PV node is searched only with the full window.
    fn search_move<N: NodeType>(
        &mut self,
        node: &Node,
        mv: Move,
        count: usize,
        extension: i32,
    ) -> Score {
        self.table.prefetch(self.line.position().key_after(mv));
        let history_score = self.history_score(node, mv);
        let mut depth = node.depth - 1 + extension;
        self.make(mv);
        let alpha = node.alpha;
        let reduction = self.reduction::<N>(node, mv, count, history_score);
        let mut score = alpha + 1;
        if reduction > 0 {
            let reduced = (depth - reduction).max(1);
            self.frame(node.ply).reduction = depth - reduced;
            score = -self.node::<NonPv>(-alpha - 1, -alpha, reduced, true);
            self.frame(node.ply).reduction = 0;
            if features::second_look() && score > alpha && reduced < depth {
                depth += research_depth_change(node, score, depth);
            }
            if score > alpha && reduced < depth {
                score = -self.node::<NonPv>(-alpha - 1, -alpha, depth, !node.cut_node);
                self.learn_from_research(node, mv, score);
            }
        } else if !N::PV || count > 1 {
            score = -self.node::<NonPv>(-alpha - 1, -alpha, depth, !node.cut_node);
        }
        if N::PV && (count == 1 || score > alpha) {
            score = -self.node::<Pv>(-node.beta, -alpha, depth, false);
        }
        self.line.unmake();
        score
    }

    /// Updates the principal variation with a move that has raised alpha.
    fn update_pv<N: NodeType>(&mut self, ply: usize, mv: Move, score: Score) {
        if N::PV {
            self.pv_table.update(ply, mv);
        }
        if N::ROOT {
            self.best.line.clone_from(self.pv_table.root_pv());
            self.best.score = score;
        }
    }

    /// Returns the history score of a move, from the quiet histories or the capture history.
    pub(super) fn history_score(&self, node: &Node, mv: Move) -> i32 {
        let position = self.line.position();
        if mv.is_quiet() {
            let context = &self.frames[node.ply + FRAMES_BEFORE].quiet_context;
            self.histories.quiet_score(position, mv, context)
        } else {
            self.histories.capture_score(position, mv)
        }
    }
}

/// Returns the change of depth (1, 0 or −1 ply) for the re-search of a reduced move that failed
/// high.
fn research_depth_change(node: &Node, score: Score, depth: i32) -> i32 {
    let deeper = score > node.best + params::deeper_margin() + 2 * depth;
    let shallower = score < node.best + params::shallower_margin();
    i32::from(deeper) - i32::from(shallower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::uci_move::{CastlingForm, parse};
    use crate::chess::{Game, fen};
    use crate::eval::material::Material;
    use crate::search::history::Histories;
    use crate::search::thread_state::SharedState;
    use crate::search::{Limits, Request, Signals};
    use crate::time::Timer;
    use crate::tt::TranspositionTable;

    #[test]
    fn the_static_evaluation_updates_the_history_once_per_node() {
        let root = fen::parse("1r2k3/8/8/8/8/8/8/1N4K1 w - - 0 1").unwrap();
        let game = Game::new(root);
        let limits = Limits::default();
        let timer = Timer::start(None);
        let signals = Signals::default();
        let request = Request { game: &game, limits: &limits, timer: &timer, signals: &signals };
        let table = TranspositionTable::new(1).unwrap();
        let mut histories = Histories::new();
        let shared = SharedState::new(1);
        let evaluator = Material::default();
        let mut searcher =
            Searcher::new(request, &table, &mut histories, shared.thread(0), evaluator);
        // The move leaves an attacked square.
        let mv = parse("b1c3", &root, CastlingForm::KingTo).unwrap();
        assert!(
            searcher.static_eval(0, None, (-INFINITE, INFINITE)).improving,
            "nothing before is known"
        );
        let context = searcher.new_quiet_context(0);
        searcher.frame(0).quiet_context = context;
        searcher.make(mv);
        let mut learnt = |excluded, is_verifying| {
            let before = searcher.histories.quiet_score(&root, mv, &context);
            let frame = searcher.frame(1);
            frame.excluded = excluded;
            frame.is_verifying = is_verifying;
            searcher.static_eval(1, None, (-INFINITE, INFINITE));
            searcher.histories.quiet_score(&root, mv, &context) != before
        };
        assert!(learnt(None, false));
        assert!(!learnt(Some(mv), false) && !learnt(None, true));
    }
}
