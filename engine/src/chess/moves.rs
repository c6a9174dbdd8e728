//! Moves and lists of moves.

use std::fmt;
use std::num::NonZeroU16;
use std::ops::Deref;

use super::piece::Kind;
use super::square::Square;

/// Kind of a move: the effects in addition to moving a piece from the origin to the destination.
///
/// Bit 2 marks captures and bit 3 promotions. No value is zero, so `Option<Move>` fits in two
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MoveKind {
    /// No other effect.
    Quiet = 1,
    /// Advance of a pawn by two ranks.
    DoublePush = 2,
    /// Castling; the destination of the move is the square of the castling rook.
    Castle = 3,
    /// Captures the piece on the destination.
    Capture = 4,
    /// Captures a pawn en passant.
    EnPassant = 5,
    /// Promotes to a knight.
    PromoteKnight = 8,
    /// Promotes to a bishop.
    PromoteBishop = 9,
    /// Promotes to a rook.
    PromoteRook = 10,
    /// Promotes to a queen.
    PromoteQueen = 11,
    /// Captures and promotes to a knight.
    CapturePromoteKnight = 12,
    /// Captures and promotes to a bishop.
    CapturePromoteBishop = 13,
    /// Captures and promotes to a rook.
    CapturePromoteRook = 14,
    /// Captures and promotes to a queen.
    CapturePromoteQueen = 15,
}

impl MoveKind {
    /// All kinds, in ascending order of encoding.
    pub const ALL: [MoveKind; 13] = [
        MoveKind::Quiet,
        MoveKind::DoublePush,
        MoveKind::Castle,
        MoveKind::Capture,
        MoveKind::EnPassant,
        MoveKind::PromoteKnight,
        MoveKind::PromoteBishop,
        MoveKind::PromoteRook,
        MoveKind::PromoteQueen,
        MoveKind::CapturePromoteKnight,
        MoveKind::CapturePromoteBishop,
        MoveKind::CapturePromoteRook,
        MoveKind::CapturePromoteQueen,
    ];

    const fn from_nibble(nibble: u16) -> MoveKind {
        match nibble {
            2 => MoveKind::DoublePush,
            3 => MoveKind::Castle,
            4 => MoveKind::Capture,
            5 => MoveKind::EnPassant,
            8 => MoveKind::PromoteKnight,
            9 => MoveKind::PromoteBishop,
            10 => MoveKind::PromoteRook,
            11 => MoveKind::PromoteQueen,
            12 => MoveKind::CapturePromoteKnight,
            13 => MoveKind::CapturePromoteBishop,
            14 => MoveKind::CapturePromoteRook,
            15 => MoveKind::CapturePromoteQueen,
            _ => MoveKind::Quiet,
        }
    }

    /// Returns the promotion to `kind`, with or without a capture; the promotion to a queen if
    /// `kind` is king or pawn.
    pub const fn promotion(kind: Kind, capture: bool) -> MoveKind {
        match (kind, capture) {
            (Kind::Knight, false) => MoveKind::PromoteKnight,
            (Kind::Knight, true) => MoveKind::CapturePromoteKnight,
            (Kind::Bishop, false) => MoveKind::PromoteBishop,
            (Kind::Bishop, true) => MoveKind::CapturePromoteBishop,
            (Kind::Rook, false) => MoveKind::PromoteRook,
            (Kind::Rook, true) => MoveKind::CapturePromoteRook,
            (_, false) => MoveKind::PromoteQueen,
            (_, true) => MoveKind::CapturePromoteQueen,
        }
    }
}

/// A move in two bytes: origin, destination and [`MoveKind`].
///
/// A move is meaningful only in the position for which it was generated.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Move(NonZeroU16);

impl Move {
    /// Returns the move with this origin, destination and kind.
    #[inline]
    pub const fn new(from: Square, to: Square, kind: MoveKind) -> Move {
        let bits = (kind as u16) << 12 | Move::squares(from, to);
        Move(NonZeroU16::new(bits).expect("no kind is encoded as zero"))
    }

    /// Returns the part of the encoding that contains the origin and the destination.
    #[inline]
    pub(super) const fn squares(from: Square, to: Square) -> u16 {
        (to.index() as u16) << 6 | from.index() as u16
    }

    /// Returns the origin.
    #[inline]
    pub const fn from(self) -> Square {
        Square::new(self.0.get() as u8)
    }

    /// Returns the destination; for castling, the square of the castling rook.
    #[inline]
    pub const fn to(self) -> Square {
        Square::new((self.0.get() >> 6) as u8)
    }

    /// Returns the kind of the move.
    #[inline]
    pub const fn kind(self) -> MoveKind {
        MoveKind::from_nibble(self.0.get() >> 12)
    }

    /// Returns whether the move is a capture.
    #[inline]
    pub const fn is_capture(self) -> bool {
        self.0.get() & 0x4000 != 0
    }

    /// Returns whether the move is a promotion.
    #[inline]
    pub const fn is_promotion(self) -> bool {
        self.0.get() & 0x8000 != 0
    }

    /// Returns whether the move is neither a capture nor a promotion.
    #[inline]
    pub const fn is_quiet(self) -> bool {
        self.0.get() & 0xC000 == 0
    }

    /// Returns whether the move is castling.
    #[inline]
    pub const fn is_castle(self) -> bool {
        self.0.get() >> 12 == MoveKind::Castle as u16
    }

    /// Returns whether the move is an en-passant capture.
    #[inline]
    pub const fn is_en_passant(self) -> bool {
        self.0.get() >> 12 == MoveKind::EnPassant as u16
    }

    /// Returns the promotion piece; `None` if the move does not promote.
    #[inline]
    pub const fn promotion(self) -> Option<Kind> {
        match (self.is_promotion(), self.0.get() >> 12 & 3) {
            (false, _) => None,
            (true, 0) => Some(Kind::Knight),
            (true, 1) => Some(Kind::Bishop),
            (true, 2) => Some(Kind::Rook),
            (true, _) => Some(Kind::Queen),
        }
    }

    /// Returns the encoding, which is never zero, for tables that store moves.
    #[inline]
    pub const fn bits(self) -> u16 {
        self.0.get()
    }

    /// Returns the move stored as `bits`; `None` for zero. The move may be illegal;
    /// `Position::is_legal` tests the move in a position.
    #[inline]
    pub const fn from_bits(bits: u16) -> Option<Move> {
        match NonZeroU16::new(bits) {
            Some(word) => Some(Move(word)),
            None => None,
        }
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}/{:?}", self.from(), self.to(), self.kind())
    }
}

/// Upper bound on the number of legal moves in a valid position. The largest known number is 218.
const MOST_MOVES: usize = 256;

/// Maximum number of moves appended to a list as one batch.
pub const BATCH_MAX: usize = 64;

const CAPACITY: usize = MOST_MOVES + BATCH_MAX;

/// A list of moves on the stack.
pub struct MoveList {
    moves: [Move; CAPACITY],
    len: usize,
}

impl MoveList {
    /// Returns an empty list.
    #[inline]
    pub fn new() -> MoveList {
        let filler = Move::new(Square::new(0), Square::new(0), MoveKind::Quiet);
        MoveList { moves: [filler; CAPACITY], len: 0 }
    }

    /// Removes all moves.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends a move.
    #[inline]
    pub fn push(&mut self, mv: Move) {
        self.moves[self.len] = mv;
        self.len += 1;
    }

    /// Returns the free slots after the last move. After writing moves to the slots, call
    /// [`extend_by`](Self::extend_by).
    #[inline]
    pub(super) fn batch(&mut self) -> &mut [Move; BATCH_MAX] {
        let free = &mut self.moves[self.len..];
        free.first_chunk_mut().expect("no position has more than MOST_MOVES moves")
    }

    /// Adds the first `count` moves of the [`batch`](Self::batch) to the list.
    #[inline]
    pub(super) fn extend_by(&mut self, count: usize) {
        self.len += count;
    }

    /// Exchanges two moves.
    #[inline]
    pub fn swap(&mut self, a: usize, b: usize) {
        self.moves[..self.len].swap(a, b);
    }
}

impl Default for MoveList {
    fn default() -> Self {
        MoveList::new()
    }
}

impl Deref for MoveList {
    type Target = [Move];

    #[inline]
    fn deref(&self) -> &[Move] {
        &self.moves[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_moves_round_trip() {
        for from in Square::all() {
            for to in Square::all() {
                for kind in MoveKind::ALL {
                    let mv = Move::new(from, to, kind);
                    assert_eq!((mv.from(), mv.to(), mv.kind()), (from, to, kind));
                    assert_eq!(Move::from_bits(mv.bits()), Some(mv));
                }
            }
        }
        assert_eq!(size_of::<Option<Move>>(), 2);
    }

    #[test]
    fn promotions_name_their_piece() {
        for kind in [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen] {
            for capture in [false, true] {
                let square = Square::new(0);
                let mv = Move::new(square, square, MoveKind::promotion(kind, capture));
                assert_eq!((mv.promotion(), mv.is_capture()), (Some(kind), capture));
            }
        }
    }
}
