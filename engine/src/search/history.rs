//! Which quiet moves and captures have been good in earlier nodes.

use super::correction::{Corrections, hash};
use super::parts;
use crate::chess::{Color, Kind, Move, Position, Square};

/// No entry exceeds this in size.
const MAX: i32 = 16_384;

/// Structures of pawns told apart, as a power of two; more are hardly met in one search.
const STRUCTURE_BITS: u32 = 9;

/// A piece of some colour arriving on a square, 0–767.
pub(super) type Arrival = usize;

/// How many arrivals there are.
pub(super) const ARRIVALS: usize = 2 * 6 * 64;

/// The arrival a move makes in the position before it.
#[inline]
pub(super) fn arrival(position: &Position, mv: Move) -> Arrival {
    let kind = position.kind_at(mv.from()).map_or(0, Kind::index);
    (position.turn().index() * 6 + kind) * 64 + mv.to().index()
}

/// What the way to a position and its pawns say about its moves.
#[derive(Clone, Copy)]
pub(super) struct Trail {
    /// The moves made one, two and four plies ago.
    pub(super) before: [Option<Arrival>; 3],
    /// The structure of the pawns.
    structure: usize,
}

impl Trail {
    /// The trail of a position.
    #[inline]
    pub(super) fn new(position: &Position, before: [Option<Arrival>; 3]) -> Trail {
        let board = position.board();
        let pawns = Color::ALL.map(|color| board.pieces(color, Kind::Pawn));
        Trail { before, structure: (hash(&pawns) >> (u64::BITS - STRUCTURE_BITS)) as usize }
    }
}

/// Memory of good and bad moves, kept over the searches of a game.
pub struct Histories {
    /// By side, origin and destination.
    quiet: Box<[i16]>,
    /// By the arrival before and the arrival now. Arrivals two and four plies ago are of the same
    /// side and share their entries.
    continuation: Box<[i16]>,
    /// By structure of pawns and arrival.
    structure: Box<[i16]>,
    /// By arrival and kind taken.
    capture: Box<[i16]>,
    /// Errors of the static evaluation.
    pub(super) corrections: Corrections,
}

impl Histories {
    /// No memory.
    pub fn new() -> Histories {
        Histories {
            quiet: vec![0; 2 * 64 * 64].into(),
            continuation: vec![0; ARRIVALS * ARRIVALS].into(),
            structure: vec![0; ARRIVALS << STRUCTURE_BITS].into(),
            capture: vec![0; ARRIVALS * 6].into(),
            corrections: Corrections::new(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.quiet.fill(0);
        self.continuation.fill(0);
        self.structure.fill(0);
        self.capture.fill(0);
        self.corrections.clear();
    }

    /// How promising a quiet move is beside others.
    #[inline]
    pub(super) fn promise(&self, position: &Position, mv: Move, trail: &Trail) -> i32 {
        let now = arrival(position, mv);
        let distant = trail.before[2].filter(|_| parts::distant_history());
        let distant = distant.map_or(0, |earlier| self.following(earlier, now));
        let structure = i32::from(self.structure[trail.structure * ARRIVALS + now])
            * i32::from(parts::pawn_history());
        self.quiet(position, mv, trail) + structure + distant / 2
    }

    /// How good a quiet move has been, after the moves that led here.
    #[inline]
    pub(super) fn quiet(&self, position: &Position, mv: Move, trail: &Trail) -> i32 {
        let now = arrival(position, mv);
        let mut sum = i32::from(self.quiet[butterfly(position.turn(), mv.from(), mv.to())])
            * i32::from(parts::butterfly_history());
        if !parts::continuation_history() {
            return sum;
        }
        for earlier in trail.before[..2].iter().flatten() {
            sum += self.following(*earlier, now);
        }
        sum
    }

    #[inline]
    fn following(&self, earlier: Arrival, now: Arrival) -> i32 {
        i32::from(self.continuation[earlier * ARRIVALS + now])
    }

    /// How good a capture has been.
    #[inline]
    pub(super) fn capture(&self, position: &Position, mv: Move) -> i32 {
        i32::from(self.capture[capture_index(position, mv)]) * i32::from(parts::capture_history())
    }

    /// Learns from a quiet move: `bonus` is positive if it was good.
    pub(super) fn learn_quiet(&mut self, position: &Position, mv: Move, trail: &Trail, bonus: i32) {
        let now = arrival(position, mv);
        learn::<MAX>(&mut self.structure[trail.structure * ARRIVALS + now], bonus);
        self.learn_arrival(mv, now, trail.before, bonus);
    }

    /// Learns from a quiet move that has been made already, after the moves in `before`.
    pub(super) fn learn_arrival(
        &mut self,
        mv: Move,
        now: Arrival,
        before: [Option<Arrival>; 3],
        bonus: i32,
    ) {
        self.learn_move(Color::ALL[now / (ARRIVALS / 2)], mv, bonus);
        for (earlier, share) in before.into_iter().zip([1, 1, 2]) {
            if let Some(earlier) = earlier {
                learn::<MAX>(&mut self.continuation[earlier * ARRIVALS + now], bonus / share);
            }
        }
    }

    /// Learns from a quiet move of that side, whatever led to it.
    pub(super) fn learn_move(&mut self, color: Color, mv: Move, bonus: i32) {
        learn::<MAX>(&mut self.quiet[butterfly(color, mv.from(), mv.to())], bonus);
    }

    /// Learns from a capture.
    pub(super) fn learn_capture(&mut self, position: &Position, mv: Move, bonus: i32) {
        learn::<MAX>(&mut self.capture[capture_index(position, mv)], bonus);
    }
}

impl Default for Histories {
    fn default() -> Self {
        Histories::new()
    }
}

#[inline]
fn butterfly(color: Color, from: Square, to: Square) -> usize {
    (color.index() * 64 + from.index()) * 64 + to.index()
}

#[inline]
fn capture_index(position: &Position, mv: Move) -> usize {
    arrival(position, mv) * 6 + position.captured(mv).map_or(0, Kind::index)
}

/// Moves an entry towards ±`LIMIT`, the slower the nearer it is.
#[inline]
pub(super) fn learn<const LIMIT: i32>(entry: &mut i16, bonus: i32) {
    let bonus = bonus.clamp(-LIMIT, LIMIT);
    let old = i32::from(*entry);
    *entry = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_within_bounds() {
        let mut entry = 0i16;
        for bonus in [MAX, MAX, 3 * MAX, -1, -MAX, -MAX, -5 * MAX] {
            learn::<MAX>(&mut entry, bonus);
            assert!(i32::from(entry).abs() <= MAX, "{entry}");
        }
        learn::<MAX>(&mut entry, 1_000);
        assert!(i32::from(entry) > -MAX);
    }
}
