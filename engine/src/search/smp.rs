//! Lazy SMP: each thread searches the same root position with separate histories and a separate
//! search stack. The threads cooperate only through the shared transposition table.

use std::thread;

use super::history::Histories;
use super::thread_state::{SharedState, ThreadState};
use super::{Report, Request, SearchResult, Searcher};
use crate::chess::Move;
use crate::eval::score::EVALUATION_MAX;
use crate::eval::{Choice, Evaluator, Variant};
use crate::tt::{Bound, TranspositionTable};

/// Stack size of a search thread, in bytes; sufficient for `MAX_PLY` nested nodes.
pub const STACK_BYTES: usize = 32 << 20;

/// Searches with one thread for each element of `histories`, which must not be empty.
///
/// With one thread and without time limits, the search is deterministic. If a thread cannot be
/// started, the search continues with fewer threads.
pub(super) fn search(
    eval: Choice,
    request: Request<'_>,
    table: &mut TranspositionTable,
    histories: &mut [Histories],
    report: &mut dyn FnMut(&Report<'_>),
) -> SearchResult {
    if eval.evaluator().context().is_path() {
        table.new_isolated_search();
    } else {
        table.new_search();
    }
    let table = &*table;
    let shared = SharedState::new(histories.len());
    let mut inputs = histories.iter_mut().enumerate().map(|(index, histories)| {
        let thread = shared.thread(index);
        ThreadInput { request, table, histories, thread }
    });
    let main_input = inputs.next().expect("there are the histories of one thread at least");
    let results =
        thread::scope(|scope| {
            let help = move |input: ThreadInput<'_>| input.search(eval, &mut |_| {});
            let helpers: Vec<_> = inputs
                .map_while(|input| {
                    let builder = thread::Builder::new().name("helper".to_owned());
                    builder.stack_size(STACK_BYTES).spawn_scoped(scope, move || help(input)).ok()
                })
                .collect();
            let mut results = vec![main_input.search(eval, &mut *report)];
            results.extend(helpers.into_iter().map(|helper| {
                helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }));
            results
        });
    // With MultiPV, the result must be the first reported line, which comes from the main thread.
    // With a depth limit, only the main thread is certain to have reached the depth limit.
    let use_main = request.limits.lines() > 1 || request.limits.depth.is_some();
    let chosen = if use_main { 0 } else { choose_result(&results) };
    let threads = results.len();
    let nodes = shared.nodes();
    if chosen > 0 {
        let &SearchResult { ref line, score, depth, .. } = &results[chosen];
        let bound = Bound::Exact;
        let selective_depth = depth;
        let hash_permille = table.fullness_permille();
        let rank = 1;
        report(&Report { depth, selective_depth, rank, score, bound, nodes, hash_permille, line });
    }
    SearchResult { nodes, threads, ..results[chosen].clone() }
}

/// Input for the search of one thread.
struct ThreadInput<'a> {
    request: Request<'a>,
    table: &'a TranspositionTable,
    histories: &'a mut Histories,
    thread: ThreadState<'a>,
}

impl ThreadInput<'_> {
    /// Searches with the code compiled for the evaluation: for the network, for the hand-crafted
    /// evaluation, or for all other evaluations.
    fn search(self, eval: Choice, report: &mut dyn FnMut(&Report<'_>)) -> SearchResult {
        match eval.variant {
            Variant::Nnue => self.search_with(eval.nnue(), report),
            Variant::Palimpsest => self.search_with(eval.palimpsest(), report),
            _ => self.search_with(eval.evaluator(), report),
        }
    }

    fn search_with<E: Evaluator>(
        self,
        evaluator: E,
        report: &mut dyn FnMut(&Report<'_>),
    ) -> SearchResult {
        let ThreadInput { request, table, histories, thread } = self;
        let _guard = StopAllOnPanic(thread);
        Searcher::new(request, table, histories, thread, evaluator).run(report)
    }
}

/// Guard that stops all threads if one thread panics. Without the guard, the other threads would
/// continue, and the search would wait for these threads.
struct StopAllOnPanic<'a>(ThreadState<'a>);

impl Drop for StopAllOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop_all();
        }
    }
}

/// Returns the index of the result to use. Index 0 is the result of the main thread.
///
/// The result of the main thread is used if the main thread has finished no iteration or is mated.
/// Results of other threads without a finished iteration, or with a mate against the side to move,
/// do not count. If there are winning mates, the shortest mate is used. Otherwise, each result
/// votes for its first move, with the weight (score − lowest score + 10) × depth. Of the results
/// with the elected move, the result with the largest weight is used.
fn choose_result(results: &[SearchResult]) -> usize {
    let main = &results[0];
    if main.depth == 0 || main.score < -EVALUATION_MAX {
        return 0;
    }
    let voters = || {
        let numbered = results.iter().enumerate();
        numbered.filter(|(_, one)| one.depth > 0 && one.score >= -EVALUATION_MAX)
    };
    // Of equal results, the first result is used, so the main thread is preferred.
    let first_best = |best: Option<(i64, usize)>, one: (i64, usize)| match best {
        Some(best) if best.0 >= one.0 => Some(best),
        _ => Some(one),
    };
    let mates = voters().filter(|(_, one)| one.score > EVALUATION_MAX);
    let mate = mates.map(|(index, one)| (i64::from(one.score), index)).fold(None, first_best);
    if let Some((_, index)) = mate {
        return index;
    }
    let lowest = voters().map(|(_, one)| one.score).min().unwrap_or(main.score);
    // The constant 10 gives the result with the lowest score a vote, too.
    let weight = |one: &SearchResult| i64::from(one.score - lowest + 10) * i64::from(one.depth);
    let votes = |mv: Option<&Move>| -> i64 {
        voters().filter(|(_, one)| one.line.first() == mv).map(|(_, one)| weight(one)).sum()
    };
    let moves = voters().map(|(index, one)| (votes(one.line.first()), index));
    let elected = moves.fold(None, first_best).map_or(0, |(_, index)| index);
    let chosen = results[elected].line.first();
    let supporters = voters().filter(|(_, one)| one.line.first() == chosen);
    let weights = supporters.map(|(index, one)| (weight(one), index));
    weights.fold(None, first_best).map_or(elected, |(_, index)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::eval::Score;
    use crate::eval::score::{mate_in, mated_in};

    /// Returns the index that is chosen from these results. Each result is given as (index of the
    /// move, score, depth).
    fn vote(results: &[(usize, Score, u32)]) -> usize {
        let moves = Position::startpos().legal_moves();
        let result = |&(best, score, depth): &(usize, Score, u32)| SearchResult {
            line: vec![moves[best]],
            score,
            depth,
            nodes: 0,
            threads: 1,
            pawn_table: None,
        };
        choose_result(&results.iter().map(result).collect::<Vec<_>>())
    }

    #[test]
    fn depth_score_and_votes_decide() {
        assert_eq!(vote(&[(0, 20, 10)]), 0);
        assert_eq!(vote(&[(0, 20, 10), (1, 20, 10)]), 0);
        assert_eq!(vote(&[(0, 20, 10), (1, 20, 11)]), 1);
        assert_eq!(vote(&[(0, 20, 10), (1, 35, 10)]), 1);
        assert_eq!(vote(&[(0, 20, 12), (1, 20, 9), (1, 20, 10)]), 2);
        // Of the results with the elected move, the result with the largest weight is used.
        assert_eq!(vote(&[(0, 20, 9), (1, 5, 9), (0, 20, 11)]), 2);
        // A result without a finished iteration has no vote.
        assert_eq!(vote(&[(0, 20, 1), (1, 900, 0)]), 0);
        assert_eq!(vote(&[(0, 0, 0), (1, 900, 3)]), 0);
    }

    #[test]
    fn mates_override_the_vote() {
        let (long, short) = (mate_in(9), mate_in(5));
        assert_eq!(vote(&[(0, long, 9), (1, short, 5), (0, long, 9), (0, long, 9)]), 1);
        assert_eq!(vote(&[(0, 300, 20), (0, 300, 20), (2, long, 3)]), 2);
        // The mate score of a losing helper does not count as the lowest score. Otherwise, the
        // weights of the other results would be nearly equal.
        assert_eq!(vote(&[(0, 0, 8), (1, 60, 8), (2, mated_in(6), 9)]), 1);
        assert_eq!(vote(&[(0, mated_in(6), 9), (1, 60, 8)]), 0);
    }
}
