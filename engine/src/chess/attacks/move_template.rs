//! Templates for the moves of one piece or of several pawns, and functions that write these moves.

use crate::chess::bitboard::Bitboard;
use crate::chess::moves::{BATCH_MAX, Move, MoveKind};
use crate::chess::square::Square;

/// A template for the moves of one piece, or of pawns that all move by the same step.
#[derive(Clone, Copy)]
pub struct MoveTemplate {
    origin: Origin,
    /// Kind of the moves to squares outside `taken`.
    quiet: MoveKind,
    /// Kind of the moves to squares in `taken`.
    capture: MoveKind,
    /// Squares of enemy pieces.
    pub(super) taken: Bitboard,
}

/// Origin of the moves.
#[derive(Clone, Copy)]
enum Origin {
    /// All moves start from one square.
    Square(Square),
    /// The origin of each move is the destination minus this number of square indices.
    Behind(i8),
}

/// Encoded origin and destination of moves from a1, by destination.
static DESTINATIONS: [u16; 64] = square_bits(None);

/// Encoded origin and destination of pawn moves, by step (-16 to 16) and destination.
static STEPS: [[u16; 64]; 33] = by_step();

const A1: Square = Square::new(0);

impl MoveTemplate {
    /// Returns a template for moves of a piece from one square.
    #[inline(always)]
    pub fn of_piece(from: Square, taken: Bitboard) -> MoveTemplate {
        let (quiet, capture) = (MoveKind::Quiet, MoveKind::Capture);
        MoveTemplate { origin: Origin::Square(from), quiet, capture, taken }
    }

    /// Returns a template for pawn moves of one kind, all by `step` square indices.
    #[inline(always)]
    pub fn of_pawns(step: i8, kind: MoveKind) -> MoveTemplate {
        let origin = Origin::Behind(step);
        MoveTemplate { origin, quiet: kind, capture: kind, taken: Bitboard::EMPTY }
    }

    /// Returns the move to a square.
    #[inline(always)]
    fn to(self, square: Square) -> Move {
        let from = match self.origin {
            Origin::Square(from) => from,
            Origin::Behind(step) => square.offset(-step),
        };
        let kind = if self.taken.contains(square) { self.capture } else { self.quiet };
        Move::new(from, square, kind)
    }

    /// Writes to `out` the moves whose destinations are in `targets`, in ascending order of
    /// destination. The moves are written four at a time: most pieces have so few moves that the
    /// CPU could not predict the end of a loop over single moves.
    #[inline(always)]
    pub(super) fn write(self, targets: Bitboard, out: &mut [Move; BATCH_MAX]) {
        let mut rest = targets;
        for four in out.as_chunks_mut::<4>().0 {
            if rest.is_empty() {
                break;
            }
            for place in four {
                *place = self.to(rest.first());
                rest = rest.without_first();
            }
        }
    }

    /// Returns the variable part of the move encoding, by destination.
    #[inline(always)]
    pub(super) fn square_bits(self) -> &'static [u16; 64] {
        match self.origin {
            Origin::Square(_) => &DESTINATIONS,
            Origin::Behind(step) => &STEPS[(step + 16) as usize],
        }
    }

    /// Returns the common part of the move encoding, for quiet moves and for captures.
    #[inline(always)]
    pub(super) fn base_moves(self) -> [Move; 2] {
        let from = match self.origin {
            Origin::Square(from) => from,
            Origin::Behind(_) => A1,
        };
        [self.quiet, self.capture].map(|kind| Move::new(from, A1, kind))
    }
}

/// Returns the encoded origin and destination of each move, indexed by destination. The moves are
/// pawn moves by `step`, or moves from a1 if `step` is `None`.
const fn square_bits(step: Option<i8>) -> [u16; 64] {
    let mut square_bits = [0; 64];
    let mut to = 0;
    while to < 64 {
        let from = match step {
            Some(step) => Square::new((to as i8).wrapping_sub(step) as u8),
            None => A1,
        };
        square_bits[to as usize] = Move::squares(from, Square::new(to));
        to += 1;
    }
    square_bits
}

const fn by_step() -> [[u16; 64]; 33] {
    let mut table = [[0; 64]; 33];
    let mut index = 0;
    while index < 33 {
        table[index] = square_bits(Some(index as i8 - 16));
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::attacks::{Cpu, Job, Level, Machine};

    struct Write {
        template: MoveTemplate,
        targets: Bitboard,
    }

    impl Job for Write {
        type Output = Vec<Move>;

        fn run<C: Cpu>(self, cpu: C) -> Vec<Move> {
            let mut out = [Move::new(A1, A1, MoveKind::Castle); BATCH_MAX];
            cpu.write_moves(self.template, self.targets, &mut out);
            out[..self.targets.len() as usize].to_vec()
        }
    }

    #[test]
    fn every_machine_writes_the_same_moves() {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..500 {
            let taken = Bitboard(random() & random());
            let few = Bitboard(random() & random() & random());
            let from = Square::new(random() as u8 & 63);
            let kinds = |to| if taken.contains(to) { MoveKind::Capture } else { MoveKind::Quiet };
            let piece: Vec<Move> = few.map(|to| Move::new(from, to, kinds(to))).collect();
            let east: Vec<Move> =
                few.map(|to| Move::new(to.offset(-9), to, MoveKind::Capture)).collect();
            for machine in Level::ALL.into_iter().filter_map(Machine::at) {
                let write = |template| machine.run(Write { template, targets: few });
                let level = machine.level().name();
                assert_eq!(write(MoveTemplate::of_piece(from, taken)), piece, "{level}");
                assert_eq!(write(MoveTemplate::of_pawns(9, MoveKind::Capture)), east, "{level}");
            }
        }
    }
}
