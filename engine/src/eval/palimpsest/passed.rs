//! Terms of passed pawns: rank, path, kings and supporting pieces.

use super::kingpawn::from_edge;
use super::layout as at;
use super::side_info::SideInfo;
use super::{Term, add_weight, add_weights};
use crate::chess::color::Side;
use crate::chess::{Bitboard, Position, Square};
use crate::eval::sink::Sink;

/// Minimum rank index, from the point of view of the pawn's side, at which a passed pawn gets the
/// terms for the distances of the kings from the square in front of the pawn.
const KINGS_FROM: usize = 3;

/// Adds the terms of the passed pawns of side `S` to `sink`.
#[inline(never)]
pub(super) fn score<S: Side, K: Sink>(
    position: &Position,
    passed: Bitboard,
    own: &SideInfo,
    enemy: &SideInfo,
    sink: &mut K,
) {
    let board = position.board();
    let color = S::COLOR;
    for square in passed & board.color(color) {
        let rank = square.relative(color).rank() as usize;
        let next = Bitboard::of(square).forward(color);
        let stop = next.first();
        add_weight(sink, Term::Passed, color, at::PASSED + rank);
        add_weight(sink, Term::Passed, color, at::PASSED_FILE + from_edge(square.file()));
        if own.attacked.contains(stop) {
            add_weight(sink, Term::Passed, color, at::PASSED_DEFENDED + rank);
        }
        path_terms::<S, K>(position, square, enemy, sink);
        if rank >= KINGS_FROM {
            let times = (rank + 1 - KINGS_FROM) as i32;
            let [near, far] = [own, enemy].map(|side| side.king.distance(stop) as usize);
            add_weights(sink, Term::PassedKing, color, at::PASSED_OWN_KING + near, times);
            add_weights(sink, Term::PassedKing, color, at::PASSED_ENEMY_KING + far, times);
        }
        let behind = Bitboard::of(square).forward_fill(!color) & board.straight_sliders();
        if (behind & board.color(color)).any() {
            add_weight(sink, Term::PassedRook, color, at::PASSED_ROOK);
        }
        if (behind & board.color(!color)).any() {
            add_weight(sink, Term::PassedRook, color, at::PASSED_ROOK + 1);
        }
    }
}

/// Adds the terms of a passed pawn's path to `sink`. If the enemy has only pawns and the enemy king
/// cannot catch the pawn, adds the term of an unstoppable pawn.
fn path_terms<S: Side, K: Sink>(
    position: &Position,
    square: Square,
    enemy: &SideInfo,
    sink: &mut K,
) {
    let board = position.board();
    let color = S::COLOR;
    let rank = square.relative(color).rank() as usize;
    let square_set = Bitboard::of(square);
    let next = square_set.forward(color);
    let ahead = square_set.forward_fill(color);
    let is_clear = (ahead & board.occupied()).is_empty();
    if (next & board.occupied()).any() {
        if (next & board.color(!color)).any() {
            add_weight(sink, Term::PassedFree, color, at::PASSED_BLOCKED + rank);
        }
    } else if is_clear && (ahead & enemy.attacked).is_empty() {
        add_weight(sink, Term::PassedFree, color, at::PASSED_PATH + rank);
    } else if (next & enemy.attacked).is_empty() {
        add_weight(sink, Term::PassedFree, color, at::PASSED_STEP + rank);
    }
    // A pawn on its second rank can advance two squares, so the pawn is treated like a pawn on the
    // third rank.
    let steps = 7 - rank.max(2) as u8;
    let goal = Square::at(square.file(), color.relative_rank(7));
    let pursuit = enemy.king.distance(goal).saturating_sub(u8::from(position.turn() != color));
    if is_clear && pursuit > steps && !position.has_pieces(!color) {
        add_weight(sink, Term::PassedFree, color, at::PASSED_UNSTOPPABLE);
    }
}

#[cfg(test)]
mod tests {
    use crate::chess::fen;
    use crate::eval::Variant;
    use crate::eval::palimpsest::layout;
    use crate::eval::palimpsest::trace::Tracer;

    /// Returns the count of the weight at index `place`, White minus Black.
    fn weight_count(text: &str, place: usize) -> i32 {
        let traced = Tracer::default().trace(&fen::parse(text).unwrap());
        traced.linear.iter().filter(|(found, _)| usize::from(*found) == place).map(|c| c.1).sum()
    }

    #[test]
    fn a_pawn_outside_the_square_is_unstoppable() {
        let place = layout::PASSED_UNSTOPPABLE;
        for (text, expected) in [
            ("8/8/8/P6k/8/8/8/K7 w - - 0 1", 1),
            ("8/8/8/P3k3/8/8/8/K7 w - - 0 1", 1),
            ("8/8/8/P3k3/8/8/8/K7 b - - 0 1", 0),
            ("8/8/8/P6k/8/8/8/K6n w - - 0 1", 0),
            ("8/8/8/8/p3K2k/8/8/8 w - - 0 1", 0),
            ("8/8/8/8/p3K2k/8/8/8 b - - 0 1", -1),
        ] {
            assert_eq!(weight_count(text, place), expected, "{text}");
        }
    }

    #[test]
    fn a_safe_path_scores_more_than_a_blocked_one() {
        let evaluate = |text| Variant::Palimpsest.evaluate(&fen::parse(text).unwrap());
        let free = evaluate("7k/8/P7/8/8/1n6/8/7K w - - 0 1");
        let blocked = evaluate("7k/n7/P7/8/8/8/8/7K w - - 0 1");
        assert!(free > blocked, "{free} {blocked}");
    }
}
