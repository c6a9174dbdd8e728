//! How much an attack on a king is worth.

use super::weights;
use crate::chess::position::Board;
use crate::chess::{Bitboard, Color, Kind, Square, attacks};

/// Squares exactly two steps from a square.
static OUTER: [Bitboard; 64] = outer();

const fn outer() -> [Bitboard; 64] {
    let mut rings = [Bitboard::EMPTY; 64];
    let mut from = 0;
    while from < 64 {
        let mut to = 0;
        while to < 64 {
            if Square::new(from).distance(Square::new(to)) == 2 {
                rings[from as usize].0 |= 1 << to;
            }
            to += 1;
        }
        from += 1;
    }
    rings
}

/// The pieces of one side that look at the enemy king.
#[derive(Clone, Copy)]
pub(super) struct Attack {
    inner: Bitboard,
    outer: Bitboard,
    attackers: u32,
    points: i32,
}

impl Attack {
    /// No attack yet, on a king standing there.
    #[inline]
    pub(super) fn on(king: Square) -> Attack {
        Attack {
            inner: attacks::king(king) | Bitboard::of(king),
            outer: OUTER[king.index()],
            attackers: 0,
            points: 0,
        }
    }

    /// Adds a piece, by its place among knight, bishop, rook and queen, with its moves.
    #[inline]
    pub(super) fn add(&mut self, piece: usize, moves: Bitboard) {
        let (inner, outer) = (moves & self.inner, moves & self.outer);
        if (inner | outer).any() {
            self.attackers += 1;
            self.points += weights::OUTER_POINTS[piece] * outer.len() as i32
                + weights::INNER_POINTS[piece] * inner.len() as i32;
        }
    }
}

/// What the king of `color` suffers from the attack on it, in centipawns of the middle game.
#[inline]
pub(super) fn penalty(board: &Board, color: Color, attack: Attack) -> i32 {
    if attack.attackers < 2 || board.pieces(!color, Kind::Queen).is_empty() {
        return 0;
    }
    let index = points(board, color, attack).min(weights::POINTS_MAX);
    (index * index / 4).min(weights::DANGER_MAX)
}

fn points(board: &Board, color: Color, attack: Attack) -> i32 {
    let king = board.king(color);
    let seen = king.relative(color);
    let ranks = &weights::KING_POINTS;
    let place = ranks
        .get(seen.rank() as usize)
        .map_or(weights::KING_POINTS_AWAY, |files| files[seen.file() as usize & 7]);
    let file = Bitboard::file(king.file());
    let pawns = board.pieces(color, Kind::Pawn);
    // On the edge one of the three is empty and does not exist.
    let bare = [file.west(), file, file.east()]
        .into_iter()
        .filter(|file| file.any() && (pawns & *file).is_empty())
        .count();
    place + attack.points + weights::FILE_POINTS * bare as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;

    #[test]
    fn points_are_counted() {
        // Knight g5: f7, h7 inside, e6 outside. Queen d3: h7 inside, g6 outside.
        let position = fen::parse("6k1/5ppp/8/6N1/8/3Q4/8/4K3 w - - 0 1").unwrap();
        let board = position.board();
        let own = board.color(Color::White);
        let mut attack = Attack::on(board.king(Color::Black));
        let [knight, queen] = [Square::at(6, 4), Square::at(3, 2)];
        attack.add(0, attacks::knight(knight) - own);
        attack.add(3, attacks::queen(queen, board.occupied()) - own);
        assert_eq!(points(board, Color::Black, attack), 11);
        assert_eq!(penalty(board, Color::Black, attack), 30);
    }
}
