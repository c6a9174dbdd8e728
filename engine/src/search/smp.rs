//! Lazy SMP: several threads search the same position, each with a line, histories and a stack of
//! its own. What they share is the table; that one of them finds something there which another has
//! left is all the cooperation there is.

use std::thread;

use super::history::Histories;
use super::team::{Seat, Team};
use super::{Finding, Report, Request, Searcher};
use crate::chess::Move;
use crate::eval::score::EVALUATION_MAX;
use crate::eval::{Choice, Evaluator, Task};
use crate::tt::{Bound, TranspositionTable};

/// Stack of a thread that searches: enough for the deepest line with all that a node keeps there.
pub const STACK_BYTES: usize = 32 << 20;

/// Searches with one thread for each of the histories, of which there is at least one.
///
/// With one thread the result depends on nothing but the arguments. Threads that cannot be started
/// are done without.
pub(super) fn search(
    eval: Choice,
    request: Request<'_>,
    table: &mut TranspositionTable,
    histories: &mut [Histories],
    report: &mut dyn FnMut(&Report<'_>),
) -> Finding {
    eval.dispatch(Begin(table));
    let table = &*table;
    let team = Team::new(histories.len());
    let mut members = histories.iter_mut().enumerate().map(|(index, histories)| {
        let seat = team.seat(index);
        Member { request, table, histories, seat }
    });
    let leader = members.next().expect("there are the histories of one thread at least");
    let findings =
        thread::scope(|scope| {
            let help = |member: Member<'_>| eval.dispatch(Run { member, report: &mut |_| {} });
            let helpers: Vec<_> = members
                .map_while(|member| {
                    let builder = thread::Builder::new().name("helper".to_owned());
                    builder.stack_size(STACK_BYTES).spawn_scoped(scope, move || help(member)).ok()
                })
                .collect();
            let mut findings = vec![eval.dispatch(Run { member: leader, report: &mut *report })];
            findings.extend(helpers.into_iter().map(|helper| {
                helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }));
            findings
        });
    // Who leads has all the lines, and has reached the depth asked for.
    let settled = request.limits.lines() > 1 || request.limits.depth.is_some();
    let chosen = if settled { 0 } else { elect(&findings) };
    let (threads, nodes) = (findings.len(), team.nodes());
    if chosen > 0 {
        let Finding { line, score, depth, .. } = &findings[chosen];
        let (score, depth, bound) = (*score, *depth, Bound::Exact);
        let (selective_depth, hash_permille) = (depth, table.fullness_permille());
        let rank = 1;
        report(&Report { depth, selective_depth, rank, score, bound, nodes, hash_permille, line });
    }
    Finding { nodes, threads, ..findings[chosen].clone() }
}

/// Readies the table for a search with an evaluation.
struct Begin<'a>(&'a mut TranspositionTable);

impl Task for Begin<'_> {
    type Output = ();

    fn run<E: Evaluator>(self, _: E) {
        if E::CONTEXT.is_path() {
            self.0.forget();
        } else {
            self.0.new_search();
        }
    }
}

/// What one thread searches with.
struct Member<'a> {
    request: Request<'a>,
    table: &'a TranspositionTable,
    histories: &'a mut Histories,
    seat: Seat<'a>,
}

/// Ends the search of all if one of them panics: they would be waited for for ever.
struct EndTogether<'a>(Seat<'a>);

impl Drop for EndTogether<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

/// The search of one thread.
struct Run<'a, 'r> {
    member: Member<'a>,
    report: &'r mut dyn FnMut(&Report<'_>),
}

impl Task for Run<'_, '_> {
    type Output = Finding;

    fn run<E: Evaluator>(self, evaluator: E) -> Finding {
        let Member { request, table, histories, seat } = self.member;
        let _guard = EndTogether(seat);
        Searcher::new(request, table, histories, seat, evaluator).run(self.report)
    }
}

/// The number of the finding to believe; the first one is the leader's.
///
/// A mate found is beyond doubt, and so is one that the leader cannot escape. Otherwise each finding
/// votes for its move, the more so the deeper it was searched and the better its score is than the
/// worst, and of those with the move chosen the weightiest is taken.
fn elect(findings: &[Finding]) -> usize {
    let leader = &findings[0];
    if leader.depth == 0 || leader.score < -EVALUATION_MAX {
        return 0;
    }
    let voters = || {
        let numbered = findings.iter().enumerate();
        numbered.filter(|(_, one)| one.depth > 0 && one.score >= -EVALUATION_MAX)
    };
    // Of equals the first, that is the leader, has it.
    let first_best = |best: Option<(i64, usize)>, one: (i64, usize)| match best {
        Some(best) if best.0 >= one.0 => Some(best),
        _ => Some(one),
    };
    let mates = voters().filter(|(_, one)| one.score > EVALUATION_MAX);
    let mate = mates.map(|(index, one)| (i64::from(one.score), index)).fold(None, first_best);
    if let Some((_, index)) = mate {
        return index;
    }
    let lowest = voters().map(|(_, one)| one.score).min().unwrap_or(leader.score);
    let weight = |one: &Finding| i64::from(one.score - lowest + 10) * i64::from(one.depth);
    let votes = |mv: Option<&Move>| -> i64 {
        voters().filter(|(_, one)| one.line.first() == mv).map(|(_, one)| weight(one)).sum()
    };
    let moves = voters().map(|(index, one)| (votes(one.line.first()), index));
    let elected = moves.fold(None, first_best).map_or(0, |(_, index)| index);
    let chosen = findings[elected].line.first();
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

    /// Which of the findings (number of the move, score, depth) is believed.
    fn elected(findings: &[(usize, Score, u32)]) -> usize {
        let moves = Position::startpos().legal_moves();
        let finding = |&(best, score, depth): &(usize, Score, u32)| Finding {
            line: vec![moves[best]],
            score,
            depth,
            nodes: 0,
            threads: 1,
        };
        elect(&findings.iter().map(finding).collect::<Vec<_>>())
    }

    #[test]
    fn depth_score_and_company_decide() {
        assert_eq!(elected(&[(0, 20, 10)]), 0);
        assert_eq!(elected(&[(0, 20, 10), (1, 20, 10)]), 0);
        assert_eq!(elected(&[(0, 20, 10), (1, 20, 11)]), 1);
        assert_eq!(elected(&[(0, 20, 10), (1, 35, 10)]), 1);
        assert_eq!(elected(&[(0, 20, 12), (1, 20, 9), (1, 20, 10)]), 2);
        // The line shown is the best of those that begin with the move.
        assert_eq!(elected(&[(0, 20, 9), (1, 5, 9), (0, 20, 11)]), 2);
        // One that has finished nothing has no say.
        assert_eq!(elected(&[(0, 20, 1), (1, 900, 0)]), 0);
        assert_eq!(elected(&[(0, 0, 0), (1, 900, 3)]), 0);
    }

    #[test]
    fn mates_are_beyond_voting() {
        let (long, short) = (mate_in(9), mate_in(5));
        assert_eq!(elected(&[(0, long, 9), (1, short, 5), (0, long, 9), (0, long, 9)]), 1);
        assert_eq!(elected(&[(0, 300, 20), (0, 300, 20), (2, long, 3)]), 2);
        // A helper that sees itself mated does not make all others weigh alike.
        assert_eq!(elected(&[(0, 0, 8), (1, 60, 8), (2, mated_in(6), 9)]), 1);
        assert_eq!(elected(&[(0, mated_in(6), 9), (1, 60, 8)]), 0);
    }
}
