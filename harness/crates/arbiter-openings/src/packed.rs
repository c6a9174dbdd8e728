//! Packed openings: about 30 bytes per position, whereas an [`Opening`] takes 200 bytes. A book may
//! have hundreds of thousands of openings, but a run needs only one unpacked opening at a time.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use shakmaty::packed::{PackedSetup, PackedUciMove};
use shakmaty::{CastlingMode, fen::Fen};

use super::Opening;

/// Number of openings between two stored offsets. An offset for every opening would add 8 bytes to
/// the 30 bytes of an opening.
const STRIDE: usize = 16;

/// Bits in the first byte of an entry that contain the length, in bytes, of the packed position.
const LENGTH: u8 = 0x3f;

/// Flag in the first byte of an entry: moves follow the position.
const HAS_MOVES: u8 = 0x40;

/// Flag in the first byte of an entry: the opening has the castling mode of Chess960.
const IS_CHESS960: u8 = 0x80;

/// List of packed openings, stored consecutively.
///
/// An entry consists of a byte with [`LENGTH`] and the flags, the packed position and, if there are
/// moves, four bytes with the number of moves and two bytes per move.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PackedBook {
    bytes: Vec<u8>,
    /// Offset, in bytes, of every [`STRIDE`]th entry.
    offsets: Vec<usize>,
    pub(super) len: usize,
    /// Number of Chess960 entries.
    pub(super) chess960: usize,
}

impl PackedBook {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn push(&mut self, opening: &Opening) {
        if self.len.is_multiple_of(STRIDE) {
            self.offsets.push(self.bytes.len());
        }
        self.len += 1;
        let packed = PackedSetup::pack_standard(opening.fen.as_setup());
        let packed = packed.expect("a legal position has the rooks and pawns that it speaks of");
        let packed = packed.as_bytes();
        let mut head = packed.len() as u8;
        assert!(head <= LENGTH, "64 pieces and two counters take 50 bytes");
        if opening.castling_mode == CastlingMode::Chess960 {
            self.chess960 += 1;
            head |= IS_CHESS960;
        }
        if !opening.moves.is_empty() {
            head |= HAS_MOVES;
        }
        self.bytes.push(head);
        self.bytes.extend_from_slice(packed);
        if !opening.moves.is_empty() {
            let count = u32::try_from(opening.moves.len());
            let count = count.expect("the text of 2^32 moves is longer than any game may be");
            self.bytes.extend(count.to_le_bytes());
            let moves = opening.moves.iter().map(|m| PackedUciMove::pack(*m).to_bytes());
            self.bytes.extend(moves.flatten());
        }
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.offsets.shrink_to_fit();
    }

    /// Returns the number of entries that are equal to an earlier entry.
    pub(super) fn duplicates(&self) -> usize {
        // Hashes take 8 bytes per opening. A set of the entries would take as much memory as the
        // book.
        let hashes = BuildHasherDefault::<DefaultHasher>::default();
        let mut rest = &self.bytes[..];
        let next_hash = |_| {
            let (entry, others) = rest.split_at(size(rest));
            rest = others;
            hashes.hash_one(entry)
        };
        let mut values: Vec<u64> = (0..self.len).map(next_hash).collect();
        values.sort_unstable();
        values.windows(2).filter(|two| two[0] == two[1]).count()
    }

    /// Returns the opening at `index`, which must be less than `len`.
    pub(super) fn get(&self, index: usize) -> Opening {
        assert!(index < self.len, "opening {index} of {}", self.len);
        let mut rest = &self.bytes[self.offsets[index / STRIDE]..];
        for _ in 0..index % STRIDE {
            rest = &rest[size(rest)..];
        }
        unpack(&mut rest)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Opening> {
        let mut rest = &self.bytes[..];
        (0..self.len).map(move |_| unpack(&mut rest))
    }
}

/// Returns the size, in bytes, of the first entry of `entries`.
fn size(entries: &[u8]) -> usize {
    let mut rest = entries;
    let head = take::<1>(&mut rest)[0];
    rest = &rest[usize::from(head & LENGTH)..];
    if head & HAS_MOVES != 0 {
        let count = u32::from_le_bytes(take(&mut rest)) as usize;
        rest = &rest[count * PackedUciMove::BYTES..];
    }
    entries.len() - rest.len()
}

/// Unpacks the first entry of `entries`, and moves `entries` past this entry.
fn unpack(entries: &mut &[u8]) -> Opening {
    const WHOLE: &str = "only what was packed from a legal position is unpacked";
    let head = take::<1>(entries)[0];
    let (packed, rest) = entries.split_at(usize::from(head & LENGTH));
    *entries = rest;
    let setup = PackedSetup::try_from_bytes(packed).expect(WHOLE).unpack_standard().expect(WHOLE);
    let count = if head & HAS_MOVES != 0 { u32::from_le_bytes(take(entries)) } else { 0 };
    let moves = (0..count).map(|_| PackedUciMove::from_bytes(take(entries)).unpack()).collect();
    let castling_mode = CastlingMode::from_chess960(head & IS_CHESS960 != 0);
    Opening { fen: Fen::try_from_setup(setup).expect(WHOLE), castling_mode, moves }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (taken, rest) = bytes.split_first_chunk().expect("entries are whole");
    *bytes = rest;
    *taken
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;
    use shakmaty::{EnPassantMode, Position};

    use super::*;
    use arbiter_position::Start;
    use arbiter_schedule::seed::{below, seed_for};

    fn opening(fen: &str, moves: &[&str]) -> Opening {
        let start = Start::read(fen, false).unwrap();
        Opening::new(&start, moves.iter().map(|m| m.parse().unwrap()).collect())
    }

    /// Returns test openings. The first openings are unusual: with and without each optional part,
    /// and with the largest counters.
    fn openings() -> Vec<Opening> {
        let mut all = vec![
            opening("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", &[]),
            opening("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", &["e7e5"]),
            opening("bbnrkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNQNRBKR w HEfd - 3 999999999", &[]),
            opening("4k3/8/8/8/8/8/8/RR2K3 w B - 99 1", &["e1b1", "e8e7"]),
            opening("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", &["a7a8q", "e8e7"]),
        ];
        for game in 0..60 {
            let mut rng = seed_for(5, "test.packed", game);
            let mut position = shakmaty::Chess::default();
            let mut moves = Vec::new();
            for _ in 0..below(&mut rng, 90) {
                let legal = position.legal_moves();
                let Some(&m) = legal.get(below(&mut rng, legal.len().max(1) as u64) as usize)
                else {
                    break;
                };
                moves.push(UciMove::from_move(m, CastlingMode::Standard));
                position.play_unchecked(m);
            }
            let fen = Fen::from_position(&position, EnPassantMode::Always);
            all.push(opening(&fen.to_string(), &[]));
            let start = opening(&Fen::default().to_string(), &[]);
            all.push(Opening { moves, ..start });
        }
        all
    }

    #[test]
    fn packed_positions_round_trip() {
        let all = openings();
        let mut book = PackedBook::default();
        all.iter().for_each(|opening| book.push(opening));
        book.shrink();
        assert_eq!((book.len, book.is_empty()), (all.len(), false));
        assert!(book.iter().eq(all.iter().cloned()));
        for (index, opening) in all.iter().enumerate().rev() {
            assert_eq!(&book.get(index), opening, "{index}");
            assert_eq!(book.get(index).fen.to_string(), opening.fen.to_string());
        }
    }

    #[test]
    fn a_position_takes_few_bytes() {
        let mut book = PackedBook::default();
        let one = opening("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", &[]);
        (0..1600).for_each(|_| book.push(&one));
        book.shrink();
        assert!(book.bytes.capacity() <= 1600 * 27, "{}", book.bytes.capacity());
        assert!(book.chess960 == 0 && book.offsets.len() == 100);
    }
}
