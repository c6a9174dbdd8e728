//! Quiescence search: captures and promotions until the position is quiet.

use super::node::NodeType;
use super::picker::MovePicker;
use super::tt_score::{is_valid_at_clock, refine_with_tt, tt_cutoff};
use super::{Searcher, features, params, see};
use crate::chess::Move;
use crate::eval::score::{DRAW, EVALUATION_MAX, INFINITE, is_mate, mated_in};
use crate::eval::{Evaluator, Score};
use crate::tt::{Bound, Entry};

/// Node of the quiescence search.
struct QsNode {
    ply: usize,
    in_check: bool,
    /// Static evaluation plus the delta pruning margin, in centipawns.
    futility_base: Score,
}

impl<E: Evaluator> Searcher<'_, E> {
    /// Searches only captures and promotions or, in check, evasions. Returns the score of the
    /// current position in centipawns.
    pub(super) fn quiescence<N: NodeType>(&mut self, alpha: Score, beta: Score) -> Score {
        let ply = self.line.ply();
        self.pv_table.clear(ply);
        if self.limiter.should_stop() {
            return DRAW;
        }
        if let Some(score) = self.draw_or_max_ply(ply) {
            return score;
        }
        let position = self.line.position();
        let key = position.key();
        let in_check = position.in_check();
        let entry = self.table.probe(key);
        if !N::PV
            && let Some(entry) = entry.filter(|entry| is_valid_at_clock(entry, position))
            && let Some(score) = tt_cutoff(&entry, ply, alpha, beta)
        {
            return score;
        }
        let tt_move = entry.and_then(|entry| entry.mv).filter(|&mv| position.is_legal(mv));
        let raw_eval = if in_check { None } else { Some(self.raw_eval(entry, alpha, beta)) };
        let evaluation = raw_eval.map(|raw_eval| self.corrected(raw_eval, self.correction(ply)));
        let position = self.line.position();
        let mut best =
            evaluation.map_or(-INFINITE, |score| refine_with_tt(score, entry, position, ply));
        if best >= beta {
            return self.stand_pat(entry, raw_eval, best, beta);
        }
        let node = QsNode {
            ply,
            in_check,
            futility_base: evaluation.map_or(-INFINITE, |score| score + params::capture_margin()),
        };
        let raised_alpha = alpha.max(best);
        let mut best_move = None;
        let buffers = self.take_buffers();
        let mut picker = if in_check {
            MovePicker::all(buffers, tt_move, [None; 2], self.new_quiet_context(ply))
        } else {
            MovePicker::good_captures(buffers, tt_move.filter(|mv| !mv.is_quiet()))
        };
        self.qsearch_moves::<N>(&node, raised_alpha, beta, &mut best, &mut best_move, &mut picker);
        self.buffers.push(picker.into_buffers());
        if self.limiter.stopped {
            return DRAW;
        }
        if best == -INFINITE {
            // `best` starts with the stand-pat score, unless the side to move is in check. The side
            // to move is therefore in check and has no legal move.
            return mated_in(ply);
        }
        if best >= beta && !is_mate(best) && !is_mate(beta) {
            best = (best + beta) / 2;
        }
        let bound = match best_move {
            _ if best >= beta => Bound::Lower,
            Some(_) if best > alpha => Bound::Exact,
            _ => Bound::Upper,
        };
        let evaluation = raw_eval.filter(|_| self.line.context().is_none());
        let score = Entry::score_from(best, ply);
        let pv = N::PV || entry.is_some_and(|entry| entry.pv);
        self.table.store(key, Entry { mv: best_move, score, evaluation, depth: 0, bound, pv });
        best
    }

    /// Searches the moves of a node. Raises `best`, and sets `best_move` to the last move that
    /// raised alpha.
    fn qsearch_moves<N: NodeType>(
        &mut self,
        node: &QsNode,
        mut alpha: Score,
        beta: Score,
        best: &mut Score,
        best_move: &mut Option<Move>,
        picker: &mut MovePicker,
    ) {
        while let Some(mv) = picker.next(self.line.position(), self.histories) {
            self.table.prefetch(self.line.position().key_after(mv));
            if features::delta_pruning()
                && !node.in_check
                && !mv.is_promotion()
                && let Some(score_bound) = self.delta_prune(node, mv, alpha)
            {
                *best = (*best).max(score_bound);
                continue;
            }
            if node.in_check && *best > -EVALUATION_MAX {
                if mv.is_quiet() {
                    // After an evasion that avoids mate, quiet evasions are skipped to avoid a
                    // search explosion.
                    picker.skip_quiets();
                    continue;
                }
                let margin = -params::evasion_see_margin();
                if !see::gains_at_least(self.line.position(), mv, margin) {
                    continue;
                }
            }
            self.make(mv);
            let score = -self.quiescence::<N>(-beta, -alpha);
            self.line.unmake();
            if self.limiter.stopped {
                return;
            }
            if score <= *best {
                continue;
            }
            *best = score;
            if score > alpha {
                *best_move = Some(mv);
                alpha = score;
                if N::PV {
                    self.pv_table.update(node.ply, mv);
                }
                if score >= beta {
                    return;
                }
            }
        }
    }

    /// Returns the stand-pat score of a node whose static evaluation is at least beta. The score is
    /// the mean of the evaluation and beta, because the evaluation is only an estimate. If the
    /// position has no table entry, the evaluation is stored as a lower bound.
    fn stand_pat(
        &self,
        entry: Option<Entry>,
        raw_eval: Option<Score>,
        best: Score,
        beta: Score,
    ) -> Score {
        if entry.is_none() {
            let evaluation = raw_eval.filter(|_| self.line.context().is_none());
            let score = Entry::score_from(best, self.line.ply());
            let entry =
                Entry { mv: None, score, evaluation, depth: 0, bound: Bound::Lower, pv: false };
            self.table.store(self.line.position().key(), entry);
        }
        if is_mate(best) || is_mate(beta) { best } else { (best + beta) / 2 }
    }

    /// Delta pruning. Returns an estimated upper bound on the score of a capture if the bound does
    /// not exceed alpha.
    fn delta_prune(&self, node: &QsNode, mv: Move, alpha: Score) -> Option<Score> {
        let position = self.line.position();
        let score_bound = node.futility_base + position.captured(mv).map_or(0, see::piece_value);
        if score_bound <= alpha {
            return Some(score_bound);
        }
        // A capture that wins no material gains at most the margin.
        let even_trade = node.futility_base <= alpha && !see::gains_at_least(position, mv, 1);
        even_trade.then_some(node.futility_base)
    }
}
