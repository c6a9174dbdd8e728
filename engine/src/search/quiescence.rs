//! Captures and promotions until the position is quiet enough for a static evaluation.

use super::Searcher;
use super::alphabeta::{NodeKind, decisive, sharpened};
use super::picker::Picker;
use super::see;
use crate::eval::score::{DRAW, EVALUATION_MAX, INFINITE, mated_in};
use crate::eval::{Evaluator, Score};
use crate::tt::{Bound, Entry};

/// What a capture may bring beyond the piece taken, in centipawns.
const CAPTURE_MARGIN: Score = 170;

impl<E: Evaluator> Searcher<'_, E> {
    /// Searches noisy moves only, or all moves in check.
    pub(super) fn quiescence<N: NodeKind>(&mut self, mut alpha: Score, beta: Score) -> Score {
        let ply = self.line.ply();
        self.lines.clear(ply);
        if self.out_of_budget() {
            return DRAW;
        }
        if let Some(score) = self.trivial(ply) {
            return score;
        }
        let position = self.line.position();
        let key = position.key();
        let in_check = position.in_check();
        let entry = self.table.probe(key);
        if !N::OPEN
            && let Some(entry) = entry
            && let Some(score) = decisive(&entry, ply, alpha, beta)
        {
            return score;
        }
        let table = entry.and_then(|entry| entry.mv).filter(|&mv| position.is_legal(mv));
        let evaluation = if in_check { None } else { Some(self.static_evaluation(entry)) };
        let mut best = evaluation.map_or(-INFINITE, |score| sharpened(score, entry, ply));
        if best >= beta {
            return best;
        }
        let lowest = alpha;
        alpha = alpha.max(best);
        let hopeless = evaluation.map_or(-INFINITE, |score| score + CAPTURE_MARGIN);
        let mut picker = if in_check {
            Picker::all(table, [None; 2], self.before(ply))
        } else {
            Picker::winning(table)
        };
        let mut best_move = None;
        while let Some(mv) = picker.next(self.line.position(), self.histories) {
            if !in_check && !mv.is_promotion() {
                let gain = hopeless + self.line.position().captured(mv).map_or(0, see::price);
                if gain <= alpha {
                    best = best.max(gain);
                    continue;
                }
            }
            if in_check && best > -EVALUATION_MAX && mv.is_quiet() {
                picker.skip_quiets();
                continue;
            }
            self.make(mv);
            let score = -self.quiescence::<N>(-beta, -alpha);
            self.line.unmake();
            if self.stopped {
                return DRAW;
            }
            if score > best {
                best = score;
                if score > alpha {
                    best_move = Some(mv);
                    alpha = score;
                    if N::OPEN {
                        self.lines.extend(ply, mv);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        if best == -INFINITE {
            // In check and nothing was possible.
            return mated_in(ply);
        }
        let bound = match best_move {
            _ if best >= beta => Bound::Lower,
            Some(_) if best > lowest => Bound::Exact,
            _ => Bound::Upper,
        };
        let evaluation = evaluation.filter(|_| E::PATH_INDEPENDENT);
        let score = Entry::score_from(best, ply);
        self.table.store(key, Entry { mv: best_move, score, evaluation, depth: 0, bound });
        best
    }
}
