//! Counting the leaves of the move tree.

mod walk;

use super::attacks::Machine;
use super::moves::Move;
use super::position::Position;
use walk::Count;

/// The number of sequences of `depth` legal moves; 1 for depth 0.
pub fn perft(position: &Position, depth: u32) -> u64 {
    perft_at(Machine::best(), position, depth)
}

/// [`perft`] with the machine used in a certain way.
pub fn perft_at(machine: Machine, position: &Position, depth: u32) -> u64 {
    if depth == 0 { 1 } else { machine.run(Count { position, depth }) }
}

/// The same number found with the lists of moves and the positions that a search uses.
pub fn perft_by_lists(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => position.legal_moves().len() as u64,
        _ => {
            let moves = position.legal_moves();
            moves.iter().map(|&mv| perft_by_lists(&position.play(mv), depth - 1)).sum()
        }
    }
}

/// [`perft`] of each legal move: the move and the number of sequences that start with it, whose sum
/// is the perft of `depth`. Empty for depth 0.
pub fn divide(position: &Position, depth: u32) -> impl Iterator<Item = (Move, u64)> {
    let moves = position.legal_moves();
    let count = if depth == 0 { 0 } else { moves.len() };
    (0..count).map(move |index| (moves[index], perft(&position.play(moves[index]), depth - 1)))
}
