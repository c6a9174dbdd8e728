//! Terms that depend only on kings and pawns: pawn structure, piece-square values of kings and
//! pawns, and king shelter. A table caches these terms.

use super::layout as at;
use super::side_info::turn;
use super::{Term, add_weight, add_weights};
use crate::chess::color::{Black, Side, White};
use crate::chess::{Bitboard, Color, Kind, Position, Square};
use crate::eval::pair::Pair;
use crate::eval::sink::Sink;

/// Properties of a placement of kings and pawns, for use by other terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KingPawn {
    /// Passed pawns of both sides. Of two friendly pawns on a file, only the front pawn can be
    /// passed.
    pub(super) passed: Bitboard,
    /// Number of bare files at each king, White's king first. Among the three files at a king, a
    /// file is bare if no friendly pawn is on or ahead of the king's rank.
    pub(super) bare: [u8; 2],
    /// Number of stormed files at each king, White's king first. Among the three files at a king, a
    /// file is stormed if an enemy pawn is near and on or ahead of the king's rank.
    pub(super) storming: [u8; 2],
}

/// Number of entries in the table; a power of two.
const ENTRIES: usize = 1 << ENTRIES_LOG2;

const ENTRIES_LOG2: u32 = 12;

/// Maximum rank index, from the point of view of the king's side, at which an enemy pawn counts as
/// near.
const NEAR: u8 = 3;

/// Squares of the pawns and kings, White's first.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Placement {
    pawns: [Bitboard; 2],
    kings: [Square; 2],
}

impl Placement {
    #[inline(always)]
    fn of(position: &Position) -> Placement {
        let board = position.board();
        Placement {
            pawns: Color::ALL.map(|color| board.pieces(color, Kind::Pawn)),
            kings: Color::ALL.map(|color| board.king(color)),
        }
    }

    /// Returns the table index of the placement. The factors are arbitrary odd numbers.
    #[inline(always)]
    fn slot(&self) -> usize {
        let kings = self.kings[0].index() << 6 | self.kings[1].index();
        let white = self.pawns[0].0.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let black = self.pawns[1].0.wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        let mixed =
            (white ^ black.rotate_left(32) ^ kings as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed >> (64 - ENTRIES_LOG2)) as usize
    }
}

#[derive(Clone, Copy)]
struct Entry {
    placement: Placement,
    sum: Pair,
    found: KingPawn,
}

impl Entry {
    const UNUSED: Entry = Entry {
        // No position has both kings on one square, so no position matches this entry.
        placement: Placement { pawns: [Bitboard::EMPTY; 2], kings: [Square::new(0); 2] },
        sum: Pair::ZERO,
        found: KingPawn { passed: Bitboard::EMPTY, bare: [0; 2], storming: [0; 2] },
    };
}

/// Table that caches the terms of king and pawn placements, for one set of enabled features.
pub(super) struct KingPawnTable(Box<[Entry; ENTRIES]>);

impl KingPawnTable {
    /// Returns an empty table.
    pub(super) fn new() -> KingPawnTable {
        let entries = vec![Entry::UNUSED; ENTRIES].into_boxed_slice();
        KingPawnTable(entries.try_into().unwrap_or_else(|_| unreachable!("the length is ENTRIES")))
    }

    /// Adds the terms of kings and pawns to `sink`, and returns the properties that other terms
    /// use. A sink that needs each term bypasses the table, because the table stores only sums.
    #[inline(always)]
    pub(super) fn look_up<K: Sink>(&mut self, position: &Position, sink: &mut K) -> KingPawn {
        let placement = Placement::of(position);
        if K::RECORDS {
            return evaluate_terms(&placement, sink);
        }
        let entry = &mut self.0[placement.slot()];
        if entry.placement != placement {
            let mut sum = sink.new_empty();
            let found = evaluate_terms(&placement, &mut sum);
            *entry = Entry { placement, sum: sum.sum(), found };
        }
        sink.add_sum(entry.sum);
        entry.found
    }
}

/// Computes the terms of kings and pawns without the table. The function is not inlined, because
/// most positions are found in the table.
#[inline(never)]
fn evaluate_terms<K: Sink>(placement: &Placement, sink: &mut K) -> KingPawn {
    let passed = pawns::<White, K>(placement, sink) | pawns::<Black, K>(placement, sink);
    let white = king::<White, K>(placement, sink);
    let black = king::<Black, K>(placement, sink);
    KingPawn { passed, bare: [white.0, black.0], storming: [white.1, black.1] }
}

/// Returns the distance of a file from the edge of the board: 0 for files a and h, 3 for files d
/// and e.
#[inline]
pub(super) fn from_edge(file: u8) -> usize {
    file.min(7 - file) as usize
}

/// Adds the terms of the pawns of `S`, and returns the passed pawns of `S`.
fn pawns<S: Side, K: Sink>(placement: &Placement, sink: &mut K) -> Bitboard {
    let own = placement.pawns[S::COLOR.index()];
    let enemy = placement.pawns[(!S::COLOR).index()];
    let guarded = own.pawn_attacks::<S>();
    let turn = turn::<S>(placement.kings[S::COLOR.index()]);
    let mut passed = Bitboard::EMPTY;
    add_weights(sink, Term::Material, S::COLOR, at::MATERIAL, own.len() as i32);
    for square in own {
        let square_set = Bitboard::of(square);
        let rank = square.relative(S::COLOR).rank() as usize;
        let ahead = square_set.forward_fill(S::COLOR);
        let beside_ahead = ahead.east() | ahead.west();
        let is_open = (enemy & ahead).is_empty();
        let is_supported = guarded.contains(square);
        let is_phalanx = (own & (square_set.east() | square_set.west())).any();
        add_weight(sink, Term::Squares, S::COLOR, at::pawn_place(square.index() ^ turn as usize));
        if is_supported {
            add_weight(sink, Term::Connected, S::COLOR, at::SUPPORTED + rank);
        }
        if is_phalanx {
            add_weight(sink, Term::Connected, S::COLOR, at::PHALANX + rank);
        }
        if !is_supported && !is_phalanx {
            weakness::<S, K>(square, own, enemy, sink);
        }
        if (own & ahead).any() {
            add_weight(sink, Term::Doubled, S::COLOR, at::DOUBLED + from_edge(square.file()));
        } else if (enemy & (ahead | beside_ahead)).is_empty() {
            passed |= square_set;
        } else if is_open {
            let file = Bitboard::file(square.file());
            let helpers = own & ((file.east() | file.west()) - beside_ahead);
            if helpers.len() >= (enemy & beside_ahead).len() {
                add_weight(sink, Term::Candidate, S::COLOR, at::CANDIDATE + rank);
            }
        }
    }
    passed
}

/// Adds the terms for an isolated or backward pawn. The pawn must be neither supported nor in a
/// phalanx.
fn weakness<S: Side, K: Sink>(square: Square, own: Bitboard, enemy: Bitboard, sink: &mut K) {
    let square_set = Bitboard::of(square);
    let file = Bitboard::file(square.file());
    let neighbours = own & (file.east() | file.west());
    let ahead = square_set.forward_fill(S::COLOR);
    let is_open = (enemy & ahead).is_empty();
    if neighbours.is_empty() {
        add_weight(sink, Term::Isolated, S::COLOR, at::ISOLATED + from_edge(square.file()));
        if is_open {
            add_weight(sink, Term::Isolated, S::COLOR, at::ISOLATED_OPEN);
        }
        return;
    }
    let helpers = neighbours - (ahead.east() | ahead.west());
    let next_is_attacked =
        (enemy.pawn_attacks::<S::Opponent>() & square_set.forward(S::COLOR)).any();
    if helpers.is_empty() && next_is_attacked {
        let rank = square.relative(S::COLOR).rank() as usize;
        add_weight(sink, Term::Backward, S::COLOR, at::BACKWARD + rank);
        if is_open {
            add_weight(sink, Term::Backward, S::COLOR, at::BACKWARD_OPEN);
        }
    }
}

/// Adds the terms of the king of `S`: square, pawn shelter and enemy pawn storm. Returns the
/// numbers of bare files and of stormed files; see [`KingPawn`].
fn king<S: Side, K: Sink>(placement: &Placement, sink: &mut K) -> (u8, u8) {
    let own = placement.pawns[S::COLOR.index()];
    let enemy = placement.pawns[(!S::COLOR).index()];
    let king = placement.kings[S::COLOR.index()];
    let relative_square = king.index() ^ turn::<S>(king) as usize;
    add_weight(sink, Term::Squares, S::COLOR, at::king_place(relative_square));
    let rank = Bitboard::rank(king.rank());
    let not_behind = rank | rank.forward_fill(S::COLOR);
    let centre = king.file().clamp(1, 6);
    let mut bare = 0;
    let mut storming = 0;
    for file in centre - 1..=centre + 1 {
        let before = Bitboard::file(file) & not_behind;
        let shield = nearest::<S>(own & before);
        let stormer = nearest::<S>(enemy & before);
        let place = from_edge(file) * 8;
        add_weight(sink, Term::Shield, S::COLOR, at::SHELTER + place + shield as usize);
        if shield > 0 && stormer == shield + 1 {
            add_weight(sink, Term::Shield, S::COLOR, at::STORM_BLOCKED + stormer as usize);
        } else {
            add_weight(sink, Term::Shield, S::COLOR, at::STORM + place + stormer as usize);
        }
        bare += u8::from(shield == 0);
        storming += u8::from((1..=NEAR).contains(&stormer));
    }
    (bare, storming)
}

/// Returns the rank index, from the point of view of `S`, of the pawn nearest to the first rank of
/// `S`; 0 if `pawns` is empty.
fn nearest<S: Side>(pawns: Bitboard) -> u8 {
    if pawns.is_empty() {
        return 0;
    }
    let first = match S::COLOR {
        Color::White => pawns.first(),
        Color::Black => pawns.last(),
    };
    first.relative(S::COLOR).rank()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::eval::sink::Sum;

    fn king_pawn(text: &str) -> KingPawn {
        let placement = Placement::of(&fen::parse(text).unwrap());
        evaluate_terms(&placement, &mut Sum::default())
    }

    #[test]
    fn passed_pawns_are_found() {
        let board = |text| king_pawn(text).passed;
        let set = |names: &[&str]| {
            names
                .iter()
                .fold(Bitboard::EMPTY, |set, name| set | Bitboard::of(Square::parse(name).unwrap()))
        };
        // Neither the rear pawn of doubled pawns nor a pawn that enemy pawns can stop is passed.
        assert_eq!(board("4k3/1p5p/8/2P5/P6P/P7/4p3/4K3 w - - 0 1"), set(&["e2"]));
        assert_eq!(board("4k3/8/8/2P5/P6p/P7/8/4K3 w - - 0 1"), set(&["a4", "c5", "h4"]));
    }

    #[test]
    fn shelter_is_counted() {
        let both = king_pawn("6k1/5ppp/8/8/6p1/8/5P1P/6K1 w - - 0 1");
        assert_eq!((both.bare, both.storming), ([1, 0], [1, 0]));
        let none = king_pawn("k7/8/8/8/8/8/PPP5/6K1 w - - 0 1");
        assert_eq!((none.bare, none.storming), ([3, 3], [0, 0]));
    }

    #[test]
    fn the_table_returns_stored_entries() {
        let mut table = KingPawnTable::new();
        for text in [fen::STARTPOS, "4k3/1p5p/8/2P5/P6P/P7/4p3/4K3 w - - 0 1"] {
            let position = fen::parse(text).unwrap();
            let (mut first, mut again) = (Sum::default(), Sum::default());
            assert_eq!(table.look_up(&position, &mut first), king_pawn(text));
            assert_eq!(table.look_up(&position, &mut again), king_pawn(text));
            assert_eq!(first.sum(), again.sum());
        }
    }
}
