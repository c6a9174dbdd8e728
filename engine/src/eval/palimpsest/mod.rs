//! The engine's own evaluation: a sum of terms, each a middle-game and an endgame score, blended by
//! the material left on the board.

mod pair;
mod pawns;
mod pieces;
mod weights;

use super::score::EVALUATION_MAX;
use super::{Evaluator, Score};
use crate::chess::color::{Black, Side, White};
use crate::chess::{Bitboard, Color, Kind, Move, Position};
use pair::Pair;

/// The evaluation; it keeps no state.
pub struct Palimpsest;

impl Evaluator for Palimpsest {
    const PATH_INDEPENDENT: bool = true;

    fn reset(&mut self, _root: &Position) {}

    fn push(&mut self, _before: &Position, _mv: Move) {}

    fn push_null(&mut self) {}

    fn pop(&mut self) {}

    fn evaluate(&mut self, position: &Position) -> Score {
        let white = Survey::of::<White>(position);
        let black = Survey::of::<Black>(position);
        let mut sum = placement(position);
        sum += pawns::score::<White>(position) - pawns::score::<Black>(position);
        sum += pieces::score::<White>(position, &white, &black)
            - pieces::score::<Black>(position, &black, &white);
        let phase = phase(position);
        sum.end = sum.end * scale(position, sum.end) / 16;
        let score = sum.blend(phase, weights::PHASE_MAX);
        let relative = if position.turn() == Color::White { score } else { -score };
        (relative + weights::TEMPO).clamp(-EVALUATION_MAX, EVALUATION_MAX)
    }
}

/// What both halves of the piece terms need to know of a side.
struct Survey {
    /// Squares its pawns attack.
    pawn_attacks: Bitboard,
    /// Squares its pawns could ever attack by advancing.
    pawn_span: Bitboard,
    /// Its king and the squares beside it.
    king_zone: Bitboard,
}

impl Survey {
    fn of<S: Side>(position: &Position) -> Survey {
        let board = position.board();
        let pawns = board.pieces(S::COLOR, Kind::Pawn);
        let pawn_attacks = pawns.pawn_attacks::<S>();
        let king = board.king(S::COLOR);
        Survey {
            pawn_attacks,
            pawn_span: pawn_attacks | pawn_attacks.forward_fill(S::COLOR),
            king_zone: crate::chess::attacks::king(king) | Bitboard::of(king),
        }
    }
}

/// Material and squares, White minus Black.
fn placement(position: &Position) -> Pair {
    let board = position.board();
    let mut sum = Pair::default();
    for color in Color::ALL {
        let mut own = Pair::default();
        for kind in Kind::ALL {
            for square in board.pieces(color, kind) {
                let seen = square.relative(color);
                let file = seen.file().min(7 - seen.file()) as usize;
                own += weights::SQUARES[kind.index()][7 - seen.rank() as usize][file];
                own += weights::MATERIAL[kind.index()];
            }
        }
        if board.pieces(color, Kind::Bishop).several() {
            own += weights::BISHOP_PAIR;
        }
        match color {
            Color::White => sum += own,
            Color::Black => sum -= own,
        }
    }
    sum
}

/// How far the game is from its end, 0 to [`weights::PHASE_MAX`].
fn phase(position: &Position) -> i32 {
    let board = position.board();
    let sum: i32 = Kind::ALL
        .into_iter()
        .map(|kind| weights::PHASE[kind.index()] * board.kind(kind).len() as i32)
        .sum();
    sum.min(weights::PHASE_MAX)
}

/// Sixteenths of an endgame score that can be made to count.
fn scale(position: &Position, end: i32) -> i32 {
    let board = position.board();
    let strong = if end >= 0 { Color::White } else { Color::Black };
    let worth = |color| -> i32 {
        let units = [(Kind::Knight, 3), (Kind::Bishop, 3), (Kind::Rook, 5), (Kind::Queen, 9)];
        units.into_iter().map(|(kind, unit)| unit * board.pieces(color, kind).len() as i32).sum()
    };
    let (own, other) = (worth(strong), worth(!strong));
    if board.pieces(strong, Kind::Pawn).is_empty() && own - other <= 3 {
        return weights::SCALE_NO_PAWNS;
    }
    let bishops = board.kind(Kind::Bishop);
    let light = Bitboard(0x55AA_55AA_55AA_55AA);
    let one_each = (own, other) == (3, 3) && bishops.len() == 2;
    if one_each && (bishops & light).len() == 1 {
        return weights::SCALE_OPPOSITE_BISHOPS;
    }
    16
}

#[cfg(test)]
mod tests {
    use crate::chess::{Position, fen};
    use crate::eval::Variant;

    /// The position with colours exchanged and the board turned over.
    fn flipped(text: &str) -> Position {
        let fields: Vec<&str> = text.split(' ').collect();
        let swap =
            |field: &str| -> String {
                field
                    .chars()
                    .map(|c| {
                        if c.is_uppercase() {
                            c.to_ascii_lowercase()
                        } else {
                            c.to_ascii_uppercase()
                        }
                    })
                    .collect()
            };
        let rows: Vec<String> = fields[0].split('/').rev().map(swap).collect();
        let turn = if fields[1] == "w" { "b" } else { "w" };
        let castling = swap(fields[2]);
        fen::parse(&format!("{} {turn} {castling} - 0 1", rows.join("/"))).unwrap()
    }

    #[test]
    fn colours_are_treated_alike() {
        for text in [
            fen::STARTPOS,
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
            "8/5bk1/8/2Pp4/8/1K6/8/8 w - - 0 1",
        ] {
            for variant in Variant::ALL {
                let position = fen::parse(text).unwrap();
                assert_eq!(
                    variant.evaluate(&position),
                    variant.evaluate(&flipped(text)),
                    "{variant:?} {text}"
                );
            }
        }
    }

    #[test]
    fn more_is_better() {
        let evaluate = |text| Variant::Palimpsest.evaluate(&fen::parse(text).unwrap());
        assert!(evaluate("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1") > 700);
        assert!(evaluate("4k3/8/8/8/8/8/8/N3K3 w - - 0 1").abs() < 120);
        assert!(
            evaluate("4k3/P7/8/8/8/8/8/4K3 w - - 0 1") > evaluate("4k3/8/8/8/8/8/P7/4K3 w - - 0 1")
        );
    }
}
