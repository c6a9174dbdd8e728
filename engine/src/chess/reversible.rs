//! Reversible moves, found by the change of the position key. The search uses these moves to detect
//! that a legal move would repeat a position.
//!
//! The method, which stores the key changes by cuckoo hashing, is by Marcel van Kervinck; the code
//! follows `Position::has_game_cycle` in Stockfish 10.

#![expect(clippy::disallowed_types, reason = "a table of the rules, too large for const")]

use std::sync::OnceLock;

use super::attacks;
use super::bitboard::Bitboard;
use super::color::Color;
use super::piece::Kind;
use super::square::Square;
use super::zobrist;

/// Number of slots in the table; 3,668 slots are used.
const SLOTS: usize = 8_192;

/// Key change (0 in a free slot), and the origin and destination of the move in either order.
type Slot = (u64, [Square; 2]);

/// Returns the two slots that may contain a key change.
fn places(change: u64) -> [usize; 2] {
    [change as usize % SLOTS, (change >> 16) as usize % SLOTS]
}

fn table() -> &'static [Slot] {
    static TABLE: OnceLock<Box<[Slot]>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = vec![(0, [Square::new(0); 2]); SLOTS];
        for (color, kind) in
            Color::ALL.into_iter().flat_map(|color| Kind::ALL.map(|kind| (color, kind)))
        {
            for from in Bitboard::ALL {
                for to in reach(kind, from).filter(|to| from.index() < to.index()) {
                    let [start, end] =
                        [from, to].map(|square| zobrist::placement(color, kind, square));
                    insert(&mut table, (start ^ end ^ zobrist::black_to_move(), [from, to]));
                }
            }
        }
        table.into()
    })
}

/// Returns the destinations of reversible moves from a square on an empty board; the empty set for
/// pawns.
fn reach(kind: Kind, from: Square) -> Bitboard {
    match kind {
        Kind::Pawn => Bitboard::EMPTY,
        Kind::Knight => attacks::knight(from),
        Kind::Bishop => attacks::bishop(from, Bitboard::EMPTY),
        Kind::Rook => attacks::rook(from, Bitboard::EMPTY),
        Kind::Queen => attacks::queen(from, Bitboard::EMPTY),
        Kind::King => attacks::king(from),
    }
}

/// Stores an entry in the first of its two slots. Each displaced entry moves to the other of its
/// two slots.
fn insert(table: &mut [Slot], mut slot: Slot) {
    let [mut place, _] = places(slot.0);
    loop {
        std::mem::swap(&mut table[place], &mut slot);
        if slot.0 == 0 {
            return;
        }
        let [first, second] = places(slot.0);
        place = if place == first { second } else { first };
    }
}

/// Returns the origin and destination, in either order, of the reversible move that causes the key
/// change `change`; `None` if no reversible move does.
#[inline]
pub(crate) fn squares(change: u64) -> Option<[Square; 2]> {
    let table = table();
    places(change)
        .into_iter()
        .map(|place| table[place])
        .find(|slot| slot.0 == change)
        .map(|slot| slot.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_reversible_moves_are_found() {
        assert_eq!(table().iter().filter(|slot| slot.0 != 0).count(), 3_668);
        for slot in table().iter().filter(|slot| slot.0 != 0) {
            assert_eq!(squares(slot.0), Some(slot.1));
            assert_eq!(squares(slot.0 ^ zobrist::black_to_move()), None);
        }
    }
}
