//! Move histories: statistics of the success of quiet moves and captures in earlier nodes.

use super::correction::CorrectionHistory;
use super::features;
use super::piece_to::{PIECE_TO_COUNT, PieceTo, apply_bonus, piece_to};
use super::threats::{Attacks, Checks};
use crate::chess::{Color, Kind, Move, Position};

/// Maximum absolute value of an entry.
const MAX: i32 = 16_384;

/// Number of bits of the pawn key that form the index into the pawn history.
const PAWN_INDEX_BITS: u32 = 9;

/// Entries by coloured piece and destination of a move.
type Row = [i16; PIECE_TO_COUNT];

/// Quiet context: the part of the index into the quiet histories that is the same for all quiet
/// moves of a position.
#[derive(Clone, Copy, Default)]
pub(super) struct QuietContext {
    /// Moves made one, two and four plies ago.
    pub(super) previous: [Option<PieceTo>; 3],
    /// Index into the pawn history, from the pawn key.
    pawn_index: usize,
    /// Squares that the enemy attacks.
    attacks: Attacks,
}

impl QuietContext {
    /// Returns the context of a position.
    #[inline]
    pub(super) fn new(position: &Position, previous: [Option<PieceTo>; 3]) -> QuietContext {
        let pawns = position.group_keys().pawns();
        QuietContext {
            previous,
            pawn_index: (pawns >> (u32::BITS - PAWN_INDEX_BITS)) as usize,
            attacks: Attacks::of(position),
        }
    }
}

/// History tables of one thread, kept between the searches of a game.
pub(crate) struct Histories {
    /// Butterfly history: by side, by whether the enemy attacks the origin and the destination, and
    /// by origin and destination.
    quiet: Box<[[i16; 64 * 64]; 8]>,
    /// Continuation history: by an earlier move (one, two or four plies ago) and the current move.
    continuation: Box<[Row]>,
    /// Pawn history: by pawn structure and move.
    pawn: Box<[Row]>,
    /// Capture history: by move and type of the captured piece.
    capture: Box<[i16]>,
    /// Correction history.
    pub(super) correction: CorrectionHistory,
}

impl Histories {
    /// Returns histories whose entries are all 0.
    pub(crate) fn new() -> Histories {
        Histories {
            quiet: Box::new([[0; 64 * 64]; 8]),
            continuation: vec![[0; PIECE_TO_COUNT]; PIECE_TO_COUNT].into(),
            pawn: vec![[0; PIECE_TO_COUNT]; 1 << PAWN_INDEX_BITS].into(),
            capture: vec![0; PIECE_TO_COUNT * 6].into(),
            correction: CorrectionHistory::new(),
        }
    }

    /// Sets all entries to zero.
    pub(crate) fn clear(&mut self) {
        self.quiet.as_flattened_mut().fill(0);
        self.continuation.as_flattened_mut().fill(0);
        self.pawn.as_flattened_mut().fill(0);
        self.capture.fill(0);
        self.correction.clear();
    }

    /// Returns a function that scores a quiet move for move ordering. Moves with higher scores are
    /// searched first.
    #[inline]
    pub(super) fn ordering_scores(
        &self,
        position: &Position,
        context: &QuietContext,
    ) -> impl Fn(Move) -> i32 {
        let quiet = self.quiet_scores(position, context);
        let distant =
            self.continuation_row(context.previous[2].filter(|_| features::distant_history()));
        let pawn = &self.pawn[context.pawn_index];
        let checks = Checks::of(position);
        let attacks = context.attacks;
        move |mv| {
            let piece_to = piece_to(position, mv);
            let kind = Kind::ALL[piece_to / 64 % 6];
            let pawn = i32::from(pawn[piece_to]) * i32::from(features::pawn_history());
            quiet(mv)
                + pawn
                + i32::from(distant[piece_to]) / 2
                + attacks.score(kind, mv)
                + checks.score(kind, mv)
        }
    }

    /// Returns a function that scores a quiet move for pruning and reductions. The score is from
    /// the butterfly history and from the continuation history (one and two plies ago).
    #[inline]
    pub(super) fn quiet_scores(
        &self,
        position: &Position,
        context: &QuietContext,
    ) -> impl Fn(Move) -> i32 {
        let us = position.turn();
        let attacks = context.attacks;
        let row = |index: usize| {
            self.continuation_row(
                context.previous[index].filter(|_| features::continuation_history()),
            )
        };
        let (last, one_before) = (row(0), row(1));
        move |mv| {
            let piece_to = piece_to(position, mv);
            let (table, entry) = butterfly_index(us, mv, attacks);
            let butterfly = self.quiet[table][entry];
            i32::from(butterfly) * i32::from(features::butterfly_history())
                + i32::from(last[piece_to])
                + i32::from(one_before[piece_to])
        }
    }

    /// Returns the score of one quiet move; see [`quiet_scores`](Self::quiet_scores).
    #[inline]
    pub(super) fn quiet_score(&self, position: &Position, mv: Move, context: &QuietContext) -> i32 {
        self.quiet_scores(position, context)(mv)
    }

    /// Returns the entries of the continuation history after an earlier move; zeros if there is no
    /// earlier move.
    #[inline]
    fn continuation_row(&self, earlier: Option<PieceTo>) -> &Row {
        // With a row of zeros, the function that scores quiet moves need not test whether there is
        // an earlier move.
        const NONE: &Row = &[0; PIECE_TO_COUNT];
        earlier.map_or(NONE, |earlier| &self.continuation[earlier])
    }

    /// Returns the capture history score of a capture or promotion.
    #[inline]
    pub(super) fn capture_score(&self, position: &Position, mv: Move) -> i32 {
        i32::from(self.capture[capture_index(position, mv)])
            * i32::from(features::capture_history())
    }

    /// Updates all quiet histories for a quiet move. `bonus` is negative for a bad move.
    pub(super) fn update_quiet(
        &mut self,
        position: &Position,
        mv: Move,
        context: &QuietContext,
        bonus: i32,
    ) {
        let piece_to = piece_to(position, mv);
        apply_bonus::<MAX>(&mut self.pawn[context.pawn_index][piece_to], bonus);
        self.update_played_quiet(mv, piece_to, context, bonus);
    }

    /// Updates the butterfly and continuation histories for a quiet move. The function does not use
    /// the position, so the move may already have been made.
    pub(super) fn update_played_quiet(
        &mut self,
        mv: Move,
        piece_to: PieceTo,
        context: &QuietContext,
        bonus: i32,
    ) {
        self.update_butterfly(Color::ALL[piece_to / (PIECE_TO_COUNT / 2)], mv, context, bonus);
        self.update_continuation(piece_to, context.previous, bonus);
    }

    /// Updates the continuation history for a quiet move made after `previous`.
    pub(super) fn update_continuation(
        &mut self,
        piece_to: PieceTo,
        previous: [Option<PieceTo>; 3],
        bonus: i32,
    ) {
        for (earlier, share) in previous.into_iter().zip([1, 1, 2]) {
            if let Some(earlier) = earlier {
                apply_bonus::<MAX>(&mut self.continuation[earlier][piece_to], bonus / share);
            }
        }
    }

    /// Updates the butterfly history for a quiet move.
    pub(super) fn update_butterfly(
        &mut self,
        color: Color,
        mv: Move,
        context: &QuietContext,
        bonus: i32,
    ) {
        let (table, entry) = butterfly_index(color, mv, context.attacks);
        apply_bonus::<MAX>(&mut self.quiet[table][entry], bonus);
    }

    /// Updates the capture history for a capture or promotion.
    pub(super) fn update_capture(&mut self, position: &Position, mv: Move, bonus: i32) {
        apply_bonus::<MAX>(&mut self.capture[capture_index(position, mv)], bonus);
    }
}

/// Returns the indices of a move in the butterfly history: of the table, and of the entry in the
/// table.
#[inline]
fn butterfly_index(color: Color, mv: Move, attacks: Attacks) -> (usize, usize) {
    let (from, to) = (mv.from(), mv.to());
    let is_attacked = |square| usize::from(attacks.all.contains(square));
    let table = color.index() * 4 + is_attacked(from) * 2 + is_attacked(to);
    (table, from.index() * 64 + to.index())
}

#[inline]
fn capture_index(position: &Position, mv: Move) -> usize {
    piece_to(position, mv) * 6 + position.captured(mv).map_or(0, Kind::index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::chess::uci_move::{CastlingForm, parse};

    #[test]
    fn entries_stay_within_bounds() {
        let mut entry = 0i16;
        for bonus in [MAX, MAX, 3 * MAX, -1, -MAX, -MAX, -5 * MAX] {
            apply_bonus::<MAX>(&mut entry, bonus);
            assert!(i32::from(entry).abs() <= MAX, "{entry}");
        }
        apply_bonus::<MAX>(&mut entry, 1_000);
        assert!(i32::from(entry) > -MAX);
    }

    #[test]
    fn history_distinguishes_moves_from_and_to_attacked_squares() {
        // The black rooks attack neither b1 nor c3, only b1, only c3, or both squares of the move
        // b1c3.
        let placements = ["7r/8", "1r6/8", "2r5/8", "1r6/2r5"];
        let contexts = placements.map(|rooks| {
            let text = format!("4k3/{rooks}/8/8/8/8/1N4K1 w - - 0 1");
            let position = fen::parse(&text).unwrap();
            (position, QuietContext::new(&position, [None; 3]))
        });
        let mv = parse("b1c3", &contexts[0].0, CastlingForm::KingTo).unwrap();
        let mut histories = Histories::new();
        for learnt in 0..contexts.len() {
            histories.clear();
            let (position, context) = &contexts[learnt];
            histories.update_quiet(position, mv, context, 500);
            for (index, (position, context)) in contexts.iter().enumerate() {
                let score = histories.quiet_score(position, mv, context);
                assert_eq!(score != 0, index == learnt, "{learnt} {index}");
            }
        }
    }
}
