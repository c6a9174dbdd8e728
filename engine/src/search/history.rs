//! Which quiet moves and captures have been good in earlier nodes.

use crate::chess::{Color, Kind, Move, Position, Square};

/// No entry exceeds this in size.
const MAX: i32 = 16_384;

/// A piece of some colour arriving on a square, 0–767.
pub(super) type Arrival = usize;

const ARRIVALS: usize = 2 * 6 * 64;

/// The arrival a move makes in the position before it.
#[inline]
pub(super) fn arrival(position: &Position, mv: Move) -> Arrival {
    let kind = position.kind_at(mv.from()).map_or(0, Kind::index);
    (position.turn().index() * 6 + kind) * 64 + mv.to().index()
}

/// Memory of good and bad moves, kept over the searches of a game.
pub struct Histories {
    /// By side, origin and destination.
    quiet: Box<[i16]>,
    /// By the arrival before and the arrival now.
    continuation: Box<[i16]>,
    /// By arrival and kind taken.
    capture: Box<[i16]>,
}

impl Histories {
    /// No memory.
    pub fn new() -> Histories {
        Histories {
            quiet: vec![0; 2 * 64 * 64].into(),
            continuation: vec![0; ARRIVALS * ARRIVALS].into(),
            capture: vec![0; ARRIVALS * 6].into(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.quiet.fill(0);
        self.continuation.fill(0);
        self.capture.fill(0);
    }

    /// How good a quiet move has been, after the moves that led here.
    #[inline]
    pub(super) fn quiet(&self, position: &Position, mv: Move, before: [Option<Arrival>; 2]) -> i32 {
        let now = arrival(position, mv);
        let mut sum = i32::from(self.quiet[butterfly(position.turn(), mv.from(), mv.to())]);
        for earlier in before.into_iter().flatten() {
            sum += i32::from(self.continuation[earlier * ARRIVALS + now]);
        }
        sum
    }

    /// How good a capture has been.
    #[inline]
    pub(super) fn capture(&self, position: &Position, mv: Move) -> i32 {
        i32::from(self.capture[capture_index(position, mv)])
    }

    /// Learns from a quiet move: `bonus` is positive if it was good.
    pub(super) fn learn_quiet(
        &mut self,
        position: &Position,
        mv: Move,
        before: [Option<Arrival>; 2],
        bonus: i32,
    ) {
        let now = arrival(position, mv);
        learn(&mut self.quiet[butterfly(position.turn(), mv.from(), mv.to())], bonus);
        for earlier in before.into_iter().flatten() {
            learn(&mut self.continuation[earlier * ARRIVALS + now], bonus);
        }
    }

    /// Learns from a capture.
    pub(super) fn learn_capture(&mut self, position: &Position, mv: Move, bonus: i32) {
        learn(&mut self.capture[capture_index(position, mv)], bonus);
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

/// Moves an entry towards ±[`MAX`], the slower the nearer it is.
#[inline]
fn learn(entry: &mut i16, bonus: i32) {
    let bonus = bonus.clamp(-MAX, MAX);
    let old = i32::from(*entry);
    *entry = (old + bonus - old * bonus.abs() / MAX) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_within_bounds() {
        let mut entry = 0i16;
        for bonus in [MAX, MAX, 3 * MAX, -1, -MAX, -MAX, -5 * MAX] {
            learn(&mut entry, bonus);
            assert!(i32::from(entry).abs() <= MAX, "{entry}");
        }
        learn(&mut entry, 1_000);
        assert!(i32::from(entry) > -MAX);
    }
}
