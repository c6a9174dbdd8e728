//! What the enemy's pieces mean for a king: checks and pins.

use super::Board;
use crate::chess::attacks;
use crate::chess::bitboard::Bitboard;
use crate::chess::color::Side;
use crate::chess::piece::Kind;

/// Checkers and pins of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chess) struct KingLines {
    /// Enemy pieces that give check.
    pub(in crate::chess) checkers: Bitboard,
    /// Lines from the king over one own piece up to and including an enemy rook or queen.
    pub(in crate::chess) straight_pins: Bitboard,
    /// The same for bishops and queens.
    pub(in crate::chess) diagonal_pins: Bitboard,
}

impl KingLines {
    /// Of a board without kings.
    pub(super) const NONE: KingLines = KingLines {
        checkers: Bitboard::EMPTY,
        straight_pins: Bitboard::EMPTY,
        diagonal_pins: Bitboard::EMPTY,
    };

    /// Finds those of side `S`. One walk over the enemy sliders that see the king on an empty board
    /// serves both, without a slider look-up.
    #[inline(always)]
    pub(in crate::chess) fn find<S: Side>(board: &Board) -> KingLines {
        let (own, enemy) = (board.color(S::COLOR), board.color(!S::COLOR));
        let king = board.king(S::COLOR);
        let checkers = attacks::pawn(S::COLOR, king) & board.kind(Kind::Pawn)
            | attacks::knight(king) & board.kind(Kind::Knight);
        let mut lines = KingLines { checkers: checkers & enemy, ..KingLines::NONE };
        let straight = attacks::straight_rays(king) & board.straight_sliders() & enemy;
        let diagonal = attacks::diagonal_rays(king) & board.diagonal_sliders() & enemy;
        for (snipers, pins) in
            [(straight, &mut lines.straight_pins), (diagonal, &mut lines.diagonal_pins)]
        {
            for sniper in snipers {
                let way = attacks::between(king, sniper);
                let blockers = way & (own | enemy);
                if blockers.is_empty() {
                    lines.checkers |= Bitboard::of(sniper);
                } else if !blockers.several() && (blockers & own).any() {
                    *pins |= way | Bitboard::of(sniper);
                }
            }
        }
        lines
    }
}
