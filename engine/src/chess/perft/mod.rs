//! Perft: leaf counts of the move tree.

mod table;
mod walk;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::attacks::Machine;
use super::moves::Move;
use super::position::Position;
pub use table::PerftTable;
use walk::Count;

/// Maximum depth, in plies. The depth is limited, because the recursion needs stack space.
pub const DEPTH_MAX: u32 = 64;

/// Maximum depth, in plies, of a count that cannot be interrupted.
const UNINTERRUPTED_DEPTH: u32 = 4;

/// Settings of perft, which do not change the counts.
pub struct Settings<'a> {
    /// CPU level that determines the instructions.
    pub machine: Machine,
    /// Number of threads, at least one.
    pub threads: usize,
    /// Table of cached counts.
    pub table: Option<&'a PerftTable>,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings { machine: Machine::best(), threads: 1, table: None }
    }
}

/// Returns the number of sequences of `depth` legal moves; 1 for depth 0.
pub fn perft(position: &Position, depth: u32) -> u64 {
    perft_at(Machine::best(), position, depth)
}

/// Returns the result of [`perft`], counted with the instructions of `machine`.
pub fn perft_at(machine: Machine, position: &Position, depth: u32) -> u64 {
    if depth == 0 { 1 } else { machine.run_without_lists(Count { position, depth }) }
}

/// Returns the result of [`perft`], counted with the move lists and positions that a search uses.
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

/// Returns each legal move with the number of sequences of `depth` legal moves that begin with this
/// move. The numbers add up to the perft of `depth`. The list is empty for depth 0.
///
/// `stopped` is called regularly. Moves that are not fully counted when `stopped` returns `true`
/// are omitted.
pub fn divide(
    position: &Position,
    depth: u32,
    settings: &Settings<'_>,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Vec<(Move, u64)> {
    if depth == 0 {
        return Vec::new();
    }
    let moves = position.legal_moves();
    // From depth 3, a task is a move with a reply. Such tasks are smaller than tasks of one move,
    // so that the threads finish at nearly the same time.
    let tasks: Vec<Task> = moves.iter().flat_map(|&mv| Task::below(position, mv, depth)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while !stopped() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(index) else { break };
            let leaves = count(&task.position, task.depth, settings, stopped);
            done.extend(leaves.map(|leaves| (index, leaves)));
        }
        done
    };
    let mut counts = vec![None; tasks.len()];
    thread::scope(|scope| {
        let others: Vec<_> = (1..settings.threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().expect("counting does not panic"));
        }
        for (index, count) in done {
            counts[index] = Some(count);
        }
    });
    let sum = |mv| {
        let of_move = tasks.iter().zip(&counts).filter(|(task, _)| task.mv == mv);
        let total = of_move.map(|(_, count)| *count).sum::<Option<u64>>();
        total.map(|total| (mv, total))
    };
    moves.iter().filter_map(|&mv| sum(mv)).collect()
}

/// A position whose leaves are counted by one thread.
struct Task {
    /// The root move to whose count the leaves belong.
    mv: Move,
    position: Position,
    depth: u32,
}

impl Task {
    fn below(position: &Position, mv: Move, depth: u32) -> Vec<Task> {
        let after = position.play(mv);
        if depth < 3 {
            return vec![Task { mv, position: after, depth: depth - 1 }];
        }
        let task = |&reply: &Move| Task { mv, position: after.play(reply), depth: depth - 2 };
        after.legal_moves().iter().map(task).collect()
    }
}

/// Returns the number of leaves `depth` plies below a position; `None` after `stopped` has returned
/// `true`. If `settings` contains a table, counts are looked up in the table. The last
/// [`UNINTERRUPTED_DEPTH`] plies are counted without calling `stopped`, because these plies take
/// little time. With a table, the last two plies are counted without lookups, because a lookup is
/// slower than counting.
fn count(
    position: &Position,
    depth: u32,
    settings: &Settings<'_>,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Option<u64> {
    let uninterrupted = if settings.table.is_some() { 2 } else { UNINTERRUPTED_DEPTH };
    if depth <= uninterrupted {
        return Some(perft_at(settings.machine, position, depth));
    }
    // Counts of different depths have different keys, because the table stores no depth.
    let key = position.key() ^ u64::from(depth).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    if let Some(cached) = settings.table.and_then(|table| table.get(key)) {
        return Some(cached);
    }
    if depth > UNINTERRUPTED_DEPTH && stopped() {
        return None;
    }
    let moves = position.legal_moves();
    let below = moves.iter().map(|&mv| count(&position.play(mv), depth - 1, settings, stopped));
    let leaves = below.sum::<Option<u64>>()?;
    if let Some(table) = settings.table {
        table.put(key, leaves);
    }
    Some(leaves)
}
