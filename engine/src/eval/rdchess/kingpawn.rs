//! Terms that depend only on kings and pawns, cached in a table as in RDChess. Terms for attacks on
//! the path of a pawn are in [`passed`](super::passed), because these terms depend on other pieces.

use super::root::Root;
use super::{Term, edge_distance, plain, weights};
use crate::chess::color::{Black, Side, White};
use crate::chess::{Bitboard, Color, Kind, Position, Square, attacks};
use crate::eval::pair::Pair;
use crate::eval::sink::Sink;
use crate::eval::{Score, TableUse};

/// Properties of the kings and pawns, independent of other pieces.
#[derive(Clone, Copy)]
pub(super) struct KingPawn {
    /// Passed pawns, with no enemy pawn ahead on the same or an adjacent file; White's first.
    pub(super) passed: [Bitboard; 2],
    /// Backward pawns, White's first.
    pub(super) backward: [Bitboard; 2],
    /// Shelter score of each king before scaling, White's first.
    pub(super) shelter: [Score; 2],
}

/// Number of entries in the table; a power of two.
const ENTRIES: usize = 1 << 12;

/// Key of a table entry: pawns and kings of each side, White's first.
type Placement = ([Bitboard; 2], [Square; 2]);

#[derive(Clone, Copy)]
struct Entry {
    placement: Placement,
    sum: Pair,
    found: KingPawn,
}

impl Entry {
    const UNUSED: Entry = Entry {
        // No position has pawns on every square, so no position matches this entry.
        placement: ([Bitboard::ALL; 2], [Square::new(0); 2]),
        sum: Pair::ZERO,
        found: KingPawn {
            passed: [Bitboard::EMPTY; 2],
            backward: [Bitboard::EMPTY; 2],
            shelter: [0; 2],
        },
    };
}

/// Table that caches the terms of king and pawn placements, computed with the parameters of one
/// root.
pub(super) struct KingPawnTable {
    entries: Box<[Entry]>,
    /// Numbers of lookups and hits since the table was cleared.
    pub(super) used: TableUse,
}

impl KingPawnTable {
    pub(super) fn new() -> KingPawnTable {
        let entries = vec![Entry::UNUSED; ENTRIES].into_boxed_slice();
        KingPawnTable { entries, used: TableUse::default() }
    }

    /// Clears the table. The caller must clear the table when the root parameters change, because
    /// the cached terms depend on these parameters.
    pub(super) fn clear(&mut self) {
        self.entries.fill(Entry::UNUSED);
        self.used = TableUse::default();
    }

    /// Adds the terms of kings and pawns to `sink`, and returns the properties that other terms
    /// use. A sink that needs each term bypasses the table, because the table stores only sums.
    pub(super) fn look_up<K: Sink>(
        &mut self,
        position: &Position,
        root: &Root,
        sink: &mut K,
    ) -> KingPawn {
        let board = position.board();
        let pawns = Color::ALL.map(|color| board.pieces(color, Kind::Pawn));
        let placement = (pawns, Color::ALL.map(|color| board.king(color)));
        if K::RECORDS {
            return evaluate(placement, root, sink);
        }
        let entry = &mut self.entries[slot(&placement)];
        self.used.count(entry.placement == placement);
        if entry.placement != placement {
            let mut sum = sink.new_empty();
            let found = evaluate(placement, root, &mut sum);
            *entry = Entry { placement, sum: sum.sum(), found };
        }
        sink.add_sum(entry.sum);
        entry.found
    }
}

/// Returns the table index of a placement.
fn slot((pawns, kings): &Placement) -> usize {
    // The constants are arbitrary odd numbers. The high bits of the product depend on all inputs.
    let kings = (kings[0].index() | kings[1].index() << 6) as u64;
    let mixed = pawns[0].0.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ pawns[1].0.rotate_left(32).wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
        ^ kings.wrapping_mul(0x1656_67B1_9E37_79F9);
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - ENTRIES.trailing_zeros())) as usize
}

fn evaluate<K: Sink>((pawns, kings): Placement, root: &Root, sink: &mut K) -> KingPawn {
    let [white, black] = pawns;
    let white_found = structure::<White, K>(white, black, root, sink);
    let black_found = structure::<Black, K>(black, white, root, sink);
    let found = KingPawn {
        passed: [white_found.0, black_found.0],
        backward: [white_found.1, black_found.1],
        shelter: [
            shelter(white, black, kings[0], Color::White),
            shelter(black, white, kings[1], Color::Black),
        ],
    };
    for color in Color::ALL {
        if root.endgame[color.index()] {
            endgame_king(kings[color.index()], color, &found, sink);
        }
    }
    found
}

/// Adds the terms of the pawns of `S` to `sink`, and returns the passed and the backward pawns of
/// `S`.
fn structure<S: Side, K: Sink>(
    own: Bitboard,
    enemy: Bitboard,
    root: &Root,
    sink: &mut K,
) -> (Bitboard, Bitboard) {
    let mut passed = Bitboard::EMPTY;
    let mut backward = Bitboard::EMPTY;
    for square in own {
        let square_set = Bitboard::of(square);
        let file = Bitboard::file(square.file());
        let beside = own & (file.east() | file.west());
        let ahead = square_set.forward_fill(S::COLOR);
        let half_open = (enemy & file).is_empty();
        let extra = |score: Score| if half_open { score } else { 0 };
        let advance = root.advance[S::COLOR.index()][square.index()];
        sink.add(Term::Advance, S::COLOR, plain(advance));
        if beside.is_empty() {
            let score = weights::ISOLATED + extra(weights::ISOLATED_HALF_OPEN);
            sink.add(Term::Isolated, S::COLOR, plain(score));
        } else if is_backward::<S>(square_set, beside, enemy) {
            backward |= square_set;
            let score = weights::BACKWARD + extra(weights::BACKWARD_HALF_OPEN);
            sink.add(Term::Backward, S::COLOR, plain(score));
        }
        if (own & ahead).any() {
            sink.add(Term::Doubled, S::COLOR, plain(weights::DOUBLED));
        }
        if (enemy & (ahead | ahead.east() | ahead.west())).is_empty() {
            passed |= square_set;
        }
    }
    (passed, backward)
}

/// Returns whether all friendly pawns on adjacent files are ahead of the pawn, and an enemy pawn
/// occupies or attacks the square in front of the pawn.
fn is_backward<S: Side>(square_set: Bitboard, beside: Bitboard, enemy: Bitboard) -> bool {
    let rank = Bitboard::rank(square_set.first().rank());
    let ahead = rank.forward_fill(S::COLOR);
    let stop = square_set.forward(S::COLOR);
    let guards = attacks::pawn(S::COLOR, stop.first()) | stop;
    (beside - ahead).is_empty() && (enemy & guards).any()
}

/// Returns the shelter score of a king.
fn shelter(own: Bitboard, enemy: Bitboard, king: Square, color: Color) -> Score {
    let file = Bitboard::file(king.file());
    let files = [file.west(), file, file.east()];
    let on = |rank: u8| own & Bitboard::rank(color.relative_rank(rank));
    let worth = |file: Bitboard| {
        let [second, third, some, none] = weights::SHELTER;
        match file {
            _ if (on(1) & file).any() => second,
            _ if (on(2) & file).any() => third,
            _ if ((own | enemy) & file).any() => some,
            _ => none,
        }
    };
    files.into_iter().filter(|file| file.any()).map(worth).sum()
}

/// Adds the endgame terms of a king: distances from the centre, from passed pawns and from backward
/// pawns.
fn endgame_king<K: Sink>(king: Square, color: Color, found: &KingPawn, sink: &mut K) {
    let centre = weights::KING_CENTRE * (7 - edge_distance(king));
    sink.add(Term::KingCentre, color, plain(centre));
    let steps = |square: Square| Score::from(king.distance(square));
    let mut score = 0;
    for side in Color::ALL {
        for pawn in found.passed[side.index()] {
            let stop = Bitboard::of(pawn).forward(side).first();
            score += weights::KING_TO_PASSED * steps(stop);
        }
        for pawn in found.backward[side.index()] {
            score += weights::KING_TO_BACKWARD * steps(pawn);
        }
    }
    sink.add(Term::KingPawns, color, plain(score));
}
