//! Information about one side, used by the terms of both sides.

use crate::chess::color::Side;
use crate::chess::{Bitboard, Kind, Position, Square, attacks};

/// Attacks of one side, and properties of the side's pawns and king.
pub(super) struct SideInfo {
    /// Squares attacked by each piece type.
    pub(super) attacks: [Bitboard; 6],
    /// Squares attacked by any piece.
    pub(super) attacked: Bitboard,
    /// Squares attacked at least twice.
    pub(super) twice: Bitboard,
    /// Squares that the side's pawns attack now or can attack after advancing.
    pub(super) pawn_span: Bitboard,
    /// Square of the side's king.
    pub(super) king: Square,
    /// King zone: the 3×3 squares around the side's king. For a king on the edge, the zone is moved
    /// so that it lies on the board.
    pub(super) zone: Bitboard,
    /// Squares that count for the mobility of the side's pieces.
    pub(super) usable: Bitboard,
    /// Numbers of pieces that attack the enemy king zone, by type from knight to queen.
    pub(super) attackers: [i32; 4],
    /// Number of attacks by knights, bishops, rooks and queens on squares of the enemy king zone.
    pub(super) zone_attacks: i32,
    /// XOR mask that converts a square to an index in a piece-square table. The index is from the
    /// point of view of the side, with the files mirrored if necessary so that the side's king is
    /// on files e to h.
    pub(super) turn: u8,
}

impl SideInfo {
    /// Returns the information about side `S`, without the attacks of knights, bishops, rooks and
    /// queens.
    #[inline(always)]
    pub(super) fn of<S: Side>(position: &Position) -> SideInfo {
        let board = position.board();
        let pawns = board.pieces(S::COLOR, Kind::Pawn);
        let ahead = pawns.forward(S::COLOR);
        let (east, west) = (ahead.east(), ahead.west());
        let pawn_attacks = east | west;
        let king = board.king(S::COLOR);
        let king_attacks = attacks::king(king);
        let centre = Square::at(king.file().clamp(1, 6), king.rank().clamp(1, 6));
        // Squares of friendly pawns that are blocked or on their second or third rank do not count
        // for mobility.
        let stuck = board.occupied().forward(!S::COLOR)
            | Bitboard::rank(S::COLOR.relative_rank(1))
            | Bitboard::rank(S::COLOR.relative_rank(2));
        let enemy_pawns = board.pieces(!S::COLOR, Kind::Pawn).pawn_attacks::<S::Opponent>();
        let mut attacks = [Bitboard::EMPTY; 6];
        attacks[Kind::Pawn.index()] = pawn_attacks;
        attacks[Kind::King.index()] = king_attacks;
        SideInfo {
            attacks,
            attacked: pawn_attacks | king_attacks,
            twice: east & west | pawn_attacks & king_attacks,
            pawn_span: pawn_attacks | pawn_attacks.forward_fill(S::COLOR),
            king,
            zone: attacks::king(centre) | Bitboard::of(centre),
            usable: !(pawns & stuck | Bitboard::of(king) | enemy_pawns),
            attackers: [0; 4],
            zone_attacks: 0,
            turn: turn::<S>(king),
        }
    }

    /// Adds the attacks of a piece.
    #[inline(always)]
    pub(super) fn add(&mut self, kind: Kind, reach: Bitboard) {
        self.twice |= self.attacked & reach;
        self.attacked |= reach;
        self.attacks[kind.index()] |= reach;
    }

    /// Returns the squares attacked by pieces of this type.
    #[inline(always)]
    pub(super) fn by(&self, kind: Kind) -> Bitboard {
        self.attacks[kind.index()]
    }
}

/// Returns the value of [`SideInfo::turn`] for a king of side `S` on this square.
#[inline(always)]
pub(super) fn turn<S: Side>(king: Square) -> u8 {
    let flip = S::COLOR.relative_rank(0) << 3;
    let mirror = if king.file() < 4 { 7 } else { 0 };
    flip | mirror
}
