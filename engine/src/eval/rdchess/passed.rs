//! Terms of passed pawns and of unstoppable pawns. The score of a passed pawn depends on enemy
//! control of the square in front of the pawn.

use super::attacks::AttackTables;
use super::kingpawn::KingPawn;
use super::root::Root;
use super::{Term, plain, weights};
use crate::chess::{Bitboard, Color, Kind, Position, Square};
use crate::eval::Score;
use crate::eval::sink::Sink;

/// Adds the terms of the passed pawns of a side to `sink`.
pub(super) fn score<K: Sink>(
    position: &Position,
    color: Color,
    found: &KingPawn,
    tables: &AttackTables,
    root: &Root,
    sink: &mut K,
) {
    let own = position.board().pieces(color, Kind::Pawn);
    for pawn in found.passed[color.index()] {
        let mut score = weights::PASSED[pawn.relative(color).rank() as usize];
        let square_set = Bitboard::of(pawn);
        let level = square_set | square_set.forward(!color);
        if (own & (level.east() | level.west())).any() {
            score += score * 2 / 5;
        }
        let stop = square_set.forward(color);
        if (position.board().color(!color) & stop).any() {
            score -= score / 3;
        } else if is_held(tables, color, stop.first()) {
            score -= score / 4;
        }
        if root.endgame == [true; 2] {
            score += score / 2;
        }
        sink.add(Term::Passed, color, plain(score));
    }
}

/// Returns whether the opponent of `color` attacks the square and `color` does not.
fn is_held(tables: &AttackTables, color: Color, square: Square) -> bool {
    !tables.on(!color, square).is_none() && tables.on(color, square).is_none()
}

/// Adds to `sink` the term of a pawn that wins the promotion race. Used only for pawn endings.
pub(super) fn runner<K: Sink>(position: &Position, found: &KingPawn, sink: &mut K) {
    let best = Color::ALL.map(|color| foremost(position, color, found));
    for color in Color::ALL {
        let Some(rank) = best[color.index()] else { continue };
        let wins = match best[(!color).index()] {
            None => true,
            Some(other) => plies(position, color, rank) + 2 <= plies(position, !color, other),
        };
        if wins {
            let [at_once, per_rank] = weights::RUNNER;
            sink.add(Term::Unstoppable, color, plain(at_once + per_rank * rank));
        }
    }
}

/// Returns the rank index, from the point of view of `color`, of the most advanced passed pawn that
/// the enemy king cannot catch; `None` if there is no such pawn. A pawn on its second rank is
/// treated like a pawn on the third rank, because the pawn can advance two squares.
fn foremost(position: &Position, color: Color, found: &KingPawn) -> Option<Score> {
    let king = position.board().king(!color);
    let own = position.board().color(color);
    let late = Score::from(position.turn() != color);
    let outruns = |pawn: Square| {
        let rank = Score::from(pawn.relative(color).rank()).max(2);
        let goal = Square::at(pawn.file(), color.relative_rank(7));
        let is_free = (Bitboard::of(pawn).forward_fill(color) & own).is_empty();
        (is_free && Score::from(king.distance(goal)) > 7 - rank + late).then_some(rank)
    };
    found.passed[color.index()].filter_map(outruns).max()
}

/// Returns the number of plies until a pawn on this rank promotes.
fn plies(position: &Position, color: Color, rank: Score) -> Score {
    2 * (7 - rank) - Score::from(position.turn() == color)
}
