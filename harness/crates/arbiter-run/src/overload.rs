//! Detection of engine faults that an overloaded machine has caused. This module does no I/O.

use crate::{Latencies, RunCounts};
use arbiter_game::outcome::Termination;
use arbiter_names::quantity;
use arbiter_plan::Plan;

/// Share of thinking time, 0 to 1, above which waiting for a processor counts as the cause of late
/// moves.
const OVERLOADED: f64 = 0.25;

/// Returns a description of the overload, as a sentence without a full stop, if the machine has too
/// few processors for the concurrent games of a run. Returns `None` unless most engine faults are
/// late moves and the engines waited for a large share of their thinking time.
pub fn overload(plan: &Plan, counts: &RunCounts, latencies: &Latencies) -> Option<String> {
    let is_of_time = |kind| matches!(kind, Termination::TimeForfeit | Termination::Stall);
    let faults = counts.faults.iter();
    let of_time: u64 = faults.clone().filter(|((_, kind), _)| is_of_time(*kind)).map(|f| f.1).sum();
    // An overload can delay engines, but does not cause crashes or illegal moves.
    if 2 * of_time <= faults.map(|(_, count)| count).sum() {
        return None;
    }
    let share = latencies.waiting_share(..).filter(|share| *share > OVERLOADED)?;
    // The engines ran only for the remaining share of their thinking time, so the processors
    // suffice for this share of the games.
    let games = (plan.concurrency as f64 * (1.0 - share)).round().max(1.0) as usize;
    Some(format!(
        "the machine is overloaded: engines waited for a processor for {:.0} % of their thinking \
         time; this machine can play {} in parallel (--concurrency {games})",
        100.0 * share,
        quantity(games, "game")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LatencyKind;
    use arbiter_plan::{Request, RunKind};

    #[test]
    fn overload_is_reported_if_late_engines_waited_for_a_processor() {
        let request = Request { concurrency: Some(20), ..Request::default() };
        let plan = Plan::resolve(RunKind::Sprt, request).expect("the defaults are a plan");
        let check = |kind, waited: u64| {
            let mut counts = RunCounts::default();
            counts.faults.insert((0, kind), 9);
            let mut latencies = Latencies::default();
            for engine in 0..2 {
                latencies.add(engine, LatencyKind::Thinking, 100_000, 9);
                latencies.add(engine, LatencyKind::Waiting, waited, 9);
            }
            overload(&plan, &counts, &latencies)
        };
        let words = "the machine is overloaded: engines waited for a processor for 80 % of their \
                     thinking time; this machine can play 4 games in parallel (--concurrency 4)";
        assert_eq!(check(Termination::TimeForfeit, 80_000).as_deref(), Some(words));
        assert!(check(Termination::Stall, 99_000).is_some_and(|words| words.contains("1 game in")));
        assert_eq!(check(Termination::TimeForfeit, 20_000), None);
        assert_eq!(check(Termination::IllegalMove, 80_000), None);
    }
}
