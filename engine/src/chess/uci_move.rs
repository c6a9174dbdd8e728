//! UCI notation of moves: `e2e4`, `e7e8q`, castling as `e1g1` or, in Chess960, `e1h1`.

use super::moves::{Move, MoveKind};
use super::piece::Kind;
use super::position::{Position, castled_squares};
use super::square::Square;

/// Notation of castling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastlingForm {
    /// By the king's destination, `e1g1`. Castling from non-standard squares is written as in
    /// Chess960, because the king's destination alone could also mean a king step.
    KingTo,
    /// By the square of the castling rook, `e1h1`.
    KingTakesRook,
}

/// Returns the UCI notation of a move.
pub fn format(mv: Move, form: CastlingForm) -> String {
    let (from, mut to) = (mv.from(), mv.to());
    let standard = from.file() == 4 && matches!(to.file(), 0 | 7);
    if mv.is_castle() && form == CastlingForm::KingTo && standard {
        to = castled_squares(from, to).0;
    }
    match mv.promotion() {
        Some(kind) => format!("{from}{to}{}", kind.letter()),
        None => format!("{from}{to}"),
    }
}

/// Returns the legal move that the text denotes; `None` if the text denotes no legal move.
///
/// `form` is the preferred notation of castling. The other notation is also accepted if the text
/// is unambiguous.
pub fn parse(text: &str, position: &Position, form: CastlingForm) -> Option<Move> {
    let from = Square::parse(text.get(0..2)?)?;
    let to = Square::parse(text.get(2..4)?)?;
    let promotion = match text.get(4..)? {
        "" => None,
        letter @ ("n" | "b" | "r" | "q") => letter.chars().next().and_then(Kind::from_letter),
        _ => return None,
    };
    let takes_rook = Move::new(from, to, MoveKind::Castle);
    let moves = position.legal_moves();
    let king_to = moves
        .iter()
        .copied()
        .find(|mv| mv.is_castle() && mv.from() == from && castled_squares(from, mv.to()).0 == to);
    let plain = moves.iter().copied().find(|mv| {
        !mv.is_castle() && (mv.from(), mv.to(), mv.promotion()) == (from, to, promotion)
    });
    if promotion.is_some() {
        return plain;
    }
    let takes_rook = moves.contains(&takes_rook).then_some(takes_rook);
    let standard = form == CastlingForm::KingTo && from.file() == 4;
    // From the e-file, no king step leads to the g-file or the c-file, so a king move to one of
    // these files can only be castling. From other files, the text may also denote a king step,
    // which then takes precedence.
    if standard { king_to.or(takes_rook).or(plain) } else { takes_rook.or(plain).or(king_to) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;

    #[test]
    fn legal_moves_round_trip_in_both_forms() {
        for text in [
            fen::STARTPOS,
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
            "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1",
            "4k3/8/8/8/8/8/8/RK3R2 w AF - 0 1",
            "4k3/8/8/8/8/8/8/R4KR1 w AG - 0 1",
        ] {
            let position = fen::parse(text).unwrap();
            for form in [CastlingForm::KingTo, CastlingForm::KingTakesRook] {
                for &mv in position.legal_moves().iter() {
                    let written = format(mv, form);
                    assert_eq!(parse(&written, &position, form), Some(mv), "{text} {written}");
                }
            }
        }
    }

    #[test]
    fn standard_castling_is_understood_in_both_forms() {
        let position = fen::parse("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap();
        for form in [CastlingForm::KingTo, CastlingForm::KingTakesRook] {
            for (king_to, takes_rook) in [("e1g1", "e1h1"), ("e1c1", "e1a1")] {
                let castle = parse(takes_rook, &position, form);
                assert!(castle.is_some_and(Move::is_castle));
                assert_eq!(parse(king_to, &position, form), castle);
            }
        }
        assert_eq!(
            parse("e1d1", &position, CastlingForm::KingTo).map(Move::is_castle),
            Some(false)
        );
    }

    #[test]
    fn nonsense_is_not_a_move() {
        let position = Position::startpos();
        for text in ["", "e2", "e2e5", "e2e4q", "0000", "e7e5", "é2e4", "e2e4é", "e2eé", "e2e4qq"]
        {
            assert_eq!(parse(text, &position, CastlingForm::KingTo), None, "{text}");
        }
    }
}
