//! Attack tables: for each side and square, one byte that counts the attackers by type.

use super::weights::WORTH;
use crate::chess::position::Board;
use crate::chess::{Bitboard, Color, Kind, Position, Square, attacks};
use crate::eval::Score;

/// The attackers of a square, packed into a byte. Each of the five fields of the byte counts
/// attackers up to a maximum. From the lowest bit to the highest, the fields count up to one king,
/// one queen, three rooks, three bishops or knights, and three pawns. Attackers of lower value are
/// in higher bits, so that a larger byte means a stronger attack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Attackers(u8);

/// Returns the shift and the maximum value of the field for a piece type.
const fn field(kind: Kind) -> (u8, u8) {
    match kind {
        Kind::King => (0, 1),
        Kind::Queen => (1, 1),
        Kind::Rook => (2, 3),
        Kind::Bishop | Kind::Knight => (4, 3),
        Kind::Pawn => (6, 3),
    }
}

impl Attackers {
    /// Returns whether there is no attacker.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns whether there is an attacker of this type; bishops and knights are not
    /// distinguished.
    #[inline]
    fn has(self, kind: Kind) -> bool {
        let (shift, largest) = field(kind);
        self.0 >> shift & largest != 0
    }

    /// Returns whether a piece of a lower value than `worth` is an attacker. Kings are ignored.
    #[inline]
    pub(super) fn has_cheaper_than(self, worth: Score) -> bool {
        [Kind::Pawn, Kind::Knight, Kind::Rook, Kind::Queen]
            .into_iter()
            .any(|kind| WORTH[kind.index()] < worth && self.has(kind))
    }

    #[inline]
    fn add(&mut self, kind: Kind) {
        let (shift, largest) = field(kind);
        if self.0 >> shift & largest < largest {
            self.0 += 1 << shift;
        }
    }
}

/// The attackers of each square, and the squares that each knight, bishop, rook and queen attacks.
pub(crate) struct AttackTables {
    tables: [[Attackers; 64]; 2],
    /// All squares that each side attacks, White's first.
    pub(super) all: [Bitboard; 2],
    /// Squares that the knight, bishop, rook or queen on a square attacks; empty for any other
    /// square.
    pub(super) reach: [Bitboard; 64],
}

impl AttackTables {
    /// Returns the tables of a position.
    pub(crate) fn of(position: &Position) -> AttackTables {
        let mut tables = AttackTables {
            tables: [[Attackers::default(); 64]; 2],
            all: [Bitboard::EMPTY; 2],
            reach: [Bitboard::EMPTY; 64],
        };
        for color in Color::ALL {
            tables.add_side(position.board(), color);
        }
        tables
    }

    fn add_side(&mut self, board: &Board, color: Color) {
        for from in board.pieces(color, Kind::Pawn) {
            self.add(color, Kind::Pawn, attacks::pawn(color, from));
        }
        for kind in [Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen] {
            for from in board.pieces(color, kind) {
                let reach = reach(board, color, kind, from);
                self.reach[from.index()] = reach;
                self.add(color, kind, reach);
            }
        }
        self.add(color, Kind::King, attacks::king(board.king(color)));
    }

    fn add(&mut self, color: Color, kind: Kind, squares: Bitboard) {
        self.all[color.index()] |= squares;
        for square in squares {
            self.tables[color.index()][square.index()].add(kind);
        }
    }

    /// Returns the attackers of `square` that belong to the side `color`.
    #[inline]
    pub(crate) fn on(&self, color: Color, square: Square) -> Attackers {
        self.tables[color.index()][square.index()]
    }
}

/// Returns the squares that a knight, bishop, rook or queen attacks. Friendly queens do not block
/// rooks and bishops, and the enemy king does not block any slider.
fn reach(board: &Board, color: Color, kind: Kind, from: Square) -> Bitboard {
    let blockers = board.occupied() - Bitboard::of(board.king(!color));
    let without_queens = blockers - board.pieces(color, Kind::Queen);
    match kind {
        Kind::Knight => attacks::knight(from),
        Kind::Bishop => attacks::bishop(from, without_queens),
        Kind::Rook => attacks::rook(from, without_queens),
        _ => attacks::queen(from, blockers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;

    fn byte(text: &str, color: Color, square: &str) -> u8 {
        let tables = AttackTables::of(&fen::parse(text).unwrap());
        tables.on(color, Square::parse(square).unwrap()).0
    }

    #[test]
    fn fields_count_and_saturate() {
        let text = "4k3/8/8/8/1N3N2/2P1P3/1N3N2/Q2QK3 w - - 0 1";
        // Attackers of d3: four knights (counted as three) and a queen. Attackers of d4: two pawns
        // and a queen. Attackers of e2: a knight, a queen and the king.
        assert_eq!(byte(text, Color::White, "d3"), 0b0011_0010);
        assert_eq!(byte(text, Color::White, "d4"), 0b1000_0010);
        assert_eq!(byte(text, Color::White, "e2"), 0b0001_0011);
        assert_eq!(byte(text, Color::White, "h8"), 0);
    }

    #[test]
    fn lines_go_through_own_queens_and_the_enemy_king() {
        let text = "4k3/8/8/8/4Q3/8/8/K3R3 b - - 0 1";
        assert_eq!(byte(text, Color::White, "e7"), 0b0000_0110);
        let text = "8/4k3/8/8/4R3/8/4Q3/K7 b - - 0 1";
        assert_eq!(byte(text, Color::White, "e8"), 0b0000_0100);
    }
}
