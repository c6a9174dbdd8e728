//! Captures and promotions until the position is quiet enough for a static evaluation.

use super::Searcher;
use super::alphabeta::{NodeKind, decisive, sharpened};
use super::picker::Picker;
use super::see;
use crate::chess::Move;
use crate::eval::score::{DRAW, EVALUATION_MAX, INFINITE, mated_in};
use crate::eval::{Evaluator, Score};
use crate::tt::{Bound, Entry};

/// What a capture may bring beyond the piece taken, in centipawns.
const CAPTURE_MARGIN: Score = 170;

/// What the choice of moves in a quiescence node depends on.
struct Leaf {
    ply: usize,
    in_check: bool,
    table: Option<Move>,
    /// Captures that bring the score no further than alpha when added to this are not tried.
    hopeless: Score,
}

impl<E: Evaluator> Searcher<'_, E> {
    /// Searches noisy moves only, or all moves in check.
    pub(super) fn quiescence<N: NodeKind>(&mut self, alpha: Score, beta: Score) -> Score {
        let ply = self.line.ply();
        self.lines.clear(ply);
        if self.brake.out_of_budget() {
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
        let leaf = Leaf {
            ply,
            in_check,
            table,
            hopeless: evaluation.map_or(-INFINITE, |score| score + CAPTURE_MARGIN),
        };
        let open = alpha.max(best);
        let mut best_move = None;
        self.exchanges::<N>(&leaf, open, beta, &mut best, &mut best_move);
        if self.brake.stopped {
            return DRAW;
        }
        if best == -INFINITE {
            // In check and nothing was possible.
            return mated_in(ply);
        }
        let bound = match best_move {
            _ if best >= beta => Bound::Lower,
            Some(_) if best > alpha => Bound::Exact,
            _ => Bound::Upper,
        };
        let evaluation = evaluation.filter(|_| E::CONTEXT.is_none());
        let score = Entry::score_from(best, ply);
        self.table.store(key, Entry { mv: best_move, score, evaluation, depth: 0, bound });
        best
    }

    /// Tries the moves that matter, raising `best` and `best_move`.
    fn exchanges<N: NodeKind>(
        &mut self,
        leaf: &Leaf,
        mut alpha: Score,
        beta: Score,
        best: &mut Score,
        best_move: &mut Option<Move>,
    ) {
        let mut picker = if leaf.in_check {
            Picker::all(leaf.table, [None; 2], self.before(leaf.ply))
        } else {
            Picker::winning(leaf.table)
        };
        while let Some(mv) = picker.next(self.line.position(), self.histories) {
            if !leaf.in_check && !mv.is_promotion() {
                let victim = self.line.position().captured(mv).map_or(0, see::price);
                if leaf.hopeless + victim <= alpha {
                    *best = (*best).max(leaf.hopeless + victim);
                    continue;
                }
            }
            if leaf.in_check && *best > -EVALUATION_MAX && mv.is_quiet() {
                // One way out of check is enough; the others would go on for ever.
                picker.skip_quiets();
                continue;
            }
            self.make(mv);
            let score = -self.quiescence::<N>(-beta, -alpha);
            self.line.unmake();
            if self.brake.stopped {
                return;
            }
            if score <= *best {
                continue;
            }
            *best = score;
            if score > alpha {
                *best_move = Some(mv);
                alpha = score;
                if N::OPEN {
                    self.lines.extend(leaf.ply, mv);
                }
                if score >= beta {
                    return;
                }
            }
        }
    }
}
