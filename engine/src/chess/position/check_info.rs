//! Checks and pins against a king.

use super::Board;
use crate::chess::attacks;
use crate::chess::bitboard::Bitboard;
use crate::chess::color::Side;
use crate::chess::piece::Kind;
use crate::chess::square::Square;

/// Checkers and pins of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chess) struct CheckInfo {
    /// Enemy pieces that give check.
    pub(in crate::chess) checkers: Bitboard,
    /// Squares from the king (exclusive) to a pinning enemy rook or queen (inclusive).
    pub(in crate::chess) straight_pins: Bitboard,
    /// Squares from the king (exclusive) to a pinning enemy bishop or queen (inclusive).
    pub(in crate::chess) diagonal_pins: Bitboard,
}

impl CheckInfo {
    /// Neither checks nor pins.
    pub(super) const NONE: CheckInfo = CheckInfo {
        checkers: Bitboard::EMPTY,
        straight_pins: Bitboard::EMPTY,
        diagonal_pins: Bitboard::EMPTY,
    };

    /// Returns the checkers and pins of side `S`, whose king is on `king`. The pins and the checks
    /// by sliders come from one loop over the enemy sliders that would attack the king on an empty
    /// board.
    #[inline(always)]
    pub(in crate::chess) fn find<S: Side>(board: &Board, king: Square) -> CheckInfo {
        let own = board.color(S::COLOR);
        let enemy = board.color(!S::COLOR);
        let checkers = attacks::pawn(S::COLOR, king) & board.kind(Kind::Pawn)
            | attacks::knight(king) & board.kind(Kind::Knight);
        let mut info = CheckInfo { checkers: checkers & enemy, ..CheckInfo::NONE };
        let (straight, diagonal) = (attacks::straight_rays(king), attacks::diagonal_rays(king));
        let mut pins = Bitboard::EMPTY;
        let snipers = straight & board.straight_sliders() | diagonal & board.diagonal_sliders();
        // Masks replace branches, because the CPU cannot predict well whether a line is blocked.
        for sniper in snipers & enemy {
            let way = attacks::between(king, sniper);
            let sniper = Bitboard::of(sniper);
            let blockers = way & (own | enemy);
            let is_pinned = !blockers.has_several() & (blockers & own).any();
            info.checkers |= sniper.when(blockers.is_empty());
            pins |= (way | sniper).when(is_pinned);
        }
        info.straight_pins = pins & straight;
        info.diagonal_pins = pins & diagonal;
        info
    }
}
