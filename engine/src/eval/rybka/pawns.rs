//! Terms that depend only on pawns: pawn structure, passed pawns and king shelter. As in Rybka, a
//! pawn hash table caches these terms.

use super::Version;
use super::features::Term;
use super::weights::Weights;
use crate::chess::color::{Black, Side, White};
use crate::chess::{Bitboard, Color, Kind, Position};
use crate::eval::TableUse;
use crate::eval::pair::Pair;
use crate::eval::sink::Sink;

/// Properties of the pawns, independent of other pieces.
#[derive(Clone, Copy)]
pub(super) struct Pawns {
    /// Passed pawns with no friendly pawn ahead on the file; White's first.
    pub(super) passed: [Bitboard; 2],
    /// Penalties for missing shelter of each side's king on files a–c, d–f and f–h; White's first.
    pub(super) exposure: [[i16; 3]; 2],
}

/// Number of entries in the table; a power of two. An entry has 64 bytes, so the table has 256 KiB
/// and fits in a second-level cache.
const ENTRIES: usize = 1 << 12;

#[derive(Clone, Copy)]
struct Entry {
    /// Key of the entry: pawns of each side, White's first.
    pawns: [Bitboard; 2],
    sum: Pair,
    found: Pawns,
}

/// Pawn hash table, which caches the terms of pawn structures.
pub(super) struct PawnTable {
    entries: Box<[Entry]>,
    /// Numbers of lookups and hits since the last reset of the evaluator.
    pub(super) used: TableUse,
}

impl PawnTable {
    pub(super) fn new() -> PawnTable {
        let nothing = Pawns { passed: [Bitboard::EMPTY; 2], exposure: [[0; 3]; 2] };
        // No position has pawns on every square, so no position matches this entry.
        let unused = Entry { pawns: [Bitboard::ALL; 2], sum: Pair::ZERO, found: nothing };
        let entries = vec![unused; ENTRIES].into_boxed_slice();
        PawnTable { entries, used: TableUse::default() }
    }

    /// Adds the pawn terms to `sink`, and returns the properties that other terms use. A sink that
    /// needs each term bypasses the table, because the table stores only sums.
    #[inline]
    pub(super) fn look_up<V: Version, K: Sink>(
        &mut self,
        position: &Position,
        sink: &mut K,
    ) -> Pawns {
        let board = position.board();
        let pawns = Color::ALL.map(|color| board.pieces(color, Kind::Pawn));
        if K::RECORDS {
            return evaluate::<V, K>(pawns, sink);
        }
        let entry = &mut self.entries[slot(pawns)];
        self.used.count(entry.pawns == pawns);
        if entry.pawns != pawns {
            let mut sum = sink.new_empty();
            let found = evaluate::<V, K>(pawns, &mut sum);
            *entry = Entry { pawns, sum: sum.sum(), found };
        }
        sink.add_sum(entry.sum);
        entry.found
    }
}

/// Returns the table index of these pawns.
#[inline]
fn slot(pawns: [Bitboard; 2]) -> usize {
    // The constants are arbitrary odd numbers. The high bits of the product depend on every pawn.
    let mixed = pawns[0].0.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ pawns[1].0.rotate_left(32).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - ENTRIES.trailing_zeros())) as usize
}

fn evaluate<V: Version, K: Sink>(pawns: [Bitboard; 2], sink: &mut K) -> Pawns {
    let [white, black] = pawns;
    Pawns {
        passed: [
            structure::<V, White, K>(white, black, sink),
            structure::<V, Black, K>(black, white, sink),
        ],
        exposure: [
            exposure(V::WEIGHTS, white, black),
            exposure(V::WEIGHTS, mirrored(black), mirrored(white)),
        ],
    }
}

/// Returns the set with the ranks mirrored.
fn mirrored(set: Bitboard) -> Bitboard {
    Bitboard(set.0.swap_bytes())
}

/// Adds the terms of the pawns of `S` to `sink`, and returns the passed pawns of `S` with no
/// friendly pawn ahead.
fn structure<V: Version, S: Side, K: Sink>(
    own: Bitboard,
    enemy: Bitboard,
    sink: &mut K,
) -> Bitboard {
    let weights = V::WEIGHTS;
    let color = S::COLOR;
    let enemy_attacks = enemy.pawn_attacks::<S::Opponent>();
    let mut foremost = Bitboard::EMPTY;
    for square in own {
        let pawn = Bitboard::of(square);
        let rank = square.relative(color).rank() as usize;
        let sides = pawn.east() | pawn.west();
        let file = Bitboard::file(square.file());
        let ahead = pawn.forward_fill(color);
        let guards = own & (sides | sides.forward_fill(!color));
        let sentries = enemy & (ahead | ahead.east() | ahead.west());
        let open = ((own | enemy) & ahead).is_empty();
        sink.add(Term::PstPawn, color, weights.squares[0][square.relative(color).index()]);
        if (own & file) != pawn {
            sink.add(Term::PawnDoubled, color, weights.doubled);
        }
        if (own & (file.east() | file.west())).is_empty() {
            sink.add(Term::PawnIsolated, color, weights.isolated[usize::from(!open)]);
        } else if guards.is_empty() {
            let stop = pawn.forward(color);
            let escorted = (own & sides.forward(color)).any();
            let next = stop.forward(color);
            if (enemy_attacks & stop).any() || (enemy_attacks & next).any() && !escorted {
                sink.add(Term::PawnBackward, color, weights.backward[usize::from(!open)]);
            }
        }
        if sentries.is_empty() {
            if (own & ahead).is_empty() {
                foremost |= pawn;
                sink.add(Term::PassedBase, color, weights.passed[rank]);
            }
        } else if open && guards.len() >= sentries.len() {
            sink.add(Term::PawnCandidate, color, weights.candidate[rank]);
        }
    }
    foremost
}

/// Returns the penalties for missing shelter of a white king on files a–c, d–f and f–h. `own`
/// contains White's pawns.
fn exposure(weights: &Weights, own: Bitboard, enemy: Bitboard) -> [i16; 3] {
    const SECOND_TO_FIFTH: u64 = 0x01_0101_0101 & !0xFF;
    let nearest = |pawns: Bitboard, file: usize| {
        let near = pawns.0 >> file & SECOND_TO_FIFTH;
        // The last value of each array is for a file without a pawn.
        if near == 0 { 4 } else { near.trailing_zeros() as usize / 8 - 1 }
    };
    let shelter: [i32; 8] = std::array::from_fn(|file| weights.shelter[nearest(own, file)]);
    let storm: [i32; 8] = std::array::from_fn(|file| weights.storm[nearest(enemy, file)]);
    [0, 3, 5].map(|first: usize| {
        let middle = first + 1;
        let mut missing = shelter[first] + 2 * shelter[middle] + shelter[middle + 1];
        if missing == 0 {
            missing = weights.shelter_home;
        }
        (missing + storm[first..first + 3].iter().sum::<i32>()) as i16
    })
}
