//! Penalty for attacks on a king.

use super::{Experiment, weights};
use crate::chess::position::Board;
use crate::chess::{Bitboard, Color, Kind, Square, attacks};
use crate::eval::sink::Sink;

/// Squares exactly two king moves away, by square.
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

/// Attack of one side on the enemy king.
#[derive(Clone, Copy)]
pub(super) struct Attack {
    inner: Bitboard,
    outer: Bitboard,
    attackers: u32,
    points: i32,
}

impl Attack {
    /// Returns the attack on a king on this square, before any attacker is added.
    #[inline]
    pub(super) fn on(king: Square) -> Attack {
        Attack {
            inner: attacks::king(king) | Bitboard::of(king),
            outer: OUTER[king.index()],
            attackers: 0,
            points: 0,
        }
    }

    /// Adds a piece whose possible destinations are `moves`. `piece` is 0 for a knight, 1 for a
    /// bishop, 2 for a rook and 3 for a queen.
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

/// Returns the middlegame penalty for the attack on the king of `color`, in centipawns.
#[inline]
pub(super) fn penalty<K: Sink>(board: &Board, color: Color, attack: Attack, sink: &K) -> i32 {
    let fewest = if sink.tries(Experiment::OneAttacker) { 1 } else { 2 };
    let needs_queen = !sink.tries(Experiment::WithoutQueen);
    if attack.attackers < fewest || needs_queen && board.pieces(!color, Kind::Queen).is_empty() {
        return 0;
    }
    let index = points(board, color, attack, sink).min(weights::POINTS_MAX);
    if sink.tries(Experiment::LinearDanger) {
        return index * weights::LINEAR / 100;
    }
    if sink.tries(Experiment::LinearInPlay) {
        return index * weights::LINEAR_IN_PLAY / 100;
    }
    (index * index / 4).min(weights::DANGER_MAX)
}

fn points<K: Sink>(board: &Board, color: Color, attack: Attack, sink: &K) -> i32 {
    let king = board.king(color);
    let relative_square = king.relative(color);
    let ranks = &weights::KING_POINTS;
    let place = if sink.tries(Experiment::NoKingPoints) {
        0
    } else {
        ranks
            .get(relative_square.rank() as usize)
            .map_or(weights::KING_POINTS_AWAY, |files| files[relative_square.file() as usize & 7])
    };
    let file = Bitboard::file(king.file());
    let pawns = board.pieces(color, Kind::Pawn);
    // For a king on file a or h, one neighbouring file is an empty set, which must not be counted.
    let bare = [file.west(), file, file.east()]
        .into_iter()
        .filter(|file| file.any() && (pawns & *file).is_empty())
        .count();
    place + attack.points + weights::FILE_POINTS * bare as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::color::{Black, White};
    use crate::chess::fen;
    use crate::eval::feature::FeatureSet;
    use crate::eval::sink::{MaskedSum, Sum};
    use crate::eval::{Choice, Variant};

    #[test]
    fn points_are_counted() {
        // Knight g5 attacks f7 and h7 (inner squares) and e6 (outer). Queen d3 attacks h7 (inner)
        // and g6 (outer).
        let position = fen::parse("6k1/5ppp/8/6N1/8/3Q4/8/4K3 w - - 0 1").unwrap();
        let board = position.board();
        let own = board.color(Color::White);
        let mut attack = Attack::on(board.king(Color::Black));
        let [knight, queen] = [Square::at(6, 4), Square::at(3, 2)];
        attack.add(0, attacks::knight(knight) - own);
        attack.add(3, attacks::queen(queen, board.occupied()) - own);
        let usual = Sum::default();
        assert_eq!(points(board, Color::Black, attack, &usual), 11);
        assert_eq!(penalty(board, Color::Black, attack, &usual), 30);
        let trying = |experiment: Experiment| {
            let only = FeatureSet::EMPTY.with(experiment.into());
            let sink = MaskedSum::new(FeatureSet::EMPTY).trying(only);
            let mut alone = Attack::on(board.king(Color::Black));
            alone.add(0, attacks::knight(knight) - own);
            [attack, alone].map(|attack| penalty(board, Color::Black, attack, &sink))
        };
        assert_eq!(trying(Experiment::LinearDanger), [146, 0]);
        // The knight alone has 7 points.
        assert_eq!(trying(Experiment::OneAttacker), [30, 12]);
        assert_eq!(trying(Experiment::WithoutQueen), [30, 0]);
    }

    #[test]
    fn king_points_count_only_if_the_enemy_has_a_queen() {
        // Two rooks attack squares near a king on its third rank.
        let position = fen::parse("8/5ppp/7k/8/8/8/8/K4RR1 w - - 0 1").unwrap();
        let value = |name: &str| {
            let choice = Choice::from(Variant::Blunder).trying(name).unwrap();
            choice.explain(&position).value
        };
        assert_eq!(value("no_king_points"), value(""));
        assert!(value("without_queen") > value(""));
        assert!(value("without_queen") > value("without_queen,no_king_points"));
    }

    #[test]
    fn linear_danger_has_the_mean_of_the_table() {
        let table: i32 = (0..100).map(|index| (index * index / 4).min(weights::DANGER_MAX)).sum();
        let line: i32 = (0..100).map(|index| index * weights::LINEAR / 100).sum();
        assert!((table - line).abs() < 100, "{table} {line}");
    }

    #[test]
    fn linear_danger_in_play_has_the_mean_of_kings_in_games() {
        let games = include_str!("../../../tests/data/eval-positions.json");
        let games: serde_json::Value = serde_json::from_str(games).unwrap();
        let mut points_seen = 0;
        let mut table = 0;
        for found in games.as_array().unwrap() {
            let position = fen::parse(found["fen"].as_str().unwrap()).unwrap();
            let board = position.board();
            let attacks = [
                (Color::Black, super::super::pieces::<White, _>(&position, &mut Sum::default())),
                (Color::White, super::super::pieces::<Black, _>(&position, &mut Sum::default())),
            ];
            for (color, attack) in attacks {
                let penalty = penalty(board, color, attack, &Sum::default());
                if penalty > 0 {
                    table += penalty;
                    points_seen += points(board, color, attack, &Sum::default());
                }
            }
        }
        assert_eq!(100 * table / points_seen, weights::LINEAR_IN_PLAY);
    }
}
