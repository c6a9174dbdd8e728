//! Counting the leaves of the move tree.

use super::moves::Move;
use super::position::Position;

/// The number of sequences of `depth` legal moves; 1 for depth 0.
pub fn perft(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.count_legal_moves(),
        _ => position.legal_moves().iter().map(|&mv| perft(&position.play(mv), depth - 1)).sum(),
    }
}

/// [`perft`] of each legal move: the move and the number of sequences that start with it, whose sum
/// is the perft of `depth`. Empty for depth 0.
pub fn divide(position: &Position, depth: u32) -> impl Iterator<Item = (Move, u64)> {
    let moves = position.legal_moves();
    let count = if depth == 0 { 0 } else { moves.len() };
    (0..count).map(move |index| (moves[index], perft(&position.play(moves[index]), depth - 1)))
}
