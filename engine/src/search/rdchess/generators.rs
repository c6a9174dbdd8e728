//! Four generators of legal moves with a common interface. The generators order the moves so that
//! good moves tend to come first.

use crate::chess::{Color, Kind, Move, MoveList, Position, Square};

/// A move generator. `Captures` and `Quiet` together generate all legal moves. In check,
/// `CheckerCaptures` and `Escapes` also generate all legal moves together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generator {
    /// Captures, including en passant, and promotions.
    Captures,
    /// All moves except captures and promotions; includes castling.
    Quiet,
    /// In check: captures of the checking piece.
    CheckerCaptures,
    /// In check: all moves except captures of the checking piece.
    Escapes,
}

impl Generator {
    /// Returns the two generators that together generate all legal moves in a position. The
    /// generator of captures comes first.
    pub(super) fn pair(position: &Position) -> [Generator; 2] {
        if position.in_check() {
            [Generator::CheckerCaptures, Generator::Escapes]
        } else {
            [Generator::Captures, Generator::Quiet]
        }
    }

    /// Returns the moves of a position. If `towards` is a king's square, moves towards this king,
    /// forward moves and captures by less valuable pieces come first.
    pub(super) fn moves(self, position: &Position, towards: Option<Square>) -> MoveList {
        let mut moves = match self {
            Generator::Captures => position.noisy_moves(),
            Generator::Quiet => position.quiet_moves(),
            Generator::CheckerCaptures => part(position, true),
            Generator::Escapes => part(position, false),
        };
        if let Some(king) = towards {
            sort_by(&mut moves, |mv| rank(position, mv, king));
        }
        moves
    }
}

/// Returns the legal moves that capture a checker, or all other legal moves if `takes` is false.
fn part(position: &Position, takes: bool) -> MoveList {
    let mut moves = MoveList::new();
    for &mv in position.legal_moves().iter() {
        if takes_checker(position, mv) == takes {
            moves.push(mv);
        }
    }
    moves
}

fn takes_checker(position: &Position, mv: Move) -> bool {
    let taken =
        if mv.is_en_passant() { Square::at(mv.to().file(), mv.from().rank()) } else { mv.to() };
    mv.is_capture() && position.checkers().contains(taken)
}

/// Returns the sort key of a move. Moves with a lower key come first.
fn rank(position: &Position, mv: Move, king: Square) -> i32 {
    if mv.is_capture() {
        return position.kind_at(mv.from()).map_or(0, Kind::index) as i32;
    }
    let (from, to) = (mv.from(), mv.to());
    let is_forward = match position.turn() {
        Color::White => to.rank() > from.rank(),
        Color::Black => to.rank() < from.rank(),
    };
    let is_closer = to.distance(king) < from.distance(king);
    6 - i32::from(is_forward) - i32::from(is_closer)
}

/// Sorts moves by a key. The sort is stable; insertion sort suffices, because there are few moves.
pub(super) fn sort_by(moves: &mut MoveList, key: impl Fn(Move) -> i32) {
    let mut keys = [0; 256];
    for index in 0..moves.len() {
        keys[index] = key(moves[index]);
        let mut at = index;
        while at > 0 && keys[at - 1] > keys[at] {
            keys.swap(at - 1, at);
            moves.swap(at - 1, at);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;

    fn bits(moves: &[Move]) -> Vec<u16> {
        let mut bits: Vec<u16> = moves.iter().map(|mv| mv.bits()).collect();
        bits.sort_unstable();
        bits
    }

    #[test]
    fn two_generators_give_all_legal_moves() {
        let mut checks = 0;
        for text in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        ] {
            let root = fen::parse(text).unwrap();
            let positions = root.legal_moves().iter().map(|&mv| root.play(mv)).collect::<Vec<_>>();
            let replies = positions.iter().flat_map(|position| {
                let moves = position.legal_moves();
                moves.iter().map(|&mv| position.play(mv)).collect::<Vec<_>>()
            });
            for position in replies {
                checks += usize::from(position.in_check());
                for towards in [None, Some(position.board().king(!position.turn()))] {
                    let [first, second] =
                        Generator::pair(&position).map(|one| one.moves(&position, towards));
                    let both = bits(&[&first[..], &second[..]].concat());
                    assert_eq!(both, bits(&position.legal_moves()), "{position}");
                }
            }
        }
        assert!(checks > 20, "{checks}");
    }

    #[test]
    fn captures_of_the_checker_come_first() {
        let position = fen::parse("4k3/8/8/8/8/5n2/4P1P1/4K3 w - - 0 1").unwrap();
        let [first, second] = Generator::pair(&position);
        let taken = first.moves(&position, None);
        assert!(taken.len() == 2 && taken.iter().all(|mv| mv.is_capture()));
        assert!(second.moves(&position, None).iter().all(|mv| !mv.is_capture()));
        // The pawn that gives check can be captured en passant.
        let position = fen::parse("8/8/8/3k4/3pP3/8/8/4K3 b - e3 0 1").unwrap();
        let taken = Generator::CheckerCaptures.moves(&position, None);
        assert!(taken.iter().any(|mv| mv.is_en_passant()), "{:?}", &taken[..]);
    }
}
