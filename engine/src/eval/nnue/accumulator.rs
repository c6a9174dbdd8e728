//! Accumulators: the sums of the hidden layer, updated incrementally.
//!
//! A move changes two to four inputs of each side. The accumulator records the change when the move
//! is made, but updates the sums only when a position is evaluated. An update starts at the latest
//! ply whose sums are current. All inputs of a side change when the side's king crosses between the
//! two halves of the board (files a to d, files e to h). The sums of this side are then computed
//! from a refresh table, which contains, for each side and each half, the latest sums with the king
//! in that half.

use super::network::{HIDDEN, Layer, Network, input, is_mirrored};
use crate::chess::position::castled_squares;
use crate::chess::{Bitboard, Color, Kind, Move, Piece, Position, Square};

/// Changes of the board by a move: pieces put on squares, and pieces taken from squares.
#[derive(Clone, Copy, Default)]
struct Change {
    put: [Option<(Piece, Square)>; 2],
    taken: [Option<(Piece, Square)>; 2],
    /// Side that makes the move, if the side's king crosses to the other half.
    crosses: Option<Color>,
}

impl Change {
    fn of(before: &Position, mv: Move) -> Change {
        let color = before.turn();
        let own = |kind: Kind, square: Square| Some((Piece { color, kind }, square));
        let kind = before.kind_at(mv.from()).expect("a legal move starts from a piece");
        let crossing = |to: Square| {
            (kind == Kind::King && is_mirrored(mv.from()) != is_mirrored(to)).then_some(color)
        };
        if mv.is_castle() {
            let (king, rook) = castled_squares(mv.from(), mv.to());
            return Change {
                put: [own(Kind::King, king), own(Kind::Rook, rook)],
                taken: [own(Kind::King, mv.from()), own(Kind::Rook, mv.to())],
                crosses: crossing(king),
            };
        }
        let captured = before.captured(mv).map(|kind| {
            let rank = if mv.is_en_passant() { mv.from().rank() } else { mv.to().rank() };
            (Piece { color: !color, kind }, Square::at(mv.to().file(), rank))
        });
        Change {
            put: [own(mv.promotion().unwrap_or(kind), mv.to()), None],
            taken: [own(kind, mv.from()), captured],
            crosses: crossing(mv.to()),
        }
    }
}

/// The sums of both sides at one ply.
#[derive(Clone)]
pub(super) struct Sums {
    pub(super) sides: [Layer; 2],
    is_current: [bool; 2],
    change: Change,
}

impl Sums {
    const EMPTY: Sums = Sums {
        sides: [Layer::ZERO; 2],
        is_current: [false; 2],
        change: Change { put: [None; 2], taken: [None; 2], crosses: None },
    };
}

/// Entry of the refresh table: the latest sums of one side with the side's king in one half, and
/// the pieces included in these sums.
#[derive(Clone)]
struct Refresh {
    layer: Layer,
    pieces: [[Bitboard; 6]; 2],
}

/// The sums of all plies, from the root to the current position.
pub(super) struct Accumulator {
    /// Sums by ply. Entries after `last` are left over from earlier lines, and are overwritten by
    /// later moves.
    plies: Vec<Sums>,
    last: usize,
    /// Refresh table, by side and half of the board.
    refresh: [[Refresh; 2]; 2],
}

impl Accumulator {
    pub(super) fn new(network: &Network) -> Accumulator {
        let empty = Refresh { layer: network.bias, pieces: [[Bitboard::EMPTY; 6]; 2] };
        let refresh = std::array::from_fn(|_| [empty.clone(), empty.clone()]);
        Accumulator { plies: vec![Sums::EMPTY], last: 0, refresh }
    }

    pub(super) fn reset(&mut self) {
        self.last = 0;
        self.plies[0] = Sums::EMPTY;
    }

    pub(super) fn push(&mut self, before: &Position, mv: Move) {
        self.push_change(Change::of(before, mv));
    }

    pub(super) fn push_null(&mut self) {
        self.push_change(Change::default());
    }

    fn push_change(&mut self, change: Change) {
        self.last += 1;
        if self.last == self.plies.len() {
            self.plies.push(Sums::EMPTY);
        }
        // Only the change is recorded, because many positions of a search are never evaluated.
        let Sums { change: now, is_current, .. } = &mut self.plies[self.last];
        *now = change;
        *is_current = [false; 2];
    }

    pub(super) fn pop(&mut self) {
        self.last -= 1;
    }

    /// Updates and returns the sums of the current position.
    #[inline(always)]
    pub(super) fn current(&mut self, network: &Network, position: &Position) -> &[Layer; 2] {
        for side in Color::ALL {
            self.update(network, position, side);
        }
        &self.plies[self.last].sides
    }

    #[inline(always)]
    fn update(&mut self, network: &Network, position: &Position, side: Color) {
        let last = self.last;
        let mirrored = is_mirrored(position.board().king(side));
        let mut from = last;
        while !self.plies[from].is_current[side.index()] {
            if from == 0 || self.plies[from].change.crosses == Some(side) {
                let layer = self.refresh(network, position, side, mirrored);
                self.plies[last].sides[side.index()] = layer;
                self.plies[last].is_current[side.index()] = true;
                return;
            }
            from -= 1;
        }
        for ply in from + 1..=last {
            let (before, after) = self.plies.split_at_mut(ply);
            let before = &before[ply - 1].sides[side.index()];
            let after = &mut after[0];
            let row = |place: Option<(Piece, Square)>| {
                let row = |(piece, square)| &network.inputs[input(side, mirrored, piece, square)];
                place.map(row)
            };
            let put = after.change.put.map(row);
            let taken = after.change.taken.map(row);
            change_layer(&mut after.sides[side.index()], before, put, taken);
            after.is_current[side.index()] = true;
        }
    }

    /// Computes the sums of one side from the side's entry in the refresh table, and updates this
    /// entry.
    #[inline(always)]
    fn refresh(
        &mut self,
        network: &Network,
        position: &Position,
        side: Color,
        mirrored: bool,
    ) -> Layer {
        let refresh = &mut self.refresh[side.index()][usize::from(mirrored)];
        for color in Color::ALL {
            for kind in Kind::ALL {
                let row =
                    |square| &network.inputs[input(side, mirrored, Piece { color, kind }, square)];
                let now = position.board().pieces(color, kind);
                let before = &mut refresh.pieces[color.index()][kind.index()];
                for square in now - *before {
                    add(&mut refresh.layer, row(square));
                }
                for square in *before - now {
                    subtract(&mut refresh.layer, row(square));
                }
                *before = now;
            }
        }
        refresh.layer
    }
}

#[inline(always)]
fn add(sums: &mut Layer, row: &Layer) {
    for (sum, weight) in sums.0.iter_mut().zip(&row.0) {
        // In wrapping arithmetic, a final sum that fits in 16 bits is exact even if an intermediate
        // sum overflows. `Network::read` rejects a network whose final sums can exceed 16 bits.
        *sum = sum.wrapping_add(*weight);
    }
}

#[inline(always)]
fn subtract(sums: &mut Layer, row: &Layer) {
    for (sum, weight) in sums.0.iter_mut().zip(&row.0) {
        *sum = sum.wrapping_sub(*weight);
    }
}

/// Computes the sums after a move from the sums before the move.
#[inline(always)]
fn change_layer(
    after: &mut Layer,
    before: &Layer,
    put: [Option<&Layer>; 2],
    taken: [Option<&Layer>; 2],
) {
    match (put, taken) {
        ([Some(put), None], [Some(taken), None]) => {
            for neuron in 0..HIDDEN {
                after.0[neuron] =
                    before.0[neuron].wrapping_add(put.0[neuron]).wrapping_sub(taken.0[neuron]);
            }
        }
        ([Some(put), None], [Some(taken), Some(captured)]) => {
            for neuron in 0..HIDDEN {
                after.0[neuron] = before.0[neuron]
                    .wrapping_add(put.0[neuron])
                    .wrapping_sub(taken.0[neuron])
                    .wrapping_sub(captured.0[neuron]);
            }
        }
        _ => {
            *after = *before;
            put.into_iter().flatten().for_each(|row| add(after, row));
            taken.into_iter().flatten().for_each(|row| subtract(after, row));
        }
    }
}
