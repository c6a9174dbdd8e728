//! Static exchange evaluation (SEE): the material gain of a sequence of captures on one square.

use crate::chess::{Bitboard, Color, Kind, Move, Position, attacks};
use crate::eval::Score;

/// Piece values in an exchange, in centipawns. The value of the king exceeds the sum of all other
/// values.
const PIECE_VALUES: [Score; 6] = [100, 320, 330, 500, 950, 20_000];

/// Returns the value of a piece type in an exchange, in centipawns.
#[inline]
pub(super) fn piece_value(kind: Kind) -> Score {
    PIECE_VALUES[kind.index()]
}

/// Returns whether `mv` gains at least `threshold` centipawns. After `mv`, both sides capture on
/// the destination of `mv` while captures are profitable. The least valuable piece captures first.
/// Pins are ignored.
pub(super) fn gains_at_least(position: &Position, mv: Move, threshold: Score) -> bool {
    if mv.is_castle() {
        return threshold <= 0;
    }
    let to = mv.to();
    let promoted = mv.promotion().map_or(0, |kind| piece_value(kind) - piece_value(Kind::Pawn));
    let mut balance = position.captured(mv).map_or(0, piece_value) + promoted - threshold;
    if balance < 0 {
        return false;
    }
    let mover = mv.promotion().or(position.kind_at(mv.from())).map_or(0, piece_value);
    balance -= mover;
    if balance >= 0 {
        return true;
    }
    let board = position.board();
    let mut occupied = board.occupied() ^ Bitboard::of(mv.from()) | Bitboard::of(to);
    if mv.is_en_passant() {
        let step = if position.turn() == Color::White { -8 } else { 8 };
        occupied ^= Bitboard::of(to.offset(step));
    }
    let (straight, diagonal) = (board.straight_sliders(), board.diagonal_sliders());
    let mut attackers = position.attackers_to(to, occupied) & occupied;
    let mut turn = !position.turn();
    loop {
        let own = attackers & board.color(turn);
        let Some(kind) = Kind::ALL.into_iter().find(|&kind| (own & board.kind(kind)).any()) else {
            break;
        };
        occupied ^= Bitboard::of((own & board.kind(kind)).first());
        if matches!(kind, Kind::Pawn | Kind::Bishop | Kind::Queen) {
            attackers |= attacks::bishop(to, occupied) & diagonal;
        }
        if matches!(kind, Kind::Rook | Kind::Queen) {
            attackers |= attacks::rook(to, occupied) & straight;
        }
        attackers &= occupied;
        turn = !turn;
        // The balance is now from the point of view of the other side. The −1 makes a balance of
        // exactly 0 a success for only one of the sides.
        balance = -balance - 1 - piece_value(kind);
        if balance >= 0 {
            // The king cannot capture a defended piece.
            let illegal = kind == Kind::King && (attackers & board.color(turn)).any();
            if illegal {
                turn = !turn;
            }
            break;
        }
    }
    // The side to move at the end stops capturing and has lost the exchange.
    turn != position.turn()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::chess::uci_move::{CastlingForm, parse};

    #[test]
    fn exchanges_are_evaluated_exactly() {
        for (text, mv, worth) in [
            ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 100),
            ("4k3/8/3p4/4p3/8/8/4R3/4K3 w - - 0 1", "e2e5", -400),
            ("4k3/8/3p4/4p3/5P2/8/4R3/4K3 w - - 0 1", "f4e5", 100),
            ("4k3/3r4/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", 100),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
            ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", 850),
            ("4k3/8/8/8/8/2p5/8/1N2K3 w - - 0 1", "b1c3", 100),
            ("4k3/8/8/8/1p6/8/8/1N2K3 w - - 0 1", "b1a3", -320),
            ("3rk3/8/8/8/8/8/3p4/3R1K2 w - - 0 1", "d1d2", -400),
            ("3rk3/8/8/8/8/8/3p4/3RK3 w - - 0 1", "d1d2", 100),
            ("3rk3/3r4/8/8/8/8/3p4/3RK3 w - - 0 1", "d1d2", -400),
        ] {
            let position = fen::parse(text).unwrap();
            let mv = parse(mv, &position, CastlingForm::KingTo).unwrap();
            assert!(gains_at_least(&position, mv, worth), "{text} {mv:?}");
            assert!(!gains_at_least(&position, mv, worth + 1), "{text} {mv:?}");
        }
    }
}
