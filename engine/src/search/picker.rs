//! Staged move generation and move ordering.

use super::history::{Histories, QuietContext};
use super::see;
use crate::chess::{Kind, Move, MoveList, Position};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    TtMove,
    GenerateNoisy,
    GoodCaptures,
    Killers,
    GenerateQuiet,
    Quiet,
    BadCaptures,
    Done,
}

/// Generated moves with their ordering scores.
struct ScoredMoves {
    moves: MoveList,
    scores: [i32; 256],
    next: usize,
}

impl ScoredMoves {
    /// Scores all moves in the list.
    fn score_all(&mut self, mut score: impl FnMut(Move) -> i32) {
        self.next = 0;
        for (slot, &mv) in self.scores.iter_mut().zip(self.moves.iter()) {
            *slot = score(mv);
        }
    }

    /// Removes and returns the move with the highest score; `None` if no move remains.
    fn pop(&mut self) -> Option<Move> {
        let rest = self.next..self.moves.len();
        // `min_by_key` returns the first of equal elements, whereas `max_by_key` returns the last.
        // With `min_by_key`, moves with equal scores stay in the order of generation.
        let best = rest.min_by_key(|&index| -self.scores[index])?;
        self.moves.swap(best, self.next);
        self.scores.swap(best, self.next);
        self.next += 1;
        Some(self.moves[self.next - 1])
    }
}

/// Move lists of a node. Other nodes reuse the lists, because initialising new lists takes longer
/// than filling the part that is needed.
pub(super) struct MoveBuffers {
    scored: ScoredMoves,
    /// Captures that lose material; searched last, in the order in which they were found.
    bad_captures: MoveList,
    /// Moves that the node has searched.
    tried: MoveList,
}

impl MoveBuffers {
    /// Returns empty lists.
    pub(super) fn new() -> Box<MoveBuffers> {
        Box::new(MoveBuffers {
            scored: ScoredMoves { moves: MoveList::new(), scores: [0; 256], next: 0 },
            bad_captures: MoveList::new(),
            tried: MoveList::new(),
        })
    }
}

/// Iterator over the moves of a node, the most promising first. The moves of a stage are generated
/// when the stage is reached.
pub(super) struct MovePicker {
    stage: Stage,
    tt_move: Option<Move>,
    killers: [Option<Move>; 2],
    next_killer_index: usize,
    quiet_context: Option<QuietContext>,
    buffers: Box<MoveBuffers>,
    next_bad_index: usize,
    /// `true` if quiet moves are included.
    with_quiets: bool,
    /// `true` if captures that lose material are included.
    with_bad_captures: bool,
}

impl MovePicker {
    /// Returns a picker for all moves, used by nodes of the main search and by quiescence nodes in
    /// check.
    ///
    /// `tt_move` must be legal. The killers must be two different quiet moves, which may be
    /// illegal.
    pub(super) fn all(
        buffers: Box<MoveBuffers>,
        tt_move: Option<Move>,
        killers: [Option<Move>; 2],
        quiet_context: QuietContext,
    ) -> MovePicker {
        MovePicker {
            killers,
            quiet_context: Some(quiet_context),
            with_quiets: true,
            with_bad_captures: true,
            ..MovePicker::good_captures(buffers, tt_move)
        }
    }

    /// Returns a picker for `tt_move`, and for the captures and promotions that do not lose
    /// material. `tt_move` must be legal and not quiet.
    pub(super) fn good_captures(
        mut buffers: Box<MoveBuffers>,
        tt_move: Option<Move>,
    ) -> MovePicker {
        buffers.bad_captures.clear();
        buffers.tried.clear();
        MovePicker {
            stage: Stage::TtMove,
            tt_move,
            killers: [None; 2],
            next_killer_index: 0,
            quiet_context: None,
            buffers,
            next_bad_index: 0,
            with_quiets: false,
            with_bad_captures: false,
        }
    }

    /// Records that the node has searched a move.
    pub(super) fn add_tried(&mut self, mv: Move) {
        self.buffers.tried.push(mv);
    }

    /// Returns the moves that the node has searched.
    pub(super) fn searched_moves(&self) -> &[Move] {
        &self.buffers.tried
    }

    /// Returns the lists for reuse by another node.
    pub(super) fn into_buffers(self) -> Box<MoveBuffers> {
        self.buffers
    }

    /// Omits the remaining quiet moves.
    pub(super) fn skip_quiets(&mut self) {
        self.with_quiets = false;
    }

    /// Returns the next move; `None` if no move remains.
    pub(super) fn next(&mut self, position: &Position, histories: &Histories) -> Option<Move> {
        loop {
            let found = match self.stage {
                Stage::TtMove => {
                    self.stage = Stage::GenerateNoisy;
                    self.tt_move
                }
                Stage::GenerateNoisy => {
                    let scored = &mut self.buffers.scored;
                    position.fill_with_noisy_moves(&mut scored.moves);
                    scored.score_all(|mv| noisy_score(position, histories, mv));
                    self.stage = Stage::GoodCaptures;
                    None
                }
                Stage::GoodCaptures => self.next_noisy(position),
                Stage::Killers => self.next_killer(position),
                Stage::GenerateQuiet => {
                    if let Some(quiet_context) = self.quiet_context.filter(|_| self.with_quiets) {
                        let scored = &mut self.buffers.scored;
                        position.fill_with_quiet_moves(&mut scored.moves);
                        scored.score_all(histories.ordering_scores(position, &quiet_context));
                    }
                    self.stage = Stage::Quiet;
                    None
                }
                Stage::Quiet => self.next_quiet(),
                Stage::BadCaptures => self.next_bad_capture(),
                Stage::Done => return None,
            };
            if found.is_some() {
                return found;
            }
        }
    }

    fn next_noisy(&mut self, position: &Position) -> Option<Move> {
        let Some(mv) = self.buffers.scored.pop() else {
            self.stage = if self.with_quiets { Stage::Killers } else { Stage::BadCaptures };
            return None;
        };
        if Some(mv) == self.tt_move {
            return None;
        }
        if see::gains_at_least(position, mv, 0) {
            return Some(mv);
        }
        if self.with_bad_captures {
            self.buffers.bad_captures.push(mv);
        }
        None
    }

    fn next_killer(&mut self, position: &Position) -> Option<Move> {
        while let Some(slot) = self.killers.get_mut(self.next_killer_index) {
            self.next_killer_index += 1;
            // An illegal killer is removed, so that the quiet stage does not skip an equal move.
            *slot = slot.filter(|&mv| Some(mv) != self.tt_move && position.is_legal(mv));
            if slot.is_some() {
                return *slot;
            }
        }
        self.stage = Stage::GenerateQuiet;
        None
    }

    fn next_quiet(&mut self) -> Option<Move> {
        if self.with_quiets {
            while let Some(mv) = self.buffers.scored.pop() {
                if Some(mv) != self.tt_move && !self.killers.contains(&Some(mv)) {
                    return Some(mv);
                }
            }
        }
        self.stage = Stage::BadCaptures;
        None
    }

    fn next_bad_capture(&mut self) -> Option<Move> {
        let mv = self.buffers.bad_captures.get(self.next_bad_index).copied();
        self.next_bad_index += 1;
        if mv.is_none() {
            self.stage = Stage::Done;
        }
        mv
    }
}

/// Returns the ordering score of a capture or promotion: a weighted sum of the captured piece's
/// value, the gain of the promotion, and the capture history.
fn noisy_score(position: &Position, histories: &Histories, mv: Move) -> i32 {
    let victim = position.captured(mv).map_or(0, see::piece_value);
    let promoted = match mv.promotion() {
        None => 0,
        Some(Kind::Queen) => see::piece_value(Kind::Queen),
        // An underpromotion is rarely better than a promotion to a queen, so underpromotions come
        // after the other captures and promotions.
        Some(_) => -2_000,
    };
    (victim + promoted) * 32 + histories.capture_score(position, mv)
}
