//! Four generators of legal moves behind one interface, each in an order that is likely to be good.

use crate::chess::{Color, Kind, Move, MoveList, Position, Square};

/// A generator. The first two together give all legal moves, and so do the last two in check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generator {
    /// Captures, en passant and promotions.
    Captures,
    /// All else, castling included.
    Quiet,
    /// In check: captures of the piece that gives it.
    CheckerCaptures,
    /// In check: all else.
    Escapes,
}

impl Generator {
    /// The two generators that give all legal moves of a position, forcing moves first.
    pub(super) fn pair(position: &Position) -> [Generator; 2] {
        if position.in_check() {
            [Generator::CheckerCaptures, Generator::Escapes]
        } else {
            [Generator::Captures, Generator::Quiet]
        }
    }

    /// The moves of a position. If the square of a king is given, those towards it and forward
    /// come first, and captures by cheap pieces.
    pub(super) fn moves(self, position: &Position, towards: Option<Square>) -> MoveList {
        let mut moves = match self {
            Generator::Captures => position.noisy_moves(),
            Generator::Quiet => position.quiet_moves(),
            Generator::CheckerCaptures => part(position, true),
            Generator::Escapes => part(position, false),
        };
        if let Some(king) = towards {
            arrange(&mut moves, |mv| rank(position, mv, king));
        }
        moves
    }
}

/// The legal moves in check that take the checker, or those that do not.
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

/// The place of a move in the first order; lower comes first.
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

/// Sorts moves by a key, equal ones as they were; there are few.
pub(super) fn arrange(moves: &mut MoveList, key: impl Fn(Move) -> i32) {
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
    use crate::bench;

    #[test]
    fn two_generators_give_all_legal_moves() {
        let mut checks = 0;
        for position in bench::positions() {
            checks += usize::from(position.in_check());
            for towards in [None, Some(position.board().king(!position.turn()))] {
                let pair = Generator::pair(&position).map(|one| one.moves(&position, towards));
                let mut found: Vec<u16> =
                    pair.iter().flat_map(|moves| moves.iter().map(|mv| mv.bits())).collect();
                let mut legal: Vec<u16> =
                    position.legal_moves().iter().map(|mv| mv.bits()).collect();
                found.sort_unstable();
                legal.sort_unstable();
                assert_eq!(found, legal, "{position}");
            }
        }
        assert!(checks > 100, "{checks}");
    }
}
