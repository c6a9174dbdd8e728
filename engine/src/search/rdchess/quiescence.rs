//! Quiescence search of RDChess: captures, promotions and check evasions.

use super::node::material;
use super::order::{MoveOrder, Next, gain};
use super::{Feature, Search};
use crate::chess::Move;
use crate::eval::Score;
use crate::eval::score::{DRAW, INFINITE, mated_in};
use crate::search::tt_score::tt_cutoff;

/// Assumed maximum absolute value of the positional score, in centipawns, for lazy evaluation.
const POSITIONAL_MAX: Score = 250;

/// State of a quiescence node that is being searched.
struct QsNode {
    ply: usize,
    in_check: bool,
    alpha: Score,
    beta: Score,
    /// Stand-pat score, in centipawns.
    stand_pat: Score,
    best: Score,
    count: usize,
}

impl Search<'_> {
    /// Searches captures and promotions or, in check, evasions. Returns the score of the current
    /// position in centipawns. The result is not stored in the table.
    pub(super) fn quiescence(&mut self, alpha: Score, beta: Score, last: Option<Move>) -> Score {
        let ply = self.line.ply();
        self.pv_table.clear(ply);
        if self.limiter.should_stop() {
            return DRAW;
        }
        if let Some(score) = self.draw_or_max_ply(ply) {
            return score;
        }
        let key = self.line.position().key();
        let entry = if self.is_enabled(Feature::QuiescenceHash) { self.look_up(key) } else { None };
        if let Some(score) = entry.and_then(|entry| tt_cutoff(&entry, ply, alpha, beta)) {
            return score;
        }
        let in_check =
            self.line.position().in_check() && self.is_enabled(Feature::QuiescenceChecks);
        let stand_pat = self.stand_pat(alpha, beta);
        let best = if in_check { -INFINITE } else { stand_pat };
        if best >= beta {
            return best;
        }
        let alpha = alpha.max(best);
        let mut node = QsNode { ply, in_check, alpha, beta, stand_pat, best, count: 0 };
        self.search_captures(&mut node, last);
        if in_check && node.count == 0 {
            return mated_in(ply);
        }
        node.best
    }

    /// Returns the static evaluation. If the material balance alone is far outside the window,
    /// returns a bound from the material balance instead.
    fn stand_pat(&mut self, alpha: Score, beta: Score) -> Score {
        if self.is_enabled(Feature::QuiescenceLazy) {
            let material = material(self.line.position());
            if material - POSITIONAL_MAX >= beta {
                return material - POSITIONAL_MAX;
            }
            if material + POSITIONAL_MAX <= alpha {
                return material + POSITIONAL_MAX;
            }
        }
        self.line.evaluate_within(alpha, beta)
    }

    fn search_captures(&mut self, node: &mut QsNode, last: Option<Move>) {
        let hints = self.hints(last, None, node.ply);
        let mut order = if node.in_check {
            MoveOrder::all(hints)
        } else {
            MoveOrder::captures(hints, self.line.position())
        };
        while let Some(next) = order.next(self.line.position()) {
            let Next::Move(mv) = next else { continue };
            node.count += 1;
            if let Some(bound) = self.futility_bound_of_capture(node, mv) {
                node.best = node.best.max(bound);
                continue;
            }
            self.limiter.nodes += 1;
            self.line.make(mv);
            let score = -self.quiescence(-node.beta, -node.alpha, Some(mv));
            self.line.unmake();
            if self.limiter.stopped {
                return;
            }
            node.best = node.best.max(score);
            if score > node.alpha {
                node.alpha = score;
                self.pv_table.update(node.ply, mv);
            }
            if score >= node.beta || self.is_sufficient(node, score) {
                return;
            }
        }
    }

    /// Futility pruning. Returns an estimated upper bound on the score of a capture if the bound is
    /// below alpha.
    fn futility_bound_of_capture(&self, node: &QsNode, mv: Move) -> Option<Score> {
        let position = self.line.position();
        let bound = node.stand_pat + gain(position, mv);
        let is_futile = !node.in_check
            && self.is_enabled(Feature::QuiescenceFutility)
            && bound < node.alpha
            && !position.gives_check(mv);
        is_futile.then_some(bound)
    }

    /// Returns whether a score is sufficient to end the node. The score of a capture must exceed
    /// the stand-pat score; the score of an evasion must be at least the stand-pat score.
    fn is_sufficient(&self, node: &QsNode, score: Score) -> bool {
        let enough = if node.in_check { score >= node.stand_pat } else { score > node.stand_pat };
        enough && self.is_enabled(Feature::QuiescenceContent)
    }
}
