//! Correction history (first in Caissa, 2023): differences between search score and static
//! evaluation, indexed by properties of the position. The differences correct the static evaluation
//! of positions with the same properties.

use super::params;
use super::piece_to::{PIECE_TO_COUNT, PieceTo, apply_bonus};
use crate::chess::Position;
use crate::chess::position::GROUPS;
use crate::eval::Score;
use crate::tt::prefetch;

/// Maximum absolute value of an entry. An entry with this value changes the static evaluation by
/// the full weight of the table.
const MAX: i32 = 1_024;

/// Maximum absolute value of a single update.
const BONUS_MAX: i32 = MAX / 4;

/// Base-two logarithm of the number of entries per table and side to move.
const INDEX_BITS: u32 = 14;

/// Correction history of one thread, from the point of view of the side to move.
pub(super) struct CorrectionHistory {
    /// Entries by group of pieces, side to move, and key of the group.
    by_pieces: Box<[i16]>,
    /// Entries by the moves two plies ago and one ply ago.
    by_moves: Box<[i16]>,
}

impl CorrectionHistory {
    /// Returns a history whose entries are all 0.
    pub(super) fn new() -> CorrectionHistory {
        CorrectionHistory {
            by_pieces: vec![0; (GROUPS * 2) << INDEX_BITS].into(),
            by_moves: vec![0; PIECE_TO_COUNT * PIECE_TO_COUNT].into(),
        }
    }

    /// Sets all entries to zero.
    pub(super) fn clear(&mut self) {
        self.by_pieces.fill(0);
        self.by_moves.fill(0);
    }

    /// Returns the correction to add to the static evaluation, in centipawns. `previous` contains
    /// the moves made one, two and four plies ago.
    #[inline]
    pub(super) fn correction(&self, position: &Position, previous: [Option<PieceTo>; 3]) -> Score {
        let mut sum = 0;
        for (index, weight) in indices(position).into_iter().zip(params::correction_weights()) {
            sum += i32::from(self.by_pieces[index]) * weight;
        }
        if let Some(index) = move_pair_index(previous) {
            sum += i32::from(self.by_moves[index]) * params::correction_moves();
        }
        sum / MAX
    }

    /// Prefetches the entries for a position.
    #[inline]
    pub(super) fn prefetch(&self, position: &Position, previous: [Option<PieceTo>; 3]) {
        for index in indices(position) {
            prefetch(&self.by_pieces[index]);
        }
        if let Some(index) = move_pair_index(previous) {
            prefetch(&self.by_moves[index]);
        }
    }

    /// Updates the entries after a search to `depth` plies. `error` is the search score minus the
    /// corrected static evaluation, in centipawns.
    pub(super) fn update(
        &mut self,
        position: &Position,
        previous: [Option<PieceTo>; 3],
        error: Score,
        depth: i32,
    ) {
        let bonus = error * depth * params::correction_rate() / 8;
        let bonus = bonus.clamp(-BONUS_MAX, BONUS_MAX);
        for index in indices(position) {
            apply_bonus::<MAX>(&mut self.by_pieces[index], bonus);
        }
        if let Some(index) = move_pair_index(previous) {
            apply_bonus::<MAX>(&mut self.by_moves[index], bonus);
        }
    }
}

/// Returns the index of the entry for each group of pieces.
#[inline]
fn indices(position: &Position) -> [usize; GROUPS] {
    let turn = position.turn().index();
    let keys = position.group_keys().all();
    std::array::from_fn(|group| {
        let index = keys[group] >> (u32::BITS - INDEX_BITS);
        (group * 2 + turn) << INDEX_BITS | index as usize
    })
}

#[inline]
fn move_pair_index([last, one_before, _]: [Option<PieceTo>; 3]) -> Option<usize> {
    Some(one_before? * PIECE_TO_COUNT + last?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;

    #[test]
    fn corrections_apply_to_positions_with_shared_pieces() {
        let parse = |text| fen::parse(text).unwrap();
        let updated = parse("r1bq1rk1/pp3ppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R2Q1RK1 w - - 0 10");
        let same_pawns = parse("2rq1rk1/pp3ppp/4pn2/3p4/3P4/3BPN2/PP3PPP/R2Q1RK1 w - - 0 12");
        let unlike = parse("4r1k1/1p3p2/8/8/8/5N2/P5P1/R5K1 w - - 0 30");
        let other_side = parse("2rq1rk1/pp3ppp/4pn2/3p4/3P4/3BPN2/PP3PPP/R2Q1RK1 b - - 0 12");
        let mut history = CorrectionHistory::new();
        for _ in 0..8 {
            history.update(&updated, [Some(3), Some(700), None], 40, 6);
        }
        let with_moves = history.correction(&updated, [Some(3), Some(700), None]);
        let without_moves = history.correction(&updated, [None, Some(700), None]);
        let pawns = history.correction(&same_pawns, [None; 3]);
        assert!(
            with_moves > without_moves && without_moves > pawns && pawns > 0,
            "{with_moves} {pawns}"
        );
        assert_eq!(history.correction(&unlike, [None; 3]), 0);
        assert_eq!(history.correction(&other_side, [None; 3]), 0);
        history.clear();
        assert_eq!(history.correction(&updated, [Some(3), Some(700), None]), 0);
    }

    #[test]
    fn corrections_do_not_exceed_their_weights() {
        let position = Position::startpos();
        let most = params::correction_weights().iter().sum::<i32>() + params::correction_moves();
        let mut history = CorrectionHistory::new();
        for error in [30_000, -30_000] {
            for _ in 0..100 {
                history.update(&position, [Some(0), Some(767), None], error, 100);
            }
            let correction = history.correction(&position, [Some(0), Some(767), None]);
            assert!((most - 5..=most).contains(&correction.abs()), "{correction}");
            assert_eq!(correction > 0, error > 0);
        }
    }
}
