//! Captures until the position is quiet, and answers to checks.

use super::node::material;
use super::order::{Next, Order, gain};
use super::{Feature, Search};
use crate::chess::Move;
use crate::eval::score::{DRAW, INFINITE, mated_in};
use crate::eval::{Evaluator, Score};
use crate::search::tt_score::tt_cutoff;

/// Most that a position may be worth beside material.
const POSITIONAL_MAX: Score = 250;

/// A quiescence node under way.
struct Leaf {
    ply: usize,
    in_check: bool,
    alpha: Score,
    beta: Score,
    /// What the side to move has without doing anything.
    standing: Score,
    best: Score,
    count: usize,
}

impl<E: Evaluator> Search<'_, E> {
    /// The score of the current position when things have calmed down. Nothing is stored.
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
        let entry = if self.keeps(Feature::QuiescenceHash) { self.look_up(key) } else { None };
        if let Some(score) = entry.and_then(|entry| tt_cutoff(&entry, ply, alpha, beta)) {
            return score;
        }
        let in_check = self.line.position().in_check() && self.keeps(Feature::QuiescenceChecks);
        let standing = self.standing(alpha, beta);
        let best = if in_check { -INFINITE } else { standing };
        if best >= beta {
            return best;
        }
        let alpha = alpha.max(best);
        let mut leaf = Leaf { ply, in_check, alpha, beta, standing, best, count: 0 };
        self.calm(&mut leaf, last);
        if in_check && leaf.count == 0 {
            return mated_in(ply);
        }
        leaf.best
    }

    /// The static evaluation, or a bound on it where material alone decides.
    fn standing(&mut self, alpha: Score, beta: Score) -> Score {
        if self.keeps(Feature::QuiescenceLazy) {
            let material = material(self.line.position());
            if material - POSITIONAL_MAX >= beta {
                return material - POSITIONAL_MAX;
            }
            if material + POSITIONAL_MAX <= alpha {
                return material + POSITIONAL_MAX;
            }
        }
        self.line.evaluate()
    }

    fn calm(&mut self, leaf: &mut Leaf, last: Option<Move>) {
        let hints = self.hints(last, None, leaf.ply);
        let mut order = if leaf.in_check {
            Order::all(hints)
        } else {
            Order::captures(hints, self.line.position())
        };
        while let Some(next) = order.next(self.line.position()) {
            let Next::Move(mv) = next else { continue };
            leaf.count += 1;
            if self.is_too_little(leaf, mv) {
                continue;
            }
            self.limiter.nodes += 1;
            self.line.make(mv);
            let score = -self.quiescence(-leaf.beta, -leaf.alpha, Some(mv));
            self.line.unmake();
            if self.limiter.stopped {
                return;
            }
            leaf.best = leaf.best.max(score);
            if score > leaf.alpha {
                leaf.alpha = score;
                self.pv_table.update(leaf.ply, mv);
            }
            if score >= leaf.beta || self.is_content(leaf, score) {
                return;
            }
        }
    }

    /// Can the capture not bring the score to alpha?
    fn is_too_little(&self, leaf: &Leaf, mv: Move) -> bool {
        let position = self.line.position();
        !leaf.in_check
            && self.keeps(Feature::QuiescenceFutility)
            && leaf.standing + gain(position, mv) < leaf.alpha
            && !position.gives_check(mv)
    }

    /// Is the score good enough to look no further? A capture has to better the static score, an
    /// answer to a check to reach it.
    fn is_content(&self, leaf: &Leaf, score: Score) -> bool {
        let enough = if leaf.in_check { score >= leaf.standing } else { score > leaf.standing };
        enough && self.keeps(Feature::QuiescenceContent)
    }
}
