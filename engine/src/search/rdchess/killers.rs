//! Killer moves: quiet moves that caused cutoffs at the same ply, each with its number of cutoffs.

use crate::chess::Move;
use crate::eval::score::MAX_PLY;

/// Two killer moves per ply, each with its number of cutoffs.
pub(super) struct Killers(Vec<[(Option<Move>, u32); 2]>);

impl Killers {
    pub(super) fn new() -> Killers {
        Killers(vec![[(None, 0); 2]; MAX_PLY + 1])
    }

    /// Returns the killer moves of a ply. The move with more cutoffs comes first.
    pub(super) fn at(&self, ply: usize) -> [Option<Move>; 2] {
        let [first, second] = self.0[ply];
        if first.1 >= second.1 { [first.0, second.0] } else { [second.0, first.0] }
    }

    /// Records a cutoff by a quiet move. Increments the count of the move, or replaces the killer
    /// move with fewer cutoffs.
    pub(super) fn record(&mut self, ply: usize, mv: Move) {
        let slots = &mut self.0[ply];
        if let Some(slot) = slots.iter_mut().find(|slot| slot.0 == Some(mv)) {
            slot.1 += 1;
        } else {
            let less = usize::from(slots[1].1 < slots[0].1);
            slots[less] = (Some(mv), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;

    #[test]
    fn the_less_used_killer_is_replaced() {
        let moves = Position::startpos().legal_moves();
        let (a, b, c) = (moves[0], moves[1], moves[2]);
        let mut killers = Killers::new();
        killers.record(3, a);
        killers.record(3, b);
        killers.record(3, b);
        assert_eq!(killers.at(3), [Some(b), Some(a)]);
        killers.record(3, c);
        assert_eq!(killers.at(3), [Some(b), Some(c)]);
        assert_eq!(killers.at(2), [None, None]);
    }
}
